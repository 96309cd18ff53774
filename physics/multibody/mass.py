"""The mass matrix by blocks: only coordinates of trees that are coupled have entries in common."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.model.multibody import MultibodyModel


class MassMatrix(NamedTuple):
    """A symmetric matrix of the coordinates, or in its place the factor L of `multibody.factorisation`.

    Attributes:
        diagonal: of the matrix; of a factor the inverse of its diagonal, (coordinates,).
        lower: below the diagonal: the entry of coordinates i and j < i is lower[i, j - rate_first[i]], (coordinates,
            coordinates of the widest block).
    """

    diagonal: np.ndarray
    lower: np.ndarray


def make_mass_matrix(model: MultibodyModel) -> MassMatrix:
    """A zero matrix."""
    coordinates = len(model.rate_damping)
    return MassMatrix(np.zeros(coordinates), np.zeros((coordinates, widest_block(model))))


def widest_block(model: MultibodyModel) -> int:
    """Number of coordinates of the widest block."""
    return int(np.max(model.rate_last - model.rate_first, initial=0))


@kernel
def copy_mass_matrix(model: MultibodyModel, matrix: MassMatrix, result: MassMatrix):
    """Copies a matrix."""
    for i in range(matrix.diagonal.shape[0]):
        result.diagonal[i] = matrix.diagonal[i]
        for j in range(i - model.rate_first[i]):
            result.lower[i, j] = matrix.lower[i, j]


def full_matrix(model: MultibodyModel, matrix: MassMatrix, rates: np.ndarray | None = None) -> np.ndarray:
    """The matrix with all its entries.

    Args:
        model: the multibody system.
        matrix: the matrix.
        rates: coordinates of whole blocks, ascending; all of them by default.

    Returns:
        Shape (rates, rates).
    """
    rates = np.arange(len(matrix.diagonal)) if rates is None else rates
    full = np.diag(matrix.diagonal[rates])
    for row, rate in enumerate(rates):
        before = rate - model.rate_first[rate]
        full[row, row - before : row] = full[row - before : row, row] = matrix.lower[rate, :before]
    return full
