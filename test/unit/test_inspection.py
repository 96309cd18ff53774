"""`grouser inspect`: numbers against hand calculations, and the two forms of its output."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from shipped import shipped_machine

import grouser
from grouser import catalogue
from grouser.commands import inspection
from grouser.physics.base.errors import ParameterError

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
 dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4"><barrel link="world" xyz="0.9 0.3 1"/>
<rod link="arm" xyz="1.5 0 0"/></cylinder>
<initial_position joint="turn" position="1.5707963267948966"/>
</grouser></robot>"""


BALL = """<robot name="ball"><link name="world"/>
<link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="socket" type="floating"><parent link="world"/><child link="bob"/></joint>
<grouser><spherical_joint joint="socket" effort_limit="3" rpy="1.5707963267948966 0 0"/></grouser></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_mass_and_centre_of_mass_at_the_initial_positions(arm):
    facts = inspection.machine_facts(grouser.load_machine(arm))
    assert facts["total_mass"] == 4.0
    assert facts["centre_of_mass"] == pytest.approx([0.0, 0.5, 0.25], abs=1e-12)
    assert facts["degrees_of_freedom"] == 1
    assert inspection.machine_facts(grouser.load_machine(arm, base="floating"))["degrees_of_freedom"] == 7


def test_cylinder_areas_and_forces_equal_hand_calculation(arm):
    cylinder = inspection.machine_facts(grouser.load_machine(arm))["cylinders"][0]
    piston, rod_side = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
    assert cylinder["piston_side_area"] == pytest.approx(piston)
    assert cylinder["rod_side_area"] == pytest.approx(rod_side)
    assert cylinder["extending_force"] == pytest.approx(10e6 * piston - 1e5 * rod_side)
    assert cylinder["retracting_force"] == pytest.approx(10e6 * rod_side - 1e5 * piston)
    assert cylinder["initial_position"] == pytest.approx(0.5)


def test_degrees_of_freedom_of_every_joint_type(tmp_path, monkeypatch):
    trimesh.creation.box().export(tmp_path / "box.stl")
    path = DATA / "machines" / "every_joint.urdf.xacro"
    facts = inspection.machine_facts(grouser.load_machine(path, {"mesh": str(tmp_path / "box.stl")}))
    # base 6; shoulder, axle, rail, hanging 1 each; planar 3; floating 6; fixed joints and mimics none
    assert facts["degrees_of_freedom"] == 6 + 4 + 3 + 6


def test_a_ball_joint_and_its_torques_are_shown(tmp_path, capsys):
    path = tmp_path / "ball.urdf"
    path.write_text(BALL)
    facts = inspection.machine_facts(grouser.load_machine(path))
    assert facts["degrees_of_freedom"] == 3
    assert facts["joints"][0]["axis"] is None and facts["joints"][0]["initial_rpy"] == [math.pi / 2.0, 0.0, 0.0]
    # turned by a quarter about x, down is towards y
    assert facts["centre_of_mass"] == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    inspection.main([str(path)])
    text = capsys.readouterr().out
    assert "socket: spherical, starts at rpy 1.571 0 0 rad" in text
    assert "socket/z  effort  3" in text


def test_motors_and_gears_are_shown(capsys):
    facts = inspection.machine_facts(grouser.load_machine(catalogue.machine_file("servo_fin")))
    assert [(drive["motor"], drive["gear_ratio"]) for drive in facts["drives"]] == [("dc_motor", 6.0)]
    inspection.main(["servo_fin"])
    assert re.search(r"hinge +position +\d+ +dc_motor +6", capsys.readouterr().out)


def test_text_report_lists_all_parts(arm, capsys):
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


def test_loops_and_elasticity_are_listed(capsys):
    """A machine with one of each; its numbers are those of the file, the rod's EI and GI_p by hand."""
    path = DATA / "machines" / "loops_and_springs.urdf"
    machine = grouser.load_machine(path)
    facts = inspection.machine_facts(machine)
    bending, torsion = 70e9 * math.pi / 64 * 0.02**4, 26e9 * math.pi / 32 * 0.02**4
    (loop,) = facts["loop_joints"]
    assert (loop["name"], loop["type"], loop["axis"]) == ("rocker_end", "revolute", "y")
    assert (loop["parent"]["link"], loop["child"]["link"]) == ("coupler", "rocker")
    assert loop["rotational_stiffness"] == [1e4, 5.0, 1e4]
    assert [joint["joint"] for joint in facts["compliant_joints"]] == ["mast_foot", "crank_pin"]
    (mast,) = facts["flexible_links"]
    assert [mast["bending_stiffness_y"], mast["torsional_stiffness"]] == pytest.approx([bending, torsion])
    assert facts["integrator"] == "semi_implicit"
    inspection.main([str(path)])
    text = capsys.readouterr().out
    for words in (
        "degrees of freedom  9  (6 of them the base)  (before the loops close)",
        "integrator          semi_implicit",
        "rocker_end: revolute y  coupler - rocker  1e+07 1e+07 1e+07  10000 5 10000",
        "mast_foot  0 0 0              2000 2000 0           0      0      0         0",
        "crank_pin  1e+06 1e+06 1e+06  0 0 0                 50     10     0.02      1",
        f"mast  4 rigid elements  1           {bending:g} / {bending:g}",
        "a step of 1 ms adds to their damping",
    ):
        assert words in text


def test_vibrations_of_a_flexible_link_are_listed_under_its_name(tmp_path):
    """A rod of 20 elements, each with three springs: the report has one line for the rod. The midpoint rule adds no
    damping to it."""
    path = tmp_path / "rod.urdf"
    path.write_text(
        '<robot name="r"><link name="world"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>'
        '<inertia ixx="0.001" iyy="0.0834" izz="0.0834"/></inertial></link>'
        '<joint name="foot" type="fixed"><parent link="world"/><child link="rod"/></joint>'
        '<grouser><flexible_link link="rod" discretisation="rigid_elements" size="20" length="1" modulus="70e9"'
        ' shear_modulus="26e9" diameter="0.02"/></grouser></robot>'
    )
    machine = grouser.load_machine(path)
    semi_implicit, midpoint = (
        grouser.Simulation(machine, integrator=name) for name in ("semi_implicit", "implicit_midpoint")
    )
    for simulation in (semi_implicit, midpoint):
        (vibration,) = simulation.vibration.numerical_damping()
        assert vibration.part == "rod"
        assert vibration.frequency == simulation.vibration.natural_frequencies()[0]
        frequencies = np.array(simulation.vibration.natural_frequencies())
        fast = frequencies[2.0 * np.pi * frequencies * 0.001 > 1.0]
        told = f'"rod": {len(fast)} of its {len(frequencies)} vibrations, from {fast[0]:.3g} Hz on, have fewer'
        assert simulation.warnings[-1].startswith(told)
    damped, unresolved = semi_implicit.warnings
    assert damped.startswith('"rod": a step of 1 ms damps its vibration at ')
    assert "damps them out" in unresolved
    assert "damps" not in midpoint.warnings[0]
    assert (vibration.damping_ratio, len(midpoint.warnings)) == (0.0, 1)


def test_vibration_and_its_numerical_damping_equal_hand_calculation(tmp_path):
    """A flywheel of 2 kg m2 on a spring of 800 N m/rad swings with 20 rad/s. A step of h = 1 ms of the implicit Euler
    method multiplies its amplitude by 1 / (1 - i w h): it turns by atan(w h) and shrinks by ln(1 + (w h)^2) / 2."""
    path = tmp_path / "flywheel.urdf"
    path.write_text(
        '<robot name="r"><link name="world"/><link name="wheel"><inertial><mass value="1"/>'
        '<inertia ixx="2" iyy="2" izz="2"/></inertial></link><joint name="shaft" type="continuous">'
        '<parent link="world"/><child link="wheel"/><axis xyz="0 0 1"/></joint>'
        '<grouser><compliant_joint joint="shaft" axial_stiffness="800"/></grouser></robot>'
    )
    facts = inspection.machine_facts(grouser.load_machine(path))
    (vibration,) = facts["vibrations"]
    decay, turn = 0.5 * math.log(1.0 + 0.02**2), math.atan(0.02)
    assert facts["step"] == 0.001
    assert vibration["part"] == "shaft"
    assert vibration["frequency"] == pytest.approx(20.0 / (2.0 * math.pi))
    assert vibration["damping_ratio"] == pytest.approx(decay / math.hypot(decay, turn))


def test_warnings_are_shown(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    inspection.main([str(path)])
    text = capsys.readouterr().out
    assert "2 warnings\n  - the machine has no mass" in text
    assert f"  - it cannot be simulated: {path}: " in text


def test_inspection_of_a_machine_that_cannot_be_simulated(tmp_path, capsys):
    """A four-bar linkage whose last side is too long to close."""
    text = (DATA / "machines" / "loops_and_springs.urdf").read_text()
    path = tmp_path / "open.urdf"
    path.write_text(text.replace('<parent link="coupler" xyz="0.8 0 0"/>', '<parent link="coupler" xyz="8 0 0"/>'))
    assert inspection.main([str(path)]) == 0
    text = capsys.readouterr().out
    assert "rocker_end: revolute y" in text and "vibrations" not in text
    assert f'  - it cannot be simulated: {path}: <loop_joint name="rocker_end">' in text


def test_json_report_has_the_same_facts(arm, capsys):
    assert inspection.main([str(arm), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == inspection.machine_facts(grouser.load_machine(arm))
    assert [joint["effort"] for joint in facts["joints"]] == [None, 50.0]


def test_xacro_arguments_have_the_form_of_ros(tmp_path, capsys):
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="x" default="a"/>'
        '<link name="$(arg x)"/></robot>'
    )
    inspection.main([str(path), "x:=chassis"])
    assert "floating base 'chassis'" in capsys.readouterr().out
    inspection.main([str(path), "--argument", "x:=chassis"])
    assert "floating base 'chassis'" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="name:=value"):
        inspection.main([str(path), "x=chassis"])
    inspection.main([str(path), "y:=1"])
    assert "no xacro argument 'y'; it is ignored (did you mean" not in (said := capsys.readouterr().out)
    assert "no xacro argument 'y'; it is ignored" in said


def test_indentation_of_a_long_chain_is_limited(tmp_path):
    count = 300
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = "".join(f'<link name="l{i}">{inertial}</link>' for i in range(count))
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


def test_tracks_and_wheels_are_listed(capsys):
    """The excavator's belts by hand: two flat runs of 1.08 m and the circle of 0.175 m, under 1664 kg."""
    facts = inspection.machine_facts(shipped_machine("excavator"))
    left, right = facts["tracks"]
    assert (left["name"], left["shoes"], left["wheels"]) == ("left", 36, 6)
    assert left["belt_length"] == pytest.approx(2.0 * 1.08 + 2.0 * math.pi * 0.175)
    assert left["pitch"] == pytest.approx(left["belt_length"] / 36)
    assert left["ground_contact_length"] == pytest.approx(1.08)
    pressure = 9.81 * facts["total_mass"] / (2.0 * 1.08 * 0.23)
    assert [track["mean_ground_pressure"] for track in (left, right)] == pytest.approx([pressure] * 2)
    assert left["drive"] == "hydraulic motor 'track_left'" and facts["wheels"] == []
    inspection.main(["rover"])
    text = capsys.readouterr().out
    assert "wheels on soil" in text
    assert re.search(r"front_left_wheel +servo, velocity +0.13 +0.16 +24 of 6 mm +front_left_steering", text)
