"""IFToMM's library of computational benchmark problems, A02: four-bar linkages in a row, which fold into one line.

Rods hinged to the ground stand upright, couplers join their tips. All bars are equal, and the linkage is a chain of
parallelograms with one degree of freedom. Where rods and couplers lie in one line it has more: each window could fold
into an antiparallelogram. González, Dopico, Lugrís and Cuadrado, "A benchmarking system for MBS simulation software"
(2006); two windows: Bayo and Avello (1994).
"""

from collections.abc import Mapping
from typing import Any

from grouser.experiments.drawing import Reference
from grouser.experiments.mechanism import (
    GROUND,
    STANDARD_GRAVITY,
    Mechanism,
    body,
    closure,
    draw,
    hinge,
    machine,
    motion_parameters,
    simulate,
)
from grouser.experiments.protocol import Parameter, Result

DESCRIPTION = "four-bar linkages in a row fold into one line (IFToMM benchmark A02)"

PARAMETERS = {
    "windows": Parameter(2, "-", "number of four-bar linkages", minimum=1, maximum=100),
    **motion_parameters("semi_implicit", 1e-3, 10.0),
}

_MASS, _LENGTH = 1.0, 1.0  # of each bar
_TIP_SPEED = 1.0  # at the start [m/s]
_ACROSS = _MASS * _LENGTH**2 / 12.0
# The axis of all joints: a positive angle takes an upright rod to -x.
_AXIS = (0.0, -1.0, 0.0)
REFERENCE = {"t": "time", "first rod": "coordinates[0]", "last rod": "coordinates[1]"}


def run(**parameters: Any) -> Result:
    """Pushes the upright rods over.

    Returns:
        The results of `mechanism.simulate`; coordinates are the angles of the first and of the last rod from upright,
        positive towards -x. They are equal while the windows stay parallelograms.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
    """
    return simulate(make_n_four_bar(parameters["windows"]), parameters)


def make_n_four_bar(windows: int) -> Mechanism:
    """The linkage at its start, in the plane of x and z, z up."""
    links, joints, loops = [], [], []
    for k in range(windows + 1):
        links.append(body(f"rod_{k}", _MASS, (_ACROSS, _ACROSS, 0.0), (0.0, 0.0, 0.5 * _LENGTH)))
        joints.append(hinge(f"foot_{k}", GROUND, f"rod_{k}", (k * _LENGTH, 0.0, 0.0), _AXIS))
    for k in range(windows):
        links.append(body(f"coupler_{k}", _MASS, (0.0, _ACROSS, _ACROSS), (0.5 * _LENGTH, 0.0, 0.0)))
        joints.append(hinge(f"tip_{k}", f"rod_{k}", f"coupler_{k}", (0.0, 0.0, _LENGTH), _AXIS))
        ends = (f"coupler_{k}", (_LENGTH, 0.0, 0.0)), (f"rod_{k + 1}", (0.0, 0.0, _LENGTH))
        loops.append(closure(f"loop_{k}", "spherical", "y", *ends))
    rate = -_TIP_SPEED / _LENGTH
    velocities = {f"foot_{k}": rate for k in range(windows + 1)} | {f"tip_{k}": -rate for k in range(windows)}
    first, last = "foot_0", f"foot_{windows}"
    return Mechanism(
        machine("n_four_bar", links, joints, {}, loop_joints=tuple(loops)),
        *((0.0, 0.0, -STANDARD_GRAVITY), velocities, {}, ("first rod", "last rod")),
        lambda simulation: (simulation.joint_position[first], simulation.joint_position[last]),
        _LENGTH,
    )


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the angles of the rods and the energy over time; the reference's columns are t and first rod."""
    draw(parameters, result, figure, reference, f"{parameters['windows']} four-bar linkages")
