"""The mass matrix by blocks: only coordinates of trees that are coupled have entries in common.

The block of a long tree has no entries at all: its factor is found by recursion (`multibody.articulated_factor`).
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.articulated_factor import ArticulatedFactor, make_articulated_factor
from grouser.physics.multibody.spans import Span


class MassMatrix(NamedTuple):
    """A symmetric matrix of the coordinates, or in its place the factor L of `multibody.factorisation`.

    Attributes:
        diagonal: of the matrix; of a factor the inverse of its diagonal, (coordinates,).
        along: part of the diagonal that is not inertia of the bodies: rotors, and terms along single coordinates,
            (coordinates,).
        lower: below the diagonal, of blocks with entries: that of coordinates i and j < i is lower[i, j -
            rate_first[i]], (coordinates, coordinates of the widest such block).
        trees: of a factor, for the blocks without entries.
    """

    diagonal: np.ndarray
    along: np.ndarray
    lower: np.ndarray
    trees: ArticulatedFactor


def make_mass_matrix(model: MultibodyModel) -> MassMatrix:
    """A zero matrix."""
    diagonal, along = np.zeros((2, len(model.rate_damping)))
    lower = np.zeros((len(diagonal), int(np.max(model.rate_entries, initial=0)) + 1))
    return MassMatrix(diagonal, along, lower, make_articulated_factor(model))


@kernel
def add_inertia(mass: MassMatrix, rate, amount):
    """Adds an inertia along one coordinate."""
    mass.diagonal[rate] += amount
    mass.along[rate] += amount


@kernel
def set_inertia(mass: MassMatrix, rate, amount):
    """Gives one coordinate an inertia beside which all others are negligible."""
    mass.diagonal[rate] = amount
    mass.along[rate] = amount


@kernel
def copy_mass_matrix(model: MultibodyModel, span: Span, matrix: MassMatrix, result: MassMatrix):
    """Copies the coordinates of a span of a matrix."""
    for i in range(span.rate, span.rate_end):
        result.diagonal[i] = matrix.diagonal[i]
        result.along[i] = matrix.along[i]
        for j in range(model.rate_entries[i]):
            result.lower[i, j] = matrix.lower[i, j]


def full_matrix(model: MultibodyModel, matrix: MassMatrix, rates: np.ndarray | None = None) -> np.ndarray:
    """The matrix with all its entries.

    Args:
        model: the multibody system, with entries in all blocks (`model.blocks.with_entries`).
        matrix: the matrix.
        rates: coordinates of whole blocks, ascending; all of them by default.

    Returns:
        Shape (rates, rates).
    """
    rates = np.arange(len(matrix.diagonal)) if rates is None else rates
    full = np.diag(matrix.diagonal[rates])
    for row, rate in enumerate(rates):
        before = model.rate_entries[rate]
        full[row, row - before : row] = full[row - before : row, row] = matrix.lower[rate, :before]
    return full
