"""Plain objects: which machines are, and their poses read at once."""

import numpy as np
import pytest
from shipped import shipped_machine

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.pose import Pose
from grouser.runtime.objects import PlainObjects, is_plain

BODY = """<inertial><mass value="20"/><inertia ixx="0.5" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>"""
TWO = f"""<robot name="two"><link name="{{root}}">{{body}}</link><link name="lid">{BODY}</link>
<joint name="hinge" type="{{joint}}"><parent link="{{root}}"/><child link="lid"/><origin xyz="0 0 0.4"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>{{more}}</robot>"""


def described(root="body", joint="fixed", more=""):
    text = TWO.format(root=root, body="" if root == "world" else BODY, joint=joint, more=more)
    return parse_machine(text, "two.urdf")


@pytest.mark.parametrize("root", ["body", "world"])
def test_rigid_machine_is_plain(root):
    assert is_plain(described(root))
    contact = '<grouser><contact link="lid" friction="0.3"/></grouser>'
    assert is_plain(described(root, more=contact))


@pytest.mark.parametrize(
    ("joint", "more"),
    [
        ("revolute", ""),
        ("continuous", ""),
        ("prismatic", ""),
        ("floating", ""),
        ("fixed", '<grouser><sensor name="unit" type="imu" link="lid"/></grouser>'),
        (
            "fixed",
            '<grouser><shovel name="tray" link="lid" cutting_edge="0 0 0 0 1 0" top_edge="1 0 0 1 1 0" '
            'cutting_direction="0 0 1" profile="0 0 0 0 0 -1 1 0 0"/></grouser>',
        ),
        (
            "fixed",
            '<grouser><compliant_joint joint="hinge" stiffness="1e6" rotational_stiffness="1e4"/></grouser>',
        ),
    ],
)
def test_machine_with_a_part_that_moves_or_measures_is_not_plain(joint, more):
    assert not is_plain(described(joint=joint, more=more))


@pytest.mark.parametrize("name", ["rover", "excavator", "four_bar", "stick_slip", "rigid_pendulum", "servo_fin"])
def test_shipped_machine_is_not_plain(name):
    assert not is_plain(shipped_machine(name))


def test_poses_are_those_of_the_objects_among_other_machines():
    turned = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
    members = {
        "": Member(shipped_machine("rover")),
        "wall": Member(described("world"), Pose((5.0, 1.0, 0.2), turned)),
        "scout": Member(shipped_machine("rover"), Pose((-6.0, 0.0, 0.4))),
        "box": Member(described(), Pose((3.0, -2.0, 1.5), turned)),
    }
    simulation = grouser.Simulation(grouser.combine(members))
    objects = PlainObjects(simulation, {"box", "wall"})
    simulation.part("box").place((3.0, -2.0, 4.0), turned, linear=(1.0, 0.0, 0.0), angular=(0.0, 0.0, 2.0))
    simulation.step(50)
    sample = objects.sample()
    assert sample.names == ("wall", "box")
    for name, pose in zip(sample.names, sample.poses, strict=True):
        np.testing.assert_array_equal(pose, np.concatenate(simulation.part(name).base_pose()))
    for number, name in enumerate(members):
        twist = simulation.roots.twists()[number]
        np.testing.assert_array_equal(twist, np.concatenate(simulation.part(name).base_twist()))
    # free fall for 50 steps of 1 ms, to the first order of the step
    assert sample.poses[1][2] == pytest.approx(4.0 - 0.5 * 9.81 * 0.05**2, abs=9.81 * 0.05 * 1e-3)


def test_roots_of_a_machine_by_itself():
    simulation = grouser.Simulation(shipped_machine("rover"))
    simulation.step(5)
    np.testing.assert_array_equal(simulation.roots.poses()[0], np.concatenate(simulation.base_pose()))
    np.testing.assert_array_equal(simulation.roots.twists()[0], np.concatenate(simulation.base_twist()))
