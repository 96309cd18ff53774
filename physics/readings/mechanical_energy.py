"""Mechanical energy of all bodies and springs."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import Pairs
from grouser.physics.compliance.springs import axial_energy
from grouser.physics.friction.joints import bristle_energy
from grouser.physics.model.state import State
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
        kinetic_energy(system.model, kinematics) + rotor_energy(system.model, state.v),
        potential_energy(system.model, kinematics),
        elastic_energy(system.model, state.q)
        + axial_energy(system.axial, state.q)
        + float(pair_energy.sum() + state.contact_energy.sum())
        + float(bristle_energy(system.laws.bristle_stiffness, state.bristle).sum()),
    )


def pair_energies(pairs: Pairs, deflection: np.ndarray) -> np.ndarray:
    """Energy in the springs of each loop joint [J], by their deflections, (pairs, 6)."""
    energies = np.zeros(len(pairs.axis))
    deflected = deflection[pairs.row_pair, pairs.row_direction]
    np.add.at(energies, pairs.row_pair, 0.5 * pairs.row_stiffness * deflected**2)
    return energies
