"""Small dense systems that are neither symmetric nor follow the branches of a machine."""

from grouser.physics.kernel import kernel


@kernel
def eliminate(matrix, right, size, least_pivot):
    """Gauss's elimination with row pivoting, in place.

    Args:
        matrix: its first `size` rows and columns are the system; destroyed.
        right: the right side, then the solution.
        size: number of unknowns.
        least_pivot: a smaller pivot says that there is no solution.

    Returns:
        Whether there is one.
    """
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
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
