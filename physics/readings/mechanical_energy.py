"""Mechanical energy of all bodies and springs."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints
from grouser.physics.compliance.springs import joint_spring_energy
from grouser.physics.friction.joints import bristle_energy
from grouser.physics.integrators.context import State
from grouser.physics.multibody.energy import elastic_energy, kinetic_energy, potential_energy, rotor_energy
from grouser.physics.readings.measurements import Energy


def mechanical_energy(system: Packed, state: State, kinematics: Packed, pair_energy: np.ndarray) -> Energy:
    """Kinetic, potential and elastic energy.

    Args:
        system: packed.
        state: now.
        kinematics: filled for it.
        pair_energy: in the springs of each loop joint [J].
    """
    return Energy(
        kinetic_energy(system.multibody, kinematics) + rotor_energy(system.multibody, state.v),
        potential_energy(system.multibody, kinematics),
        elastic_energy(system.multibody, state.q)
        + joint_spring_energy(system.springs, state.q)
        + float(pair_energy.sum() + state.contact.energy.sum())
        + float(bristle_energy(system.joints.laws.bristle_stiffness, state.joints.bristle).sum()),
    )


def pair_energies(pairs: LoopConstraints, deflection: np.ndarray) -> np.ndarray:
    """Energy in the springs of each loop joint [J], by their deflections, (pairs, 6)."""
    energies = np.zeros(len(pairs.axis))
    deflected = deflection[pairs.row_loop, pairs.row_direction]
    np.add.at(energies, pairs.row_loop, 0.5 * pairs.row_stiffness * deflected**2)
    return energies
