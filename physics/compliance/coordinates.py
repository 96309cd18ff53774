"""Springs and dampers along coordinates, taken implicitly: terms of the mass matrix, and forces at the old speed."""

from grouser.physics.base.kernel import kernel
from grouser.physics.compliance.springs import JointSprings, linearised_spring
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.mass import MassMatrix, add_inertia


@kernel
def apply_coordinate_springs(
    model: MultibodyModel, springs: JointSprings, q, v, hysteresis, step: float, mass: MassMatrix, force, laws
):
    """Adds joint dampers, elastic coordinates and joint springs: M + h D + h^2 K, and the corresponding forces.

    Args:
        model: dampers and elastic coordinates.
        springs: of compliant joints.
        q, v, hysteresis: state at the start of the step.
        step: h [s].
        mass, force: of the equations of motion, changed in place.
        laws: conductance and target of each joint spring, (springs, 2), result.
    """
    for d in range(force.shape[0]):
        add_inertia(mass, d, step * model.rate_damping[d])
        force[d] -= model.rate_damping[d] * v[d]
    for k in range(model.spring_rate.shape[0]):
        d, stiffness = model.spring_rate[k], model.spring_stiffness[k]
        add_inertia(mass, d, step * step * stiffness)
        force[d] -= stiffness * (q[model.spring_position[k]] + step * v[d])
    for law in range(springs.rate_index.shape[0]):
        d = springs.rate_index[law]
        g, b = linearised_spring(springs, law, q[springs.position_index[law]], v[d], hysteresis[law], step)
        laws[law, 0], laws[law, 1] = g, b
        add_inertia(mass, d, g)
        force[d] += g * (b - v[d]) / step
