"""Islands: parts of the machines that no row of a step connects. Each is solved by itself.

The coordinates of one block of the mass matrix belong together. A row or a contact between two blocks joins their
islands. What happens in one island does not change a bit of another: only islands with changed rows are solved again,
and an island that a repeated step does not revise starts from the same data.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import Rows


class Islands(NamedTuple):
    """Islands of the current step that have rows or contacts; the first `count[0]` are valid.

    Attributes:
        count: number of islands, (1,).
        row_start, row: rows of island i are row[row_start[i]:row_start[i + 1]], ascending.
        contact_start, contact: its contacts, likewise.
        rate_start, rate: its coordinates, likewise.
        local: index of each coordinate among those of its island.
        parent: of each block, by its first coordinate: a block with a lower coordinate in the same island, or itself.
        number: island of each block that leads its island, -1 without rows and contacts.
        due: whether island i is solved in this round.
        changed: whether `adjust` has changed rows of island i, which is then due in the next round.
        residual: of island i when it was last solved [m/s or rad/s].
        revised: of each block that leads its island: whether `revise` has changed something in it; true at the start of
            a step.
    """

    count: np.ndarray
    row_start: np.ndarray
    row: np.ndarray
    contact_start: np.ndarray
    contact: np.ndarray
    rate_start: np.ndarray
    rate: np.ndarray
    local: np.ndarray
    parent: np.ndarray
    number: np.ndarray
    due: np.ndarray
    changed: np.ndarray
    residual: np.ndarray
    revised: np.ndarray


def make_islands(rows: int, contacts: int, coordinates: int) -> Islands:
    """Arrays for numbers of rows, contacts and coordinates."""
    most = coordinates + 1
    sizes = (1, most + 1, rows, most + 1, contacts, most + 1, coordinates, coordinates, most, most)
    return Islands(
        *[np.zeros(size, dtype=np.int64) for size in sizes],
        *[np.zeros(most, dtype=np.bool_), np.zeros(most, dtype=np.bool_)],
        *[np.zeros(most), np.ones(most, dtype=np.bool_)],
    )


@kernel
def find_islands(rate_first, rate_last, rows: Rows, contact_rows, islands: Islands):
    """Fills the islands.

    Args:
        rate_first, rate_last: range of the block of each coordinate.
        rows, contact_rows: opened.
        islands: result.
    """
    coordinates, parent, number = rate_first.shape[0], islands.parent, islands.number
    if coordinates > 0 and rate_last[0] == coordinates:
        _take_all(coordinates, rows, contact_rows, islands)
        return
    block = 0
    while block < coordinates:
        parent[block], number[block] = block, -1
        block = rate_last[block]
    for r in range(rows.count[0]):
        block = rows.first[r]
        while block < rows.last[r]:
            _join(parent, rows.first[r], block)
            block = rate_last[block]
    for c in range(contact_rows.count[0]):
        size, index = contact_rows.size[c], contact_rows.index[c]
        if size > 0:
            _join(parent, rate_first[index[0]], rate_first[index[size - 1]])
    _count_members(rate_first, rate_last, rows, contact_rows, islands)
    _list_members(rate_first, rate_last, rows, contact_rows, islands)


@inlined
def _take_all(coordinates, rows: Rows, contact_rows, islands: Islands):
    """One island with everything: the machine is one block."""
    for r in range(rows.count[0]):
        islands.row[r] = r
    size = 0
    for c in range(contact_rows.count[0]):
        if contact_rows.size[c] > 0:
            islands.contact[size] = c
            size += 1
    islands.count[0] = 1 if rows.count[0] + size > 0 else 0
    islands.row_start[1], islands.contact_start[1] = rows.count[0], size
    if islands.rate_start[1] != coordinates:
        # once: these never change
        islands.rate_start[1] = coordinates
        for d in range(coordinates):
            islands.rate[d] = islands.local[d] = d


@inlined
def _leader(parent, block):
    """The block that leads the island of a block."""
    while parent[block] != block:
        block = parent[block]
    return block


@inlined
def revise_island(islands: Islands, block):
    """Notes that `revise` has changed something in the island of a block, given by its first coordinate."""
    islands.revised[_leader(islands.parent, block)] = True


@inlined
def is_revised(islands: Islands, block):
    """Whether something has changed in the island of a block since the last attempt at this step."""
    return islands.revised[_leader(islands.parent, block)]


@inlined
def begin_round(islands: Islands):
    """Makes the islands with changed rows due; returns whether there are any."""
    found = False
    for i in range(islands.count[0]):
        islands.due[i], islands.changed[i] = islands.changed[i], False
        found = found or islands.due[i]
    return found


@inlined
def _join(parent, one, other):
    """Makes one island of those of two blocks; the lowest block leads it."""
    one, other = _leader(parent, one), _leader(parent, other)
    if one < other:
        parent[other] = one
    else:
        parent[one] = other


@inlined
def _count_members(rate_first, rate_last, rows: Rows, contact_rows, islands: Islands):
    """Numbers the islands with rows or contacts, and sets the starts of their lists."""
    parent, number, count = islands.parent, islands.number, 0
    for r in range(rows.count[0]):
        count = _number_island(_leader(parent, rows.first[r]), count, islands)
        islands.row_start[number[_leader(parent, rows.first[r])] + 1] += 1
    for c in range(contact_rows.count[0]):
        if contact_rows.size[c] > 0:
            leader = _leader(parent, rate_first[contact_rows.index[c, 0]])
            count = _number_island(leader, count, islands)
            islands.contact_start[number[leader] + 1] += 1
    islands.count[0] = count
    block = 0
    while block < rate_first.shape[0]:
        island = number[_leader(parent, block)]
        if island >= 0:
            islands.rate_start[island + 1] += rate_last[block] - block
        block = rate_last[block]
    islands.row_start[0] = islands.contact_start[0] = islands.rate_start[0] = 0
    for i in range(count):
        islands.row_start[i + 1] += islands.row_start[i]
        islands.contact_start[i + 1] += islands.contact_start[i]
        islands.rate_start[i + 1] += islands.rate_start[i]


@inlined
def _number_island(leader, count, islands: Islands):
    """Gives an island the next number, if it has none, with empty lists; number of islands."""
    if islands.number[leader] < 0:
        islands.number[leader] = count
        islands.row_start[count + 1] = islands.contact_start[count + 1] = islands.rate_start[count + 1] = 0
        count += 1
    return count


@inlined
def _list_members(rate_first, rate_last, rows: Rows, contact_rows, islands: Islands):
    """Fills the lists, whose starts serve as cursors meanwhile."""
    parent, number, count = islands.parent, islands.number, islands.count[0]
    for r in range(rows.count[0]):
        island = number[_leader(parent, rows.first[r])]
        islands.row[islands.row_start[island]] = r
        islands.row_start[island] += 1
    for c in range(contact_rows.count[0]):
        if contact_rows.size[c] > 0:
            island = number[_leader(parent, rate_first[contact_rows.index[c, 0]])]
            islands.contact[islands.contact_start[island]] = c
            islands.contact_start[island] += 1
    block = 0
    while block < rate_first.shape[0]:
        island = number[_leader(parent, block)]
        if island >= 0:
            for d in range(block, rate_last[block]):
                islands.rate[islands.rate_start[island]] = d
                islands.rate_start[island] += 1
        block = rate_last[block]
    for i in range(count, 0, -1):
        islands.row_start[i] = islands.row_start[i - 1]
        islands.contact_start[i] = islands.contact_start[i - 1]
        islands.rate_start[i] = islands.rate_start[i - 1]
    islands.row_start[0] = islands.contact_start[0] = islands.rate_start[0] = 0
    for i in range(count):
        for k in range(islands.rate_start[i], islands.rate_start[i + 1]):
            islands.local[islands.rate[k]] = k - islands.rate_start[i]
