"""Islands of rows and contacts, against connected components of a graph."""

import numpy as np
import pytest
from one_island import constant
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.islands import find_islands, make_islands
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
