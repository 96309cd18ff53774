"""Navigation on ROS 2: topics and frames for Nav2, the map, localization on it, and a rover that follows waypoints.

Nav2 is not needed: another node, in a process of its own, drives by odometry and scan.
"""

import itertools
import math
import threading
from contextlib import ExitStack

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, TransformStamped, Twist, TwistStamped, Vector3
from nav_msgs.msg import OccupancyGrid, Odometry
from patience import DEADLINE
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import LaserScan
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

import grouser
from grouser.catalogue import machine_file, world_file
from grouser.nodes.navigation.goal_follower import GoalFollowerNode
from grouser.nodes.navigation.world_map import WorldMapNode
from grouser.nodes.shared import topics
from grouser.occupancy import Passable, occupancy_map
from grouser.physics.description import load_world
from grouser.runtime.goal_following import Manners

STEP = 1_000_000  # [ns]
COURSE = "obstacle_course"
# Of the simulation on the course: odometry as often as the follower commands.
RATES = {"odom": 20.0, "joint_state": 20.0, "contact": 10.0, "imu": 10.0, "slip": 5.0, "terrain": 0.2}
WAYPOINTS = [(5.4, 0.0), (5.4, 3.9), (1.2, 3.9)]


@pytest.fixture(scope="module")
def course():
    """The obstacle course as a map. The physics, with the lidar, is compiled."""
    world = load_world(world_file(COURSE))
    simulation = grouser.Simulation(grouser.load_machine(machine_file("rover")), world)
    simulation.step(1)
    assert np.isfinite(simulation.sensors.lidar["lidar"].ranges).any()
    return occupancy_map(world, Passable(lowest=0.0))


@pytest.fixture
def start(ros):
    """Runs nodes, each in a thread of its own."""
    with ExitStack() as stack:

        def run(kind, **parameters):
            node = kind([Parameter(name, value=value) for name, value in parameters.items()])
            stack.callback(node.destroy_node)
            executor = SingleThreadedExecutor()
            executor.add_node(node)
            thread = threading.Thread(target=executor.spin)
            thread.start()
            stack.callback(thread.join)
            stack.callback(executor.shutdown)
            return node

        yield run


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def stamped(message, time):
    """The message, of this time [s]."""
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(1e9 * time), 1_000_000_000)
    return message


def placed(pose, x, y, yaw):
    pose.position.x, pose.position.y = float(x), float(y)
    pose.orientation.z, pose.orientation.w = math.sin(0.5 * yaw), math.cos(0.5 * yaw)


def odometry(time, x, y, yaw, frame="odom", child="base_footprint"):
    message = Odometry(child_frame_id=child)
    message.header.frame_id = frame
    placed(message.pose.pose, x, y, yaw)
    return stamped(message, time)


def planar(transform):
    """x, y, yaw of a transform."""
    place, turn = transform.transform.translation, transform.transform.rotation
    return place.x, place.y, 2.0 * math.atan2(turn.z, turn.w)


def moved(first, second):
    """The planar pose `second`, given in the frame whose pose is `first`, in the frame of that."""
    x, y, yaw = first
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return x + cosine * second[0] - sine * second[1], y + sine * second[0] + cosine * second[1], yaw + second[2]


# ----- the map


def test_map_is_latched(peer, start):
    start(WorldMapNode, world=COURSE, resolution=0.1, margin=1.0)
    message = peer.hear(OccupancyGrid, "map", topics.LATCHED).first()
    grid = occupancy_map(load_world(world_file(COURSE)), resolution=0.1, margin=1.0)
    assert message.header.frame_id == "map"
    assert (message.info.height, message.info.width) == grid.occupied.shape
    assert message.info.resolution == pytest.approx(0.1, rel=1e-6)
    assert (message.info.origin.position.x, message.info.origin.position.y) == grid.origin
    assert message.info.origin.orientation.w == 1.0
    np.testing.assert_array_equal(message.data, 100 * grid.occupied.ravel())
    # the wall across the path, row by row from the lowest y
    column, row = (int((place - low) / 0.1) for place, low in zip((2.85, 0.25), grid.origin, strict=True))
    assert message.data[row * message.info.width + column] == 100


def test_soil_costs_have_the_cells_of_the_map_and_take_up_ruts(peer, start):
    """Nav2's global costmap would take another size for its own; the first grid is not empty."""
    start(WorldMapNode, world="mixed", machine="rover", resolution=0.1)
    told = peer.hear(OccupancyGrid, "soil_costs", topics.LATCHED)
    first, plan = told.first(), peer.hear(OccupancyGrid, "map", topics.LATCHED).first()
    assert first.info == plan.info and first.header.frame_id == "map"
    assert len(set(first.data)) == 3  # rigid ground, sand and loam
    assert max(first.data) < 100
    ruts = OccupancyGrid()
    ruts.info.width, ruts.info.height, ruts.info.resolution = 4, 2, 0.02
    ruts.info.origin.position.x, ruts.info.origin.position.y = 0.01, 0.01
    ruts.data = [-1, 0, 90, -1, -1, -1, -1, -1]
    for frame in ("odom", "map"):  # the first is refused
        ruts.header.frame_id = frame
        peer.say("terrain/rut_depth", ruts, topics.LATCHED)
    second = told.wait_ever(lambda message: 90 in message.data, "the rut")
    low = second.info.origin.position
    column, row = (round((0.0 - start) / 0.1) for start in (low.x, low.y))
    changed = np.flatnonzero(np.array(second.data) != np.array(first.data))
    assert changed.tolist() == [row * second.info.width + column]
    assert len(told.all()) == 2


def test_a_machine_without_wheels_and_tracks_has_no_soil_costs(launch):
    process = launch("grouser.nodes.navigation.world_map", "--ros-args", "-p", "machine:=four_bar")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "<wheel> or <track> elements" in output


def test_a_bad_world_ends_the_process_with_status_2(launch):
    process = launch("grouser.nodes.navigation.world_map", "--ros-args", "-p", "world:=obstacle_curse")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "obstacle_course" in output


# ----- where the machine is on it


def test_odometry_starts_at_the_origin_of_the_map_until_initialpose(peer, start):
    """`initialpose` sets the pose on the map, as with any localization; odometry continues."""
    start(WorldMapNode, localization="odometry")
    static = peer.hear(TFMessage, "/tf_static", topics.LATCHED)
    (edge,) = static.first().transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("map", "odom")
    assert planar(edge) == (0.0, 0.0, 0.0)

    reckoned, really = (2.0, 1.0, 0.5), (5.0, -3.0, -1.0)
    message = PoseWithCovarianceStamped()
    placed(message.pose.pose, *really)
    for frame in ("odom", "map"):  # the first is refused
        message.header.frame_id = frame
        peer.say("odom", odometry(1.0, *reckoned))
        peer.say("initialpose", message)
    (edge,) = static.wait_ever(lambda told: planar(told.transforms[0]) != (0.0, 0.0, 0.0), "another place").transforms
    assert moved(planar(edge), reckoned) == pytest.approx(really, abs=1e-12)
    assert len(static.all()) == 2


def test_localization_by_odometry_says_how_far_it_is_off(peer, start):
    """Odometry runs 5 % ahead, in a frame that is moved and turned by `initialpose`; 0.7 m after 14 m."""
    start(WorldMapNode, localization="odometry", drift_tolerance=0.3)
    reports = peer.hear(DiagnosticArray, "/diagnostics")
    message = PoseWithCovarianceStamped()
    placed(message.pose.pose, 2.0, 1.0, 0.5 * math.pi)
    message.header.frame_id = "map"
    static = peer.hear(TFMessage, "/tf_static", topics.LATCHED)
    peer.say("odom", odometry(0.0, 0.0, 0.0, 0.0))
    peer.say("initialpose", message)
    static.wait_ever(lambda told: planar(told.transforms[0])[0] == 2.0, "the initial pose")
    for number in range(15):
        peer.say("odom", odometry(1.0 + number, 1.05 * number, 0.0, 0.0))
        peer.say("ground_truth/odom", odometry(1.0 + number, 2.0, 1.0 + number, 0.0, "map", "base_link"))
        if number in (0, 5, 14):  # the first pair, and before and after the tolerance is exceeded
            (status,) = reports.wait_ever(
                lambda told, end=1 + number: nanoseconds(told) == end * 10**9, "a report"
            ).status
            error = 0.05 * number
            assert status.message == f"localization by odometry is {error:.2f} m off after {number:.1f} m"
            assert status.level == (DiagnosticStatus.WARN if error > 0.3 else DiagnosticStatus.OK)
            values = {pair.key: float(pair.value) for pair in status.values}
            share = 0.05 if number else 0.0
            assert values == pytest.approx(
                {"error [m]": error, "way [m]": number, "error per way [-]": share}, abs=1e-3
            )


def test_ground_truth_gives_map_to_odom_at_equal_stamps(peer, start):
    start(WorldMapNode, localization="truth", transform_tolerance=0.2)
    heard = peer.hear(TFMessage, "/tf", topics.TF_QUALITY)
    reckoned, really = (2.0, 1.0, 0.5), (1.7, 0.8, 0.7)
    peer.say("odom", odometry(1.0, *reckoned))
    peer.say("ground_truth/odom", odometry(1.02, 9.0, 9.0, 0.0, "map", "base_link"))
    peer.say("odom", odometry(1.02, 3.0, 3.0, 0.0))  # these two are a pair
    peer.say("odom", odometry(1.04, *reckoned))
    peer.say("ground_truth/odom", odometry(1.04, *really, "map", "base_link"))
    first, second = (message.transforms[0] for message in heard.collect(2))
    assert [nanoseconds(edge) for edge in (first, second)] == [1_220_000_000, 1_240_000_000]
    assert (second.header.frame_id, second.child_frame_id) == ("map", "odom")
    assert planar(first) == pytest.approx((6.0, 6.0, 0.0), abs=1e-12)
    assert moved(planar(second), reckoned) == pytest.approx(really, abs=1e-12)


def test_no_map_transform_with_another_localization(peer, start):
    start(WorldMapNode, localization="none")
    peer.hear(OccupancyGrid, "map", topics.LATCHED).first()
    for topic in ("/tf", "/tf_static"):
        assert not peer.node.get_publishers_info_by_topic(topic)


# ----- what Nav2 needs


def wait_for_map(transforms, time):
    """Waits until the map node, which keeps ten messages, has published the transform to odom at a time [ns]."""
    said = time + 100 * STEP  # with its tolerance
    transforms.wait_ever(
        lambda message: any(edge.child_frame_id == "odom" and nanoseconds(edge) >= said for edge in message.transforms),
        "where odometry is",
    )


def test_topics_and_frames_for_nav2_exist(peer, start, start_simulator, course):
    """Frames from map to lidar at the time of every scan, odometry with twist at 50 to 100 Hz, scans at 10 Hz."""
    start(WorldMapNode, world=COURSE)
    transforms = peer.hear(TFMessage, "/tf", 1000)
    static = peer.hear(TFMessage, "/tf_static", topics.LATCHED)
    scans = peer.hear(LaserScan, "scan", topics.SENSOR_DATA)
    motion = peer.hear(Odometry, "odom", 1000)
    peer.hear(OccupancyGrid, "map", topics.LATCHED).first()
    start_simulator(
        machine="rover", world=COURSE, enable_stamped_cmd_vel=False, cmd_vel_timeout=0.0, start_paused=True,
        step_request_count=100, publish_map_tf=False,
    )  # fmt: skip
    for topic in ("/tf", "/scan", "/odom", "/ground_truth/odom"):
        peer.wait_for(lambda topic=topic: peer.node.count_publishers(topic) > 0, topic)
    peer.say("cmd_vel", Twist(linear=Vector3(x=0.2)))
    end = 0
    while end < 1500 * STEP:
        end = peer.step()
        wait_for_map(transforms, end)
    scans.wait_ever(lambda message: nanoseconds(message) == end, "the last scan")
    last = motion.wait_ever(lambda message: nanoseconds(message) == end, "the last odometry")

    known: dict[tuple[str, str], list[int]] = {}
    for message in transforms.all():
        for edge in message.transforms:
            known.setdefault((edge.header.frame_id, edge.child_frame_id), []).append(nanoseconds(edge))
    fixed = {edge.child_frame_id: edge.header.frame_id for edge in static.first().transforms}
    seen = [nanoseconds(message) for message in scans.all()]
    for message in scans.all():
        assert fixed[message.header.frame_id] == "base_link"
        for pair in (("map", "odom"), ("odom", "base_footprint"), ("base_footprint", "base_link")):
            # TF needs one that is not later and one that is not earlier; that of the map begins with odometry
            times = np.array(known[pair]) - (20 + 100) * STEP * (pair[0] == "map")
            assert times.min() <= nanoseconds(message) <= max(known[pair]), pair
    assert set(np.diff(np.unique(seen))) <= {100 * STEP}
    period = np.diff(np.unique([nanoseconds(message) for message in motion.all()]))
    assert 10 * STEP <= period.min() == period.max() <= 20 * STEP
    assert last.twist.twist.linear.x == pytest.approx(0.2, abs=0.02)
    assert (last.header.frame_id, last.child_frame_id) == ("odom", "base_footprint")


@pytest.mark.parametrize(("stamped_twist", "kind"), [(False, "Twist"), (True, "TwistStamped")])
def test_cmd_vel_is_of_the_type_that_nav2_is_told_to_send(peer, start_simulator, stamped_twist, kind):
    start_simulator(machine="rover", enable_stamped_cmd_vel=stamped_twist, start_paused=True)
    peer.wait_for(lambda: peer.node.get_subscriptions_info_by_topic("/cmd_vel"), "who hears cmd_vel")
    (info,) = peer.node.get_subscriptions_info_by_topic("/cmd_vel")
    assert info.topic_type == f"geometry_msgs/msg/{kind}"


# ----- the goal follower


@pytest.fixture
def watched(peer, start):
    """A goal follower, a machine at the origin with a free view, and the commands that it gets."""

    class Watched:
        def __init__(self, **parameters):
            values = {"enable_stamped_cmd_vel": True, "odom_timeout": 60.0, **parameters}
            self.node = start(GoalFollowerNode, **values)
            self.told = peer.hear(TwistStamped, "cmd_vel")
            peer.wait_for(lambda: peer.node.count_publishers("/cmd_vel") == 1, "the goal follower")
            self._pause = threading.Event()
            self._scans = peer.publisher(LaserScan, "scan", topics.SENSOR_DATA)

        def tell(self, time, ahead=math.inf, see=True, x=0.0):
            if see:
                scan = LaserScan(angle_min=-1.5, angle_increment=0.1, range_min=0.1, range_max=30.0)
                scan.header.frame_id = "base_link"
                scan.ranges = [math.inf] * 15 + [ahead] + [math.inf] * 15
                self._scans.publish(stamped(scan, time))
            peer.say("odom", odometry(time, x, 0.0, 0.0))

        def until(self, predicate, what, time=1.0, **options):
            """Repeats the same messages until a command satisfies `predicate`; returns the time then.

            It waits for an answer each time. A follower without a goal does not answer; the messages are repeated.
            """
            now = time
            heard = []

            def answered():
                heard[:] = [message.twist for message in self.told.all() if nanoseconds(message) == round(1e9 * now)]
                return heard

            for count in range(2000):
                now = time + 0.05 * count
                self.tell(now, **options)
                for _ in range(100):
                    if answered():
                        break
                    self._pause.wait(0.01)
                if heard and predicate(heard[-1]):
                    return now
            raise AssertionError(f"never told: {what}")

    return Watched


def goes(message):
    return message.linear.x > 0.1


def stands(message):
    return message.linear.x == message.angular.z == 0.0


def test_silent_lidar_stops_the_goal_follower(watched):
    machine = watched(waypoints=["5 0"], scan_timeout=0.5)
    time = machine.until(goes, "to go")
    stopped = machine.until(stands, "to stop", time=time + 0.05, see=False)
    # the first command that has no scan within the timeout
    assert stopped - time == pytest.approx(0.55)
    machine.until(goes, "to go on", time=stopped + 0.05)


def test_silent_odometry_stops_the_goal_follower(watched):
    machine = watched(waypoints=["5 0"], odom_timeout=0.2)
    machine.until(goes, "to go")
    machine.told.wait(lambda message: stands(message.twist), "to stop")


def test_goal_follower_avoids_an_obstacle(watched):
    machine = watched(waypoints=["5 0"])
    time = machine.until(lambda message: goes(message) and message.angular.z == 0.0, "to go straight on")
    machine.until(lambda message: abs(message.angular.z) > 0.2, "to turn", time=time + 0.05, ahead=2.0)


def test_goal_follower_takes_goals_in_its_frame(peer, watched):
    machine = watched()
    goal = PoseStamped()
    placed(goal.pose, 5.0, 0.0, 0.0)
    for frame in ("base_link", "odom"):  # the first is refused
        goal.header.frame_id = frame
        peer.say("goal_pose", goal)
    time = machine.until(goes, "to go")
    machine.until(stands, "to stop at its goal", time=time + 0.05, x=4.8)
    assert not machine.node.ended


def test_goals_on_the_map_wait_for_the_map(peer, watched):
    """Odometry starts 2 m behind the origin of the map, and turned about; the goal is straight ahead of it."""
    machine = watched(waypoints=["-5 0"], frame="map", tolerance=0.5)
    for count in range(10):
        machine.tell(1.0 + 0.05 * count)
    edge = TransformStamped(child_frame_id="odom")
    edge.header.frame_id = "map"
    edge.transform.translation.x, edge.transform.rotation.z, edge.transform.rotation.w = -2.0, 1.0, 0.0
    assert all(stands(message.twist) for message in machine.told.all())
    peer.say("/tf", TFMessage(transforms=[edge]), topics.TF_QUALITY)
    time = machine.until(lambda message: goes(message) and abs(message.angular.z) < 1e-6, "to go ahead", time=2.0)
    machine.until(stands, "to stop at its goal", time=time + 0.05, x=2.6)
    assert machine.node.ended and not machine.node.problem


def test_goal_follower_gives_up_with_a_reason(peer, launch):
    """The machine does not move in spite of its commands."""
    process = launch(
        "grouser.nodes.navigation.goal_follower", "--ros-args", "-p", "waypoints:=['3.0 0.0']", "-p", "patience:=2.0"
    )  # fmt: skip
    scan = LaserScan(angle_min=-1.5, angle_increment=0.1, range_max=30.0, ranges=[math.inf] * 31)
    scan.header.frame_id = "base_link"
    scans = peer.publisher(LaserScan, "scan", topics.SENSOR_DATA)
    odometries = peer.publisher(Odometry, "odom")
    times = itertools.count(step=0.05)

    def ended():
        time = next(times)
        scans.publish(stamped(scan, time))
        odometries.publish(odometry(time, 0.0, 0.0, 0.0))
        return process.poll() is not None

    peer.wait_for(ended, "that it gives up")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1, output
    assert "waypoint 1 at 3, 0 is not reached: in 2 s it came no nearer than 3.00 m" in output


def test_invalid_waypoint_ends_the_process_with_status_2(launch):
    process = launch("grouser.nodes.navigation.goal_follower", "--ros-args", "-p", "waypoints:=['3.0']")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "two numbers each" in output


# ----- the course


def blocked(grid, first, second):
    """Whether an obstacle is between two places."""
    places = np.linspace(first, second, 1000)
    columns, rows = np.floor((places - grid.origin) / grid.resolution).astype(int).T
    return grid.occupied[rows, columns].any()


@pytest.mark.slow
def test_the_rover_reaches_waypoints_behind_obstacles_on_sand(peer, launch, course):
    """Three processes: the simulator in lockstep with the goal follower, and the map, which is waited for at intervals.

    The follower counts a waypoint as reached at `tolerance`. It does not know how far odometry has run ahead
    since it was last compared with the truth: on sand at most 0.2 of the way, so well below 0.1 m for the 0.2 s between
    two waits, at 0.4 m/s. By wheels alone it would be 1.6 m off in the end.
    """
    assert all(blocked(course, *leg) for leg in zip([(0.0, 0.0), *WAYPOINTS[:-1]], WAYPOINTS, strict=True))
    truth = peer.hear(Odometry, "ground_truth/odom", 10_000)
    reckoned = peer.hear(Odometry, "odom", 10_000)
    transforms = peer.hear(TFMessage, "/tf", topics.TF_QUALITY)
    stamped_twist = "enable_stamped_cmd_vel:=true"

    def run(node, *values):
        parameters = [part for value in values for part in ("-p", value)]
        return launch(f"grouser.nodes.{node}", "--ros-args", *parameters)

    run("navigation.world_map", f"world:={COURSE}")
    waypoints = "waypoints:=[" + ", ".join(f"'{x} {y}'" for x, y in WAYPOINTS) + "]"
    follower = run("navigation.goal_follower", waypoints, "frame:=map", stamped_twist)
    # Streams without a subscriber here are slow.
    rates = [f"{name}_rate:={rate}" for name, rate in RATES.items()]
    lockstep = ["lockstep_sources:=[cmd_vel]", "lockstep_period:=0.05", "lockstep_deadline:=0.0"]
    steps = ["start_paused:=true", "step_request_count:=200"]
    others = [*steps, *rates, *lockstep, "publish_map_tf:=false"]
    run("simulator", "machine:=rover", f"world:={COURSE}", stamped_twist, *others)

    def begun():
        """The end of each pause is followed by a sample; returns whether a node has answered one."""
        for paused in (False, True):
            peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=paused))  # refused as long as it is being built
        return any(nanoseconds(message) > 0 for message in reckoned.all())

    peer.wait_for(begun, "the goal follower")
    client = peer.node.create_client(Trigger, "/simulator/step")
    while follower.poll() is None:
        answer = client.call_async(Trigger.Request())
        peer.wait_for(lambda: answer.done() or follower.poll() is not None, "the next steps")  # noqa: B023
        wait_for_map(transforms, nanoseconds(reckoned.all()[-1]))
    output, _ = follower.communicate(timeout=DEADLINE)
    assert follower.returncode == 0, output
    assert [f"waypoint {number} at" in output for number in (1, 2, 3)] == [True] * 3

    poses = np.array([[p.x, p.y, 2.0 * math.atan2(q.z, q.w)] for p, q in map(place_and_turn, truth.all())])
    order = [np.argmin(np.hypot(*(poses[:, :2] - waypoint).T)) for waypoint in WAYPOINTS]
    assert order == sorted(order)
    tolerance = Manners().tolerance + 0.1
    for waypoint, nearest in zip(WAYPOINTS, order, strict=True):
        assert np.hypot(*(poses[nearest, :2] - waypoint)) <= tolerance
    # odometry alone would not have reached it
    last = reckoned.all()[-1].pose.pose.position
    assert np.hypot(*(poses[-1, :2] - (last.x, last.y))) > 2.0 * tolerance
    assert_free(course, poses)


def place_and_turn(message):
    return message.pose.pose.position, message.pose.pose.orientation


def assert_free(grid, poses):
    """No obstacle, as cells of 50 mm, is ever within the rectangle around the rover with wheels at any angle."""
    half = np.array([0.83, 0.67])
    rows, columns = np.nonzero(grid.occupied)
    cells = np.array(grid.origin) + (np.column_stack([columns, rows]) + 0.5) * grid.resolution
    for x, y, yaw in poses:
        away = cells - (x, y)
        turned = np.column_stack([away @ (math.cos(yaw), math.sin(yaw)), away @ (-math.sin(yaw), math.cos(yaw))])
        assert not np.all(np.abs(turned) < half, axis=1).any(), (x, y, yaw)
