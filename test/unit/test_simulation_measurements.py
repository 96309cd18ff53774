"""Measurements of a simulation: contacts, poses, efforts and energy are consistent."""

import numpy as np
import pytest

from grouser import Member, Simulation, World, combine
from grouser.physics.base import spatial
from grouser.physics.base.packed import Packed
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Obstacle
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.newton_euler import inverse_dynamics

GRAVITY = 9.81
WORLD = World(spawn=Pose((0.0, 0.0, 0.1)))


def drive_about(simulation):
    simulation.command.update({"boom_valve": 0.7, "swing": 0.6, "spin": 12.0, "grip": -4.0})


def test_contact_forces_and_contact_wrench_equal_the_weight(simulation):
    drive_about(simulation)
    simulation.step(200)
    contacts = simulation.contacts()
    position, quaternion = simulation.base_pose()
    force = sum(contact.force_world for contact in contacts)
    moment = sum(np.cross(contact.point_world - position, contact.force_world) for contact in contacts)
    rotation = spatial.matrix(tuple(quaternion))
    # the base moves by less than 1e-8 m between the beginning of the step and its end
    assert simulation.contact_wrench["base"] == pytest.approx(
        np.concatenate([rotation.T @ force, rotation.T @ moment]), abs=1e-4
    )
    assert all(c.link == "base" and c.normal_world[2] == 1.0 and abs(c.depth) < 1e-4 for c in contacts)
    simulation.emergency_stop = True
    simulation.step(800)
    weight = GRAVITY * (200 + 8 + 12 + 2 + 0.4 + 0.5)
    assert simulation.contact_wrench["base"][2] == pytest.approx(weight, rel=1e-4)


BOX = """<robot name="crate"><link name="box">
  <inertial><mass value="10"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""


def test_obstacle_wrench_is_what_obstacles_and_other_machines_exert():
    """Three boxes in a row, each on what is below: the ground; a box on a table; a box on another box."""
    table = Obstacle("table", Box((1.0, 1.0, 0.5)), Pose((2.0, 0.0, 0.25)))
    places = {"low": (0.0, 0.0, 0.1), "raised": (2.0, 0.0, 0.6), "under": (-2.0, 0.0, 0.1), "upper": (-2.0, 0.0, 0.3)}
    crate = parse_machine(BOX, "crate.urdf")
    world = World(obstacles=(table,))
    both = Simulation(combine({name: Member(crate, Pose(place)) for name, place in places.items()}), world)
    both.step(500)
    weight = 10.0 * GRAVITY
    vertical = {name: both.part(name).obstacle_wrench["box"][2] for name in places}
    # after 0.5 s the boxes stand, to 1e-3 of their weight
    expected = {"low": 0.0, "raised": weight, "under": -weight, "upper": weight}
    assert vertical == pytest.approx(expected, abs=1e-3 * weight)
    assert both.part("low").contact_wrench["box"][2] == pytest.approx(weight, rel=1e-3)
    assert both.part("under").contact_wrench["box"][2] == pytest.approx(weight, rel=1e-3)
    # for all machines together only the table is an obstacle
    assert both.obstacle_wrench["upper/box"][2] == 0.0
    assert both.obstacle_wrench["raised/box"][2] == pytest.approx(weight, rel=1e-3)


def test_link_poses_agree_with_joint_positions(simulation):
    drive_about(simulation)
    simulation.step(200)
    poses = simulation.link_poses()
    for row, link in zip(poses, simulation.machine.links, strict=True):
        position, quaternion = simulation.link_pose(link.name)
        assert row == pytest.approx(np.concatenate([position, quaternion]), abs=1e-15)
        assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-14)
    assert np.concatenate(simulation.base_pose()) == pytest.approx(poses[0], abs=1e-15)
    # the two fingers mirror each other about the boom's middle
    places = {name: simulation.link_pose(name)[0] for name in ("boom", "left", "right")}
    rotation = spatial.matrix(tuple(simulation.link_pose("boom")[1]))
    middle = rotation.T @ (0.5 * (places["left"] + places["right"]) - places["boom"])
    assert middle == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert simulation.joint_position["grip_right"] == -simulation.joint_position["grip"] != 0.0


def body(name, mass, inertia, com):
    return (
        f'<link name="{name}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{mass}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def hinge(name, parent, child, xyz):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="2e3" velocity="5"/></joint>'
    )


def hinged_arm(mode):
    """A fixed arm of two links; the shoulder's drive in this mode, the elbow's holds its position."""
    return parse_machine(
        '<robot name="arm"><link name="world"/>'
        f"{body('upper', 3, 0.1, (0.3, 0, 0.1))}{body('lower', 2, 0.05, (0.2, 0, 0))}"
        f"{hinge('shoulder', 'world', 'upper', '0 0 1')}{hinge('elbow', 'upper', 'lower', '0.6 0 0')}"
        f'<grouser><servo_drive joint="shoulder" mode="{mode}" stiffness="5e4" damping="500"/>'
        '<servo_drive joint="elbow" mode="position" stiffness="5e4" damping="500"/></grouser></robot>',
        "arm.urdf",
    )


def test_effort_of_a_held_arm_is_the_torque_of_gravity():
    simulation = Simulation(hinged_arm("position"), World(ground=None))
    simulation.command.update({"shoulder": 0.3, "elbow": -0.5})
    simulation.step(2000)
    model, kinematics = Packed(simulation.arrays.model), Packed(make_kinematics(simulation.arrays.model))
    update_kinematics(model, simulation.state.q, np.zeros(2), kinematics)
    torque = np.zeros(2)
    inverse_dynamics(model, kinematics, np.zeros(2), np.zeros((2, 6)), np.zeros((2, 6)), torque)
    # long after its time constant (damping / stiffness = 10 ms) the solver's tolerance is left: 1e-6 rad/s * 500 N m s
    assert simulation.joint_effort.values() == pytest.approx(torque, abs=5e-4)
    assert abs(torque[0]) > 10.0
    static_sag = torque / 5e4
    assert simulation.joint_position.values() + static_sag == pytest.approx([0.3, -0.5], abs=1e-8)


def test_joint_effort_is_that_of_the_last_step():
    simulation = Simulation(hinged_arm("effort"), World(ground=None))
    simulation.command["shoulder"] = 5.0
    assert simulation.joint_effort["shoulder"] == 0.0, "no step has been made"
    simulation.step()
    assert simulation.joint_effort["shoulder"] == 5.0
    simulation.command["shoulder"] = -7.0
    assert simulation.joint_effort["shoulder"] == 5.0, "the new command has not acted yet"
    simulation.emergency_stop = True
    assert simulation.joint_effort["shoulder"] == 5.0, "nor has the stop"


def test_energy_of_a_fall_and_base_twist():
    ball = parse_machine(f'<robot name="ball">{body("ball", 2.0, 0.01, (0, 0, 0.1))}</robot>', "ball.urdf")
    simulation = Simulation(ball, World(ground=None, spawn=Pose((0.0, 0.0, 3.0), (0.0, 1.0, 0.0, 0.0))))
    assert simulation.energy().potential == pytest.approx(2.0 * GRAVITY * 2.9)
    simulation.step(100)
    speed = GRAVITY * 0.1
    # upside down, so that it falls along its own z
    assert np.concatenate(simulation.base_twist()) == pytest.approx([0, 0, speed, 0, 0, 0], abs=1e-12)
    assert simulation.energy().kinetic == pytest.approx(speed**2)
    fixed = Simulation(hinged_arm("position"), World(ground=None))
    assert not np.any(fixed.base_twist())


def test_measurements_follow_changes_of_the_state():
    machine = parse_machine(f'<robot name="b">{body("box", 2.0, 0.1, (0, 0, 0))}</robot>', "box.urdf")
    simulation = Simulation(machine, World(ground=None))
    assert simulation.energy().kinetic == 0.0
    simulation.state.v[:3] = [3.0, 0.0, 0.0]
    assert simulation.energy().kinetic == pytest.approx(9.0)
    simulation.state.q[2] = 5.0
    assert simulation.link_pose("box")[0][2] == 5.0
    assert simulation.energy().potential == pytest.approx(2.0 * GRAVITY * 5.0)


def test_diagnostics_report_convergence_of_the_impulses(crane):
    simulation = Simulation(crane, WORLD, tolerance=1e-7, most_sweeps=60)
    drive_about(simulation)
    simulation.step(100)
    figures = simulation.diagnostics
    assert 1 <= figures.iterations <= figures.iterations_max <= 60
    assert figures.residual <= figures.residual_max
    assert figures.residual <= 1e-7 or figures.iterations == 60
    assert figures.contact_count == len(simulation.contacts()) >= 4
    # three rows a contact, and the cylinder's; drives below their limit are in the mass matrix
    assert figures.row_count >= 3 * figures.contact_count + 1
    simulation.clear_diagnostics()
    assert (simulation.diagnostics.iterations_max, simulation.diagnostics.residual_max) == (0, 0.0)
