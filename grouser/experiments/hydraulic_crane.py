"""A boom that a hydraulic cylinder raises, with a payload that swings at its tip.

The crane is of the family with which Rahikainen, Mikkola, Sopanen and Gerstmayr (2018, 2020) try their solvers; its
data are those of Project Chrono's crane demonstration. The machine is urdf/loader_crane.urdf.xacro; its valve follows
the schedule `command`.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.cylinder_results import draw_panels, energy_error
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result
from grouser.experiments.schedule import read_schedule, schedule_value
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.world import World
from grouser.physics.hydraulics.actuator_geometry import piston_area, rod_side_area
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "a hydraulic crane raises and lowers a payload (the family of Rahikainen et al., 2018)"

PARAMETERS = {
    "payload_mass": Parameter(100.0, "kg", "mass on the rod at the tip", minimum=0.0, above_minimum=True),
    "command": Parameter(
        [[0, 0], [0.5, 0], [2, 0.6], [7, 0.6], [9, -1], [10, 0]], "s, -", "schedule of the valve", convert=read_schedule
    ),
    "duration": Parameter(20.0, "s", "time simulated", minimum=0.0, above_minimum=True),
    "step": Parameter(0.001, "s", "mechanical step", minimum=1e-6, maximum=0.1),
    "scheme": Parameter("implicit", "-", "hydraulic scheme", choices=("implicit", "semi_implicit")),
}

# The gravity of the published crane [m/s2].
_GRAVITY = 9.8
# Steps under one command when their cost is measured.
_HELD = 10

_UNITS = {
    "time": "s",
    "boom_angle": "rad",
    "payload_angle": "rad",
    "pressure_1": "Pa",
    "pressure_2": "Pa",
    "spool": "-",
    "cylinder_length": "m",
    "cylinder_force": "N",
    "energy_error": "-",
    "microseconds_per_step": "us",
}
REFERENCE = {
    "t": "time",
    "theta": "boom_angle",
    "phi": "payload_angle",
    "U": "spool",
    "p1": "pressure_1",
    "p2": "pressure_2",
    "F": "cylinder_force",
}


def run(**parameters: Any) -> Result:
    """Raises and lowers the payload.

    Returns:
        Curves over time, one point a step: angle of the boom above the horizontal and of the payload's rod from the
        downward vertical, pressures on the piston side and on the rod side, spool, distance between the cylinder's
        eyes, and its mean force in the step that ends then; the first is that which balances the crane.
        `energy_error` is the residual of the balance between the oil's energy and the crane's, relative to the energy
        supplied. `microseconds_per_step` is the processor time of a step over the same motion, run a second time with
        commands that change every 10 steps.

    Raises:
        MachineError: a payload with which the crane does not start.
        DivergenceError: the step is too long.
    """
    step, command = parameters["step"], parameters["command"]
    if parameters["duration"] < step:
        raise ParameterError("duration", parameters["duration"], f"at least one step, {step:g} s")
    steps = round(parameters["duration"] / step)
    arguments = {"payload_mass": repr(parameters["payload_mass"]), "gravity": repr(_GRAVITY)}
    machine = load_machine(share_path("urdf", "loader_crane.urdf.xacro"), arguments)
    world = World(gravity=(0.0, 0.0, -_GRAVITY), ground=None)
    simulation = Simulation(machine, world, step=step, scheme=parameters["scheme"])
    retracted = machine.cylinders[0].retracted_length
    begin, start = simulation.energy(), simulation.snapshot()
    rows = [_sample(simulation, retracted)]
    rows[0][-1] = _holding_force(machine.cylinders[0], simulation)
    for _ in range(steps):
        simulation.command["lift_valve"] = schedule_value(command, simulation.time + 0.5 * step)
        simulation.step()
        rows.append(_sample(simulation, retracted))
    error = energy_error(simulation, begin, "lift")
    simulation.restore(start)
    curves = dict(zip(list(_UNITS)[: len(rows[0])], np.array(rows).T, strict=True))
    return Result({**curves, "energy_error": error, "microseconds_per_step": _cost(simulation, command, steps)}, _UNITS)


def _sample(simulation: Simulation, retracted: float) -> list[float]:
    cylinder, angles = simulation.cylinder["lift"], simulation.joint_position
    return [
        simulation.time,
        angles["boom"],
        angles["boom"] + angles["payload"],
        cylinder.pressure_piston_side,
        cylinder.pressure_rod_side,
        cylinder.spool_position,
        retracted + cylinder.position,
        cylinder.force,
    ]


def _holding_force(cylinder, simulation: Simulation) -> float:
    """Force of the pressures at the start [N]."""
    pressure = simulation.pressure["lift"]
    return piston_area(cylinder) * pressure.piston_side - rod_side_area(cylinder) * pressure.rod_side


def _cost(simulation: Simulation, command, steps: int) -> float:
    """Processor time of a step [us]."""
    begin = time.process_time()
    for first in range(0, steps, _HELD):
        count = min(_HELD, steps - first)
        simulation.command["lift_valve"] = schedule_value(command, simulation.time + 0.5 * count * simulation.step_size)
        simulation.step(count)
    return 1e6 * (time.process_time() - begin) / steps


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angles, pressures, spool and force over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, theta, phi, U, p1, p2, F of a reference curve, where present.
    """
    panels = (
        ("angle [rad]", (("boom_angle", "theta", "boom"), ("payload_angle", "phi", "payload")), 1.0),
        ("pressure [MPa]", (("pressure_1", "p1", "piston side"), ("pressure_2", "p2", "rod side")), 1e-6),
        ("spool [-]", (("spool", "U", "spool"),), 1.0),
        ("force [kN]", (("cylinder_force", "F", "cylinder"),), 1e-3),
    )
    draw_panels(figure, panels, result, reference)
    figure.suptitle(
        f"hydraulic crane: {parameters['payload_mass']:g} kg, step {1e3 * parameters['step']:g} ms, "
        f"{parameters['scheme']}"
    )
