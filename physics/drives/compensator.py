"""The compensator ((T s + 1) / (T_1 s + 1))^2, realised without derivatives.

Two stages T_1 x' = e - x with the output (T/T_1) e + (1 - T/T_1) x, in series. All quantities are rows over the
variables of the whole system.
"""

import numpy as np


def compensator_rows(
    lead: float, lag: float, error: np.ndarray, first: int, second: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a compensator.

    Args:
        lead, lag: T and T_1 [s].
        error: input, as a row over the variables.
        first, second: indices of both stages among the variables.

    Returns:
        T_1 times the rates of both stages, and the output.
    """
    one, other = np.eye(len(error))[[first, second]]
    through = lead / lag
    between = through * error + (1.0 - through) * one
    return error - one, between - other, through * between + (1.0 - through) * other
