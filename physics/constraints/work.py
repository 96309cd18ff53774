"""Work on the machine by everything that acts on it: impulse times mean speed of the step.

With the mass matrix constant over the step, the works add up to the change of kinetic energy exactly. The residual of
the balance comes from gravity and the rotation of the bodies within a step, an error of the integrator's order.
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.constraints.packed import resists_turning
from grouser.physics.constraints.rows import Rows, dot, spring_impulse

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel

# Columns of the accounts of joint laws and of coordinates.
DRIVE, FRICTION, LIMIT = range(3)
DAMPER, SPRING = range(2)


@kernel
def account_dampers(damping, step: float, end, mean, rate_work):
    """Adds the work of the dampers of coordinates.

    Args:
        damping: of each coordinate rate [N m s/rad or N s/m].
        step: [s].
        end: rates in the implicit damping forces.
        mean: mean rates over the step.
        rate_work: account.
    """
    for d in range(end.shape[0]):
        rate_work[d, DAMPER] -= step * damping[d] * end[d] * mean[d]


@kernel
def account_springs(
    model: "MultibodyModel", springs, q, end, mean, step: float, implicit_step, spring_law, rate_work, spring_work
):
    """Adds the work of elastic coordinates and joint springs.

    Args:
        model, springs: of the machine.
        q: positions at the start of the step.
        end: rates in the implicit spring forces.
        mean: mean rates over the step.
        step: [s].
        implicit_step: interval of the implicit forces [s].
        spring_law: conductance and target of the joint springs over that interval, (laws, 2).
        rate_work, spring_work: accounts.
    """
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        deflection = q[model.spring_position[k]] + implicit_step * end[d]
        rate_work[d, SPRING] -= step * model.spring_stiffness[k] * deflection * mean[d]
    scale = step / implicit_step
    for law in range(springs.rate_index.shape[0]):
        d = springs.rate_index[law]
        spring_work[law] += scale * spring_law[law, 0] * (spring_law[law, 1] - end[d]) * mean[d]


@kernel
def account_drives(laws, step: float, effort, spring, end, mean, law_work):
    """Adds the work of the drives.

    Args:
        laws: of the joints.
        step: [s].
        effort: of the effort drives on each coordinate [N or N m].
        spring: conductance, target and largest impulse of each law's drive, (laws, 3).
        end, mean: rates at the end of the step, and their mean over it.
        law_work: account.
    """
    for law in range(laws.rate_index.shape[0]):
        d, bound = laws.rate_index[law], spring[law, 2]
        impulse = min(max(spring[law, 0] * (spring[law, 1] - end[d]), -bound), bound)
        law_work[law, DRIVE] += (step * effort[d] + impulse) * mean[d]


@kernel
def account_bristles(rate_index, impulse, mean, law_work):
    """Adds the work of dry friction without rows: that of bristles.

    Args:
        rate_index: coordinate rate of each joint law.
        impulse: of each law [N s or N m s].
        mean: mean rates over the step.
        law_work: account.
    """
    for law in range(rate_index.shape[0]):
        law_work[law, FRICTION] += impulse[law] * mean[rate_index[law]]


@kernel
def account_loops(row_loop, rate_start, rate, impulse, jacobian, mean, loop_work):
    """Adds the work of the loop joints, from their rows' impulses and Jacobians, which have entries at `rate` only."""
    for r in range(row_loop.shape[0]):
        loop, speed = row_loop[r], 0.0
        for k in range(rate_start[loop], rate_start[loop + 1]):
            speed += jacobian[r, rate[k]] * mean[rate[k]]
        loop_work[loop] += impulse[r] * speed


@kernel
def account_actuator_rows(rows: Rows, actuators, mean, work):
    """Adds the work of the actuators' rows, which come first.

    Args:
        rows: solved.
        actuators: number of actuators.
        mean: mean rates over the step.
        work: account.
    """
    for r in range(actuators):
        work[r] += rows.impulse[r] * dot(rows.jacobian[r], mean)


@kernel
def account_joint_rows(rows: Rows, first, rate_index, end, mean, law_work):
    """Adds the work of dry friction and joint limits.

    Args:
        rows: solved.
        first: index of the first row of a joint.
        rate_index: coordinate rate of each joint law.
        end, mean: rates at the end of the step, and their mean over it.
        law_work: account.
    """
    for r in range(first, rows.joint_end[0]):
        law = rows.slot[r]
        d = rate_index[law]
        remaining = rows.impulse[r] - spring_impulse(rows, r, end[d])
        held = min(max(remaining, -rows.hold_bound[r]), rows.hold_bound[r])
        law_work[law, FRICTION] += held * mean[d]
        law_work[law, LIMIT] += (remaining - held) * mean[d]


@kernel
def account_contacts(laws, contacts, rows, step: float, u_start, u, idle, contact_work, contact_energy):
    """Adds the work of the contacts to the shape at their normal's tip, and finds the energy of their springs.

    Args:
        laws: contact laws.
        contacts, rows: solved.
        step: [s].
        u_start, u: whitened velocity at the start and at the end of the step.
        idle: whether each shape takes no part in the step: its energy stays.
        contact_work: account.
        contact_energy: in the contacts' springs at the end of the step [J].
    """
    for s in range(contact_energy.shape[0]):
        if not idle[s]:
            contact_energy[s] = 0.0
    for c in range(contacts.count[0]):
        if rows.compliance[c] > 0.0:
            gap = contacts.gap[c] + rows.buried[c]
            for k in range(rows.size[c]):
                gap += step * rows.whitened_jacobian[c, k, 0] * u[rows.index[c, k]]
            contact_energy[contacts.shape[c]] += 0.5 * laws.stiffness[contacts.law[c]] * min(gap, 0.0) ** 2
        size, index = rows.size[c], rows.index[c]
        work = _packed_work(rows.whitened_jacobian[c], index, size, rows.impulse[c], u_start, u)
        if resists_turning(rows, c):
            work += _packed_work(rows.turning[c], index, size, rows.moment[c], u_start, u)
        contact_work[contacts.shape[c]] += work


@kernel
def _packed_work(jacobian, index, size, impulse, u_start, u):
    """Work of the impulses along three packed rows."""
    x, y, z = impulse[0], impulse[1], impulse[2]
    work = 0.0
    for k in range(size):
        along = jacobian[k, 0] * x + jacobian[k, 1] * y + jacobian[k, 2] * z
        work += 0.5 * along * (u_start[index[k]] + u[index[k]])
    return work
