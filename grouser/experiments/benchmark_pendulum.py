"""IFToMM's library of computational benchmark problems, A01: a point mass swings on a massless rod.

González, Dopico, Lugrís and Cuadrado, "A benchmarking system for MBS simulation software" (2006).
"""

import math
from collections.abc import Mapping
from typing import Any

from grouser.experiments.drawing import Reference
from grouser.experiments.mechanism import (
    GROUND,
    STANDARD_GRAVITY,
    Mechanism,
    body,
    draw,
    hinge,
    machine,
    motion_parameters,
    simulate,
)
from grouser.experiments.protocol import Result

DESCRIPTION = "a pendulum of 1 m from the horizontal (IFToMM benchmark A01)"

PARAMETERS = motion_parameters("implicit_midpoint", 1e-3, 10.0, "variational")

_MASS, _LENGTH = 1.0, 1.0
REFERENCE = {"t": "time", "angle": "coordinates[0]"}


def run(**parameters: Any) -> Result:
    """Releases the pendulum at rest.

    Returns:
        The results of `mechanism.simulate`; the coordinate is the angle of the rod from hanging, positive towards
        -x; it begins at pi/2.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
    """
    return simulate(make_pendulum(), parameters)


def make_pendulum() -> Mechanism:
    """The pendulum at its start, in the plane of x and z, z up."""
    mass = body("mass", _MASS, (0.0, 0.0, 0.0), (0.0, 0.0, -_LENGTH))
    joint = hinge("pivot", GROUND, "mass", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    return Mechanism(
        machine("pendulum", [mass], [joint], {"pivot": 0.5 * math.pi}),
        *((0.0, 0.0, -STANDARD_GRAVITY), {}, {}, ("angle",)),
        lambda simulation: (simulation.joint_position["pivot"],),
        _LENGTH,
    )


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws angle and energy over time; the reference's columns are t and angle."""
    draw(parameters, result, figure, reference, "pendulum")
