"""A rover on ROS 2: cmd_vel, odometry and its transforms, ground truth, inertial measurement unit and slip."""

import math

import numpy as np
import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, Vector3
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState, PointCloud2
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

import grouser
from grouser.catalogue import machine_file
from grouser.nodes.shared import topics

STEP = 1_000_000  # [ns]
AHEAD = Twist(linear=Vector3(x=0.2))


@pytest.fixture
def start_rover(start_simulator):
    """Starts a rover on level ground that subscribes to Twist without stamp."""

    def start(**parameters):
        values = {"machine": "rover", "enable_stamped_cmd_vel": False, "command_timeout": 0.0, **parameters}
        return start_simulator(**values)

    return start


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def speed_is(value, tolerance=0.01):
    return lambda message: abs(message.twist.twist.linear.x - value) < tolerance


def test_twist_drives_and_its_timeout_stops(peer, start_rover):
    start_rover(cmd_vel_timeout=0.4, start_paused=True, step_request_count=500)
    truth = peer.hear(Odometry, "ground_truth/odom")
    peer.say("cmd_vel", AHEAD)
    going = peer.step_until(truth, speed_is(0.2), "the rover going")
    begun = truth.all().index(going)
    stopped = peer.step_until(truth, speed_is(0.0, 1e-3), "the rover standing", begun)
    # it started within the timeout, and has stood since the timeout, a tick and the braking at most
    assert 0.2e9 < nanoseconds(stopped) - nanoseconds(going) < 0.6e9
    assert going.pose.pose.position.x < stopped.pose.pose.position.x < 0.2 * 0.5


def test_twist_without_a_timeout_keeps_the_rover_driving(peer, start_rover):
    start_rover(cmd_vel_timeout=0.0)
    truth = peer.hear(Odometry, "ground_truth/odom")
    peer.say("cmd_vel", AHEAD)
    truth.wait(lambda message: message.pose.pose.position.x > 0.3, "the rover well past what half a second gives")


def test_stamped_twist_is_subscribed_by_parameter(peer, start_rover):
    start_rover(enable_stamped_cmd_vel=True, cmd_vel_timeout=0.0)
    truth = peer.hear(Odometry, "ground_truth/odom")
    peer.say("cmd_vel", TwistStamped(twist=Twist(linear=Vector3(x=-0.1))))
    truth.wait(speed_is(-0.1), "the rover going back")


@pytest.mark.parametrize("kind", [Twist, TwistStamped])
def test_a_twist_that_is_not_finite_is_refused_and_counted(peer, start_rover, kind):
    start_rover(diagnostics_rate=50.0, cmd_vel_timeout=0.0, enable_stamped_cmd_vel=kind is TwistStamped)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    truth = peer.hear(Odometry, "ground_truth/odom")

    def say(twist):
        peer.say("cmd_vel", TwistStamped(twist=twist) if kind is TwistStamped else twist)

    def refused(message):
        return next((p.value for s in message.status for p in s.values if p.key == "refused_commands"), None)

    say(AHEAD)
    truth.wait(speed_is(0.2), "the rover going")
    for count, value in enumerate((math.nan, math.inf, -math.inf), start=1):
        say(Twist(linear=Vector3(x=0.1), angular=Vector3(y=value)))  # a field that is not even used
        diagnostics.wait(lambda message, count=count: refused(message) == str(count), "the refusal")
    now = nanoseconds(truth.wait())
    truth.wait(lambda message: nanoseconds(message) > now + 200_000_000)
    assert abs(truth.all()[-1].twist.twist.linear.x - 0.2) < 0.01


def test_joint_command_of_a_wheel_replaces_the_twist(peer, start_rover):
    start_rover(cmd_vel_timeout=0.0)
    joints = peer.hear(JointState, "joint_states")
    peer.publisher(JointState, "joint_commands")
    peer.say("cmd_vel", AHEAD)

    def turning(name, speed):
        # a wheel that slips under 285 N is held back by 0.8 x 285 N x 0.13 m and its gear: 0.1 rad/s of its drive
        return lambda message: abs(message.velocity[message.name.index(name)] - speed) < 0.2

    joints.wait(turning("rear_left_drive", 0.2 / 0.13), "the wheels turning")
    peer.say("joint_commands", JointState(name=["rear_left_drive"], velocity=[3.0]))
    joints.wait(turning("rear_left_drive", 3.0), "the wheel that is told otherwise")
    peer.say("cmd_vel", Twist())
    joints.wait(turning("rear_left_drive", 0.0), "the wheels standing")


def test_machine_without_driven_wheels_has_no_cmd_vel(peer, start_simulator):
    start_simulator()
    peer.wait_for(lambda: peer.node.get_subscriptions_info_by_topic("/joint_commands"), "the simulator's inputs")
    assert not peer.node.get_subscriptions_info_by_topic("/cmd_vel")
    assert not peer.node.get_publishers_info_by_topic("/odom")


def edges_of(message):
    return {item.child_frame_id: item for item in message.transforms}


def matrix(place, turn):
    x, y, z, w = turn.x, turn.y, turn.z, turn.w
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result = np.eye(4)
    result[:3, :3] += 2.0 * w * skew + 2.0 * skew @ skew
    result[:3, 3] = place.x, place.y, place.z
    return result


def test_odometry_agrees_with_its_transform_and_the_ground_truth(peer, start_rover):
    """In a point turn of 3 s wheels slip a little on hard ground.

    TF gives the base the pose of odometry below odom, and the true one below map.
    """
    start_rover(start_paused=True, step_request_count=3000, cmd_vel_timeout=0.0)
    odometry, truth = peer.hear(Odometry, "odom", 1000), peer.hear(Odometry, "ground_truth/odom", 1000)
    transforms = peer.hear(TFMessage, "/tf", 1000)
    slip = peer.hear(DynamicInterfaceGroupValues, "slip", 1000)
    still = edges_of(peer.hear(TFMessage, "/tf_static", topics.LATCHED).first())
    for topic in ("/odom", "/ground_truth/odom", "/tf", "/slip"):
        peer.wait_for(lambda topic=topic: peer.node.count_publishers(topic) == 1, topic)
        (publisher,) = peer.node.get_publishers_info_by_topic(topic)
        assert publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    peer.say("cmd_vel", Twist(angular=Vector3(z=0.4)))
    # the executor hands a message to the physics thread before it takes a later service call
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    end = 3000 * STEP
    last = [
        inbox.wait_ever(lambda message: nanoseconds(message) == end, "the last step") for inbox in (odometry, truth)
    ]
    edges = edges_of(transforms.wait_ever(lambda m: nanoseconds(m.transforms[0]) == end, "the last transforms"))
    times = np.unique([nanoseconds(message) for message in odometry.all()])
    assert set(np.diff(times)) == {20 * STEP}

    reckoned, real = last
    assert (reckoned.header.frame_id, reckoned.child_frame_id) == ("odom", "base_footprint")
    assert (real.header.frame_id, real.child_frame_id) == ("map", "base_link")
    assert edges["base_footprint"].header.frame_id == "odom"
    assert edges["base_link"].header.frame_id == "base_footprint"
    assert still["imu"].header.frame_id == "base_link"

    footprint = edges["base_footprint"].transform
    odom_pose = reckoned.pose.pose
    np.testing.assert_array_equal(
        matrix(footprint.translation, footprint.rotation), matrix(odom_pose.position, odom_pose.orientation)
    )
    # the true base stands over its own footprint as TF says that it does
    base = edges["base_link"].transform
    above = matrix(base.translation, base.rotation)
    pose = matrix(real.pose.pose.position, real.pose.pose.orientation)
    assert above[2, 3] == pytest.approx(pose[2, 3], abs=1e-12)
    np.testing.assert_allclose(above[2, :3], pose[2, :3], atol=1e-12)

    # odom is where the errors of dead reckoning put it
    assert edges["odom"].header.frame_id == "map"
    drift, turned = edges["odom"].transform, matrix(footprint.translation, footprint.rotation)
    in_map = matrix(drift.translation, drift.rotation) @ turned @ above
    np.testing.assert_allclose(in_map, pose, atol=1e-12)
    assert abs(drift.rotation.z) > 1e-4

    def yaw(message):
        turn = message.pose.pose.orientation
        return 2.0 * math.atan2(turn.z, turn.w)

    deviation = math.sqrt(reckoned.pose.covariance[35])
    assert yaw(real) > 0.5
    assert 0.0 < yaw(reckoned) - yaw(real) < 3.0 * deviation
    assert reckoned.twist.twist.angular.z == pytest.approx(0.4, rel=0.05)
    assert real.twist.twist.angular.z == pytest.approx(reckoned.twist.twist.angular.z, rel=0.05)

    values = slip.wait_ever(lambda message: nanoseconds(message) == end, "slip")
    simulation = grouser.Simulation(grouser.load_machine(machine_file("rover")))
    assert list(values.interface_groups) == list(simulation.wheel)
    assert {tuple(group.interface_names) for group in values.interface_values} == {
        ("slip_ratio", "slip_angle", "sinkage", "drawbar_pull")
    }
    assert all(abs(group.values[0]) < 0.05 and group.values[2] == 0.0 for group in values.interface_values)


def test_imu_at_rest_measures_the_reaction_to_gravity(peer, start_rover):
    start_rover(imu_rate=50.0, start_paused=True, step_request_count=1000)
    readings = peer.hear(Imu, "imu/data", topics.SENSOR_DATA)
    reading = peer.step_until(readings, lambda message: message.header.stamp.sec >= 1, "a reading after 1 s")
    peer.wait_for(lambda: peer.node.count_publishers("/imu/data") == 1, "/imu/data")
    (publisher,) = peer.node.get_publishers_info_by_topic("/imu/data")
    assert publisher.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert reading.header.frame_id == "imu"
    force, rate, turn = reading.linear_acceleration, reading.angular_velocity, reading.orientation
    assert [force.x, force.y, force.z] == pytest.approx([0.0, 0.0, 9.81], abs=1e-3)
    assert [rate.x, rate.y, rate.z] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    assert abs(turn.w) == pytest.approx(1.0, abs=1e-6)
    assert not np.any(reading.orientation_covariance)  # unknown (REP-145)
    times = [nanoseconds(message) for message in readings.all()]
    assert set(np.diff(times)) == {20 * STEP}


def test_reset_restarts_odometry(peer, start_rover):
    start_rover(cmd_vel_timeout=0.0)
    odometry = peer.hear(Odometry, "odom")
    peer.say("cmd_vel", AHEAD)
    odometry.wait(lambda message: message.pose.pose.position.x > 0.1, "the rover on its way")
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    back = odometry.wait(lambda message: abs(message.pose.pose.position.x) < 1e-3, "odometry at its start")
    assert max(back.pose.covariance[0], back.pose.covariance[35]) < 1e-6
    # the earlier twist has ended
    later = odometry.wait(lambda message: nanoseconds(message) > nanoseconds(back) + 300_000_000)
    assert abs(later.pose.pose.position.x) < 1e-3


def test_soft_ground_is_published_while_wheels_deform_it(peer, start_rover):
    """On sand wheels leave ruts in the cloud and on the maps, which are latched."""
    start_rover(world="sand", cmd_vel_timeout=0.0, terrain_rate=5.0)
    slip = peer.hear(DynamicInterfaceGroupValues, "slip")
    peer.say("cmd_vel", AHEAD)
    slip.wait(lambda message: message.interface_values[0].values[2] > 0.01, "a wheel sunk in by a centimetre")

    def deep(message):
        columns = np.frombuffer(bytes(message.data), "<f4").reshape(-1, len(message.fields))
        rut = [field.name for field in message.fields].index("rut")
        return len(columns) > 0 and columns[:, rut].max() > 0.01

    peer.hear(PointCloud2, "terrain", topics.LATCHED).wait_ever(deep, "a rut of a centimetre")
    for topic in ("terrain/rut_depth", "terrain/bearing_margin"):
        # the last one may be from before the wheels turned
        inbox = peer.hear(OccupancyGrid, topic, topics.LATCHED)
        grid = inbox.wait_ever(lambda message: max(message.data, default=0) > 0, topic)
        assert grid.header.frame_id == "map"
        assert len(grid.data) == grid.info.width * grid.info.height
