"""Bodies push each other only if they touch within the step, and none passes through another."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from loose_bodies import LYING, UPRIGHT, loose, place, principal_inertia, solid, spin_of, velocity_of

from grouser import Simulation, World
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle

FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
SLAB = Box((3.0, 2.0, 0.3))
GROUNDS = ("plane", "field", "obstacle", "body")
HALF, THICK = 0.35, 0.03
BAR = Box((2 * HALF, THICK, THICK))
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
# bars of each kind of shape, along x, and the radius of the circle of their outermost points about y
BARS = {
    "box": (BAR, math.hypot(HALF, 0.5 * THICK)),
    "mesh": (Mesh("", "", hull=CORNERS * [HALF, 0.05, 0.01]), math.hypot(HALF, 0.01)),
    "points": (PointSet(CORNERS * [HALF, 0.05, 0.02], 0.01), math.hypot(HALF, 0.02) + 0.01),
}


def ground_below(ground, height, links, joints):
    """Links and joints, and a world with level ground at a height [m]."""
    if ground == "plane":
        world = World(ground=Ground(point=(0.0, 0.0, height)))
    elif ground == "field":
        world = World(ground=Ground(heightfield=Heightfield(np.full((31, 31), height), 0.21, (-3.1, -3.2))))
    else:
        centre = Pose((0.3, 0.0, height - 0.15))
        obstacles = (Obstacle("slab", SLAB, centre),) if ground == "obstacle" else ()
        world = World(ground=None, obstacles=obstacles)
        if ground == "body":
            links = (*links, solid("slab", SLAB, 500.0))
            # free to move, but nothing moves it
            joints = (*joints, Joint("lift", "prismatic", "world", "slab", centre, axis=(0.0, 0.0, 1.0)))
    return Machine("hinged", (Link("world"), *links), tuple(joints), "world", floating_base=False), world


def bar_on_an_axle(ground, clearance, speed, shape="box", **material):
    """A bar that rotates about y through its centre, its lowest points `clearance` above the ground."""
    geometry, circle = BARS[shape]
    axle = Joint("axle", "continuous", "world", "bar", axis=(0.0, 1.0, 0.0))
    machine, world = ground_below(ground, -circle - clearance, (solid("bar", geometry, 2.0),), (axle,))
    if material:
        machine = Machine(**{**vars(machine), "contacts": (ContactMaterial("bar", **material),)})
    world = World(**{**vars(world), "gravity": (0.0, 0.0, 0.0)})
    simulation = Simulation(machine, world)
    simulation.state.v[simulation.arrays.names.joints["axle"].v] = speed
    return simulation


@pytest.mark.parametrize("speed", [40.0, -170.0, 420.0])
@pytest.mark.parametrize("clearance", [5e-5, 7e-4, 6e-3])
@pytest.mark.parametrize("ground", GROUNDS)
def test_bar_that_clears_the_ground_rotates_on(ground, clearance, speed):
    simulation = bar_on_an_axle(ground, clearance, speed)
    simulation.step(500)
    # not one impulse: the speed stays to rounding
    assert simulation.joint_velocity["axle"] == pytest.approx(speed, rel=1e-12)


@pytest.mark.parametrize("ground", ["plane", "obstacle"])
@pytest.mark.parametrize("material", [{"restitution": 0.7}, {"stiffness": 1e5, "damping": 50.0}], ids=str)
@pytest.mark.parametrize("shape", ["mesh", "points"])
def test_bar_that_clears_the_ground_rotates_on_with_any_shape_and_material(shape, material, ground):
    simulation = bar_on_an_axle(ground, 4e-4, 130.0, shape, **material)
    simulation.step(300)
    assert simulation.joint_velocity["axle"] == pytest.approx(130.0, rel=1e-12)


@pytest.mark.parametrize("speed", [25.0, 150.0, -420.0])
@pytest.mark.parametrize("ground", GROUNDS)
def test_bar_that_does_not_clear_the_ground_is_stopped(ground, speed):
    # it reaches 6 mm too deep, at 420 rad/s for less than a step
    simulation = bar_on_an_axle(ground, -6e-3, speed)
    simulation.step(500)
    # a heavy slab is thrown away without friction or bounce: the bar keeps its share of the momentum at most
    limit = 1e-6 if ground != "body" else 0.1 * abs(speed)
    assert abs(simulation.joint_velocity["axle"]) < limit


@pytest.mark.parametrize("speed", [60.0, 320.0])
def test_bar_rotates_on_over_a_slab_that_is_hundreds_of_times_larger(speed):
    # distances of such solids are at the limit of coal's iterations
    circle = BARS["box"][1]
    axle = Joint("axle", "continuous", "world", "bar", axis=(0.0, 1.0, 0.0))
    machine = Machine("hinged", (Link("world"), solid("bar", BAR, 2.0)), (axle,), "world", floating_base=False)
    slab = Obstacle("slab", Box((190.0, 24.0, 1.0)), Pose((83.0, 0.0, -circle - 5e-4 - 0.5)))
    simulation = Simulation(machine, World(gravity=(0.0, 0.0, 0.0), ground=None, obstacles=(slab,)))
    simulation.state.v[0] = speed
    simulation.step(500)
    assert simulation.joint_velocity["axle"] == pytest.approx(speed, rel=1e-12)


def test_arm_with_two_joints_passes_over_the_ground():
    # two links of a planar arm turn against each other without forces: no weight, and the second in balance
    first, second = 0.5, 0.3
    links = (
        Link("upper", Inertial(Pose((0.5 * first, 0.0, 0.0)), 1.0, (0.02, 0.0, 0.0, 0.02, 0.0, 0.02))),
        Link("fore", Inertial(Pose(), 1.0, (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)), (Collision("", Pose(), TIP),)),
    )
    joints = (
        Joint("shoulder", "continuous", "world", "upper", axis=(0.0, 1.0, 0.0)),
        Joint("elbow", "continuous", "upper", "fore", Pose((first, 0.0, 0.0)), axis=(0.0, 1.0, 0.0)),
    )
    rates = np.array([55.0, 90.0])

    def lowest(q):
        """Height of the forearm's lowest corner for joint positions q."""
        corner = CORNERS[:, [0, 2]] * [0.5 * second, 0.01]
        angle = q.sum()
        return -first * math.sin(q[0]) + (corner @ [-math.sin(angle), math.cos(angle)]).min()

    steps = 40
    path = [lowest(rates * 1e-3 * t) for t in np.arange(0.0, steps, 0.02)]
    machine, world = ground_below("plane", min(path) - 3e-4, links, joints)
    simulation = Simulation(machine, World(**{**vars(world), "gravity": (0.0, 0.0, 0.0)}))
    simulation.state.v[:] = rates
    simulation.step(steps)
    assert simulation.joint_velocity["shoulder"] == pytest.approx(rates[0], rel=1e-9)
    assert simulation.joint_velocity["elbow"] == pytest.approx(rates[1], rel=1e-9)


TIP = Box((0.3, 0.02, 0.02))


@pytest.mark.parametrize("spin", [30.0, 260.0])
@pytest.mark.parametrize("ground", ["plane", "field", "obstacle"])
def test_rotating_box_flies_over_the_ground(ground, spin):
    # a lone body: its centre moves straight on, its outermost corners stay 0.6 mm above the ground
    box = Box((0.3, 0.1, 0.2))
    circle = math.hypot(0.15, 0.1)
    _, world = ground_below(ground, -circle - 6e-4, (), ())
    simulation = Simulation(loose(solid("box", box, 2.0)), World(**{**vars(world), "gravity": (0.0, 0.0, 0.0)}))
    place(simulation, 0, (-0.5, 0.0, 0.0), linear=(9.0, 0.0, 0.0), angular=(0.0, spin, 0.0))
    simulation.step(150)
    assert velocity_of(simulation, 0) == pytest.approx([9.0, 0.0, 0.0], abs=1e-9)
    assert spin_of(simulation, 0) == pytest.approx([0.0, spin, 0.0], abs=1e-9 * spin)


# shape, orientation and half extent along z
FLYING = {
    "sphere": (Sphere(0.09), UPRIGHT, 0.09),
    "box": (Box((0.2, 0.16, 0.12)), UPRIGHT, 0.06),
    "capsule": (Capsule(0.05, 0.2), LYING, 0.05),
    "cylinder": (Cylinder(0.07, 0.1), LYING, 0.07),
    "mesh": (Mesh("", "", hull=CORNERS * [0.1, 0.07, 0.06]), UPRIGHT, 0.06),
    "points": (PointSet(CORNERS * [0.1, 0.07, 0.05], 0.01), UPRIGHT, 0.06),
}


PAIRS = [
    ("sphere", "sphere"),
    ("sphere", "box"),
    ("box", "box"),
    ("capsule", "capsule"),
    ("cylinder", "mesh"),
    ("points", "cylinder"),
    ("mesh", "capsule"),
]


@pytest.mark.parametrize("speed", [3.0, 90.0, 310.0])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_bodies_pass_each_other(pair, speed):
    (one, turn, half), (other, other_turn, other_half) = (FLYING[name] for name in pair)
    simulation = Simulation(loose(solid("one", one), solid("other", other, 3.0)), FREE_SPACE)
    place(simulation, 0, (-0.41, 0.01, half + other_half + 8e-4), turn, linear=(0.7 * speed, 0.0, 0.0))
    place(simulation, 1, (0.0, 0.0, 0.0), other_turn, linear=(-0.3 * speed, 0.0, 0.0))
    simulation.step(math.ceil(0.8 / speed / 1e-3))
    assert velocity_of(simulation, 0) == pytest.approx([0.7 * speed, 0.0, 0.0], abs=1e-9 * speed)
    assert velocity_of(simulation, 1) == pytest.approx([-0.3 * speed, 0.0, 0.0], abs=1e-9 * speed)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("pair", [("sphere", "sphere"), ("box", "box"), ("cylinder", "mesh")], ids="-".join)
def test_bodies_meet_when_they_do_not_pass(pair, restitution):
    (one, turn, half), (other, other_turn, other_half) = (FLYING[name] for name in pair)
    materials = tuple(ContactMaterial(name, friction=0.0, restitution=restitution) for name in ("one", "other"))
    simulation = Simulation(loose(solid("one", one), solid("other", other, 3.0), contacts=materials), FREE_SPACE)
    place(simulation, 0, (-0.41, 0.0, half + other_half - 0.02), turn, linear=(150.0, 0.0, 0.0))
    place(simulation, 1, (0.0, 0.0, 0.0), other_turn)
    # they meet at their edges, which makes the lighter one spin
    spins = restitution > 0.0 and pair == ("box", "box")
    with pytest.warns(RuntimeWarning, match='"one" turns by') if spins else nullcontext():
        simulation.step(6)
    momentum = velocity_of(simulation, 0) + 3.0 * velocity_of(simulation, 1)
    assert momentum == pytest.approx([150.0, 0.0, 0.0], abs=1e-9)
    assert velocity_of(simulation, 1)[0] > 1.0


@pytest.mark.parametrize("shape", FLYING)
@pytest.mark.parametrize("spin", [0.0, 200.0])
@pytest.mark.parametrize("wall", ["obstacle", "body"])
def test_fast_body_does_not_pass_through_a_wall(shape, spin, wall):
    geometry, turn, _ = FLYING[shape]
    plate = Box((0.015, 2.0, 2.0))
    if wall == "obstacle":
        world = World(gravity=(0.0, 0.0, 0.0), ground=None, obstacles=(Obstacle("wall", plate),))
        simulation = Simulation(loose(solid("body", geometry)), world)
    else:
        simulation = Simulation(loose(solid("body", geometry), solid("wall", plate, 1e4)), FREE_SPACE)
        place(simulation, 1, (0.0, 0.0, 0.0))
    place(simulation, 0, (-0.63, 0.0, 0.0), turn, (260.0, 0.0, 0.0), (spin, 0.0, 0.0))
    simulation.step(8)
    place_of_wall = simulation.link_pose("wall")[0][0] if wall == "body" else 0.0
    assert simulation.link_pose("body")[0][0] < place_of_wall


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "capsule"])
@pytest.mark.parametrize("ground", ["plane", "field", "obstacle"])
def test_spinning_round_body_lands(shape, ground):
    # its surface moves at up to 35 m/s, but only its centre approaches the ground
    geometry, turn, half = FLYING[shape]
    _, world = ground_below(ground, 0.0, (), ())
    simulation = Simulation(loose(solid("body", geometry), contacts=(ContactMaterial("body", friction=0.0),)), world)
    axis = np.array([0.0, 1.0, 0.0])
    place(simulation, 0, (0.0, 0.0, half + 0.02), turn, angular=400.0 * axis)
    simulation.step(300)
    assert simulation.link_pose("body")[0][2] == pytest.approx(half, abs=2e-5)
    # the solver's tolerance for 1 kg at 0.1 m: 1e-7 kg m2/s
    inertia = principal_inertia(geometry, 1.0)[2]
    assert inertia * spin_of(simulation, 0) == pytest.approx(400.0 * inertia * axis, abs=1e-7)
