"""A rigid body on a frictionless pivot, with a torque, under gravity: J omega' = J omega x omega + m g rho x Gamma + u.

All vectors are in the body's frame, along its principal axes: J about the pivot; rho from the pivot to the centre of
mass; Gamma = R^T e3, the direction of gravity. The inertial frame has its z axis, e3, down.
"""

from collections.abc import Sequence
from typing import NamedTuple

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude import rodrigues
from grouser.studies.attitude.body import RigidBody
from grouser.studies.attitude.checks import three
from grouser.studies.attitude.vectors import crossed, dot, times

Triple = tuple[float, float, float]


class PivotedBody(NamedTuple):
    """Parameters of the equation of motion.

    Attributes:
        inertia: principal moments about the pivot [kg m2].
        moment: m g rho, of weight and centre of mass [N m].
    """

    inertia: Triple
    moment: Triple


def pivoted_body(mass: float, inertia: Sequence[float], offset: float, gravity: float) -> PivotedBody:
    """A body whose centre of mass is on its z axis.

    Args:
        mass: [kg], above zero.
        inertia: principal moments about the pivot [kg m2].
        offset: z of the centre of mass [m].
        gravity: [m/s2].

    Raises:
        ParameterError: not three moments, or impossible ones.
    """
    x, y, z = three("inertia", inertia).tolist()
    RigidBody(mass, (x, y, z), (0.0, 0.0, offset))
    return PivotedBody((x, y, z), (0.0, 0.0, mass * gravity * offset))


@kernel
def gravity_direction(sigma):
    """Gamma of an attitude by its modified Rodrigues parameters."""
    x, y, z, w = rodrigues.to_quaternion(sigma)
    return 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


@kernel
def gravity_torque(body, gamma):
    """m g rho x Gamma [N m]."""
    return crossed(body.moment, gamma)


@kernel
def gyroscopic_torque(body, omega):
    """J omega x omega [N m]."""
    return crossed(times(body.inertia, omega), omega)


@kernel
def angular_acceleration(body, gamma, omega, torque):
    """omega' [rad/s2].

    Args:
        body: which one.
        gamma: direction of gravity.
        omega: angular velocity [rad/s].
        torque: u [N m].
    """
    weight, spin = gravity_torque(body, gamma), gyroscopic_torque(body, omega)
    return (
        (spin[0] + weight[0] + torque[0]) / body.inertia[0],
        (spin[1] + weight[1] + torque[1]) / body.inertia[1],
        (spin[2] + weight[2] + torque[2]) / body.inertia[2],
    )


@kernel
def kinetic_energy(body, omega):
    """omega · J omega / 2 [J]."""
    return 0.5 * dot(omega, times(body.inertia, omega))


@kernel
def potential_energy(body, gamma):
    """-m g rho · Gamma [J]."""
    return -dot(body.moment, gamma)
