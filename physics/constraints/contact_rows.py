"""Contacts -> rows: a unilateral normal and two tangents inside a friction cone."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.kernel import inlined
from grouser.physics.multibody.factorisation import solve_transposed_three
from grouser.physics.multibody.jacobian import point_rows

# Gap and penetration that are left alone [m]. Where more points touch than can be told apart by the machine's freedom,
# gaps of a nanometre cannot all be closed: to try would pump stress into the machine without end.
CONTACT_SLOP = 1e-5
# Share of the remaining penetration that a step takes away.
PENETRATION_RELIEF = 0.2
# Slower impacts do not bounce [m/s].
RESTITUTION_SPEED = 1e-2


class ContactRows(NamedTuple):
    """Three rows a contact: normal, first and second tangent; the first `count[0]` contacts hold.

    Attributes:
        count: number of contacts, (1,).
        frame: normal, first and second tangent, world axes, (contacts, 3, 3).
        half: W, (3 * contacts, coordinates).
        inverse_mass: W.W of each row [1/kg].
        impulse: of each row [N s].
        compliance: of the normal [1/kg].
        target: normal speed wanted [m/s].
        friction: coefficient [-].
        shift: least mean normal speed over the step that the position allows [m/s].
    """

    count: np.ndarray
    frame: np.ndarray
    half: np.ndarray
    inverse_mass: np.ndarray
    impulse: np.ndarray
    compliance: np.ndarray
    target: np.ndarray
    friction: np.ndarray
    shift: np.ndarray


def make_contact_rows(most: int, coordinates: int) -> ContactRows:
    """Room for `most` contacts."""
    return ContactRows(
        np.zeros(1, dtype=np.int64),
        np.zeros((most, 3, 3)),
        np.zeros((3 * most, coordinates)),
        np.zeros(3 * most),
        np.zeros(3 * most),
        *[np.zeros(most) for _ in range(4)],
    )


@inlined
def build_contact_rows(model, candidates, contacts, kinematics, factor, u, step, remembered, rows):
    """Fills `rows` for the contacts found.

    Args:
        model, candidates: the machine.
        contacts: found in this step.
        kinematics: filled for the current state.
        factor: of the mass matrix.
        u: half-solved velocity at the start of the step, for the speed of approach.
        step: [s].
        remembered: impulse of each candidate in the last step, world axes [N s], (candidates, 3).
        rows: result.
    """
    parent, column_start, column_rate = model.body_parent, model.column_start, model.column_rate
    pattern_start, pattern = model.pattern_start, model.pattern
    column, half, frame, inverse_mass = kinematics.column, rows.half, rows.frame, rows.inverse_mass
    rows.count[0] = contacts.count[0]
    for c in range(contacts.count[0]):
        candidate = contacts.candidate[c]
        body = candidates.body[candidate]
        _contact_frame(contacts.normal, frame, c)
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        point_rows(parent, column_start, column_rate, column, body, x, y, z, frame[c], half, 3 * c)
        if candidates.surface_rate[candidate] >= 0:
            _move_surface(candidates, kinematics.rotation, candidate, frame[c], half, 3 * c)
        solve_transposed_three(pattern_start, pattern, factor, half, 3 * c, inverse_mass)
        approach = 0.0
        for d in range(u.shape[0]):
            approach += half[3 * c, d] * u[d]
        rows.friction[c] = candidates.friction[candidate]
        rows.compliance[c], rows.target[c], rows.shift[c] = _normal_law(
            contacts.gap[c],
            approach,
            candidates.restitution[candidate],
            candidates.stiffness[candidate],
            candidates.damping[candidate],
            step,
        )
        for k in range(3):
            rows.impulse[3 * c + k] = (
                remembered[candidate, 0] * frame[c, k, 0]
                + remembered[candidate, 1] * frame[c, k, 1]
                + remembered[candidate, 2] * frame[c, k, 2]
            )
        rows.impulse[3 * c] = max(rows.impulse[3 * c], 0.0)


@inlined
def _contact_frame(normal, frame, c):
    """The normal and two tangents that complete it to a right-handed frame; the same for the same normal."""
    nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
    if abs(nx) < 0.7:
        scale = 1.0 / math.sqrt(ny * ny + nz * nz)
        tx, ty, tz = 0.0, nz * scale, -ny * scale
    else:
        scale = 1.0 / math.sqrt(nx * nx + nz * nz)
        tx, ty, tz = -nz * scale, 0.0, nx * scale
    frame[c, 0, 0], frame[c, 0, 1], frame[c, 0, 2] = nx, ny, nz
    frame[c, 1, 0], frame[c, 1, 1], frame[c, 1, 2] = tx, ty, tz
    frame[c, 2, 0] = ny * tz - nz * ty
    frame[c, 2, 1] = nz * tx - nx * tz
    frame[c, 2, 2] = nx * ty - ny * tx


@inlined
def _move_surface(candidates, rotation, candidate, frame, half, first):
    """Takes the speed of a moving surface into the tangents: it runs backwards as its joint turns forward."""
    rate = candidates.surface_rate[candidate]
    body = candidates.body[candidate]
    for k in range(3):
        along = 0.0
        for m in range(3):
            along += rotation[body, k, m] * candidates.surface_direction[candidate, m]
        half[first + 1, rate] -= frame[1, k] * along
        half[first + 2, rate] -= frame[2, k] * along


@inlined
def _normal_law(gap, approach, restitution, stiffness, damping, step):
    """Compliance, target speed and least mean speed over the step of a contact's normal."""
    if stiffness > 0.0:
        resistance = step * stiffness + damping
        # above the ground neither spring nor damper acts until the gap is closed
        target = -gap / step if gap > 0.0 else -stiffness * gap / resistance
        return 1.0 / (step * resistance), target, -math.inf
    target = -max(gap - CONTACT_SLOP, 0.0) / step
    if restitution > 0.0 and approach < -RESTITUTION_SPEED and gap + step * approach <= 0.0:
        target = max(target, -restitution * approach)
    shift = target if gap > 0.0 else PENETRATION_RELIEF * max(-gap - CONTACT_SLOP, 0.0) / step
    return 0.0, target, shift
