"""What sensors measure, from how their body was before and after the last step."""

from typing import NamedTuple

import numpy as np

from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.packed import Packed
from grouser.physics.spatial import quaternion_from_matrix


class ImuReading(NamedTuple):
    """An inertial measurement unit at the end of the last step.

    Attributes:
        orientation: of its frame in the world, quaternion x y z w.
        angular_velocity: in its frame [rad/s], (3,).
        specific_force: what an accelerometer shows, in its frame, mean over the step [m/s2], (3,): acceleration less
            gravity, so that at rest it points up.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


def read_imu(
    body: int,
    rotation: np.ndarray,
    position: np.ndarray,
    gravity: np.ndarray,
    before: Kinematics | Packed,
    after: Kinematics | Packed,
    step: float,
) -> ImuReading:
    """Reads an inertial measurement unit.

    Args:
        body: that carries it; -1 for the world.
        rotation, position: of its frame in the body's, (3, 3) and (3,) [m].
        gravity: in the world [m/s2], (3,).
        before, after: the machine at the start and at the end of the step.
        step: its length [s].
    """
    if body < 0:
        turn, rate, acceleration = rotation, np.zeros(3), np.zeros(3)
    else:
        turn = after.rotation[body] @ rotation
        rate = after.twist[body, 3:]
        acceleration = (_velocity(after, body, position) - _velocity(before, body, position)) / step
    return ImuReading(
        np.array(quaternion_from_matrix(np.ascontiguousarray(turn))), rate @ turn, (acceleration - gravity) @ turn
    )


def _velocity(kinematics: Kinematics | Packed, body: int, position: np.ndarray) -> np.ndarray:
    """Of a point of a body in the world [m/s], (3,)."""
    linear, angular = kinematics.twist[body, :3], kinematics.twist[body, 3:]
    place = kinematics.position[body] + kinematics.rotation[body] @ position
    return linear + np.cross(angular, place)
