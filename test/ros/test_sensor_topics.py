"""Lidar with channels, depth camera, satellite navigation and force-torque sensors on ROS 2: frames and contents."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, NavSatFix, NavSatStatus, PointCloud2
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from grouser.conformance.sensor_contents import depth_fault, fix_fault, has_fix, info_fault, points_fault
from grouser.nodes.shared import topics
from grouser.nodes.shared.sensor_messages import POINT

STEP = 1_000_000  # [ns]
# A wall across the rover's way, whose face is 5 m ahead of base_link.
WORLD = """
ground: {height: 0.0}
obstacles: [{name: wall, box: [1.0, 40.0, 6.0], xyz: [5.5, 0.0, 3.0]}]
geodetic_origin: {latitude: 47.0, longitude: 11.0, altitude: 600.0, yaw_deg: 90.0}
"""
SENSORS = ["lidar_3d:=true", "depth_camera:=true", "gnss:=true", "wheel_forces:=true"]


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


@pytest.fixture
def world(tmp_path):
    file = tmp_path / "wall.yaml"
    file.write_text(WORLD, encoding="utf-8")
    return str(file)


def test_sensors_of_the_rover_before_a_wall(peer, start_simulator, world):
    start_simulator(machine="rover", machine_arguments=SENSORS, world=world, start_paused=True, step_request_count=400)
    kinds = {
        "points": PointCloud2,
        "depth/image_rect": Image,
        "depth/camera_info": CameraInfo,
        "fix": NavSatFix,
        **{f"force_torque/{n}_{s}_wheel_force": WrenchStamped for n in ("front", "middle") for s in ("left", "right")},
    }
    heard = {topic: peer.hear(kind, topic, topics.SENSOR_DATA) for topic, kind in kinds.items()}
    still = peer.hear(TFMessage, "/tf_static", topics.LATCHED).first()
    for topic in kinds:
        peer.wait_for(lambda topic=topic: peer.node.get_publishers_info_by_topic(f"/{topic}"), topic)
        (publisher,) = peer.node.get_publishers_info_by_topic(f"/{topic}")
        assert publisher.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
        # messages are made for subscribers only: the simulator must know them first
        peer.wait_for(lambda topic=topic: peer.node.get_subscriptions_info_by_topic(f"/{topic}"), topic)
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    last = {
        topic: inbox.wait_ever(lambda message: nanoseconds(message) == 400 * STEP, topic)
        for topic, inbox in heard.items()
    }

    edges = {edge.child_frame_id: edge for edge in still.transforms}
    parents = {child: edge.header.frame_id for child, edge in edges.items()}
    assert parents["mast_lidar"] == parents["mast_camera"] == parents["gnss"] == "base_link"
    assert parents["mast_camera_optical_frame"] == "mast_camera"
    turn = edges["mast_camera_optical_frame"].transform.rotation
    assert (turn.x, turn.y, turn.z, turn.w) == pytest.approx((-0.5, 0.5, -0.5, 0.5))
    frames = {topic: message.header.frame_id for topic, message in last.items()}
    assert frames["points"] == "mast_lidar" and frames["fix"] == "gnss"
    assert frames["depth/image_rect"] == frames["depth/camera_info"] == "mast_camera_optical_frame"

    cloud = last["points"]
    assert points_fault(cloud) == "" and (cloud.height, cloud.width) == (16, 900)
    points = np.frombuffer(bytes(cloud.data), POINT).reshape(16, 900)
    # the level channels meet the wall 4.62 m ahead of the mast, within 1 mm of the rover's sinking and single precision
    ahead = np.abs(np.arctan2(points["y"], points["x"])) < 0.5
    wall = ahead & (np.abs(points["ring"].astype(int) - 7.5) < 1.0)
    np.testing.assert_allclose(points["x"][wall], 5.0 - 0.38, atol=1e-3)
    assert wall.sum() > 250
    assert np.isnan(points["x"][-1]).any()

    image, info = last["depth/image_rect"], last["depth/camera_info"]
    assert depth_fault(image) == "" and info_fault(info, image) == ""
    depth = np.frombuffer(bytes(image.data), "<f4").reshape(240, 320)
    # each pixel back to a point: the wall ahead above the ground, below it the ground
    fx, cx, fy, cy = info.k[0], info.k[2], info.k[4], info.k[5]
    up = (cy - np.arange(240)[:, np.newaxis]) / fy + 0.0 * (np.arange(320) - cx) / fx
    x = 0.43 + depth * (math.cos(0.35) + up * math.sin(0.35))
    z = 1.4 + depth * (up * math.cos(0.35) - math.sin(0.35))
    on_ground = np.abs(z) < 2e-3
    assert on_ground.sum() > 20_000 and on_ground[200:].all()
    np.testing.assert_allclose(x[~on_ground & np.isfinite(depth)], 5.0, atol=5e-3)

    fix = last["fix"]
    assert fix_fault(fix) == "" and has_fix(fix) and fix.status.status == NavSatStatus.STATUS_FIX
    # x is north: the antenna is 0.35 m south of the origin, where the radius of the meridian is 6369.6 km
    assert fix.latitude == pytest.approx(47.0 - math.degrees(0.35 / 6.3696e6), abs=2e-9)
    assert (fix.longitude, fix.altitude) == (pytest.approx(11.0, abs=1e-8), pytest.approx(600.65, abs=2e-3))
    assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_UNKNOWN

    left, right = (last[f"force_torque/front_{side}_wheel_force"].wrench.force for side in ("left", "right"))
    assert math.hypot(left.x, left.z) == pytest.approx(math.hypot(right.x, right.z), rel=0.05)
    assert 100.0 < math.hypot(left.x, left.z) < 500.0
