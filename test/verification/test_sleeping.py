"""Sleep: free bodies at rest leave the steps, wake when they are touched, and go on as if they had not slept."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fleet_machines import box, drive
from loose_bodies import GRAVITY, leaning_world, loose, place, solid
from shipped import shipped_machine

from grouser import Member, Pose, Simulation, World, carry_over, combine
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.trees import leaves
from grouser.physics.contact import collide
from grouser.physics.contact.sleeping_room import REST_SPEED, REST_TIME
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.mechanism import Collision, Inertial, Link
from grouser.physics.description.data.shapes import Box, Sphere

SIDE, MASS = 0.2, 8.0
# Steps after which everything at rest since the start sleeps.
SOON = 700


def stack(boxes=4, ball=False, world=None, **settings):
    """Cubes on each other, flush, and a ball beside them."""
    links = [solid(f"b{k}", Box((SIDE,) * 3), MASS) for k in range(boxes)]
    if ball:
        links.append(solid("ball", Sphere(0.1), 5.0))
    simulation = Simulation(loose(*links), world or World(), **{"sleeping": True} | settings)
    for k in range(boxes):
        place(simulation, k, (0.0, 0.0, SIDE * (k + 0.5)))
    if ball:
        place(simulation, boxes, (-3.0, 0.0, 0.1))
    return simulation


def throw(simulation):
    """Throws the ball at the stack."""
    place(simulation, 4, (-1.0, 0.03, 0.5), linear=(6.0, 0.0, 1.0))


def same_bits(one, other):
    """Whether two states have the same bits, whatever their capacity."""
    for a, b in zip(leaves(one), leaves(other), strict=True):
        both = min(len(a), len(b))
        if a[:both].tobytes() != b[:both].tobytes() or a[both:].any() or b[both:].any():
            return False
    return True


# --- falling asleep ---------------------------------------------------------------------------------------------------


def test_stack_sleeps_and_stays_where_it_is():
    simulation = stack()
    simulation.step(SOON)
    assert simulation.asleep == ("b0", "b1", "b2", "b3")
    before = simulation.state.q.copy()
    simulation.step(2000)
    assert np.array_equal(simulation.state.q, before) and not simulation.state.v.any()
    assert simulation.diagnostics.contact_count == 0
    assert simulation.time == pytest.approx(1e-3 * (SOON + 2000))


def test_nothing_sleeps_unless_told_so():
    simulation = stack(sleeping=False)
    simulation.step(SOON)
    assert simulation.asleep == () and simulation.diagnostics.contact_count == 16


def test_island_sleeps_after_the_time_at_rest_and_not_before():
    simulation = stack(1)
    simulation.step(round(REST_TIME / simulation.step_size) - 1)
    assert simulation.asleep == ()
    simulation.step(100)
    assert simulation.asleep == ("b0",)


def test_contacts_of_sleeping_bodies_are_read():
    simulation = stack()
    simulation.step(SOON)
    sleeping = {(one.link, one.other, *np.round(one.point_world, 4)): one for one in simulation.contacts()}
    assert len(sleeping) == 16
    for k in range(4):
        below = [
            one for one in simulation.contacts() if {one.link, one.other} == {f"b{k}", f"b{k - 1}" if k else "ground"}
        ]
        carried = [one.force_world if one.link == f"b{k}" else -one.force_world for one in below]
        # the solver leaves 1e-6 m/s in a step of a millisecond
        assert sum(carried) == pytest.approx([0.0, 0.0, (4 - k) * MASS * GRAVITY], abs=1e-3 * 4 * MASS)
        wrench = simulation.contact_wrench[f"b{k}"]
        assert wrench[:3] == pytest.approx([0.0, 0.0, MASS * GRAVITY], abs=1e-3 * 4 * MASS)
    simulation.wake()
    simulation.step(1)
    for one in simulation.contacts():
        before = sleeping[(one.link, one.other, *np.round(one.point_world, 4))]
        assert one.force_world == pytest.approx(before.force_world, abs=1e-3 * 4 * MASS)
        assert one.depth == pytest.approx(before.depth, abs=1e-8)


@pytest.mark.parametrize("slower", [True, False])
def test_box_on_a_slope_sleeps_only_where_friction_holds(slower):
    friction, share = 0.5, 1e-4
    slope = math.atan(friction * (1.0 - share if slower else 1.0 + share))
    world = leaning_world(slope, friction=friction)
    awake, simulation = (stack(1, world=world, sleeping=sleeping) for sleeping in (False, True))
    for made in (awake, simulation):
        made.step(3000)
    if slower:
        assert simulation.asleep == ("b0",)
    else:
        # it slides by g (sin - mu cos) t^2/2, from a slope as little too steep
        slid = 0.5 * GRAVITY * math.cos(slope) * friction * share * 3.0**2
        assert simulation.state.q[0] == pytest.approx(slid, rel=0.05)
        assert simulation.asleep == () and same_bits(simulation.state.q, awake.state.q)


def test_body_at_the_apex_of_its_flight_does_not_sleep():
    # below the speed of rest for a fifth of the time of rest about the apex
    gravity = 10.0 * REST_SPEED * 1e-6 / REST_TIME
    simulation = stack(1, world=World(gravity=(0.0, 0.0, -gravity), ground=World().ground))
    place(simulation, 0, (0.0, 0.0, 0.2), linear=(0.0, 0.0, gravity))
    simulation.step(2000)
    assert simulation.asleep == ()
    assert simulation.state.v[2] == pytest.approx(-gravity, rel=1e-9)


def test_weightless_body_that_touches_nothing_does_not_sleep():
    simulation = stack(1, world=World(gravity=(0.0, 0.0, 0.0)))
    place(simulation, 0, (0.0, 0.0, 1.0), linear=(1e-7, 0.0, 0.0))
    simulation.step(2000)
    assert simulation.asleep == () and simulation.state.q[0] == pytest.approx(2e-7, rel=1e-9)


@pytest.mark.parametrize("angle", [1e-4, 0.2])
def test_rocking_body_does_not_sleep_where_it_turns(angle):
    """A ball whose centre of mass is low, on its way back and forth; its period is 1.5 s."""
    radius, low, mass, inertia = 0.1, 0.02, 3.0, 0.4 * 3.0 * 0.01
    inertial = Inertial(Pose((0.0, 0.0, -low)), mass, (inertia, 0.0, 0.0, inertia, 0.0, inertia))
    ball = Link("ball", inertial, (Collision("", Pose(), Sphere(radius)),))
    simulation = Simulation(loose(ball), sleeping=True)
    place(simulation, 0, (0.0, 0.0, radius), (0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)))
    turns, period = [], 2.0 * math.pi * math.sqrt((inertia + mass * (radius - low) ** 2) / (mass * GRAVITY * low))
    for _ in range(300):
        simulation.step(20)
        assert simulation.asleep == ()
        turns.append(2.0 * math.asin(simulation.state.q[4]))
    crossings = np.flatnonzero(np.diff(np.sign(turns)))
    assert np.diff(crossings).mean() * 0.02 == pytest.approx(0.5 * period, rel=0.05)


def test_body_that_a_machine_touches_does_not_sleep():
    table = replace(box((1.0, 1.0, 0.2)), floating_base=False)
    crawler = shipped_machine("rover")
    members = {"table": Member(table, Pose((0.0, 0.0, 0.1))), "box": Member(box(), Pose((0.0, 0.0, 0.4)))}
    members |= {"rover": Member(crawler, Pose((5.0, 0.0, 0.0))), "load": Member(box(mass=1.0), Pose((5.0, 0.0, 2.0)))}
    simulation = Simulation(combine(members), sleeping=True)
    rover = simulation.part("rover")
    top = rover.bounds()[1][2]
    simulation.part("load").place((*rover.base_pose()[0][:2], top + 0.2), (0.0, 0.0, 0.0, 1.0))
    simulation.step(3000)
    # the table is fixed to the world; the rover's own motion is not asked for
    assert simulation.asleep == ("box/box",)
    assert any(one.other.startswith("rover") for one in simulation.part("load").contacts())


def test_elastic_contacts_sleep_with_their_energy():
    material = ContactMaterial("box", stiffness=1e5, damping=2e3)
    machine = replace(box(mass=10.0), contacts=(material,))
    simulation = Simulation(machine, World(spawn=Pose((0.0, 0.0, 0.21))), sleeping=True)
    simulation.step(3000)
    assert simulation.asleep == ("box",)
    energy, balance = simulation.state.contact.energy.copy(), simulation.energy_balance()
    assert energy.sum() == pytest.approx((10.0 * GRAVITY) ** 2 / (2.0 * 4e5), rel=1e-4)
    simulation.step(1000)
    assert np.array_equal(simulation.state.contact.energy, energy)
    assert simulation.energy_balance().residual == balance.residual
    assert abs(balance.residual) < 1e-3 * 10.0 * GRAVITY * 0.01


# --- waking -----------------------------------------------------------------------------------------------------------


def test_stack_that_is_hit_moves_as_one_that_was_awake():
    """A ball hits after 0.12 s; the two motions differ as their states before did, by the solver's tolerance."""
    awake, asleep = stack(ball=True, sleeping=False), stack(ball=True)
    for simulation in (awake, asleep):
        simulation.step(SOON)
        throw(simulation)
    simulation = asleep
    asleep.step(100)
    awake.step(100)
    assert simulation.asleep == ("b0", "b1", "b2", "b3")
    starts = [simulation.energy_balance() for simulation in (awake, asleep)]
    for _ in range(6):
        awake.step(25)
        asleep.step(25)
        assert np.abs(asleep.state.q - awake.state.q).max() < 1e-4
    assert asleep.asleep == ()
    assert np.abs(asleep.state.v[:24]).max() > 1.0
    for simulation, start in zip((awake, asleep), starts, strict=True):
        lost = simulation.energy_balance().residual - start.residual
        # of 90 J; fast rotation and the impact leave as much in the awake one
        assert abs(lost) < 0.1
    assert asleep.energy_balance().residual == pytest.approx(awake.energy_balance().residual, abs=1e-3)


def test_stack_wakes_before_the_ball_touches_it():
    simulation = stack(ball=True)
    simulation.step(SOON)
    throw(simulation)
    while simulation.asleep:
        still = simulation.state.q[:28].copy()
        simulation.step(1)
        assert simulation.time < 2.0
    # in the step in which it wakes, the ball is within two steps of it and has pushed nothing farther than that
    gap = abs(simulation.state.q[28] + 0.1 + 0.1)
    assert gap < 2.0 * 1e-3 * 6.1 + 2e-3
    assert np.abs(simulation.state.q[:28] - still).max() < 6.1e-3


def test_islands_wake_one_by_one():
    links = [solid(f"b{k}", Box((SIDE,) * 3), MASS) for k in range(6)]
    simulation = Simulation(loose(*links, solid("ball", Sphere(0.1), 5.0)), sleeping=True)
    for k in range(6):
        place(simulation, k, (2.0 * (k // 2), 0.0, SIDE * (k % 2 + 0.5)))
    place(simulation, 6, (0.0, -3.0, 0.1))
    simulation.step(SOON)
    assert len(simulation.asleep) == 7
    place(simulation, 6, (2.0, -0.5, 0.15), linear=(0.0, 2.0, 0.0))
    simulation.step(300)
    assert simulation.asleep == ("b0", "b1", "b4", "b5")


@pytest.mark.parametrize("change", ["velocity", "position", "place", "wake", "reset"])
def test_change_from_outside_wakes_the_island(change):
    members = {name: Member(box(), Pose((x, 0.0, 0.2))) for name, x in (("a", 0.0), ("b", 3.0))}
    simulation = Simulation(combine(members), sleeping=True)
    simulation.step(SOON)
    assert len(simulation.asleep) == 2
    if change == "velocity":
        simulation.state.v[2] = 1.0
    elif change == "position":
        simulation.state.q[2] += 0.1
    elif change == "place":
        simulation.part("a").place((0.0, 0.0, 0.5), (0.0, 0.0, 0.0, 1.0))
    elif change == "wake":
        simulation.wake()
    else:
        simulation.reset()
    simulation.step(10)
    alone = ("b/box",) if change in ("velocity", "position", "place") else ()
    assert simulation.asleep == alone
    if change in ("position", "place"):
        assert simulation.state.v[2] == pytest.approx(-GRAVITY * 0.01, rel=1e-9)
    elif change == "velocity":
        assert simulation.state.v[2] == pytest.approx(1.0 - GRAVITY * 0.01, rel=1e-9)


def test_support_that_is_taken_away_wakes_what_it_carries():
    simulation = stack(3)
    simulation.step(SOON)
    place(simulation, 0, (5.0, 0.0, 0.1))
    simulation.step(100)
    assert simulation.asleep == ()
    assert simulation.state.q[7 + 2] == pytest.approx(1.5 * SIDE - 0.5 * GRAVITY * 0.1**2, rel=0.02)


def test_rover_first_in_the_fleet_pushes_sleeping_boxes():
    """The poses of sleeping bodies are relative to the rover, which moves; they stay in the world until it comes."""
    members = {"rover": Member(shipped_machine("rover"), Pose((0.0, 0.0, 0.0)))}
    members |= {f"box{k}": Member(box((0.4, 1.2, 0.4), 5.0), Pose((2.0 + 2.0 * k, 0.0, 0.2))) for k in range(3)}
    pair = [Simulation(combine(members), sleeping=sleeping) for sleeping in (False, True)]
    for simulation in pair:
        simulation.step(1500)
        drive(simulation.part("rover"), 8.0)
    awake, asleep = pair
    assert asleep.asleep == ("box0/box", "box1/box", "box2/box")
    points = {tuple(np.round(one.point_world, 9)) for one in asleep.part("box2").contacts()}
    woken, start = 0, asleep.part("rover").base_pose()[0][0]
    while len(asleep.asleep) == 3:
        awake.step(10)
        asleep.step(10)
        woken += 10
        assert woken < 10000
    assert asleep.asleep == ("box1/box", "box2/box")
    assert asleep.part("rover").base_pose()[0][0] > start + 0.2
    assert {tuple(np.round(one.point_world, 9)) for one in asleep.part("box2").contacts()} == points
    for _ in range(20):
        awake.step(10)
        asleep.step(10)
    assert np.abs(asleep.state.q - awake.state.q).max() < 1e-4
    assert asleep.part("box0").base_pose()[0][0] > 2.02


# --- bits -------------------------------------------------------------------------------------------------------------


def test_restart_and_number_of_steps_change_no_bit():
    whole, parts = stack(ball=True), stack(ball=True)
    twin = stack(ball=True)
    for simulation in (whole, parts, twin):
        throw(simulation)
        place(simulation, 4, (-12.0, 0.03, 1.2), linear=(9.0, 0.0, 6.3))
    whole.step(2000)
    for _ in range(2000):
        parts.step(1)
    assert same_bits(whole.state, parts.state)
    slept = 0
    for _ in range(20):
        twin.step(100)
        slept = max(slept, len(twin.asleep))
        saved = twin.snapshot()
        twin.reset()
        twin.step(1)
        twin.restore(saved)
    assert same_bits(whole.state, twin.state)
    assert slept == 4


def test_copies_of_a_batch_sleep_by_themselves():
    simulation = stack(ball=True)
    batch = simulation.batch(3)
    throw(batch[1])
    batch.step(SOON, threads=2)
    assert len(batch[0].asleep) == len(batch[2].asleep) == 5
    assert batch[1].asleep == ()
    simulation.step(SOON)
    assert same_bits(batch[0].state, simulation.state)


def test_memory_grows_for_sleeping_contacts_and_changes_no_bit(monkeypatch):
    large = stack(8)
    monkeypatch.setattr(collide, "_FIRST_PAIRS", 1)
    monkeypatch.setattr(collide, "_PAIRS_OF_SHAPE", 0)
    small = stack(8)
    for simulation in (large, small):
        simulation.step(SOON)
        assert len(simulation.asleep) == 8
    place(small, 7, (2.0, 0.0, 0.1))
    place(large, 7, (2.0, 0.0, 0.1))
    for simulation in (large, small):
        simulation.step(SOON)
    assert same_bits(small.state, large.state)
    assert int(small.state.sleeping.contacts.memory.count[0]) == 32


def test_machines_come_and_go_while_others_sleep():
    members = {f"box{k}": Member(box(), Pose((0.0, 0.0, 0.2 + 0.4 * k))) for k in range(2)}
    simulation = Simulation(combine(members), sleeping=True)
    simulation.step(SOON)
    assert len(simulation.asleep) == 2
    later = Simulation(combine(members | {"other": Member(box(), Pose((3.0, 0.0, 0.2)))}), sleeping=True)
    before = simulation.state.q.copy()
    carry_over(simulation, later)
    assert later.asleep == ()
    later.step(1)
    assert np.abs(later.state.v[:12]).max() < 1e-5
    later.step(SOON)
    assert len(later.asleep) == 3
    assert np.abs(later.state.q[:14] - before).max() < 1e-6


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_option_is_true_or_false(value):
    with pytest.raises(ParameterError, match=r"sleeping.*true or false"):
        Simulation(box(), sleeping=value)
