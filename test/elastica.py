"""A beam on a spinning hub by equations that share nothing with the simulation: slopes are polynomials of the place.

The beam of the rotating beam's experiment does not stretch. `spin_up` is geometrically exact; `spinning_frequencies` is
linear, with the centrifugal tension.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

LENGTH, AREA, SECOND_MOMENT, DENSITY, MODULUS = 8.0, 7.2968e-5, 8.2189e-9, 2766.7, 6.8952e10
LINE_MASS = DENSITY * AREA
_RATE, _SPIN_UP = 4.0, 15.0
_POINTS = 24

_place, _weight = np.polynomial.legendre.leggauss(_POINTS)
X, WEIGHT = 0.5 * LENGTH * (_place + 1.0), 0.5 * LENGTH * _weight
_to_polynomial = np.linalg.inv(np.polynomial.legendre.legvander(_place, _POINTS - 1))


def _integral_to(ends):
    """Matrix of integrals from the start of the beam, of a function given at X; ends from -1 to 1."""
    parts = [np.polynomial.legendre.legint(row, lbnd=-1) for row in np.eye(_POINTS)]
    return 0.5 * LENGTH * np.array([np.polynomial.legendre.legval(ends, part) for part in parts]).T @ _to_polynomial


TO_X, TO_END = _integral_to(_place), _integral_to(np.ones(1))[0]


def _slopes(functions):
    """Slopes and curvatures of the functions at X."""
    power = np.arange(1, functions + 1)
    share = (X / LENGTH)[:, None]
    return share**power, power * share ** (power - 1) / LENGTH


def _rotation(t):
    """Rate and acceleration of the hub."""
    if t >= _SPIN_UP:
        return _RATE, 0.0
    turn = 2.0 * math.pi * t / _SPIN_UP
    return _RATE * (turn - math.sin(turn)) / (2.0 * math.pi), _RATE / _SPIN_UP * (1.0 - math.cos(turn))


def spin_up(functions):
    """Times, and deflection of the tip in the hub's axes."""
    slope, curvature = _slopes(functions)
    stiffness = MODULUS * SECOND_MOMENT * (WEIGHT[:, None] * curvature).T @ curvature

    def change(t, state):
        angle, rate = slope @ state[:functions], slope @ state[functions:]
        cosine, sine = np.cos(angle), np.sin(angle)
        x, y = TO_X @ cosine, TO_X @ sine
        by_x, by_y = TO_X @ (-sine[:, None] * slope), TO_X @ (cosine[:, None] * slope)
        speed_x, speed_y = TO_X @ (-sine * rate), TO_X @ (cosine * rate)
        turning, faster = _rotation(t)
        along = TO_X @ (-cosine * rate**2) - 2.0 * turning * speed_y - turning**2 * x - faster * y
        across = TO_X @ (-sine * rate**2) + 2.0 * turning * speed_x - turning**2 * y + faster * x
        mass = LINE_MASS * ((WEIGHT[:, None] * by_x).T @ by_x + (WEIGHT[:, None] * by_y).T @ by_y)
        force = -LINE_MASS * (by_x.T @ (WEIGHT * along) + by_y.T @ (WEIGHT * across)) - stiffness @ state[:functions]
        return np.concatenate([state[functions:], np.linalg.solve(mass, force)])

    times = np.linspace(0.0, 20.0, 1001)
    states = solve_ivp(
        change, (0.0, 20.0), np.zeros(2 * functions), method="DOP853", rtol=1e-6, atol=1e-9, t_eval=times
    ).y
    return times, TO_END @ np.sin(slope @ states[:functions])


def spinning_frequencies(rate, functions):
    """Frequencies of bending in the plane of rotation [rad/s]: K + rate2 (D - M) by M, D of the tension."""
    slope, curvature = _slopes(functions)
    value = TO_X @ slope
    mass = LINE_MASS * (WEIGHT[:, None] * value).T @ value
    tension = 0.5 * LINE_MASS * (LENGTH**2 - X**2)
    stiffness = MODULUS * SECOND_MOMENT * (WEIGHT[:, None] * curvature).T @ curvature
    stiffness += rate**2 * ((WEIGHT[:, None] * slope).T @ (tension[:, None] * slope) - mass)
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True))
