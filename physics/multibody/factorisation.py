"""Branch-sparse factorisation M = L^T L and the triangular products with it (Featherstone 2008, section 6.5).

Elimination runs from the last coordinate to the first, so that a tree makes no fill-in. The inverse of the diagonal of
L is stored in its place. The *whitened* velocity is u = L v: the kinetic energy is T = u.u / 2. A row with Jacobian J
acts on u by the whitened Jacobian W = L^-T J^T, and its inverse mass is J M^-1 J^T = W.W.

Blocks without entries are factorised by recursion along their tree (`articulated_factor`), to the same factor.

The pattern gives the places of the entries of a row in `MassMatrix.lower`: coordinates, from the first of their block
on. They are read as unsigned: numba tests signed ones for wrap-around, which takes half of the time.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import embedded, inlined, kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.articulated_factor import (
    factorise_tree,
    multiply_tree,
    solve_tree,
    solve_tree_transposed,
    solve_tree_transposed_three,
)
from grouser.physics.multibody.mass import MassMatrix
from grouser.physics.multibody.spans import Span, whole

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics


@embedded
def factorise(model: MultibodyModel, kinematics: "Kinematics", matrix: MassMatrix):
    """Factorises `matrix` in place.

    Args:
        model: the multibody system.
        kinematics: with the positions of the matrix.
        matrix: the matrix, then its factor.

    Returns:
        -1, or the first coordinate found whose pivot is not positive (the matrix is then invalid).
    """
    return factorise_of(model, whole(model), kinematics, matrix)


@embedded
def factorise_of(model: MultibodyModel, span: Span, kinematics: "Kinematics", matrix: MassMatrix):
    """As `factorise`, for the blocks of a span."""
    if model.run_tree.shape[0] == 0:
        return _factorise_entries(model, span.rate, span.rate_end, matrix)
    for run in range(model.run_tree.shape[0] - 1, -1, -1):
        begin, end = _run_within(model, run, span)
        if begin < end:
            first, last = model.run_tree[run, 0], model.run_tree[run, 1]
            if last > 0:
                singular = factorise_tree(model, kinematics, first, last, matrix.along, matrix.diagonal, matrix.trees)
            else:
                singular = _factorise_entries(model, begin, end, matrix)
            if singular >= 0:
                return singular
    return -1


@inlined
def _run_within(model: MultibodyModel, run, span: Span):
    """First and last (exclusive) coordinate of a run within a span, which has the whole of a long tree or nothing."""
    first, last = np.uintp(model.run_start[run]), np.uintp(model.run_start[run + 1])
    return max(first, np.uintp(span.rate)), min(last, np.uintp(span.rate_end))


@kernel
def _factorise_entries(model: MultibodyModel, begin, end, matrix: MassMatrix):
    """Factorises the blocks with entries of range(begin, end)."""
    start, pattern, diagonal, lower = model.pattern_start, model.pattern, matrix.diagonal, matrix.lower
    for m in range(end - begin):
        k = end - np.uintp(1) - m
        pivot = diagonal[k]
        if not pivot > 0.0:
            return np.int64(k)
        inverse = 1.0 / pivot
        block, first, last = np.uintp(model.rate_first[k]), np.uintp(start[k]), np.uintp(start[k + 1])
        if last - first == k - block:
            # a full row: its entries are next to each other
            for i in range(last - first):
                x, other = inverse * lower[k, i], block + i
                for j in range(i):
                    lower[other, j] -= x * lower[k, j]
                diagonal[other] -= x * lower[k, i]
        else:
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


@embedded
def solve_transposed(model: MultibodyModel, factor: MassMatrix, x):
    """x <- L^-T x."""
    solve_transposed_of(model, whole(model), factor, x)


@embedded
def solve_transposed_of(model: MultibodyModel, span: Span, factor: MassMatrix, x):
    """As `solve_transposed`, for the blocks of a span."""
    if model.run_tree.shape[0] == 0:
        _solve_entries_transposed(model, span.rate, span.rate_end, factor, x)
    for run in range(model.run_tree.shape[0]):
        begin, end = _run_within(model, run, span)
        if begin < end:
            first, last = model.run_tree[run, 0], model.run_tree[run, 1]
            if last > 0:
                solve_tree_transposed(model, first, last, factor.diagonal, factor.trees, x)
            else:
                _solve_entries_transposed(model, begin, end, factor, x)


@kernel
def _solve_entries_transposed(model: MultibodyModel, begin, end, factor: MassMatrix, x):
    """As `solve_transposed`, for the blocks with entries of range(begin, end)."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for m in range(end - begin):
        k = end - np.uintp(1) - m
        if x[k] != 0.0:
            value = x[k] * factor.diagonal[k]
            x[k] = value
            block = np.uintp(model.rate_first[k])
            for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
                i = np.uintp(pattern[a])
                x[block + i] -= lower[k, i] * value


@embedded
def solve_transposed_row(model: MultibodyModel, factor: MassMatrix, rows, r, first, last):
    """Row r <- L^-T row r, whose entries are in range(first, last); returns the square of its length."""
    if model.run_tree.shape[0] == 0:
        return _solve_entries_of_row(model, factor, rows, r, first, last)
    total = 0.0
    while last > first:
        run = model.rate_run[last - 1]
        tree, end, begin = model.run_tree[run, 0], model.run_tree[run, 1], max(first, model.run_start[run])
        if end > 0:
            total += solve_tree_transposed(model, tree, end, factor.diagonal, factor.trees, rows[r])
        else:
            total += _solve_entries_of_row(model, factor, rows, r, begin, last)
        last = begin
    return total


@kernel
def _solve_entries_of_row(model: MultibodyModel, factor: MassMatrix, rows, r, first, last):
    """As `solve_transposed_row`, for blocks with entries."""
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
    """Rows r, r + 1, r + 2 <- L^-T of them in one pass, over range(first, last), which is one block.

    The squares of their lengths are added to squares[r] and on.
    """
    if model.run_tree.shape[0] > 0 and model.run_tree[model.rate_run[first], 1] > 0:
        tree = model.run_tree[model.rate_run[first]]
        solve_tree_transposed_three(model, tree[0], tree[1], factor.diagonal, factor.trees, rows, r, squares)
    else:
        _solve_entries_of_three(model, factor, rows, r, first, last, squares)


@inlined
def _solve_entries_of_three(model: MultibodyModel, factor: MassMatrix, rows, r, first, last, squares):
    """As `solve_transposed_three`, for a block with entries."""
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


@embedded
def solve(model: MultibodyModel, factor: MassMatrix, x):
    """x <- L^-1 x."""
    solve_of(model, whole(model), factor, x)


@embedded
def solve_of(model: MultibodyModel, span: Span, factor: MassMatrix, x):
    """As `solve`, for the blocks of a span."""
    if model.run_tree.shape[0] == 0:
        _solve_entries(model, span.rate, span.rate_end, factor, x)
    for run in range(model.run_tree.shape[0]):
        begin, end = _run_within(model, run, span)
        if begin < end:
            first, last = model.run_tree[run, 0], model.run_tree[run, 1]
            if last > 0:
                solve_tree(model, first, last, factor.diagonal, factor.trees, x)
            else:
                _solve_entries(model, begin, end, factor, x)


@kernel
def _solve_entries(model: MultibodyModel, begin, end, factor: MassMatrix, x):
    """As `solve`, for the blocks with entries of range(begin, end)."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for k in range(begin, end):
        total, block = x[k], np.uintp(model.rate_first[k])
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total -= lower[k, i] * x[block + i]
        x[k] = total * factor.diagonal[k]


@embedded
def multiply(model: MultibodyModel, factor: MassMatrix, x, result):
    """result <- L x; result may be x itself."""
    multiply_of(model, whole(model), factor, x, result)


@embedded
def multiply_of(model: MultibodyModel, span: Span, factor: MassMatrix, x, result):
    """As `multiply`, for the blocks of a span."""
    if model.run_tree.shape[0] == 0:
        _multiply_entries(model, span.rate, span.rate_end, factor, x, result)
    for run in range(model.run_tree.shape[0]):
        begin, end = _run_within(model, run, span)
        if begin < end:
            first, last = model.run_tree[run, 0], model.run_tree[run, 1]
            if last > 0:
                multiply_tree(model, first, last, factor.diagonal, factor.trees, x, result)
            else:
                _multiply_entries(model, begin, end, factor, x, result)


@kernel
def _multiply_entries(model: MultibodyModel, begin, end, factor: MassMatrix, x, result):
    """As `multiply`, for the blocks with entries of range(begin, end)."""
    start, pattern, lower = model.pattern_start, model.pattern, factor.lower
    for m in range(end - begin):
        k = end - np.uintp(1) - m
        total, block = x[k] / factor.diagonal[k], np.uintp(model.rate_first[k])
        for a in range(np.uintp(start[k]), np.uintp(start[k + 1])):
            i = np.uintp(pattern[a])
            total += lower[k, i] * x[block + i]
        result[k] = total
