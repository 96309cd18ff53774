"""Redundant rigid rows of loop joints that are slightly misaligned.

Three hinges of a door constrain the same motion three times. If they agree to rounding they share the load. If their
frames differ by a tenth of a millimetre, each blocks the motion that the others allow, and rigid rows would lock the
door. Such rows are found by their effect: beside a basis of independent rows they block no further motion, at the
assembled positions and along walks through the machine's motion.
"""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints
from grouser.physics.compliance.search import LoopSearch
from grouser.physics.model.blocks import bodies_between
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.integration import integrate_positions

# Greatest gap of over-constrained loops: their joints share it, springs by their load, rigid ones evenly [m, rad].
MISFIT = 1e-3
# A row whose motion is independent of the basis by less than this, per unit of motion, may be redundant.
_WEAK = 2.0 * MISFIT
# Redundant rows are aligned when they open by less than this share of their loop's size [rad].
_AGREED = 1e-8
# A walk ends where the basis cannot be closed to this tolerance [m, rad].
_CLOSED = 1e-10
# Number of walks, each in two directions; steps of each; greatest rotation of the loops in a step [rad].
_WALKS, _STEPS, _STRIDE = 3, 16, 0.2
# A basis whose condition, relative to that of all rows, falls below this share of the best is no longer valid.
_WORN = 0.25


def misaligned_redundant_rows(model: MultibodyModel, loops: LoopConstraints, q: np.ndarray) -> np.ndarray:
    """Rigid rows that are redundant to other rigid rows within `MISFIT`, but not to rounding.

    Args:
        model, loops: the machine.
        q: assembled positions.

    Returns:
        Numbers of the rows.
    """
    rigid_loops = _RigidLoops(model, loops)
    if not len(rigid_loops.rigid):
        return rigid_loops.rigid
    from scipy.linalg import qr  # takes long to import, and few machines have loops

    _, triangle, order = qr(rigid_loops.look(q).T, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > _WEAK))
    basis, doubtful = order[:rank], order[rank:]
    while len(doubtful):
        opening = rigid_loops.opening(q, basis, doubtful)
        essential = opening > MISFIT
        if not essential.any():
            return np.sort(rigid_loops.rigid[doubtful[opening > _AGREED]])
        basis, doubtful = np.concatenate([basis, doubtful[essential]]), doubtful[~essential]
    return rigid_loops.rigid[:0]


class _RigidLoops:
    """The rigid rows, scaled to angles: lengths over the size of their loop, coordinates to unit rotation.

    Attributes:
        rigid: numbers of the rows.
    """

    def __init__(self, model: MultibodyModel, loops: LoopConstraints):
        self._model, self._loops, self._packed_model = model, loops, Packed(model)
        self.rigid = np.flatnonzero(loops.row_rigid)
        self._search = LoopSearch(model, loops, np.arange(len(model.rate_damping)))

    def look(self, q: np.ndarray) -> np.ndarray:
        """Scaled Jacobian of the rigid rows; also stores the size of each row and the rotation per coordinate."""
        model, loops, motion, seen = self._model, self._loops, self._search.place(q), self._search.kinematics
        size, turn = np.ones(len(loops.parent_body)), np.zeros(len(model.rate_damping))
        for p, point in enumerate(motion.point):
            bodies = list(bodies_between(model.body_parent, loops.parent_body[p], loops.child_body[p]))
            centres = np.einsum("bij,bj->bi", seen.rotation[bodies], model.body_com[bodies]) + seen.position[bodies]
            size[p] = max(np.linalg.norm([*(seen.position[bodies] - point), *(centres - point)], axis=1).max(), MISFIT)
            for body in bodies:
                for c in range(model.column_start[body], model.column_start[body + 1]):
                    linear, angular = np.split(seen.column[c], 2)
                    moved = np.linalg.norm(linear + np.cross(angular, point)) / size[p]
                    rate = model.column_rate[c]
                    turn[rate] = max(turn[rate], np.linalg.norm(angular) + moved)
        self._size = np.where(loops.row_direction[self.rigid] < 3, size[loops.row_loop[self.rigid]], 1.0)
        self._moving, self._turn = np.flatnonzero(turn), turn[turn > 0.0]
        return motion.jacobian[np.ix_(self.rigid, self._moving)] / self._size[:, np.newaxis] / self._turn

    def opening(self, q: np.ndarray, basis: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
        """Greatest opening of some rows along motions of the machine that keep those of `basis` closed [rad].

        Infinite for rows that replace a basis which becomes singular, and if no motion is possible.
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
        """Openings of the doubtful rows at each step of a walk."""
        sound = 0.0
        for _ in range(_STEPS):
            jacobian = self.look(q)
            _, singular, right = np.linalg.svd(jacobian[basis])
            together = np.linalg.svd(jacobian, compute_uv=False)[: len(basis)]
            # except at a dead point of the whole machine
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
