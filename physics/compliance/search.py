"""Search for positions at which loops close."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.loops import LoopConstraints, LoopMotion, make_loop_motion, place_loops
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics

# A loop joint is closed when its deflections in the blocked directions are below this [m, rad].
_CLOSED = 1e-12
_MOST_ITERATIONS = 200
# Longest step of an iteration [m, rad].
_LONGEST = 0.3
# Damping of the first iteration, and the damping at which the search ends.
_FIRST_DAMPING, _LAST_DAMPING = 1e-3, 1e8


class LoopSearch:
    """Least squares of the deflections by the Levenberg-Marquardt method.

    Args:
        model, loops: the machine.
        free: coordinate rates that the search may change.

    Attributes:
        kinematics: at the positions placed last.
    """

    def __init__(self, model: MultibodyModel, loops: LoopConstraints, free: np.ndarray):
        self._model, self._loops, self._free = model, loops, free
        self.kinematics, self._motion = make_kinematics(model), make_loop_motion(loops, len(model.rate_damping))
        self._packed = [Packed(tree) for tree in (model, loops, self.kinematics, self._motion)]

    def place(self, q: np.ndarray) -> LoopMotion:
        """Motion of the loop joints at positions."""
        model, loops, kinematics, motion = self._packed
        place_loops(model, loops, q, kinematics, motion)
        return self._motion

    def deflection(self, q: np.ndarray) -> np.ndarray:
        """Deflection along every row [m, rad]."""
        return self.place(q).deflection[self._loops.row_loop, self._loops.row_direction]

    def apart(self, q: np.ndarray, rows: np.ndarray) -> float:
        """Largest deflection along some rows [m, rad]."""
        return float(np.abs(self.deflection(q)[rows]).max(initial=0.0))

    def close(self, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Positions at a local minimum of the squared deflections of some rows."""
        damping, deflection = _FIRST_DAMPING, self.deflection(q)[rows]
        jacobian = self._motion.jacobian[rows][:, self._free]
        for _ in range(_MOST_ITERATIONS):
            if np.abs(deflection).max(initial=0.0) <= _CLOSED or not len(self._free) or damping > _LAST_DAMPING:
                break
            system = np.vstack([jacobian, np.sqrt(damping) * np.eye(len(self._free))])
            right = np.concatenate([-deflection, np.zeros(len(self._free))])
            move = np.zeros(len(self._model.rate_damping))
            move[self._free] = np.linalg.lstsq(system, right, rcond=None)[0]
            trial = np.array(q)
            integrate_positions(self._packed[0], trial, move / max(1.0, np.abs(move).max() / _LONGEST), 1.0)
            moved = self.deflection(trial)[rows]
            if moved @ moved < deflection @ deflection:
                q, deflection, damping = trial, moved, 0.1 * damping
                jacobian = self._motion.jacobian[rows][:, self._free]
            else:
                damping *= 10.0
        return q
