"""Pose and velocity of entities, and their change of frame."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import rotate

_NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Velocity:
    """Velocity of a frame: linear, of its origin [m/s], and angular [rad/s]."""

    linear: Vector3 = _NONE
    angular: Vector3 = _NONE


@dataclass(frozen=True)
class EntityMotion:
    """Pose and velocity of a frame in a reference frame."""

    pose: Pose = Pose()
    velocity: Velocity = Velocity()


def seen_from_outside(velocity: Velocity, place: Vector3, frame: EntityMotion) -> Velocity:
    """Transforms a velocity relative to a moving frame into the reference frame.

    Args:
        velocity: relative to the moving frame, in its axes.
        place: position of the moving point in the reference frame [m].
        frame: motion of the moving frame in the reference frame.
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
