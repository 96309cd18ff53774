"""The loader crane with a flexible boom in equations of its own, by Radau; cylinder, valve and oil are those of
`hydraulic_crane_equations`.

The boom is a beam in the plane. A point x of its axis is at (x + u - 1/2 int w'2 dx, w) in axes that turn with the
tangent at the pivot; w is cubic and u linear on either side of the cylinder's eye, in truncated powers.
"""

import math
from itertools import pairwise

import numpy as np
from hydraulic_crane_equations import BARREL, GRAVITY, ROD, START, force_of, oil_rates, start_pressures
from scipy.integrate import solve_ivp

LENGTH, EYE = 1.0, 0.5
UP = np.array([0.0, GRAVITY])
HEIGHT, WIDTH, WALL, MODULUS, DAMPING = 0.1, 0.08, 0.006, 210e9, 1e-5
AREA = HEIGHT * WIDTH - (HEIGHT - 2 * WALL) * (WIDTH - 2 * WALL)
SECOND_MOMENT = (WIDTH * HEIGHT**3 - (WIDTH - 2 * WALL) * (HEIGHT - 2 * WALL) ** 3) / 12


def _bending(x, derivative):
    """x2, x3 and their truncated powers beyond the eye, or derivatives of them, (points, 4)."""
    beyond = np.maximum(x - EYE, 0.0)
    rows = []
    for z in (x, beyond):
        rows += [[z**2, z**3], [2 * z, 3 * z**2], [np.where(z > 0, 2.0, 0.0), 6 * z]][derivative]
    return np.array(rows).T


class Crane:
    """Mass points and stiffness of the boom, and the equations of motion.

    Coordinates: tangent at the pivot, u (2), w (4), angle of the payload's rod from the downward vertical; without
    `flexible` the middle ones are left out.
    """

    def __init__(self, payload, boom, modulus, friction, flexible=True):
        self.payload, self.modulus, self.friction = payload, modulus, friction
        node, weight = np.polynomial.legendre.leggauss(8)
        half = 0.25 * LENGTH
        gauss = np.concatenate([half * (node + 1), half * (node + 3)])
        weight = np.tile(half * weight, 2)
        self.place = np.concatenate([gauss, [EYE, LENGTH]])
        self.mass = np.concatenate([boom / LENGTH * weight, [0.0, 0.0]])
        self.weight = np.repeat(self.mass, 2)[:, None]
        self.along = np.array([self.place, np.maximum(self.place - EYE, 0.0)]).T
        self.across = _bending(self.place, 0)
        self.lost = np.array([_squares(x) for x in self.place])
        curvature, slope = _bending(gauss, 2), np.array([np.ones_like(gauss), gauss > EYE]).T
        self.stiffness = np.zeros((6, 6))
        self.stiffness[:2, :2] = MODULUS * AREA * (weight[:, None] * slope).T @ slope
        self.stiffness[2:, 2:] = MODULUS * SECOND_MOMENT * (weight[:, None] * curvature).T @ curvature
        self.free = np.arange(8) if flexible else np.array([0, 7])
        self.block = np.ix_(self.free, self.free)

    def rates(self, time, state, command):
        at, n = np.zeros(8), len(self.free)
        speed = np.zeros(8)
        at[self.free], speed[self.free] = state[:n], state[n : 2 * n]
        spool, p1, p2 = state[2 * n :]
        place, columns, bias = self.points(at, speed)
        rows = columns.reshape(-1, 8)
        mass = (self.weight * rows).T @ rows
        right = -((bias + UP).ravel() @ (self.weight * rows))
        rod = ROD * np.array([math.cos(at[7]), math.sin(at[7])])
        hung = columns[-1].copy()
        hung[:, 7] = rod
        swinging = bias[-1] + speed[7] ** 2 * ROD * np.array([-math.sin(at[7]), math.cos(at[7])])
        mass += self.payload * hung.T @ hung
        right -= self.payload * hung.T @ (swinging + UP)
        right[1:7] -= self.stiffness @ (at[1:7] + DAMPING * speed[1:7])
        from_barrel = place[-2] - [BARREL, 0.0]
        length = math.hypot(*from_barrel)
        lever = from_barrel @ columns[-2] / length
        stroke_rate = float(lever @ speed)
        right += lever * force_of(length, stroke_rate, p1, p2, self.friction)
        turned = np.linalg.solve(mass[self.block], right[self.free])
        return [*speed[self.free], *turned, *oil_rates(time, length, stroke_rate, spool, p1, p2, command, self.modulus)]

    def points(self, at, speed):
        """Places of the points (n, 2), their Jacobians (n, 2, 8), and accelerations at constant rates (n, 2)."""
        u, w, up, wp = at[1:3], at[3:7], speed[1:3], speed[3:7]
        bent = self.lost @ w
        local = np.stack([self.place + self.along @ u - 0.5 * bent @ w, self.across @ w], axis=1)
        moving = np.zeros((len(self.place), 2, 8))
        moving[:, 0, 1:3], moving[:, 0, 3:7], moving[:, 1, 3:7] = self.along, -bent, self.across
        rate = np.stack([self.along @ up - bent @ wp, self.across @ wp], axis=1)
        change = np.stack([-(self.lost @ wp) @ wp, np.zeros(len(self.place))], axis=1)
        c, s = math.cos(at[0]), math.sin(at[0])
        turn, quarter = np.array([[c, -s], [s, c]]), np.array([[0.0, -1.0], [1.0, 0.0]])
        moving[:, :, 0] = local @ quarter.T
        bias = change + 2 * speed[0] * rate @ quarter.T - speed[0] ** 2 * local
        return local @ turn.T, turn @ moving, bias @ turn.T

    def deflections(self, states):
        """Of the tip from the tangent at the pivot."""
        return self.across[-1] @ states[3:7]

    def motion(self, command, times):
        """States at the times, from the straight boom at rest, (states, times)."""
        n = len(self.free)
        boom = self.mass.sum()
        start = np.zeros(2 * n + 3)
        start[0] = START
        start[-2:] = start_pressures((boom / 2 + self.payload) * GRAVITY)
        corners = sorted({0.0, times[-1], *(t for t, _ in command if t < times[-1])})
        found = np.empty((len(start), len(times)))
        size = np.concatenate([np.full(n, 1e-10), np.full(n, 1e-7), [1e-8, 1.0, 1.0]])
        for first, last in pairwise(corners):
            inside = (times >= first) & (times <= last)
            result = solve_ivp(
                *(self.rates, (first, last), start, "Radau"),
                t_eval=np.union1d(times[inside], [last]),
                args=(command,),
                rtol=1e-6,
                atol=size,
            )
            assert result.success
            found[:, inside] = result.y[:, np.isin(result.t, times[inside])]
            start = result.y[:, -1]
        return found


def _squares(x):
    """Integral of the products of the slopes from the start to x."""
    total = np.zeros((4, 4))
    node, weight = np.polynomial.legendre.leggauss(6)
    for first, last in ((0.0, min(x, EYE)), (EYE, x)):
        if last > first:
            slope = _bending(first + 0.5 * (last - first) * (node + 1), 1)
            total += 0.5 * (last - first) * (weight[:, None] * slope).T @ slope
    return total
