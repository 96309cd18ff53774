"""Rows and contacts as one island, for tests of the solver."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.impulses import solve_rows
from grouser.physics.constraints.islands import find_islands, make_islands
from grouser.physics.constraints.newton import make_newton


def constant(array):
    """A read-only copy, as those of a model are: for other types the kernels would be compiled again."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def one_island(rows, contact_rows, coordinates):
    """The arguments `islands, island` of the solver for all rows and contacts; each block has all coordinates."""
    islands = Packed(make_islands(len(rows.slot), len(contact_rows.size), coordinates))
    find_islands(*one_block(coordinates), rows, contact_rows, islands)
    return islands, 0


def one_block(coordinates):
    """`rate_first` and `rate_last` of a machine whose coordinates are one block."""
    return constant(np.zeros(coordinates, dtype=np.int64)), constant(np.full(coordinates, coordinates))


def solve_as_one_island(rows, contact_rows, u, tolerance, most_sweeps):
    """`solve_rows` for all rows and contacts, whose impulses are in u."""
    coordinates = len(u)
    newton = Packed(make_newton(len(rows.slot), len(contact_rows.size), coordinates))
    island = one_island(rows, contact_rows, coordinates)
    return solve_rows(*one_block(coordinates), rows, contact_rows, *island, newton, u, tolerance, most_sweeps)
