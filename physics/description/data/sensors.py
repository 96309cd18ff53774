"""Sensors of a machine. SI units."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3


@dataclass(frozen=True)
class Sensor:
    """A sensor and its frame.

    Attributes:
        name: of the sensor and of its frame.
        type: imu or lidar; the latter is a `Lidar`.
        link: the link that it is fixed to.
        xyz, rpy: origin [m] and orientation (roll, pitch, yaw) [rad] of its frame in the link frame.
    """

    name: str
    type: str
    link: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Lidar(Sensor):
    """A planar lidar: its beams are in the plane z = 0 of its frame, at angles about z from the x axis.

    Attributes:
        beams: number of beams, at least 2.
        angle_min, angle_max: angles of the first and the last beam [rad].
        range_min, range_max: measuring range [m].
        noise: standard deviation of a range [m].
    """

    beams: int = 720
    angle_min: float = -math.pi
    angle_max: float = math.pi
    range_min: float = 0.1
    range_max: float = 30.0
    noise: float = 0.0

    @property
    def angle_increment(self) -> float:
        """Angle from one beam to the next [rad]."""
        return (self.angle_max - self.angle_min) / (self.beams - 1)
