"""The whitened entries of a contact's rows: normal, two tangents, and rotation about these.

Where the bodies share no coordinate and one of them is single, each fills its own entries; otherwise dense rows over
the blocks of both are filled and packed. Many contacts between the same two bodies share the work: their rows are sums
of six *columns*, the whitened velocity of the origin and angular velocity of the one body relative to the other.
"""

from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross, rotated
from grouser.physics.multibody.factorisation import solve_transposed_three
from grouser.physics.multibody.jacobian import block_of, clear_rows, list_entries, point_rows, turning_rows

if TYPE_CHECKING:
    from grouser.physics.contact.rows import ContactRows
    from grouser.physics.contact.shapes import Shapes
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics


@kernel
def open_dense(
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
def open_columns(
    model: "MultibodyModel", shapes: "Shapes", kinematics: "Kinematics", factor, rows: "ContactRows", body, other
):
    """Fills `rows.column` and `rows.column_index` for all contacts between two bodies.

    Args:
        model, shapes, kinematics, factor, rows: of `open_contact_rows`.
        body, other: the body at the tip of the normals, and the other one.

    Returns:
        The number of coordinates.
    """
    size = open_dense(
        *(model, shapes, kinematics, factor, -1, -1, body, other, 0.0, 0.0, 0.0, rows.axes, 6, rows.dense),
        *(rows.squares, rows.column_index),
    )
    for k in range(size):
        for m in range(6):
            rows.column[k, m] = rows.dense[m, rows.column_index[k]]
    return size


@kernel
def open_by_columns(rows: "ContactRows", c, size, x, y, z):
    """Fills the packed rows of contact c at the point x, y, z from the columns of its two bodies."""
    column, frame, jacobian, inverse = rows.column, rows.frame[c], rows.whitened_jacobian[c], rows.inverse_mass[c]
    n0, n1, n2 = frame[0, 0], frame[0, 1], frame[0, 2]
    s0, s1, s2 = frame[1, 0], frame[1, 1], frame[1, 2]
    t0, t1, t2 = frame[2, 0], frame[2, 1], frame[2, 2]
    normal = one = two = 0.0
    for k in range(np.uintp(size)):
        vx = column[k, 0] + column[k, 4] * z - column[k, 5] * y
        vy = column[k, 1] + column[k, 5] * x - column[k, 3] * z
        vz = column[k, 2] + column[k, 3] * y - column[k, 4] * x
        along = n0 * vx + n1 * vy + n2 * vz
        jacobian[k, 0] = along
        normal += along * along
        along = s0 * vx + s1 * vy + s2 * vz
        jacobian[k, 1] = along
        one += along * along
        along = t0 * vx + t1 * vy + t2 * vz
        jacobian[k, 2] = along
        two += along * along
        rows.index[c, k] = rows.column_index[k]
    inverse[0], inverse[1], inverse[2] = normal, one, two


@kernel
def is_single(model: "MultibodyModel", body):
    """Whether a body has six coordinates of its own that move nothing else, and a full block."""
    if body < 0:
        return False
    begin, end = block_of(model, body)
    return model.body_alone[body] and end - begin == 6 and model.pattern_start[end] - model.pattern_start[begin] == 15


@kernel
def open_sides(
    model: "MultibodyModel", kinematics, factor, rows: "ContactRows", c, body, single, other, other_single, x, y, z
):
    """Fills the packed rows of contact c of bodies that share no coordinate, the world included.

    Args:
        model, kinematics, factor: of `open_contact_rows`.
        rows, c: the rows, with the frame.
        body, single: the body at the tip of the normal, and whether it is single.
        other, other_single: the other body, likewise.
        x, y, z: the point, from the origin, world axes [m].

    Returns:
        The number of coordinates.
    """
    inverse, size = rows.inverse_mass[c], 0
    inverse[0] = inverse[1] = inverse[2] = 0.0
    swapped = other < body
    if swapped and other >= 0:
        size = _fill_side(model, kinematics, factor, rows, c, other, other_single, -1.0, x, y, z, size)
    if body >= 0:
        size = _fill_side(model, kinematics, factor, rows, c, body, single, 1.0, x, y, z, size)
    if not swapped and other >= 0:
        size = _fill_side(model, kinematics, factor, rows, c, other, other_single, -1.0, x, y, z, size)
    return size


@inlined
def _fill_side(model: "MultibodyModel", kinematics, factor, rows: "ContactRows", c, body, single, sign, x, y, z, at):
    """Fills the entries of one body from `at` on; returns where they end."""
    if single:
        _fill_single(model, kinematics, factor, rows, c, body, sign, x, y, z, at)
        return at + 6
    return _fill_block(model, kinematics, factor, rows, c, body, sign, x, y, z, at)


@kernel
def _fill_single(model: "MultibodyModel", kinematics, factor, rows: "ContactRows", c, body, sign, x, y, z, at):
    """Fills the entries of a single body from `at` on, and adds the squares of their lengths to the inverse masses."""
    first, begin = np.uintp(model.column_start[body]), np.uintp(block_of(model, body)[0])
    row, column, frame = np.uintp(at), kinematics.column, rows.frame[c]
    jacobian, index, inverse = rows.whitened_jacobian[c], rows.index[c], rows.inverse_mass[c]
    lower, diagonal = factor.lower, factor.diagonal
    n0, n1, n2 = frame[0, 0], frame[0, 1], frame[0, 2]
    s0, s1, s2 = frame[1, 0], frame[1, 1], frame[1, 2]
    t0, t1, t2 = frame[2, 0], frame[2, 1], frame[2, 2]
    for k in range(np.uintp(6)):
        a = first + k
        vx = sign * (column[a, 0] + column[a, 4] * z - column[a, 5] * y)
        vy = sign * (column[a, 1] + column[a, 5] * x - column[a, 3] * z)
        vz = sign * (column[a, 2] + column[a, 3] * y - column[a, 4] * x)
        jacobian[row + k, 0] = n0 * vx + n1 * vy + n2 * vz
        jacobian[row + k, 1] = s0 * vx + s1 * vy + s2 * vz
        jacobian[row + k, 2] = t0 * vx + t1 * vy + t2 * vz
        index[row + k] = begin + k
    for m in range(np.uintp(3)):
        inverse[m] += _whiten_six(lower, diagonal, begin, jacobian, row, m)


@inlined
def _whiten_six(lower, diagonal, k, jacobian, a, m):
    """Whitens column m of six entries from row a on, over a full block from k on; returns the square of its length."""
    # in registers: a loop over the entries would keep them in memory
    b, c, d, e, f = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4), np.uintp(5)
    w5 = diagonal[k + f] * jacobian[a + f, m]
    w4 = diagonal[k + e] * (jacobian[a + e, m] - lower[k + f, e] * w5)
    w3 = diagonal[k + d] * (jacobian[a + d, m] - lower[k + f, d] * w5 - lower[k + e, d] * w4)
    w2 = jacobian[a + c, m] - lower[k + f, c] * w5 - lower[k + e, c] * w4 - lower[k + d, c] * w3
    w2 *= diagonal[k + c]
    w1 = jacobian[a + b, m] - lower[k + f, b] * w5 - lower[k + e, b] * w4 - lower[k + d, b] * w3 - lower[k + c, b] * w2
    w1 *= diagonal[k + b]
    w0 = jacobian[a, m] - lower[k + f, 0] * w5 - lower[k + e, 0] * w4 - lower[k + d, 0] * w3
    w0 = diagonal[k] * (w0 - lower[k + c, 0] * w2 - lower[k + b, 0] * w1)
    jacobian[a, m], jacobian[a + b, m], jacobian[a + c, m] = w0, w1, w2
    jacobian[a + d, m], jacobian[a + e, m], jacobian[a + f, m] = w3, w4, w5
    return w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3 + w4 * w4 + w5 * w5


@kernel
def _fill_block(model: "MultibodyModel", kinematics, factor, rows: "ContactRows", c, body, sign, x, y, z, at):
    """Fills the entries of one body's block from `at` on, and adds the squares of their lengths to the inverse masses.

    Returns:
        Where they end.
    """
    parent, column_start, column_rate = model.body_parent, model.column_start, model.column_rate
    dense, squares, index = rows.dense, rows.squares, rows.index[c]
    begin, end = block_of(model, body)
    clear_rows(dense, 3, begin, end)
    for k in range(3):
        squares[k] = 0.0
    one, two = (body, -1) if sign > 0.0 else (-1, body)
    point_rows(parent, column_start, column_rate, kinematics.column, one, two, x, y, z, rows.frame[c], dense, 0)
    solve_transposed_three(model, factor, dense, 0, begin, end, squares)
    size = list_entries(dense, 3, begin, end, index, at)
    pack(dense, 0, at, size, index, rows.whitened_jacobian[c])
    for k in range(3):
        rows.inverse_mass[c, k] += squares[k]
    return size


@kernel
def pack(dense, first, at, size, index, packed):
    """Packs three rows from `first` on to the indices at..size - 1 in `index`."""
    for k in range(at, size):
        d = index[k]
        packed[k, 0], packed[k, 1], packed[k, 2] = dense[first, d], dense[first + 1, d], dense[first + 2, d]


@inlined
def moves(shapes: "Shapes", shape):
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
        d = shapes.surface_direction[shape]
        x, y, z = rotated(rotation[body], d[0], d[1], d[2])
        if shapes.surface_wraps[shape]:
            # a belt runs along axis x outward normal; the contact's normal points out of the other body
            x, y, z = cross(sign * x, sign * y, sign * z, frame[0, 0], frame[0, 1], frame[0, 2])
        for k in range(1, 3):
            dense[k, rate] -= sign * (frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z)
