"""Gaussian elimination for small dense systems without symmetry."""

import numpy as np

from grouser.physics.base.kernel import inlined, kernel


@kernel
def eliminate(matrix, right, size, least_pivot):
    """Gaussian elimination with row pivoting, in place.

    Args:
        matrix: its first `size` rows and columns are the system; destroyed.
        right: the right side, then the solution.
        size: number of unknowns.
        least_pivot: with a smaller pivot there is no solution.

    Returns:
        Whether there is a solution.
    """
    for k in range(size):
        pivot = _largest_below(matrix, k, size)
        if not abs(matrix[pivot, k]) > least_pivot:
            return False
        if pivot != k:
            right[k], right[pivot] = right[pivot], right[k]
            for j in range(k, size):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        inverse = 1.0 / matrix[k, k]
        for i in range(k + 1, size):
            if matrix[i, k] != 0.0:
                factor = matrix[i, k] * inverse
                right[i] -= factor * right[k]
                # indices without a sign, so that the loop is vectorised
                for j in range(np.uintp(k + 1), np.uintp(size)):
                    matrix[np.uintp(i), j] -= factor * matrix[np.uintp(k), j]
    for i in range(size - 1, -1, -1):
        total = right[i]
        for j in range(np.uintp(i + 1), np.uintp(size)):
            total -= matrix[np.uintp(i), j] * right[j]
        right[i] = total / matrix[i, i]
    return True


@kernel
def eliminate_columns(matrix, right):
    """Gaussian elimination with row pivoting for several right sides, in place.

    Args:
        matrix: of the system, (n, n); destroyed.
        right: the right sides in columns, then the solutions, (n, columns).

    Returns:
        Whether there is a solution.
    """
    n, columns = right.shape
    for k in range(n):
        pivot = _largest_below(matrix, k, n)
        if not abs(matrix[pivot, k]) > 0.0:
            return False
        if pivot != k:
            for j in range(n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            for j in range(columns):
                right[k, j], right[pivot, j] = right[pivot, j], right[k, j]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            for j in range(columns):
                right[i, j] -= factor * right[k, j]
    for i in range(n - 1, -1, -1):
        for j in range(columns):
            total = right[i, j]
            for m in range(i + 1, n):
                total -= matrix[i, m] * right[m, j]
            right[i, j] = total / matrix[i, i]
    return True


@inlined
def _largest_below(matrix, k, size):
    """Row from k on with the largest entry in column k."""
    pivot = k
    for i in range(k + 1, size):
        if abs(matrix[i, k]) > abs(matrix[pivot, k]):
            pivot = i
    return pivot
