"""Assembly of closed loops: initial positions at which every loop joint fits."""

import math

import numpy as np

from grouser.physics.compliance.pairs import PairMotion, Pairs, make_pair_motion, place_pairs
from grouser.physics.description.machine import Machine
from grouser.physics.errors import MachineError
from grouser.physics.model import TWIST, Model, Names
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics
from grouser.physics.packed import Packed

# A pair fits when its frames are no further apart than this in the directions that it blocks [m, rad].
_CLOSED = 1e-12
# What over-constrained loops may leave open: their pairs share it, springs as a load, rigid ones evenly [m, rad].
_MISFIT = 1e-3
_MOST_ITERATIONS = 200
# Longest step of an iteration [m, rad].
_LONGEST = 0.3
# Damping of the first iteration, and the damping at which no way leads closer any more.
_FIRST_DAMPING, _LAST_DAMPING = 1e-3, 1e8
# Starts beside the initial positions, for those that are a dead point, and how far beside [m, rad].
_STARTS = 4
_ASIDE = 0.1
# What a joint may stand beyond its limit, for rounding [m, rad].
_BEYOND = 1e-9


def assembled_positions(machine: Machine, model: Model, names: Names, pairs: Pairs) -> np.ndarray:
    """Positions q near the initial ones at which all loops close; springs are relaxed in the directions they block.

    Joints with an ``<initial_position>``, a floating base and elastic coordinates stay where they are. Loops that are
    over-constrained and do not quite fit are left as little open as possible, rigid pairs before springs.

    Raises:
        MachineError: the loops cannot be closed, or only beyond a joint's limits; says how far from closing they are.
    """
    if not machine.loop_joints:
        return np.array(model.q_initial)
    free = _free_rates(machine, model, names)
    search = _Search(model, pairs, free)
    best = search.close(np.array(model.q_initial), pairs.row_blocked)
    for start in range(_STARTS):
        if search.apart(best, pairs.row_blocked) <= _MISFIT:
            break
        aside = np.zeros(len(model.rate_damping))
        aside[free] = _ASIDE * np.sin(np.arange(1, len(free) + 1) * (start + 1.0))
        q = np.array(model.q_initial)
        integrate_positions(Packed(model), q, aside, 1.0)
        best = min(best, search.close(q, pairs.row_blocked), key=lambda q: search.apart(q, pairs.row_blocked))
    if search.apart(best, pairs.row_blocked) > _MISFIT:
        raise _open_loop(machine, pairs, search.place(best))
    best = search.close(best, pairs.row_rigid)
    _check_limits(machine, names, best)
    return best


class _Search:
    """Least squares of the deflections, by Levenberg's and Marquardt's method."""

    def __init__(self, model: Model, pairs: Pairs, free: np.ndarray):
        self._model, self._pairs, self._free = model, pairs, free
        self._motion = make_pair_motion(pairs, len(model.rate_damping))
        self._packed = [Packed(tree) for tree in (model, pairs, make_kinematics(model), self._motion)]

    def place(self, q: np.ndarray) -> PairMotion:
        """Where the pairs are."""
        model, pairs, kinematics, motion = self._packed
        place_pairs(model, pairs, q, kinematics, motion)
        return self._motion

    def apart(self, q: np.ndarray, rows: np.ndarray) -> float:
        """Largest deflection along some rows [m, rad]."""
        return float(np.abs(self._deflection(q, rows)).max(initial=0.0))

    def close(self, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Positions from which no way leads closer."""
        damping, deflection = _FIRST_DAMPING, self._deflection(q, rows)
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
            moved = self._deflection(trial, rows)
            if moved @ moved < deflection @ deflection:
                q, deflection, damping = trial, moved, 0.1 * damping
                jacobian = self._motion.jacobian[rows][:, self._free]
            else:
                damping *= 10.0
        return q

    def _deflection(self, q, rows):
        motion = self.place(q)
        return motion.deflection[self._pairs.row_pair[rows], self._pairs.row_direction[rows]]


def _free_rates(machine: Machine, model: Model, names: Names) -> np.ndarray:
    """Coordinate rates that assembly may move."""
    given = {start.joint for start in machine.initial_positions}
    base = 0 if machine.floating_base else -1
    rates = set()
    for body, joint in enumerate(names.body_joint):
        if model.body_kind[body] != TWIST and joint not in given and body != base and not model.body_mimics[body]:
            rates.update(model.column_rate[model.column_start[body] : model.column_start[body + 1]].tolist())
    return np.array(sorted(rates), dtype=np.int64)


def _open_loop(machine: Machine, pairs: Pairs, motion: PairMotion) -> MachineError:
    """Says which pair stays furthest apart, and how far."""
    gaps = np.zeros(motion.deflection.shape)
    rows = pairs.row_pair[pairs.row_blocked], pairs.row_direction[pairs.row_blocked]
    gaps[rows] = motion.deflection[rows]
    worst = int(np.abs(gaps).max(axis=1).argmax())
    distance, angle = np.linalg.norm(gaps[worst, :3]), math.degrees(np.linalg.norm(gaps[worst, 3:]))
    return MachineError(
        f"cannot be closed: its frames stay {distance:.6g} m and {angle:.6g} degrees apart in the directions it blocks",
        file=machine.file,
        element=f'<loop_joint name="{machine.loop_joints[worst].name}">',
        remedy="change its frames or an <initial_position>: joints that have one are not moved",
    )


def _check_limits(machine: Machine, names: Names, q: np.ndarray) -> None:
    for joint in machine.joints:
        place = names.joints.get(joint.name)
        if place is None:
            continue
        position = place.multiplier * q[place.q] + place.offset
        lower, upper = joint.limit.lower, joint.limit.upper
        if (lower is not None and position < lower - _BEYOND) or (upper is not None and position > upper + _BEYOND):
            raise MachineError(
                f"stands at {position:.6g} when the loops are closed, outside its limits",
                file=machine.file,
                element=f'<joint name="{joint.name}">',
                remedy="give an <initial_position> from which the loops close within the limits",
            )
