"""Messages of lidars with several channels, depth cameras and receivers of satellite navigation; see `messages`."""

from array import array

import numpy as np
from sensor_msgs.msg import CameraInfo, Image, NavSatFix, NavSatStatus, PointCloud2, PointField

from grouser.nodes.shared.messages import set_stamp
from grouser.physics.description.data.sensors import DepthCamera, GnssReceiver, Lidar3d
from grouser.physics.sensors.depth_camera import DepthImage
from grouser.physics.sensors.gnss import GnssFix
from grouser.physics.sensors.lidar import LidarSweep

# Points of a cloud in single precision, each with the number of its channel; the last number is unused.
POINT = np.dtype([*((name, "<f4") for name in ("x", "y", "z", "intensity")), ("ring", "<u2"), ("unused", "<u2")])
_DATATYPES = {"x": PointField.FLOAT32, "y": PointField.FLOAT32, "z": PointField.FLOAT32}
_DATATYPES |= {"intensity": PointField.FLOAT32, "ring": PointField.UINT16}


def make_points(frame: str, lidar: Lidar3d) -> PointCloud2:
    """A message for the sweeps of a lidar: an organised cloud with a row for each channel."""
    message = PointCloud2(
        height=lidar.channels,
        width=lidar.samples,
        fields=[
            PointField(name=name, offset=4 * place, datatype=kind, count=1)
            for place, (name, kind) in enumerate(_DATATYPES.items())
        ],
        is_bigendian=False,
        point_step=POINT.itemsize,
        row_step=POINT.itemsize * lidar.samples,
    )
    message.header.frame_id = frame
    return message


def fill_points(message: PointCloud2, nanoseconds: int, sweep: LidarSweep) -> None:
    """Writes points in the lidar's frame [m], NaN for beams without a measurement; intensity is zero, not modelled."""
    set_stamp(message.header.stamp, nanoseconds)
    met = np.isfinite(sweep.ranges)
    points = np.zeros(sweep.ranges.shape, dtype=POINT)
    ranges = np.where(met, sweep.ranges, np.nan)
    for number, name in enumerate("xyz"):
        points[name] = sweep.directions[:, :, number] * ranges
    points["ring"] = np.arange(len(points))[:, np.newaxis]
    message.data = array("B", points.tobytes())
    message.is_dense = bool(met.all())


def make_depth_image(frame: str, camera: DepthCamera) -> Image:
    """A message for the images of a depth camera."""
    message = Image(height=camera.height, width=camera.width, encoding="32FC1", is_bigendian=0, step=4 * camera.width)
    message.header.frame_id = frame
    return message


def fill_depth_image(message: Image, nanoseconds: int, image: DepthImage) -> None:
    """Writes depths [m]; infinite values have the meaning of `DepthImage` (REP-118)."""
    set_stamp(message.header.stamp, nanoseconds)
    message.data = array("B", image.depth.astype("<f4").tobytes())


def camera_info(frame: str, camera: DepthCamera) -> CameraInfo:
    """Projection of a depth camera: a pinhole without distortion."""
    focal, (centre_x, centre_y) = camera.focal_length, camera.centre
    message = CameraInfo(
        height=camera.height,
        width=camera.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[focal, 0.0, centre_x, 0.0, focal, centre_y, 0.0, 0.0, 1.0],
        r=np.eye(3).ravel(),
        p=[focal, 0.0, centre_x, 0.0, 0.0, focal, centre_y, 0.0, 0.0, 0.0, 1.0, 0.0],
    )
    message.header.frame_id = frame
    return message


def make_fix(frame: str, receiver: GnssReceiver) -> NavSatFix:
    """A message for the positions of a receiver, with its variances; without noise these are unknown."""
    horizontal, vertical = receiver.horizontal_noise**2, receiver.vertical_noise**2
    known, unknown = NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN, NavSatFix.COVARIANCE_TYPE_UNKNOWN
    message = NavSatFix(
        position_covariance=np.diag([horizontal, horizontal, vertical]).ravel(),
        position_covariance_type=known if horizontal > 0.0 or vertical > 0.0 else unknown,
    )
    message.header.frame_id = frame
    message.status.service = NavSatStatus.SERVICE_GPS
    return message


def fill_fix(message: NavSatFix, nanoseconds: int, fix: GnssFix) -> None:
    """Writes latitude, longitude [degrees] and altitude [m]; NaN and no fix in a world without a geodetic origin."""
    set_stamp(message.header.stamp, nanoseconds)
    message.status.status = NavSatStatus.STATUS_FIX if fix.has_fix else NavSatStatus.STATUS_NO_FIX
    message.latitude, message.longitude, message.altitude = fix.latitude, fix.longitude, fix.altitude
