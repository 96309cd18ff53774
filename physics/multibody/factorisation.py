"""Branch-sparse factorisation M = L^T L and the triangular products with it (Featherstone 2008, section 6.5).

Elimination runs from the last coordinate to the first, so that a tree makes no fill-in. The inverse of the diagonal of
L is stored in its place. The *whitened* velocity is u = L v: the kinetic energy is T = u.u / 2. A row with Jacobian J
acts on u by the whitened Jacobian W = L^-T J^T, and its inverse mass is J M^-1 J^T = W.W.

The pattern gives the places of the entries of a row in `MassMatrix.lower`: coordinates, from the first of their block
on. They are read as unsigned: numba tests signed ones for wrap-around, which takes half of the time.
"""

import math

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.mass import MassMatrix


@kernel
def factorise(model: MultibodyModel, matrix: MassMatrix):
    """Factorises `matrix` in place.

    Returns:
        -1, or the first coordinate found whose pivot is not positive (the matrix is then invalid).
    """
    start, pattern, diagonal, lower = model.pattern_start, model.pattern, matrix.diagonal, matrix.lower
    for k in range(diagonal.shape[0] - 1, -1, -1):
        pivot = diagonal[k]
        if not pivot > 0.0:
            return k
        inverse = 1.0 / pivot
        block, first, last = np.uintp(model.rate_first[k]), np.uintp(start[k]), np.uintp(start[k + 1])
        for a in range(first, last):
            i = np.uintp(pattern[a])
            x = inverse * lower[k, i]
            for b in range(first, a):
                j = np.uintp(pattern[b])
                lower[block + i, j] -= x * lower[k, j]
            diagonal[block + i] -= x * lower[k, i]
        # The roots last: the next pivot does not depend on them.
        inverse = math.sqrt(inverse)
        diagonal[k] = inverse
        for a in range(first, last):
            lower[k, np.uintp(pattern[a])] *= inverse
    return -1


@kernel
def solve_transposed(model: MultibodyModel, factor: MassMatrix, x):
    """x <- L^-T x."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for k in range(x.shape[0] - 1, -1, -1):
        if x[k] != 0.0:
            value = x[k] * factor.diagonal[k]
            x[k] = value
            block = np.uintp(model.rate_first[k])
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                x[block + i] -= lower[k, i] * value


@kernel
def solve_transposed_row(model: MultibodyModel, factor: MassMatrix, rows, r, first, last):
    """Row r <- L^-T row r, whose entries are in range(first, last); returns the square of its length."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    total = 0.0
    for k in range(last - 1, first - 1, -1):
        value = rows[r, k]
        if value != 0.0:
            value *= factor.diagonal[k]
            rows[r, k] = value
            total += value * value
            block = np.uintp(model.rate_first[k])
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                rows[r, block + i] -= lower[k, i] * value
    return total


@inlined
def solve_transposed_three(model: MultibodyModel, factor: MassMatrix, rows, r, first, last, squares):
    """Rows r, r + 1, r + 2 <- L^-T of them in one pass, over range(first, last).

    The squares of their lengths are added to squares[r] and on.
    """
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    square_x, square_y, square_z = squares[r], squares[r + 1], squares[r + 2]
    for k in range(last - 1, first - 1, -1):
        x, y, z = rows[r, k], rows[r + 1, k], rows[r + 2, k]
        if x != 0.0 or y != 0.0 or z != 0.0:
            inverse = factor.diagonal[k]
            x *= inverse
            y *= inverse
            z *= inverse
            rows[r, k], rows[r + 1, k], rows[r + 2, k] = x, y, z
            square_x += x * x
            square_y += y * y
            square_z += z * z
            block = np.uintp(model.rate_first[k])
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                entry = lower[k, i]
                rows[r, block + i] -= entry * x
                rows[r + 1, block + i] -= entry * y
                rows[r + 2, block + i] -= entry * z
    squares[r], squares[r + 1], squares[r + 2] = square_x, square_y, square_z


@kernel
def solve(model: MultibodyModel, factor: MassMatrix, x):
    """x <- L^-1 x."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for k in range(x.shape[0]):
        total, block = x[k], np.uintp(model.rate_first[k])
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total -= lower[k, i] * x[block + i]
        x[k] = total * factor.diagonal[k]


@kernel
def multiply(model: MultibodyModel, factor: MassMatrix, x, result):
    """result <- L x; result may be x itself."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for k in range(x.shape[0] - 1, -1, -1):
        total, block = x[k] / factor.diagonal[k], np.uintp(model.rate_first[k])
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total += lower[k, i] * x[block + i]
        result[k] = total
