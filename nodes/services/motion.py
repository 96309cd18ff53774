"""Where something is and how it moves, in one frame or another."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.machine import Pose, Vector3
from grouser.physics.description.rotation import rotate

_NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Velocity:
    """How fast a frame moves: linear, of its origin [m/s], and angular [rad/s]."""

    linear: Vector3 = _NONE
    angular: Vector3 = _NONE


@dataclass(frozen=True)
class EntityMotion:
    """A frame's pose and velocity as seen from a reference frame."""

    pose: Pose = Pose()
    velocity: Velocity = Velocity()


def seen_from_outside(velocity: Velocity, place: Vector3, frame: EntityMotion) -> Velocity:
    """A velocity that is seen from a frame, as the one sees it who sees that frame move.

    Args:
        velocity: as seen from the frame, along its axes.
        place: of what moves, as seen from outside [m].
        frame: as seen from outside.
    """
    turn = frame.pose.quaternion
    arm = np.array(place) - frame.pose.position
    carried = frame.velocity.linear + np.cross(frame.velocity.angular, arm)
    return Velocity(
        _plain(carried + rotate(turn, velocity.linear)),
        _plain(np.array(frame.velocity.angular) + rotate(turn, velocity.angular)),
    )


def _plain(numbers: np.ndarray) -> Vector3:
    x, y, z = numbers.tolist()
    return (x, y, z)
