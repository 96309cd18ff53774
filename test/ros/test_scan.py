"""A lidar on ROS 2: ranges in a known room, rate and frame."""

import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState, LaserScan
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import topics

STEP = 1_000_000  # [ns]
# From base_link to the lidar, and from there to the face of a box of 1 m whose middle is 3 m ahead of it [m].
LIDAR_X, FACE = 0.41, 2.5
ROOM = f"""
ground: {{height: 0.0}}
obstacles:
  - {{name: wall, box: [1.0, 4.0, 2.0], xyz: [{LIDAR_X + FACE + 0.5}, 0.0, 1.0]}}
  - {{name: post, cylinder: {{radius: 0.1, length: 2.0}}, xyz: [{LIDAR_X}, 2.0, 1.0]}}
"""


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


@pytest.fixture
def room(tmp_path):
    """A world with a wall 2.5 m ahead of the rover's lidar, and a post 2 m to the left of it."""
    file = tmp_path / "room.yaml"
    file.write_text(ROOM, encoding="utf-8")
    return str(file)


def test_scan_of_a_known_room(peer, start_simulator, room):
    start_simulator(machine="rover", world=room, start_paused=True, step_request_count=400)
    scans = peer.hear(LaserScan, "scan", topics.SENSOR_DATA)
    still = peer.hear(TFMessage, "/tf_static", topics.LATCHED).first()
    peer.wait_for(lambda: peer.node.get_publishers_info_by_topic("/scan"), "/scan")
    (publisher,) = peer.node.get_publishers_info_by_topic("/scan")
    assert publisher.topic_type == "sensor_msgs/msg/LaserScan"
    assert publisher.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    scan = scans.wait_ever(lambda message: nanoseconds(message) == 400 * STEP, "the scan at the end")
    assert set(np.diff(np.unique([nanoseconds(message) for message in scans.all()]))) <= {100 * STEP}

    (edge,) = [item for item in still.transforms if item.child_frame_id == scan.header.frame_id]
    assert (edge.header.frame_id, edge.child_frame_id) == ("base_link", "lidar")
    place = edge.transform.translation
    assert (place.x, place.y, place.z) == (LIDAR_X, 0.0, 0.45)

    assert (scan.time_increment, scan.scan_time) == (0.0, pytest.approx(0.1, rel=1e-6))
    assert (scan.range_min, scan.range_max) == (pytest.approx(0.1, rel=1e-6), 30.0)
    assert (scan.angle_min, scan.angle_max) == pytest.approx((-0.5 * math.pi, 0.5 * math.pi), rel=1e-6)
    # as SLAM and costmaps count the beams
    assert len(scan.ranges) == round((scan.angle_max - scan.angle_min) / scan.angle_increment) + 1
    angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
    ranges = np.array(scan.ranges)
    # the rover moves by some micrometres; the numbers have single precision
    wall = np.abs(np.tan(angles)) < 0.999 * 2.0 / FACE
    wall &= np.abs(angles) < 1.5
    np.testing.assert_allclose(ranges[wall], FACE / np.cos(angles[wall]), atol=1e-4)
    assert ranges[-1] == pytest.approx(1.9, abs=1e-4)
    assert math.isinf(ranges[0]) and ranges[0] > 0.0


def test_scans_come_at_their_own_rate(peer, start_simulator, room):
    start_simulator(machine="rover", world=room, scan_rate=20.0, start_paused=True, step_request_count=250)
    inbox = peer.hear(LaserScan, "scan", topics.SENSOR_DATA)
    end = peer.step()
    inbox.wait_ever(lambda message: nanoseconds(message) == end, "the last scan")
    scans = inbox.all()
    times = np.array([nanoseconds(message) for message in scans])
    assert set(times % (50 * STEP)) == {0}
    assert set(np.diff(times)) == {50 * STEP}
    assert scans[0].scan_time == pytest.approx(0.05, rel=1e-6)


def test_rates_are_changed_while_it_runs(peer, start_simulator, room):
    """As fast as possible, so that no sample is skipped; a rate begins at the first step that is its multiple."""
    node = start_simulator(machine="rover", world=room, real_time_factor=0.0, diagnostics_rate=0.01)
    heard = {
        "scan_rate": peer.hear(LaserScan, "scan", topics.SENSOR_DATA),
        "joint_state_rate": peer.hear(JointState, "joint_states", topics.RELIABLE),
    }
    diagnostics = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
    for inbox in heard.values():
        inbox.first()

    def set_parameter(name, value):
        (result,) = peer.set_parameters(Parameter(name, value=value))
        return result.successful

    for rate in (25.0, 4.0):
        assert all(set_parameter(name, rate) for name in heard)
        # The physics thread handles calls in order: when it has paused, it has the new rates, and tells the time.
        assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
        begin = round(1e9 * node.report.time)
        assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
        for name, inbox in heard.items():
            inbox.wait(lambda message, begin=begin: nanoseconds(message) > begin + 2e9, "two seconds")
            later = np.array([time for time in map(nanoseconds, inbox.all()) if time > begin])
            assert set(later % round(1e9 / rate)) == {0}, name
            assert np.min(np.diff(later)) == round(1e9 / rate), name
        assert heard["scan_rate"].all()[-1].scan_time == pytest.approx(1.0 / rate, rel=1e-6)
    assert not set_parameter("scan_rate", -1.0)
    assert set_parameter("diagnostics_rate", 50.0)
    diagnostics.collect(10)


def test_rover_without_a_lidar_has_no_scan(peer, start_simulator):
    start_simulator(machine="rover", machine_arguments=["lidar:=false"], start_paused=True)
    peer.wait_for(lambda: peer.node.get_publishers_info_by_topic("/imu/data"), "/imu/data")
    assert not peer.node.get_publishers_info_by_topic("/scan")
