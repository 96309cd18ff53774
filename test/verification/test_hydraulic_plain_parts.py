"""Plain parts: cylinders in lockstep move like each by itself."""

import math

import numpy as np
import pytest
from hydraulic_rig import Rig, cylinder

from grouser.physics.description.data.hydraulics import Accumulator, DirectionalValve, Fluid, Orifice, Pump
from grouser.physics.hydraulics.trials import SLIDING, STUCK, set_contents

CYLINDERS, ROUNDS, STEPS, STEP = 20, 40, 10, 1e-3
FLUID = Fluid(entrained_air=0.01, dissolved_air=0.05)
# The same equations in another order: some hundred operations of a round-off each, on terms up to a hundred times as
# large as their sum, as a share of the largest number of the kind.
ROUND_OFF = 100 * 100 * 1.1e-16


def valve(n, transition="smooth"):
    """Valves of either order, with all kinds of damping, dead bands, plays and limited rates."""
    dynamics = {"natural_frequency": 120.0, "damping_ratio": (0.5, 1.0, 2.0)[n % 3]}
    edges = {"discharge_coefficient": 0.62, "spool_diameter": 6e-3, "spool_travel": 2e-4, "supply_overlap": 0.05}
    return DirectionalValve(
        **{"name": f"v{n}", "a": f"a{n}", "b": f"b{n}", "gain": 1.0, "tank_underlap": 0.05, **edges, **dynamics},
        transition=transition,
        time_constant=None if n % 4 else 0.01,
        hysteresis=0.02 * (n % 2),
        dead_band=0.03 * (n % 5),
        rate_limit=0.0 if n % 7 else 8.0,
    )


def piston(n, **more):
    numbers = {"piston_side": f"a{n}", "rod_side": f"b{n}", "viscous_friction": 2000.0}
    numbers |= {"dry_friction": (3000.0, 200.0, 0.0)[n % 3], "barrel_modulus": 3e10 if n % 2 else math.inf}
    return cylinder(f"c{n}", **numbers | more)


def rig(*more, transition="smooth"):
    elements = [each for n in range(CYLINDERS) for each in (valve(n, transition), piston(n))]
    return Rig(Pump("supply", supply_pressure=10e6, outlet="supply"), *elements, *more, fluid=FLUID)


def scatter(one, random):
    """Sets a random state: some cylinders stick, some of these behind brakes, and some have cavities."""
    now, shape, moving = one.now, CYLINDERS, ~one.network.constant
    sticks = random.random(shape) < 0.3
    now.position[:], now.velocity[:] = random.uniform(0.0, 0.5, shape), random.normal(0.0, 0.1, shape)
    now.velocity[sticks] = 0.0
    now.direction[:], now.regime[:] = np.where(now.velocity >= 0.0, 1.0, -1.0), np.where(sticks, STUCK, SLIDING)
    pressures = random.uniform(1e5, 1e7, moving.sum())
    now.pressure[moving] = np.where(random.random(moving.sum()) < 0.1, 1e4, pressures)
    now.spool[:], one.command[:] = random.uniform(-1.0, 1.0, (shape, 3)), random.uniform(-1.1, 1.1, shape)
    one.command[random.random(shape) < 0.3] = 0.0
    one.workspace.loads.acceleration[:] = random.normal(0.0, 10.0, shape)
    one.workspace.loads.brake[:] = np.where(random.random(shape) < 0.3, 1e5, 0.0)
    set_contents(one.network.oil, now)


def assert_same(ours, theirs):
    pairs = [("trace", ours.prediction.trace[:, 0], theirs.prediction.trace[:, 0])]
    for tree in ("now", "accounts"):
        other = getattr(theirs, tree)._asdict()
        pairs += [(name, array, other[name]) for name, array in getattr(ours, tree)._asdict().items()]
    for name, our, their in pairs:
        scale = np.abs(their).max(axis=0, initial=0.0)
        assert np.all(np.abs(our - their) <= ROUND_OFF * scale), name
    assert np.array_equal(ours.workspace.substeps, theirs.workspace.substeps)


def advance_both(ours, theirs):
    """One step in lockstep and one of each part by itself; returns which cylinders were in lockstep."""
    # a part advanced by itself leaves its whole step there
    ours.workspace.whole.position[:] = math.nan
    ours.advance_together(STEP)
    theirs.prediction.trace_length[:] = 0
    theirs.advance(STEP)
    return np.isnan(ours.workspace.whole.position)


@pytest.mark.parametrize("transition", ["smooth", "linear"])
def test_lockstep_of_plain_parts_agrees_with_each_by_itself(transition):
    ours, theirs = rig(transition=transition), rig(transition=transition)
    assert len(ours.network.plain_part) == CYLINDERS
    kinds = np.zeros(3)
    for number in range(ROUNDS):
        for one in (ours, theirs):
            scatter(one, np.random.default_rng(number))
            # every other time after the initial transient
            one.advance(STEP, 100 * (number % 2))
        for _ in range(STEPS):
            sticks, braked = ours.now.regime == STUCK, ours.workspace.loads.brake > 0.0
            together = advance_both(ours, theirs)
            kinds += [np.sum(together & kind) for kind in (~sticks, sticks & ~braked, sticks & braked)]
            assert_same(ours, theirs)

    # sliding, stuck and braked cylinders: each kind is in lockstep more than once
    assert np.all(kinds > ROUNDS * STEPS)


def test_parts_outside_the_lockstep_scheme_are_advanced_by_themselves():
    ours, theirs = rig(), rig()
    for one in (ours, theirs):
        scatter(one, np.random.default_rng(1))
        one.now.regime[:], one.now.position[:], one.now.velocity[:] = STUCK, 0.25, 0.0
        one.now.spool[:], one.command[:], one.now.pressure[~one.network.constant] = 0.0, 0.0, 3e6
        set_contents(one.network.oil, one.now)
        one.workspace.loads.brake[:] = 1e5
        one.workspace.faults.stuck_spool[0] = True
        one.workspace.faults.slow_spool[1] = 0.5
        one.now.position[2] = 0.0

    together = advance_both(ours, theirs)
    assert not together[:3].any() and together[3:].all()
    assert_same(ours, theirs)

    for one in (ours, theirs):
        one.workspace.faults.leaking[0] = True
    assert not advance_both(ours, theirs).any()
    assert_same(ours, theirs)


def test_parts_that_are_not_plain():
    static = rig(piston(CYLINDERS, static_friction=300.0), valve(CYLINDERS)).network
    shared = rig(piston(CYLINDERS, piston_side="a2", rod_side="b2"), Accumulator("gas", "a1", 1e-3, 2e6, 1.2)).network
    bypassed = rig(Orifice("bleed", "a0", "b0", diameter=1e-3, discharge_coefficient=0.7)).network

    for network, fewer in ((static, 0), (shared, 2), (bypassed, 1)):
        assert len(network.plain_part) == CYLINDERS - fewer


def test_lockstep_with_steps_of_another_length():
    """The lanes hold spool responses for the previous step length."""
    ours, theirs = rig(), rig()
    for one in (ours, theirs):
        scatter(one, np.random.default_rng(2))
    advance_both(ours, theirs)
    ours.advance_together(0.1 * STEP)
    theirs.prediction.trace_length[:] = 0
    theirs.advance(0.1 * STEP)
    assert_same(ours, theirs)
