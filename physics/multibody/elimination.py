"""Gaussian elimination for small dense systems without symmetry."""

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
                for j in range(k + 1, size):
                    matrix[i, j] -= factor * matrix[k, j]
    for i in range(size - 1, -1, -1):
        total = right[i]
        for j in range(i + 1, size):
            total -= matrix[i, j] * right[j]
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


@kernel
def eliminate_in_order(matrix, right, size, first, below_start, below, beside_start, beside):
    """Gaussian elimination in a given order, without pivoting, in place.

    Args:
        matrix, right, size: as for `eliminate`.
        first: index of the first unknown in `below_start` and `beside_start`.
        below_start, below: for each unknown, the later rows with an entry in its column, fill-in included.
        beside_start, beside: likewise the later columns with an entry in its row.

    Returns:
        Whether every pivot was finite and not zero.
    """
    for k in range(size):
        if not abs(matrix[k, k]) > 0.0:
            return False
        inverse = 1.0 / matrix[k, k]
        begin, end = below_start[first + k], below_start[first + k + 1]
        for q in range(beside_start[first + k], beside_start[first + k + 1]):
            j = beside[q]
            if matrix[k, j] != 0.0:
                share = matrix[k, j] * inverse
                for p in range(begin, end):
                    matrix[below[p], j] -= matrix[below[p], k] * share
        if right[k] != 0.0:
            share = right[k] * inverse
            for p in range(begin, end):
                right[below[p]] -= matrix[below[p], k] * share
    for k in range(size - 1, -1, -1):
        total = right[k]
        for q in range(beside_start[first + k], beside_start[first + k + 1]):
            total -= matrix[k, beside[q]] * right[beside[q]]
        right[k] = total / matrix[k, k]
    return True
