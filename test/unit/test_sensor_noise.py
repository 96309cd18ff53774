"""Errors of sensors: distributions with bounds from the number of samples, Allan deviations, repetition."""

import math

import numpy as np
import pytest

from grouser import Simulation
from grouser.nodes.shared.messages import make_imu
from grouser.physics.description import parse_machine
from grouser.physics.description.data.sensors import Imu
from grouser.physics.description.data.world import World
from grouser.physics.sensors.imu import ImuReading, with_errors
from grouser.physics.sensors.noise import constant_noise, random_walk, white_noise

STEP = 0.001
REST = ImuReading(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.array([0.0, 0.0, 9.81]))


def samples_of(imu, count, every):
    """Errors of angular rate and of specific force at every so many steps, (count, 3) each."""
    readings = [with_errors(imu, REST, every * k, STEP) for k in range(count)]
    return (
        np.array([one.angular_velocity for one in readings]),
        np.array([one.specific_force - REST.specific_force for one in readings]),
    )


def allan_deviation(rate, interval, cluster):
    """Of samples (n, axes) over clusters of so many samples without overlap, mean over the axes, by its definition."""
    whole = len(rate) // cluster
    means = rate[: whole * cluster].reshape(whole, cluster, -1).mean(axis=1)
    return math.sqrt(0.5 * np.mean(np.diff(means, axis=0) ** 2)), interval * cluster


def test_white_noise_of_an_imu_has_the_allan_deviation_of_its_density():
    """N / sqrt(t): the deviation of 3 axes and n clusters scatters by 1 / sqrt(4 n) about it at most; four of these."""
    rate, force = samples_of(Imu("imu", "base", gyroscope_noise=2e-4, accelerometer_noise=3e-3), 4000, 10)
    for cluster in (1, 10, 40):
        for signal, density in ((rate, 2e-4), (force, 3e-3)):
            found, time = allan_deviation(signal, 10 * STEP, cluster)
            assert found == pytest.approx(density / math.sqrt(time), rel=4.0 / math.sqrt(4.0 * 4000 / cluster))


def test_bias_of_an_imu_walks_with_its_density():
    """K sqrt(t / 3), with the same bound."""
    rate, force = samples_of(Imu("imu", "base", gyroscope_walk=1e-3, accelerometer_walk=1e-2), 6000, 50)
    for cluster in (10, 40):
        for signal, density in ((rate, 1e-3), (force, 1e-2)):
            found, time = allan_deviation(signal, 50 * STEP, cluster)
            # the mean of a cluster of m samples instead of an integral adds 1 / (2 m^2)
            expected = density * math.sqrt(time / 3.0 * (1.0 + 0.5 / cluster**2))
            assert found == pytest.approx(expected, rel=4.0 / math.sqrt(4.0 * 6000 / cluster))


def test_random_walk_has_independent_normal_increments_of_unit_variance():
    """Steps 1000 to 5096 of two walks; variances of n numbers scatter by sqrt(2 / n), correlations by 1 / sqrt(n)."""
    walk = np.array([random_walk("walk", step, 2) for step in range(1000, 5097)])
    change = np.diff(walk, axis=0)
    n = len(change)
    assert change.var(axis=0) == pytest.approx([1.0, 1.0], rel=4.0 * math.sqrt(2.0 / n))
    assert np.abs(change.mean(axis=0)).max() < 4.0 / math.sqrt(n)
    assert abs(np.corrcoef(change.T)[0, 1]) < 4.0 / math.sqrt(n)
    for lag in (1, 2, 3, 64):
        assert np.abs(np.mean(change[lag:] * change[:-lag], axis=0)).max() < 4.0 / math.sqrt(n - lag)
    # kurtosis of a normal distribution, which scatters by sqrt(24 / n)
    assert np.mean(change**4, axis=0) == pytest.approx([3.0, 3.0], abs=4.0 * math.sqrt(96.0 / n))


def test_random_walks_spread_as_the_root_of_time():
    """400 walks: their variance after n steps is n."""
    for step in (1, 1000, 3_600_000):
        values = random_walk("many", step, 400)
        assert values.var() == pytest.approx(step, rel=4.0 * math.sqrt(2.0 / 400))
    assert not random_walk("many", 0, 400).any()


def test_errors_differ_between_names_and_steps_and_repeat():
    for noise in (lambda name, step: white_noise(name, step, (5,)), lambda name, step: random_walk(name, step, 5)):
        first = noise("a", 7)
        np.testing.assert_array_equal(noise("a", 7), first)
        assert np.all(noise("b", 7) != first) and np.all(noise("a", 8) != first)
    np.testing.assert_array_equal(constant_noise("a", 3), constant_noise("a", 3))
    assert np.all(constant_noise("a", 3) != constant_noise("b", 3))


def test_bias_at_the_start_is_constant_and_of_its_deviation():
    """A thousand units."""
    biases = np.array(
        [with_errors(Imu(f"u{n}", "base", gyroscope_bias=0.01), REST, 5, STEP).angular_velocity for n in range(1000)]
    )
    assert biases.std() == pytest.approx(0.01, rel=4.0 / math.sqrt(2.0 * biases.size))
    unit = Imu("u7", "base", gyroscope_bias=0.01)
    np.testing.assert_array_equal(with_errors(unit, REST, 99_000, STEP).angular_velocity, biases[7])


def test_orientation_noise_turns_about_each_axis():
    """Small angles: twice the vector part."""
    unit = Imu("imu", "base", orientation_noise=0.01)
    turns = np.array([2.0 * with_errors(unit, REST, step, STEP).orientation[:3] for step in range(2000)])
    assert turns.std(axis=0) == pytest.approx([0.01] * 3, rel=4.0 / math.sqrt(2.0 * 2000))
    assert np.linalg.norm(with_errors(unit, REST, 3, STEP).orientation) == pytest.approx(1.0, abs=1e-14)


def test_covariances_of_an_imu_are_those_of_its_white_noise():
    """Zero means unknown (REP-145): without noise, and of quantities without."""
    noisy = Imu("imu", "base", sample_rate=400.0, gyroscope_noise=1e-3, gyroscope_walk=5.0, accelerometer_noise=2e-2)
    message = make_imu("imu", noisy)
    np.testing.assert_allclose(np.reshape(message.angular_velocity_covariance, (3, 3)), 4e-4 * np.eye(3))
    np.testing.assert_allclose(np.reshape(message.linear_acceleration_covariance, (3, 3)), 0.16 * np.eye(3))
    assert not np.any(message.orientation_covariance)
    exact = make_imu("imu", Imu("imu", "base"))
    assert not np.any(exact.angular_velocity_covariance) and not np.any(exact.linear_acceleration_covariance)


def test_imu_of_a_simulation_has_its_errors_and_repeats_them():
    tree = """<robot name="r">
    <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <grouser><sensor name="exact" type="imu" link="b"/><sensor name="imu" type="imu" link="b" gyroscope_noise="0.01"
    accelerometer_bias="0.1" sample_rate="400"/></grouser></robot>"""
    simulation = Simulation(parse_machine(tree, "r.urdf"), World(ground=None))
    saved = simulation.snapshot()
    simulation.step(10)
    exact, noisy = simulation.sensors.imu["exact"], simulation.sensors.imu["imu"]
    np.testing.assert_array_equal(exact.angular_velocity, 0.0)
    np.testing.assert_allclose(noisy.angular_velocity, 0.01 * 20.0 * white_noise("imu", 10, (3, 3))[0], rtol=1e-12)
    off = noisy.specific_force - exact.specific_force
    np.testing.assert_allclose(off, 0.1 * constant_noise("imu/bias", 6)[3:], rtol=1e-9)
    simulation.restore(saved)
    simulation.step(10)
    np.testing.assert_array_equal(simulation.sensors.imu["imu"].angular_velocity, noisy.angular_velocity)
