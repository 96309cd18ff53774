"""Arrays to messages and back, frames, and the names of topics."""

import array
import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from geometry_msgs.msg import Point, Quaternion, Twist, TwistStamped, Vector3
from geometry_msgs.msg import Pose as PoseMessage
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, LaserScan, PointCloud2
from shipped import shipped_machine
from std_msgs.msg import Float64MultiArray, Header
from visualization_msgs.msg import Marker, MarkerArray

import grouser
from grouser import Simulation, World
from grouser.bridges.scheduling import Scheduling
from grouser.nodes.shared import messages
from grouser.nodes.shared.messages import set_stamp
from grouser.nodes.shared.prepared_message import PreparedMessage
from grouser.nodes.shared.scheduling import PacedScheduling
from grouser.nodes.simulator.diagnostics import diagnostics_message
from grouser.nodes.simulator.message_makers import MAKERS
from grouser.physics.base import spatial
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.sensors import Lidar
from grouser.physics.description.data.world import Ground, Heightfield
from grouser.physics.readings.measurements import TerrainPatch
from grouser.physics.sensors.lidar import LidarScan
from grouser.runtime.belt_shoes import BeltShoes
from grouser.runtime.frames import FrameTree, footprint_pose, relative_poses
from grouser.runtime.report import LoopReport
from grouser.runtime.sampling import TERRAIN_VALUES, bearing_costs, rut_costs, terrain_points
from grouser.runtime.streams import STREAMS, TRACK_MARKERS, StreamSource, take_sample

finite = st.floats(-1e3, 1e3)
components = st.floats(-1.0, 1.0)


@st.composite
def poses(draw):
    quaternion = np.array([draw(components) for _ in range(4)])
    length = np.linalg.norm(quaternion)
    quaternion = quaternion / length if length > 0.1 else np.array([0.0, 0.0, 0.0, 1.0])
    return np.array([draw(finite), draw(finite), draw(finite), *quaternion])


def transform(pose):
    matrix = np.eye(4)
    matrix[:3, :3] = spatial.matrix(pose[3:])
    matrix[:3, 3] = pose[:3]
    return matrix


@settings(deadline=None)
@given(st.integers(0, 2**31 * 10**9 - 1))
def test_stamps_keep_every_nanosecond(nanoseconds):
    stamp = Time()
    messages.set_stamp(stamp, nanoseconds)
    assert stamp.sec * 10**9 + stamp.nanosec == nanoseconds
    clock = Clock()
    messages.fill_clock(clock, nanoseconds)
    assert clock.clock == stamp


@settings(deadline=None)
@given(poses(), poses())
def test_a_relative_pose_leads_from_the_parent_to_the_child(parent, child):
    (relative,) = relative_poses(parent[np.newaxis], child[np.newaxis])
    np.testing.assert_allclose(transform(parent) @ transform(relative), transform(child), atol=1e-11 * 1e3)


def test_many_relative_poses_are_those_of_each():
    random = np.random.default_rng(1)
    parents, children = random.normal(size=(2, 5, 7))
    together = relative_poses(parents, children)
    for row in range(5):
        np.testing.assert_array_equal(together[row], relative_poses(parents[row : row + 1], children[row : row + 1])[0])


@settings(deadline=None)
@given(st.floats(-3.1, 3.1), st.floats(-1.4, 1.4), st.floats(-3.1, 3.1), finite, finite)
def test_the_footprint_has_the_yaw_only(roll, pitch, yaw, x, y):
    quaternion = quaternion_of(roll, pitch, yaw)
    footprint = footprint_pose(np.array([x, y, 5.0, *quaternion]), Ground(point=(0.0, 0.0, 0.3)))
    np.testing.assert_array_equal(footprint[:3], [x, y, 0.3])
    np.testing.assert_allclose(transform(footprint)[:2, 0], [math.cos(yaw), math.sin(yaw)], atol=1e-12)
    np.testing.assert_allclose(transform(footprint)[:3, 2], [0.0, 0.0, 1.0], atol=1e-15)


def quaternion_of(roll, pitch, yaw):
    """URDF's fixed-axis roll, pitch, yaw as a quaternion x y z w."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in (roll, pitch, yaw))
    return [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ]


def test_the_footprint_lies_on_a_slope():
    slope = math.radians(20.0)
    ground = Ground(point=(1.0, 0.0, 0.0), normal=(-math.sin(slope), 0.0, math.cos(slope)))
    footprint = footprint_pose(np.array([3.0, 7.0, 9.0, 0.0, 0.0, 0.0, 1.0]), ground)
    assert footprint[2] == pytest.approx(2.0 * math.tan(slope))
    assert footprint_pose(np.array([3.0, 7.0, 9.0, 0.0, 0.0, 0.0, 1.0]), None)[2] == 0.0


def test_the_footprint_lies_on_a_height_field():
    """Two by two heights that rise by 1 m along x from x = 5; the ground beyond them is level."""
    ground = Ground(heightfield=Heightfield(np.array([[0.0, 0.0], [1.0, 1.0]]), 2.0, (5.0, -1.0)))
    heights = [footprint_pose(np.array([x, 0.3, 9.0, 0.0, 0.0, 0.0, 1.0]), ground)[2] for x in (-3.0, 5.5, 7.0, 20.0)]
    assert heights == pytest.approx([0.0, 0.25, 1.0, 1.0], abs=1e-15)


def machine_with_root(root, tmp_path):
    path = tmp_path / "machine.urdf"
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><mass value="1"/>{inertia}</inertial>'
    path.write_text(
        f'<robot name="m"><link name="{root}">{inertial}</link><link name="arm">{inertial}</link>'
        f'<joint name="j" type="continuous"><parent link="{root}"/><child link="arm"/></joint></robot>'
    )
    return grouser.load_machine(path)


@pytest.mark.parametrize(
    ("root", "pairs"),
    [
        ("world", []),
        ("base_link", [("odom", "base_footprint"), ("base_footprint", "base_link")]),
        ("chassis", [("odom", "base_footprint"), ("base_footprint", "chassis")]),
        ("base_footprint", [("odom", "base_footprint")]),
    ],
)
def test_the_base_frames_depend_on_the_root(root, pairs, tmp_path):
    frames = FrameTree(machine_with_root(root, tmp_path), Ground(), "odom", "base_footprint")
    assert frames.base == pairs
    link_poses = np.array([[1.0, 2.0, 3.0, *quaternion_of(0.1, 0.2, 0.3)], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    chain = np.eye(4)
    for pose in frames.base_poses(link_poses):
        chain = chain @ transform(pose)
    if pairs:
        np.testing.assert_allclose(chain, transform(link_poses[0]), atol=1e-14)
    assert frames.base_poses(link_poses).shape == (len(pairs), 7)
    if pairs:
        # reckoned to be elsewhere: the root is as high and as tilted above that place as it really is above its own
        reckoned = np.array([7.0, 8.0, 0.5, *quaternion_of(0.0, 0.0, -0.6)])
        chain = np.eye(4)
        for pose in frames.base_poses(link_poses, reckoned):
            chain = chain @ transform(pose)
        above = np.linalg.inv(transform(frames.footprint(link_poses))) @ transform(link_poses[0])
        np.testing.assert_allclose(chain, transform(reckoned) @ above, atol=1e-14)


def test_number_fields_survive_the_wire():
    message = messages.make_joint_state(["a", "b"])
    messages.fill_joint_state(message, 1_500_000_000, np.arange(6.0).reshape(3, 2))
    assert isinstance(message.position, array.array)
    heard = deserialize_message(serialize_message(message), JointState)
    assert heard.header.stamp == Time(sec=1, nanosec=500_000_000)
    assert (list(heard.name), list(heard.position), list(heard.velocity), list(heard.effort)) == (
        ["a", "b"],
        [0.0, 1.0],
        [2.0, 3.0],
        [4.0, 5.0],
    )


def test_a_message_can_be_filled_again():
    message = messages.make_group_values([("boom", ["force", "power"]), ("pump", ["swash"])])
    for factor in (1.0, 2.0):
        messages.fill_group_values(message, 0, [factor * np.arange(2.0), factor * np.array([2.0])])
    heard = deserialize_message(serialize_message(message), DynamicInterfaceGroupValues)
    assert list(heard.interface_groups) == ["boom", "pump"]
    assert [list(group.interface_names) for group in heard.interface_values] == [["force", "power"], ["swash"]]
    assert [list(group.values) for group in heard.interface_values] == [[0.0, 2.0], [4.0]]


def test_transforms_and_wrenches_carry_their_frames():
    transforms = messages.make_transforms([("odom", "base"), ("base", "arm")])
    messages.fill_transforms(transforms, 2_000_000_000, np.arange(14.0).reshape(2, 7))
    second = transforms.transforms[1]
    assert (second.header.frame_id, second.child_frame_id, second.header.stamp.sec) == ("base", "arm", 2)
    translation, rotation = second.transform.translation, second.transform.rotation
    assert (translation.z, rotation.x, rotation.w) == (9.0, 10.0, 13.0)
    wrench = messages.make_wrench("arm")
    messages.fill_wrench(wrench, 0, np.arange(6.0))
    assert wrench.header.frame_id == "arm"
    assert (wrench.wrench.force.y, wrench.wrench.torque.z) == (1.0, 5.0)


def test_planar_odometry_marks_unmeasured_axes():
    message = messages.make_odometry("odom", "base_footprint")
    messages.fill_odometry(message, 3_000_000_000, np.arange(7.0), np.arange(6.0))
    messages.fill_planar_covariances(message, np.arange(9.0).reshape(3, 3), np.eye(3))
    heard = deserialize_message(serialize_message(message), Odometry)
    assert (heard.header.frame_id, heard.child_frame_id, heard.header.stamp.sec) == ("odom", "base_footprint", 3)
    assert (heard.pose.pose.position.z, heard.pose.pose.orientation.w, heard.twist.twist.angular.z) == (2.0, 6.0, 5.0)
    covariance = np.array(heard.pose.covariance).reshape(6, 6)
    np.testing.assert_array_equal(covariance[np.ix_([0, 1, 5], [0, 1, 5])], np.arange(9.0).reshape(3, 3))
    assert np.diag(covariance)[2:5].tolist() == [messages.UNMEASURED] * 3
    assert np.count_nonzero(covariance) == 8 + 3


def test_twist_gives_three_speeds_and_all_six_are_checked():
    twist = Twist(linear=Vector3(x=0.1, y=-0.2), angular=Vector3(z=0.3))
    speeds = {"twist.x": 0.1, "twist.y": -0.2, "twist.yaw": 0.3}
    assert messages.twist_command(twist) == speeds
    assert messages.twist_command(TwistStamped(twist=twist)) == speeds
    for part in ("linear", "angular"):
        for axis in ("x", "y", "z"):
            with pytest.raises(ParameterError, match=rf"{part}\.{axis} = inf"):
                messages.twist_command(Twist(**{part: Vector3(**{axis: math.inf})}))


@pytest.fixture
def patch():
    """Three cells of 0.5 m around the origin, one of the square's corners missing."""
    return TerrainPatch(
        cell=0.5,
        x=np.array([1.0, 1.5, 1.0]),
        y=np.array([-2.0, -2.0, -1.5]),
        z=np.array([0.1, 0.2, 0.3]),
        sinkage=np.array([0.01, 0.02, 0.03]),
        rut=np.array([0.0, 0.05, 9.0]),
        pressure=np.array([0.0, 1e4, 2e4]),
        loose=np.array([0.0, 0.02, 0.04]),
        bearing_margin=np.array([1.0, 0.25, 0.0]),
    )


def test_terrain_is_a_cloud_of_cells(patch):
    cloud = deserialize_message(serialize_message(messages.point_cloud("map", 0, terrain_points(patch))), PointCloud2)
    assert (cloud.header.frame_id, cloud.height, cloud.width, cloud.is_dense) == ("map", 1, 3, True)
    layout = np.dtype(
        {
            "names": [f.name for f in cloud.fields],
            "formats": ["<f4"] * 7,
            "offsets": [f.offset for f in cloud.fields],
            "itemsize": cloud.point_step,
        }
    )
    points = np.frombuffer(bytes(cloud.data), dtype=layout)
    for name in TERRAIN_VALUES:
        np.testing.assert_array_equal(points[name], getattr(patch, name).astype("f4"))


def test_ruts_and_bearing_margin_are_costs_on_a_grid(patch):
    here = np.array([1.0, -2.0])
    message = messages.cost_grid("map", 0, rut_costs(patch, here))
    ruts = deserialize_message(serialize_message(message), OccupancyGrid)
    # a block of 4 m: its cells are centred at x = 0.0 to 3.5 and y = -4.0 to -0.5, and the origin is its corner
    assert (ruts.info.width, ruts.info.height, ruts.info.resolution) == (8, 8, 0.5)
    assert (ruts.info.origin.position.x, ruts.info.origin.position.y) == (-0.25, -4.25)
    cells = np.reshape(ruts.data, (8, 8))
    assert cells[4:6, 2:4].tolist() == [[0, 25], [100, -1]]
    assert np.count_nonzero(cells == -1) == 61
    bearing = np.reshape(messages.cost_grid("map", 0, bearing_costs(patch, here)).data, (8, 8))
    assert bearing[4:6, 2:4].tolist() == [[0, 75], [100, -1]]


def test_cost_grids_grow_by_whole_blocks():
    """Along 10 m of a track, the machine at its end, the grid changes at the borders of blocks of 4 m only."""
    sizes = []
    for end in np.arange(0.0, 10.0, 0.1):
        x = np.arange(0.0, end + 0.05, 0.1)
        track = TerrainPatch(0.1, x, *[np.zeros(len(x))] * 6, np.ones(len(x)))
        message = messages.cost_grid("map", 0, rut_costs(track, np.array([end, 0.0])))
        sizes.append((message.info.width, message.info.height))
        assert np.count_nonzero(np.array(message.data) == 0) == len(x)
    assert list(dict.fromkeys(sizes)) == [(40, 40), (80, 40), (120, 40)]


def test_untouched_terrain_is_a_block_of_unknown_cells_around_the_machine():
    untouched = TerrainPatch(0.1, *[np.zeros(0)] * 8)
    assert messages.point_cloud("map", 0, terrain_points(untouched)).width == 0
    message = messages.cost_grid("map", 0, rut_costs(untouched, np.array([-1.0, 9.0])))
    assert (message.info.width, message.info.height) == (40, 40)
    assert (message.info.origin.position.x, message.info.origin.position.y) == pytest.approx((-4.05, 7.95))
    assert set(message.data) == {-1}


def test_a_single_imu_has_the_usual_topic():
    imus = STREAMS["imu/<name>/data"]
    assert imus.topics(["unit"]) == {"unit": "imu/data"}
    assert imus.topics(["front", "rear"]) == {"front": "imu/front/data", "rear": "imu/rear/data"}


def test_a_single_lidar_has_the_usual_topic():
    scans = STREAMS["scan/<name>"]
    assert scans.topics(["eye"]) == {"eye": "scan"}
    assert scans.topics(["front", "rear"]) == {"front": "scan/front", "rear": "scan/rear"}


def test_scan_ranges_out_of_limits_are_infinite():
    """By REP-117; the angle increment follows from both angles and the number of beams."""
    lidar = Lidar("eye", "lidar", "mast", beams=5, angle_min=-1.0, angle_max=1.0, range_min=0.2, range_max=8.0)
    message = messages.make_scan(lidar.name, lidar, 0.1)
    ranges = np.array([-np.inf, np.inf, 0.2, 1.1, 8.0])
    messages.fill_scan(message, 1_500_000_000, LidarScan(np.linspace(-1.0, 1.0, 5), ranges))
    heard = deserialize_message(serialize_message(message), LaserScan)
    assert (heard.header.frame_id, heard.header.stamp) == ("eye", Time(sec=1, nanosec=500_000_000))
    np.testing.assert_array_equal(heard.ranges, ranges.astype("f4"))
    assert (heard.angle_min, heard.angle_max, heard.angle_increment) == (-1.0, 1.0, 0.5)
    assert [heard.scan_time, heard.range_min, heard.range_max] == pytest.approx([0.1, 0.2, 8.0], rel=1e-6)
    assert (heard.time_increment, len(heard.intensities)) == (0.0, 0)


def test_a_refusal_names_the_field_and_the_value():
    message = DynamicInterfaceGroupValues(
        interface_groups=["boom"],
        interface_values=[InterfaceValue(interface_names=["spool_command"], values=[math.nan])],
    )
    with pytest.raises(ParameterError, match=r"interface_values\[0\]\.values\[0\] = nan"):
        messages.valve_commands(message, ["boom"])
    with pytest.raises(ParameterError, match=r"interface_groups\[0\] = 'boom'.*did you mean 'boomer'"):
        messages.valve_commands(message, ["boomer"])
    with pytest.raises(ParameterError, match=r"length of data = 1 .* 2 \(one value for each valve: boom, stick\)"):
        messages.valve_array_commands(Float64MultiArray(data=[0.0]), ["boom", "stick"])
    for value in (math.nan, math.inf):
        with pytest.raises(ParameterError, match=r"effort\[1\] = .* a finite number for winch"):
            command = JointState(name=["drum", "winch"], velocity=[1.0, 0.0], effort=[0.0, value])
            messages.joint_commands(command, {"drum": "velocity", "winch": "effort"})
    with pytest.raises(ParameterError, match=r"velocity = \[\] .* drum, whose drive is in velocity mode"):
        messages.joint_commands(JointState(name=["drum"], position=[1.0]), {"drum": "velocity"})


def test_torques_of_a_ball_joint_are_efforts_about_its_axes():
    robot = (
        '<robot name="r"><link name="world"/>'
        '<link name="bob"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        '<joint name="bearing" type="floating"><parent link="world"/><child link="bob"/></joint>'
        '<grouser><spherical_joint joint="bearing" effort_limit="9"/></grouser></robot>'
    )
    simulation = grouser.Simulation(parse_machine(robot, "r.urdf"))
    modes = {drive.joint: drive.mode for drive in simulation.machine.drives}
    message = JointState(name=["bearing/z", "bearing/x"], effort=[3.0, -1.0])
    simulation.command.update(messages.joint_commands(message, modes))
    assert dict(simulation.command) == {"bearing/x": -1.0, "bearing/y": 0.0, "bearing/z": 3.0}


def test_machine_without_drives_has_no_joint_commands_topic():
    with pytest.raises(ParameterError, match="there is none to choose from"):
        messages.joint_commands(JointState(name=["drum"], position=[1.0]), {})


def test_energy_diagnostics_add_up_the_cylinders_where_there_are_some():
    def energy(report):
        message = diagnostics_message("simulator", report, 1.0, 0, PacedScheduling(Scheduling()))
        (status,) = [status for status in message.status if status.name == "simulator: energy"]
        return {pair.key: pair.value for pair in status.values}

    own = {
        "kinetic_energy": 2.5,
        "potential_energy": -1234.5,
        "elastic_energy": 0.25,
        "actuator_work": 3.0,
        "dissipation": 0.125,
        "balance_residual": -1e-9,
    }
    shown = {
        "kinetic [J]": "2.5",
        "potential [J]": "-1234.5",
        "elastic [J]": "0.25",
        "actuator_work [J]": "3",
        "dissipation [J]": "0.125",
        "balance_residual [J]": "-1e-09",
    }
    assert energy(LoopReport(**own)) == shown
    with_oil = LoopReport(**own, hydraulic_energy={"pump_work": 7.0, "leakage": 0.5})
    assert energy(with_oil) == {**shown, "oil_pump_work [J]": "7", "oil_leakage [J]": "0.5"}


@pytest.mark.parametrize(
    ("topics_of", "group"),
    [
        (STREAMS["contact_wrenches/<link>"].topics, "contact_wrenches/"),
        (STREAMS["joint_reactions/<joint>"].topics, "joint_reactions/"),
    ],
)
@settings(deadline=None)
@given(owners=st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=8))
def test_every_link_and_joint_has_a_valid_topic_of_its_own(topics_of, group, owners):
    names = topics_of(owners)
    assert list(names) == owners
    assert len(set(names.values())) == len(owners)
    for name in names.values():
        assert name.startswith(group)
        token = name.removeprefix(group)
        assert token
        assert token.isascii()
        assert all(letter.isalnum() or letter == "_" for letter in token)
        assert not token[0].isdigit()


def test_every_sampled_stream_has_messages():
    types = {stream.type for stream in STREAMS.values() if stream.sample is not None}
    assert types == set(MAKERS)


def test_markers_of_shoes_are_cubes_at_the_link_that_carries_them():
    machine = shipped_machine("tracked_testbed")
    simulation = Simulation(machine, World())
    simulation.command["drive"] = 2.0
    simulation.step(50)
    frames = FrameTree(machine, simulation.world.ground, "odom", "base_footprint", "rig/")
    source = StreamSource(machine, World(), frames, "map", "odom", "base_footprint", True, True)
    stream = STREAMS[TRACK_MARKERS]
    make = MAKERS[stream.type](stream, source, "")
    sample = take_sample(simulation, 0, [TRACK_MARKERS]).values[TRACK_MARKERS]
    message = deserialize_message(make(1_500_000_000, sample, 0.1), MarkerArray)
    track = machine.tracks[0]
    assert simulation.joint_position["drive"] > 0.05
    assert len(message.markers) == track.shoes
    places, turns = BeltShoes(machine, track).poses(simulation.joint_position["drive"], Pose(), {})
    for number, marker in enumerate(message.markers):
        assert (marker.ns, marker.id, marker.type, marker.frame_locked) == (track.name, number, Marker.CUBE, True)
        assert marker.header.frame_id == "rig/" + next(j.parent for j in machine.joints if j.name == track.sprocket)
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (1, 500_000_000)
        assert (marker.scale.y, marker.scale.z) == (track.width, track.thickness)
        turn = np.array([getattr(marker.pose.orientation, axis) for axis in "xyzw"])
        middle = np.array([getattr(marker.pose.position, axis) for axis in "xyz"])
        assert turn == pytest.approx(turns[number])
        # half of the thickness out of the belt
        assert middle == pytest.approx(places[number] + 0.5 * track.thickness * spatial.matrix(turn)[:, 2])


def test_a_prepared_message_is_the_message():
    rng = np.random.default_rng(5)
    headers = [Header(frame_id=name) for name in ("left", "a longer name")]
    markers = [Marker(header=headers[number % 2], ns="s" * number, id=number) for number in range(5)]
    message = MarkerArray(markers=markers)
    prepared = PreparedMessage(message, [header.stamp for header in headers], [marker.pose for marker in markers])
    for nanoseconds in (7, 4_999_999_999):
        poses = rng.normal(size=(5, 7))
        data = prepared.filled(nanoseconds, poses)
        for marker, (x, y, z, *turn) in zip(markers, poses.tolist(), strict=True):
            marker.pose = PoseMessage(
                position=Point(x=x, y=y, z=z), orientation=Quaternion(**dict(zip("xyzw", turn, strict=True)))
            )
            set_stamp(marker.header.stamp, nanoseconds)
        assert deserialize_message(data, MarkerArray) == message  # bytes between fields may be any
