"""Work that everything does on the machine, impulse times mean speed of the step.

With the mass matrix held, the works of a step add up to the change of kinetic energy to the last digit; what is left
over in the balance is what the step makes of gravity and of the turning of the bodies, an error of its own order.
"""

from grouser.physics.base.kernel import kernel
from grouser.physics.constraints.rows import dot, spring_impulse

# Columns of the accounts of joint laws, and of coordinates.
DRIVE, FRICTION, LIMIT = range(3)
DAMPER, SPRING = range(2)


@kernel
def account_dampers(damping, step, end, mean, rate_work):
    """Adds the work of the dampers along coordinates.

    Args:
        damping: of each coordinate rate [N m s/rad or N s/m].
        step: [s].
        end: rates at which the dampers were taken implicitly.
        mean: mean rates over the step.
        rate_work: account.
    """
    for d in range(end.shape[0]):
        rate_work[d, DAMPER] -= step * damping[d] * end[d] * mean[d]


@kernel
def account_springs(model, axial, q, end, mean, step, implicit_step, axial_spring, rate_work, axial_work):
    """Adds the work of elastic coordinates and axial laws.

    Args:
        model, axial: the machine.
        q: positions at the start of the step.
        end: rates at which the springs were taken implicitly.
        mean: mean rates over the step.
        step: [s].
        implicit_step: [s] over which they were.
        axial_spring: conductance and target of the axial laws over that step, (laws, 2).
        rate_work, axial_work: accounts.
    """
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        deflection = q[model.spring_position[k]] + implicit_step * end[d]
        rate_work[d, SPRING] -= step * model.spring_stiffness[k] * deflection * mean[d]
    scale = step / implicit_step
    for law in range(axial.rate_index.shape[0]):
        d = axial.rate_index[law]
        axial_work[law] += scale * axial_spring[law, 0] * (axial_spring[law, 1] - end[d]) * mean[d]


@kernel
def account_drives(laws, step, effort, spring, end, mean, law_work):
    """Adds the work of the drives.

    Args:
        laws: of the joints.
        step: [s].
        effort: of the effort drives on each coordinate [N or N m].
        spring: conductance and target of each law's drive, and its greatest impulse, (laws, 3).
        end, mean: rates at the end of the step, and their mean over it.
        law_work: account.
    """
    for law in range(laws.rate_index.shape[0]):
        d, bound = laws.rate_index[law], spring[law, 2]
        impulse = min(max(spring[law, 0] * (spring[law, 1] - end[d]), -bound), bound)
        law_work[law, DRIVE] += (step * effort[d] + impulse) * mean[d]


@kernel
def account_bristles(rate_index, impulse, mean, law_work):
    """Adds the work of the dry friction that has no row: that of bristles.

    Args:
        rate_index: coordinate rate of each joint law.
        impulse: of each [N s or N m s].
        mean: mean rates over the step.
        law_work: account.
    """
    for law in range(rate_index.shape[0]):
        law_work[law, FRICTION] += impulse[law] * mean[rate_index[law]]


@kernel
def account_loops(row_pair, impulse, jacobian, mean, pair_work):
    """Adds the work of the loop joints: rows with their impulses and Jacobians."""
    for r in range(row_pair.shape[0]):
        pair_work[row_pair[r]] += impulse[r] * dot(jacobian[r], mean)


@kernel
def account_actuator_rows(rows, actuators, mean, work):
    """Adds the work of the actuators' rows, which are the first.

    Args:
        rows: solved.
        actuators: number of them.
        mean: mean rates over the step.
        work: account.
    """
    for r in range(actuators):
        work[r] += rows.impulse[r] * dot(rows.jacobian[r], mean)


@kernel
def account_joint_rows(rows, first, rate_index, end, mean, law_work):
    """Adds the work of dry friction and joint limits.

    Args:
        rows: solved.
        first: first row of a joint.
        rate_index: coordinate rate of each joint law.
        end, mean: rates at the end of the step, and their mean over it.
        law_work: account.
    """
    for r in range(first, rows.count[0]):
        law = rows.slot[r]
        d = rate_index[law]
        others = rows.impulse[r] - spring_impulse(rows, r, end[d])
        held = min(max(others, -rows.hold_bound[r]), rows.hold_bound[r])
        law_work[law, FRICTION] += held * mean[d]
        law_work[law, LIMIT] += (others - held) * mean[d]


@kernel
def account_contacts(laws, contacts, rows, step, u_start, u, contact_work, contact_energy):
    """Adds the work of the contacts, to the shape that each normal points to, and finds what their springs hold.

    Args:
        laws: of contact.
        contacts, rows: solved.
        step: [s].
        u_start, u: half-solved velocity at the start and at the end of the step.
        contact_work: account.
        contact_energy: in the springs at the end of the step [J].
    """
    contact_energy[:] = 0.0
    for c in range(contacts.count[0]):
        if rows.compliance[c] > 0.0:
            gap = contacts.gap[c]
            for k in range(rows.size[c]):
                gap += step * rows.whitened_jacobian[c, k, 0] * u[rows.index[c, k]]
            contact_energy[contacts.shape[c]] += 0.5 * laws.stiffness[contacts.law[c]] * min(gap, 0.0) ** 2
        size, index = rows.size[c], rows.index[c]
        work = _packed_work(rows.whitened_jacobian[c], index, size, rows.impulse[c], u_start, u)
        if rows.spinning[c] > 0.0 or rows.rolling[c] > 0.0:
            work += _packed_work(rows.turning[c], index, size, rows.moment[c], u_start, u)
        contact_work[contacts.shape[c]] += work


@kernel
def _packed_work(half, index, size, impulse, u_start, u):
    """Work of the impulses along three packed rows."""
    x, y, z = impulse[0], impulse[1], impulse[2]
    work = 0.0
    for k in range(size):
        along = half[k, 0] * x + half[k, 1] * y + half[k, 2] * z
        work += 0.5 * along * (u_start[index[k]] + u[index[k]])
    return work
