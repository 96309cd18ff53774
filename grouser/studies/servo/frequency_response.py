"""Frequency response of a servo loop, and its stability margins."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from grouser.studies.servo.servo_loop import ANGLE, ServoLoop

# Least number of frequencies in each decade of the search for crossings.
_A_DECADE = 200


@dataclass(frozen=True)
class FrequencyResponse:
    """The open loop of a servo, from the error to the angle that is fed back.

    Attributes:
        frequency: [rad/s], (points,).
        magnitude_db, phase_deg: the latter without jumps, (points,).
        dc_gain: at rest; infinite for a loop that integrates.
        crossover_frequency: at which the gain is 1 [rad/s]; where there are several, that with the least phase margin;
            NaN for none.
        phase_margin_deg: above -180 degrees there; infinite for none.
        phase_crossover_frequency: at which the phase is -180 degrees [rad/s]; where there are several, that with the
            least gain margin; NaN for none.
        gain_margin_db: below gain 1 there; infinite for none.
        open_poles, closed_poles: of the loop opened and closed [1/s].
        margins_hold: whether margins are meaningful: not for an unstable open loop.
    """

    frequency: np.ndarray
    magnitude_db: np.ndarray
    phase_deg: np.ndarray
    dc_gain: float
    crossover_frequency: float
    phase_margin_deg: float
    phase_crossover_frequency: float
    gain_margin_db: float
    open_poles: np.ndarray
    closed_poles: np.ndarray

    @property
    def margins_hold(self) -> bool:
        """Whether the open loop is stable."""
        return bool(self.open_poles.real.max() <= _margin(self.open_poles))

    @property
    def max_real_closed_loop_pole(self) -> float:
        """Above 0 the closed loop is unstable [1/s]."""
        return float(self.closed_poles.real.max())


def _margin(poles: np.ndarray) -> float:
    """Rounding error of a pole at 0 [1/s]."""
    return 1e-9 * float(np.abs(poles).max())


def open_loop(loop: ServoLoop, frequency: np.ndarray) -> np.ndarray:
    """Open-loop transfer function at frequencies [rad/s], complex, of the same shape."""
    mass, matrix, entered = loop.matrices(closed=False)
    s = 1j * np.asarray(frequency, dtype=float)[..., np.newaxis, np.newaxis]
    right = np.broadcast_to(entered[:, np.newaxis], (*s.shape[:-2], len(mass), 1))
    return np.linalg.solve(s * np.diag(mass) - matrix, right)[..., ANGLE, 0]


def frequency_response(loop: ServoLoop) -> FrequencyResponse:
    """Frequency response of a servo's open loop, up to two decades around its poles."""
    open_poles, closed_poles = loop.poles(closed=False), loop.poles()
    corners, integrates = np.abs(open_poles), bool(np.abs(open_poles).min() <= _margin(open_poles))
    corners = corners[corners > _margin(open_poles)]
    lowest, highest = 1e-2 * corners.min(), 1e2 * corners.max()
    points = max(int(math.log10(highest / lowest) * _A_DECADE), 2)
    frequency = np.geomspace(lowest, highest, points)
    response = open_loop(loop, frequency)
    phase = np.unwrap(np.angle(response))

    def gain(log_frequency: float) -> float:
        return math.log(abs(complex(open_loop(loop, np.array(math.exp(log_frequency))))))

    def turned(log_frequency: float) -> float:
        """Imaginary part of the loop over its size: 0 where the phase is a multiple of 180 degrees."""
        value = complex(open_loop(loop, np.array(math.exp(log_frequency))))
        return value.imag / abs(value)

    logs = np.log(frequency)
    crossovers = [
        math.exp(brentq(gain, logs[k], logs[k + 1], xtol=1e-13))
        for k in np.flatnonzero(np.diff(np.sign(np.abs(response) - 1.0)))
    ]
    around = np.flatnonzero((np.diff(np.sign(response.imag)) != 0.0) & (response.real[:-1] < 0.0))
    reversals = [math.exp(brentq(turned, logs[k], logs[k + 1], xtol=1e-13)) for k in around]
    margins = [math.degrees(np.angle(-complex(open_loop(loop, np.array(w))))) for w in crossovers]
    gains = [-20.0 * math.log10(abs(complex(open_loop(loop, np.array(w))))) for w in reversals]
    crossover = int(np.argmin(np.abs(margins))) if margins else None
    reversal = int(np.argmin(np.abs(gains))) if gains else None
    return FrequencyResponse(
        frequency=frequency,
        magnitude_db=20.0 * np.log10(np.abs(response)),
        phase_deg=np.degrees(phase - 2.0 * math.pi * round(phase[0] / (2.0 * math.pi))),
        dc_gain=math.inf if integrates else abs(complex(open_loop(loop, np.array(0.0)))),
        crossover_frequency=math.nan if crossover is None else crossovers[crossover],
        phase_margin_deg=math.inf if crossover is None else margins[crossover],
        phase_crossover_frequency=math.nan if reversal is None else reversals[reversal],
        gain_margin_db=math.inf if reversal is None else gains[reversal],
        open_poles=open_poles,
        closed_poles=closed_poles,
    )
