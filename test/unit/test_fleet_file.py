"""Fleets: files and texts that name machines and their poses."""

import math

import pytest

import grouser
from grouser.fleet import load_fleet
from grouser.physics.base.errors import MachineError

BOX = """<robot name="box" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
<link name="body"><inertial><mass value="$(arg mass)"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "box.urdf.xacro").write_text(BOX)
    return tmp_path


def test_fleet_has_poses_arguments_and_bases(folder):
    """A machine's file is found beside the fleet's; its pose is in metres and degrees."""
    file = folder / "fleet.yaml"
    file.write_text(
        "light: {machine: box.urdf.xacro}\n"
        "heavy: {machine: box.urdf.xacro, arguments: {mass: 5}, xyz: [1, 2, 3], rpy_deg: [0, 0, 90], base: fixed}\n"
    )
    fleet = load_fleet(str(file))
    assert list(fleet) == ["light", "heavy"]
    light, heavy = fleet["light"], fleet["heavy"]
    assert light.pose is None
    assert (light.machine.floating_base, heavy.machine.floating_base) == (True, False)
    assert [member.machine.links[0].inertial.mass for member in (light, heavy)] == [1.0, 5.0]
    assert heavy.pose.position == (1.0, 2.0, 3.0)
    assert heavy.pose.quaternion == pytest.approx((0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    both = grouser.Simulation(grouser.combine(fleet), grouser.World(ground=None))
    assert both.part("heavy").base_pose()[0] == pytest.approx([1.0, 2.0, 3.0])


def test_fleet_can_be_a_text(folder, monkeypatch):
    monkeypatch.chdir(folder)
    fleet = load_fleet("{a: {machine: ./box.urdf.xacro}, b: {machine: rover, xyz: [5, 0, 0]}}")
    assert [member.machine.name for member in fleet.values()] == ["box", "rover"]


def test_shipped_fleet_stands():
    fleet = load_fleet("rover_and_excavator")
    simulation = grouser.Simulation(grouser.combine(fleet), grouser.World())
    assert [member.name for member in simulation.machine.members] == ["scout", "digger"]
    assert simulation.part("digger").base_pose()[0][0] == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "fleet:1: fleet: a mapping is needed"),
        ("{a: {xyz: [0, 0, 0]}}", "a: key 'machine' is missing"),
        ("{1a: {machine: rover}}", "1a: a name has letters, digits and underscores"),
        ("{a/b: {machine: rover}}", "a/b: a name has letters, digits and underscores"),
        ("{a: {machine: roverr}}", "did you mean 'rover'"),
        ("{a: {machine: rover, at: [0, 0, 0]}}", "a: unknown key 'at'"),
        ("{a: {machine: rover, xyz: [0, 0]}}", "a xyz: a list of three numbers is needed"),
        ("{a: {machine: rover, base: loose}}", "a base: 'loose' is not valid"),
        ("nobody", "there is no fleet called 'nobody'.*rover_and_excavator"),
        ("missing/fleet.yaml", "missing/fleet.yaml"),
    ],
)
def test_invalid_fleets_are_refused_with_their_entry(text, message):
    with pytest.raises(MachineError, match=message):
        load_fleet(text)


def test_empty_fleet_file_is_refused(folder):
    file = folder / "empty.yaml"
    file.write_text("# nobody\n")
    with pytest.raises(MachineError, match="there is no machine in it"):
        load_fleet(str(file))
