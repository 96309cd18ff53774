"""The excavator as Nav2 drives it: cmd_vel on its travel valves, dead reckoning, and a lidar that does not see it."""

import math

import numpy as np
import pytest
from driven import TICK, drive_by_twist

from grouser import Simulation, World, load_machine
from grouser.catalogue import machine_file
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Obstacle


@pytest.fixture(scope="module")
def machine():
    return load_machine(machine_file("excavator"), {"lidar": "true"})


def test_lidar_of_the_excavator_sees_a_wall_and_not_the_excavator(machine):
    """The arm folded ahead, the blade as it starts."""
    wall = Obstacle("wall", Box((0.2, 2.0, 1.0)), Pose((4.1, 0.0, 0.5)))
    seen = Simulation(machine, World(obstacles=(wall,))).sensors.lidar["lidar"].ranges
    assert seen[360] == pytest.approx(4.0 - 0.62, abs=2e-3)
    assert np.isinf(seen[:180]).all() and np.isinf(seen[-180:]).all()
    assert np.isinf(Simulation(machine, World()).sensors.lidar["lidar"].ranges).all()


@pytest.mark.parametrize("twist", [(0.4, 0.0, 0.0), (0.3, 0.0, 0.2), (0.0, 0.0, -0.3)])
def test_excavator_follows_cmd_vel_and_its_odometry_follows_it(machine, twist):
    """In the greatest speeds of config/nav2; turns fall behind by up to a fifth, which the covariance covers."""
    path, odometer = drive_by_twist(Simulation(machine, World()), twist, 300)
    speed = np.hypot(*np.diff(path[150:, :2], axis=0).T).mean() / TICK
    yaw_rate = (path[-1, 2] - path[150, 2]) / (149 * TICK)
    assert speed == pytest.approx(twist[0], rel=0.05, abs=0.03)
    assert 0.8 * abs(twist[2]) - 0.005 <= math.copysign(1.0, twist[2]) * yaw_rate <= 1.1 * abs(twist[2]) + 0.005
    error = odometer.reckoning.pose - path[-1]
    assert np.all(np.abs(error) < 3.0 * np.sqrt(np.diag(odometer.reckoning.covariance)) + 0.01)
