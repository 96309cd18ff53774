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
from grouser.physics.contact.slots import Memory, stored_at
from grouser.physics.contact.terrain import SPHERE_CONTACTS
from grouser.physics.multibody.factorisation import solve_transposed_three
from grouser.physics.multibody.jacobian import block_of, clear_rows, list_entries, point_rows, turning_rows

if TYPE_CHECKING:
    from grouser.physics.contact.collide import Collision
    from grouser.physics.contact.contacts import Contacts
    from grouser.physics.contact.shapes import Shapes
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
    vectors, numbers = ContactRows._fields[9:13], ContactRows._fields[13:]
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
    stored, pull = -1, model.gravity
    gravity = math.sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2])
    for c in range(contacts.count[0]):
        law = contacts.law[c]
        body, other = contacts.body[c], contacts.other[c]
        frame = rows.frame[c]
        _contact_frame(contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2], frame)
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        resists = laws.spinning[law] > 0.0 or laws.rolling[law] > 0.0
        surfaces = _moves(shapes, contacts.shape[c]) or _moves(shapes, contacts.other_shape[c])
        if _is_single(model, body) and _is_single(model, other) and not resists and not surfaces:
            rows.size[c] = _open_between_single_bodies(
                *(model, kinematics.column, factor, body, other, x, y, z, frame),
                *(rows.whitened_jacobian[c], rows.index[c], rows.inverse_mass[c]),
            )
        else:
            count = 6 if resists else 3
            rows.size[c] = _open_dense(
                *(model, shapes, kinematics, factor, contacts.shape[c], contacts.other_shape[c], body, other),
                *(x, y, z, frame, count, dense, squares, rows.index[c]),
            )
            _pack(dense, 0, rows.size[c], rows.index[c], rows.whitened_jacobian[c], squares, rows.inverse_mass[c])
        _align_tangents(rows.size[c], frame, rows.whitened_jacobian[c], rows.inverse_mass[c])
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
            _pack(dense, 3, rows.size[c], rows.index[c], rows.turning[c], squares, rows.turning_inverse[c])
            _recall(memory.moment, stored, frame, rows.moment[c])


@kernel
def _open_dense(
    model: "MultibodyModel",
    shapes: "Shapes",
    kinematics: "Kinematics",
    factor,
    shape,
    other_shape,
    body,
    other,
    x,
    y,
    z,
    frame,
    count,
    dense,
    squares,
    index,
):
    """Fills `count` whitened rows of a contact and the squares of their lengths; lists their coordinates in `index`.

    Returns:
        The number of coordinates.
    """
    parent, column_start, column_rate = model.body_parent, model.column_start, model.column_rate
    # the coordinates of both bodies' blocks, the lower ones first; none of the second where there is one block
    begin, end = block_of(model, body)
    start, stop = block_of(model, other)
    if start == begin:
        stop = start
    if start < begin and stop > start:
        begin, end, start, stop = start, stop, begin, end
    clear_rows(dense, count, begin, end)
    clear_rows(dense, count, start, stop)
    for k in range(6):
        squares[k] = 0.0
    point_rows(parent, column_start, column_rate, kinematics.column, body, other, x, y, z, frame, dense, 0)
    _move_surface(shapes, kinematics.rotation, shape, body, 1.0, frame, dense)
    _move_surface(shapes, kinematics.rotation, other_shape, other, -1.0, frame, dense)
    if count > 3:
        turning_rows(parent, column_start, column_rate, kinematics.column, body, other, frame, dense, 3)
    for part in range(2):
        low, high = start, stop
        if part == 1:
            low, high = begin, end
        if high > low:
            solve_transposed_three(model, factor, dense, 0, low, high, squares)
            if count > 3:
                solve_transposed_three(model, factor, dense, 3, low, high, squares)
    size = list_entries(dense, count, begin, end, index, 0)
    if stop > start:
        size = list_entries(dense, count, start, stop, index, size)
    return size


@kernel
def _is_single(model: "MultibodyModel", body):
    """Whether a body has six coordinates of its own that move nothing else, and a full block; also the world, -1."""
    if body < 0:
        return True
    begin, end = block_of(model, body)
    return model.body_alone[body] and end - begin == 6 and model.pattern_start[end] - model.pattern_start[begin] == 15


@kernel
def _open_between_single_bodies(
    model: "MultibodyModel", column, factor, body, other, x, y, z, frame, jacobian, index, inverse
):
    """Fills the packed rows of a contact of one or two single bodies: those of `_open_dense`, to the bit.

    Returns:
        The number of coordinates.
    """
    inverse[0] = inverse[1] = inverse[2] = 0.0
    # the body with the lower coordinates comes first in the packed rows, and last in the sums
    swapped = 0 <= other < body
    if other >= 0:
        last, sign = (body, 1.0) if swapped else (other, -1.0)
        _fill_single(model, column, factor, last, sign, x, y, z, frame, 6, jacobian, index, inverse)
    first, sign = (other, -1.0) if swapped else (body, 1.0)
    _fill_single(model, column, factor, first, sign, x, y, z, frame, 0, jacobian, index, inverse)
    return 12 if other >= 0 else 6


@kernel
def _fill_single(model: "MultibodyModel", column, factor, body, sign, x, y, z, frame, at, jacobian, index, inverse):
    """Fills the entries of one body from `at` on, and adds the squares of their lengths to `inverse`."""
    row, first, begin = np.uintp(at), np.uintp(model.column_start[body]), np.uintp(block_of(model, body)[0])
    n0, n1, n2 = frame[0, 0], frame[0, 1], frame[0, 2]
    s0, s1, s2 = frame[1, 0], frame[1, 1], frame[1, 2]
    t0, t1, t2 = frame[2, 0], frame[2, 1], frame[2, 2]
    for k in range(np.uintp(6)):
        c = first + k
        vx = sign * (column[c, 0] + column[c, 4] * z - column[c, 5] * y)
        vy = sign * (column[c, 1] + column[c, 5] * x - column[c, 3] * z)
        vz = sign * (column[c, 2] + column[c, 3] * y - column[c, 4] * x)
        jacobian[row + k, 0] = n0 * vx + n1 * vy + n2 * vz
        jacobian[row + k, 1] = s0 * vx + s1 * vy + s2 * vz
        jacobian[row + k, 2] = t0 * vx + t1 * vy + t2 * vz
        index[row + k] = begin + k
    square_n, square_s, square_t = inverse[0], inverse[1], inverse[2]
    for m in range(np.uintp(6)):
        k = np.uintp(5) - m
        scale = factor.diagonal[begin + k]
        n, s, t = scale * jacobian[row + k, 0], scale * jacobian[row + k, 1], scale * jacobian[row + k, 2]
        jacobian[row + k, 0], jacobian[row + k, 1], jacobian[row + k, 2] = n, s, t
        square_n, square_s, square_t = square_n + n * n, square_s + s * s, square_t + t * t
        for i in range(k):
            entry = factor.lower[begin + k, i]
            jacobian[row + i, 0] -= entry * n
            jacobian[row + i, 1] -= entry * s
            jacobian[row + i, 2] -= entry * t
    inverse[0], inverse[1], inverse[2] = square_n, square_s, square_t


@kernel
def _pack(dense, first, size, index, packed, squares, inverse):
    """Packs three rows from `first` on to the indices in `index`; squares of their lengths."""
    for k in range(size):
        d = index[k]
        packed[k, 0], packed[k, 1], packed[k, 2] = dense[first, d], dense[first + 1, d], dense[first + 2, d]
    inverse[0], inverse[1], inverse[2] = squares[first], squares[first + 1], squares[first + 2]


@kernel
def _align_tangents(size, frame, jacobian, inverse):
    """Rotates the tangents about the normal until they are decoupled, unless they nearly are."""
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
    # summed again: for an immovable tangent a difference would leave rounding of the other's mobility
    inverse[1] = inverse[2] = 0.0
    for k in range(size):
        jacobian[k, 1], jacobian[k, 2] = (
            cosine * jacobian[k, 1] - sine * jacobian[k, 2],
            sine * jacobian[k, 1] + cosine * jacobian[k, 2],
        )
        inverse[1] += jacobian[k, 1] * jacobian[k, 1]
        inverse[2] += jacobian[k, 2] * jacobian[k, 2]
    for k in range(3):
        frame[1, k], frame[2, k] = cosine * frame[1, k] - sine * frame[2, k], sine * frame[1, k] + cosine * frame[2, k]


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
def _moves(shapes: "Shapes", shape):
    """Whether a shape's surface moves on it; not that of the ground, -1."""
    return shape >= 0 and shapes.surface_rate[shape] >= 0


@inlined
def _move_surface(shapes: "Shapes", rotation, shape, body, sign, frame, dense):
    """Adds the motion of a moving surface to the tangents: it runs backwards as its joint turns forward.

    Args:
        shapes: all shapes.
        rotation: of the bodies, world from body.
        shape, body: shape and body of the surface; -1 for the ground, the world.
        sign: 1 for the body at the tip of the normal, -1 for the other.
        frame: of the contact.
        dense: normal and tangents, changed in place.
    """
    if shape >= 0 and body >= 0 and shapes.surface_rate[shape] >= 0:
        rate = shapes.surface_rate[shape]
        for k in range(3):
            along = 0.0
            for m in range(3):
                along += rotation[body, k, m] * shapes.surface_direction[shape, m]
            dense[1, rate] -= sign * frame[1, k] * along
            dense[2, rate] -= sign * frame[2, k] * along


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
