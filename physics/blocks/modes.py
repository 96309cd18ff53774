"""Modes of a free elastic block: what it can do beside moving and turning.

The displacements are polynomials of the material point X: linear (order 1, six modes: uniform strains) or quadratic
(order 2, 24 modes). Those orthogonal to translation and rotation,

    int rho Phi dV = 0 ,  int rho X x Phi dV = 0 ,

are combined to the block's own vibrations: int rho Phi_a . Phi_b dV = m delta_ab, and the stiffness
int eps(Phi_a) : C : eps(Phi_b) dV = m omega_a^2 delta_ab. With m the block's mass, Phi has no unit and q is in metres.
"""

from typing import NamedTuple

import numpy as np
import scipy

from grouser.physics.base.checks import require_count
from grouser.physics.blocks.polyhedron import Polyhedron, volume_points
from grouser.physics.description.data.blocks import BlockMaterial

# Monomials 1, x, y, z, xx, yy, zz, yz, xz, xy: as many as the linear and the quadratic polynomials have.
MONOMIALS = 10
_COUNT = {1: 4, 2: MONOMIALS}
# Symmetric pairs of axes in the order of strains and stresses: xx, yy, zz, yz, xz, xy.
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


class Modes(NamedTuple):
    """A block's inertia and modes.

    Attributes:
        volume: [m3].
        centre: of mass [m], (3,).
        mass: [kg].
        inertia: about the centre, (3, 3) [kg m2].
        coefficients: of the monomials of X, the material point from the centre, (modes, 3, 10).
        stiffness: m omega^2 of each [N/m].
    """

    volume: float
    centre: np.ndarray
    mass: float
    inertia: np.ndarray
    coefficients: np.ndarray
    stiffness: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Of the free block [Hz], ascending."""
        return np.sqrt(self.stiffness / self.mass) / (2.0 * np.pi)


def make_modes(polyhedron: Polyhedron, material: BlockMaterial, order: int) -> Modes:
    """The modes of a block.

    Args:
        polyhedron: its shape.
        material: of it.
        order: 1 for uniform strains, 2 for linear ones.
    """
    require_count("order", order, 1, 2)
    points, weights = volume_points(polyhedron)
    volume = float(weights.sum())
    centre = weights @ points / volume
    points, weights = points - centre, material.density * weights
    mass = material.density * volume
    second = np.einsum("p,pi,pj->ij", weights, points, points)
    inertia = np.trace(second) * np.eye(3) - second

    size = volume ** (1.0 / 3.0)
    values, gradients = _fields(points / size, _COUNT[order])
    strains = _strains(gradients) / size
    gram = np.einsum("p,pia,pib->ab", weights, values, values) / mass
    elastic = np.einsum("p,pia,ij,pjb->ab", weights / material.density, strains, elasticity(material), strains) / mass
    rigid = _rigid_motions(_COUNT[order])
    free = scipy.linalg.null_space(rigid.T @ gram)
    squares, shapes = scipy.linalg.eigh(free.T @ elastic @ free, free.T @ gram @ free)
    coefficients = np.zeros((len(squares), 3, MONOMIALS))
    coefficients[:, :, : _COUNT[order]] = (free @ shapes).T.reshape(len(squares), 3, -1)
    coefficients[:, :, 1:4] /= size
    coefficients[:, :, 4:] /= size**2
    return Modes(volume, centre, mass, inertia, coefficients, mass * squares)


def mode_shapes(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Phi at material points.

    Args:
        coefficients: of the modes.
        points: from the centre of mass, (n, 3).

    Returns:
        (n, 3, modes).
    """
    return np.einsum("pk,aik->pia", _monomials(np.asarray(points, dtype=float)), coefficients)


def strain_operator(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """B at material points, (n, 6, modes): strains xx, yy, zz and angles yz, xz, xy by the modal coordinates [1/m]."""
    gradients = np.einsum("pkj,aik->pija", _monomial_gradients(np.asarray(points, dtype=float)), coefficients)
    return _strains(gradients)


def elasticity(material: BlockMaterial) -> np.ndarray:
    """C, (6, 6) [Pa]: stresses by strains and shear angles, in the order xx, yy, zz, yz, xz, xy."""
    modulus, ratio = material.youngs_modulus, material.poisson_ratio
    shear = modulus / (2.0 * (1.0 + ratio))
    first = modulus * ratio / ((1.0 + ratio) * (1.0 - 2.0 * ratio))
    return np.block([[first + 2.0 * shear * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), shear * np.eye(3)]])


def _monomials(points: np.ndarray) -> np.ndarray:
    x, y, z = points.T
    return np.column_stack([np.ones(len(points)), x, y, z, x * x, y * y, z * z, y * z, x * z, x * y])


def _monomial_gradients(points: np.ndarray) -> np.ndarray:
    """(n, 10, 3)."""
    gradients = np.zeros((len(points), MONOMIALS, 3))
    for axis in range(3):
        gradients[:, 1 + axis, axis] = 1.0
    for place, (first, second) in enumerate(PAIRS):
        gradients[:, 4 + place, first] += points[:, second]
        gradients[:, 4 + place, second] += points[:, first]
    return gradients


def _fields(points: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, 3, 3 count) and gradients (n, 3, 3, 3 count) of the fields with one monomial in one direction."""
    one, gradient = _monomials(points)[:, :count], _monomial_gradients(points)[:, :count]
    values = np.einsum("ij,pk->pijk", np.eye(3), one).reshape(len(points), 3, -1)
    gradients = np.einsum("ic,pkj->pijck", np.eye(3), gradient).reshape(len(points), 3, 3, -1)
    return values, gradients


def _strains(gradients: np.ndarray) -> np.ndarray:
    """(n, 6, fields) of gradients (n, 3, 3, fields)."""
    twice = [gradients[:, i, j] + gradients[:, j, i] for i, j in PAIRS]
    return np.stack([0.5 * part if i == j else part for part, (i, j) in zip(twice, PAIRS, strict=True)], axis=1)


def _rigid_motions(count: int) -> np.ndarray:
    """Coefficients of translations and rotations among the fields, (3 count, 6)."""
    motions = np.zeros((3, count, 6))
    for axis in range(3):
        following, last = (axis + 1) % 3, (axis + 2) % 3
        motions[axis, 0, axis] = 1.0
        motions[last, 1 + following, 3 + axis] = 1.0
        motions[following, 1 + last, 3 + axis] = -1.0
    return motions.reshape(3 * count, 6)
