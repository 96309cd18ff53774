"""Elements <loop_joint>, <compliant_joint>, <flexible_link> and <integrator>."""

import math
from pathlib import Path

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.compliance import (
    PAIR_TYPES,
    CompliantJoint,
    FlexibleLink,
    JointFrame,
    LoopJoint,
    constrained_directions,
)
from grouser.physics.description.data.mechanism import Integrator
from grouser.physics.description.data.pose import AXES

LOOPS_AND_SPRINGS = Path(__file__).parents[1] / "data" / "machines" / "loops_and_springs.urdf"

# The <grouser> element starts in line 13, its content in line 14.
MACHINE = """<robot name="r">
<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><limit lower="-1" upper="1"/></joint>
<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="rail" type="prismatic"><parent link="arm"/><child link="tip"/><limit lower="-1" upper="1"/></joint>
<link name="head"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="neck" type="fixed"><parent link="tip"/><child link="head"/></joint>
<link name="ball"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="free" type="floating"><parent link="base"/><child link="ball"/></joint>
<link name="puck"/><joint name="follower" type="continuous"><parent link="arm"/><child link="puck"/>
<mimic joint="hinge"/></joint>
<grouser>
{}
</grouser></robot>
"""


def load(tmp_path, content):
    path = tmp_path / "robot.urdf"
    path.write_text(MACHINE.format(content))
    return grouser.load_machine(path)


def loop(type_, more="", name="l", parent="base", child="tip"):
    return (
        f'<loop_joint name="{name}" type="{type_}" {more}>'
        f'<parent link="{parent}" xyz="1 2 3" rpy="0.1 0.2 0.3"/><child link="{child}"/></loop_joint>'
    )


@pytest.mark.parametrize("type_", PAIR_TYPES)
@pytest.mark.parametrize("axis", AXES)
def test_constrained_directions_of_loop_joint_types(type_, axis):
    """Number of free motions of each type and, for axis z, their directions, against textbook values."""
    free = {
        "spherical": ([], [0, 1, 2]),
        "revolute": ([], [2]),
        "prismatic": ([2], []),
        "cylindrical": ([2], [2]),
        "planar": ([0, 1], [2]),
        "fixed": ([], []),
    }[type_]
    # from z to x and y by the cyclic change of axes, which maps "normal to z" on "normal to x"
    turn = {"z": 0, "x": 1, "y": 2}[axis]
    for constrained, free_about_z in zip(constrained_directions(type_, axis), free, strict=True):
        expected = {(place + turn) % 3 for place in free_about_z}
        assert {place for place in range(3) if not constrained[place]} == expected


def test_rigid_loop_joint(tmp_path):
    assert load(tmp_path, loop("revolute")).loop_joints == (
        LoopJoint(
            "l",
            "revolute",
            "z",
            stiffness=None,
            damping=(0.0, 0.0, 0.0),
            rotational_stiffness=None,
            rotational_damping=(0.0, 0.0, 0.0),
            parent=JointFrame("base", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)),
            child=JointFrame("tip"),
        ),
    )


@pytest.mark.parametrize(
    ("type_", "axis", "translations", "rotations"),
    [
        ("spherical", "z", (5, 5, 5), None),
        ("revolute", "x", (5, 5, 5), (0, 7, 7)),
        ("prismatic", "y", (5, 0, 5), (7, 7, 7)),
        ("cylindrical", "z", (5, 5, 0), (7, 7, 0)),
        ("planar", "z", (0, 0, 5), (7, 7, 0)),
        ("fixed", "x", (5, 5, 5), (7, 7, 7)),
    ],
)
def test_loop_joint_stiffness_as_one_number(tmp_path, type_, axis, translations, rotations):
    more = f'axis="{axis}" stiffness="5" damping="0.5"'
    more += "" if rotations is None else ' rotational_stiffness="7" rotational_damping="0.7"'
    (joint,) = load(tmp_path, loop(type_, more)).loop_joints
    assert joint.stiffness == translations
    np.testing.assert_allclose(joint.damping, np.array(translations) / 10, rtol=1e-15)
    assert joint.rotational_stiffness == rotations
    np.testing.assert_allclose(joint.rotational_damping, np.array(rotations or (0, 0, 0)) / 10, rtol=1e-15)


def test_loop_joint_stiffness_as_three_numbers(tmp_path):
    spherical = 'stiffness="1 2 3" rotational_stiffness="0 4 5" rotational_damping="6 0 7"'
    (joint,) = load(tmp_path, loop("spherical", spherical)).loop_joints
    assert (joint.stiffness, joint.damping) == ((1, 2, 3), (0, 0, 0))
    assert (joint.rotational_stiffness, joint.rotational_damping) == ((0, 4, 5), (6, 0, 7))
    prismatic = 'axis="x" stiffness="9 2 3" damping="0 1 0"'
    (joint,) = load(tmp_path, loop("prismatic", prismatic)).loop_joints
    assert (joint.stiffness, joint.damping, joint.rotational_stiffness) == ((9, 2, 3), (0, 1, 0), None)
    # a damper alone along the free direction of a rigid pair
    (joint,) = load(tmp_path, loop("prismatic", 'damping="0 0 8"')).loop_joints
    assert (joint.stiffness, joint.damping) == (None, (0, 0, 8))


def test_loop_joint_across_compliant_or_flexible_links(tmp_path):
    across_neck = loop("spherical", parent="tip", child="head")
    with pytest.raises(MachineError, match="rigidly joined"):
        load(tmp_path, across_neck)
    assert load(tmp_path, across_neck + '<compliant_joint joint="neck" stiffness="1e6"/>').loop_joints
    assert load(tmp_path, across_neck + FLEXIBLE.replace("arm", "tip")).loop_joints


COMPLIANT = '<compliant_joint joint="{}" {}/>'


@pytest.mark.parametrize(
    ("joint", "translations", "rotations"),
    [("hinge", (5, 5, 5), (7, 7, 0)), ("rail", (5, 5, 0), (7, 7, 7)), ("neck", (5, 5, 5), (7, 7, 7))],
)
def test_compliant_joint_stiffness_as_one_number(tmp_path, joint, translations, rotations):
    more = 'stiffness="5" damping="0.5" rotational_stiffness="7" rotational_damping="0.7"'
    (found,) = load(tmp_path, COMPLIANT.format(joint, more)).compliant_joints
    assert (found.stiffness, found.rotational_stiffness) == (translations, rotations)
    np.testing.assert_allclose(found.damping, np.array(translations) / 10, rtol=1e-15)
    np.testing.assert_allclose(found.rotational_damping, np.array(rotations) / 10, rtol=1e-15)


def test_compliant_joint_directions_without_stiffness_are_rigid(tmp_path):
    more = 'rotational_stiffness="8 0 0" rotational_damping="2"'
    assert load(tmp_path, COMPLIANT.format("neck", more)).compliant_joints == (
        CompliantJoint("neck", (0, 0, 0), (0, 0, 0), (8, 0, 0), (2, 0, 0)),
    )
    more = 'stiffness="8 0 9" damping="2 0 0"'
    (found,) = load(tmp_path, COMPLIANT.format("neck", more)).compliant_joints
    assert (found.stiffness, found.damping) == ((8, 0, 9), (2, 0, 0))


def test_spring_along_the_coordinate_of_a_joint(tmp_path):
    none = (0.0, 0.0, 0.0)
    more = 'axial_stiffness="1" axial_damping="2" cubic_stiffness="3" rest_position="-4" backlash="5"'
    more += ' hysteresis="6" hysteresis_stiffness="7"'
    assert load(tmp_path, COMPLIANT.format("rail", more)).compliant_joints == (
        CompliantJoint("rail", none, none, none, none, 1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0),
    )
    for alone in (
        'cubic_stiffness="3" backlash="0.1"',
        'hysteresis="6" hysteresis_stiffness="7"',
        'axial_stiffness="1"',
    ):
        assert len(load(tmp_path, COMPLIANT.format("hinge", alone)).compliant_joints) == 1


FLEXIBLE = (
    '<flexible_link link="arm" discretisation="rigid_elements" size="3" length="2" bending_stiffness_y="10" '
    'bending_stiffness_z="20" torsional_stiffness="30"/>'
)
ROD = (
    '<flexible_link link="arm" discretisation="rigid_elements" size="3" length="2" modulus="2e11" shear_modulus="8e10" '
    'diameter="0.05" xyz="1 2 3" rpy="0 0.5 0" damping="0.01"/>'
)


def test_flexible_link_by_stiffnesses(tmp_path):
    zero = (0.0, 0.0, 0.0)
    assert load(tmp_path, FLEXIBLE).flexible_links == (
        FlexibleLink("arm", "rigid_elements", 3, zero, zero, 2.0, 10.0, 20.0, 30.0, 0.0),
    )


def test_flexible_link_as_round_rod(tmp_path):
    (rod,) = load(tmp_path, ROD).flexible_links
    # of a circle of radius r: I = pi r^4 / 4, I_p = pi r^4 / 2
    assert rod.bending_stiffness_y == rod.bending_stiffness_z == pytest.approx(2e11 * math.pi * 0.025**4 / 4, rel=1e-14)
    assert rod.torsional_stiffness == pytest.approx(8e10 * math.pi * 0.025**4 / 2, rel=1e-14)
    assert (rod.xyz, rod.rpy, rod.damping) == ((1, 2, 3), (0, 0.5, 0), 0.01)


@pytest.mark.parametrize("method", ["semi_implicit", "implicit_midpoint", "variational"])
def test_integrator_is_read(tmp_path, method):
    assert load(tmp_path, f'<integrator method="{method}"/>').integrator == Integrator(method)


def test_massless_link_on_compliant_fixed_joint_is_warned_of(tmp_path):
    text = MACHINE.replace(
        '<link name="head"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>',
        '<link name="head">',
    )
    path = tmp_path / "robot.urdf"
    path.write_text(text.format('<compliant_joint joint="neck" stiffness="1e6"/>'))
    assert any("massless moving link 'head'" in warning for warning in grouser.load_machine(path).warnings)
    path.write_text(text.format(""))
    assert not any("'head'" in warning for warning in grouser.load_machine(path).warnings)


def test_machine_with_all_kinds_of_compliance_loads():
    machine = grouser.load_machine(LOOPS_AND_SPRINGS)
    assert machine.warnings == ()
    (rocker_end,) = machine.loop_joints
    assert rocker_end.rotational_stiffness == (1e4, 5.0, 1e4)
    assert [compliance.joint for compliance in machine.compliant_joints] == ["mast_foot", "crank_pin"]
    assert machine.flexible_links[0].size == 4


def compliant(joint, more):
    return COMPLIANT.format(joint, more)


# Content of <grouser> (which starts in line 14), the line of the error, words of the message.
BAD = {
    "loop of unknown type": (loop("ball"), 14, ["'ball' is not valid", "valid: cylindrical, fixed, planar"]),
    "loop of unknown axis": (loop("revolute", 'axis="w"'), 14, ["axis = 'w'", "valid: x, y, z"]),
    "loop named as a joint": (loop("fixed", name="hinge"), 14, ["joint of the URDF is named 'hinge'", "go by name"]),
    "two loops of one name": (loop("fixed") + "\n" + loop("fixed"), 15, ["already a <loop_joint> with name 'l'"]),
    "loop without child": (loop("fixed").replace('<child link="tip"/>', ""), 14, ["<child> element is missing"]),
    "loop of an unknown link": (loop("fixed", parent="bass"), 14, ["<parent link", "did you mean 'base'?"]),
    "loop within a rigid part": (loop("fixed", parent="tip", child="head"), 14, ["'tip' and 'head'", "rigidly joined"]),
    "loop of a link with itself": (loop("fixed", parent="tip"), 14, ["'tip' and 'tip'", "rigidly joined"]),
    "loop turned by words": (loop("fixed").replace("0.1 0.2 0.3", "a b c"), 14, ["rpy = 'a b c'"]),
    "two numbers": (loop("fixed", 'stiffness="1 2"'), 14, ["stiffness = '1 2': 2 numbers", "one number, or three"]),
    "negative among three": (loop("fixed", 'stiffness="1 -2 3"'), 14, ["stiffness = -2 N/m", "0 or more"]),
    "too large among three": (loop("fixed", 'stiffness="1 1e16 3"'), 14, ["stiffness = 1e+16", "beyond 1e+15"]),
    "word among three": (loop("fixed", 'stiffness="1 x 3"'), 14, ["not a finite number"]),
    "loop without stiffness along x": (
        loop("fixed", 'stiffness="0 1 1"'),
        14,
        ["stiffness along x is 0", 'type="prismatic" axis="x"', "leave stiffness out for a rigid loop joint"],
    ),
    "loop without stiffness about z": (
        loop("fixed", 'rotational_stiffness="1 1 0"'),
        14,
        ["rotational_stiffness about z is 0", 'type="revolute" axis="z"', "leave rotational_stiffness out"],
    ),
    "revolute loop without stiffness along z": (
        loop("revolute", 'stiffness="1 1 0"'),
        14,
        ["stiffness along z is 0", 'type="cylindrical" axis="z"'],
    ),
    "revolute loop without stiffness about x": (
        loop("revolute", 'axis="y" rotational_stiffness="0 1 1"'),
        14,
        ["about x is 0", 'type="spherical", which'],
    ),
    "spherical loop without stiffness along y": (
        loop("spherical", 'stiffness="1 0 1"'),
        14,
        ["stiffness along y is 0", "(leave stiffness out"],
    ),
    "loop of no stiffness": (loop("spherical", 'stiffness="0"'), 14, ["stiffness along x is 0"]),
    "number for no direction": (
        loop("spherical", 'rotational_stiffness="5"'),
        14,
        ["rotational_stiffness = 5", "constrained directions", "spherical joint has none", "three numbers"],
    ),
    "damper for no direction": (loop("spherical", 'rotational_damping="5"'), 14, ["rotational_damping = 5", "none"]),
    "damper of a rigid loop": (
        loop("fixed", 'damping="5"'),
        14,
        ["damping along x is 5", "rigid", "give stiffness too"],
    ),
    "damper in one rigid direction": (loop("prismatic", 'damping="0 1 1"'), 14, ["damping along y is 1", "rigid"]),
    "damper of a rigid rotation": (
        loop("revolute", 'stiffness="1" rotational_damping="0 3 0"'),
        14,
        ["rotational_damping about y is 3", "rigid"],
    ),
    "compliance of nothing": (compliant("hinge", ""), 14, ["gives no elasticity"]),
    "compliance of zero": (compliant("neck", 'stiffness="0"'), 14, ["gives no elasticity"]),
    "compliance of an unknown joint": (compliant("hing", 'stiffness="1"'), 14, ["did you mean 'hinge'?"]),
    "compliance of a floating joint": (compliant("free", 'stiffness="1"'), 14, ["'free' is floating", "fixed or rev"]),
    "compliance of a mimic": (compliant("follower", 'axial_stiffness="1"'), 14, ["mimics 'hinge'"]),
    "compliance twice": (
        compliant("neck", 'stiffness="1"') + "\n" + compliant("neck", 'stiffness="2"'),
        15,
        ["already a <compliant_joint> with joint 'neck'"],
    ),
    "stiffness along a rail": (
        compliant("rail", 'stiffness="1 1 1"'),
        14,
        ["stiffness along z is 1", "joint 'rail' moves", "axial_stiffness"],
    ),
    "stiffness about a hinge": (
        compliant("hinge", 'rotational_stiffness="1 1 1"'),
        14,
        ["rotational_stiffness about z is 1", "axial_stiffness"],
    ),
    "damping about a hinge": (
        compliant("hinge", 'rotational_stiffness="1" rotational_damping="0 0 1"'),
        14,
        ["rotational_damping about z is 1", "axial_damping"],
    ),
    "damping of a rigid joint": (
        compliant("neck", 'rotational_stiffness="1" damping="1"'),
        14,
        ["damping is given without stiffness"],
    ),
    "damping in a rigid direction": (
        compliant("neck", 'stiffness="1 0 1" damping="0 2 0"'),
        14,
        ["damping along y is 2", "rigid"],
    ),
    "axial spring of a fixed joint": (
        compliant("neck", 'stiffness="1" axial_stiffness="1"'),
        14,
        ["axial_stiffness is given", "'neck' is fixed"],
    ),
    "backlash of a fixed joint": (
        compliant("neck", 'stiffness="1" backlash="1"'),
        14,
        ["backlash is given", "is fixed"],
    ),
    "hysteresis of a fixed joint": (
        compliant("neck", 'hysteresis="1" hysteresis_stiffness="1"'),
        14,
        ["hysteresis is given", "is fixed"],
    ),
    "backlash without spring": (compliant("hinge", 'backlash="0.1"'), 14, ["backlash is given without a spring"]),
    "axial damper without spring": (compliant("hinge", 'axial_damping="1"'), 14, ["axial_damping is given without"]),
    "rest without spring": (compliant("hinge", 'rest_position="1"'), 14, ["rest_position is given without"]),
    "hysteresis without slope": (compliant("hinge", 'hysteresis="1"'), 14, ["hysteresis_stiffness go together"]),
    "slope without hysteresis": (
        compliant("hinge", 'hysteresis_stiffness="1"'),
        14,
        ["hysteresis and hysteresis_stiffness go together"],
    ),
    "negative backlash": (compliant("hinge", 'axial_stiffness="1" backlash="-1"'), 14, ["backlash = -1"]),
    "flexible link by another method": (
        FLEXIBLE.replace("rigid_elements", "modal"),
        14,
        ["discretisation = 'modal'", "assumed_modes, b_spline, bezier, finite_elements, rigid_elements"],
    ),
    "no element": (FLEXIBLE.replace('"3"', '"0"'), 14, ["size = 0", "1 to 200"]),
    "too many elements": (FLEXIBLE.replace('"3"', '"201"'), 14, ["size = 201", "1 to 200"]),
    "half an element": (FLEXIBLE.replace('"3"', '"2.5"'), 14, ["size = 2.5 is not a whole number"]),
    "no length": (FLEXIBLE.replace('"2"', '"0"'), 14, ["length = 0 m", "above 0"]),
    "no stiffness": (
        FLEXIBLE.replace('bending_stiffness_y="10" bending_stiffness_z="20" torsional_stiffness="30"', ""),
        14,
        ["given nowhere", "either bending_stiffness_y", "or modulus"],
    ),
    "both ways": (FLEXIBLE.replace("/>", ' modulus="1e9"/>'), 14, ["given in two ways"]),
    "one stiffness missing": (
        FLEXIBLE.replace('torsional_stiffness="30"', ""),
        14,
        ["torsional_stiffness is missing beside bending_stiffness_y"],
    ),
    "diameter missing": (ROD.replace('diameter="0.05"', ""), 14, ["a cross section is missing beside modulus"]),
    "rod too thin": (ROD.replace("0.05", "1e-100"), 14, ["bending_stiffness_y = 0 N m2", "lengths are in metres"]),
    "rod too thick": (ROD.replace("0.05", "1e6"), 14, ["bending_stiffness_y", "at most 1e+15"]),
    "flexible link twice": (FLEXIBLE + "\n" + FLEXIBLE, 15, ["already a <flexible_link> with link 'arm'"]),
    "flexible link without mass": (FLEXIBLE.replace("arm", "puck"), 14, ["'puck' has no mass"]),
    "unknown flexible link": (FLEXIBLE.replace("arm", "arms"), 14, ["did you mean 'arm'?"]),
    "unknown integrator": (
        '<integrator method="euler"/>',
        14,
        ["method = 'euler'", "implicit_midpoint, semi_implicit, variational"],
    ),
    "integrator unsaid": ("<integrator/>", 14, ["'method' is missing"]),
    "two integrators": ('<integrator method="semi_implicit"/>\n' * 2, 15, ["already a <integrator>"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_elements_are_refused_with_line_and_reason(tmp_path, name):
    content, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content)
    assert caught.value.file == str(tmp_path / "robot.urdf")
    assert caught.value.line == line
    assert caught.value.element is not None
    for word in words:
        assert word in str(caught.value)
