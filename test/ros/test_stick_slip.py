"""A mass with dry friction on ROS 2: pulled at constant speed, it sticks and slips at the published period."""

import math

import numpy as np
import pytest

import grouser
from grouser.catalogue import machine_file

# Of urdf/stick_slip.urdf.xacro: f1 R by default, natural frequency [rad/s], displacement [m] of one in normal form.
EXCESS, FREQUENCY, LENGTH = 1.0, 10.0, 0.002
STEP = 5e-4  # [s], the experiment's 0.005
RATE = 500.0  # of samples [Hz]; the load goes up as often
DURATION = 7.5  # [s]: ten periods and more


@pytest.fixture(scope="module")
def compiled_masses():
    grouser.Simulation(grouser.load_machine(machine_file("stick_slip"))).step(1)


def test_a_pulled_mass_sticks_and_slips_at_the_published_period(run_live, compiled_masses):
    """The program that the launch file plays."""
    time, place, speed = run_live("stick_slip", DURATION, RATE, machine="stick_slip", step=STEP)
    slips = speed != 0.0
    # no creep while it sticks
    stuck = ~slips[1:] & ~slips[:-1]
    assert stuck.sum() > 500 and (np.diff(place)[stuck] == 0.0).all()
    starts = np.flatnonzero(slips[1:] & ~slips[:-1]) + 1
    assert len(starts) >= 10
    # T = 2 pi - 2 atan A + 2 A; twice the 0.5 % of the experiment. A line through all starts, each known to 2 ms.
    period = (2.0 * math.pi - 2.0 * math.atan(EXCESS) + 2.0 * EXCESS) / FREQUENCY
    assert np.polyfit(range(len(starts)), time[starts], 1)[0] == pytest.approx(period, rel=0.01)
    # the mean speed is that of the pull
    assert np.polyfit(range(len(starts)), place[starts], 1)[0] == pytest.approx(LENGTH * FREQUENCY * period, rel=0.01)
