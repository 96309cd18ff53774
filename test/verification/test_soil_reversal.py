"""Work of the soil under a wheel by stress integrals along closed paths: it gives no more than it has stored."""

import math
from dataclasses import replace

import numpy as np
import pytest
from soil_rig import LUNAR, RADIUS, SAND, WIDTH, bed, drive, held, loose_wheel, soft

from grouser import load_soil
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Wheel
from grouser.physics.soil.equilibrium import wheel_on_soil

SMALL, LARGE = Wheel("wheel", 0.11, 0.07), Wheel("wheel", 0.45, 0.22, grousers=18, grouser_height=0.02)
SOILS = {
    "lunar": LUNAR,
    "clay": load_soil("clay"),
    "sand of exit angle": load_soil("cmu_sand"),
    "hardening": replace(LUNAR, unloading_stiffness=2e6, unloading_slope=3e8, exponent=0.8),
}
# Sinkage over radius before a path begins, and the time until then [s].
DEPTH, START = 0.13, 0.3
PERIOD, CYCLES = 0.8, 3
STILL = {"rail": 0.0, "cross": 0.0, "lift": 0.0, "steer": 0.0, "spin": 0.0}


def rocking(amplitude, slip):
    """Forward and back by twice the amplitude [radii], with the same slip ratio both ways."""

    def path(radius, phase):
        way = amplitude * (1.0 - math.cos(phase))
        turned = way / (1.0 - slip) if slip >= 0.0 else way * (1.0 + slip)
        return {"rail": radius * way, "spin": turned}

    return path


def out_of_phase(amplitude):
    """The wheel turns a quarter of a period before it moves."""
    return lambda radius, phase: {"rail": amplitude * radius * math.sin(phase), "spin": amplitude * math.cos(phase)}


def lifted(amplitude, sign):
    """Rolling, and rising by a part of the elastic rebound or by more, a quarter of a period apart."""
    return lambda radius, phase: {
        "rail": sign * amplitude * radius * math.sin(phase),
        "spin": sign * amplitude * math.sin(phase),
        "lift": 3e-4 * radius * (1.0 - math.cos(phase)),
    }


def pressed(amplitude):
    """Down and up."""
    return lambda radius, phase: {"lift": amplitude * radius * (1.0 - math.cos(phase))}


def turned(radius, phase):
    """Turned by full circles about the vertical."""
    return {"steer": phase}


def dragged(radius, phase):
    """In circles with a heading that turns along."""
    return {
        "rail": 0.25 * radius * math.sin(phase),
        "cross": 0.25 * radius * (1.0 - math.cos(phase)),
        "steer": 0.6 * math.sin(phase),
    }


PATHS = {
    **{
        f"rocking by {a} radii at slip {s}": rocking(a, s) for a in (2e-4, 0.005, 0.06, 0.35) for s in (0.0, 0.25, -0.4)
    },
    **{f"spinning {a} rad out of phase": out_of_phase(a) for a in (0.003, 0.04)},
    **{f"rising {s:+} while rolling by {a} radii": lifted(a, s) for a in (0.004, 0.07) for s in (1, -1)},
    **{f"pressing by {a} radii": pressed(a) for a in (4e-4, 0.01)},
    "turning in place": turned,
    "dragging in circles": dragged,
}


def follow(soil, wheel, path, step=1e-3):
    """Presses a wheel down, drags it a little to its side, and drives it three times along a closed path.

    Returns:
        Work of the soil on the wheel by its accounts and by those of the drives, and the energy that the soil has
        stored, at each step from the start of the path on [J].
    """
    simulation = held(soft("stress", 0.02, soil, bulldozing=False), wheel, step)
    start, steps = round(START / step), round(PERIOD / step)

    def place(n):
        sunk = -DEPTH * wheel.radius * min(n / (0.7 * start), 1.0)
        moved = {"lift": sunk, "cross": 0.03 * wheel.radius * max(min((n - 0.7 * start) / (0.3 * start), 1.0), 0.0)}
        if n > start:
            begun = path(wheel.radius, 0.0)
            now = path(wheel.radius, 2.0 * math.pi * (n - start) / steps)
            for joint in now:
                moved[joint] = moved.get(joint, 0.0) + now[joint] - begun[joint]
        return STILL | moved

    account, outside, stored = [], [], []
    for n in range(start + CYCLES * steps):
        here, there = place(n), place(n + 1)
        for joint in STILL:
            simulation.command[joint] = (there[joint] - here[joint]) / step
        simulation.step(1)
        balance = simulation.energy_balance()
        account.append(float(simulation.state.soil.soil_work[0]))
        # what the drives do not do, the soil does
        outside.append(balance.kinetic + balance.potential - sum(balance.actuator_work.values()))
        stored.append(float(np.maximum(simulation.state.soil.wheel_elastic[0, :2], 0.0).sum()))
    return tuple(np.array(values)[start - 1 :] for values in (account, outside, stored))


GROUNDS = [("lunar", SMALL), ("clay", LARGE), ("hardening", SMALL)]
# Each path on one ground, and on the others in `make soak`.
PATHS_ON_GROUNDS = [
    pytest.param(name, *ground, marks=() if (k + k // 3 + j) % len(GROUNDS) == 0 else pytest.mark.soak)
    for k, name in enumerate(PATHS)
    for j, ground in enumerate(GROUNDS)
]


@pytest.mark.parametrize("name, soil, wheel", PATHS_ON_GROUNDS)
def test_soil_gives_no_more_than_it_has_stored(name, soil, wheel):
    account, outside, stored = follow(SOILS[soil], wheel, PATHS[name])
    # what is given beyond the store in a step is missing in the next one
    error = max(np.diff(account).max(), 0.0) + 1e-6 * stored.max()
    # at any two times, by the accounts and by the drives
    for work in (account, outside):
        possible = work + stored
        assert (possible - np.minimum.accumulate(possible)).max() < error
    steps = round(PERIOD / 1e-3)
    cycles = np.diff(account[::steps])
    assert cycles.sum() <= stored[0] + error
    # the first cycle leaves the soil as the second finds it
    assert cycles[-1] <= error


def test_stored_energy_is_that_of_the_unloading_lines():
    """A pressed wheel stores p^2 / (2 k) over its contact; pressed slowly it gives that back as it rises."""
    wheel, soil = Wheel("wheel", 0.2, 0.1), replace(LUNAR, cohesion=0.0, friction_angle=0.0, unloading_stiffness=6e6)
    simulation = held(soft("stress", 0.02, soil, bulldozing=False), wheel)
    simulation.command["lift"] = -0.05
    simulation.step(500)
    simulation.command["lift"] = 0.0
    simulation.step(1)
    sunk = 0.025
    entry = math.acos(1.0 - sunk / wheel.radius)
    angle = np.linspace(-entry, entry, 20001)
    pressure = (1370.0 / wheel.width + 8.14e5) * (sunk - wheel.radius * (1.0 - np.cos(angle)))
    energy = np.trapezoid(pressure**2 / (2.0 * 6e6) * np.cos(angle), angle) * wheel.radius * wheel.width
    assert simulation.state.soil.wheel_elastic[0].tolist()[:2] == pytest.approx([energy, 0.0], rel=1e-3, abs=1e-9)
    before = float(simulation.state.soil.soil_work[0])
    simulation.command["lift"] = 0.002
    simulation.step(2500)
    given = float(simulation.state.soil.soil_work[0]) - before
    # Forces of a step are those at its end, and its first velocity is half: both take W h v / 2 of about W / 3 p / k.
    close = 2.0 * 1.5 * 0.002 * 1e-3 / (pressure.max() / 6e6)
    assert given == pytest.approx(energy, rel=close)
    assert simulation.wheel["wheel"].normal_force == 0.0


@pytest.mark.parametrize("mass, speed", [(6.0, 0.7), (22.0, 1.2), (45.0, 0.9)])
@pytest.mark.parametrize("soil", [SAND, load_soil("sandy_loam")], ids=lambda soil: soil.name)
def test_wheel_that_coasts_out_stays_in_its_rut(soil, mass, speed):
    """After it has stopped, it gets back what plastic soil can give: p^2 / (2 k) over half of its contact at most."""
    simulation = loose_wheel(soft("stress", 0.02, soil, bulldozing=False, spawn=Pose((0.0, 0.0, 0.153))), mass)
    simulation.step(800)
    simulation.state.v[0], simulation.state.v[4] = speed, speed / RADIUS
    way, height, work, wheels = [], [], [], []
    for _ in range(3000):
        simulation.step(1)
        way.append(simulation.state.q[0])
        height.append(simulation.state.q[2])
        work.append(float(simulation.state.soil.soil_work[0]))
        wheels.append(simulation.wheel["wheel"])
    stop = int(np.argmax(way))
    peak, entry = wheels[stop].peak_pressure, wheels[stop].entry_angle
    sprung = peak / soil.unloading_stiffness
    elastic = 0.5 * peak * sprung * 2.0 * entry * RADIUS * WIDTH
    assert max(work[stop:]) - work[stop] < elastic
    # it rises by its elastic rebound at most, and rolls back by the fall of its energy over the rest
    assert max(height[stop:]) - height[stop] < sprung
    assert way[stop] - way[-1] < 0.15 * RADIUS
    assert np.abs(simulation.state.v).max() < 0.01


def test_wheel_climbs_out_of_a_hole_by_its_resistance():
    """Dropped too deep it rolls up to its steady sinkage, no steeper than resistance over load."""
    load, slip = 80.0, 0.2
    simulation = bed(soft("stress", 0.02, LUNAR, bulldozing=False), load, height=0.08)
    simulation.step(1500)
    steady = wheel_on_soil(LUNAR, RADIUS, WIDTH, load, slip)
    deep = simulation.wheel["wheel"].sinkage
    assert deep > 1.3 * steady.sinkage
    drive(simulation, slip, 0.1)
    lifted_by, paid, forces = 0.0, 0.0, []
    for _ in range(6000):
        height, way = simulation.joint_position["lift"], simulation.joint_position["rail"]
        simulation.step(1)
        wheel = simulation.wheel["wheel"]
        lifted_by += load * (simulation.joint_position["lift"] - height)
        paid += wheel.resistance * (simulation.joint_position["rail"] - way)
        forces.append(wheel.normal_force)
        # besides, the soil springs back
        assert lifted_by < paid + 0.5 * load * 1e-3
    assert simulation.wheel["wheel"].sinkage == pytest.approx(steady.sinkage, rel=1e-4)
    assert simulation.wheel["wheel"].drawbar_pull == pytest.approx(steady.drawbar_pull, abs=1e-3 * load)
    # no force alternates from step to step
    assert np.abs(np.diff(forces, 2)[500:]).max() < 0.01 * load


def test_stopped_wheel_keeps_its_height_when_the_pressure_shifts():
    """Rolled forward and back by less than its contact, a loaded wheel does not rise beyond its rebound."""
    load = 120.0
    simulation = bed(soft("stress", 0.02, SAND, bulldozing=False), load)
    simulation.step(500)
    drive(simulation, 0.0, 0.05)
    simulation.step(6000)
    sunk = simulation.wheel["wheel"].sinkage
    sprung = simulation.wheel["wheel"].peak_pressure / SAND.unloading_stiffness
    drive(simulation, 0.0, 0.05, direction=-1.0)
    for _ in range(600):
        simulation.step(1)
        assert simulation.wheel["wheel"].sinkage > sunk - sprung
