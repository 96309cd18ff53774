"""The <grouser> element: reading, errors, and its documentation."""

import dataclasses
from pathlib import Path

import pytest

import grouser
from grouser.docs_pages.urdf_extension import extension_page
from grouser.physics.base.errors import MachineError
from grouser.physics.description import data
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.hydraulics import Attachment, Fluid
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import JointFriction, SphericalJoint
from grouser.physics.description.elements.contact import ContactPoints
from grouser.physics.description.elements.density import Density
from grouser.physics.description.elements.flexible_links.element import WrittenFlexibleLink
from grouser.physics.description.elements.flexible_links.sections import WrittenSection
from grouser.physics.description.elements.sensors.imu_and_lidar import WrittenSensor
from grouser.physics.description.elements.shovels import WrittenShovel
from grouser.physics.description.elements.tracks import WrittenTrack
from grouser.physics.description.elements.wheels import WrittenWheel
from grouser.physics.description.machine_file.registry import ELEMENTS
from grouser.physics.description.table.attributes import ElementKind, Kind
from grouser.physics.description.urdf.placement import initial_positions, link_poses

ROOT = Path(__file__).parents[2]

# Lines 1 to 11; the <grouser> element starts in line 12, its content in line 13.
MACHINE = """<robot name="r">
<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><sphere radius="1"/></geometry></collision></link>
<link name="plate"/><joint name="glue" type="fixed"><parent link="base"/><child link="plate"/></joint>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="100"/></joint>
<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="follower" type="continuous"><parent link="arm"/><child link="tip"/><mimic joint="hinge"/></joint>
<link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="free" type="floating"><parent link="base"/><child link="ball"/></joint>
<grouser>
{}
</grouser></robot>
"""
SUPPLY = '<fluid/><pump supply_pressure="1e7"/>'
VALVE = '<directional_valve name="v" spool_diameter="0.006" spool_travel="2e-4"/>'
CYLINDER = (
    '<cylinder name="c" valve="v" bore="0.04" rod_diameter="0.02" stroke="0.5" retracted_length="0.9" piston_mass="3" '
    'dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">'
    '<barrel link="base" xyz="1 0 0"/><rod link="arm" xyz="1 0 1"/></cylinder>'
)
HYDRAULICS = SUPPLY + VALVE + "\n" + CYLINDER


def load(tmp_path, content):
    path = tmp_path / "robot.urdf"
    path.write_text(MACHINE.format(content))
    return grouser.load_machine(path)


def test_defaults_of_elements(tmp_path):
    machine = load(
        tmp_path,
        HYDRAULICS + '<contact link="base"/><joint_friction joint="hinge" static="3"/>'
        '<servo_drive joint="hinge" mode="effort"/><initial_position joint="hinge" position="0.01"/>',
    )
    assert machine.fluid == Fluid(850.0, 1.4e9)
    assert machine.pumps[0].name == "pump" and machine.pumps[0].tank_pressure == 1e5
    valve, cylinder = machine.valves[0], machine.cylinders[0]
    assert (valve.discharge_coefficient, valve.supply_overlap, valve.tank_underlap) == (0.62, 0.05, 0.05)
    assert (valve.gain, valve.natural_frequency, valve.damping_ratio) == (1.0, 120.0, 1.0)
    assert (cylinder.viscous_friction, cylinder.dry_friction) == (0.0, 0.0)
    assert (cylinder.holding_brake, cylinder.holding_force) == (False, 1e6)
    assert (cylinder.barrel, cylinder.rod) == (Attachment("base", (1, 0, 0)), Attachment("arm", (1, 0, 1)))
    assert machine.contacts == (ContactMaterial("base"),)
    assert machine.frictions == (JointFriction("hinge", 3.0, 3.0),)
    # the effort limit is the joint's
    assert machine.drives == (ServoDrive("hinge", "effort", 0.0, 0.0, 100.0),)
    assert machine.initial_positions[0].position == 0.01


def test_surface_direction_is_a_unit_vector(tmp_path):
    surface = '<contact link="base" surface_joint="hinge" surface_radius="0.3" surface_direction="0 -4 0"/>'
    contact = load(tmp_path, surface).contacts[0]
    assert (contact.surface_joint, contact.surface_radius, contact.surface_direction) == ("hinge", 0.3, (0, -1, 0))


def test_several_grouser_elements_count_as_one(tmp_path):
    machine = load(tmp_path, f"{VALVE}</grouser><grouser>{SUPPLY}{CYLINDER}")
    assert machine.cylinders[0].valve == machine.valves[0].name
    with pytest.raises(MachineError, match="already a <fluid>"):
        load(tmp_path, f"{HYDRAULICS}</grouser>\n<grouser><fluid/>")


def test_machine_without_grouser_element_has_defaults(tmp_path):
    machine = load(tmp_path, "")
    defaults = {field.name: field.default for field in dataclasses.fields(Machine)}
    for element in ELEMENTS:
        if element.field in defaults:
            assert getattr(machine, element.field) == defaults[element.field], element.tag
    assert machine.fluid is None
    assert machine.pumps == machine.valves == machine.cylinders == ()


# Content of <grouser> (which starts in line 13), the line of the error, words of the message.
BAD = {
    "unknown element": ("<cilinder/>", 13, ["<cilinder>", "did you mean 'cylinder'?"]),
    "unknown attribute": ('<fluid densty="3"/>', 13, ["'densty'", "did you mean 'density'?", "<fluid>"]),
    "attribute of grouser": ('</grouser><grouser colour="red">', 13, ["'colour'", "no attributes"]),
    "unknown part": (HYDRAULICS.replace("<barrel", "<barel"), 14, ["<barel>", "did you mean 'barrel'?"]),
    "part missing": (HYDRAULICS.replace('<rod link="arm" xyz="1 0 1"/>', ""), 14, ["<rod> element is missing"]),
    "part twice": (HYDRAULICS.replace("<rod", '<barrel link="arm"/><rod'), 14, ["2 <barrel> elements"]),
    "element in an element": ("<fluid><pump/></fluid>", 13, ["<pump> in <fluid>", "holds no elements"]),
    "required attribute": ("<pump/>", 13, ["'supply_pressure' is missing"]),
    "empty attribute": ('<pump supply_pressure=""/>', 13, ["'supply_pressure' is empty"]),
    "not a number": ('<fluid density="heavy"/>', 13, ["density = 'heavy'", "not a finite number"]),
    "with a unit": ('<pump supply_pressure="10 MPa"/>', 13, ["'10 MPa'"]),
    "not finite": ('<fluid density="nan"/>', 13, ["'nan'"]),
    "zero": ('<fluid density="0"/>', 13, ["density = 0 kg/m3", "valid: above 0"]),
    "beyond use": ('<fluid density="1e300"/>', 13, ["1e+300", "kg/m3"]),
    "above the range": ('<contact link="base" restitution="1.5"/>', 13, ["restitution = 1.5", "0 to 1"]),
    "not a truth value": (
        HYDRAULICS.replace("<cylinder", '<cylinder holding_brake="yes"'),
        14,
        ["'yes'", "neither true"],
    ),
    "unknown link": ('<contact link="bas"/>', 13, ["link = 'bas'", "no such link", "did you mean 'base'?"]),
    "unknown joint": ('<joint_friction joint="hinges" static="1"/>', 13, ["no such joint", "did you mean 'hinge'?"]),
    "unknown valve": (HYDRAULICS.replace('valve="v"', 'valve="w"'), 14, ["valve = 'w'", "no such valve"]),
    "unknown link of a part": (HYDRAULICS.replace('link="arm"', 'link="arms"'), 14, ["<rod", "did you mean 'arm'?"]),
    "brake of an effort": (
        '<servo_drive joint="hinge" mode="effort" holding_effort="3"/>',
        13,
        ["holding_effort = 3", "velocity mode", "in effort mode"],
    ),
    "two fluids": ("<fluid/>\n<fluid/>", 14, ["already a <fluid>", "in line 13"]),
    "two pumps": (HYDRAULICS + '\n<pump name="q" supply_pressure="1e7"/>', 15, ["two pumps"]),
    "two valves of one name": (VALVE + "\n" + VALVE, 14, ["already a <directional_valve> with name 'v'"]),
    "two contacts of one link": ('<contact link="base"/>\n<contact link="base"/>', 14, ["link 'base'"]),
    "no pump": ("<fluid/>" + VALVE + "\n" + CYLINDER, 14, ["add <pump"]),
    "no fluid": ('<pump supply_pressure="1e7"/>' + VALVE + "\n" + CYLINDER, 14, ["add <fluid/>"]),
    "tank above supply": ('<pump supply_pressure="1e4"/>', 13, ["tank_pressure = 100000", "supply_pressure = 10000"]),
    "rod as wide as the bore": (HYDRAULICS.replace("0.02", "0.04"), 14, ["rod_diameter = 0.04", "bore = 0.04"]),
    "valve without cylinder": (VALVE, 13, ["feeds no cylinder"]),
    "rigid cylinder": (HYDRAULICS.replace('link="arm"', 'link="plate"'), 14, ["rigidly joined"]),
    "cylinder too short": (
        HYDRAULICS.replace('stroke="0.5"', 'stroke="0.05"'),
        14,
        ["1.0000 m apart", "0.9 to 0.95 m"],
    ),
    "cylinder too long": (HYDRAULICS.replace("0.9", "1.1"), 14, ["1.0000 m apart", "1.1 to 1.6 m"]),
    "contact without shape": ('<contact link="arm"/>', 13, ["no collision shape"]),
    "damping alone": ('<contact link="base" damping="3"/>', 13, ["damping is given without stiffness"]),
    "surface without radius": ('<contact link="base" surface_joint="hinge"/>', 13, ["without surface_radius"]),
    "radius without surface": ('<contact link="base" surface_radius="1"/>', 13, ["without surface_joint"]),
    "surface of a fixed joint": (
        '<contact link="base" surface_joint="glue" surface_radius="1"/>',
        13,
        ["'glue' is fixed"],
    ),
    "surface without direction": (
        '<contact link="base" surface_joint="hinge" surface_radius="1" surface_direction="0 0 0"/>',
        13,
        ["no direction"],
    ),
    "kinetic above static": (
        '<joint_friction joint="hinge" static="1" kinetic="2"/>',
        13,
        ["kinetic = 2", "static = 1"],
    ),
    "unknown friction": (
        '<joint_friction joint="hinge" law="stribek" static="1"/>',
        13,
        ["'stribek'", "did you mean 'stribeck'?"],
    ),
    "coulomb with two levels": (
        '<joint_friction joint="hinge" law="coulomb" static="2" kinetic="1"/>',
        13,
        ["law coulomb has one level", "static = 2", "kinetic = 1"],
    ),
    "stribeck without speed": (
        '<joint_friction joint="hinge" law="stribeck" static="2" kinetic="1"/>',
        13,
        ["law stribeck needs a stribeck_speed"],
    ),
    "stribeck speed of zero": (
        '<joint_friction joint="hinge" law="stribeck" static="2" stribeck_speed="0"/>',
        13,
        ["stribeck_speed = 0", "above 0"],
    ),
    "stribeck speed of two states": (
        '<joint_friction joint="hinge" static="2" stribeck_speed="0.1"/>',
        13,
        ["law two_state has no stribeck_speed", "stribeck or lugre"],
    ),
    "lugre without bristles": (
        '<joint_friction joint="hinge" law="lugre" static="2" stribeck_speed="0.1"/>',
        13,
        ["law lugre needs a bristle_stiffness"],
    ),
    "lugre without a level": (
        '<joint_friction joint="hinge" law="lugre" static="2" kinetic="0" stribeck_speed="1" bristle_stiffness="1"/>',
        13,
        ["levels above 0"],
    ),
    "bristles of stribeck": (
        '<joint_friction joint="hinge" law="stribeck" static="2" stribeck_speed="0.1" bristle_damping="3"/>',
        13,
        ["law stribeck has no bristle_damping"],
    ),
    "negative viscosity": (
        '<joint_friction joint="hinge" static="2" viscous="-1"/>',
        13,
        ["viscous = -1", "0 or more"],
    ),
    "friction of a floating joint": ('<joint_friction joint="free" static="1"/>', 13, ["'free' is floating"]),
    "unknown mode": ('<servo_drive joint="hinge" mode="speed"/>', 13, ["'speed'", "effort, position, velocity"]),
    "position drive without stiffness": ('<servo_drive joint="hinge" mode="position"/>', 13, ["needs a stiffness"]),
    "velocity drive without damping": ('<servo_drive joint="hinge" mode="velocity"/>', 13, ["needs a damping"]),
    "drive of a fixed joint": ('<servo_drive joint="glue" mode="effort" effort_limit="1"/>', 13, ["'glue' is fixed"]),
    "drive of a mimic": ('<servo_drive joint="follower" mode="effort" effort_limit="1"/>', 13, ["mimics 'hinge'"]),
    "ball joint of a hinge": ('<spherical_joint joint="hinge"/>', 13, ["'hinge' is revolute", 'type="floating"']),
    "two ball joints": ('<spherical_joint joint="free"/>\n<spherical_joint joint="free"/>', 14, ["joint 'free'"]),
    "torque below zero": ('<spherical_joint joint="free" effort_limit="-1"/>', 13, ["effort_limit = -1 N m"]),
    "drive of a ball joint": (
        '<spherical_joint joint="free"/><servo_drive joint="free" mode="effort" effort_limit="1"/>',
        13,
        ["'free' is spherical"],
    ),
    "torque of a valve's name": (
        HYDRAULICS.replace('"v"', '"free/y"') + '\n<spherical_joint joint="free" effort_limit="1"/>',
        15,
        ["named 'free/y'", "commands go by name"],
    ),
    "start of a mimic": ('<initial_position joint="follower" position="0"/>', 13, ["mimics 'hinge'"]),
    "start beyond the limit": ('<initial_position joint="hinge" position="1.5"/>', 13, ["position = 1.5", "-1 to 1"]),
    "density beside inertial": ('<density link="base" value="1"/>', 13, ["has an <inertial> already"]),
    "density of nothing": ('<density link="plate" value="1"/>', 13, ["no collision shape to fill"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_elements_are_refused_with_line_and_reason(tmp_path, name):
    content, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content)
    error = caught.value
    assert error.file == str(tmp_path / "robot.urdf")
    assert error.line == line
    assert error.element is not None
    for word in words:
        assert word in str(error)


def test_spherical_joint_with_torque_drives(tmp_path):
    machine = load(
        tmp_path, '<spherical_joint joint="free" effort_limit="5" damping="0.2" rpy="0 0 1.5707963267948966"/>'
    )
    joint = machine.joints[-1]
    assert (joint.name, joint.type, joint.damping) == ("free", "spherical", 0.2)
    assert machine.spherical_joints == (SphericalJoint("free", 5.0, 0.2, (0.0, 0.0, 1.5707963267948966)),)
    assert machine.drives == tuple(ServoDrive(f"free/{axis}", "effort", 0.0, 0.0, 5.0) for axis in "xyz")
    ball = link_poses(machine, initial_positions(machine))["ball"]
    assert ball.quaternion == pytest.approx((0.0, 0.0, 0.5**0.5, 0.5**0.5))
    assert load(tmp_path, '<spherical_joint joint="free"/>').drives == ()


def test_servo_drive_requires_an_effort_limit(tmp_path):
    path = tmp_path / "robot.urdf"
    text = MACHINE.format('<servo_drive joint="hinge" mode="effort"/>').replace(' effort="100"', "")
    path.write_text(text)
    with pytest.raises(MachineError, match="give effort_limit here"):
        grouser.load_machine(path)
    path.write_text(text.replace('mode="effort"', 'mode="effort" effort_limit="7"'))
    assert grouser.load_machine(path).drives[0].effort_limit == 7.0


def test_valve_and_drive_with_one_command_name_are_refused(tmp_path):
    content = HYDRAULICS.replace('"v"', '"hinge"') + '<servo_drive joint="hinge" mode="effort"/>'
    with pytest.raises(MachineError, match="commands go by name"):
        load(tmp_path, content)


# flexible links, their sections, shovels, tracks, wheels and sensors are written otherwise than they are kept
WRITTEN = (WrittenFlexibleLink, WrittenSection, WrittenSensor, WrittenShovel, WrittenTrack, WrittenWheel)


def every_kind() -> list[ElementKind]:
    return [kind for element in ELEMENTS for kind in (element, *element.parts)]


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.tag)
def test_rows_of_the_table_match_their_dataclasses(kind):
    fields = {field.name for field in dataclasses.fields(kind.build)}
    own = {attribute.name for attribute in kind.attributes if attribute.kind is not Kind.ALONG}
    assert fields == own | {part.tag for part in kind.parts}
    for attribute in kind.attributes:
        assert attribute.description and attribute.unit
        assert attribute.required or attribute.default is not None or attribute.default_text
        assert (attribute.kind is Kind.CHOICE) == bool(attribute.choices)
    if kind.field and not kind.consumed:
        assert kind.field in {field.name for field in dataclasses.fields(Machine)}
    assert kind.consumed == (kind.build in (Density, ContactPoints))
    if not kind.consumed and kind.build not in WRITTEN:
        assert kind.build.__module__.startswith(f"{data.__name__}.")


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.tag)
def test_defaults_are_within_their_ranges(kind):
    for attribute in kind.attributes:
        if attribute.kind in (Kind.NUMBER, Kind.COUNT, Kind.DIRECTIONAL) and attribute.default is not None:
            assert attribute.minimum is None or attribute.default >= attribute.minimum
            assert attribute.maximum is None or attribute.default <= attribute.maximum


def test_urdf_extension_page_is_up_to_date():
    page = (ROOT / "docs" / "urdf_extension.md").read_text(encoding="utf-8")
    remedy = "run: python -m grouser.docs_pages.urdf_extension > docs/urdf_extension.md"
    assert page == extension_page(), remedy
