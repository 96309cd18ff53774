"""Momentum and centre of mass of a simulation's bodies."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.multibody.energy import total_momentum
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics


def momentum_of(simulation):
    """Linear [kg m/s] and angular [kg m2/s] momentum of all bodies about the world's origin, (6,)."""
    model, kinematics, momentum = (
        Packed(simulation.arrays.model),
        Packed(make_kinematics(simulation.arrays.model)),
        np.zeros(6),
    )
    update_kinematics(model, simulation.state.q, simulation.state.v, kinematics)
    total_momentum(model, kinematics, momentum)
    return momentum


def centre_of_mass(simulation):
    """Position [m] and velocity [m/s] of the centre of mass."""
    model, kinematics = Packed(simulation.arrays.model), Packed(make_kinematics(simulation.arrays.model))
    update_kinematics(model, simulation.state.q, simulation.state.v, kinematics)
    moments, twist = kinematics.inertia[:, 6:9], kinematics.twist
    mass = kinematics.inertia[:, 9].sum()
    momentum = kinematics.inertia[:, 9:] * twist[:, :3] + np.cross(twist[:, 3:], moments)
    return kinematics.origin + moments.sum(axis=0) / mass, momentum.sum(axis=0) / mass
