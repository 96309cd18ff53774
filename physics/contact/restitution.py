"""Restitution that does not increase the energy.

Newton's law of restitution concerns the normal speed alone. With friction and a body that also starts to rotate, an
impact may return more energy than it had. Such a step is solved again: each impact that did positive work then gets the
normal target speed at which it would have done none.
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel

if TYPE_CHECKING:
    from grouser.physics.constraints.islands import Islands
    from grouser.physics.contact.rows import ContactRows

# Gain of energy that is attributed to rounding and to the solver's tolerance, as a share of that of the island.
_ROUNDING = 1e-9


@kernel
def limit_restitution(rows: "ContactRows", islands: "Islands", u_before, u):
    """Lowers the restitution targets of impacts that gain energy, in the islands that were due.

    Args:
        rows: contact rows, solved.
        islands: those with lowered targets are marked as changed.
        u_before: whitened velocity before the contact impulses.
        u: whitened velocity with them.
    """
    for island in range(islands.count[0]):
        if islands.due[island] and _bounces(rows, islands, island):
            _limit_in_island(rows, islands, island, u_before, u)


@inlined
def _bounces(rows: "ContactRows", islands: "Islands", island):
    """Whether an island has an impact."""
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        if _has_target(rows, islands.contact[k]):
            return True
    return False


@inlined
def _limit_in_island(rows: "ContactRows", islands: "Islands", island, u_before, u):
    """Lowers the targets in an island whose energy has increased."""
    total = energy = 0.0
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        energy += 0.5 * u_before[d] * u_before[d]
        total += 0.5 * u[d] * u[d]
    if total <= energy * (1.0 + _ROUNDING):
        return
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        normal, sliding, approach = _contact_work(rows, c, u_before, u)
        if _has_target(rows, c) and rows.impulse[c, 0] > 0.0 and normal + sliding > _ROUNDING * energy:
            target = max(0.0, -approach - 2.0 * sliding / rows.impulse[c, 0])
            if target < rows.target[c]:
                rows.target[c] = target
                islands.changed[island] = True


@inlined
def _has_target(rows: "ContactRows", c):
    """Whether a rigid contact has a separating target speed; that of an elastic one comes from its spring."""
    return rows.target[c] > 0.0 and rows.compliance[c] == 0.0


@kernel
def _contact_work(rows: "ContactRows", c, u_before, u):
    """Work of the normal and of the tangents of contact c, and the normal speed before."""
    jacobian, index, impulse = rows.whitened_jacobian[c], rows.index[c], rows.impulse[c]
    approach = normal = sliding = 0.0
    for k in range(rows.size[c]):
        before, both = u_before[index[k]], u_before[index[k]] + u[index[k]]
        approach += jacobian[k, 0] * before
        normal += jacobian[k, 0] * both
        sliding += (jacobian[k, 1] * impulse[1] + jacobian[k, 2] * impulse[2]) * both
    return 0.5 * impulse[0] * normal, 0.5 * sliding, approach
