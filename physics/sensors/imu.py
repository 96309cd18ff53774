"""Inertial measurement units, read from the body's motion at the start and at the end of the last step."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import quaternion_from_matrix, velocity_at
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import Sensor
from grouser.physics.model.multibody import MultibodyModel, Names
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.multibody.room import Workspace


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
    motion: Workspace | Packed,
    model: MultibodyModel,
    after: Kinematics | Packed,
    step: float,
) -> ImuReading:
    """Reads an inertial measurement unit.

    Args:
        imu: description of the unit.
        names: of the machine's links.
        gravity: in the world [m/s2].
        motion: buffers of the last step, with the kinematics and rates of its start.
        model: the multibody system.
        after: kinematics at the end of the step.
        step: length of the step [s].
    """
    body, rotation, position = mounting(imu, names)
    if body < 0:
        turn, rate, acceleration = rotation, np.zeros(3), np.zeros(3)
    else:
        turn = after.rotation[body] @ rotation
        rate = after.twist[body, 3:]
        before = motion.kinematics
        start = _twist_of(model, before.column, motion.velocity_start, body)
        acceleration = (
            velocity_at(after.twist[body], after.position[body] + after.rotation[body] @ position)
            - velocity_at(start, before.position[body] + before.rotation[body] @ position)
        ) / step
    return ImuReading(
        np.array(quaternion_from_matrix(np.ascontiguousarray(turn))),
        rate @ turn,
        (acceleration - np.array(gravity)) @ turn,
    )


def _twist_of(model: MultibodyModel, column: np.ndarray, rates: np.ndarray, body: int) -> np.ndarray:
    """Twist of a body at coordinate rates, about the origin of the kinematics that the columns belong to, (6,)."""
    twist = np.zeros(6)
    while body >= 0:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            twist += column[c] * rates[model.column_rate[c]]
        body = model.body_parent[body]
    return twist
