"""Machines and helpers of the tests of fleets."""

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box


def box(size=(0.4, 0.4, 0.4), mass=10.0):
    """A machine that is one box of even density."""
    square = np.square(size)
    inertia = mass / 12.0 * (square.sum() - square)
    inertial = Inertial(Pose(), mass, (inertia[0], 0.0, 0.0, inertia[1], 0.0, inertia[2]))
    return Machine("box", (Link("box", inertial, (Collision("", Pose(), Box(size)),)),), (), "box", True)


def drive(simulation, speed):
    """Commands a speed to all velocity drives [rad/s]."""
    for joint, mode in simulation.command.drives.items():
        if mode == "velocity":
            simulation.command[joint] = speed


def turned(yaw):
    """Quaternion of a rotation about the vertical [rad]."""
    return (0.0, 0.0, float(np.sin(0.5 * yaw)), float(np.cos(0.5 * yaw)))
