"""Free solid bodies for the closed forms of contact."""

import math

import numpy as np

from grouser import Simulation, World
from grouser.physics.base import spatial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Sphere
from grouser.physics.description.data.world import Ground

GRAVITY = 9.81
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
# Rotates the axis z of a cylinder or capsule to y.
LYING = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))


def principal_inertia(geometry: Geometry, mass: float) -> tuple[float, float, float]:
    """Moments of inertia of a solid about its axes [kg m2]; of a mesh or point set, those of its bounding box."""
    if isinstance(geometry, Sphere):
        return (0.4 * mass * geometry.radius**2,) * 3
    if isinstance(geometry, Cylinder | Capsule):
        across = mass * (3 * geometry.radius**2 + geometry.length**2) / 12
        return across, across, 0.5 * mass * geometry.radius**2
    size = geometry.size if isinstance(geometry, Box) else 2 * np.abs(_points(geometry)).max(axis=0)
    x, y, z = (mass * side**2 / 12 for side in size)
    return float(y + z), float(x + z), float(x + y)


def _points(geometry):
    return geometry.points if hasattr(geometry, "points") else geometry.hull


def solid(name: str, geometry: Geometry, mass: float = 1.0) -> Link:
    """A homogeneous body with one shape."""
    x, y, z = principal_inertia(geometry, mass)
    return Link(name, Inertial(Pose(), mass, (x, 0.0, 0.0, y, 0.0, z)), (Collision("", Pose(), geometry),))


def loose(*links: Link, **attributes) -> Machine:
    """A machine of links without joints."""
    joints = [Joint(f"free_{link.name}", "floating", "world", link.name) for link in links]
    return Machine("loose", (Link("world"), *links), tuple(joints), "world", floating_base=False, **attributes)


def place(simulation: Simulation, body: int, position, quaternion=UPRIGHT, linear=(0.0,) * 3, angular=(0.0,) * 3):
    """Places a free body, counted from 0, and sets its speeds in world axes."""
    simulation.state.q[7 * body : 7 * body + 7] = [*position, *quaternion]
    turn = spatial.matrix(quaternion)
    simulation.state.v[6 * body : 6 * body + 6] = [*(turn.T @ linear), *(turn.T @ angular)]


def velocity_of(simulation: Simulation, body: int) -> np.ndarray:
    """Linear velocity of a free body in world axes [m/s]."""
    turn = spatial.matrix(simulation.state.q[7 * body + 3 : 7 * body + 7])
    return turn @ simulation.state.v[6 * body : 6 * body + 3]


def spin_of(simulation: Simulation, body: int) -> np.ndarray:
    """Angular velocity of a free body in world axes [rad/s]."""
    turn = spatial.matrix(simulation.state.q[7 * body + 3 : 7 * body + 7])
    return turn @ simulation.state.v[6 * body + 3 : 6 * body + 6]


def leaning_world(slope: float, heading: float = 0.0, **ground) -> World:
    """Level ground with gravity inclined by `slope` towards `heading` [rad]."""
    down = (math.sin(slope) * math.cos(heading), math.sin(slope) * math.sin(heading), -math.cos(slope))
    return World(gravity=tuple(GRAVITY * part for part in down), ground=Ground(**ground))
