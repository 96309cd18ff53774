"""URDF's ``<origin>`` and direction vectors."""

import math

import numpy as np

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.text import numbers
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.xml_tree import Element

# Beyond this [m] a double no longer resolves the micrometre, and squares of it leave the useful range.
COORDINATE_MAX = 1e9


def read_origin(parent: Element) -> Pose:
    """Returns the pose that the ``<origin>`` of `parent` gives; the identity when there is none.

    Raises:
        MachineError: numbers that cannot be read, or two orientations at once.
    """
    element = parent.optional("origin")
    if element is None:
        return Pose()
    position = read_position(element, "xyz", (0.0, 0.0, 0.0))
    if "quat_xyzw" in element.attributes:
        if "rpy" in element.attributes:
            raise element.error("rpy and quat_xyzw both give the orientation", "remove one of them")
        x, y, z, w = unit_vector(element, "quat_xyzw", 4)
        return Pose(position, (x, y, z, w))
    roll, pitch, yaw = element.triple("rpy", (0.0, 0.0, 0.0))
    return Pose(position, quaternion_from_rpy(roll, pitch, yaw))


def read_position(element: Element, name: str, default: Vector3 | None = None) -> Vector3:
    """Returns the attribute `name` as a point [m].

    Raises:
        MachineError: not three numbers of at most COORDINATE_MAX.
    """
    position = element.triple(name, default)
    _check_coordinates(element, name, position)
    return position


def read_points(element: Element, name: str) -> np.ndarray:
    """Returns the attribute `name` as points [m], shape (n, 3), read-only.

    Raises:
        MachineError: none, no multiple of three numbers, or numbers beyond COORDINATE_MAX.
    """
    text = element.text(name)
    try:
        points = numbers.triples(text)
    except ValueError as problem:
        raise element.error(f"{name} = {shortened(text)}: {problem}", "give x y z of each point") from None
    for point in points:
        _check_coordinates(element, name, point)
    array = np.array(points)
    array.flags.writeable = False
    return array


def _check_coordinates(element: Element, name: str, position: Vector3) -> None:
    for value in position:
        if abs(value) > COORDINATE_MAX:
            raise element.error(f"{name} holds {value:g}, beyond {COORDINATE_MAX:g} m", "lengths are in metres")


def direction(element: Element, name: str) -> Vector3:
    """Returns the attribute `name`, three numbers, scaled to length one; see `unit_vector`."""
    x, y, z = unit_vector(element, name, 3)
    return (x, y, z)


def unit_vector(element: Element, name: str, count: int) -> tuple[float, ...]:
    """Returns the attribute `name`, `count` numbers, scaled to length one.

    Raises:
        MachineError: not so many numbers, or all (nearly) zero.
    """
    vector = element.vector(name, count)
    length = math.hypot(*vector)
    if not 1e-9 < length < 1e150:
        written = " ".join(f"{value:g}" for value in vector)
        raise element.error(f"{name} = '{written}' has no direction", "give a vector of length one")
    return tuple(value / length for value in vector)
