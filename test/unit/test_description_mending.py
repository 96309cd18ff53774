"""Faults of other programs' files that do no harm are mended and told once; what physics forbids is refused."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.mechanism import JointLimit

INERTIA = '<inertial>{origin}<mass value="{mass}"/><inertia {entries}/></inertial>'
UNIT = 'ixx="1" iyy="1" izz="1"'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'


def link(name, entries=UNIT, mass=1, origin=""):
    return f'<link name="{name}">{INERTIA.format(origin=origin, mass=mass, entries=entries)}</link>'


def joint(name, parent, child, type="revolute", more=LIMIT):
    return f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def load(folder, *parts):
    path = folder / "robot.urdf"
    path.write_text("\n".join(['<robot name="r">', *parts, "</robot>"]))
    return grouser.load_machine(path, base="fixed")


def chain(count, *joints):
    """Links a, b, c, ... and the joints between them."""
    return [link(name) for name in "abcdefghijkl"[:count]] + list(joints)


def test_mimic_on_a_fixed_joint_is_told_and_the_joint_stays_fixed(tmp_path):
    mimic = '<mimic joint="j" multiplier="-1"/>'
    machine = load(tmp_path, *chain(3, joint("j", "a", "b"), joint("k", "b", "c", "fixed", mimic)))
    assert machine.joints[1].type == "fixed" and machine.joints[1].mimic is None
    [warning] = machine.warnings
    assert warning == (
        f"{tmp_path / 'robot.urdf'}:6: <mimic joint=\"j\">: joint 'k' is fixed and cannot mimic another one: "
        "it stays as it is"
    )
    assert grouser.Simulation(machine, grouser.World(ground=None)).machine.joints[1].mimic is None


@pytest.mark.parametrize(
    ("type", "leader", "told"),
    [
        ("floating", "j", "is floating and cannot mimic another one: it moves by itself"),
        ("planar", "j", "is planar and cannot mimic another one: it moves by itself"),
        ("revolute", "nothing", "mimics a joint that does not exist: it moves by itself"),
        ("revolute", "hold", "mimics a joint that is fixed: it moves by itself"),
    ],
)
def test_joint_that_cannot_mimic_moves_by_itself(tmp_path, type, leader, told):
    follower = joint("k", "b", "c", type, f'{LIMIT}<mimic joint="{leader}"/>')
    machine = load(tmp_path, *chain(4, joint("j", "a", "b"), follower, joint("hold", "c", "d", "fixed", "")))
    assert machine.joints[1].mimic is None
    [warning] = machine.warnings
    assert f"robot.urdf:7: <mimic joint=\"{leader}\">: joint 'k' {told}" in warning


def test_a_kind_of_fault_is_told_once(tmp_path):
    names = "bcdefghijkl"
    fixed = [joint(f"to_{name}", "a", name, "fixed", '<mimic joint="x"/>') for name in names]
    [warning] = load(tmp_path, *chain(12, *fixed)).warnings
    assert "joint 'to_b' is fixed" in warning
    assert "(likewise joint 'to_c', joint 'to_d', joint 'to_e', joint 'to_f', joint 'to_g' and 5 more)" in warning


@pytest.mark.parametrize(
    ("mass", "entries"),
    [
        (1.3, 'ixx="0" iyy="0" izz="0" ixz="2.4e-35"'),
        (2.0, 'ixx="0" iyy="0" izz="0" ixy="-7e-19" iyz="1e-20"'),
        (0.01, 'ixx="1e-16" iyy="0" izz="1e-16" ixy="-1e-15"'),
        (5.0, 'ixx="0" iyy="-1e-14" izz="0"'),
        (0.0, 'ixx="0" iyy="0" izz="0" iyz="1e-17"'),
    ],
)
def test_inertia_below_zero_by_rounding_is_mended(tmp_path, mass, entries):
    machine = load(tmp_path, link("a", entries, mass))
    ixx, ixy, ixz, iyy, iyz, izz = machine.links[0].inertial.inertia
    moments = np.linalg.eigvalsh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    written = [float(value) for value in re.findall(r'="([^"]*)"', entries)]
    assert moments.min() >= -1e-15 * max(abs(value) for value in written)
    assert abs(moments).max() <= 3.0 * max(abs(value) for value in written)
    [warning] = machine.warnings
    assert "robot.urdf:2: <inertia>: link 'a' (principal moment -" in warning
    assert "below zero by a rounding error, which is taken as zero" in warning


@pytest.mark.parametrize(
    ("mass", "entries", "moment"),
    [
        (1.0, 'ixx="1" iyy="1" izz="1" ixy="2"', "-1"),
        (1.0, 'ixx="0" iyy="0" izz="0" ixy="1e-9"', "-1e-09"),
        (1e-3, 'ixx="-1e-12" iyy="0" izz="0"', "-1e-12"),
    ],
)
def test_inertia_below_zero_is_refused(tmp_path, mass, entries, moment):
    with pytest.raises(MachineError, match=f"inertia of link 'a' has the principal moment {moment} kg m2") as caught:
        load(tmp_path, link("a", entries, mass))
    assert (caught.value.line, caught.value.element) == (2, "<inertia>")


ANTENNA = 'ixx="2e-8" ixy="6e-8" iyy="3e-8" izz="4e-8"'


@pytest.mark.parametrize(("type", "limit"), [("fixed", ""), ("revolute", LIMIT)])
def test_inertia_below_zero_counts_with_the_links_that_are_fixed_to_it(tmp_path, type, limit):
    parts = [link("a"), link("antenna", ANTENNA, 1e-6), joint("j", "a", "antenna", type, limit)]
    if type == "revolute":
        with pytest.raises(MachineError, match="inertia of link 'antenna' has the principal moment"):
            load(tmp_path, *parts)
        return
    [warning] = [text for text in load(tmp_path, *parts).warnings if "kilograms" not in text]
    assert "robot.urdf:3: <inertia>: link 'antenna' (principal moment -3.52" in warning
    assert "counts only together with the links that are fixed to it" in warning


@pytest.mark.parametrize(("heavy", "refused"), [(1.0, False), (1e-7, True)])
def test_mass_far_from_a_link_makes_up_for_its_inertia(tmp_path, heavy, refused):
    """Two masses 2 m apart: the sum about their common centre is m_1 m_2 / (m_1 + m_2) d^2 across the line."""
    negative = 'ixx="1" iyy="-1e-3" izz="1"'
    parts = [
        link("a", 'ixx="0" iyy="0" izz="0"', heavy),
        link("b", negative, 1e-3, '<origin xyz="2 0 0"/>'),
        joint("j", "a", "b", "fixed", ""),
    ]
    if refused:  # 1e-7 * 2^2 is less than 1e-3
        with pytest.raises(MachineError, match="inertia of link 'b' has the principal moment -0.001"):
            load(tmp_path, *parts)
    else:  # 1e-3 * 2^2 is more
        assert "counts only together" in " ".join(load(tmp_path, *parts).warnings)


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    ("lower", "upper", "read"),
    [
        ("-1e16", "1e16", (None, None)),
        ("-inf", "inf", (None, None)),
        ("-INF", "Infinity", (None, None)),
        ("-.inf", "+.inf", (None, None)),
        ("-1e999", "1e999", (None, None)),
        ("-1.7976931348623157e308", "1.7976931348623157e308", (None, None)),
        ("0.5", "inf", (0.5, None)),
        ("-2e15", "0.5", (None, 0.5)),
    ],
)
def test_bounds_that_nothing_reaches_are_none(tmp_path, type, lower, upper, read):
    limit = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
    machine = load(tmp_path, *chain(2, joint("j", "a", "b", type, limit)))
    assert (machine.joints[0].limit.lower, machine.joints[0].limit.upper) == read
    [warning] = [text for text in machine.warnings if "<limit>" in text]
    assert "robot.urdf:4: <limit>: joint 'j' (lower = " in warning and "moves without end to that side" in warning


def test_joint_with_one_bound_stops_at_it_only(tmp_path):
    limit = '<limit lower="-0.1" upper="inf" effort="1" velocity="1"/>'
    machine = load(tmp_path, *chain(2, joint("j", "a", "b", "prismatic", f'<axis xyz="0 0 1"/>{limit}')))
    simulation = grouser.Simulation(machine, grouser.World(ground=None))
    simulation.step(1000)
    assert simulation.joint_position["j"] == pytest.approx(-0.1, abs=1e-3)


@pytest.mark.parametrize("bound", ["inf", "-inf"])
def test_bounds_without_a_range_are_refused(tmp_path, bound):
    limit = f'<limit lower="{bound}" upper="{bound}" effort="1" velocity="1"/>'
    with pytest.raises(MachineError, match=f"lower = upper = {bound} is no range"):
        load(tmp_path, *chain(2, joint("j", "a", "b", more=limit)))


@pytest.mark.parametrize(("lower", "upper"), [("1", "-1"), ("inf", "-inf"), ("1", "-1e16"), ("0.5", None)])
@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_bounds_in_the_wrong_order_are_none(tmp_path, type, lower, upper):
    given = f'lower="{lower}"' + ("" if upper is None else f' upper="{upper}"')
    limit = f'<limit {given} effort="3" velocity="2"/>'
    machine = load(tmp_path, *chain(3, joint("j", "a", "b", type, limit), joint("k", "b", "c", type, limit)))
    assert [one.limit for one in machine.joints] == [JointLimit(None, None, 3.0, 2.0)] * 2
    [warning] = machine.warnings
    assert "robot.urdf:5: <limit>: joint 'j' (lower = " in warning and "taken as no limits" in warning
    assert "(likewise joint 'k' (lower = " in warning


def test_joint_with_bounds_in_the_wrong_order_falls_freely(tmp_path):
    limit = '<axis xyz="0 0 1"/><limit lower="1" upper="-1" effort="0" velocity="1"/>'
    machine = load(tmp_path, *chain(2, joint("j", "a", "b", "prismatic", limit)))
    simulation = grouser.Simulation(machine, grouser.World(ground=None), step=0.001)
    simulation.step(1000)
    # A semi-implicit step of h falls by g h2 n (n + 1) / 2 in n steps.
    assert simulation.joint_position["j"] == pytest.approx(-9.81 * 1e-6 * 1000 * 1001 / 2, abs=1e-9)


def test_joints_of_the_type_spherical_are_ball_joints(tmp_path):
    limit = '<limit lower="0.2" upper="0.8" twist="0.3" effort="1"/>'
    parts = chain(3, joint("neck", "a", "b", "spherical", limit), joint("chest", "b", "c", "spherical"))
    machine = load(tmp_path, *parts)
    assert [one.type for one in machine.joints] == ["spherical", "spherical"]
    [warning] = machine.warnings
    assert "robot.urdf:5: <joint name=\"neck\">: joint 'neck' is spherical" in warning
    assert "ball joint without limits (likewise joint 'chest')" in warning
    assert len(grouser.Simulation(machine).state.v) == 6
    # urdfdom, by which other programs read it, has no such type.
    published = ElementTree.fromstring(machine.urdf)
    assert [one.get("type") for one in published.iter("joint")] == ["floating", "floating"]


def test_joint_of_the_type_spherical_has_torques_by_its_element(tmp_path):
    drive = '<grouser><spherical_joint joint="neck" effort_limit="5" damping="0.5"/></grouser>'
    machine = load(tmp_path, *chain(2, joint("neck", "a", "b", "spherical")), drive)
    assert machine.joints[0].damping == 0.5 and "neck/x" in grouser.Simulation(machine).command


@pytest.mark.parametrize("word", ["nan", "1e", "infinite", "--inf", "1_0"])
def test_bounds_that_are_no_numbers_are_refused(tmp_path, word):
    for name in ("lower", "upper", "effort", "velocity"):
        with pytest.raises(MachineError, match=f"{name} = '{word}' is not a number"):
            load(tmp_path, *chain(2, joint("j", "a", "b", more=f'<limit {name}="{word}"/>')))


@pytest.mark.parametrize("quantity", ["effort", "velocity"])
@pytest.mark.parametrize("word", ["inf", "1e400"])
def test_infinite_effort_and_velocity_are_no_limit(tmp_path, quantity, word):
    limit = LIMIT.replace(f'{quantity}="{"10" if quantity == "effort" else "2"}"', f'{quantity}="{word}"')
    machine = load(tmp_path, *chain(3, joint("j", "a", "b", more=limit), joint("k", "b", "c", "continuous", limit)))
    assert [getattr(one.limit, quantity) for one in machine.joints] == [math.inf, math.inf]
    [warning] = machine.warnings
    assert f"<limit>: joint 'j' has an infinite {quantity}, which is taken as no limit (likewise joint 'k')" in warning


@pytest.mark.parametrize("quantity", ["effort", "velocity"])
def test_negative_effort_and_velocity_are_refused(tmp_path, quantity):
    for word in ("-1", "-inf"):
        with pytest.raises(MachineError, match=f"{quantity} = {word}; valid: 0 or more"):
            load(tmp_path, *chain(2, joint("j", "a", "b", more=f'<limit {quantity}="{word}"/>')))


def test_first_of_several_materials_of_a_visual_shape_is_shown(tmp_path):
    colours = [f'<material name="m{red}"><color rgba="{red} 0 0 1"/></material>' for red in (0.25, 0.5)]
    visual = f'<visual><geometry><sphere radius="1"/></geometry>{"".join(colours)}</visual></link>'
    machine = load(tmp_path, link("a").replace("</link>", visual))
    assert machine.links[0].visuals[0].rgba == (0.25, 0.0, 0.0, 1.0)
    assert "robot.urdf:2: <visual>: link 'a' has a visual shape of several materials" in machine.warnings[0]


def test_missing_visual_mesh_is_told_with_its_reason(tmp_path):
    visual = '<visual><geometry><mesh filename="{}"/></geometry></visual></link>'
    parts = [link(name).replace("</link>", visual.format(f"package://absent/{name}.dae")) for name in "ab"]
    machine = load(tmp_path, *parts, joint("j", "a", "b"))
    assert [one.visuals for one in machine.links] == [(), ()]
    [warning] = machine.warnings
    assert "robot.urdf:2: <mesh>: visual mesh 'package://absent/a.dae' of link 'a' cannot be used" in warning
    assert "package 'absent' is not found; looked in" in warning and "(likewise visual mesh" in warning
