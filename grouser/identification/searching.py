"""Searches for the least squares from many starts.

Each is a trust-region search within the bounds (Branch, Coleman and Li 1999, `scipy.optimize.least_squares`) on
variables from 0 to 1. The searches are threads that wait for simulations; these run in processes.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from grouser.identification.derivatives import Evaluate, forward_differences

_TOLERANCE = 1e-8  # of cost, variables and gradient: relative


@dataclass(frozen=True)
class Search:
    """A search from one start.

    Attributes:
        start, end: variables, (variables,).
        residuals: at the end, (residuals,); infinite if the simulation failed at the start.
        evaluations: number of steps that were tried.
        converged: whether it ended before its limit.
    """

    start: np.ndarray
    end: np.ndarray
    residuals: np.ndarray
    evaluations: int
    converged: bool

    @property
    def cost(self) -> float:
        """Sum of the squares of the residuals."""
        return float(self.residuals @ self.residuals)


def spread_starts(first: np.ndarray, count: int, seed: int) -> list[np.ndarray]:
    """The given start, and others spread over the bounds by a Latin hypercube."""
    others = qmc.LatinHypercube(len(first), rng=np.random.default_rng(seed)).random(count - 1) if count > 1 else []
    return [first, *others]


def search_from_all(
    evaluate: Evaluate, starts: Sequence[np.ndarray], steps: np.ndarray, most_iterations: int, together: int
) -> list[Search]:
    """Searches from each start, some at a time.

    Args:
        evaluate: of the residuals; called by several threads.
        starts: variables, (variables,) each.
        steps: of the differences, (variables,).
        most_iterations: of each search.
        together: number of searches at a time.
    """
    with ThreadPoolExecutor(max(1, together)) as threads:
        return list(threads.map(lambda start: search(evaluate, start, steps, most_iterations), starts))


def search(evaluate: Evaluate, start: np.ndarray, steps: np.ndarray, most_iterations: int) -> Search:
    """One search; see `search_from_all`."""
    known: dict[bytes, np.ndarray] = {}

    def residuals_at(variables: np.ndarray) -> np.ndarray:
        key = variables.tobytes()
        if key not in known:
            known[key] = evaluate([variables])[0]
        return known[key]

    def jacobian_at(variables: np.ndarray) -> np.ndarray:
        residuals = residuals_at(variables)
        known.clear()
        return forward_differences(evaluate, variables, residuals, steps)

    residuals = residuals_at(start)
    if not np.isfinite(residuals).all():
        return Search(start, start, np.full_like(residuals, np.inf), 1, False)
    found = least_squares(
        residuals_at,
        start,
        jacobian_at,
        bounds=(0.0, 1.0),
        ftol=_TOLERANCE,
        xtol=_TOLERANCE,
        gtol=_TOLERANCE,
        max_nfev=most_iterations,
    )
    return Search(start, found.x, found.fun, int(found.nfev), found.status > 0)
