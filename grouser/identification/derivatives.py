"""Jacobians of residuals by differences whose steps fit the noise of the simulation.

Residuals of a simulation are smooth only down to some step: events fall between steps of time, and iterations end at a
tolerance. Central differences with steps of several lengths are compared for each variable; the length whose
neighbours agree best with it is taken, and their disagreement is the error of the column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.errors import ParameterError

# Residuals, (residuals,), at each of several points of variables from 0 to 1; infinite where a simulation failed.
Evaluate = Callable[[Sequence[np.ndarray]], list[np.ndarray]]

STEPS = (3e-2, 3e-3, 3e-4, 3e-5)


@dataclass(frozen=True)
class Jacobian:
    """Derivatives of residuals by the variables.

    Attributes:
        matrix: (residuals, variables).
        steps: of the differences, (variables,).
        errors: norm of the error of each column, (variables,).
    """

    matrix: np.ndarray
    steps: np.ndarray
    errors: np.ndarray


def central_jacobian(evaluate: Evaluate, variables: np.ndarray) -> Jacobian:
    """Central differences with the best steps; at a bound, and where one side fails, one-sided.

    Raises:
        ParameterError: the residuals can be had on no side of a variable.
    """
    pairs = [_pair(variables, column, step) for column in range(len(variables)) for step in STEPS]
    middle, *found = evaluate([variables, *(point for pair in pairs for point in pair)])
    columns = [
        _difference(pair, (middle, found[2 * i], found[2 * i + 1]), variables, i // len(STEPS))
        for i, pair in enumerate(pairs)
    ]
    matrix, steps, errors = [], [], []
    for column in range(len(variables)):
        own = columns[column * len(STEPS) : (column + 1) * len(STEPS)]
        gaps = [_distance(a, b) for a, b in zip(own[1:], own[:-1], strict=True)]
        # of the longest and the shortest step the only neighbour counts twice
        scores = [max(pair) for pair in zip([gaps[0], *gaps], [*gaps, gaps[-1]], strict=True)]
        best = int(np.argmin(scores))
        derivative = own[best]
        if derivative is None or not np.isfinite(scores[best]):
            raise ParameterError("variable", column, "one around which the simulation runs")
        matrix.append(derivative)
        steps.append(STEPS[best])
        errors.append(scores[best])
    return Jacobian(np.column_stack(matrix), np.array(steps), np.array(errors))


def forward_differences(
    evaluate: Evaluate, variables: np.ndarray, residuals: np.ndarray, steps: np.ndarray
) -> np.ndarray:
    """Differences to one side, inward where there is a bound, (residuals, variables).

    Args:
        evaluate: of the residuals.
        variables: where, (variables,).
        residuals: there, (residuals,).
        steps: (variables,).
    """
    points = []
    for column, step in enumerate(steps):
        point = variables.copy()
        point[column] += step if variables[column] + step <= 1.0 else -step
        points.append(point)
    rows = zip(points, evaluate(points), range(len(steps)), strict=True)
    columns = [(found - residuals) / (point[i] - variables[i]) for point, found, i in rows]
    return np.column_stack([np.where(np.isfinite(column), column, 0.0) for column in columns])


def _pair(variables: np.ndarray, column: int, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Points to both sides within the bounds."""
    below, above = variables.copy(), variables.copy()
    below[column] = max(variables[column] - step, 0.0)
    above[column] = min(variables[column] + step, 1.0)
    return below, above


def _difference(
    pair: tuple[np.ndarray, np.ndarray],
    residuals: tuple[np.ndarray, np.ndarray, np.ndarray],
    variables: np.ndarray,
    column: int,
) -> np.ndarray | None:
    """Difference over distance; None where neither side has residuals."""
    middle, below, above = residuals
    start, end = pair[0][column], pair[1][column]
    if not np.isfinite(below).all():
        start, below = variables[column], middle
    if not np.isfinite(above).all():
        end, above = variables[column], middle
    if not end > start:
        return None
    return (above - below) / (end - start)


def _distance(first: np.ndarray | None, second: np.ndarray | None) -> float:
    return np.inf if first is None or second is None else float(np.linalg.norm(first - second))
