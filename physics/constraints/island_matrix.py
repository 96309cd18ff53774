"""The matrix of an island in blocks, and its elimination in an order with little fill-in.

The blocks are those of the mass matrix. Two of them have entries with each other where a row or a contact connects
them. Blocks are eliminated by minimum degree: the one with the fewest neighbours first (Tinney and Walker, Direct
solutions of sparse network equations by optimally ordered triangular factorization, 1967). The cost of a stack or a
wall grows little faster than its number of bodies. A single machine is one block, from its tips to its root.

Places are unsigned, as in `multibody.factorisation`.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import Rows

if TYPE_CHECKING:
    from grouser.physics.constraints.islands import Islands

# Islands with more coordinates are not eliminated: their matrix takes too much memory.
MOST_COORDINATES = 3000


class IslandMatrix(NamedTuple):
    """Buffers; all places are those of the elimination.

    Attributes:
        size: number of coordinates and of blocks of the island, (2,).
        place: place of each coordinate of the machines.
        block_start: places of block k are block_start[k] to block_start[k + 1].
        later_start, later: blocks that are connected with block k when it is eliminated.
        entry: the matrix, row by row, size[0] entries each.
        connected: whether two blocks are connected, in the order of their coordinates, (blocks, blocks) in a row.
        degree: number of blocks that are connected with each block and not eliminated; -1 for eliminated ones.
        order: number of each block by its first coordinate, then the blocks in the order of elimination.
        first: first coordinate of each block.
        neighbour: buffer, (blocks,).
    """

    size: np.ndarray
    place: np.ndarray
    block_start: np.ndarray
    later_start: np.ndarray
    later: np.ndarray
    entry: np.ndarray
    connected: np.ndarray
    degree: np.ndarray
    order: np.ndarray
    first: np.ndarray
    neighbour: np.ndarray


def make_island_matrix(coordinates: int) -> IslandMatrix:
    """Buffers for islands of up to so many coordinates; those that grow with their square are filled where needed."""
    most = min(coordinates, MOST_COORDINATES)
    return IslandMatrix(
        np.zeros(2, dtype=np.uintp),
        np.zeros(coordinates, dtype=np.uintp),
        np.zeros(most + 1, dtype=np.uintp),
        np.zeros(most + 1, dtype=np.uintp),
        np.empty(most * (most + 1) // 2, dtype=np.uintp),
        np.empty(most * most),
        np.empty(most * most, dtype=np.bool_),
        np.zeros(most, dtype=np.int64),
        np.zeros(coordinates, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
    )


@kernel
def order_island(rate_first, rate_last, rows: Rows, contact_rows, islands: "Islands", island, matrix: IslandMatrix):
    """Finds the blocks of an island, which of them are connected, and the order of their elimination.

    Args:
        rate_first, rate_last: range of the block of each coordinate.
        rows, contact_rows: opened.
        islands, island: the island.
        matrix: result.
    """
    begin, end = islands.rate_start[island], islands.rate_start[island + 1]
    blocks = 0
    k = begin
    while k < end:
        d = islands.rate[k]
        matrix.first[blocks], matrix.order[d] = d, blocks
        k += rate_last[d] - d
        blocks += 1
    matrix.size[0], matrix.size[1] = end - begin, blocks
    _connect_blocks(rate_first, rate_last, rows, contact_rows, islands, island, matrix)
    place = matrix.later_start[0] = matrix.block_start[0] = 0
    for step in range(blocks):
        block = _least_degree(matrix)
        matrix.block_start[step] = place
        _eliminate_block(matrix, block, step)
        # from the tips of its trees to the roots, as rows reach: branches then fill in nothing of each other
        for d in range(rate_last[matrix.first[block]] - 1, matrix.first[block] - 1, -1):
            matrix.place[d] = place
            place += 1
        matrix.neighbour[block] = step
    matrix.block_start[blocks] = place
    for a in range(np.int64(matrix.later_start[blocks])):
        matrix.later[a] = matrix.neighbour[np.int64(matrix.later[a])]


@inlined
def _connect_blocks(rate_first, rate_last, rows: Rows, contact_rows, islands: "Islands", island, matrix: IslandMatrix):
    """Notes which blocks a row or a contact connects, and the degrees of all."""
    blocks, order = np.int64(matrix.size[1]), matrix.order
    for k in range(blocks * blocks):
        matrix.connected[k] = False
    for k in range(blocks):
        matrix.degree[k] = 0
    if blocks == 1:
        return
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        index, last = contact_rows.index[c], contact_rows.size[c] - 1
        _connect(matrix, order[rate_first[index[0]]], order[rate_first[index[last]]])
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        one = rows.first[r]
        while one < rows.last[r]:
            other = rate_last[one]
            while other < rows.last[r]:
                _connect(matrix, order[one], order[other])
                other = rate_last[other]
            one = rate_last[one]


@inlined
def _connect(matrix: IslandMatrix, one, other):
    """Connects two blocks."""
    blocks = np.int64(matrix.size[1])
    if one != other and not matrix.connected[one * blocks + other]:
        matrix.connected[one * blocks + other] = matrix.connected[other * blocks + one] = True
        matrix.degree[one] += 1
        matrix.degree[other] += 1


@inlined
def _least_degree(matrix: IslandMatrix):
    """The first block with the fewest neighbours that is left."""
    best = -1
    for k in range(np.int64(matrix.size[1])):
        if matrix.degree[k] >= 0 and (best < 0 or matrix.degree[k] < matrix.degree[best]):
            best = k
    return best


@inlined
def _eliminate_block(matrix: IslandMatrix, block, step):
    """Lists the neighbours of a block that are left, which its elimination connects."""
    blocks, begin = np.int64(matrix.size[1]), np.int64(matrix.later_start[step])
    end = begin
    for other in range(blocks):
        if matrix.connected[block * blocks + other] and matrix.degree[other] >= 0:
            matrix.later[end] = other
            matrix.degree[other] -= 1
            end += 1
    matrix.degree[block] = -1
    matrix.later_start[step + 1] = end
    for a in range(begin, end):
        for b in range(begin, a):
            _connect(matrix, np.int64(matrix.later[a]), np.int64(matrix.later[b]))


@kernel
def clear_island(matrix: IslandMatrix):
    """Sets the matrix to I where it has blocks, fill-in included."""
    size, one = matrix.size[0], np.uintp(1)
    for k in range(matrix.size[1]):
        first, last = matrix.block_start[k], matrix.block_start[k + one]
        _clear(matrix.entry, size, first, last, first, last)
        for i in range(first, last):
            matrix.entry[i * size + i] = 1.0
        for a in range(matrix.later_start[k], matrix.later_start[k + one]):
            start, stop = matrix.block_start[matrix.later[a]], matrix.block_start[matrix.later[a] + one]
            _clear(matrix.entry, size, first, last, start, stop)
            _clear(matrix.entry, size, start, stop, first, last)


@inlined
def _clear(entry, size, first, last, start, stop):
    """Zeros in rows first to last - 1, columns start to stop - 1."""
    for i in range(first, last):
        for j in range(start, stop):
            entry[i * size + j] = 0.0


@kernel
def eliminate_island(matrix: IslandMatrix, right, least_pivot):
    """Gaussian elimination in place, with row pivoting within blocks.

    Args:
        matrix: the system, destroyed.
        right: the right side by places, then the solution.
        least_pivot: with a smaller pivot the elimination fails.

    Returns:
        Whether there is a solution.
    """
    entry, size, one = matrix.entry, matrix.size[0], np.uintp(1)
    for k in range(matrix.size[1]):
        first, last = matrix.block_start[k], matrix.block_start[k + one]
        begin, end = matrix.later_start[k], matrix.later_start[k + one]
        for t in range(first, last):
            _swap_largest(matrix, right, t, last, begin, end)
            if not abs(entry[t * size + t]) > least_pivot:
                return False
            inverse = 1.0 / entry[t * size + t]
            for i in range(t + one, last):
                _subtract_row(matrix, right, t, i, inverse, last, begin, end)
            for a in range(begin, end):
                for i in range(matrix.block_start[matrix.later[a]], matrix.block_start[matrix.later[a] + one]):
                    _subtract_row(matrix, right, t, i, inverse, last, begin, end)
    for back in range(matrix.size[1]):
        k = matrix.size[1] - one - back
        first, last = matrix.block_start[k], matrix.block_start[k + one]
        for up in range(last - first):
            t = last - one - up
            total = right[t]
            for j in range(t + one, last):
                total -= entry[t * size + j] * right[j]
            for a in range(matrix.later_start[k], matrix.later_start[k + one]):
                for j in range(matrix.block_start[matrix.later[a]], matrix.block_start[matrix.later[a] + one]):
                    total -= entry[t * size + j] * right[j]
            right[t] = total / entry[t * size + t]
    return True


@inlined
def _swap_largest(matrix: IslandMatrix, right, t, last, begin, end):
    """Swaps row t with the row of its block that has the largest entry in column t."""
    entry, size, one = matrix.entry, matrix.size[0], np.uintp(1)
    pivot = t
    for i in range(t + one, last):
        if abs(entry[i * size + t]) > abs(entry[pivot * size + t]):
            pivot = i
    if pivot != t:
        row, other = t * size, pivot * size
        right[t], right[pivot] = right[pivot], right[t]
        for j in range(t, last):
            entry[row + j], entry[other + j] = entry[other + j], entry[row + j]
        for a in range(begin, end):
            for j in range(matrix.block_start[matrix.later[a]], matrix.block_start[matrix.later[a] + one]):
                entry[row + j], entry[other + j] = entry[other + j], entry[row + j]


@inlined
def _subtract_row(matrix: IslandMatrix, right, t, i, inverse, last, begin, end):
    """Removes the unknown at place t from row i."""
    entry, size, one = matrix.entry, matrix.size[0], np.uintp(1)
    share = entry[i * size + t] * inverse
    if share != 0.0:
        right[i] -= share * right[t]
        row, pivot = i * size, t * size
        for j in range(t + one, last):
            entry[row + j] -= share * entry[pivot + j]
        for b in range(begin, end):
            for j in range(matrix.block_start[matrix.later[b]], matrix.block_start[matrix.later[b] + one]):
                entry[row + j] -= share * entry[pivot + j]
