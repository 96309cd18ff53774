"""Slips of the pen that other simulators read over are mended and told; what has no meaning is still refused."""

import re

import pytest

from grouser import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.shapes import Box

MASS = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def machine(link="", joint="", before=""):
    """A machine with parts of a link and of a joint as given."""
    return parse_machine(
        f"""{before}<robot name="r"><link name="base">{MASS}</link><link name="arm">{MASS}{link}</link>
        <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/>{joint}</joint></robot>""",
        "r.urdf",
    )


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def told(found, words):
    return [warning for warning in found.warnings if words in warning]


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ('<origin xyz="0.07, 0,-0.69" rpy="0 0 0"/>', "commas between the numbers of xyz"),
        ('<origin xyz="0.07 0 -0.69 5"/>', "more than three numbers in xyz"),
        ('<origin xyz="0.07 0 -0.69"/><origin xyz="1 2 3"/>', "more than one <origin>"),
    ],
)
def test_separators_and_surplus_numbers_and_elements_are_told(origin, words):
    found = machine(joint=origin + LIMIT)
    (joint,) = found.joints
    assert joint.pose.position == (0.07, 0.0, -0.69)
    (warning,) = told(found, words)
    assert "r.urdf:2: <origin>: joint 'elbow' has" in warning


def test_full_stops_after_numbers_are_left_out():
    found = machine(joint='<origin xyz="0.5. 1. .25."/><limit lower="-1.57." upper="1." effort="1" velocity="1"/>')
    (joint,) = found.joints
    assert joint.pose.position == (0.5, 1.0, 0.25) and (joint.limit.lower, joint.limit.upper) == (-1.57, 1.0)
    (warning,) = told(found, "has a full stop after a number")
    assert "r.urdf:2: <origin>: joint 'elbow' (xyz = '0.5. 1. .25.')" in warning and "lower = '-1.57.'" in warning


def test_first_of_two_axes_counts():
    found = machine(joint=f'<axis xyz="0 0 1"/><axis xyz="0 1 0"/>{LIMIT}')
    assert found.joints[0].axis == (0.0, 0.0, 1.0) and told(found, "more than one <axis>")


@pytest.mark.parametrize(
    "shape", ['<sphere radius="0.0"/>', '<box size="1 0 1"/>', '<cylinder radius="0" length="1"/>']
)
def test_visual_shapes_of_size_zero_are_left_out_and_others_refused(shape):
    other = '<visual><geometry><box size="1 2 3"/></geometry></visual>'
    found = machine(f"<visual><geometry>{shape}</geometry></visual>{other}", LIMIT)
    (kept,) = found.links[1].visuals
    assert kept.geometry == Box((1.0, 2.0, 3.0)) and told(found, "of size zero, which is not shown")
    with pytest.raises(MachineError, match="holds 0"):
        machine(f"<collision><geometry>{shape}</geometry></collision>", LIMIT)


def test_what_is_no_shape_in_a_geometry_is_left_out():
    found = machine('<visual><geometry><box size="1 1 1"/><material name="grey"/></geometry></visual>', LIMIT)
    assert len(found.links[1].visuals) == 1 and told(found, "<material> in a <geometry>")


def test_blank_lines_before_the_declaration_and_an_ending_null_do_no_harm():
    text = '<?xml version="1.0"?>\n'
    clean = machine(joint=LIMIT, before=text)
    late = machine(joint=LIMIT, before=f"\n  \n{text}")
    assert late.joints[0].line == clean.joints[0].line + 2
    assert parse_machine(f"{clean.source}\n\0", "r.urdf").links == clean.links


@pytest.mark.parametrize(
    ("link", "joint", "problem"),
    [
        ("", f'<origin xyz="1 2"/>{LIMIT}', "2 numbers where 3 are needed"),
        ("", f'<origin xyz="1,2,x"/>{LIMIT}', "not a finite number"),
        ("", f'<origin xyz="1 2 3 x"/>{LIMIT}', "4 numbers where 3 are needed"),
        ("<visual><geometry><cone/></geometry></visual>", LIMIT, "unknown shape <cone>"),
        ('<visual><geometry><sphere radius="-1"/></geometry></visual>', LIMIT, "radius holds -1"),
        (
            '<visual><geometry><sphere radius="1"/><box size="1 1 1"/></geometry></visual>',
            LIMIT,
            "holds 2 shapes, one is allowed",
        ),
        ("", '<limit lower="-1.5.7" upper="1"/>', "lower = '-1.5.7' is not a number"),
    ],
)
def test_what_has_no_meaning_is_refused(link, joint, problem):
    with pytest.raises(MachineError, match=problem):
        machine(link, joint)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("<!-- copyright --><?xml version='1.0'?>", "let the file begin with <?xml"),
        ("<!-- arm -- left -->", "a comment holds no --"),
    ],
)
def test_text_that_is_no_xml_is_refused_with_its_remedy(before, words):
    with pytest.raises(MachineError, match=re.escape(words)):
        machine(joint=LIMIT, before=before)


def test_material_with_a_texture_is_defined():
    visual = '<visual><geometry><box size="1 1 1"/></geometry>{}</visual>'
    texture = '<material name="wood"><texture filename="wood.png"/></material>'
    link = visual.format('<material name="wood"/>') + visual.format(texture)
    assert not told(machine(link, LIMIT), "nowhere defined")
    assert told(machine(visual.format('<material name="wood"/>'), LIMIT), "nowhere defined")


@pytest.mark.parametrize(
    ("link", "joint", "words"),
    [
        ('<collisionn><geometry><sphere radius="1"/></geometry></collisionn>', LIMIT, "link 'arm' has <collisionn>"),
        (
            "",
            f'<originn xyz="0 0 1"/>{LIMIT}',
            "<originn>: joint 'elbow' has <originn>, which is not read: is <origin> meant",
        ),
        ("", f'<origin xzy="0 0 1"/>{LIMIT}', "has xzy in <origin>, which is not read: is xyz meant"),
        ("", '<limit lowr="-1" upper="1"/>', "has lowr in <limit>, which is not read: is lower meant"),
        ("", f'{LIMIT}<dynamics dampng="2"/>', "is damping meant"),
        ("", f'{LIMIT}<mimic joint="none" multiplierr="2"/>', "is multiplier meant"),
        ("", f"{LIMIT}<Axis/>", "is <axis> meant"),
    ],
)
def test_misspelt_names_are_told(link, joint, words):
    assert told(machine(link, joint), words)


def test_names_of_other_programs_are_not_told():
    shape = (
        '<visual><geometry><box size="1 1 1"/></geometry></visual><verbose value="1"/><contact_coefficients mu="1"/>'
    )
    extra = '<limit lower="-1" upper="1" effort="1" velocity="1" acceleration="3" jerk="1"/><safety_controller/>'
    assert not told(machine(shape, f"{extra}<calibration/><transmission/><drake:limit/>"), "is not read")
