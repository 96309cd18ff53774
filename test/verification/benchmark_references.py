"""References of the multibody benchmarks, by equations that share nothing with the simulation.

Closed forms, equations reduced to one coordinate, and accelerations from the constraints' second derivatives (index 1)
in coordinates other than the simulation's, integrated by scipy to a tolerance of 1e-10 or finer.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

GRAVITY = 9.81


def pendulum_angle(times):
    """Angle of a pendulum of 1 m that is let go at pi/2, by Jacobi's elliptic functions."""
    modulus = math.sin(math.pi / 4.0)
    _, cn, dn, _ = ellipj(math.sqrt(GRAVITY) * np.asarray(times), modulus**2)
    return 2.0 * np.arcsin(modulus * cn / dn)


def pendulum_period():
    """Its period, 4 K(k) sqrt(l/g)."""
    return 4.0 * ellipk(0.5) / math.sqrt(GRAVITY)


def four_bar_angle(windows, times):
    """Angle of the rods of parallelograms in a row: one equation, since they stay parallel."""
    moment, inertia = GRAVITY * (0.5 * (windows + 1) + windows), (windows + 1) / 3.0 + windows
    solution = solve_ivp(
        lambda _, y: (y[1], moment / inertia * math.sin(y[0])),
        *((0.0, max(times)), (0.0, -1.0)),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    )
    return solution.y[0]


# --- Andrews' squeezing mechanism, by places and angles of seven free bodies and twenty constraints ------------------

# Masses, moments of inertia and centres of mass of the bodies 1 to 7, in frames at the joints of the test set.
ANDREWS_MASS = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])
ANDREWS_INERTIA = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
ANDREWS_CENTER = np.array(
    [
        (0.00092, 0.0),
        (-0.0115, 0.0),
        (0.01043, -0.01874),
        (0.0, -(0.02 - 0.01421)),
        (0.02308, 0.00916),
        (0.02 - 0.01421, 0.0),
        (-0.00449, -0.01228),
    ]
)
ANDREWS_START = np.array(
    [
        *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885),
        *(0.487364979543842550, -0.222668390165885885, 1.23054744454982120),
    ]
)
_A, _B, _C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
_O, _SPRING_END = np.zeros(2), np.array([0.02, -0.018])
# Pins: body (-1: ground) and place in its frame, twice.
_PINS = (
    (-1, _O, 0, _O),
    (0, (0.007, 0.0), 1, _O),
    (-1, _B, 2, _O),
    (-1, _A, 4, _O),
    (4, (0.04, 0.0), 3, _O),
    (-1, _A, 6, _O),
    (6, (0.0, -0.04), 5, _O),
    (1, (-0.028, 0.0), 2, (0.0, -0.035)),
    (1, (-0.028, 0.0), 3, (0.0, -0.02)),
    (1, (-0.028, 0.0), 5, (0.02, 0.0)),
)


def _arm(angle, place):
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([cosine * place[0] - sine * place[1], sine * place[0] + cosine * place[1]])


def _andrews_frames(angles):
    """Angles of the seven bodies and places of their frames, from the angles of the test set."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    turns = np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    places = np.array(
        [
            *(_O, _arm(beta, (0.007, 0.0)), _B, _A + _arm(delta, (0.04, 0.0)), _A),
            *(_A + _arm(epsilon, (0.0, -0.04)), _A),
        ]
    )
    return turns, places


def _andrews_acceleration(_, y):
    place, turn, rate = y[:14].reshape(7, 2), y[14:21], y[35:42]
    force, moment = np.zeros((7, 2)), np.zeros(7)
    moment[0] = 0.033
    lever = _arm(turn[2], _SPRING_END - ANDREWS_CENTER[2])
    reach = place[2] + lever - _C
    length = math.hypot(*reach)
    pull = -4530.0 * (length - 0.07785) / length * reach
    force[2] = pull
    moment[2] = lever[0] * pull[1] - lever[1] * pull[0]
    jacobian, target = np.zeros((20, 21)), np.zeros(20)
    for p, (one, at_one, other, at_other) in enumerate(_PINS):
        rows = slice(2 * p, 2 * p + 2)
        for sign, body, at in ((1.0, one, at_one), (-1.0, other, at_other)):
            if body >= 0:
                arm = _arm(turn[body], at - ANDREWS_CENTER[body])
                jacobian[rows, 2 * body : 2 * body + 2] += sign * np.eye(2)
                jacobian[rows, 14 + body] += sign * np.array([-arm[1], arm[0]])
                target[rows] += sign * arm * rate[body] ** 2
    inverse = 1.0 / np.concatenate([np.repeat(ANDREWS_MASS, 2), ANDREWS_INERTIA])
    applied = np.concatenate([force.ravel(), moment])
    weighted = jacobian * inverse
    forces = np.linalg.solve(weighted @ jacobian.T, target - weighted @ applied)
    return np.concatenate([y[21:], inverse * (applied + jacobian.T @ forces)])


def andrews_angles(times):
    """The seven angles of the test set at some times, (times, 7)."""
    turns, places = _andrews_frames(ANDREWS_START)
    centers = [place + _arm(turn, at) for place, turn, at in zip(places, turns, ANDREWS_CENTER, strict=True)]
    start = np.concatenate([np.ravel(centers), turns, np.zeros(21)])
    solution = solve_ivp(
        *(_andrews_acceleration, (0.0, max(times)), start), method="DOP853", t_eval=times, rtol=1e-11, atol=1e-12
    )
    beta, beta_theta, gamma, phi_delta, delta, omega_epsilon, epsilon = solution.y[14:21]
    return np.column_stack([beta, beta_theta - beta, gamma, phi_delta - delta, delta, omega_epsilon - epsilon, epsilon])


# --- Bricard's mechanism, by the angles of an open chain and the constraints of its end -------------------------------

_EDGES = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0)], dtype=float)
_TURN_AXES = np.eye(3)[[1, 2, 0, 1, 2]]
_STABLE = 10.0  # rate at which gaps close [1/s]


def _turn(axis, angle):
    x, y, z = axis
    across = np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
    return np.eye(3) + math.sin(angle) * across + (1.0 - math.cos(angle)) * across @ across


def _bricard_acceleration(_, y):
    q, v = y[:5], y[5:]
    mass, force = np.zeros((5, 5)), np.zeros(5)
    axes, places = np.zeros((5, 3)), np.zeros((5, 3))
    turn, place = np.eye(3), np.zeros(3)
    spin, spin_change, place_change = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(5):
        axes[k], places[k] = turn @ _TURN_AXES[k], place
        spin_change = spin_change + np.cross(spin, axes[k] * v[k])
        spin = spin + axes[k] * v[k]
        turn = turn @ _turn(_TURN_AXES[k], q[k])
        edge = turn @ _EDGES[k]
        center = place + 0.5 * edge
        center_change = place_change + _swing(spin, spin_change, 0.5 * edge)
        angular = np.where(np.arange(5) <= k, axes.T, 0.0)
        linear = np.cross(angular, (center - places).T, axis=0)
        inertia = (1.0 / 12.0) * (np.eye(3) - np.outer(edge, edge)) + 1e-5 * np.eye(3)
        mass += linear.T @ linear + angular.T @ inertia @ angular
        gyration = inertia @ spin_change + np.cross(spin, inertia @ spin)
        force += linear.T @ (np.array([0.0, -GRAVITY, 0.0]) - center_change) - angular.T @ gyration
        place = place + edge
        place_change = place_change + _swing(spin, spin_change, edge)
    # the end stays at its corner, and the axis of the last joint along x
    axis = turn @ np.array([1.0, 0.0, 0.0])
    reach = np.cross(axes, place - places).T
    swing = np.cross(axes, axis).T
    jacobian = np.vstack([reach, swing[1:]])
    # Baumgarte's terms keep rounding from growing; they are zero on the exact motion
    gap = np.concatenate([place - _EDGES.sum(axis=0), axis[1:]])
    target = -np.concatenate([place_change, _swing(spin, spin_change, axis)[1:]])
    target -= 2.0 * _STABLE * (jacobian @ v) + _STABLE**2 * gap
    system = np.block([[mass, jacobian.T], [jacobian, np.zeros((5, 5))]])
    # one constraint is redundant: least squares
    solved = np.linalg.lstsq(system, np.concatenate([force, target]), rcond=1e-9)[0]
    return np.concatenate([v, solved[:5]])


def _swing(spin, spin_change, arm):
    """Part of the acceleration of an arm's end that the rates alone give."""
    return np.cross(spin_change, arm) + np.cross(spin, np.cross(spin, arm))


def bricard_coordinates(times):
    """The five angles and the fourth corner at some times, (times, 8)."""
    solution = solve_ivp(
        *(_bricard_acceleration, (0.0, max(times)), np.zeros(10)),
        method="DOP853",
        t_eval=times,
        rtol=1e-10,
        atol=1e-11,
    )
    rows = []
    for angles in solution.y[:5].T:
        turn, place = np.eye(3), np.zeros(3)
        for k in range(3):
            turn = turn @ _turn(_TURN_AXES[k], angles[k])
            place = place + turn @ _EDGES[k]
        rows.append([*angles, *place])
    return np.array(rows)


# --- the flyball governor, by its three coordinates: both sides do the same ------------------------------------------


class Governor:
    """Lagrange's equations of the flyball governor in the slider's height s and the rods' angle a, with the shaft's
    constant angular momentum."""

    def __init__(self, stiffness=8e5, damping=4e4, speed=2.0 * math.pi):
        self.stiffness, self.damping = stiffness, damping
        self.rod, self.ball, self.block = 0.3, 5.0, 3.0
        # of the rod: about its own axis, across it through its middle; of shaft and slider about the vertical
        self.along, self.across = self.rod * 2e-4 / 12.0, self.rod * (1.0 + 1e-4) / 12.0
        self.turning = 0.3 * 2e-4 / 12.0 + self.block * 0.02 / 12.0
        self.hinged = self.across + 0.25 * self.rod + self.ball
        self.momentum = self.inertia(math.pi / 6.0)[0] * speed

    def inertia(self, a):
        """Moment of inertia about the shaft [kg m2], and its derivative by a."""
        cosine, sine = math.cos(a), math.sin(a)
        middle, end = 0.05 + 0.5 * cosine, 0.05 + cosine
        own = self.along * sine**2 + self.across * cosine**2
        whole = self.turning + 2.0 * (self.rod * middle**2 + self.ball * end**2 + own)
        slope = 2.0 * (self.along - self.across) * sine * cosine - (self.rod * middle + 2.0 * self.ball * end) * sine
        return whole, 2.0 * slope

    def rates(self, _, y):
        """Rates of (turn of the shaft, s, a, s', a')."""
        _, s, a, s_rate, a_rate = y
        cosine, sine = math.cos(a), math.sin(a)
        across, rise = 0.5 * cosine, 1.0 - 0.5 * sine - s
        length = math.hypot(across, rise)
        by_s, by_a = -rise / length, -0.5 * (across * sine + rise * cosine) / length
        pull = self.stiffness * (length - 0.5) + self.damping * (by_s * s_rate + by_a * a_rate)
        whole, slope = self.inertia(a)
        speed = self.momentum / whole
        weight = GRAVITY * cosine * (self.rod + 2.0 * self.ball)
        s_change = (-2.0 * pull * by_s - self.block * GRAVITY) / self.block
        a_change = (0.5 * slope * speed**2 + weight - 2.0 * pull * by_a) / (2.0 * self.hinged)
        return np.array([speed, s_rate, a_rate, s_change, a_change])

    def coordinates(self, times):
        """Turn of the shaft, height of the slider and angles of both rods at some times, (times, 4)."""
        start = (0.0, 0.5, math.pi / 6.0, 0.0, 0.0)
        solution = solve_ivp(
            *(self.rates, (0.0, max(times)), start),
            method="Radau",
            t_eval=times,
            rtol=1e-10,
            atol=1e-12,
            jac=self._jacobian,
        )
        return solution.y[[0, 1, 2, 2]].T

    def _jacobian(self, time, y):
        """Central differences of the rates; those of scipy overflow where a rate does not depend on a variable."""
        steps = 1e-6 * np.eye(5)
        return np.column_stack([(self.rates(time, y + d) - self.rates(time, y - d)) / 2e-6 for d in steps])
