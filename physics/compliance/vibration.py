"""Small vibrations of a machine with elastic joints about its pose, and their damping by an implicit step."""

import math
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints, make_loop_motion, place_loops
from grouser.physics.compliance.springs import JointSprings
from grouser.physics.model.blocks import with_entries
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.kinematics import make_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix

# A mode with a squared frequency below this share of the greatest is a rigid-body motion.
_RIGID_MOTION = 1e-13
# A direction counts as blocked when its singular value is above this share of the largest.
_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class Mode:
    """An undamped small vibration.

    Attributes:
        frequency: [Hz].
        shape: coordinate rates, of unit modal mass, (coordinates,).
        energy: share of the elastic energy in each elastic element, by its name.
    """

    frequency: float
    shape: np.ndarray
    energy: dict[str, float]


def vibration_modes(
    model: MultibodyModel, loops: LoopConstraints, springs: JointSprings, q: np.ndarray, loop_names, rate_names
) -> tuple[Mode, ...]:
    """Modes of the undamped machine about q at rest, rigid loop joints closed, by ascending frequency.

    Rigid-body motions are left out. Gravity, contacts, drives and hydraulics do not count; a backlash counts as closed.
    """
    elements = _elements(model, loops, springs, q, loop_names, rate_names)
    if not elements:
        return ()
    model = with_entries(model)
    kinematics = Packed(make_kinematics(model))
    motion = Packed(make_loop_motion(loops, len(model.rate_damping)))
    packed_model = Packed(model)
    place_loops(packed_model, Packed(loops), q, kinematics, motion)
    blocks = make_mass_matrix(model)
    mass_matrix(packed_model, kinematics, np.zeros((len(model.body_parent), 10)), Packed(blocks))
    rows = np.array([row(motion) for _, _, row in elements])
    # the other blocks of the mass matrix have nothing elastic
    elastic = np.isin(model.rate_first, model.rate_first[rows.any(axis=0)]).nonzero()[0]
    if not len(elastic):
        return ()
    mass, rows = full_matrix(model, blocks, elastic), rows[:, elastic]
    stiffness = np.array([k for _, k, _ in elements])
    free = _free_motions(motion.jacobian[loops.row_rigid][:, elastic], len(elastic))
    root = np.linalg.cholesky(free.T @ mass @ free)
    flexing = np.linalg.solve(root, (rows @ free).T).T
    squares, vectors = np.linalg.eigh(flexing.T * stiffness @ flexing)
    modes = []
    for square, vector in zip(squares, vectors.T, strict=True):
        if square > _RIGID_MOTION * squares[-1]:
            shares: dict[str, float] = {}
            for (name, k, _), bend in zip(elements, flexing @ vector, strict=True):
                shares[name] = shares.get(name, 0.0) + k * bend * bend / square
            shape = np.zeros(len(model.rate_damping))
            shape[elastic] = free @ np.linalg.solve(root.T, vector)
            modes.append(Mode(math.sqrt(square) / (2.0 * math.pi), shape, shares))
    return tuple(modes)


def implicit_damping_ratio(frequency: float, step: float) -> float:
    """Numerical damping ratio of an undamped vibration by implicit Euler steps [-].

    A step multiplies the amplitude by 1 / (1 - i w h); its logarithm has the decay and the phase of a step.

    Args:
        frequency: [Hz].
        step: h [s].
    """
    angle = 2.0 * math.pi * frequency * step
    decay, turn = 0.5 * math.log1p(angle * angle), math.atan(angle)
    return decay / math.hypot(decay, turn) if angle > 0.0 else 0.0


def _elements(model, loops, springs, q, loop_names, rate_names):
    """Name, stiffness and row (a function of the loop joints' motion) of each elastic element."""
    found = []

    def along(rate):
        unit = np.zeros(len(model.rate_damping))
        unit[rate] = 1.0
        return lambda _: unit

    for rate, stiffness in zip(model.spring_rate, model.spring_stiffness, strict=True):
        found.append((rate_names[rate], stiffness, along(rate)))
    for law, rate in enumerate(springs.rate_index):
        bend = abs(q[springs.position_index[law]] - springs.rest_position[law]) - springs.half_gap[law]
        stiffness = springs.stiffness[law] + 3.0 * springs.cubic_stiffness[law] * max(bend, 0.0) ** 2
        found.append((rate_names[rate], stiffness, along(rate)))
    for r in np.flatnonzero(loops.row_stiffness > 0.0):
        found.append((loop_names[loops.row_loop[r]], loops.row_stiffness[r], lambda motion, r=r: motion.jacobian[r]))
    return [element for element in found if element[1] > 0.0]


def _free_motions(blocked: np.ndarray, size: int) -> np.ndarray:
    """Basis of the coordinate rates that satisfy the rigid rows, as columns."""
    if not len(blocked):
        return np.eye(size)
    _, singular, right = np.linalg.svd(blocked)
    rank = int(np.count_nonzero(singular > _RANK * singular[0]))
    return right[rank:].T
