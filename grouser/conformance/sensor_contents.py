"""Contents of messages of lidars with several channels, depth cameras and satellite navigation."""

from typing import Any

import numpy as np

from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

IMAGE, INFO = "depth/<name>/image_rect", "depth/<name>/camera_info"
_FLOAT32, _NO_FIX = 7, -1
_PINHOLE = "image's size, its frame, a projection K"


def points_fault(message: Any) -> str:
    """Fault of a cloud of a lidar: fields, sizes, and whether points are finite where it says so; "" for none."""
    fields = {field.name: field for field in message.fields}
    lost = [name for name in "xyz" if name not in fields or fields[name].datatype != _FLOAT32]
    if lost:
        return f"without {', '.join(lost)} as 32-bit floats"
    if message.row_step != message.width * message.point_step or len(message.data) != message.height * message.row_step:
        return f"{message.height} x {message.width} points of {message.point_step} bytes in {len(message.data)} bytes"
    order = ">" if message.is_bigendian else "<"
    point = np.dtype(
        {
            "names": list("xyz"),
            "formats": [f"{order}f4"] * 3,
            "offsets": [fields[name].offset for name in "xyz"],
            "itemsize": message.point_step,
        }
    )
    points = np.frombuffer(bytes(message.data), dtype=point)
    finite = np.isfinite(points["x"]) & np.isfinite(points["y"]) & np.isfinite(points["z"])
    lost_points = np.count_nonzero(~finite)
    return f"is_dense, and {lost_points} points are not finite" if message.is_dense and lost_points else ""


def depth_fault(message: Any) -> str:
    """Fault of a depth image by REP-118; "" for none."""
    size = {"32FC1": 4, "16UC1": 2}.get(message.encoding)
    if size is None:
        return f"encoding {message.encoding}"
    if message.step != size * message.width or len(message.data) != message.height * message.step:
        return f"{message.height} rows of {message.step} bytes in {len(message.data)} bytes"
    if size == 4:
        depth = np.frombuffer(bytes(message.data), ">f4" if message.is_bigendian else "<f4")
        near = depth[np.isfinite(depth)].min(initial=np.inf)
        return f"depth {near:.4g} m" if near < 0.0 else ""
    return ""


def fix_fault(message: Any) -> str:
    """Fault of a position; one without a fix may be anything; "" for none."""
    if message.status.status == _NO_FIX:
        return ""
    if not (abs(message.latitude) <= 90.0 and abs(message.longitude) <= 180.0):
        return f"latitude {message.latitude:.4g}, longitude {message.longitude:.4g} degrees"
    variances = np.array(message.position_covariance).reshape(3, 3).diagonal()
    return "a negative variance" if message.position_covariance_type and variances.min() < 0.0 else ""


def info_fault(info: Any, image: Any) -> str:
    """Fault of the projection of an image; "" for none."""
    if (info.width, info.height) != (image.width, image.height):
        return f"{info.width} x {info.height} of an image of {image.width} x {image.height}"
    if info.header.frame_id != image.header.frame_id:
        return f"frame {info.header.frame_id} of an image in {image.header.frame_id}"
    k, p = np.array(info.k).reshape(3, 3), np.array(info.p).reshape(3, 4)
    if not (k[0, 0] > 0.0 and k[1, 1] > 0.0 and k[2, 2] == 1.0):
        return f"K with {k[0, 0]:.4g}, {k[1, 1]:.4g}, {k[2, 2]:.4g}"
    # the image is rectified: P holds its own projection
    return "" if p[0, 0] > 0.0 and p[1, 1] > 0.0 and p[2, 2] == 1.0 else "P without focal lengths"


def check_cameras(subject: Subject, section: Section) -> None:
    """Checks that each depth image has a camera_info beside it that fits."""
    infos = {stream.topic: stream for stream in subject.of(INFO)}
    for stream in subject.of(IMAGE):
        messages = stream.recording.messages
        if not messages:
            continue
        info = infos.get(f"{stream.topic.rpartition('/')[0]}/camera_info")
        received = [] if info is None else info.recording.messages
        fault = info_fault(received[-1], messages[-1]) if received else "none received"
        section.check(f"{stream.name}: camera_info", _PINHOLE, fault or "so", not fault)


def has_fix(message: Any) -> bool:
    """Whether a message is no position, or one that is known; other positions need no finite numbers."""
    return not hasattr(message, "position_covariance_type") or message.status.status != _NO_FIX
