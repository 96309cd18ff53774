"""Vectors, quaternions and poses."""

from dataclasses import dataclass

from grouser.physics.base.checks import require_quaternion, require_vector

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
AXES = ("x", "y", "z")
# Largest coordinate of any frame, far above those of a file: frames of long chains add up [m].
POSITION_MAX = 1e15


@dataclass(frozen=True)
class Pose:
    """Pose of a frame in a reference frame.

    Attributes:
        position: origin of the frame in the reference frame [m].
        quaternion: its orientation, unit quaternion in the order x y z w.

    Raises:
        ParameterError: numbers that are not finite, too few or too many, or a quaternion of another length than one.
    """

    position: Vector3 = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", require_vector("position", self.position, 3, "m", POSITION_MAX))
        object.__setattr__(self, "quaternion", require_quaternion("quaternion", self.quaternion))
