"""Fast rotation by the default integrator: energy, nutation and momentum, against closed forms."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.base.errors import ConvergenceError

SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
EARTH = World(ground=None)


def mechanical_energy(simulation):
    energy = simulation.energy()
    return energy.kinetic + energy.potential + energy.elastic


def energies(simulation, seconds, samples=40):
    """Mechanical energy at equal intervals, without that of the start."""
    count = round(seconds / simulation.step_size / samples)
    values = []
    for _ in range(samples):
        simulation.step(count)
        values.append(mechanical_energy(simulation))
    return np.array(values)


@pytest.mark.parametrize(("ratio", "rate"), [(1.6, 80.0), (1.6, 900.0), (0.4, 250.0), (1.93, 100.0)])
def test_nutation_of_a_free_symmetric_body_is_constant(parts, ratio, rate):
    wheel = parts.machine(parts.link("wheel", 2.0, (0.3, 0.3, 0.3 * ratio), com=(0.02, -0.1, 0.05)))
    simulation = Simulation(wheel, SPACE)
    tilt = math.radians(2.0)
    simulation.state.v[3:] = rate * math.sin(tilt), 0.0, rate * math.cos(tilt)

    def nutation():
        momentum = np.array([0.3, 0.3, 0.3 * ratio]) * simulation.state.v[3:]
        return math.atan2(math.hypot(momentum[0], momentum[1]), momentum[2])

    start = nutation()
    simulation.step(1500)
    assert nutation() == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("rate", [0.7, 7.0, 70.0])
def test_energy_of_a_tumbling_body_does_not_drift(parts, rate):
    body = parts.machine(parts.link("wing", 1.0, (0.12, 0.2, 0.31)))
    simulation = Simulation(body, SPACE)
    simulation.state.v[3:] = 0.02 * rate, rate, -0.01 * rate
    start = mechanical_energy(simulation)
    change = energies(simulation, 60.0) / start - 1.0
    # of second order in the angle per step
    assert np.abs(change).max() < 0.1 * (1e-3 * rate) ** 2 + 1e-11
    assert np.abs(simulation.state.v[3:]).max() > 0.9 * rate


def flywheel_in_a_box(parts, inertia):
    return parts.machine(
        parts.link("box", 2.5, (0.02, 0.05, 0.04)),
        parts.link("flywheel", 0.8, inertia),
        parts.joint("axle", "continuous", "box", "flywheel", axis=(0.0, 0.0, 1.0), xyz=(0.1, 0.05, -0.02)),
    )


@pytest.mark.parametrize("rate", [2.0, 40.0, 260.0, 900.0])
def test_energy_of_a_flywheel_in_a_free_box(parts, rate):
    simulation = Simulation(flywheel_in_a_box(parts, (0.004, 0.004, 0.007)), SPACE)
    simulation.state.v[:] = [0.3, -0.1, 0.2, 1.0, 0.5, -0.4, rate]
    start = mechanical_energy(simulation)
    assert np.abs(energies(simulation, 10.0) / start - 1.0).max() < 1e-6


@pytest.mark.parametrize("rate", [20.0, 200.0])
def test_energy_of_an_unbalanced_flywheel_does_not_grow(parts, rate):
    simulation = Simulation(flywheel_in_a_box(parts, (0.002, 0.006, 0.007)), SPACE)
    simulation.state.v[:] = [0.3, -0.1, 0.2, 1.0, 0.5, -0.4, rate]
    start = mechanical_energy(simulation)
    change = np.abs(energies(simulation, 30.0, samples=300) / start - 1.0)
    # rates are those of the middle of the step before the positions: the energy is read with a first-order error
    assert change.max() < 0.05 * 1e-3 * rate
    assert change[200:].max() < 1.5 * change[:100].max()


def gimbals(parts):
    """A top in three hinges, almost without mass but its own."""
    light = (1e-7, 1e-7, 1e-7)
    return parts.machine(
        '<link name="world"/>',
        parts.link("fork", 1e-4, light),
        parts.link("ring", 1e-4, light),
        parts.link("top", 0.5, (8e-4, 8e-4, 5e-4), com=(0.0, 0.0, 0.06)),
        parts.joint("yaw", "continuous", "world", "fork"),
        parts.joint("tilt", "continuous", "fork", "ring", axis=(1, 0, 0)),
        parts.joint("spin", "continuous", "ring", "top"),
        extension='<initial_position joint="tilt" position="0.4"/>',
    )


def on_a_point(parts):
    """The same top on a ball joint."""
    return parts.machine(
        '<link name="world"/>',
        parts.link("top", 0.5, (8e-4, 8e-4, 5e-4), com=(0.0, 0.0, 0.06)),
        parts.joint("pivot", "floating", "world", "top"),
        extension='<spherical_joint joint="pivot" rpy="0.4 0 0"/>',
    )


@pytest.mark.parametrize("make", [gimbals, on_a_point])
@pytest.mark.parametrize("speed", [1500.0, 4000.0])
def test_fast_top_precesses_as_it_should(parts, make, speed):
    """Released without precession, it nutates between two tilts; its mean precession is m g l / (I3 w)."""
    spin = speed * 2.0 * math.pi / 60.0
    simulation = Simulation(make(parts), EARTH)
    simulation.state.v[2] = spin
    start = mechanical_energy(simulation)
    seconds, turned, before = 2.0, 0.0, None
    for _ in range(round(seconds / 1e-3)):
        simulation.step()
        turn = simulation.link_pose("top")[1]
        axis = np.array([2 * (turn[0] * turn[2] + turn[1] * turn[3]), 2 * (turn[1] * turn[2] - turn[0] * turn[3])])
        azimuth = math.atan2(axis[1], axis[0])
        if before is not None:
            turned += (azimuth - before + math.pi) % (2.0 * math.pi) - math.pi
        before = azimuth
        assert abs(mechanical_energy(simulation) / start - 1.0) < 1e-3
    expected = 0.5 * 9.81 * 0.06 / (5e-4 * spin)
    # the sleeping-top expansion is of first order in m g l I1 / (I3 w)^2, and whole nutations are not counted
    slowness = 0.5 * 9.81 * 0.06 * 8e-4 / (5e-4 * spin) ** 2
    assert turned / seconds == pytest.approx(expected, rel=3.0 * slowness + 0.03)


@pytest.mark.filterwarnings("ignore:.*rad in a step")
@pytest.mark.parametrize("make", [gimbals, on_a_point])
@pytest.mark.parametrize("speed", [12000.0, 20000.0])
def test_energy_of_a_very_fast_top_is_bounded(parts, make, speed):
    simulation = Simulation(make(parts), EARTH)
    simulation.state.v[2] = speed * 2.0 * math.pi / 60.0
    start = mechanical_energy(simulation)
    assert np.abs(energies(simulation, 20.0) / start - 1.0).max() < 1e-3


def hanging_chain(parts, links):
    """Rods in a row, released level and straight."""
    chain = ['<link name="world"/>']
    for k in range(links):
        chain.append(parts.link(f"rod_{k}", 0.4, (2e-3, 2e-3, 1e-5), com=(0, 0, -0.12)))
        at = (0, 0, 0) if k == 0 else (0, 0, -0.24)
        chain.append(parts.joint(f"pin_{k}", "continuous", f"rod_{k - 1}" if k else "world", f"rod_{k}", (1, 0, 0), at))
    return parts.machine(*chain, extension='<initial_position joint="pin_0" position="1.5"/>')


def test_hanging_chain_gains_no_energy(parts):
    links = 30
    simulation = Simulation(hanging_chain(parts, links), EARTH)
    start = mechanical_energy(simulation)
    fall = links * 0.4 * 9.81 * links * 0.12
    # free links whirl at a tenth of a radian per step: steps of second order exchange a few per cent
    assert energies(simulation, 20.0).max() - start < 0.05 * fall


def test_a_chain_that_is_too_fast_for_the_variational_integrator_is_refused(parts):
    simulation = Simulation(hanging_chain(parts, 45), EARTH, step=2e-3, integrator="variational")
    with pytest.raises(ConvergenceError, match=r"finds no rates for pin_\d+: take a smaller step"):
        simulation.step(10000)
    assert np.isfinite(simulation.state.q).all()
    assert abs(simulation.joint_velocity.values()).max() < 1e3


def test_a_rotation_too_fast_for_the_step_is_reported(parts):
    wheel = parts.machine(parts.link("wheel", 2.0, (0.3, 0.3, 0.5)))
    simulation = Simulation(wheel, SPACE)
    simulation.state.v[5] = 0.9e3
    simulation.step(10)
    simulation.state.v[5] = 1.2e3
    with pytest.warns(RuntimeWarning, match=r'"wheel" turns by 1\.2 rad in a step'):
        simulation.step(10)


@pytest.mark.parametrize("distance", [0.0, 25.0, 300.0])
def test_driven_rotation_far_from_the_origin(parts, distance):
    """A machine with a fixed base is as far from the origin of the equations as from that of the world."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("fork", 1.2, (0.01, 0.02, 0.015)),
        parts.link("wheel", 0.9, (0.005, 0.005, 0.008), com=(0.0, 0.0, 0.05)),
        parts.joint("tilt", "continuous", "world", "fork", axis=(1, 0, 0), xyz=(distance, 3.0, 0.0)),
        parts.joint("spin", "continuous", "fork", "wheel"),
        extension='<servo_drive joint="spin" mode="effort" effort_limit="1e9"/>',
    )
    simulation = Simulation(machine, EARTH)
    simulation.state.v[:] = 5.0, 0.0
    simulation.command["spin"] = 1.6
    simulation.step(600)
    # the axis of the spin has no other moment than the drive's: w = M t / I
    assert simulation.state.v[1] == pytest.approx(1.6 * 0.6 / 0.008, rel=1e-9)
    assert np.abs(simulation.state.v[0]) < 20.0
