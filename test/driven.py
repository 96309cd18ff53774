"""A machine that is driven by a twist, as `cmd_vel` does it, and its dead reckoning."""

import math

import numpy as np

from grouser.program import TWIST
from grouser.runtime.driving import Driver, Odometer
from grouser.runtime.frames import FrameTree
from grouser.runtime.vehicle_parts import make_vehicle

# Between two commands [s].
TICK = 0.02
# Steps in which a machine settles before it drives.
_SETTLING = 300


def drive_by_twist(simulation, twist, ticks):
    """Drives a machine that stands.

    Args:
        simulation: of the machine.
        twist: speeds ahead and to the left [m/s] and yaw rate [rad/s].
        ticks: number of commands.

    Returns:
        Place and heading of the base after each, the heading unwrapped [m, rad], (ticks, 3), and the `Odometer`.
    """
    machine = simulation.machine
    vehicle = make_vehicle(machine)
    driver = Driver(vehicle, simulation)
    simulation.step(_SETTLING)
    frames = FrameTree(machine, simulation.world.ground, "odom", "base_footprint")
    odometer, path = Odometer(vehicle, simulation, frames), []
    for _ in range(ticks):
        for name, value in driver.commands(dict(zip(TWIST, twist, strict=True)), TICK).items():
            simulation.command[name] = value
        simulation.step(round(TICK / simulation.step_size))
        odometer.read()
        (x, y, _), (_, _, z, w) = simulation.base_pose()
        path.append((x, y, 2.0 * math.atan2(z, w)))
    found = np.array(path)
    found[:, 2] = np.unwrap(found[:, 2])
    return found, odometer
