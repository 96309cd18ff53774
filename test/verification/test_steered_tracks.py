"""A vehicle on tracks that arms steer: it goes where cmd_vel says, and its odometry tells so."""

import math

import numpy as np
import pytest
from driven import TICK, drive_by_twist
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.runtime.vehicle_parts import make_vehicle

REACH = 0.5


def test_steered_tracks_are_wheels_at_their_middles_that_turn_about_their_arms_axes():
    vehicle = make_vehicle(shipped_machine("four_track_carrier"))
    places = {wheel.name: (wheel.centre, wheel.pivot) for wheel in vehicle.wheels}
    assert places["front_left"] == (pytest.approx((1.4, 0.85)), pytest.approx((0.9, 0.85)))
    assert places["rear_right"] == (pytest.approx((-1.4, -0.85)), pytest.approx((-0.9, -0.85)))
    twist = np.array([0.3, 0.0, 0.08])
    allowed, angles = vehicle.steer(twist, np.zeros(4))
    assert allowed == pytest.approx(twist)
    for wheel, angle in zip(vehicle.wheels, angles, strict=True):
        ahead = np.array([math.cos(angle), math.sin(angle)])
        x, y = np.array(wheel.pivot) + math.copysign(REACH, wheel.centre[0]) * ahead
        # the middle of the track moves along it
        velocity = np.array([twist[0] - twist[2] * y, twist[2] * x])
        assert velocity[0] * ahead[1] - velocity[1] * ahead[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("twist", [(0.3, 0.0, 0.1), (-0.3, 0.0, 0.06), (0.3, 0.1, 0.0)])
def test_carrier_on_steered_tracks_goes_where_it_is_told_and_knows_it(twist):
    """Ahead in a left turn, back in a turn, and as a crab; steady after the arms have slewed, within 3 %.

    In a turn the point of a track that goes straight along it is a sixth of its length ahead of its middle: shear grows
    from the front of its contact (docs/tracks_theory.md, s0 of wide turns). The hull drifts outwards by that.
    """
    machine = shipped_machine("four_track_carrier")
    simulation = Simulation(machine, World())
    path, odometer = drive_by_twist(simulation, twist, 500)
    steady = path[250:]
    rates = np.diff(steady, axis=0) / TICK
    yaw = 0.5 * (steady[1:, 2] + steady[:-1, 2])
    forward = np.mean(rates[:, 0] * np.cos(yaw) + rates[:, 1] * np.sin(yaw))
    left = np.mean(rates[:, 1] * np.cos(yaw) - rates[:, 0] * np.sin(yaw))
    found = (forward, left, rates[:, 2].mean())
    drift = -math.copysign(machine.tracks[0].path.longest_run / 6.0, twist[0]) * found[2]
    assert found[0] == pytest.approx(twist[0], rel=0.03)
    assert found[1] == pytest.approx(twist[1] + drift, abs=0.002)
    assert found[2] == pytest.approx(twist[2], rel=0.03, abs=1e-4)
    error = odometer.reckoning.pose - path[-1]
    deviation = np.sqrt(np.diag(odometer.reckoning.covariance))
    way = np.abs(np.diff(path[:, :2], axis=0)).sum()
    assert np.hypot(*error[:2]) < 0.03 * way
    assert np.all(np.abs(error) < 3.0 * deviation + 0.01)
    assert simulation.diagnostics.unsettled_steps == 0
