"""Checks of clouds, depth images, projections and fixes: each finds its fault."""

import numpy as np
import pytest

from grouser.conformance.sensor_contents import depth_fault, fix_fault, has_fix, info_fault, points_fault
from grouser.nodes.shared.sensor_messages import (
    camera_info,
    fill_depth_image,
    fill_fix,
    fill_points,
    make_depth_image,
    make_fix,
    make_points,
)
from grouser.physics.description.data.sensors import DepthCamera, GnssReceiver, Lidar3d
from grouser.physics.sensors.depth_camera import DepthImage
from grouser.physics.sensors.gnss import GnssFix
from grouser.physics.sensors.lidar import LidarSweep, beam_directions


def cloud():
    lidar = Lidar3d("eye", "base", channels=2, samples=3)
    message = make_points("eye", lidar)
    fill_points(message, 0, LidarSweep(beam_directions(lidar), np.array([[1.0, np.inf, 2.0], [3.0, 4.0, 5.0]])))
    return message


def depth():
    camera = DepthCamera("eye", "base", width=4, height=2)
    message = make_depth_image("eye_optical_frame", camera)
    fill_depth_image(message, 0, DepthImage(np.array([[1.0, np.inf, -np.inf, 2.0]] * 2)))
    return message, camera_info("eye_optical_frame", camera)


def fix(*values, noise=0.5):
    message = make_fix("gnss", GnssReceiver("gnss", "base", horizontal_noise=noise, vertical_noise=2.0 * noise))
    fill_fix(message, 0, GnssFix(*values))
    return message


def test_our_messages_have_no_fault():
    image, info = depth()
    assert points_fault(cloud()) == depth_fault(image) == info_fault(info, image) == ""
    assert fix_fault(fix(47.0, 11.0, 600.0)) == "" and has_fix(fix(47.0, 11.0, 600.0))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda message: setattr(message, "is_dense", True), "is_dense, and 1 points are not finite"),
        (lambda message: setattr(message, "height", 3), "3 x 3 points of 20 bytes in 120 bytes"),
        (lambda message: setattr(message, "row_step", 40), "2 x 3 points"),
        (lambda message: setattr(message, "fields", message.fields[1:]), "without x as 32-bit floats"),
        (lambda message: setattr(message.fields[2], "datatype", 8), "without z"),
    ],
)
def test_faults_of_clouds(change, fault):
    message = cloud()
    change(message)
    assert points_fault(message).startswith(fault)


def test_faults_of_depth_images():
    image, info = depth()
    image.encoding = "rgb8"
    assert depth_fault(image) == "encoding rgb8"
    image, info = depth()
    image.step = 8
    assert depth_fault(image) == "2 rows of 8 bytes in 32 bytes"
    image, info = depth()
    fill_depth_image(image, 0, DepthImage(np.full((2, 4), -1.0)))
    assert depth_fault(image) == "depth -1 m"
    image, info = depth()
    info.k[0] = 0.0
    assert info_fault(info, image).startswith("K with 0")
    image, info = depth()
    info.p[5] = 0.0
    assert info_fault(info, image) == "P without focal lengths"
    image, info = depth()
    info.width = 5
    assert info_fault(info, image) == "5 x 2 of an image of 4 x 2"
    image, info = depth()
    info.header.frame_id = "eye"
    assert info_fault(info, image) == "frame eye of an image in eye_optical_frame"


def test_faults_of_fixes():
    assert fix_fault(fix(91.0, 0.0, 0.0)).startswith("latitude 91")
    assert fix_fault(fix(0.0, -181.0, 0.0)).startswith("latitude 0, longitude -181")
    bad = fix(0.0, 0.0, 0.0)
    bad.position_covariance[8] = -1.0
    assert fix_fault(bad) == "a negative variance"
    lost = fix(np.nan, np.nan, np.nan)
    assert fix_fault(lost) == "" and not has_fix(lost)


def test_covariance_of_a_fix():
    message = fix(0.0, 0.0, 0.0)
    np.testing.assert_array_equal(np.array(message.position_covariance).reshape(3, 3), np.diag([0.25, 0.25, 1.0]))
    assert message.position_covariance_type == message.COVARIANCE_TYPE_DIAGONAL_KNOWN
    assert fix(0.0, 0.0, 0.0, noise=0.0).position_covariance_type == message.COVARIANCE_TYPE_UNKNOWN
