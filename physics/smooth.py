"""Which machines the integrators of second order are for: what acts on them must not start and stop."""

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.drives.modes import EFFORT
from grouser.physics.integrators.context import System


def check_smooth(system: System, integrator: str, file: str) -> None:
    """Refuses a system with anything that an integrator has no place for.

    Args:
        system: the machine.
        integrator: "implicit_midpoint" or "variational".
        file: of the machine, to blame.

    Raises:
        MachineError: names the first such thing.
    """
    collision, laws, drives, axial = system.collision, system.laws, system.drives, system.axial
    rough = {
        "contacts with the ground": len(collision.candidates.body) > 0,
        "contacts of links with each other or with obstacles": len(collision.pairs.first) > 0,
        "hydraulic cylinders": len(system.circuit.valve) > 0,
        "wheels on soil": len(system.wheels.body) > 0,
        "dry friction of a joint": bool((laws.static > 0.0).any()),
        "limits of a joint": bool((np.isfinite(laws.lower) | np.isfinite(laws.upper)).any()),
        "a drive that is not commanded by effort": bool((drives.mode != EFFORT).any()),
        "a drive with a motor": bool((drives.electric >= 0).any() or (drives.warming > 0.0).any()),
    }
    _refuse(rough, integrator, "smooth mechanisms", "semi_implicit", file)
    if integrator == "variational":
        beyond = {
            "loop joints": len(system.pairs.axis) > 0,
            "backlash of a joint": bool((axial.half_gap > 0.0).any()),
            "hysteresis of a joint": bool((axial.hysteresis > 0.0).any()),
        }
        _refuse(beyond, integrator, "smooth trees", "implicit_midpoint", file)


def _refuse(present: dict[str, bool], integrator: str, kind: str, other: str, file: str) -> None:
    """Names the first that is present, and the integrator to take instead."""
    for what, found in present.items():
        if found:
            raise MachineError(
                f"the integrator {integrator} is for {kind}, and there are {what}",
                file=file,
                remedy=f"use the integrator {other}",
            )
