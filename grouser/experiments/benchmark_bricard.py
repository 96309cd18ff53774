"""IFToMM's library of computational benchmark problems, A04: Bricard's mechanism, a loop of six bars with one motion.

Five rods and the ground are six edges of a cube; each joint's axis is square to both its bars. By count the loop is
rigid: one of its constraints is redundant in every position. González, Dopico, Lugrís and Cuadrado, "A benchmarking
system for MBS simulation software" (2006); Bricard (1897).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

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
from grouser.experiments.protocol import Result

DESCRIPTION = "Bricard's mechanism, with a redundant constraint (IFToMM benchmark A04)"

PARAMETERS = motion_parameters("implicit_midpoint", 1e-3, 10.0)

_MASS, _LENGTH = 1.0, 1.0  # of each rod
_ALONG = 1e-5  # moment of inertia about a rod's own axis [kg m2], also added to those across
_ACROSS = _MASS * _LENGTH**2 / 12.0 + _ALONG
# Corners of the cube in the order of the joints, in lengths of a rod, and axes of the joints there.
_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], dtype=float)
_AXES = "yzxyzx"
_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_JOINTS = tuple(f"joint_{k}" for k in range(5))
_CORNER = ("corner x", "corner y", "corner z")
REFERENCE = {
    "t": "time",
    **{f"joint_{k}": f"coordinates[{k}]" for k in range(5)},
    **{f"corner {axis}": f"coordinates[{5 + k}]" for k, axis in enumerate("xyz")},
}


def run(**parameters: Any) -> Result:
    """Releases the mechanism at rest, gravity along -y.

    Returns:
        The results of `mechanism.simulate`; coordinates are the angles of the first five joints, zero in the cube
        [rad], and the place of the fourth corner [m], which begins at (1, 1, 1).

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        DivergenceError: the step is too long.
    """
    return simulate(make_bricard(), parameters)


def make_bricard() -> Mechanism:
    """The mechanism at its start; the axes of all links are parallel to the world's."""
    links, joints = [], []
    edges = _LENGTH * np.diff(_CORNERS, axis=0)
    for k, edge in enumerate(edges):
        inertia = np.where(edge != 0.0, _ALONG, _ACROSS)
        links.append(body(f"rod_{k}", _MASS, tuple(inertia.tolist()), tuple((0.5 * edge).tolist())))
        parent, place = (GROUND, np.zeros(3)) if k == 0 else (f"rod_{k - 1}", edges[k - 1])
        joints.append(hinge(_JOINTS[k], parent, f"rod_{k}", tuple(place.tolist()), _UNIT[_AXES[k]]))
    ground_end, last_end = tuple((_LENGTH * _CORNERS[5]).tolist()), tuple(edges[4].tolist())
    loop = closure("joint_5", "revolute", _AXES[5], (GROUND, ground_end), ("rod_4", last_end))
    return Mechanism(
        machine("bricard", links, joints, {}, loop_joints=(loop,)),
        *((0.0, -STANDARD_GRAVITY, 0.0), {}, {}, (*_JOINTS, *_CORNER), _read, _LENGTH),
    )


def _read(simulation) -> tuple[float, ...]:
    corner = simulation.link_pose("rod_3")[0]
    return (*(simulation.joint_position[joint] for joint in _JOINTS), *corner)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the coordinates and the energy over time; the reference's columns are t and the names of coordinates."""
    draw(parameters, result, figure, reference, "Bricard's mechanism")
