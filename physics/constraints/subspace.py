"""Leaps of the contacts: the impulses of all contacts that press and stick, found at once.

Sweeps settle quickly which contacts press, and which slip, but slowly how a heavy body on a light one, or a tall stack,
shares its weight among them. Between sweeps the contacts that press and stick are therefore taken for equations,
W u = b, and solved together, with what slips held as it is (after Silcowitz, Niebe and Erleben, Projected Gauss-Seidel
Subspace Minimization Method for Interactive Rigid Body Dynamics, 2010). The equations may say the same many times over:
they are met by an augmented Lagrangian, (I + W^T r W) u' = u + W^T (x + r b), x <- x + r (b - W u'), whose matrix is
always positive. What then violates a limit is put back on it; a leap that does not come nearer is taken back. The
sweeps go on.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.constraints.rows import IMMOVABLE
from grouser.physics.kernel import kernel

# Weight r of an equation, as a multiple of the mass that its row feels, and rounds of the Lagrangian.
_WEIGHT = 1e6
_ROUNDS = 3
# A contact sticks while its friction is below this share of its limit.
_STICKS = 1.0 - 1e-9
# Machines with more coordinates do without: the matrix is dense.
MOST_COORDINATES = 200


class Subspace(NamedTuple):
    """Buffers.

    Attributes:
        matrix: lower triangle, then its factor, (coordinates, coordinates).
        start, u: half-solved velocities, (coordinates,).
        weight: of each contact's normal and tangents, 0 for what is held as it is, (contacts, 3).
        change: of their impulses [N s], (contacts, 3).
    """

    matrix: np.ndarray
    start: np.ndarray
    u: np.ndarray
    weight: np.ndarray
    change: np.ndarray


def make_subspace(contacts: int, coordinates: int) -> Subspace:
    """Buffers of the right sizes."""
    return Subspace(
        np.zeros((coordinates, coordinates)),
        np.zeros(coordinates),
        np.zeros(coordinates),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 3)),
    )


@kernel
def leap(rows, subspace, u):
    """Solves for the contacts that press and stick; changes their impulses and u.

    Args:
        rows: contact rows, their impulses in u.
        subspace: buffers.
        u: half-solved velocity.
    """
    matrix, start, weight, change = subspace.matrix, subspace.start, subspace.weight, subspace.change
    _collect(rows, matrix, weight, change)
    _factorise(matrix)
    for d in range(u.shape[0]):
        start[d] = u[d]
    for _ in range(_ROUNDS):
        _improve(rows, matrix, start, weight, change, subspace.u)
    before = _merit(rows, u)
    for c in range(rows.count[0]):
        if weight[c, 0] > 0.0:
            _take_over(rows, c, change[c], u)
    if not _merit(rows, u) <= before:
        _take_back(rows, start, weight, change, u)


@kernel
def _merit(rows, u):
    """What the impulses of contacts that stick make least: kinetic energy, less what was asked for."""
    merit = 0.0
    for d in range(u.shape[0]):
        merit += 0.5 * u[d] * u[d]
    for c in range(rows.count[0]):
        merit -= rows.impulse[c, 0] * rows.target[c]
    return merit


@kernel
def _take_back(rows, start, weight, change, u):
    """Undoes `_take_over`, which has left in `change` what it changed."""
    for d in range(u.shape[0]):
        u[d] = start[d]
    for c in range(rows.count[0]):
        if weight[c, 0] > 0.0:
            for k in range(3):
                rows.impulse[c, k] -= change[c, k]


@kernel
def _collect(rows, matrix, weight, change):
    """I + W^T r W over the contacts that press and stick."""
    size = matrix.shape[0]
    for i in range(size):
        for j in range(i):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
    for c in range(rows.count[0]):
        impulse, inverse, half, index = rows.impulse[c], rows.inverse_mass[c], rows.half[c], rows.index[c]
        most = rows.friction[c] * impulse[0]
        presses = impulse[0] > 0.0 and rows.compliance[c] == 0.0 and inverse[0] > IMMOVABLE
        sticks = math.sqrt(impulse[1] * impulse[1] + impulse[2] * impulse[2]) < _STICKS * most
        for k in range(3):
            change[c, k] = weight[c, k] = 0.0
            if presses and inverse[k] > IMMOVABLE and (k == 0 or sticks):
                weight[c, k] = _WEIGHT / inverse[k]
        if not presses:
            continue
        x, y, z = weight[c, 0], weight[c, 1], weight[c, 2]
        for a in range(rows.size[c]):
            i = index[a]
            wx, wy, wz = x * half[a, 0], y * half[a, 1], z * half[a, 2]
            for b in range(a + 1):
                matrix[i, index[b]] += wx * half[b, 0] + wy * half[b, 1] + wz * half[b, 2]


@kernel
def _factorise(matrix):
    """Cholesky factor of the lower triangle, in place, the inverse of its diagonal in the diagonal's place."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total * matrix[j, j]
        pivot = matrix[i, i]
        for k in range(i):
            pivot -= matrix[i, k] * matrix[i, k]
        matrix[i, i] = 1.0 / math.sqrt(pivot)


@kernel
def _improve(rows, matrix, start, weight, change, u):
    """One round of the Lagrangian."""
    size = u.shape[0]
    for d in range(size):
        u[d] = start[d]
    for c in range(rows.count[0]):
        if weight[c, 0] > 0.0:
            half, index = rows.half[c], rows.index[c]
            x, y, z = change[c, 0] + weight[c, 0] * rows.target[c], change[c, 1], change[c, 2]
            for k in range(rows.size[c]):
                u[index[k]] += half[k, 0] * x + half[k, 1] * y + half[k, 2] * z
    for i in range(size):
        total = u[i]
        for k in range(i):
            total -= matrix[i, k] * u[k]
        u[i] = total * matrix[i, i]
    for i in range(size - 1, -1, -1):
        value = u[i] * matrix[i, i]
        u[i] = value
        for k in range(i):
            u[k] -= matrix[i, k] * value
    for c in range(rows.count[0]):
        if weight[c, 0] > 0.0:
            half, index = rows.half[c], rows.index[c]
            x, y, z = rows.target[c], 0.0, 0.0
            for k in range(rows.size[c]):
                d = index[k]
                x -= half[k, 0] * u[d]
                y -= half[k, 1] * u[d]
                z -= half[k, 2] * u[d]
            change[c, 0] += weight[c, 0] * x
            change[c, 1] += weight[c, 1] * y
            change[c, 2] += weight[c, 2] * z


@kernel
def _take_over(rows, c, change, u):
    """Changes the impulses of contact c as far as its cone allows; `change` is what comes of it."""
    impulse, half, index = rows.impulse[c], rows.half[c], rows.index[c]
    normal = max(impulse[0] + change[0], 0.0)
    x, y = impulse[1] + change[1], impulse[2] + change[2]
    size, most = math.sqrt(x * x + y * y), rows.friction[c] * normal
    if size > most:
        x, y = x * most / size, y * most / size
    dn, dx, dy = normal - impulse[0], x - impulse[1], y - impulse[2]
    impulse[0], impulse[1], impulse[2] = normal, x, y
    change[0], change[1], change[2] = dn, dx, dy
    for k in range(rows.size[c]):
        u[index[k]] += half[k, 0] * dn + half[k, 1] * dx + half[k, 2] * dy
