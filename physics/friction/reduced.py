"""Friction forces and limits of a step, once everything else has been eliminated.

What is left of a step of a system are the speeds that friction acts against and the variables that have limits,

    r = r_free + M p,

with p the friction forces, against the speeds, and what holds variables at their limits. A friction force is

    p = -eta r,  eta = level / max(|r|, rest speed):

a fictitious viscosity at rest, and the level against the motion beyond. Whether it slides is all that eta does not know
beforehand; given that, p solves a linear system. So the viscosity is found by guessing who slides, solving, and
correcting the guess: Newton's iteration of the equation whose own iteration, eta from the last round's speed, takes
thousands of rounds where a speed comes to zero.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.kernel import inlined, kernel
from grouser.physics.multibody.elimination import eliminate

# How a row acts: friction as viscosity, sliding backward or forward; a limit that is not reached, or that holds.
REST, BACKWARD, FORWARD, FREE, LOWER, UPPER = 0, 1, 2, 3, 4, 5
# Sliding begins above this multiple of the rest speed and ends at the rest speed.
_SLIPS = 1.1
# Rounds after which only the first wrong guess is corrected at a time, which always ends where M is a P-matrix, and
# after which there is no hope.
_JOINTLY, _AT_MOST = 12, 200
# Rounds of changing states, and of changing limits.
_STATES, _LIMITS = 50, 50
_LEAST_PIVOT = 1e-300


class Reduced(NamedTuple):
    """The system that is left, of m friction forces and l limits, frictions first.

    Attributes:
        free: r without any of them, (m + l,).
        response: M, (m + l, m + l).
        static, kinetic: levels of friction, (m,).
        rest_speed: (m,).
        lower, upper: limits, (l,).
        sliding: state of each friction, (m,).
        mode: how each row acts, (m + l,), kept between steps as the first guess.
        force: p, (m + l,).
        result: r, (m + l,).
        slid: states before, for another attempt, (m,).
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
    slid: np.ndarray
    target: np.ndarray
    matrix: np.ndarray
    right: np.ndarray
    active: np.ndarray


def make_reduced(size, static, kinetic, rest_speed, lower, upper) -> Reduced:
    """Buffers for friction of these levels and limits of this range, in a system of `size` variables."""
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
        slid=np.zeros(frictions, dtype=np.bool_),
        target=np.zeros(size),
        matrix=np.zeros((rows, rows)),
        right=np.zeros(rows),
        active=np.zeros(rows, dtype=np.int64),
    )


@kernel
def solve_reduced(reduced):
    """Finds states, forces and limits of a step from `free` and `response`; returns whether they settled.

    Three loops: the limits that hold, within each the states of friction, within each who slides.
    """
    frictions = reduced.static.shape[0]
    for _ in range(_LIMITS):
        settled = False
        for _ in range(_STATES):
            if not _find_forces(reduced):
                return False
            if not _change_states(reduced):
                settled = True
                break
        if not settled:
            return False
        if not _change_limits(reduced, frictions):
            return True
    return False


@inlined
def _level(reduced, i):
    """What friction i gives at most, in its state."""
    return reduced.kinetic[i] if reduced.sliding[i] else reduced.static[i]


@kernel
def _find_forces(reduced):
    """Forces in the given states and with the given limits; returns whether it ended."""
    frictions = reduced.static.shape[0]
    for attempt in range(_AT_MOST):
        if not _solve_modes(reduced):
            return False
        wrong = False
        for i in range(frictions):
            level, speed, mode = _level(reduced, i), reduced.result[i], reduced.mode[i]
            if mode == REST and abs(reduced.force[i]) > level:
                reduced.mode[i] = BACKWARD if reduced.force[i] > 0.0 else FORWARD
            elif (mode == FORWARD and speed < reduced.rest_speed[i]) or (
                mode == BACKWARD and speed > -reduced.rest_speed[i]
            ):
                reduced.mode[i] = REST
            else:
                continue
            wrong = True
            if attempt >= _JOINTLY:
                break
        if not wrong:
            return True
    return False


@inlined
def _solve_modes(reduced):
    """Forces and results where it is known how each row acts; returns whether there are any."""
    frictions, rows, count = reduced.static.shape[0], reduced.free.shape[0], 0
    for i in range(rows):
        mode, reduced.force[i] = reduced.mode[i], 0.0
        if mode in (REST, LOWER, UPPER):
            reduced.active[count] = i
            count += 1
        elif mode != FREE:
            reduced.force[i] = _level(reduced, i) * (1.0 if mode == BACKWARD else -1.0)
    for a in range(count):
        i = reduced.active[a]
        target = 0.0
        if i >= frictions:
            target = reduced.lower[i - frictions] if reduced.mode[i] == LOWER else reduced.upper[i - frictions]
        reduced.right[a] = target - reduced.free[i]
        for j in range(rows):
            reduced.right[a] -= reduced.response[i, j] * reduced.force[j]
        for b in range(count):
            reduced.matrix[a, b] = reduced.response[i, reduced.active[b]]
        if i < frictions:
            level = _level(reduced, i)
            if level > 0.0:
                reduced.matrix[a, a] += reduced.rest_speed[i] / level
            else:
                # nothing to hold it with: p = 0
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
        # by its law, not as a difference of large numbers
        i = reduced.active[a]
        if i >= frictions:
            reduced.result[i] = (
                reduced.lower[i - frictions] if reduced.mode[i] == LOWER else reduced.upper[i - frictions]
            )
        elif _level(reduced, i) > 0.0:
            reduced.result[i] = -reduced.force[i] * reduced.rest_speed[i] / _level(reduced, i)
    return True


@inlined
def _change_states(reduced):
    """Lets go what slips, and holds what has come to rest; returns whether any state changed."""
    changed = False
    for i in range(reduced.static.shape[0]):
        speed = abs(reduced.result[i])
        slides = speed > _SLIPS * reduced.rest_speed[i] if not reduced.sliding[i] else speed > reduced.rest_speed[i]
        changed = changed or slides != reduced.sliding[i]
        reduced.sliding[i] = slides
    return changed


@inlined
def _change_limits(reduced, frictions):
    """Holds what is beyond its limit, and lets go what would come back; returns whether any limit changed."""
    changed = False
    for i in range(frictions, reduced.free.shape[0]):
        mode, value, force = reduced.mode[i], reduced.result[i], reduced.force[i]
        low, high = reduced.lower[i - frictions], reduced.upper[i - frictions]
        wanted = mode
        if mode == FREE:
            wanted = LOWER if value < low else UPPER if value > high else FREE
        elif (mode == LOWER and force < 0.0) or (mode == UPPER and force > 0.0):
            wanted = FREE
        changed = changed or wanted != mode
        reduced.mode[i] = wanted
    return changed
