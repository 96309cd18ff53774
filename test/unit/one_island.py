"""Rows and contacts as one island, for tests of the solver."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.islands import find_islands, make_islands


def constant(array):
    """A read-only copy, as those of a model are: for other types the kernels would be compiled again."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def one_island(rows, contact_rows, coordinates):
    """The arguments `islands, island` of the solver for all rows and contacts; each block has all coordinates."""
    islands = Packed(make_islands(len(rows.slot), len(contact_rows.size), coordinates))
    find_islands(
        constant(np.zeros(coordinates, dtype=np.int64)),
        constant(np.full(coordinates, coordinates)),
        rows,
        contact_rows,
        islands,
    )
    return islands, 0
