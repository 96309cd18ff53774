"""Energy and momentum of the whole tree."""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import momentum

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics


@kernel
def kinetic_energy(model: "MultibodyModel", kinematics: "Kinematics"):
    """Sum of V.I V / 2 over the bodies [J]."""
    twist = kinematics.twist
    total = 0.0
    for i in range(model.body_parent.shape[0]):
        v0, v1, v2, w0, w1, w2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        p0, p1, p2, l0, l1, l2 = momentum(kinematics.inertia, i, v0, v1, v2, w0, w1, w2)
        total += 0.5 * (p0 * v0 + p1 * v1 + p2 * v2 + l0 * w0 + l1 * w1 + l2 * w2)
    return total


@kernel
def rotor_energy(model: "MultibodyModel", v):
    """Kinetic energy of rotors geared to coordinates, at the rates v [J]."""
    total = 0.0
    for d in range(v.shape[0]):
        total += 0.5 * model.rate_inertia[d] * v[d] * v[d]
    return total


@kernel
def potential_energy(model: "MultibodyModel", kinematics: "Kinematics"):
    """Gravitational energy, zero at the world's origin [J]."""
    total = 0.0
    for i in range(model.body_parent.shape[0]):
        for k in range(3):
            total -= model.gravity[k] * (kinematics.inertia[i, 6 + k] + kinematics.inertia[i, 9] * kinematics.origin[k])
    return total


@kernel
def elastic_energy(model: "MultibodyModel", q):
    """Energy of the springs of elastic coordinates [J]."""
    total = 0.0
    for k in range(model.spring_rate.shape[0]):
        deflection = q[model.spring_position[k]]
        total += 0.5 * model.spring_stiffness[k] * deflection * deflection
    return total


@kernel
def total_momentum(model: "MultibodyModel", kinematics: "Kinematics", result):
    """Linear momentum [kg m/s] and angular momentum about the world's origin [kg m2/s], world axes.

    Args:
        model: the multibody system.
        kinematics: filled for the current state.
        result: linear, then angular, (6,).
    """
    for k in range(6):
        result[k] = 0.0
    twist, origin = kinematics.twist, kinematics.origin
    for i in range(model.body_parent.shape[0]):
        p0, p1, p2, l0, l1, l2 = momentum(
            kinematics.inertia, i, twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        )
        result[0] += p0
        result[1] += p1
        result[2] += p2
        result[3] += l0 + origin[1] * p2 - origin[2] * p1
        result[4] += l1 + origin[2] * p0 - origin[0] * p2
        result[5] += l2 + origin[0] * p1 - origin[1] * p0
