"""Rows and contacts as one island, for tests of the solver."""

import numpy as np

from grouser.physics.constraints.islands import find_islands, make_islands


def one_island(rows, contact_rows, coordinates):
    """The arguments `islands, island` of the solver for all rows and contacts; each block has all coordinates."""
    islands = make_islands(len(rows.slot), len(contact_rows.size), coordinates)
    first, last = np.zeros(coordinates, dtype=np.int64), np.full(coordinates, coordinates)
    find_islands(first, last, rows, contact_rows, islands)
    return islands, 0
