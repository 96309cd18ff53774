"""Implicit Euler steps of systems with friction and limits; a step that does not converge is made in halves."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.multibody.elimination import eliminate_columns
from grouser.studies.friction.reduced import solve_reduced
from grouser.studies.friction.right_side import evaluate

# Most halvings of a step.
HALVINGS = 10
# Newton's iteration of a function: most rounds, change at which it ends over what is typical of a variable, and how far
# apart the differences of its derivatives are, likewise.
_ROUNDS, _SETTLED, _APART = 20, 1e-9, 1e-7


@kernel
def run_matrices(moved, driven, answers, responses, variables, speeds, samples, reduced, state, force, slides):
    """Makes the steps of a system with matrices from `state[0]`.

    Args:
        moved, driven: what a step makes of y and of u at its end, for a whole step and its halves,
            (HALVINGS + 1, n, n), (HALVINGS + 1, n, inputs).
        answers: change of y by the force of each row of `reduced`, (HALVINGS + 1, n, rows).
        responses: the same of what each row is about, (HALVINGS + 1, rows, rows).
        variables: that have limits, (limits,).
        speeds: w of each friction, (frictions, n).
        samples: u at the start and at the end of each step, (steps + 1, inputs).
        reduced: see there; its `sliding` is the state at the start.
        state, force, slides: results, one row at the start and for each step.

    Returns:
        Number of successful steps, and how many of these were halved.
    """
    steps, n, halved = state.shape[0] - 1, state.shape[1], 0
    whole = 1 << HALVINGS
    for k in range(steps):
        y, start = state[k + 1], state[k]
        for i in range(n):
            y[i] = start[i]
        done, level = 0, 0
        while done < whole:
            _begin_part(samples, k, (done + (whole >> level)) / whole, reduced)
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += moved[level, i, j] * y[j]
                for j in range(samples.shape[1]):
                    total += driven[level, i, j] * reduced.inputs[j]
                reduced.target[i] = total
            _set_free(variables, speeds, reduced)
            for i in range(reduced.free.shape[0]):
                for j in range(reduced.free.shape[0]):
                    reduced.response[i, j] = responses[level, i, j]
            if solve_reduced(reduced):
                _add_forces(variables, answers[level], reduced, y)
                done += whole >> level
            else:
                _take_back(reduced)
                halved += 1 if level == 0 else 0
                level += 1
                if level > HALVINGS:
                    return k, halved
        if not _record(reduced, y, force[k + 1], slides[k + 1]):
            return k, halved
    return steps, halved


@inlined
def _begin_part(samples, k, share, reduced):
    """Inputs at the end of a part of step k, and the states before it, for another attempt."""
    for j in range(samples.shape[1]):
        reduced.inputs[j] = samples[k, j] + share * (samples[k + 1, j] - samples[k, j])
    for i in range(reduced.sliding.shape[0]):
        reduced.slid[i] = reduced.sliding[i]


@inlined
def _take_back(reduced):
    """Restores the states at the start of the part."""
    for i in range(reduced.sliding.shape[0]):
        reduced.sliding[i] = reduced.slid[i]


@inlined
def _set_free(variables, speeds, reduced):
    """What the rows are about, of y without their forces."""
    frictions = speeds.shape[0]
    for i in range(frictions):
        total = 0.0
        for j in range(speeds.shape[1]):
            total += speeds[i, j] * reduced.target[j]
        reduced.free[i] = total
    for i in range(variables.shape[0]):
        reduced.free[frictions + i] = reduced.target[variables[i]]


@inlined
def _add_forces(variables, answer, reduced, y):
    """The state, by y without the rows' forces and what these add."""
    frictions = reduced.static.shape[0]
    for i in range(y.shape[0]):
        total = reduced.target[i]
        for j in range(reduced.force.shape[0]):
            total += answer[i, j] * reduced.force[j]
        y[i] = total
    for i in range(variables.shape[0]):
        y[variables[i]] = reduced.result[frictions + i]


@inlined
def _record(reduced, y, force, slides):
    """Keeps forces and states of a step; whether the state is finite."""
    for i in range(reduced.static.shape[0]):
        force[i], slides[i] = -reduced.force[i], reduced.sliding[i]
    total = 0.0
    for i in range(y.shape[0]):
        total += y[i]
    return math.isfinite(total)


class NewtonBuffers(NamedTuple):
    """Buffers of a system whose right side is a function.

    Attributes:
        right, moved: f and f beside it, (n,).
        old, before: y at the start of a part, and of a round, (n,).
        scale: what is typical of each variable, (n,).
        slope: matrix of a round, (n, n).
        answer: change of y, without forces and by each, (n, 1 + rows).
        answers: the latter, (n, rows).
    """

    right: np.ndarray
    moved: np.ndarray
    old: np.ndarray
    before: np.ndarray
    scale: np.ndarray
    slope: np.ndarray
    answer: np.ndarray
    answers: np.ndarray

    @classmethod
    def of(cls, scale: np.ndarray, rows: int) -> "NewtonBuffers":
        """Buffers for variables of these sizes."""
        n = len(scale)
        return cls(
            *(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), scale, np.zeros((n, n))),
            *(np.zeros((n, 1 + rows)), np.zeros((n, rows))),
        )


@kernel
def run_function(
    right_side, mass, effects, variables, speeds, samples, time, step, reduced, buffers, state, force, slides
):
    """Makes the steps of a system whose right side is a function of t, y, u and the output.

    Otherwise as `run_matrices`.

    Args:
        right_side: address of the function (`right_side`).
        mass: E, (n, n).
        effects: g of each friction, and what gives way for each limit, (n, rows).
        time: at the start [s].
        step: [s].
        variables, speeds, samples, reduced, state, force, slides: as in `run_matrices`.
        buffers: see there.
    """
    steps, n, halved = state.shape[0] - 1, state.shape[1], 0
    whole = 1 << HALVINGS
    for k in range(steps):
        y = state[k + 1]
        for i in range(n):
            y[i] = state[k, i]
        done, level = 0, 0
        while done < whole:
            length = whole >> level
            share = (done + length) / whole
            _begin_part(samples, k, share, reduced)
            for i in range(n):
                buffers.old[i] = y[i]
            end, part = time + (k + share) * step, step * length / whole
            if _newton(right_side, mass, effects, variables, speeds, end, part, reduced, buffers, y):
                done += length
            else:
                for i in range(n):
                    y[i] = buffers.old[i]
                _take_back(reduced)
                halved += 1 if level == 0 else 0
                level += 1
                if level > HALVINGS:
                    return k, halved
        if not _record(reduced, y, force[k + 1], slides[k + 1]):
            return k, halved
    return steps, halved


@kernel
def _newton(right_side, mass, effects, variables, speeds, end, part, reduced, buffers, y):
    """One implicit Euler step from `buffers.old`, of a function; whether it converged."""
    n, frictions = y.shape[0], speeds.shape[0]
    right, moved, slope, answer = buffers.right, buffers.moved, buffers.slope, buffers.answer
    for _ in range(_ROUNDS):
        evaluate(right_side, end, y, reduced.inputs, right)
        for j in range(n):
            kept = y[j]
            apart = _APART * max(abs(kept), buffers.scale[j])
            y[j] = kept + apart
            evaluate(right_side, end, y, reduced.inputs, moved)
            y[j] = kept
            for i in range(n):
                slope[i, j] = mass[i, j] / part - (moved[i] - right[i]) / apart
        for i in range(n):
            buffers.before[i] = y[i]
            total = right[i]
            for j in range(n):
                total -= mass[i, j] / part * (y[j] - buffers.old[j])
            answer[i, 0] = total
            for j in range(effects.shape[1]):
                answer[i, 1 + j] = effects[i, j]
        if not eliminate_columns(slope, answer):
            return False
        for i in range(n):
            reduced.target[i] = y[i] + answer[i, 0]
            for j in range(buffers.answers.shape[1]):
                buffers.answers[i, j] = answer[i, 1 + j]
        _set_free(variables, speeds, reduced)
        for j in range(reduced.free.shape[0]):
            for i in range(frictions):
                total = 0.0
                for m in range(n):
                    total += speeds[i, m] * buffers.answers[m, j]
                reduced.response[i, j] = total
            for i in range(variables.shape[0]):
                reduced.response[frictions + i, j] = buffers.answers[variables[i], j]
        _take_back(reduced)
        if not solve_reduced(reduced):
            return False
        _add_forces(variables, buffers.answers, reduced, y)
        settled = True
        for i in range(n):
            settled = settled and abs(y[i] - buffers.before[i]) <= _SETTLED * max(abs(y[i]), buffers.scale[i])
        if settled:
            return True
    return False
