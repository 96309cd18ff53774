"""Sensors of a machine. SI units."""

import math
from dataclasses import dataclass
from functools import cached_property

from grouser.physics.description.data.pose import Vector3

# Fields of `Machine` with sensors that are mounted on a link.
MOUNTED = ("sensors", "lidars_3d", "depth_cameras", "gnss_receivers")


@dataclass(frozen=True)
class MountedSensor:
    """A sensor on a link, and its frame.

    Attributes:
        type: kind of sensor.
        name: of the sensor and of its frame.
        link: the link that it is fixed to.
        xyz, rpy: origin [m] and orientation (roll, pitch, yaw) [rad] of its frame in the link frame.
    """

    type = ""
    name: str
    link: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Imu(MountedSensor):
    """An inertial measurement unit; see `sensors.imu` for the model of its errors.

    Attributes:
        sample_rate: rate at which it samples [Hz]; it converts noise densities to standard deviations.
        gyroscope_noise: density of the white noise of angular rates [rad/s/sqrt(Hz)].
        gyroscope_bias: standard deviation of the bias of angular rates at the start [rad/s].
        gyroscope_walk: density of the random walk of this bias [rad/s2/sqrt(Hz)].
        accelerometer_noise, accelerometer_bias, accelerometer_walk: the same of specific force [m/s2/sqrt(Hz), m/s2,
            m/s3/sqrt(Hz)].
        orientation_noise: standard deviation of the orientation about each axis [rad].
    """

    type = "imu"
    sample_rate: float = 100.0
    gyroscope_noise: float = 0.0
    gyroscope_bias: float = 0.0
    gyroscope_walk: float = 0.0
    accelerometer_noise: float = 0.0
    accelerometer_bias: float = 0.0
    accelerometer_walk: float = 0.0
    orientation_noise: float = 0.0

    @property
    def gyroscope_deviation(self) -> float:
        """Standard deviation of the white noise of a sample of angular rate [rad/s]."""
        return self.gyroscope_noise * math.sqrt(self.sample_rate)

    @property
    def accelerometer_deviation(self) -> float:
        """Standard deviation of the white noise of a sample of specific force [m/s2]."""
        return self.accelerometer_noise * math.sqrt(self.sample_rate)


@dataclass(frozen=True)
class Lidar(MountedSensor):
    """A planar lidar: its beams are in the plane z = 0 of its frame, at angles about z from the x axis.

    Attributes:
        beams: number of beams, at least 2.
        angle_min, angle_max: angles of the first and the last beam [rad].
        range_min, range_max: measuring range [m].
        noise: standard deviation of a range [m].
    """

    type = "lidar"
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


@dataclass(frozen=True)
class Lidar3d(MountedSensor):
    """A lidar with several channels, each of which sweeps a cone about the z axis of its frame.

    Attributes:
        channels: number of channels, at least 1.
        elevation_min, elevation_max: elevations of the first and the last channel above the plane z = 0 [rad].
        samples: number of beams of each channel, at least 2.
        angle_min, angle_max: azimuths of the first and the last beam from the x axis about z [rad].
        range_min, range_max: measuring range [m].
        noise: standard deviation of a range [m].
    """

    type = "lidar_3d"
    channels: int = 16
    elevation_min: float = -0.2618
    elevation_max: float = 0.2618
    samples: int = 900
    angle_min: float = -math.pi
    angle_max: float = math.pi
    range_min: float = 0.1
    range_max: float = 100.0
    noise: float = 0.0


@dataclass(frozen=True)
class DepthCamera(MountedSensor):
    """A depth camera without distortion; it looks along the x axis of its frame.

    Attributes:
        width, height: size of the image [pixels].
        field_of_view: horizontal angle between the outer edges of the image [rad].
        depth_min, depth_max: measuring range along the x axis [m].
        noise: standard deviation of a depth of zero [m].
        noise_growth: its growth with the square of the depth [1/m].
    """

    type = "depth_camera"
    width: int = 320
    height: int = 240
    field_of_view: float = 1.5184
    depth_min: float = 0.1
    depth_max: float = 10.0
    noise: float = 0.0
    noise_growth: float = 0.0

    @cached_property
    def focal_length(self) -> float:
        """In pixels, along both sides."""
        return 0.5 * self.width / math.tan(0.5 * self.field_of_view)

    @property
    def centre(self) -> tuple[float, float]:
        """Image coordinates of the optical axis; the middle of the first pixel is 0, 0."""
        return 0.5 * (self.width - 1), 0.5 * (self.height - 1)

    @property
    def optical_frame(self) -> str:
        """Name of the frame of its images: z ahead, x to the right (REP-103)."""
        return f"{self.name}_optical_frame"


@dataclass(frozen=True)
class GnssReceiver(MountedSensor):
    """A receiver of satellite navigation.

    Attributes:
        horizontal_noise: standard deviation along east and along north [m].
        vertical_noise: standard deviation of the altitude [m].
    """

    type = "gnss_receiver"
    horizontal_noise: float = 0.0
    vertical_noise: float = 0.0


@dataclass(frozen=True)
class ForceTorqueSensor:
    """A sensor in a joint: it measures the force and the moment that pass through the joint.

    Attributes:
        type: kind of sensor.
        name: of the sensor and of its frame.
        joint: the joint, whose child link carries the frame.
        xyz, rpy: origin [m] and orientation (roll, pitch, yaw) [rad] of its frame in the frame of the child link.
        direction: parent_to_child or child_to_parent, whose force it is on whom.
        force_noise, torque_noise: standard deviation of each component [N, N m].
    """

    type = "force_torque_sensor"
    name: str
    joint: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)
    direction: str = "parent_to_child"
    force_noise: float = 0.0
    torque_noise: float = 0.0


@dataclass(frozen=True)
class StrainGauge:
    """A strain gauge along the elastic axis of a flexible link; it has no frame.

    Attributes:
        name: of the gauge.
        link: the flexible link.
        at: place along the elastic axis [m].
        y, z: place on the section, from the elastic axis along y and z of the elastic frame [m].
    """

    name: str
    link: str
    at: float
    y: float = 0.0
    z: float = 0.0


Sensor = MountedSensor | ForceTorqueSensor
