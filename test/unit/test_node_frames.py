"""Frames of joints and sensors agree with the physics; frames received from TF."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import grouser
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.world import Ground
from grouser.physics.description.urdf.placement import link_poses
from grouser.physics.model.build import build_model
from grouser.physics.simulation.building import divided_machine
from grouser.runtime.frames import FrameTree
from grouser.runtime.joint_frames import reaction_frames, turn_from_z
from grouser.runtime.sampling import joint_axes
from grouser.runtime.streams import take_sample

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'

components = st.floats(-1.0, 1.0)


@settings(deadline=None)
@given(components, components, components)
def test_turn_from_z_is_the_smallest_rotation(x, y, z):
    length = np.sqrt(x * x + y * y + z * z)
    assume(length > 0.1)
    axis = (x / length, y / length, z / length)
    turn = turn_from_z(axis)
    np.testing.assert_allclose(matrix(turn)[:, 2], axis, atol=1e-12)
    assert turn[2] == 0.0  # the axis is normal to z: no rotation about z
    assert turn[3] >= 0.0  # by half a turn at most


def machine(tmp_path, joint, extension, links=""):
    path = tmp_path / "machine.urdf"
    path.write_text(
        f'<robot name="m"><link name="world"/><link name="arm">{INERTIAL}</link>{links}{joint}'
        f"<grouser>{extension}</grouser></robot>"
    )
    return grouser.load_machine(path)


@pytest.mark.parametrize(
    "axis", ["0 0 1", "0 0 -1", "1 0 0", "0 1 0", "0 -1 0", "0.3 -0.4 0.7", "0.01 0.02 -1"], ids=lambda axis: axis
)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "fixed"])
def test_frame_of_a_compliant_joint_is_that_of_its_reaction(tmp_path, kind, axis):
    joint = (
        f'<joint name="j" type="{kind}"><parent link="world"/><child link="arm"/>'
        f'<origin xyz="1 2 3" rpy="0.4 -0.5 0.6"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1"/></joint>'
    )
    elastic = machine(tmp_path, joint, '<compliant_joint joint="j" stiffness="1e4"/>')
    (frame,) = reaction_frames(elastic, ())
    _, names = build_model(elastic)
    measured = names.frames["j"]
    np.testing.assert_allclose(matrix(frame.pose.quaternion), measured.rotation, atol=1e-12)
    np.testing.assert_allclose(frame.pose.position, measured.position, atol=1e-12)


def test_reaction_frame_names_are_unique(tmp_path):
    """A link has the first choice of a frame's name, and the odometry frame the second."""
    joints = "".join(
        f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in [("j", "world", "arm"), ("tag", "arm", "j_frame")]
    )
    elastic = machine(tmp_path, joints, '<compliant_joint joint="j" stiffness="1e4"/>', '<link name="j_frame"/>')
    frames = FrameTree(elastic, Ground(), "j_frame_2", "base_footprint")
    assert frames.reactions == {"j": "j_frame_3"}
    assert frames.still == [("world", "j_frame_3")]


def test_elastic_fixed_joint_has_no_static_transform(tmp_path):
    joints = "".join(
        f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in [("soft", "world", "arm"), ("hard", "arm", "tip"), ("on_beam", "tip", "end")]
    )
    links = f'<link name="tip">{INERTIAL}</link><link name="end">{INERTIAL}</link>'
    beam = (
        '<flexible_link link="tip" discretisation="rigid_elements" size="3" xyz="-1.2247449 0 0" length="2.4494897"'
        ' bending_stiffness_y="1" bending_stiffness_z="1" torsional_stiffness="1"/>'
    )
    elastic = machine(tmp_path, joints, f'<compliant_joint joint="soft" stiffness="1e4"/>{beam}', links)
    frames = FrameTree(elastic, Ground(), "odom", "base_footprint")
    assert frames.fixed == [("arm", "tip")]
    assert frames.moving == [("world", "arm"), ("tip", "end")]


def test_sensor_on_a_flexible_link_moves_with_its_section(tmp_path):
    """The sensor is 0.3 m above the axis at 1.5 m; its station is shifted and turned as bending would."""
    beam = (
        '<flexible_link link="arm" discretisation="bezier" size="3" length="2" diameter="0.05" modulus="7e10"'
        ' shear_modulus="3e10" density="2700"/>'
        '<gnss_receiver name="on" link="arm" xyz="1.5 0 0.3"/><gnss_receiver name="start" link="arm" xyz="0 0 0.3"/>'
    )
    joint = '<joint name="j" type="fixed"><parent link="world"/><child link="arm"/></joint>'
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"><link name="world"/><link name="arm"/>{joint}<grouser>{beam}</grouser></robot>'
    )
    flexible = grouser.load_machine(tmp_path / "robot.urdf")
    frames = FrameTree(flexible, None, "odom", "base_footprint")
    assert ("arm", "start") in frames.still
    number = frames.carried.index(("arm", "on"))
    divided = divided_machine(flexible)
    station = next(one.link for one in divided.gnss_receivers if one.name == "on")
    rest = link_poses(divided, {})
    poses = np.array([[*rest[link.name].position, *rest[link.name].quaternion] for link in divided.links])
    np.testing.assert_allclose(frames.carried_poses(poses)[number], [1.5, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], atol=1e-14)
    index = [link.name for link in divided.links].index(station)
    poses[index] = [1.5, 0.0, 0.1, *quaternion_from_rpy(0.0, -0.2, 0.0)]
    expected = [1.5 - 0.3 * np.sin(0.2), 0.0, 0.1 + 0.3 * np.cos(0.2), *quaternion_from_rpy(0.0, -0.2, 0.0)]
    np.testing.assert_allclose(frames.carried_poses(poses)[number], expected, atol=1e-14)


def test_spherical_joint_has_its_transform(tmp_path):
    joint = (
        '<joint name="j" type="floating"><parent link="world"/><child link="arm"/>'
        '<origin xyz="1 2 3" rpy="0.4 -0.5 0.6"/></joint>'
    )
    ball = machine(tmp_path, joint, '<spherical_joint joint="j" rpy="0.3 0.2 -0.1"/>')
    tree = FrameTree(ball, None, "odom", "base_footprint")
    assert tree.moving == [("world", "arm")]
    (pose,) = tree.moving_poses(grouser.Simulation(ball).link_poses())
    turn = matrix(quaternion_from_rpy(0.4, -0.5, 0.6)) @ matrix(quaternion_from_rpy(0.3, 0.2, -0.1))
    np.testing.assert_allclose(pose[:3], [1.0, 2.0, 3.0], atol=1e-15)
    np.testing.assert_allclose(matrix(pose[3:]), turn, atol=1e-15)


def test_ball_joint_has_a_rotation_vector_and_rates_along_its_child(tmp_path):
    """Orientation and angular velocity by the poses of two steps; a torque from rest turns the child about its axis."""
    joints = (
        '<joint name="ball" type="floating"><parent link="world"/><child link="arm"/>'
        '<origin xyz="1 2 3" rpy="0.4 -0.5 0.6"/></joint>'
        '<joint name="hinge" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/></joint>'
    )
    ball = machine(
        tmp_path,
        joints,
        '<spherical_joint joint="ball" rpy="0.3 0.2 -0.1" effort_limit="5"/>',
        f'<link name="tip">{INERTIAL}</link>',
    )
    assert joint_axes(ball) == ["hinge", "ball/x", "ball/y", "ball/z"]
    step = 1e-4
    simulation = grouser.Simulation(ball, grouser.World(gravity=(0.0, 0.0, 0.0)), step=step)
    mounted = Rotation.from_euler("xyz", [0.4, -0.5, 0.6])

    def states():
        return take_sample(simulation, 0, ["joint_states"]).values["joint_states"]

    def turned():
        return mounted.inv() * Rotation.from_quat(simulation.link_poses()[1, 3:])

    assert states().shape == (3, 4)
    np.testing.assert_allclose(states()[0, 1:], Rotation.from_euler("xyz", [0.3, 0.2, -0.1]).as_rotvec(), atol=1e-12)
    simulation.command["ball/y"] = 3.0
    simulation.step(1)
    np.testing.assert_allclose(states()[2, 1:], [0.0, 3.0, 0.0], atol=1e-12)
    assert states()[1, 2] == pytest.approx(3.0 * step, rel=1e-3)  # about y the arm turns below the tip: inertia 1
    simulation.command.update({"ball/x": -4.0, "ball/z": 2.0})
    simulation.step(round(1.0 / step))
    np.testing.assert_allclose(states()[0, 1:], turned().as_rotvec(), atol=1e-9)
    before = turned()
    simulation.step(1)
    # from the middle of a step to its end the velocity changes by half a step times the acceleration, 5 rad/s2 at most
    np.testing.assert_allclose(states()[1, 1:], (before.inv() * turned()).as_rotvec() / step, atol=5.0 * step)
    assert np.linalg.norm(states()[1, 1:]) > 1.0


def test_only_floating_and_ball_joints_are_left_by_a_robot_state_publisher(tmp_path):
    joints = (
        '<joint name="ball" type="floating"><parent link="world"/><child link="arm"/></joint>'
        '<joint name="hinge" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/></joint>'
        '<joint name="loose" type="floating"><parent link="tip"/><child link="end"/></joint>'
    )
    links = f'<link name="tip">{INERTIAL}</link><link name="end">{INERTIAL}</link>'
    free = machine(tmp_path, joints, '<spherical_joint joint="ball"/>', links)
    tree = FrameTree(free, None, "odom", "base_footprint")
    assert [tree.moving[number] for number in tree.floating] == [("world", "arm"), ("tip", "end")]


def test_sensor_frame_is_fixed_to_its_link(tmp_path):
    joint = '<joint name="j" type="continuous"><parent link="world"/><child link="arm"/></joint>'
    sensor = '<sensor name="eye" type="imu" link="arm" xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    frames = FrameTree(machine(tmp_path, joint, sensor), Ground(), "odom", "base_footprint")
    assert frames.still == [("arm", "eye")]
    np.testing.assert_allclose(frames.still_poses, [[1.0, 2.0, 3.0, *quaternion_from_rpy(0.1, 0.2, 0.3)]])


def test_placed_frame_takes_precedence_over_tf():
    """The pose from TF is 1 m, by odometry; the true pose is 5 m. Child links follow it, the footprint does not."""
    heard = ReceivedFrames()
    heard.receive("base_footprint", "odom", Pose((1.0, 0.0, 0.0)))
    heard.receive("base_link", "base_footprint", Pose((0.0, 0.0, 0.2)))
    heard.receive("arm", "base_link", Pose((0.0, 0.3, 0.0)))
    assert heard.world("arm").position == (1.0, 0.3, 0.2)
    heard.place("base_link", Pose((5.0, 0.0, 0.1)))
    assert heard.world("arm").position == (5.0, 0.3, 0.1)
    assert heard.world("base_link").position == (5.0, 0.0, 0.1)
    assert heard.world("base_footprint").position == (1.0, 0.0, 0.0)
    heard.place("base_link", Pose((6.0, 0.0, 0.1)))
    assert heard.world("arm").position == (6.0, 0.3, 0.1)
