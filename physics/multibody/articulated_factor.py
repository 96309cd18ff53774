"""The factor of a long tree's mass matrix by recursions along the tree, in linear time and without its entries.

The factor L of M = L^T L (`factorisation`) has the entries L[k, k] = sqrt(D) and L[k, j] = r.s_j / sqrt(D), with the
column s_j of every coordinate j below k on the way to the world, the articulated inertia times column r = I^A s_k, and
the pivot D = s_k.r: the innovations form of the mass matrix (Rodriguez, Kreutz-Delgado and Jain, 1991; Jain, Robot and
Multibody Dynamics, 2011, chapter 7). Products with L need the twist of the body before each column, and products with
L^T the wrench of all columns beyond it. Terms along single coordinates add to the pivots.

A joint with several coordinates is eliminated one column at a time, from the last, as in `articulated`.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.articulated import rigid_inertia, subtract_square, symmetric_times
from grouser.physics.multibody.kinematics import body_twist, force_along

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics


class ArticulatedFactor(NamedTuple):
    """What the recursions need of each body and column; empty where no tree is factorised by recursion.

    Attributes:
        inertia: articulated inertias, lower triangles row by row, buffer, (bodies, 21).
        column: twists of the columns, world axes about the origin of the kinematics, (columns, 6).
        reaction: r / sqrt(D) of each column, (columns, 6).
        twist: buffer, (bodies, 6).
        wrench: buffer: of the columns beyond each body, for three rows at once, (3, bodies, 6).
    """

    inertia: np.ndarray
    column: np.ndarray
    reaction: np.ndarray
    twist: np.ndarray
    wrench: np.ndarray


def make_articulated_factor(model: MultibodyModel) -> ArticulatedFactor:
    """Zeroed arrays."""
    needed = bool(model.run_tree.any())
    bodies, columns = needed * len(model.body_parent), needed * len(model.column_rate)
    return ArticulatedFactor(
        inertia=np.zeros((bodies, 21)),
        column=np.zeros((columns, 6)),
        reaction=np.zeros((columns, 6)),
        twist=np.zeros((bodies, 6)),
        wrench=np.zeros((3, bodies, 6)),
    )


@kernel
def factorise_tree(
    model: MultibodyModel, kinematics: "Kinematics", first, last, along, diagonal, factor: ArticulatedFactor
):
    """Factorises the block of one tree.

    Args:
        model: the multibody system.
        kinematics: with positions filled.
        first, last: bodies of the tree, the last exclusive.
        along: inertia along each coordinate in addition to that of the bodies, (coordinates,).
        diagonal: 1 / sqrt(D), result, (coordinates,).
        factor: result.

    Returns:
        -1, or the first coordinate found whose pivot is not positive (the factor is then invalid).
    """
    inertia, column, reaction = factor.inertia, factor.column, factor.reaction
    for i in range(first, last):
        rigid_inertia(kinematics.inertia[i], inertia[i])
    for i in range(last - 1, first - 1, -1):
        articulated = inertia[i]
        for c in range(model.column_start[i + 1] - 1, model.column_start[i] - 1, -1):
            s, d = kinematics.column[c], model.column_rate[c]
            s0, s1, s2, s3, s4, s5 = s[0], s[1], s[2], s[3], s[4], s[5]
            column[c, 0], column[c, 1], column[c, 2] = s0, s1, s2
            column[c, 3], column[c, 4], column[c, 5] = s3, s4, s5
            r0, r1, r2, r3, r4, r5 = symmetric_times(articulated, s0, s1, s2, s3, s4, s5)
            pivot = along[d] + (s0 * r0 + s1 * r1 + s2 * r2 + s3 * r3 + s4 * r4 + s5 * r5)
            if not pivot > 0.0:
                return d
            inverse = 1.0 / pivot
            subtract_square(articulated, inverse, r0, r1, r2, r3, r4, r5)
            root = math.sqrt(inverse)
            diagonal[d] = root
            reaction[c, 0], reaction[c, 1], reaction[c, 2] = root * r0, root * r1, root * r2
            reaction[c, 3], reaction[c, 4], reaction[c, 5] = root * r3, root * r4, root * r5
        parent = model.body_parent[i]
        if parent >= 0:
            for k in range(21):
                inertia[parent, k] += articulated[k]
    return -1


@kernel
def multiply_tree(model: MultibodyModel, first, last, diagonal, factor: ArticulatedFactor, x, result):
    """result <- L x over the coordinates of one tree; result may be x itself."""
    column, reaction, twist = factor.column, factor.reaction, factor.twist
    for i in range(first, last):
        v0, v1, v2, v3, v4, v5 = body_twist(twist, model.body_parent[i])
        for c in range(model.column_start[i], model.column_start[i + 1]):
            d = model.column_rate[c]
            rate = x[d]
            result[d] = rate / diagonal[d] + force_along(reaction, c, v0, v1, v2, v3, v4, v5)
            v0, v1, v2 = v0 + column[c, 0] * rate, v1 + column[c, 1] * rate, v2 + column[c, 2] * rate
            v3, v4, v5 = v3 + column[c, 3] * rate, v4 + column[c, 4] * rate, v5 + column[c, 5] * rate
        twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5] = v0, v1, v2, v3, v4, v5


@kernel
def solve_tree(model: MultibodyModel, first, last, diagonal, factor: ArticulatedFactor, x):
    """x <- L^-1 x over the coordinates of one tree."""
    column, reaction, twist = factor.column, factor.reaction, factor.twist
    for i in range(first, last):
        v0, v1, v2, v3, v4, v5 = body_twist(twist, model.body_parent[i])
        for c in range(model.column_start[i], model.column_start[i + 1]):
            d = model.column_rate[c]
            rate = (x[d] - force_along(reaction, c, v0, v1, v2, v3, v4, v5)) * diagonal[d]
            x[d] = rate
            v0, v1, v2 = v0 + column[c, 0] * rate, v1 + column[c, 1] * rate, v2 + column[c, 2] * rate
            v3, v4, v5 = v3 + column[c, 3] * rate, v4 + column[c, 4] * rate, v5 + column[c, 5] * rate
        twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5] = v0, v1, v2, v3, v4, v5


@kernel
def solve_tree_transposed(model: MultibodyModel, first, last, diagonal, factor: ArticulatedFactor, x):
    """x <- L^-T x over the coordinates of one tree; returns the square of its length."""
    wrench, total = factor.wrench[0], 0.0
    # bodies beyond the last entry stay zero
    while last > first and _is_zero(model, last - 1, x):
        last -= 1
    _clear(wrench, first, last)
    for i in range(last - 1, first - 1, -1):
        total += _pass_body(model, i, diagonal, factor.column, factor.reaction, wrench, x)
    return total


@kernel
def solve_tree_transposed_three(
    model: MultibodyModel, first, last, diagonal, factor: ArticulatedFactor, rows, r, squares
):
    """Rows r, r + 1, r + 2 <- L^-T of them in one pass over one tree; adds the squares of their lengths to squares.

    The recursion waits for its own results: three of them take little longer than one.
    """
    column, reaction = factor.column, factor.reaction
    x, y, z = rows[r], rows[r + 1], rows[r + 2]
    f, g, h = factor.wrench[0], factor.wrench[1], factor.wrench[2]
    while (
        last > first and _is_zero(model, last - 1, x) and _is_zero(model, last - 1, y) and _is_zero(model, last - 1, z)
    ):
        last -= 1
    _clear(f, first, last)
    _clear(g, first, last)
    _clear(h, first, last)
    square_x, square_y, square_z = squares[r], squares[r + 1], squares[r + 2]
    for i in range(last - 1, first - 1, -1):
        square_x += _pass_body(model, i, diagonal, column, reaction, f, x)
        square_y += _pass_body(model, i, diagonal, column, reaction, g, y)
        square_z += _pass_body(model, i, diagonal, column, reaction, h, z)
    squares[r], squares[r + 1], squares[r + 2] = square_x, square_y, square_z


@kernel
def _clear(wrench, first, last):
    """Clears the wrenches of bodies."""
    for i in range(first, last):
        for k in range(6):
            wrench[i, k] = 0.0


@inlined
def _pass_body(model: MultibodyModel, i, diagonal, column, reaction, wrench, x):
    """Solves for the coordinates of body i, and passes the wrench of what lies beyond on; sum of their squares."""
    total = 0.0
    f0, f1, f2, f3, f4, f5 = wrench[i, 0], wrench[i, 1], wrench[i, 2], wrench[i, 3], wrench[i, 4], wrench[i, 5]
    for c in range(model.column_start[i + 1] - 1, model.column_start[i] - 1, -1):
        d = model.column_rate[c]
        value = (x[d] - force_along(column, c, f0, f1, f2, f3, f4, f5)) * diagonal[d]
        x[d] = value
        total += value * value
        f0, f1, f2 = f0 + reaction[c, 0] * value, f1 + reaction[c, 1] * value, f2 + reaction[c, 2] * value
        f3, f4, f5 = f3 + reaction[c, 3] * value, f4 + reaction[c, 4] * value, f5 + reaction[c, 5] * value
    parent = model.body_parent[i]
    if parent >= 0:
        wrench[parent, 0] += f0
        wrench[parent, 1] += f1
        wrench[parent, 2] += f2
        wrench[parent, 3] += f3
        wrench[parent, 4] += f4
        wrench[parent, 5] += f5
    return total


@kernel
def _is_zero(model: MultibodyModel, body, x):
    """Whether all entries of x for the coordinates of a body are zero."""
    for c in range(model.column_start[body], model.column_start[body + 1]):  # noqa: SIM110, kernels have no generators
        if x[model.column_rate[c]] != 0.0:
            return False
    return True
