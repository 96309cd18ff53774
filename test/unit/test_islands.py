"""Islands of rows and contacts, against connected components of a graph."""

import numpy as np
import pytest
from one_island import constant
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.islands import begin_round, find_islands, is_revised, make_islands, revise_island
from grouser.physics.constraints.rows import make_rows, open_row
from grouser.physics.contact.rows import make_contact_rows


@pytest.mark.parametrize("find", [find_islands, find_islands.py_func], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("seed", range(30))
def test_islands_are_the_connected_components(find, seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 7, size=random.integers(1, 12))
    ends = np.concatenate([[0], np.cumsum(sizes)])
    blocks, coordinates = len(sizes), int(ends[-1])
    block_of = np.repeat(np.arange(blocks), sizes)
    first, last = constant(ends[block_of]), constant(ends[block_of + 1])
    rows = Packed(make_rows(8, coordinates))
    edges = []
    for _ in range(random.integers(0, 8)):
        block = int(random.integers(blocks))
        other = min(block + int(random.integers(0, 2)), blocks - 1)
        open_row(rows, 0, 0.0, ends[block], ends[other + 1])
        edges.append((block, other))
    contacts = Packed(make_contact_rows(9, coordinates))
    contacts.count[0] = random.integers(0, 10)
    touching = []
    for c in range(contacts.count[0]):
        pair = np.unique(random.integers(blocks, size=2))
        moved = np.flatnonzero(np.isin(block_of, pair)) if c % 5 else []
        contacts.size[c] = len(moved)
        contacts.index[c, : len(moved)] = moved
        if len(moved):
            edges.append((pair[0], pair[-1]))
            touching.append((c, pair[0]))
    islands = Packed(make_islands(8, 9, coordinates))
    find(first, last, rows, contacts, islands)

    links = np.array(edges).reshape(-1, 2).T
    graph = coo_array((np.ones(links.shape[1]), links), shape=(blocks, blocks))
    _, component = connected_components(graph, directed=False)
    active = {int(component[edge[0]]) for edge in edges}
    assert islands.count[0] == len(active)

    def members(start, values, i):
        return values[start[i] : start[i + 1]].tolist()

    seen = {}
    for i in range(islands.count[0]):
        rates = members(islands.rate_start, islands.rate, i)
        label = int(component[block_of[rates[0]]])
        assert rates == np.flatnonzero(component[block_of] == label).tolist()
        assert islands.local[rates].tolist() == list(range(len(rates)))
        of_rows = [r for r in range(rows.count[0]) if component[block_of[rows.first[r]]] == label]
        assert members(islands.row_start, islands.row, i) == of_rows
        assert members(islands.contact_start, islands.contact, i) == [c for c, b in touching if component[b] == label]
        seen[label] = i
    assert set(seen) == active


@pytest.fixture
def joined_blocks():
    """Islands of three blocks with two coordinates each, the first and the last joined by a contact."""
    first, last = constant(np.array([0, 0, 2, 2, 4, 4])), constant(np.array([2, 2, 4, 4, 6, 6]))
    rows, contacts = Packed(make_rows(3, 6)), Packed(make_contact_rows(3, 6))
    open_row(rows, 0, 0.0, 2, 4)
    contacts.count[0], contacts.size[0] = 1, 4
    contacts.index[0, :4] = 0, 1, 4, 5
    islands = Packed(make_islands(3, 3, 6))
    find_islands(first, last, rows, contacts, islands)
    return islands


@pytest.mark.parametrize(("block", "revised"), [(0, [True, False, True]), (2, [False, True, False])])
def test_revision_concerns_the_whole_island_and_no_other(joined_blocks, block, revised):
    assert [is_revised.py_func(joined_blocks, other) for other in (0, 2, 4)] == [True] * 3
    joined_blocks.revised[:] = False
    revise_island.py_func(joined_blocks, block)
    assert [is_revised.py_func(joined_blocks, other) for other in (0, 2, 4)] == revised


def test_only_changed_islands_are_due_in_the_next_round(joined_blocks):
    assert joined_blocks.count[0] == 2
    joined_blocks.changed[:2] = True
    assert begin_round.py_func(joined_blocks) and joined_blocks.due[:2].all()
    joined_blocks.changed[1] = True
    assert begin_round.py_func(joined_blocks) and joined_blocks.due[:2].tolist() == [False, True]
    assert not begin_round.py_func(joined_blocks) and not joined_blocks.due[:2].any()
