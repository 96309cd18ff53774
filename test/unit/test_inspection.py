"""`grouser inspect`: numbers against hand calculations, and the two forms of its output."""

import json
import math
from pathlib import Path

import pytest
import trimesh

import grouser
from grouser import inspection
from grouser.physics.errors import MachineError, ParameterError

DATA = Path(__file__).parents[1] / "data"

# Two unit masses on an arm of 2 m that starts turned by 90 degrees: from (2, 0, 1) to (0, 2, 1).
ARM = """<robot name="arm">
<link name="world"/>
<link name="column"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="arm"><inertial><origin xyz="2 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="base" type="fixed"><parent link="world"/><child link="column"/></joint>
<joint name="turn" type="revolute"><parent link="column"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="50"/></joint>
<grouser>
<fluid/><pump supply_pressure="10e6" tank_pressure="1e5"/>
<directional_valve name="v" spool_diameter="0.006" spool_travel="2e-4"/>
<cylinder name="c" valve="v" bore="0.04" rod_diameter="0.025" stroke="1" retracted_length="1" piston_mass="5"
 dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4"><barrel link="world" xyz="0 0 1"/>
<rod link="arm" xyz="1.5 0 0"/></cylinder>
<initial_position joint="turn" position="1.5707963267948966"/>
</grouser></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_masses_and_centre_at_the_initial_positions(arm):
    facts = inspection.machine_facts(grouser.load_machine(arm))
    assert facts["total_mass"] == 4.0
    assert facts["centre_of_mass"] == pytest.approx([0.0, 0.5, 0.25], abs=1e-12)
    assert facts["degrees_of_freedom"] == 1
    assert inspection.machine_facts(grouser.load_machine(arm, base="floating"))["degrees_of_freedom"] == 7


def test_cylinder_areas_and_forces_by_hand(arm):
    cylinder = inspection.machine_facts(grouser.load_machine(arm))["cylinders"][0]
    piston, rod_side = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
    assert cylinder["piston_side_area"] == pytest.approx(piston)
    assert cylinder["rod_side_area"] == pytest.approx(rod_side)
    assert cylinder["extending_force"] == pytest.approx(10e6 * piston - 1e5 * rod_side)
    assert cylinder["retracting_force"] == pytest.approx(10e6 * rod_side - 1e5 * piston)
    assert cylinder["initial_position"] == pytest.approx(0.5)


def test_every_kind_of_joint_counts_its_freedom(tmp_path, monkeypatch):
    trimesh.creation.box().export(tmp_path / "box.stl")
    path = DATA / "machines" / "every_joint.urdf.xacro"
    facts = inspection.machine_facts(grouser.load_machine(path, {"mesh": str(tmp_path / "box.stl")}))
    # base 6; shoulder, axle, rail, hanging 1 each; planar 3; floating 6; fixed joints and mimics none
    assert facts["degrees_of_freedom"] == 6 + 4 + 3 + 6


def test_the_text_shows_what_there_is(arm, capsys):
    assert inspection.main([str(arm)]) == 0
    text = capsys.readouterr().out
    for words in (
        "3 links, 2 joints, fixed base 'world'",
        "degrees of freedom  1",
        "total mass          4 kg",
        "centre of mass      0.0000 0.5000 0.2500 m",
        "+- column  3 kg  <- base: fixed",
        "   +- arm  1 kg  <- turn: revolute axis 0 0 1, -2 to 2 rad, starts at 1.571 rad",
        "12.57 / 7.66",
        "0.500 of 1.000",
        "no warnings",
    ):
        assert words in text


def test_warnings_are_shown(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    inspection.main([str(path)])
    assert "1 warning\n  - the machine has no mass" in capsys.readouterr().out


def test_json_holds_the_same_facts(arm, capsys):
    assert inspection.main([str(arm), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == inspection.machine_facts(grouser.load_machine(arm))
    assert [joint["effort"] for joint in facts["joints"]] == [None, 50.0]


def test_xacro_arguments_are_given_the_ros_way(tmp_path, capsys):
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="x" default="a"/>'
        '<link name="$(arg x)"/></robot>'
    )
    inspection.main([str(path), "x:=chassis"])
    assert "floating base 'chassis'" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="name:=value"):
        inspection.main([str(path), "x=chassis"])
    with pytest.raises(MachineError, match="no xacro argument 'y'"):
        inspection.main([str(path), "y:=1"])


def test_a_long_chain_does_not_fill_the_screen_with_blanks(tmp_path):
    count = 300
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i - 1}"/><child link="l{i}"/></joint>'
        for i in range(1, count)
    )
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    machine = grouser.load_machine(path)
    lines = list(inspection.report(machine, inspection.machine_facts(machine)))
    assert max(map(len, lines)) < 200
    assert any("level 299: +- l299" in line for line in lines)
