"""What residuals and their Jacobian say about estimates: intervals, correlations, and what the data cannot tell.

The linear theory of least squares at the optimum (Bates and Watts, Nonlinear Regression Analysis, 1988): covariance
s^2 (J^T J)^-1 with the variance s^2 = r^T r / (n - p), intervals by Student's t with n - p degrees of freedom.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from grouser.physics.base.errors import ParameterError

LEVEL = 0.95
# A direction whose interval is wider than its range of variables: the data say no more about it than the bounds.
_WIDTH = 0.5


@dataclass(frozen=True)
class Statistics:
    """Of estimates of variables from 0 to 1.

    Attributes:
        variance: of the residuals; 1 where these are in units of a true sigma.
        degrees: of freedom, residuals less variables.
        half_widths: of the 95 % intervals, (variables,); infinite for what the data do not determine.
        correlation: of the estimates, (variables, variables); NaN for what is not determined.
        singular_values: of the Jacobian, falling, (variables,).
        directions: right singular vectors, a row each, (variables, variables).
        direction_half_widths: of the 95 % interval along each, (variables,).
        undetermined: whether the data do not tell the combination, of each direction.
    """

    variance: float
    degrees: int
    half_widths: np.ndarray
    correlation: np.ndarray
    singular_values: np.ndarray
    directions: np.ndarray
    direction_half_widths: np.ndarray
    undetermined: np.ndarray


def statistics_of(residuals: np.ndarray, jacobian: np.ndarray, error: float = 0.0) -> Statistics:
    """The statistics.

    Args:
        residuals: at the optimum, each over its sigma, (residuals,).
        jacobian: (residuals, variables).
        error: of the Jacobian, as a norm; singular values below it count as zero.

    Raises:
        ParameterError: not more residuals than variables.
    """
    count, variables = jacobian.shape
    degrees = count - variables
    if degrees < 1:
        raise ParameterError("measured values", count, f"more than the {variables} parameters")
    variance = float(residuals @ residuals) / degrees
    _, singular, directions = np.linalg.svd(jacobian, full_matrices=False)
    floor = max(error, count * np.finfo(float).eps * float(singular[0]))
    inverse = np.where(singular > floor, 1.0 / np.where(singular > 0.0, singular, 1.0), np.inf)
    factor = float(student.ppf(0.5 + 0.5 * LEVEL, degrees)) * math.sqrt(variance)
    with np.errstate(invalid="ignore"):
        # a component of zero takes no part in a direction without limit
        spread = np.where(np.abs(directions) > 1e-9, directions, 0.0) * inverse[:, None]
        spread = np.where(np.isnan(spread), 0.0, spread)
        widths = np.linalg.norm(spread, axis=0)
        covariance = spread.T @ spread
        correlation = covariance / np.outer(widths, widths)
        half_widths = np.where(np.isinf(widths), np.inf, factor * widths)
        along = np.where(np.isinf(inverse), np.inf, factor * inverse)
    return Statistics(
        variance, degrees, half_widths, correlation, singular, directions, along, along > _WIDTH
    )  # fmt: skip


def lag_correlation(residuals: np.ndarray) -> float:
    """Correlation of residuals with their successors; 0 for fewer than three, or without spread."""
    centred = residuals - residuals.mean()
    power = float(centred @ centred)
    return float(centred[:-1] @ centred[1:]) / power if len(residuals) > 2 and power > 0.0 else 0.0


def widening(correlation: float) -> float:
    """Factor by which intervals are too small for residuals of an autoregressive process of first order.

    The number of independent values among n is n (1 - r) / (1 + r).
    """
    return math.sqrt((1.0 + correlation) / (1.0 - correlation)) if 0.0 < correlation < 1.0 else 1.0
