"""Stiffness matrices of an assembly where it starts: its fastest vibration, the longest step, and scaled masses.

Coordinates of a block are its centre and its rotation in the world, and its modes; driven blocks have none that move.
"""

import math
from collections.abc import Iterator

import numpy as np
import scipy

from grouser.physics.base.spatial import matrix, skew
from grouser.physics.blocks.system import State, System

# Up to this number of coordinates all eigenvalues are found, of more only the largest.
_FEW = 400
# Tolerance of the largest eigenvalue, and what its frequency is raised by.
_EIGENVALUE_TOLERANCE = 1e-6


def critical_step(system: System, state: State) -> float:
    """Longest stable step [s] of the assembly with all bonds, and with all contacts that blocks may have.

    Without damping h < 2/omega_max; damping b K shortens it to 2/omega (sqrt(1 + z^2) - z), z = b omega/2. Contacts are
    bounded: a block whose faces all touch others as stiff as rigid ones, each of which moves as much the other way.
    """
    squares = [fastest_square(system, state)]
    if system.laws.collide:
        squares.append(_contact_square(system, state, rigid=False))
    return _stable_step(system, max(squares))


def rubble_step(system: System, state: State) -> float:
    """Longest stable step [s] once no bond is left, as `critical_step`."""
    return _stable_step(system, _contact_square(system, state, rigid=system.laws.rigid_rubble))


def _contact_square(system: System, state: State, rigid: bool) -> float:
    """Bound of the square of the largest angular frequency of blocks with contacts only [1/s2].

    Args:
        system, state: of the assembly.
        rigid: whether they have no modes.
    """
    kept = slice(6 if rigid else None)
    squares = [
        np.linalg.eigvalsh(
            _scaled(system, state, block, 2.0 * contact_stiffness(system, state, block))[kept, kept]
        ).max()
        for block in np.flatnonzero(~system.bodies.driven).tolist()
    ]
    return float(max(squares, default=0.0))


def _stable_step(system: System, square: float) -> float:
    fastest = math.sqrt(square)
    ratio = 0.5 * system.laws.stiffness_damping * fastest
    return 2.0 / fastest * (math.sqrt(1.0 + ratio * ratio) - ratio) if fastest > 0.0 else math.inf


def fastest_square(system: System, state: State) -> float:
    """Square of the largest angular frequency with all bonds [1/s2]."""
    whitened = bonded_stiffness(system, state, whiten=True)
    if whitened.shape[0] <= _FEW:
        return float(np.linalg.eigvalsh(whitened.toarray()).max(initial=0.0))
    start = np.ones(whitened.shape[0])
    largest = scipy.sparse.linalg.eigsh(
        whitened, 1, which="LA", v0=start, tol=_EIGENVALUE_TOLERANCE, return_eigenvectors=False
    )
    return float(largest[0]) * (1.0 + _EIGENVALUE_TOLERANCE)


def bonded_stiffness(system: System, state: State, whiten: bool = False) -> "scipy.sparse.csr_array":
    """Stiffness of modes and joints, sparse.

    Args:
        system, state: of the assembly.
        whiten: of M^-1/2 K M^-1/2 in its place.
    """
    count = 6 + state.q.shape[1]
    rows, columns, values = [], [], []
    for blocks, entries in _parts(system, state):
        transforms = [_whitening(system, state, block) if whiten else np.eye(count) for block in blocks]
        for i, first in enumerate(blocks):
            for j, second in enumerate(blocks):
                part = entries[i * count : (i + 1) * count, j * count : (j + 1) * count]
                part = transforms[i].T @ part @ transforms[j]
                places = np.indices(part.shape)
                rows.append((places[0] + first * count).ravel())
                columns.append((places[1] + second * count).ravel())
                values.append(part.ravel())
    size = count * len(state.displacement)
    placed = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csr_array(placed, shape=(size, size))


def contact_stiffness(system: System, state: State, block: int) -> np.ndarray:
    """Stiffness of a block all of whose faces touch rigid ones with their corners."""
    shapes, laws = system.shapes, system.laws
    entries = np.zeros((6 + state.q.shape[1],) * 2)
    for face in range(*shapes.face_start[block : block + 2]):
        loop = shapes.loop[slice(*shapes.loop_start[face : face + 2])]
        corners = shapes.vertex[loop]
        doubled = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
        normal = doubled / np.linalg.norm(doubled)
        stiffness = laws.shear_stiffness * np.eye(3)
        stiffness += (laws.normal_stiffness - laws.shear_stiffness) * np.outer(normal, normal)
        share = 0.5 * np.linalg.norm(doubled) / len(loop)
        for vertex in loop:
            motion = _motion(state, block, shapes.vertex[vertex], shapes.phi[vertex])
            turned = matrix(state.quaternion[block])
            entries += share * motion.T @ turned @ stiffness @ turned.T @ motion
    return entries


def scaled_masses(system: System, state: State) -> np.ndarray:
    """Masses for steps of length 1: a quarter of the magnitudes of the stiffness in each row, (b, 6 + modes)."""
    sums = np.asarray(abs(bonded_stiffness(system, state)).sum(axis=1)).reshape(len(state.displacement), -1)
    if system.laws.collide:
        for block in range(len(sums)):
            sums[block] += np.abs(2.0 * contact_stiffness(system, state, block)).sum(axis=1)
    smallest = np.where(sums > 0.0, sums, np.inf).min(axis=1, initial=1.0, keepdims=True)
    return 0.25 * np.where(sums > 0.0, sums, smallest)


def _parts(system: System, state: State) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Blocks and stiffness of each block's modes and of each joint."""
    joints, laws = system.joints, system.laws
    for block, stiffness in enumerate(system.bodies.stiffness):
        yield (block,), np.diag(np.concatenate([np.zeros(6), stiffness]))
    diagonal = np.array([laws.normal_stiffness, laws.shear_stiffness, laws.shear_stiffness])
    for joint, (first, second) in enumerate(joints.blocks):
        frame = joints.frame[joint] @ matrix(state.quaternion[first]).T
        stiffness = frame.T @ (diagonal[:, np.newaxis] * frame)
        total = np.zeros((2 * (6 + state.q.shape[1]),) * 2)
        for point in range(*joints.start[joint : joint + 2]):
            (one, other), (phi, their_phi) = joints.point[point], joints.phi[point]
            jump = np.hstack([-_motion(state, first, one, phi), _motion(state, second, other, their_phi)])
            total += joints.area[point] * jump.T @ stiffness @ jump
        yield (int(first), int(second)), total


def _motion(state: State, block: int, point: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Displacement of a material point in the world by the coordinates of its block, (3, 6 + modes)."""
    rotation = matrix(state.quaternion[block])
    return np.hstack([np.eye(3), -skew(rotation @ point), rotation @ phi])


def _whitening(system: System, state: State, block: int) -> np.ndarray:
    """M^-1/2 of a block, zero where it is driven."""
    count = 6 + state.q.shape[1]
    if system.bodies.driven[block]:
        return np.zeros((count, count))
    whitening = np.eye(count) / math.sqrt(system.bodies.mass[block])
    moments, axes = np.linalg.eigh(system.bodies.inertia[block])
    whitening[3:6, 3:6] = matrix(state.quaternion[block]) @ axes / np.sqrt(moments)
    return whitening


def _scaled(system: System, state: State, block: int, contacts: np.ndarray) -> np.ndarray:
    whitening = _whitening(system, state, block)
    return whitening.T @ (contacts + np.diag(np.concatenate([np.zeros(6), system.bodies.stiffness[block]]))) @ whitening
