"""Friction forces and limits of a step, once everything else has been eliminated.

What is left of a step of a system are the speeds that friction acts against and the variables that have limits,

    r = r_free + M p,

with p the friction forces, against the speeds, and what holds variables at their limits. A friction force is

    p = -eta r,  eta = level / max(|r|, rest speed):

a fictitious viscosity at rest, and the level against the motion beyond. Whether it slides is all that eta does not know
beforehand; given that, p solves a linear system. So the viscosity is found by guessing which frictions slide,
solving, and correcting the guess: Newton's iteration of the equation whose own iteration, eta from the last round's
    speed, takes
thousands of rounds where a speed comes to zero. Which limits hold is guessed and corrected in the same rounds, so that
no state of friction is decided on by forces that a limit takes away.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.multibody.elimination import eliminate

# Mode of a row: friction as viscosity, sliding backward or forward; a limit not reached, or active.
REST, BACKWARD, FORWARD, FREE, LOWER, UPPER = 0, 1, 2, 3, 4, 5
# Sliding begins above this multiple of the rest speed and ends at the rest speed.
_SLIPS = 1.1
# Iterations after which only the first wrong guess is corrected at a time, which always ends where M is a P-matrix,
# and after which the search fails.
_JOINTLY, _AT_MOST = 12, 200
# Most iterations of the friction states.
_STATES = 50
_LEAST_PIVOT = 1e-300
# Share of the numbers that it is the difference of, by which a speed or a force may be wrong: what lies just at its
# bound is not thought again for that.
_ROUNDING = 1e-14


class Reduced(NamedTuple):
    """The reduced system of m friction forces and l limits, frictions first.

    Attributes:
        free: r without any of them, (m + l,).
        response: M, (m + l, m + l).
        static, kinetic: levels of friction, (m,).
        rest_speed: (m,).
        lower, upper: limits, (l,).
        sliding: state of each friction, (m,).
        mode: of each row, (m + l,), kept between steps as the first guess.
        force: p, (m + l,).
        result: r, (m + l,).
        inputs: u at the end of a part of a step.
        slid: states before it, for another attempt, (m,).
        target: all variables without these forces, (n,).
        matrix, right, active: buffers, (m + l, m + l), (m + l,), (m + l,).
    """

    free: np.ndarray
    response: np.ndarray
    static: np.ndarray
    kinetic: np.ndarray
    rest_speed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    sliding: np.ndarray
    mode: np.ndarray
    force: np.ndarray
    result: np.ndarray
    inputs: np.ndarray
    slid: np.ndarray
    target: np.ndarray
    matrix: np.ndarray
    right: np.ndarray
    active: np.ndarray


def make_reduced(size, static, kinetic, rest_speed, lower, upper, inputs=0) -> Reduced:
    """Buffers for friction of these levels and limits of this range, of a system of `size` variables and its inputs."""
    frictions, rows = len(static), len(static) + len(lower)
    mode = np.full(rows, FREE)
    mode[:frictions] = REST
    return Reduced(
        free=np.zeros(rows),
        response=np.zeros((rows, rows)),
        static=np.array(static, dtype=float),
        kinetic=np.array(kinetic, dtype=float),
        rest_speed=np.array(rest_speed, dtype=float),
        lower=np.array(lower, dtype=float),
        upper=np.array(upper, dtype=float),
        sliding=np.zeros(frictions, dtype=np.bool_),
        mode=mode,
        force=np.zeros(rows),
        result=np.zeros(rows),
        inputs=np.zeros(inputs),
        slid=np.zeros(frictions, dtype=np.bool_),
        target=np.zeros(size),
        matrix=np.zeros((rows, rows)),
        right=np.zeros(rows),
        active=np.zeros(rows, dtype=np.int64),
    )


@kernel
def solve_reduced(reduced):
    """Finds states, forces and limits of a step from `free` and `response`; returns whether they converged. Two

    nested loops: the states of friction, and within them the modes of all rows.
    """
    for _ in range(_STATES):
        if not _find_forces(reduced):
            return False
        if not _change_states(reduced):
            return True
    return False


@inlined
def _level(reduced, i):
    """Greatest force of friction i in its state."""
    return reduced.kinetic[i] if reduced.sliding[i] else reduced.static[i]


@kernel
def _find_forces(reduced):
    """Forces in the given states; returns whether they converged."""
    frictions = reduced.static.shape[0]
    for attempt in range(_AT_MOST):
        if not _solve_modes(reduced):
            return False
        wrong = False
        for i in range(reduced.free.shape[0]):
            mode = _friction_mode(reduced, i) if i < frictions else _limit_mode(reduced, i, i - frictions)
            if mode != reduced.mode[i]:
                reduced.mode[i] = mode
                wrong = True
                if attempt >= _JOINTLY:
                    break
        if not wrong:
            return True
    return False


@inlined
def _friction_mode(reduced, i):
    """Mode of friction i, by its force where it was guessed at rest, else by its speed."""
    mode, speed, level = reduced.mode[i], reduced.result[i], _level(reduced, i)
    if mode == REST:
        return REST if not abs(reduced.force[i]) > level else BACKWARD if reduced.force[i] > 0.0 else FORWARD
    least = reduced.rest_speed[i] - _rounding(reduced, i)
    return REST if (speed if mode == FORWARD else -speed) < least else mode


@inlined
def _limit_mode(reduced, i, limit):
    """Mode of limit i, by the value where it was guessed free, else by the force."""
    mode, value = reduced.mode[i], reduced.result[i]
    if mode == FREE:
        return LOWER if value < reduced.lower[limit] else UPPER if value > reduced.upper[limit] else FREE
    pulls = (-reduced.force[i] if mode == LOWER else reduced.force[i]) * reduced.response[i, i]
    return FREE if pulls > _rounding(reduced, i) else mode


@inlined
def _rounding(reduced, i):
    """Rounding error of the result of row i."""
    total = abs(reduced.free[i])
    for j in range(reduced.free.shape[0]):
        total += abs(reduced.response[i, j] * reduced.force[j])
    return _ROUNDING * total


@inlined
def _limit(reduced, i, limit):
    """Value of the active limit of row i."""
    return reduced.lower[limit] if reduced.mode[i] == LOWER else reduced.upper[limit]


@inlined
def _solve_modes(reduced):
    """Forces and results for given modes; returns whether there is a solution."""
    frictions, rows, count = reduced.static.shape[0], reduced.free.shape[0], 0
    for i in range(rows):
        mode, reduced.force[i] = reduced.mode[i], 0.0
        if mode == BACKWARD:
            reduced.force[i] = _level(reduced, i)
        elif mode == FORWARD:
            reduced.force[i] = -_level(reduced, i)
        elif mode != FREE:
            reduced.active[count] = i
            count += 1
    for a in range(count):
        i = reduced.active[a]
        reduced.right[a] = (_limit(reduced, i, i - frictions) if i >= frictions else 0.0) - reduced.free[i]
        for j in range(rows):
            reduced.right[a] -= reduced.response[i, j] * reduced.force[j]
        for b in range(count):
            reduced.matrix[a, b] = reduced.response[i, reduced.active[b]]
        if i < frictions:
            level = _level(reduced, i)
            if level > 0.0:
                reduced.matrix[a, a] += reduced.rest_speed[i] / level
            else:
                # Without a response, p = 0.
                for b in range(count):
                    reduced.matrix[a, b] = 1.0 if b == a else 0.0
                reduced.right[a] = 0.0
    if count > 0 and not eliminate(reduced.matrix, reduced.right, count, _LEAST_PIVOT):
        return False
    for a in range(count):
        reduced.force[reduced.active[a]] = reduced.right[a]
    for i in range(rows):
        reduced.result[i] = reduced.free[i]
        for j in range(rows):
            reduced.result[i] += reduced.response[i, j] * reduced.force[j]
    for a in range(count):
        # By its law, not as a difference of large numbers.
        i = reduced.active[a]
        if i >= frictions:
            reduced.result[i] = _limit(reduced, i, i - frictions)
        elif _level(reduced, i) > 0.0:
            reduced.result[i] = -reduced.force[i] * reduced.rest_speed[i] / _level(reduced, i)
    return True


@inlined
def _change_states(reduced):
    """Releases frictions that slip, and holds those that have come to rest; returns whether any state changed."""
    changed = False
    for i in range(reduced.static.shape[0]):
        speed = abs(reduced.result[i])
        slides = speed > _SLIPS * reduced.rest_speed[i] if not reduced.sliding[i] else speed > reduced.rest_speed[i]
        changed = changed or slides != reduced.sliding[i]
        reduced.sliding[i] = slides
    return changed
