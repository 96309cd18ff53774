"""Vectors, quaternions and poses."""

from dataclasses import dataclass

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Pose:
    """Pose of a frame in a reference frame.

    Attributes:
        position: origin of the frame in the reference frame [m].
        quaternion: its orientation, unit quaternion in the order x y z w.
    """

    position: Vector3 = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
