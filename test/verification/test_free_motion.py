"""Motion without contacts: momentum, energy and periods."""

import math

import numpy as np
import pytest
from momentum import momentum_of
from scipy.special import ellipk

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose

FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)


# attached to the world by a floating joint with a rotated and shifted frame
HUNG = (
    '<link name="world"/>',
    '<joint name="free" type="floating"><parent link="world"/><child link="wing"/>'
    '<origin xyz="0.3 -0.2 0.5" rpy="0.4 -1.1 2"/></joint>',
)


@pytest.mark.parametrize("frame", [(), HUNG])
@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.1, -0.05, 0.2)])
def test_lone_body_keeps_its_momentum_through_flips(parts, com, frame):
    # Dzhanibekov: spin about the middle axis, slightly disturbed
    body = parts.machine(parts.link("wing", 3.0, (0.1, 0.2, 0.28), com=com), *frame)
    simulation = Simulation(body, World(gravity=(0.0, 0.0, 0.0), ground=None, spawn=Pose((1.0, -2.0, 3.0))))
    simulation.state.v[:] = [0.3, -0.2, 0.1, 0.1, 20.0, 0.0]
    start = momentum_of(simulation)
    lowest, limit = 20.0, 2e-12 if frame else 1e-12
    for _ in range(40):
        simulation.step(50)
        lowest = min(lowest, simulation.state.v[4])
        # round-off of 2000 steps; the rotated frame's matrix is orthonormal to 1e-16 only, and acts in every step
        change = momentum_of(simulation) - start
        assert np.linalg.norm(change[:3]) < limit * np.linalg.norm(start[:3])
        assert np.linalg.norm(change[3:]) < limit * np.linalg.norm(start[3:])
    assert lowest < -15.0, "the body should have flipped"


def drift(parts, step):
    """Loss of angular momentum of a free double pendulum in 1 s."""
    chain = parts.machine(
        parts.link("base", 3.0, (0.1, 0.2, 0.25)),
        parts.link("arm", 2.0, (0.05, 0.3, 0.3), com=(0.5, 0, 0)),
        parts.joint("hinge", "continuous", "base", "arm", axis=(0, 1, 0), xyz=(0.2, 0, 0)),
    )
    simulation = Simulation(chain, FREE_SPACE, step=step)
    simulation.state.v[:] = [0.2, 0.0, 0.1, 0.5, 1.0, -0.7, 2.0]
    start = momentum_of(simulation)
    simulation.step(round(1.0 / step))
    return np.abs(momentum_of(simulation) - start).max()


def test_momentum_drift_of_a_double_pendulum_is_of_first_order(parts):
    coarse, fine = drift(parts, 1e-3), drift(parts, 2.5e-4)
    assert math.log(coarse / fine, 4) == pytest.approx(1.0, abs=0.15)


def test_pendulum_period(parts):
    length, angle = 0.8, math.radians(60)
    pendulum = parts.machine(
        '<link name="world"/>',
        parts.link("bob", 1.5, (1e-9, 1e-9, 1e-9), com=(0, 0, -length)),
        parts.joint("hinge", "continuous", "world", "bob", axis=(0, 1, 0)),
        extension=f'<initial_position joint="hinge" position="{angle}"/>',
    )
    simulation = Simulation(pendulum, World(ground=None), step=1e-4)
    crossings, before = [], simulation.joint_position["hinge"]
    while len(crossings) < 3:
        simulation.step()
        now = simulation.joint_position["hinge"]
        if before > 0.0 >= now or before < 0.0 <= now:
            crossings.append(simulation.time - 1e-4 * now / (now - before))
        before = now
    period = 4.0 * math.sqrt(length / 9.81) * ellipk(math.sin(angle / 2) ** 2)
    # semi-implicit Euler is symplectic: the period's error is of second order in the step
    assert crossings[2] - crossings[0] == pytest.approx(period, rel=1e-6)


def test_energy_of_a_double_pendulum_is_bounded(parts):
    chain = parts.machine(
        '<link name="world"/>',
        parts.link("upper", 1.0, (0.01, 0.01, 0.01), com=(0, 0, -0.5)),
        parts.link("lower", 1.0, (0.01, 0.01, 0.01), com=(0, 0, -0.5)),
        parts.joint("shoulder", "continuous", "world", "upper", axis=(0, 1, 0)),
        parts.joint("elbow", "continuous", "upper", "lower", axis=(0, 1, 0), xyz=(0, 0, -1)),
        extension='<initial_position joint="shoulder" position="1.2"/>',
    )

    def worst(step):
        simulation = Simulation(chain, World(ground=None), step=step)
        start = simulation.energy()
        largest = 0.0
        for _ in range(round(2.0 / step / 10)):
            simulation.step(10)
            now = simulation.energy()
            largest = max(largest, abs(now.kinetic + now.potential - start.kinetic - start.potential))
        return largest

    coarse, fine = worst(1e-3), worst(2.5e-4)
    assert math.log(coarse / fine, 4) == pytest.approx(1.0, abs=0.2)
    # relative to the 12 J of potential energy that both bobs release
    assert fine < 2e-3 * 12.0


def test_motion_far_from_the_origin_keeps_its_precision(parts):
    # the same tumble at the origin and 100 km away, where world coordinates would lose ten digits of the inertia
    chain = (
        parts.link("base", 3.0, (0.1, 0.2, 0.25)),
        parts.link("arm", 2.0, (0.05, 0.3, 0.3), com=(0.5, 0, 0)),
        parts.joint("hinge", "continuous", "base", "arm", axis=(0, 1, 0), xyz=(0.2, 0, 0)),
    )
    rates = []
    for place in (0.0, 1e5):
        simulation = Simulation(
            parts.machine(*chain), World(gravity=(0.0, 0.0, 0.0), ground=None, spawn=Pose((place, place, 0.0)))
        )
        simulation.state.v[:] = [0.2, 0.0, 0.1, 0.5, 1.0, -0.7, 2.0]
        simulation.step(1000)
        rates.append(np.array(simulation.state.v))
    assert rates[1] == pytest.approx(rates[0], rel=1e-12, abs=1e-12)
