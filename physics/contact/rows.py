"""Rows of contacts: a unilateral normal, two tangents inside a friction cone, and resistance against rotation.

A contact moves only the coordinates between its two bodies. Its rows are packed: they have entries for these alone,
with the list of their indices. The cost of a sweep depends on the bodies' chains and not on the size of the machine.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.burial import buried_depth
from grouser.physics.contact.foresight import PASSING, foreseen_clearance, passes
from grouser.physics.contact.row_entries import (
    is_single,
    moves,
    open_by_columns,
    open_columns,
    open_dense,
    open_sides,
    pack,
)
from grouser.physics.contact.slots import Memory, stored_at
from grouser.physics.contact.terrain import SPHERE_CONTACTS

if TYPE_CHECKING:
    from grouser.physics.contact.collide import Collision
    from grouser.physics.contact.contacts import Contacts
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics

# Gap and penetration that are tolerated [m]. Where a machine has more contact points than its freedom can distinguish,
# gaps of a nanometre cannot all be closed: attempts would increase the internal forces without limit.
CONTACT_SLOP = 1e-5
# Share of the remaining penetration that is corrected in a step.
PENETRATION_RELIEF = 0.2
# Slower contacts hold: twice the usual tolerance of the solver [m/s].
_STILL = 2e-6
# Slower impacts have no restitution [m/s].
RESTITUTION_SPEED = 1e-2
# Tangents are not aligned when the square of their coupling is below this share of their mobilities' product.
_UNCOUPLED = 1e-2
# So many contacts between the same two bodies share columns.
_MANY = 3
# Mobilities are summed anew when their ratio is below this.
_CANCELLED = 1e-3


class ContactRows(NamedTuple):
    """Rows of contacts: normal, two tangents, and rotation about these; the first `count[0]` contacts are valid.

    Attributes:
        count: number of contacts, (1,).
        size: number of coordinates that the contact moves.
        index: indices of these coordinates, (contacts, width): as many as two blocks of the mass matrix have at most.
        frame: normal, first and second tangent, world axes, (contacts, 3, 3).
        whitened_jacobian: W of normal and tangents, packed, (contacts, width, 3).
        turning: W of rotation about normal and tangents; only for contacts that resist it.
        dense: buffer for six rows, (6, coordinates).
        squares: buffer, (6,).
        near: buffer of `foreseen_clearance`, (SPHERE_CONTACTS, 4).
        column: W of the velocity of the origin and of the angular velocity of one body relative to another, along the
            world axes, packed, (width, 6).
        column_index: indices of its coordinates, (width,).
        axes: of the world, (3, 3).
        inverse_mass: W.W of normal and tangents [1/kg], (contacts, 3).
        turning_inverse: W.W of rotation [1/(kg m2)], (contacts, 3).
        impulse: along normal and tangents [N s], (contacts, 3).
        moment: impulse of the moments about normal and tangents [N m s], (contacts, 3).
        compliance: of the normal [1/kg].
        target: target normal speed [m/s].
        friction: coefficient [-].
        spinning, rolling: lever arms of the resistance against rotation [m].
        shift: smallest mean normal speed over the step that the gap allows [m/s].
        buried: depth that the spring of an elastic contact leaves out [m].
    """

    count: np.ndarray
    size: np.ndarray
    index: np.ndarray
    frame: np.ndarray
    whitened_jacobian: np.ndarray
    turning: np.ndarray
    dense: np.ndarray
    squares: np.ndarray
    near: np.ndarray
    column: np.ndarray
    column_index: np.ndarray
    axes: np.ndarray
    inverse_mass: np.ndarray
    turning_inverse: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray
    compliance: np.ndarray
    target: np.ndarray
    friction: np.ndarray
    spinning: np.ndarray
    rolling: np.ndarray
    shift: np.ndarray
    buried: np.ndarray


def widest_row(model: "MultibodyModel") -> int:
    """Largest number of coordinates that a contact moves: those of two blocks of the mass matrix."""
    _, size = np.unique(model.rate_first, return_counts=True)
    return int(np.sort(size)[-2:].sum())


def make_contact_rows(most: int, coordinates: int, width: int | None = None) -> ContactRows:
    """Arrays for `most` contacts; each moves at most `width` of the coordinates, all of them when None."""
    width = coordinates if width is None else width
    vectors, numbers = ContactRows._fields[12:16], ContactRows._fields[16:]
    return ContactRows(
        np.zeros(1, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, width), dtype=np.uintp),
        np.zeros((most, 3, 3)),
        np.zeros((most, width, 3)),
        np.zeros((most, width, 3)),
        np.zeros((6, coordinates)),
        np.zeros(6),
        np.zeros((SPHERE_CONTACTS, 4)),
        np.zeros((width, 6)),
        np.zeros(width, dtype=np.uintp),
        np.eye(3),
        **{name: np.zeros((most, 3)) for name in vectors},
        **{name: np.zeros(most) for name in numbers},
    )


@kernel
def open_contact_rows(
    model: "MultibodyModel",
    collision: "Collision",
    contacts: "Contacts",
    kinematics: "Kinematics",
    factor,
    u,
    step: float,
    memory: Memory,
    rows: ContactRows,
):
    """Fills `rows` for the contacts found.

    Args:
        model, collision: of the machine.
        contacts: of this step.
        kinematics: filled for the current state.
        factor: of the mass matrix.
        u: whitened velocity at the start of the step, for the speed of approach.
        step: [s].
        memory: the contacts of the last step.
        rows: result.
    """
    laws, shapes, dense, squares = collision.laws, collision.shapes, rows.dense, rows.squares
    rows.count[0] = contacts.count[0]
    stored, pull, run_end, size = -1, model.gravity, 0, -1
    gravity = math.sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2])
    for c in range(contacts.count[0]):
        law = contacts.law[c]
        body, other = contacts.body[c], contacts.other[c]
        frame = rows.frame[c]
        _contact_frame(contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2], frame)
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        resists = laws.spinning[law] > 0.0 or laws.rolling[law] > 0.0
        surfaces = moves(shapes, contacts.shape[c]) or moves(shapes, contacts.other_shape[c])
        single, other_single = is_single(model, body), is_single(model, other)
        if c >= run_end:
            run_end, size = _end_of_run(contacts, c), -1
            if run_end - c >= _MANY and not (single or other_single or resists or surfaces):
                size = open_columns(model, shapes, kinematics, factor, rows, body, other)
        if size >= 0 and not resists and not surfaces:
            rows.size[c] = size
            open_by_columns(rows, c, size, x, y, z)
        elif (single or other_single) and not resists and not surfaces:
            rows.size[c] = open_sides(model, kinematics, factor, rows, c, body, single, other, other_single, x, y, z)
        else:
            count = 6 if resists else 3
            rows.size[c] = open_dense(
                *(model, shapes, kinematics, factor, contacts.shape[c], contacts.other_shape[c], body, other),
                *(x, y, z, frame, count, dense, squares, rows.index[c]),
            )
            pack(dense, 0, 0, rows.size[c], rows.index[c], rows.whitened_jacobian[c])
            for k in range(3):
                rows.inverse_mass[c, k] = squares[k]
        _align_tangents(rows, c)
        approach = 0.0
        for k in range(rows.size[c]):
            approach += rows.whitened_jacobian[c, k, 0] * u[rows.index[c, k]]
        # contacts that last are stored in the order in which they are found
        stored = stored_at(memory, contacts.slot[c], stored + 1)
        rows.buried[c] = 0.0
        if laws.stiffness[law] > 0.0 and contacts.gap[c] < 0.0:
            rows.buried[c] = buried_depth(
                *(collision, memory, stored, contacts.slot[c], contacts.shape[c], contacts.other_shape[c]),
                *(contacts.gap[c], approach, laws.stiffness[law], rows.inverse_mass[c, 0], gravity, step),
            )
        rows.friction[c], rows.spinning[c], rows.rolling[c] = laws.friction[law], laws.spinning[law], laws.rolling[law]
        rows.compliance[c], rows.target[c], rows.shift[c] = _normal_law(
            contacts.gap[c] + rows.buried[c],
            approach,
            laws.restitution[law],
            laws.stiffness[law],
            laws.damping[law],
            step,
        )
        gap, path = contacts.gap[c], step * approach
        clearance = 0.0
        # forces change the path by less than the slop
        if gap > 2.0 * CONTACT_SLOP and gap - 2.0 * CONTACT_SLOP + path < 0.0:
            clearance = foreseen_clearance(model, collision, contacts, kinematics, c, step, rows.near)
        if (
            clearance == 0.0
            and contacts.other_shape[c] >= 0
            and approach < -_STILL
            and -PASSING < gap < 2.0 * CONTACT_SLOP - path
            and passes(model, collision, contacts, kinematics, c, path, step)
        ):
            clearance = PASSING - path
        if clearance > 0.0:
            # nothing touches: the row leaves the present speed as it is
            rows.target[c] = min(rows.target[c], 0.0, approach - clearance / step)
            rows.shift[c] = min(rows.shift[c], rows.target[c])
        _recall(memory.impulse, stored, frame, rows.impulse[c])
        rows.impulse[c, 0] = max(rows.impulse[c, 0], 0.0)
        if rows.size[c] == 0:
            # between immovable bodies a contact carries no load
            for k in range(3):
                rows.impulse[c, k] = rows.moment[c, k] = 0.0
        if resists:
            pack(dense, 3, 0, rows.size[c], rows.index[c], rows.turning[c])
            for k in range(3):
                rows.turning_inverse[c, k] = squares[3 + k]
            _recall(memory.moment, stored, frame, rows.moment[c])


@inlined
def _end_of_run(contacts: "Contacts", c):
    """End of the run of contacts from c on between the same two bodies."""
    end, count = c + 1, contacts.count[0]
    while end < count and contacts.body[end] == contacts.body[c] and contacts.other[end] == contacts.other[c]:
        end += 1
    return end


@kernel
def _align_tangents(rows: ContactRows, c):
    """Rotates the tangents of contact c about its normal until they are decoupled, unless they nearly are."""
    jacobian, inverse, size = rows.whitened_jacobian[c], rows.inverse_mass[c], np.uintp(rows.size[c])
    coupling = 0.0
    for k in range(size):
        coupling += jacobian[k, 1] * jacobian[k, 2]
    if coupling * coupling <= _UNCOUPLED * inverse[1] * inverse[2]:
        return
    # one rotation of Jacobi's method for the eigenvectors of a symmetric matrix
    half_cotangent = 0.5 * (inverse[2] - inverse[1]) / coupling
    tangent = math.copysign(
        1.0 / (abs(half_cotangent) + math.sqrt(half_cotangent * half_cotangent + 1.0)), half_cotangent
    )
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for k in range(size):
        one, two = jacobian[k, 1], jacobian[k, 2]
        jacobian[k, 1], jacobian[k, 2] = cosine * one - sine * two, sine * one + cosine * two
    one, two = inverse[1] - tangent * coupling, inverse[2] + tangent * coupling
    if min(one, two) < _CANCELLED * max(one, two):
        # summed: the difference is rounding where a tangent is immovable
        one = two = 0.0
        for k in range(size):
            one += jacobian[k, 1] * jacobian[k, 1]
            two += jacobian[k, 2] * jacobian[k, 2]
    inverse[1], inverse[2] = one, two
    frame = rows.frame[c]
    for k in range(3):
        one, two = frame[1, k], frame[2, k]
        frame[1, k], frame[2, k] = cosine * one - sine * two, sine * one + cosine * two


@kernel
def _recall(vectors, stored, frame, components):
    """Components of a stored vector along the axes of a contact's frame; of zero for the index -1."""
    x = y = z = 0.0
    if stored >= 0:
        x, y, z = vectors[stored, 0], vectors[stored, 1], vectors[stored, 2]
    for k in range(3):
        components[k] = x * frame[k, 0] + y * frame[k, 1] + z * frame[k, 2]


@kernel
def _contact_frame(nx, ny, nz, frame):
    """The normal and two tangents that complete it to a right-handed frame; a function of the normal alone."""
    if abs(nx) < 0.7:
        scale = 1.0 / math.sqrt(ny * ny + nz * nz)
        tx, ty, tz = 0.0, nz * scale, -ny * scale
    else:
        scale = 1.0 / math.sqrt(nx * nx + nz * nz)
        tx, ty, tz = -nz * scale, 0.0, nx * scale
    frame[0, 0], frame[0, 1], frame[0, 2] = nx, ny, nz
    frame[1, 0], frame[1, 1], frame[1, 2] = tx, ty, tz
    frame[2, 0] = ny * tz - nz * ty
    frame[2, 1] = nz * tx - nx * tz
    frame[2, 2] = nx * ty - ny * tx


@inlined
def _normal_law(gap, approach, restitution, stiffness, damping, step: float):
    """Compliance, target speed and smallest mean speed over the step of a contact's normal."""
    if stiffness > 0.0:
        resistance = step * stiffness + damping
        # without contact, neither spring nor damper acts until the gap is closed
        target = -gap / step if gap > 0.0 else -stiffness * gap / resistance
        return 1.0 / (step * resistance), target, -math.inf
    # a gap is closed to the slop, and then tolerated until it is twice as wide
    distance = gap - CONTACT_SLOP if gap > 2.0 * CONTACT_SLOP else 0.0
    target = -distance / step
    if restitution > 0.0 and approach < -RESTITUTION_SPEED and distance + step * approach <= 0.0:
        target = -restitution * approach
    shift = target if gap > 0.0 else PENETRATION_RELIEF * max(-gap - CONTACT_SLOP, 0.0) / step
    return 0.0, target, shift
