"""Contact elements of a description: material pairs, moving surfaces, self-collision."""

import math

import numpy as np
import pytest
from loose_bodies import GRAVITY, leaning_world, loose, place, solid, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.contact import ContactMaterial, MaterialPair
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Sphere
from grouser.physics.description.data.world import Ground, Obstacle

BLOCK = Box((0.4, 0.4, 0.2))


def sliding_speed(pairs, friction=0.8):
    """Speed after 0.5 s of a block on a slope of 30 degrees."""
    steel = ContactMaterial("block", material="steel", friction=friction)
    machine = loose(solid("block", BLOCK, 5.0), contacts=(steel,), material_pairs=pairs)
    simulation = Simulation(machine, leaning_world(math.radians(30), friction=0.8, material="ice"))
    place(simulation, 0, (0.0, 0.0, 0.1))
    simulation.step(500)
    return velocity_of(simulation, 0)[0]


def test_material_pair_overrides_friction():
    assert sliding_speed(()) == pytest.approx(0.0, abs=1e-6)
    for pair in (MaterialPair("steel", "ice", friction=0.1), MaterialPair("ice", "steel", friction=0.1)):
        expected = 0.5 * GRAVITY * (math.sin(math.radians(30)) - 0.1 * math.cos(math.radians(30)))
        # the corners distribute the load anew in the first steps; each may err by mu g h
        assert sliding_speed((pair,)) == pytest.approx(expected, rel=1e-3)
    # more than the friction of either material
    assert sliding_speed((MaterialPair("steel", "ice", friction=2.0),), friction=0.1) == pytest.approx(0.0, abs=1e-6)
    assert sliding_speed((MaterialPair("steel", "wood", friction=0.1),)) == pytest.approx(0.0, abs=1e-6)


def test_material_pair_overrides_restitution_between_bodies():
    rubber = [ContactMaterial(f"b{k}", material="rubber", restitution=0.2) for k in (0, 1)]
    machine = loose(
        *[solid(f"b{k}", Sphere(0.1)) for k in (0, 1)],
        contacts=tuple(rubber),
        material_pairs=(MaterialPair("rubber", "rubber", restitution=0.7),),
    )
    simulation = Simulation(machine, World(gravity=(0.0, 0.0, 0.0), ground=None))
    place(simulation, 0, (0.0, 0.0, 0.0), linear=(1.0, 0.0, 0.0))
    place(simulation, 1, (0.25, 0.0, 0.0))
    simulation.step(200)
    # the solver's tolerance
    assert velocity_of(simulation, 1)[0] - velocity_of(simulation, 0)[0] == pytest.approx(0.7, abs=2e-6)


def tracked(parts, world, friction=0.8):
    """A chassis with an underside that a joint moves."""
    machine = parts.machine(
        parts.link("chassis", 50, (2.0, 2.0, 2.0), '<box size="1 0.6 0.2"/>'),
        parts.link("sprocket", 1, (0.02, 0.02, 0.02)),
        parts.joint("drive", "continuous", "chassis", "sprocket", axis=(0, 1, 0)),
        extension=f'<contact link="chassis" friction="{friction}" surface_joint="drive" surface_radius="0.1" '
        'surface_direction="1 0 0"/>'
        '<servo_drive joint="drive" mode="velocity" damping="500" effort_limit="200"/>',
    )
    return Simulation(machine, world)


def test_moving_surface_drives_over_an_obstacle(parts):
    slab = Obstacle("slab", Box((6.0, 3.0, 0.4)), Pose((1.0, 0.0, 0.2)))
    simulation = tracked(parts, World(ground=None, obstacles=(slab,), spawn=Pose((0.0, 0.0, 0.5))))
    simulation.step(200)
    simulation.command["drive"] = 5.0
    simulation.step(2000)
    speed = 0.1 * simulation.joint_velocity["drive"]
    assert speed == pytest.approx(0.5, rel=1e-3)
    # without slip, to the tolerance of the solver and the lag of the drive
    assert simulation.base_twist()[0][0] == pytest.approx(speed, rel=1e-4)
    assert simulation.link_pose("chassis")[0][2] == pytest.approx(0.5, abs=2e-5)


def test_conveyor_carries_a_parcel(parts):
    # a conveyor: the belt is fixed, the box on it moves with the upper surface, against the direction of travel
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("frame", 50, (2.0, 2.0, 2.0), '<box size="6 0.6 0.2"/>'),
        parts.joint("foot", "prismatic", "world", "frame", axis=(0, 1, 0), xyz=(0, 0, 0.3)),
        parts.link("drum", 1, (0.02, 0.02, 0.02)),
        parts.joint("drive", "continuous", "frame", "drum", axis=(0, 1, 0)),
        parts.link("parcel", 4, (0.03, 0.03, 0.03), '<box size="0.3 0.3 0.2"/>'),
        parts.joint("loose", "floating", "world", "parcel", xyz=(0, 0, 0.5)),
        extension='<contact link="frame" surface_joint="drive" surface_radius="0.1" surface_direction="1 0 0"/>'
        '<servo_drive joint="drive" mode="velocity" damping="500" effort_limit="200"/>',
    )
    simulation = Simulation(machine, World(ground=None))
    simulation.command["drive"] = 5.0
    simulation.step(100)
    start = simulation.link_pose("parcel")[0][0]
    simulation.step(1000)
    way = simulation.link_pose("parcel")[0][0] - start
    # 1 s at r w; the box reaches that speed by 64 ms at mu g, and creeps by the drive's lag of m g mu / d
    assert way == pytest.approx(-0.5, rel=2e-3)


def folding_arm(parts, extension=""):
    """A base with a column; an upper arm and a forearm that folds down onto the base."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("base", 20, (1.0, 1.0, 1.0), '<box size="1.6 0.4 0.2"/>'),
        parts.joint("foot", "fixed", "world", "base", xyz=(0, 0, 0.1)),
        parts.link("upper", 2, (0.02, 0.02, 0.02), com=(0.0, 0.0, 0.4)),
        parts.joint("shoulder", "fixed", "base", "upper", xyz=(0, 0, 0.1)),
        parts.link("elbow", 0.5, (0.002,) * 3),
        parts.joint("lift", "fixed", "upper", "elbow", xyz=(0, 0, 0.5)),
        parts.link("middle", 1, (0.01,) * 3, com=(0.15, 0.0, 0.0)),
        parts.joint("bend", "continuous", "elbow", "middle", axis=(0, 1, 0)),
        parts.link("fore", 3, (0.03,) * 3, '<sphere radius="0.06"/>', com=(0.0, 0.0, 0.0)),
        parts.joint("slide", "continuous", "middle", "fore", axis=(0, 1, 0), xyz=(0.62, 0, 0)),
        extension=extension,
    )
    simulation = Simulation(machine, World(ground=None))
    simulation.step(3000)
    return simulation


def test_self_collision_stops_a_folding_arm_at_its_base(parts):
    stopped = folding_arm(parts)
    # its ball rests on the base's top at 0.2 m
    assert stopped.link_pose("fore")[0][2] == pytest.approx(0.26, abs=1e-4)
    assert [{contact.link, contact.other} for contact in stopped.contacts()] == [{"fore", "base"}]
    assert np.abs(stopped.state.v).max() < 1e-3
    through = folding_arm(parts, '<disable_collisions link1="fore" link2="base" />')
    # a pendulum that swings past the base
    lowest = min(_heights_of_fore(through))
    assert lowest < 0.2
    off = folding_arm(parts, '<self_collision enabled="false"/>')
    assert min(_heights_of_fore(off)) < 0.2


def _heights_of_fore(simulation):
    for _ in range(50):
        simulation.step(40)
        yield simulation.link_pose("fore")[0][2]


def test_links_at_a_common_joint_do_not_touch(parts):
    # two boxes that overlap at their hinge
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("one", 1, (0.01,) * 3, '<box size="0.4 0.1 0.1"/>'),
        parts.joint("hinge", "continuous", "world", "one", axis=(0, 1, 0), xyz=(0, 0, 1)),
        parts.link("two", 1, (0.01,) * 3, '<box size="0.4 0.1 0.1"/>'),
        parts.joint("elbow", "continuous", "one", "two", axis=(0, 1, 0), xyz=(0.2, 0, 0)),
    )
    simulation = Simulation(machine, World(ground=None))
    simulation.step(100)
    assert simulation.contacts() == []


def test_friction_between_bodies_is_the_smaller_one():
    machine = loose(
        solid("block", BLOCK, 5.0),
        solid("slab", Box((4.0, 4.0, 0.2)), 200.0),
        contacts=(ContactMaterial("block", friction=0.2), ContactMaterial("slab", friction=1.5)),
    )
    simulation = Simulation(machine, World(ground=Ground(friction=1.5)))
    place(simulation, 0, (0.0, 0.0, 0.3), linear=(1.0, 0.0, 0.0))
    place(simulation, 1, (0.0, 0.0, 0.1))
    simulation.step(200)
    # a constant force is integrated exactly; the corners distribute the load anew in the first steps
    assert velocity_of(simulation, 0)[0] == pytest.approx(1.0 - 0.2 * 0.2 * GRAVITY, abs=1e-3)
    # the slab does not move
    assert abs(velocity_of(simulation, 1)[0]) < 1e-6
