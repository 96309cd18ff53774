"""Rigid loops that block the same motion twice, and not quite alike.

Three hinges of a door say the same thrice. Where they agree to rounding they share the load. Where frames are off by a
tenth of a millimetre, what each allows is blocked by the others, and as rigid pairs they would hold the door like a
brake. Such rows are found by what they do: beside a basis of rows that move independently of each other they block
nothing that these leave free, not only where the machine stands but wherever it goes.
"""

import numpy as np
import scipy.linalg

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints
from grouser.physics.compliance.search import LoopSearch
from grouser.physics.model.multibody import MultibodyModel, bodies_between
from grouser.physics.multibody.integration import integrate_positions

# What over-constrained loops may leave open: their pairs share it, springs as a load, rigid ones evenly [m, rad].
MISFIT = 1e-3
# A row that moves less than this beside the basis, per unit of motion, may say the same.
_WEAK = 2.0 * MISFIT
# Redundant rows agree when they open by less than this share of their loop's size [rad].
_AGREED = 1e-8
# A walk ends where the basis cannot be closed as well as this [m, rad].
_CLOSED = 1e-10
# Walks, each out in two directions: how many, of how many steps, how far a step turns the loops at most [rad].
_WALKS, _STEPS, _STRIDE = 3, 16, 0.2
# Where a basis is worse than at the start by this, beside all rows together, it is none any more.
_WORN = 0.25


def quarrelling_rows(model: MultibodyModel, pairs: LoopConstraints, q: np.ndarray) -> np.ndarray:
    """Rigid rows that other rigid rows stand for within `MISFIT`, but not to rounding.

    Args:
        model, pairs: the machine.
        q: assembled positions.

    Returns:
        Numbers of the rows.
    """
    loops = _RigidLoops(model, pairs)
    if not len(loops.rigid):
        return loops.rigid
    _, triangle, order = scipy.linalg.qr(loops.look(q).T, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > _WEAK))
    basis, doubtful = order[:rank], order[rank:]
    while len(doubtful):
        opening = loops.opening(q, basis, doubtful)
        essential = opening > MISFIT
        if not essential.any():
            return np.sort(loops.rigid[doubtful[opening > _AGREED]])
        basis, doubtful = np.concatenate([basis, doubtful[essential]]), doubtful[~essential]
    return loops.rigid[:0]


class _RigidLoops:
    """The rigid rows, in angles: all lengths over the size of their loop, each coordinate turning one by 1.

    Attributes:
        rigid: numbers of the rows.
    """

    def __init__(self, model: MultibodyModel, pairs: LoopConstraints):
        self._model, self._pairs, self._packed_model = model, pairs, Packed(model)
        self.rigid = np.flatnonzero(pairs.row_rigid)
        self._search = LoopSearch(model, pairs, np.arange(len(model.rate_damping)))

    def look(self, q: np.ndarray) -> np.ndarray:
        """Jacobian of the rigid rows; also finds the size in each row and what a unit of each coordinate turns."""
        model, pairs, motion, seen = self._model, self._pairs, self._search.place(q), self._search.kinematics
        size, turn = np.ones(len(pairs.parent_body)), np.zeros(len(model.rate_damping))
        for p, point in enumerate(motion.point):
            bodies = list(bodies_between(model.body_parent, pairs.parent_body[p], pairs.child_body[p]))
            centres = np.einsum("bij,bj->bi", seen.rotation[bodies], model.body_com[bodies]) + seen.position[bodies]
            size[p] = max(np.linalg.norm([*(seen.position[bodies] - point), *(centres - point)], axis=1).max(), MISFIT)
            for body in bodies:
                for c in range(model.column_start[body], model.column_start[body + 1]):
                    linear, angular = np.split(seen.column[c], 2)
                    moved = np.linalg.norm(linear + np.cross(angular, point)) / size[p]
                    rate = model.column_rate[c]
                    turn[rate] = max(turn[rate], np.linalg.norm(angular) + moved)
        self._size = np.where(pairs.row_direction[self.rigid] < 3, size[pairs.row_pair[self.rigid]], 1.0)
        self._moving, self._turn = np.flatnonzero(turn), turn[turn > 0.0]
        return motion.jacobian[np.ix_(self.rigid, self._moving)] / self._size[:, np.newaxis] / self._turn

    def opening(self, q: np.ndarray, basis: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """How far some rows open where the machine can go while those of `basis` stay closed [rad].

        Infinite for those that stand in for a basis which does not last, and if there is no way to go.
        """
        random = np.random.default_rng(0)
        worst, walked = self._deflection(q)[doubtful], False
        for _ in range(_WALKS):
            towards = random.standard_normal(len(self._moving))
            for sign in (1.0, -1.0):
                for opened in self._walk(q, basis, doubtful, sign * towards):
                    worst, walked = np.maximum(worst, opened), True
        return worst if walked else np.full(len(doubtful), np.inf)

    def _walk(self, q, basis, doubtful, towards):
        """Openings of the doubtful rows at each step of a way."""
        sound = 0.0
        for _ in range(_STEPS):
            jacobian = self.look(q)
            _, singular, right = np.linalg.svd(jacobian[basis])
            together = np.linalg.svd(jacobian, compute_uv=False)[: len(basis)]
            # not at a dead point of the whole machine
            if together.min(initial=np.inf) > _WEAK and len(basis):
                worth = singular[-1] / together[-1]
                sound = max(sound, worth)
                if worth < _WORN * sound:
                    blocked = np.abs(jacobian[doubtful] @ right[len(basis) - 1])
                    yield np.where(blocked > 0.5 * blocked.max(), np.inf, 0.0)
                    return
            free = right[int(np.count_nonzero(singular > _WEAK)) :]
            towards = (free @ towards) @ free
            if not np.abs(towards).max(initial=0.0) > 0.0:
                return
            towards = towards / np.abs(towards).max()
            move, trial = np.zeros(len(self._model.rate_damping)), np.array(q)
            move[self._moving] = _STRIDE * towards / self._turn
            integrate_positions(self._packed_model, trial, move, 1.0)
            q = self._search.close(trial, self.rigid[basis])
            opened = self._deflection(q)
            if opened[basis].max(initial=0.0) > _CLOSED:
                return
            yield opened[doubtful]

    def _deflection(self, q):
        return np.abs(self._search.deflection(q)[self.rigid]) / self._size
