"""Joints that move nothing with mass are held where they start, and told once, unless something needs them."""

import math

import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.rotation import rotate

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'

HAND = (
    '<joint name="hand" type="revolute"><origin xyz="0 0 1"/><parent link="b"/><child link="palm"/>'
    '<axis xyz="0 0 1"/><limit lower="0.5" upper="1" effort="1" velocity="1"/></joint>'
)
FINGER = (
    '<joint name="finger" type="prismatic"><parent link="palm"/><child link="tip"/><axis xyz="1 0 0"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="hand" multiplier="0.2"/></joint>'
)


def hand(finger_mass="", more=""):
    """An arm with a hand whose finger follows it."""
    links = f'<link name="a">{MASS}</link><link name="b">{MASS}</link><link name="palm"/>'
    tip = f'<link name="tip">{finger_mass}</link>'
    return [links, tip, joint("arm", "a", "b"), HAND, FINGER, more]


def joint(name, parent, child):
    return f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{LIMIT}</joint>'


def load(folder, *parts):
    path = folder / "robot.urdf"
    path.write_text("\n".join(['<robot name="r">', *parts, "</robot>"]))
    return grouser.load_machine(path, base="fixed")


def test_moving_ends_without_mass_are_held_where_they_start(tmp_path):
    machine = load(tmp_path, *hand())
    arm, palm, finger = machine.joints
    assert (arm.type, palm.type, finger.type) == ("revolute", "fixed", "fixed")
    told = [warning for warning in machine.warnings if "moves nothing with mass" in warning]
    assert (
        len(told) == 1 and "<joint name=\"hand\">: joint 'hand'" in told[0] and "(likewise joint 'finger')" in told[0]
    )
    # The palm starts at its limit of 0.5 rad, and the finger at 0.2 of it.
    assert palm.pose.position == (0.0, 0.0, 1.0)
    assert rotate(palm.pose.quaternion, (1.0, 0.0, 0.0)) == pytest.approx((math.cos(0.5), math.sin(0.5), 0.0))
    assert finger.pose.position == pytest.approx((0.1, 0.0, 0.0))
    assert len(grouser.Simulation(machine).state.v) == 1


def test_joint_that_moves_mass_by_a_mimic_is_not_held(tmp_path):
    machine = load(tmp_path, *hand(finger_mass=MASS))
    assert [one.type for one in machine.joints] == ["revolute", "revolute", "prismatic"]
    assert not any("moves nothing with mass" in warning for warning in machine.warnings)


def test_joint_whose_follower_moves_mass_is_not_held(tmp_path):
    fork = FINGER.replace('parent link="palm"', 'parent link="b"')
    machine = load(tmp_path, *hand(finger_mass=MASS)[:-2], fork)
    assert [one.type for one in machine.joints] == ["revolute", "revolute", "prismatic"]
    assert len(grouser.Simulation(machine).state.v) == 2


@pytest.mark.parametrize(
    "element",
    [
        '<servo_drive joint="hand" mode="effort" effort_limit="1"/>',
        '<servo_drive joint="finger" mode="effort" effort_limit="1"/>',
        '<sensor name="s" type="imu" link="tip"/>',
    ],
)
def test_moving_ends_without_mass_that_an_element_names_are_refused(tmp_path, element):
    parts = hand(more=f"<grouser>{element}</grouser>")
    parts[-2] = parts[-2].replace('<mimic joint="hand" multiplier="0.2"/>', "") if "finger" in element else parts[-2]
    machine = load(tmp_path, *parts)
    assert any("massless moving link" in warning for warning in machine.warnings)
    with pytest.raises(MachineError, match="has no mass, nor has anything beyond it"):
        grouser.Simulation(machine)


def test_robot_without_any_mass_is_refused(tmp_path):
    machine = load(tmp_path, '<link name="world"/>', '<link name="b"/>', joint("j", "world", "b"))
    with pytest.raises(MachineError, match='<joint name="j">: moves a part that has no mass'):
        grouser.Simulation(machine)
