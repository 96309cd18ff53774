"""The momentum of a simulation's bodies."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.multibody.energy import total_momentum
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics


def momentum_of(simulation):
    """Linear [kg m/s] and angular [kg m2/s] momentum of all bodies about the world's origin, (6,)."""
    model, kinematics, momentum = Packed(simulation.model), Packed(make_kinematics(simulation.model)), np.zeros(6)
    update_kinematics(model, simulation.state.q, simulation.state.v, kinematics)
    total_momentum(model, kinematics, momentum)
    return momentum
