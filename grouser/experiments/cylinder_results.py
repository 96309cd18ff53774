"""Energy error and plots of the experiments with a hydraulic cylinder."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Result
from grouser.physics.readings.measurements import Energy
from grouser.physics.simulation.simulation import Simulation

# Label of a panel; of each curve its name in the result, its column of the reference and its label; factor of both.
Panel = tuple[str, Iterable[tuple[str, str, str]], float]


def energy_error(simulation: Simulation, begin: Energy, name: str, piston_mass: float = 0.0) -> float:
    """Error of the energy balance between a cylinder and a machine, relative to the energy supplied.

    Args:
        simulation: of a machine with no other drive, without losses of its own.
        begin: its energy at the start of the accounts.
        name: of the cylinder.
        piston_mass: not part of the machine's kinetic energy [kg].
    """
    account, cylinder, now = simulation.circuit.cylinder_energy[name], simulation.cylinder[name], simulation.energy()
    gained = now.kinetic - begin.kinetic + now.potential - begin.potential + 0.5 * piston_mass * cylinder.velocity**2
    lost = account.throttled + account.viscous_loss + account.friction_loss + account.stop_loss
    missing = account.supplied - account.returned - account.compressed - lost - gained
    return abs(missing) / max(abs(account.supplied), abs(gained), 1e-12)


def draw_panels(figure: Any, panels: Iterable[Panel], result: Result, reference: Reference) -> None:
    """Draws four panels of curves over time.

    Args:
        figure: matplotlib figure.
        panels: their contents.
        result: with `time` and the curves.
        reference: column t and those of the panels, where present.
    """
    axes = figure.subplots(2, 2, sharex=True)
    for panel, (label, curves, scale) in zip(axes.flat, panels, strict=True):
        for ours, theirs, name in curves:
            panel.plot(result["time"], scale * np.asarray(result[ours]), label=name)
            draw_reference(panel, reference, "t", theirs, scale)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    for panel in axes[-1]:
        panel.set_xlabel("time [s]")
