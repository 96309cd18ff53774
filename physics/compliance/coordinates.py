"""Springs and dampers along coordinates, taken implicitly: terms of the mass matrix, and forces at the old speed."""

from grouser.physics.base.kernel import kernel
from grouser.physics.compliance.springs import axial_spring


@kernel
def engage_coordinates(model, axial, q, v, hysteresis, step, mass, force, springs):
    """Adds joint dampers, elastic coordinates and axial laws: M + h D + h^2 K, with the forces that go with it.

    Args:
        model: dampers and elastic coordinates.
        axial: laws of compliant joints.
        q, v, hysteresis: state at the start of the step.
        step: h [s].
        mass, force: of the equations of motion, changed in place.
        springs: conductance and target of each axial law, (laws, 2), result.
    """
    for d in range(mass.shape[0]):
        mass[d, d] += step * model.rate_damping[d]
        force[d] -= model.rate_damping[d] * v[d]
    for k in range(model.spring_rate.shape[0]):
        d, stiffness = model.spring_rate[k], model.spring_stiffness[k]
        mass[d, d] += step * step * stiffness
        force[d] -= stiffness * (q[model.spring_position[k]] + step * v[d])
    for law in range(axial.rate_index.shape[0]):
        d = axial.rate_index[law]
        g, b = axial_spring(axial, law, q[axial.position_index[law]], v[d], hysteresis[law], step)
        springs[law, 0], springs[law, 1] = g, b
        mass[d, d] += g
        force[d] += g * (b - v[d]) / step
