"""Rows: all that acts along one direction of motion, and the impulse that satisfies it.

Along a row with Jacobian J and speed J v there may be, together,

- a *spring*: impulse g (b - J v), limited to [spring_lower, spring_upper], where g is the inverse of the compliance
  C. A spring k with damper d and gap phi is g = h (h k + d), b = -k phi / (h k + d); a mass m of its own speed w (a
  piston) is g = m, b = w;
- a *hold*: any impulse within [-hold_bound, hold_bound] that keeps J v at hold_speed (dry friction, a brake);
- *stops*: any impulse that keeps J v within [slowest, fastest].

They share their direction, so that they are solved together in closed form. Separate rows would be as many Gauss-Seidel
unknowns, which converge slowly whenever the spring is stiff compared to the mass of the load.

Rows act on the whitened velocity u = L v by the whitened Jacobian W = L^-T J^T: see `multibody.factorisation`.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.multibody.factorisation import solve_transposed_row

# A row with less inverse mass than this is immovable: an impulse along it changes nothing [1/kg].
IMMOVABLE = 1e-14


class Rows(NamedTuple):
    """Rows of the current step; the first `count[0]` are valid.

    Attributes:
        count: number of rows, (1,).
        joint_end: those of actuators and joints are before this one, (1,).
        slot: index of the stored impulse between steps.
        first, last: the Jacobians have entries in range(first, last) only; outside it they are not set.
        jacobian: J, (rows, coordinates).
        whitened_jacobian: W, (rows, coordinates).
        inverse_mass: W.W [1/kg or 1/(kg m2)].
        conductance, target, spring_lower, spring_upper: g, b and limits of the spring; g = 0 for none.
        hold_bound, hold_speed: of the hold; bound 0 for none.
        slowest, fastest: speeds that the stops allow; infinite for none.
        impulse: the total impulse along the row [N s or N m s].
        shift: mean speed over the step that leaves no position error.
        shift_lower, shift_upper: bounds of the impulse in the position pass; both 0: the row has no position error.
    """

    count: np.ndarray
    joint_end: np.ndarray
    slot: np.ndarray
    first: np.ndarray
    last: np.ndarray
    jacobian: np.ndarray
    whitened_jacobian: np.ndarray
    inverse_mass: np.ndarray
    conductance: np.ndarray
    target: np.ndarray
    spring_lower: np.ndarray
    spring_upper: np.ndarray
    hold_bound: np.ndarray
    hold_speed: np.ndarray
    slowest: np.ndarray
    fastest: np.ndarray
    impulse: np.ndarray
    shift: np.ndarray
    shift_lower: np.ndarray
    shift_upper: np.ndarray


def make_rows(most: int, coordinates: int) -> Rows:
    """Arrays for `most` rows over `coordinates` coordinate rates."""
    return Rows(
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, coordinates)),
        np.zeros((most, coordinates)),
        *[np.zeros(most) for _ in range(13)],
    )


@kernel
def dot(a, b):
    """Scalar product of two vectors."""
    total = 0.0
    for d in range(a.shape[0]):
        total += a[d] * b[d]
    return total


@kernel
def speed_along(rows: Rows, r, u):
    """Speed along row r at the whitened velocity u."""
    row, total = rows.whitened_jacobian[r], 0.0
    # Unsigned, as in `multibody.factorisation`.
    for d in range(np.uintp(rows.first[r]), np.uintp(rows.last[r])):
        total += row[d] * u[d]
    return total


@kernel
def push_along(rows: Rows, r, impulse, u):
    """Adds an impulse along row r to the whitened velocity u."""
    row = rows.whitened_jacobian[r]
    for d in range(np.uintp(rows.first[r]), np.uintp(rows.last[r])):
        u[d] += impulse * row[d]


@inlined
def open_row(rows: Rows, slot, impulse, first, last):
    """Starts a row with a zero Jacobian over range(first, last) and nothing acting along it; returns its index."""
    r = rows.count[0]
    rows.count[0] = r + 1
    rows.slot[r] = slot
    rows.first[r], rows.last[r] = first, last
    for d in range(first, last):
        rows.jacobian[r, d] = 0.0
    rows.conductance[r] = 0.0
    rows.target[r] = 0.0
    rows.spring_lower[r] = -np.inf
    rows.spring_upper[r] = np.inf
    rows.hold_bound[r] = 0.0
    rows.hold_speed[r] = 0.0
    rows.slowest[r] = -np.inf
    rows.fastest[r] = np.inf
    rows.impulse[r] = impulse
    rows.shift[r] = 0.0
    rows.shift_lower[r] = 0.0
    rows.shift_upper[r] = 0.0
    return r


@inlined
def close_row(rows: Rows, r, model, factor):
    """Whitens the Jacobian of row r and computes its inverse mass."""
    for d in range(rows.first[r], rows.last[r]):
        rows.whitened_jacobian[r, d] = rows.jacobian[r, d]
    rows.inverse_mass[r] = solve_transposed_row(model, factor, rows.whitened_jacobian, r, rows.first[r], rows.last[r])


@inlined
def hold_against(rows: Rows, r, bound, mass, speed):
    """Lets row r push as dry friction that a motion against the row overcomes, and a mass that this motion takes along.

    While the speed v along the row is below zero the impulse is bound + m (w - v), but never below zero; at rest any
    one from 0 to what it is there; above zero none. It is a hold about a push that is as large, a spring that pushes at
    least so much.

    Args:
        rows, r: the row.
        bound: impulse of the friction [N s].
        mass: m, 0 for none [kg].
        speed: w, at which the mass moves before, along the row, not above zero [m/s].
    """
    half = 0.5 * max(bound + mass * speed, 0.0)
    rows.hold_bound[r] = rows.spring_lower[r] = half
    rows.conductance[r] = mass
    if mass > 0.0:
        rows.target[r] = speed + (bound - half) / mass


@kernel
def spring_impulse(rows: Rows, r, speed):
    """Impulse of the spring of row r at a speed along the row [N s or N m s]."""
    return min(max(rows.conductance[r] * (rows.target[r] - speed), rows.spring_lower[r]), rows.spring_upper[r])


@kernel
def row_speed(rows: Rows, r, speed, inverse_mass):
    """Speed along row r with everything that acts along it.

    Solves v = s + K (spring(v) + hold(v) + stops(v)); the right side decreases with v, so that the solution is unique.

    Args:
        rows: the rows.
        r: index of the row.
        speed: s, the speed without this row's impulse.
        inverse_mass: K = J M^-1 J^T.
    """
    g, b = rows.conductance[r], rows.target[r]
    held = rows.hold_speed[r]
    grip = inverse_mass * rows.hold_bound[r]
    slip = speed + inverse_mass * spring_impulse(rows, r, held) - held
    if abs(slip) <= grip and grip > 0.0:
        v = held
    else:
        if slip > 0.0:
            free = speed - grip
        else:
            free = speed + grip
        v = (free + inverse_mass * g * b) / (1.0 + inverse_mass * g)
        spring = g * (b - v)
        if spring > rows.spring_upper[r]:
            v = free + inverse_mass * rows.spring_upper[r]
        elif spring < rows.spring_lower[r]:
            v = free + inverse_mass * rows.spring_lower[r]
    return min(max(v, rows.slowest[r]), rows.fastest[r])


@kernel
def row_slope(rows: Rows, r, v, inverse_mass):
    """Derivative of `row_speed` by the speed without the row's impulse, at its result v."""
    if v <= rows.slowest[r] or v >= rows.fastest[r]:
        return 0.0
    if v == rows.hold_speed[r] and rows.hold_bound[r] > 0.0:
        return 0.0
    g = rows.conductance[r]
    if not rows.spring_lower[r] < g * (rows.target[r] - v) < rows.spring_upper[r]:
        return 1.0
    return 1.0 / (1.0 + inverse_mass * g)
