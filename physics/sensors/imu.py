"""Inertial measurement units, read from the body's motion at the start and at the end of the last step."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import quaternion_from_matrix, velocity_at
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import Sensor
from grouser.physics.model.multibody import Names
from grouser.physics.multibody.kinematics import Kinematics


class ImuReading(NamedTuple):
    """An inertial measurement unit at the end of the last step.

    Attributes:
        orientation: of its frame in the world, quaternion x y z w.
        angular_velocity: in its frame [rad/s], (3,).
        specific_force: reading of the accelerometer, in its frame, mean over the step [m/s2], (3,): acceleration minus
            gravity, so that it points up at rest.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


def mounting(sensor: Sensor, names: Names) -> tuple[int, np.ndarray, np.ndarray]:
    """Body that carries a sensor, -1 for the world; rotation (3, 3) and origin [m] of its frame in the body's."""
    link = names.link_index(sensor.link)
    turn = names.link_rotation[link]
    rotation, position = turn @ matrix(quaternion_from_rpy(*sensor.rpy)), names.link_position[link] + turn @ sensor.xyz
    return int(names.link_body[link]), rotation, position


def read_imu(
    imu: Sensor,
    names: Names,
    gravity: Vector3,
    before: Kinematics | Packed,
    after: Kinematics | Packed,
    step: float,
) -> ImuReading:
    """Reads an inertial measurement unit.

    Args:
        imu: description of the unit.
        names: of the machine's links.
        gravity: in the world [m/s2].
        before, after: kinematics at the start and at the end of the step.
        step: length of the step [s].
    """
    body, rotation, position = mounting(imu, names)
    if body < 0:
        turn, rate, acceleration = rotation, np.zeros(3), np.zeros(3)
    else:
        turn = after.rotation[body] @ rotation
        rate = after.twist[body, 3:]
        acceleration = (_velocity(after, body, position) - _velocity(before, body, position)) / step
    return ImuReading(
        np.array(quaternion_from_matrix(np.ascontiguousarray(turn))),
        rate @ turn,
        (acceleration - np.array(gravity)) @ turn,
    )


def _velocity(kinematics: Kinematics | Packed, body: int, position: np.ndarray) -> np.ndarray:
    """Velocity of a point of a body in the world [m/s], (3,)."""
    return velocity_at(kinematics.twist[body], kinematics.position[body] + kinematics.rotation[body] @ position)
