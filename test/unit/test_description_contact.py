"""What the <grouser> element says of contact, and the shapes that touch: what it gives and what it refuses."""

import math
from pathlib import Path

import numpy as np
import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.contact import DisabledCollision, MaterialPair, SelfCollision
from grouser.physics.description.data.mechanism import Collision
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Capsule, Cylinder, PointSet, Sphere
from grouser.physics.description.urdf.inertial import inertial_from_density

LOOPS_AND_SPRINGS = Path(__file__).parents[1] / "data" / "machines" / "loops_and_springs.urdf"

# The <grouser> element starts in line 7, its content in line 8.
MACHINE = """<robot name="r">
<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><sphere radius="1"/></geometry></collision></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint>
<link name="plate"/><joint name="glue" type="fixed"><parent link="base"/><child link="plate"/></joint>
<grouser>
{}
</grouser></robot>
"""
STEEL = '<contact link="base" material="steel"/>'


def load(tmp_path, content):
    path = tmp_path / "robot.urdf"
    path.write_text(MACHINE.format(content))
    return grouser.load_machine(path)


def test_materials_and_pairs_are_read():
    machine = grouser.load_machine(LOOPS_AND_SPRINGS)
    assert [contact.material for contact in machine.contacts] == ["steel", "glass"]
    assert (machine.contacts[0].rolling_resistance, machine.contacts[0].spinning_resistance) == (0.001, 0.002)
    assert machine.material_pairs == (
        MaterialPair("steel", "ground", friction=0.4, stiffness=1e6, damping=1e3),
        MaterialPair("steel", "glass", restitution=0.5, rolling_resistance=0.0, spinning_resistance=0.001),
    )
    assert machine.disabled_collisions == (DisabledCollision("base", "crank"), DisabledCollision("base", "rocker"))


@pytest.mark.parametrize("enabled", [True, False])
def test_self_collision_can_be_switched(tmp_path, enabled):
    machine = load(tmp_path, f'<self_collision enabled="{str(enabled).lower()}"/>')
    assert machine.self_collision == SelfCollision(enabled)


def test_a_material_may_touch_itself_and_a_pair_may_be_the_same_with_another(tmp_path):
    pairs = ("steel", "steel"), ("steel", "ground"), ("rubber", "steel")
    elements = "".join(f'<material_pair first="{a}" second="{b}" friction="0.3"/>' for a, b in pairs)
    assert [(pair.first, pair.second) for pair in load(tmp_path, STEEL + elements).material_pairs] == list(pairs)


def test_contact_points_are_shapes_beside_others(tmp_path):
    machine = load(
        tmp_path,
        '<contact_points link="base" radius="0.1" points="1 2 3\n 4 5 6"/><contact_points link="base" points="0 0 1"/>'
        '<contact_points link="arm" points="7 8 9"/><contact link="arm" friction="0.2"/>',
    )
    links = {link.name: link for link in machine.links}
    sphere, first, second = links["base"].collisions
    assert sphere.geometry == Sphere(1.0)
    assert first.pose == Pose()
    np.testing.assert_array_equal(first.geometry.points, [[1, 2, 3], [4, 5, 6]])
    assert first.geometry.radius == 0.1
    np.testing.assert_array_equal(second.geometry.points, [[0, 0, 1]])
    assert second.geometry.radius == 0.0
    np.testing.assert_array_equal(links["arm"].collisions[0].geometry.points, [[7, 8, 9]])
    assert links["plate"].collisions == ()
    with pytest.raises(ValueError, match="read-only"):
        first.geometry.points[0, 0] = 5.0


def test_a_capsule_is_a_shape():
    crank = next(link for link in grouser.load_machine(LOOPS_AND_SPRINGS).links if link.name == "crank")
    assert crank.collisions[0].geometry == crank.visuals[0].geometry == Capsule(0.04, 0.4)


def solid(*geometries):
    return inertial_from_density([Collision("", Pose(), geometry) for geometry in geometries], 800.0)[0]


def test_a_capsule_is_between_its_cylinder_and_its_ball():
    """In the limits of no length and of no thickness a capsule is a ball and a cylinder; terms left out are of the
    relative size of the ratio, 1e-9."""
    ball, nearly_ball = solid(Sphere(0.5)), solid(Capsule(0.5, 0.5e-9))
    rod, nearly_rod = solid(Cylinder(0.5e-9, 0.5)), solid(Capsule(0.5e-9, 0.5))
    for capsule, limit in ((nearly_ball, ball), (nearly_rod, rod)):
        assert capsule.mass == pytest.approx(limit.mass, rel=1e-8)
        assert capsule.inertia == pytest.approx(limit.inertia, rel=1e-8)


def test_a_capsule_has_the_mass_properties_of_its_points():
    """Against midpoint sums over rings of a 2000 x 2000 grid of (radius, height): their error is of the order of the
    grid's spacing along the curved border, 1e-3 of the size, and averages out far below that."""
    radius, length, density = 0.3, 0.7, 800.0
    count = 2000
    r = (np.arange(count) + 0.5) / count * radius
    z = ((np.arange(count) + 0.5) / count - 0.5) * (length + 2 * radius)
    beyond = np.maximum(np.abs(z) - 0.5 * length, 0.0)
    inside = r[:, None] ** 2 + beyond[None, :] ** 2 <= radius**2
    ring = density * inside * 2 * np.pi * r[:, None] * (radius / count) * ((length + 2 * radius) / count)
    found = solid(Capsule(radius, length))
    assert found.mass == pytest.approx(ring.sum(), rel=1e-4)
    across = (ring * (0.5 * r[:, None] ** 2 + z[None, :] ** 2)).sum()
    along = (ring * r[:, None] ** 2).sum()
    assert found.inertia == pytest.approx((across, 0, 0, across, 0, along), rel=1e-4)
    assert found.pose == Pose()


def test_points_have_no_mass():
    assert solid(Sphere(0.5), PointSet(np.ones((3, 3)), 0.2)) == solid(Sphere(0.5))


def test_a_capsule_fills_a_link_with_density():
    rocker = next(link for link in grouser.load_machine(LOOPS_AND_SPRINGS).links if link.name == "rocker")
    volume = math.pi * 0.04**2 * (0.4 + 4 / 3 * 0.04)
    assert rocker.inertial.mass == pytest.approx(800 * volume)
    assert rocker.inertial.pose.position == pytest.approx((0, 0, 0.25))


PAIR = '<material_pair first="steel" second="ground" {}/>'

# Content of <grouser> (which starts in line 8), the line to blame, words of the message.
BAD = {
    "empty material": ('<contact link="base" material=" "/>', 8, ["'material' is empty"]),
    "negative rolling resistance": (
        '<contact link="base" rolling_resistance="-1"/>',
        8,
        ["rolling_resistance = -1 m", "0 or more"],
    ),
    "negative spinning resistance": (
        '<contact link="base" spinning_resistance="-1"/>',
        8,
        ["spinning_resistance = -1"],
    ),
    "contact that bounces twice": (
        '<contact link="base" restitution="0.1" stiffness="1e6"/>',
        8,
        ["restitution and stiffness"],
    ),
    "pair without names": ('<material_pair friction="1"/>', 8, ["'first' is missing"]),
    "pair of unknown materials": (
        STEEL + '\n<material_pair first="steal" second="ground" friction="1"/>',
        9,
        ["first = 'steal', second = 'ground'", "no <contact> has such a material", "did you mean 'steel'?"],
    ),
    "pair without materials": (PAIR.format('friction="1"'), 8, ["there is none to choose from"]),
    "pair twice": (
        STEEL + PAIR.format('friction="1"') + "\n" + PAIR.format('friction="2"'),
        9,
        ["already a <material_pair> of these two materials", "in line 8"],
    ),
    "pair turned round": (
        STEEL + PAIR.format('friction="1"') + '\n<material_pair first="ground" second="steel" friction="1"/>',
        9,
        ["already a <material_pair>"],
    ),
    "pair with itself twice": (
        STEEL + '<material_pair first="steel" second="steel" friction="1"/>\n' * 2,
        9,
        ["already a <material_pair>"],
    ),
    "pair that says nothing": (STEEL + PAIR.format(""), 8, ["gives no value", "friction, restitution"]),
    "pair with damping alone": (STEEL + PAIR.format('damping="1"'), 8, ["damping is given without stiffness"]),
    "pair that bounces twice": (
        STEEL + PAIR.format('stiffness="1e6" restitution="0.5"'),
        8,
        ["restitution and stiffness"],
    ),
    "pair that gains energy": (STEEL + PAIR.format('restitution="1.5"'), 8, ["restitution = 1.5", "0 to 1"]),
    "pair of no stiffness": (STEEL + PAIR.format('stiffness="0"'), 8, ["stiffness = 0 N/m", "above 0"]),
    "self collision twice": (
        '<self_collision enabled="true"/>\n<self_collision enabled="true"/>',
        9,
        ["already a <self_collision>"],
    ),
    "self collision neither": ('<self_collision enabled="maybe"/>', 8, ["'maybe'", "neither true nor false"]),
    "self collision unsaid": ("<self_collision/>", 8, ["'enabled' is missing"]),
    "link apart from itself": ('<disable_collisions link1="arm" link2="arm"/>', 8, ["link1 and link2 are both 'arm'"]),
    "unknown link apart": (
        '<disable_collisions link1="arm" link2="bas"/>',
        8,
        ["link2 = 'bas'", "did you mean 'base'?"],
    ),
    "links apart twice": (
        '<disable_collisions link1="arm" link2="base"/>\n<disable_collisions link1="base" link2="arm"/>',
        9,
        ["already a <disable_collisions> of these two links", "in line 8"],
    ),
    "no points": ('<contact_points link="base" points=" "/>', 8, ["'points' is empty"]),
    "points cut short": ('<contact_points link="base" points="1 2 3 4"/>', 8, ["4 numbers", "multiple of three"]),
    "points of words": ('<contact_points link="base" points="1 2 x"/>', 8, ["points = '1 2 x'", "not a finite number"]),
    "points far out": ('<contact_points link="base" points="1 2 1e12"/>', 8, ["points holds 1e+12"]),
    "negative radius": ('<contact_points link="base" points="1 2 3" radius="-1"/>', 8, ["radius = -1 m"]),
    "points of an unknown link": ('<contact_points link="bass" points="1 2 3"/>', 8, ["did you mean 'base'?"]),
    "density of points": (
        '<contact_points link="plate" points="1 2 3"/>\n<density link="plate" value="800"/>',
        9,
        ["no collision shape to fill"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_element_is_refused_where_it_is_bad(tmp_path, name):
    content, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content)
    assert caught.value.file == str(tmp_path / "robot.urdf")
    assert caught.value.line == line
    assert caught.value.element is not None
    for word in words:
        assert word in str(caught.value)
