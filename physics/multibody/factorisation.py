"""Branch-sparse factorisation M = L^T L and the triangular products with it (Featherstone 2008, section 6.5).

Elimination runs from the last coordinate to the first, so that a tree makes no fill-in. The inverse of the diagonal of
L is stored in its place. The *whitened* velocity is u = L v: the kinetic energy is T = u.u / 2. A row with Jacobian J
acts on u by the whitened Jacobian W = L^-T J^T, and its inverse mass is J M^-1 J^T = W.W.

Indices from the pattern are read as unsigned: numba tests signed ones for wrap-around, which takes half of the time.
"""

import math

import numpy as np

from grouser.physics.base.kernel import inlined, kernel


@kernel
def copy_lower(first, matrix, result):
    """Copies the lower triangle of `matrix`, row i from column first[i] on; leaves all else of `result` unchanged."""
    for i in range(matrix.shape[0]):
        for j in range(first[i], i + 1):
            result[i, j] = matrix[i, j]


@kernel
def factorise(start, pattern, matrix):
    """Factorises the lower triangle of `matrix` in place.

    Returns:
        -1, or the first coordinate found whose pivot is not positive (the matrix is then invalid).
    """
    for k in range(matrix.shape[0] - 1, -1, -1):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return k
        inverse = 1.0 / pivot
        first, last = np.uintp(start[k]), np.uintp(start[k + 1])
        for a in range(first, last):
            i = np.uintp(pattern[a])
            x = inverse * matrix[k, i]
            for b in range(first, a):
                j = np.uintp(pattern[b])
                matrix[i, j] -= x * matrix[k, j]
            matrix[i, i] -= x * matrix[k, i]
        # The roots last: the next pivot does not depend on them.
        inverse = math.sqrt(inverse)
        matrix[k, k] = inverse
        for a in range(first, last):
            matrix[k, np.uintp(pattern[a])] *= inverse
    return -1


@kernel
def solve_transposed(start, pattern, factor, x):
    """x <- L^-T x."""
    for k in range(x.shape[0] - 1, -1, -1):
        if x[k] != 0.0:
            value = x[k] * factor[k, k]
            x[k] = value
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                x[i] -= factor[k, i] * value


@kernel
def solve_transposed_row(start, pattern, factor, rows, r, first, last):
    """Row r <- L^-T row r, whose entries are in range(first, last); returns the square of its length."""
    total = 0.0
    for k in range(last - 1, first - 1, -1):
        value = rows[r, k]
        if value != 0.0:
            value *= factor[k, k]
            rows[r, k] = value
            total += value * value
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                rows[r, i] -= factor[k, i] * value
    return total


@inlined
def solve_transposed_three(start, pattern, factor, rows, r, first, last, squares):
    """Rows r, r + 1, r + 2 <- L^-T of them in one pass, over range(first, last).

    The squares of their lengths are added to squares[r] and on.
    """
    square_x, square_y, square_z = squares[r], squares[r + 1], squares[r + 2]
    for k in range(last - 1, first - 1, -1):
        x, y, z = rows[r, k], rows[r + 1, k], rows[r + 2, k]
        if x != 0.0 or y != 0.0 or z != 0.0:
            inverse = factor[k, k]
            x *= inverse
            y *= inverse
            z *= inverse
            rows[r, k], rows[r + 1, k], rows[r + 2, k] = x, y, z
            square_x += x * x
            square_y += y * y
            square_z += z * z
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                entry = factor[k, i]
                rows[r, i] -= entry * x
                rows[r + 1, i] -= entry * y
                rows[r + 2, i] -= entry * z
    squares[r], squares[r + 1], squares[r + 2] = square_x, square_y, square_z


@kernel
def solve(start, pattern, factor, x):
    """x <- L^-1 x."""
    for k in range(x.shape[0]):
        total = x[k]
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total -= factor[k, i] * x[i]
        x[k] = total * factor[k, k]


@kernel
def multiply(start, pattern, factor, x, result):
    """result <- L x; result may be x itself."""
    for k in range(x.shape[0] - 1, -1, -1):
        total = x[k] / factor[k, k]
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total += factor[k, i] * x[i]
        result[k] = total
