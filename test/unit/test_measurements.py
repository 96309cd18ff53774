"""Link poses and contact wrenches of a standing machine that moves its arm."""

import numpy as np
import pytest

import grouser
from grouser import catalogue
from grouser.physics.base import spatial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.urdf.placement import link_poses


@pytest.fixture(scope="module")
def robot():
    """The demolition robot on its feet, its arm in motion."""
    simulation = grouser.Simulation(grouser.load_machine(catalogue.machine_file("demolition_robot")))
    simulation.command["boom_valve"] = -0.5
    simulation.command["swing_valve"] = 0.5
    simulation.step(800)
    return simulation


def test_link_poses_equal_those_of_the_description_at_the_joint_positions(robot):
    """The poses from the compiled kinematics against those from the URDF in plain Python."""
    position, quaternion = robot.base_pose()
    base = Pose(tuple(position.tolist()), tuple(quaternion.tolist()))
    expected = link_poses(robot.machine, dict(robot.joint_position))
    poses = robot.link_poses()
    assert poses.shape == (len(robot.machine.links), 7)
    for link, pose in zip(robot.machine.links, poses, strict=True):
        wanted = compose(base, expected[link.name])
        np.testing.assert_allclose(pose[:3], wanted.position, atol=1e-12)
        np.testing.assert_allclose(spatial.matrix(pose[3:]), spatial.matrix(wanted.quaternion), atol=1e-12)
        np.testing.assert_array_equal(np.concatenate(robot.link_pose(link.name)), pose)
    assert np.ptp(robot.joint_position.values()) > 0.1


def test_links_fixed_to_the_world_do_not_move(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="arm"><link name="world"/><link name="wall"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="f" type="fixed"><parent link="world"/><child link="wall"/><origin xyz="1 2 3" rpy="0 0 1"/>'
        "</joint>"
        '<joint name="j" type="continuous"><parent link="wall"/><child link="arm"/></joint></robot>'
    )
    simulation = grouser.Simulation(grouser.load_machine(file))
    simulation.step(10)
    half = [0.0, 0.0, np.sin(0.5), np.cos(0.5)]
    np.testing.assert_allclose(simulation.link_poses()[:2], [[0, 0, 0, 0, 0, 0, 1], [1, 2, 3, *half]], atol=1e-15)


def test_a_contact_wrench_is_the_sum_of_the_links_contacts(robot):
    """Force and moment about the link's origin in its frame, summed over contacts."""
    expected = {name: np.zeros(6) for name in robot.contact_wrench.names}
    for contact in robot.contacts():
        position, quaternion = robot.link_pose(contact.link)
        turn = spatial.matrix(quaternion).T
        moment = np.cross(contact.point_world - position, contact.force_world)
        expected[contact.link] += np.concatenate([turn @ contact.force_world, turn @ moment])
    scale = np.abs(list(expected.values())).max()
    assert scale > 1000.0  # it stands
    together = robot.contact_wrench.values()
    assert together.shape == (len(expected), 6)
    for wrench, (link, wanted) in zip(together, expected.items(), strict=True):
        np.testing.assert_allclose(wrench, wanted, atol=1e-12 * scale)
        np.testing.assert_array_equal(robot.contact_wrench[link], wrench)


@pytest.mark.parametrize("leaf", [spatial.quaternions_from_matrices, spatial.quaternions_from_matrices.py_func])
def test_quaternions_from_matrices(leaf):
    random = np.random.default_rng(4)
    quaternions = random.normal(size=(20, 4))
    quaternions *= np.sign(quaternions[:, 3:]) / np.linalg.norm(quaternions, axis=1, keepdims=True)
    poses = np.zeros((20, 7))
    leaf(np.array([spatial.matrix(quaternion) for quaternion in quaternions]), poses[:, 3:])
    np.testing.assert_allclose(poses[:, 3:], quaternions, atol=1e-14)
