"""The elements <flexible_link>, <section> and <strain_gauge>: their values, and what is refused."""

import math

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.compliance import BeamSection
from grouser.physics.description.data.sensors import StrainGauge

INERTIAL = '<inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
# The <grouser> element starts in line 7, its content in line 8.
MACHINE = """<robot name="r"><link name="world"/>
<link name="base">{inertial}</link><joint name="feet" type="fixed"><parent link="world"/><child link="base"/></joint>
<link name="boom">{own}</link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="boom"/><axis xyz="0 1 0"/></joint>
<link name="hand">{inertial}</link>
<joint name="wrist" type="continuous"><parent link="boom"/><child link="hand"/><origin xyz="{at} 0 0"/></joint>
<grouser>
{content}
</grouser></robot>
"""
ALUMINIUM = 'modulus="70e9" shear_modulus="26e9" density="2700"'
BOOM = f'<flexible_link link="boom" discretisation="bezier" size="4" length="2" diameter="0.05" {ALUMINIUM}/>'


def load(tmp_path, content, own="", at=2):
    path = tmp_path / "robot.urdf"
    path.write_text(MACHINE.format(inertial=INERTIAL, own=own, at=at, content=content))
    return grouser.load_machine(path)


def inertial(mass, centre, ixx, iyy, izz, ixy=0.0):
    return (
        f'<inertial><origin xyz="{centre} 0 0"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}"/></inertial>'
    )


def boom(more, size="4", discretisation="bezier", section='diameter="0.05"', material=ALUMINIUM, inner=None):
    end = "/>" if inner is None else f">{inner}</flexible_link>"
    return (
        f'<flexible_link link="boom" discretisation="{discretisation}" size="{size}" length="2" {section} {material} '
        f"{more}{end}"
    )


ROUND = BeamSection(0.0, math.pi * 0.05**2 / 4, math.pi * 0.05**4 / 64, math.pi * 0.05**4 / 64, math.pi * 0.05**4 / 32)


def test_defaults_and_mass_of_a_round_bar(tmp_path):
    machine = load(tmp_path, BOOM)
    (link,) = machine.flexible_links
    (section,) = link.sections
    assert vars(section) == pytest.approx(vars(ROUND), rel=1e-14)
    assert (link.axial, link.torsion, link.bending, link.modes, link.coupling) == (1, 1, "both", None, "first_order")
    assert link.bending_stiffness_y == pytest.approx(70e9 * ROUND.second_moment_y, rel=1e-14)
    assert link.torsional_stiffness == pytest.approx(26e9 * ROUND.torsion_constant, rel=1e-14)
    own = next(one for one in machine.links if one.name == "boom").inertial
    mass, radius = 2700 * 2 * ROUND.area, 0.025
    across = mass * (3 * radius**2 + 4.0) / 12
    assert own.mass == pytest.approx(mass, rel=1e-13)
    assert own.pose.position == pytest.approx((1.0, 0.0, 0.0), abs=1e-14)
    assert own.inertia == pytest.approx((mass * radius**2 / 2, 0, 0, across, 0, across), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("written", "area", "about_y", "about_z", "torsion"),
    [
        ('diameter="0.05" wall="0.01"', math.pi * (0.05**2 - 0.03**2) / 4, None, None, None),
        # Timoshenko and Goodier, art. 109: J = 0.229 b h3 of a rectangle of sides two to one, 0.1406 of a square
        ('width="0.1" height="0.2"', 0.02, 0.1 * 0.2**3 / 12, 0.2 * 0.1**3 / 12, 0.2287 * 0.2 * 0.1**3),
        ('width="0.1" height="0.1"', 0.01, 0.1**4 / 12, 0.1**4 / 12, 0.1406 * 0.1**4),
        # Bredt: 4 A2 t / U of the middle line
        (
            'width="0.11" height="0.21" wall="0.01"',
            *(
                0.11 * 0.21 - 0.09 * 0.19,
                (0.11 * 0.21**3 - 0.09 * 0.19**3) / 12,
                (0.21 * 0.11**3 - 0.19 * 0.09**3) / 12,
            ),
            4 * (0.1 * 0.2) ** 2 * 0.01 / 0.6,
        ),
        ('area="1e-3" second_moment_z="2e-6"', 1e-3, 2e-6, 2e-6, 4e-6),
        ('area="1e-3" second_moment_y="1e-6" second_moment_z="2e-6"', 1e-3, 1e-6, 2e-6, 3e-6),
        ('area="1e-3" second_moment_y="1e-6" torsion_constant="5e-7"', 1e-3, 1e-6, 1e-6, 5e-7),
    ],
)
def test_sections_by_their_dimensions(tmp_path, written, area, about_y, about_z, torsion):
    (section,) = load(tmp_path, boom("", section=written)).flexible_links[0].sections
    ring = math.pi * (0.05**4 - 0.03**4) / 64
    assert section.area == pytest.approx(area, rel=1e-12)
    assert section.second_moment_y == pytest.approx(ring if about_y is None else about_y, rel=1e-12)
    assert section.second_moment_z == pytest.approx(ring if about_z is None else about_z, rel=1e-12)
    # the tables have four digits
    assert section.torsion_constant == pytest.approx(2 * ring if torsion is None else torsion, rel=4e-4)


def test_list_of_sections_with_a_step(tmp_path):
    inner = (
        '<section at="0" diameter="0.1"/><section at="0.5" diameter="0.06"/><section at="0.5" diameter="0.05"/>'
        '<section at="1.5" diameter="0.04"/>'
    )
    (link,) = load(tmp_path, boom("", section="", inner=inner)).flexible_links
    area = np.pi / 4 * np.array([0.1, 0.06, 0.05, 0.04]) ** 2
    found = link.sections_at(np.array([0.0, 0.25, 0.5 - 1e-12, 0.5 + 1e-12, 1.0, 1.5, 1.9]))[:, 0]
    middle = 0.5 * (area[:-1] + area[1:])
    assert found == pytest.approx([area[0], middle[0], area[1], area[2], middle[2], area[3], area[3]], rel=1e-10)
    assert link.smooth_pieces.tolist() == [0.0, 0.5, 1.5, 2.0]


def test_density_from_the_mass(tmp_path):
    mass, radius = 10.0, 0.025
    across = mass * (3 * radius**2 + 4.0) / 12
    own = inertial(mass, 1.005, mass * radius**2 / 2, 1.005 * across, 0.995 * across)
    material = 'modulus="70e9" shear_modulus="26e9"'
    (link,) = load(tmp_path, boom("", material=material), own).flexible_links
    assert link.density == pytest.approx(mass / (2 * ROUND.area), rel=1e-12)


def test_earlier_names(tmp_path):
    content = boom('damping_time="1e-4"').replace("discretisation=", "method=")
    (link,) = load(tmp_path, content).flexible_links
    assert (link.discretisation, link.damping) == ("bezier", 1e-4)


def test_length_reaches_to_the_last_joint(tmp_path):
    (link,) = load(tmp_path, BOOM.replace('length="2"', 'xyz="0.5 0 0"'), at=1.75).flexible_links
    assert link.length == pytest.approx(1.25, rel=1e-15)


def test_places_along_the_axis_are_points_of_the_link(tmp_path):
    """The axis starts at (0.5, 0, 0) and goes along y."""
    turned = BOOM.replace('length="2"', f'length="2" xyz="0.5 0 0" rpy="0 0 {math.pi / 2}"')
    loop = '<loop_joint name="c" type="spherical"><parent link="base"/><child link="boom" at="0.5"/></loop_joint>'
    sensors = "".join(
        f'<{tag} name="{name}" link="boom" {place}/>'
        for tag, name, place in [
            ('sensor type="imu"', "a", 'at="0"'),
            ("lidar_3d", "b", 'at="0.25"'),
            ("depth_camera", "d", 'at="2"'),
            ("gnss_receiver", "e", 'at="1" xyz="0.6 1 0.1"'),
        ]
    )
    cylinder = CYLINDER.replace('xyz="{} 0 0"', 'at="0.75"')
    machine = load(tmp_path, turned + loop + sensors + cylinder, at=0)
    found = [
        machine.loop_joints[0].child,
        machine.sensors[0],
        machine.lidars_3d[0],
        machine.depth_cameras[0],
        machine.gnss_receivers[0],
        machine.cylinders[0].rod,
    ]
    places = [(0.5, 0.5, 0), (0.5, 0, 0), (0.5, 0.25, 0), (0.5, 2, 0), (0.6, 1, 0.1), (0.5, 0.75, 0)]
    assert np.array([one.xyz for one in found]) == pytest.approx(np.array(places, dtype=float), abs=1e-15)


def test_rigid_elements_take_sections(tmp_path):
    inner = '<section at="0" diameter="0.1"/><section at="2" diameter="0.05"/>'
    (link,) = load(tmp_path, boom("", discretisation="rigid_elements", section="", inner=inner)).flexible_links
    assert len(link.sections) == 2


@pytest.mark.parametrize(
    ("more", "at", "carries"),
    [
        ("", 2, True),
        ("", 1.9, False),
        ('end_loads="false"', 2, False),
        ('end_loads="true"', 1.9, True),
    ],
)
def test_modes_have_the_shapes_of_loads_at_an_end_that_carries_something(tmp_path, more, at, carries):
    (link,) = load(tmp_path, boom(more, discretisation="assumed_modes"), at=at).flexible_links
    assert link.end_loads is carries
    loop = LOOP.format("boom", 'at="2"')
    (link,) = load(tmp_path, boom(more, discretisation="assumed_modes") + loop, at=1.9).flexible_links
    assert link.end_loads is ("false" not in more)
    (link,) = load(tmp_path, boom(""), at=at).flexible_links
    assert not link.end_loads


def test_strain_gauge(tmp_path):
    gauge = '<strain_gauge name="g" link="boom" at="0.5" y="0.025"/>'
    assert load(tmp_path, BOOM + gauge).strain_gauges == (StrainGauge("g", "boom", 0.5, 0.025, 0.0),)


MASS, RADIUS = 2700 * 2 * math.pi * 0.025**2, 0.025
POLAR, ACROSS = MASS * RADIUS**2 / 2, MASS * (3 * RADIUS**2 + 4.0) / 12
GAUGE = '\n<strain_gauge name="{}" link="{}" at="{}"/>'
WHEEL = '\n<wheel link="boom" radius="0.3" width="0.1"/>'
CYLINDER = (
    '\n<fluid density="850" bulk_modulus="1.4e9"/><pump supply_pressure="18e6"/>'
    '<directional_valve name="v" spool_diameter="0.006" spool_travel="0.0002"/>'
    '<cylinder name="lift" valve="v" bore="0.08" rod_diameter="0.045" stroke="2" retracted_length="0.7" piston_mass="6"'
    ' dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">'
    '<barrel link="base" xyz="0 0 -1"/><rod link="boom" xyz="{} 0 0"/></cylinder>'
)
LOOP = '\n<loop_joint name="c" type="spherical"><parent link="base"/><child link="{}" {}/></loop_joint>'
IMU = '\n<sensor type="imu" name="top" link="{}" {}/>'
LEAST = {"assumed_modes": 1, "finite_elements": 1, "bezier": 2, "b_spline": 1, "rigid_elements": 1}
# What is positive, beside what it is given.
POSITIVE = {
    "modulus": 'diameter="0.05"',
    "shear_modulus": 'diameter="0.05" modulus="7e10"',
    "density": 'diameter="0.05" modulus="7e10"',
    "diameter": "",
    "width": 'height="1"',
    "height": 'width="1"',
    "wall": 'diameter="0.05"',
    "area": 'second_moment_y="1"',
    "second_moment_y": 'area="1"',
    "second_moment_z": 'area="1"',
    "torsion_constant": 'area="1" second_moment_y="1"',
}
# Content, the <inertial> of the boom, the place of the wrist; words of the message.
BAD = {
    "no discretisation": (BOOM.replace('discretisation="bezier"', ""), "", 2, ["'discretisation' is missing"]),
    "two discretisations": (BOOM.replace("size", 'method="bezier" size'), "", 2, ["given twice", "as method"]),
    "two dampings": (boom('damping="1" damping_time="1"'), "", 2, ["damping is given twice", "as damping_time"]),
    **{
        f"size of {name}": (boom("", str(least - 1), name), "", 2, [f"size = {least - 1}", f"{least} "])
        for name, least in LEAST.items()
    },
    **{
        f"{name} of {value}": (
            *(boom(f'{name}="{value}"', "4", "bezier", beside, ""), "", 2),
            [f"{name} = {value}", "above 0"],
        )
        for value in (-2, 0)
        for name, beside in POSITIVE.items()
    },
    "end loads of others": (boom('end_loads="true"'), "", 2, ["end_loads is given for bezier", "assumed_modes"]),
    "length of zero": (BOOM.replace('length="2"', 'length="0"'), "", 2, ["length = 0", "above 0"]),
    "no length, no child ahead": (BOOM.replace('length="2"', ""), "", 0, ["'boom' has no length", "no joint on it"]),
    "no length, a child behind": (BOOM.replace('length="2"', ""), "", -1, ["'boom' has no length", "no joint on it"]),
    "joint before the start": (BOOM, "", -0.5, ["joint 'wrist'", "-0.5 m", "before its start", "from 0 m"]),
    "sensor before the start": (
        BOOM + IMU.format("boom", 'xyz="-0.2 0 0"'),
        "",
        2,
        ["sensor 'top'", "-0.2 m"],
    ),
    "sensor beyond the end": (BOOM + IMU.format("boom", 'xyz="2.2 0 0"'), "", 2, ["sensor 'top'", "2.2 m", "of 2 m"]),
    "sensor at a place beyond": (BOOM + IMU.format("boom", 'at="2.2"'), "", 2, ["at = 2.2 m", "'boom'", "0 to 2 m"]),
    "sensor at a place before": (BOOM + IMU.format("boom", 'at="-1"'), "", 2, ["at = -1 m", "'boom'", "0 to 2 m"]),
    "sensor at two places": (BOOM + IMU.format("boom", 'at="1" xyz="1.5 0 0"'), "", 2, ["at = 1 m", "1.5 m", "'boom'"]),
    "sensor along a rigid link": (BOOM + IMU.format("hand", 'at="1"'), "", 2, ["at = 1 m", "'hand' is not flexible"]),
    "loop joint at a place beyond": (BOOM + LOOP.format("boom", 'at="3"'), "", 2, ["at = 3 m", 'name="c"', "0 to 2 m"]),
    "loop joint at a point beyond": (BOOM + LOOP.format("boom", 'xyz="3 0 0"'), "", 2, ["loop joint 'c'", "3 m"]),
    "loop joint before the start": (BOOM + LOOP.format("boom", 'xyz="-1 0 0"'), "", 2, ["loop joint 'c'", "-1 m"]),
    "cylinder at a place beyond": (
        *(BOOM + CYLINDER.replace('xyz="{} 0 0"', 'at="2.5"'), "", 2),
        ["at = 2.5 m", 'name="lift"', "0 to 2 m"],
    ),
    "cylinder before the start": (BOOM + CYLINDER.format(-0.3), "", 2, ["cylinder 'lift'", "-0.3 m"]),
    "degree too low": (boom("", size="1"), "", 2, ["size = 1 of bezier", "2 to 20"]),
    "degree too high": (boom("", size="21"), "", 2, ["size = 21 of bezier", "2 to 20"]),
    "too many modes": (boom("", size="41", discretisation="assumed_modes"), "", 2, ["size = 41", "1 to 40"]),
    "too many coordinates": (
        *(boom("", size="40", discretisation="finite_elements"), "", 2),
        ["162 elastic coordinates", "up to 64", 'modes="64"'],
    ),
    "more modes than coordinates": (boom('modes="9"'), "", 2, ["modes = 9 of 8"]),
    "no modulus": (boom("", material='density="2700"'), "", 2, ["modulus is missing"]),
    "modulus of zero": (boom("", material='modulus="0" density="1"'), "", 2, ["modulus = 0", "above 0"]),
    "negative area": (boom("", section='area="-1" second_moment_y="1"'), "", 2, ["area = -1", "above 0"]),
    "no section": (boom("", section=""), "", 2, ["a cross section is missing beside modulus"]),
    "nothing": (boom("", section="", material=""), "", 2, ["given nowhere", "modulus and a cross section"]),
    "two sections": (boom("", section='diameter="0.1" width="1"'), "", 2, ["given in two ways"]),
    "half a rectangle": (boom("", section='width="1"'), "", 2, ["height is missing beside width"]),
    "area alone": (boom("", section='area="1"'), "", 2, ["second_moment_y or second_moment_z is missing"]),
    "wall too thick": (boom("", section='diameter="0.1" wall="0.05"'), "", 2, ["wall = 0.05", "below 0.05"]),
    "section twice": (boom("", inner='<section at="0" diameter="1"/>'), "", 2, ["by attributes and by <section>"]),
    "section beyond": (boom("", section="", inner='<section at="3" diameter="1"/>'), "", 2, ["at = 3 m is beyond"]),
    "sections in disorder": (
        boom("", section="", inner='<section at="1" diameter="1"/><section at="0.5" diameter="1"/>'),
        *("", 2, ["at = 0.5 m is before", "1 m"]),
    ),
    "three at one place": (
        *(boom("", section="", inner='<section at="1" diameter="1"/>' * 3), "", 2),
        ["three sections are at 1 m"],
    ),
    "stiffness of modes": (boom('bending_stiffness_y="1"'), "", 2, ["bending_stiffness_y is given for bezier"]),
    "modes of rigid elements": (
        *(boom('modes="3"', discretisation="rigid_elements"), "", 2),
        ["modes is given for rigid_elements"],
    ),
    "twist without shear modulus": (
        *(boom("", material='modulus="7e10" density="2700"'), "", 2),
        ["torsion = 1 without shear_modulus", 'torsion="0"'],
    ),
    "no mass": (boom("", material='modulus="7e10" shear_modulus="3e10"'), "", 2, ["'boom' has no mass"]),
    "another mass": (
        *(BOOM, inertial(1.02 * MASS, 1, POLAR, ACROSS, ACROSS), 2),
        [f"{1.02 * MASS:.4g}"[:4], f"{MASS:.6g}", "within 1 %"],
    ),
    "another centre": (BOOM, inertial(MASS, 1.03, POLAR, ACROSS, ACROSS), 2, ["centre of mass at 1.03 0 0", "1 0 0"]),
    "another inertia": (BOOM, inertial(MASS, 1, POLAR, 1.02 * ACROSS, ACROSS), 2, ["moments", f"{ACROSS:.6g}"]),
    "another polar inertia": (BOOM, inertial(MASS, 1, 1.02 * POLAR, ACROSS, ACROSS), 2, ["moments", f"{POLAR:.6g}"]),
    "a product of inertia": (BOOM, inertial(MASS, 1, POLAR, ACROSS, ACROSS, 0.002), 2, ["moments of inertia"]),
    "joint beyond the end": (BOOM, "", 2.01, ["joint 'wrist'", "2.01 m", "length of 2 m", "rigid link"]),
    "cylinder beyond the end": (BOOM + CYLINDER.format(2.5), "", 2, ["cylinder 'lift'", "2.5 m", "length of 2 m"]),
    "wheel": (BOOM + WHEEL, "", 2, ["a <wheel> cannot be on flexible link 'boom'"]),
    "gauge beyond the end": (BOOM + GAUGE.format("g", "boom", 2.5), "", 2, ["at = 2.5 m", "at 2 m"]),
    "gauge on a rigid link": (BOOM + GAUGE.format("g", "hand", 1), "", 2, ["'hand' is not flexible"]),
    "gauge on rigid elements": (
        boom("", discretisation="rigid_elements") + GAUGE.format("g", "boom", 1),
        *("", 2, ["divided into rigid elements"]),
    ),
    "gauge with the name of a link": (BOOM + GAUGE.format("hand", "boom", 1), "", 2, ["'hand' is that of a link"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_are_refused_with_element_name_and_numbers(tmp_path, name):
    content, own, at, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content, own, at)
    assert caught.value.line in (8, 9)
    assert caught.value.element is not None
    for word in words:
        assert word in str(caught.value)
