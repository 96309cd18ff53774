"""Inertial measurement units, read from the body's motion at the start and at the end of the last step."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import quaternion_from_matrix, velocity_at
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.sensors import Imu
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.multibody.room import Workspace
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.sensors.noise import constant_noise, random_walk, white_noise


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


def read_imu(
    mounting: Mounting,
    gravity: Vector3,
    motion: Workspace | Packed,
    model: MultibodyModel,
    after: Kinematics | Packed,
    step: float,
) -> ImuReading:
    """Reads an inertial measurement unit, without errors.

    Args:
        mounting: its place.
        gravity: in the world [m/s2].
        motion: buffers of the last step, with the kinematics and rates of its start.
        model: the multibody system.
        after: kinematics at the end of the step.
        step: length of the step [s].
    """
    _, body, rotation, position = mounting
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


def with_errors(imu: Imu, reading: ImuReading, step: int, step_size: float) -> ImuReading:
    """A reading with the errors of a unit, each a function of its name and the step.

    Angular rates and specific forces have white noise and a bias, which walks at random from the one at the start
    (IEEE Std 952-1997, annex C: angle random walk and rate random walk). The orientation has white noise.

    Args:
        imu: description of the unit.
        reading: without errors.
        step: number of the step.
        step_size: length of a step [s].
    """
    white = white_noise(imu.name, step, (3, 3))
    start = constant_noise(f"{imu.name}/bias", 6).reshape(2, 3)
    walk = math.sqrt(step_size) * random_walk(f"{imu.name}/bias", step, 6).reshape(2, 3)
    rate = (
        reading.angular_velocity
        + imu.gyroscope_deviation * white[0]
        + imu.gyroscope_bias * start[0]
        + imu.gyroscope_walk * walk[0]
    )
    force = (
        reading.specific_force
        + imu.accelerometer_deviation * white[1]
        + imu.accelerometer_bias * start[1]
        + imu.accelerometer_walk * walk[1]
    )
    orientation = reading.orientation
    if imu.orientation_noise > 0.0:
        tilt = imu.orientation_noise * white[2]
        angle = float(np.linalg.norm(tilt))
        x, y, z = math.sin(0.5 * angle) / angle * tilt
        turned = matrix(tuple(orientation)) @ matrix((x, y, z, math.cos(0.5 * angle)))
        orientation = np.array(quaternion_from_matrix(np.ascontiguousarray(turned)))
    return ImuReading(orientation, rate, force)


def has_errors(imu: Imu) -> bool:
    """Whether a unit is not exact."""
    return any(
        (
            *(imu.gyroscope_noise, imu.gyroscope_bias, imu.gyroscope_walk),
            *(imu.accelerometer_noise, imu.accelerometer_bias, imu.accelerometer_walk),
            imu.orientation_noise,
        )
    )


def _twist_of(model: MultibodyModel, column: np.ndarray, rates: np.ndarray, body: int) -> np.ndarray:
    """Twist of a body at coordinate rates, about the origin of the kinematics that the columns belong to, (6,)."""
    twist = np.zeros(6)
    while body >= 0:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            twist += column[c] * rates[model.column_rate[c]]
        body = model.body_parent[body]
    return twist
