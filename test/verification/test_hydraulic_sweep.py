"""Lifts of varied parameters: to the upper stop, held, and down to the lower one, against Radau."""

import functools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from grouser import experiments

TANK, BETA, DENSITY, GRAVITY = 1e5, 1.4e9, 850.0, 9.81
# Tolerances of the published case: stroke time 0.5 %, steady speed 0.2 %, steady pressures 0.5 %.
STROKE_TIME, SPEED, STEADY_PRESSURE = 0.005, 0.002, 0.005
# Tolerance of a sub-step, and absolute tolerance where a chamber is almost empty [Pa].
FLOOR = 1e4
GAS = 1e-8 * 1e5
FREE, LOWER, UPPER = range(3)
# The published lift, and the factor by which its parameters are varied.
BASE = {
    "load_mass": 100.0,
    "bore": 0.04,
    "rod_diameter": 0.025,
    "stroke": 0.5,
    "dead_volume_piston_side": 1e-4,
    "dead_volume_rod_side": 1e-4,
    "supply_pressure": 10e6,
    "spool_travel": 2e-4,
    "tank_underlap": 0.05,
    "viscous_friction": 2000.0,
    "valve_frequency": 120.0,
}
SPREAD = 1.3
# Up and held at the stop, neutral, down and held: [s, -].
SCHEDULE = [[0.0, 0.0], [0.1, 1.0], [5.0, 1.0], [5.2, 0.0], [5.7, 0.0], [6.2, -1.0], [10.0, -1.0]]


def other_lift(seed):
    """Parameters that are each up to `SPREAD` times more or less than the published ones; the rod stays in the bore."""
    factors = np.random.default_rng(seed).uniform(-1.0, 1.0, len(BASE))
    drawn = {name: value * SPREAD**factor for (name, value), factor in zip(BASE.items(), factors, strict=True)}
    drawn["rod_diameter"] = min(drawn["rod_diameter"], 0.8 * drawn["bore"])
    return drawn


def pressure(content):
    """Pressure of a chamber at a normalised fluid mass, p / beta - a / p with a trace of gas."""
    half = 0.5 * BETA * content
    size = math.sqrt(half * half + BETA * GAS)
    return half + size if half > 0.0 else BETA * GAS / (size - half)


class Lift:
    """The equations of the lift, in intervals between the stops, which absorb the load's speed and hold it."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.area_a = math.pi / 4 * numbers["bore"] ** 2
        self.area_b = self.area_a - math.pi / 4 * numbers["rod_diameter"] ** 2
        self.gain = 0.62 * math.pi * 6e-3 * numbers["spool_travel"] * math.sqrt(2 / DENSITY)
        self.mode = LOWER

    def push(self, y):
        """Force on the load [N]."""
        _, _, content_a, content_b, _, v = y
        a, b = pressure(content_a), pressure(content_b)
        weight = self.numbers["load_mass"] * GRAVITY
        return self.area_a * a - self.area_b * b - self.numbers["viscous_friction"] * v - weight

    def rates(self, t, y):
        """Rates of spool (5), fluid masses of the chambers (2) with their edges (3), (4), and load."""
        spool, rate, content_a, content_b, x, v = y
        a, b = pressure(content_a), pressure(content_b)
        n, frequency = self.numbers, self.numbers["valve_frequency"]
        supply, under = n["supply_pressure"], n["tank_underlap"]

        def flow(drop):
            return drop / (drop * drop + 1e6) ** 0.25

        in_a, in_b = max(spool - 0.05, 0.0) * flow(supply - a), max(-spool - 0.05, 0.0) * flow(supply - b)
        out_a, out_b = max(under - spool, 0.0) * flow(a - TANK), max(under + spool, 0.0) * flow(b - TANK)
        volume_a = n["dead_volume_piston_side"] + self.area_a * x
        volume_b = n["dead_volume_rod_side"] + self.area_b * (n["stroke"] - x)
        free = self.mode == FREE
        return [
            rate,
            frequency**2 * (np.interp(t, *np.transpose(SCHEDULE)) - spool) - 2 * frequency * rate,
            (self.gain * (in_a - out_a) - self.area_a * v) / volume_a,
            (self.gain * (in_b - out_b) + self.area_b * v) / volume_b,
            v,
            self.push(y) / (n["load_mass"] + 5.0) if free else 0.0,
        ]

    def events(self):
        """Events that end an interval: the load reaches a stop, or leaves it."""
        stroke = self.numbers["stroke"]
        chosen = {
            FREE: [lambda t, y: y[4], lambda t, y: stroke - y[4]],
            LOWER: [lambda t, y: -self.push(y)],
            UPPER: [lambda t, y: self.push(y)],
        }[self.mode]
        for event in chosen:
            event.terminal, event.direction = True, -1.0
        return chosen

    def settle(self, y, found):
        """The state after an event, and its mode."""
        y = np.array(y)
        if self.mode == FREE:
            self.mode = UPPER if found else LOWER
            y[4], y[5] = (self.numbers["stroke"] if found else 0.0), 0.0
        else:
            self.mode = FREE
        return y

    def run(self, times):
        """States at the times given, (6, times), and the times of contact with the stops."""
        y, now, columns, met = np.array([0.0, 0.0, TANK / BETA, TANK / BETA, 0.0, 0.0]), 0.0, [], []
        accuracy = {"rtol": 1e-8, "atol": 1e-11, "max_step": 1e-2, "dense_output": True}
        for end, _ in SCHEDULE[1:]:
            while now < end - 1e-12:
                solution = solve_ivp(self.rates, (now, end), y, "Radau", events=self.events(), **accuracy)
                assert solution.success
                inside = times[(times > now + 1e-12) & (times <= solution.t[-1] + 1e-12)]
                if len(inside):
                    columns.append(solution.sol(inside))
                y, now = solution.y[:, -1], solution.t[-1]
                if solution.status == 1:
                    y = self.settle(y, next(k for k, when in enumerate(solution.t_events) if len(when)))
                    if self.mode != FREE:
                        met.append((now, self.mode))
        return np.concatenate(columns, axis=1), met


@functools.cache
def states_and_stops(seed, times):
    """States of a lift at some times, (6, times), and the times of contact with the stops."""
    return Lift(other_lift(seed)).run(np.array(times))


# Some at each run of the tests; `make soak` has more.
SEEDS = [seed if seed < 4 else pytest.param(seed, marks=pytest.mark.soak) for seed in range(12)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
def test_lifts_with_varied_parameters(seed, scheme):
    numbers = other_lift(seed)
    result = experiments.run(
        "hydraulic_lift", **numbers, command=SCHEDULE, dry_friction=0.0, duration=SCHEDULE[-1][0], scheme=scheme
    )
    time = np.asarray(result["time"])[1:]
    expected, met = states_and_stops(seed, tuple(time))
    _, _, content_a, content_b, position, velocity = expected
    pressure_a, pressure_b = np.vectorize(pressure)(content_a), np.vectorize(pressure)(content_b)
    curves = ("position", "velocity", "pressure_piston_side", "pressure_rod_side")
    ours = {name: np.asarray(result[name])[1:] for name in curves}
    # steady: 0.3 s after the command has changed or a stop was met, until the next change
    changes = [moment for moment, _ in SCHEDULE] + [moment for moment, _ in met]
    steady = np.all([(time < change - 0.01) | (time > change + 0.3) for change in changes], axis=0)
    if scheme == "semi_implicit":
        # this scheme does not store the volume of cavities: the motion after them is not compared
        steady &= (time < 5.0) | (time > 7.0)
    assert UPPER in [stop for _, stop in met]
    assert steady.sum() > 2000
    assert result["full_stroke_time"] == pytest.approx(met[0][0], rel=STROKE_TIME)
    rising = steady & (time < met[0][0])
    assert ours["velocity"][rising] == pytest.approx(velocity[rising], rel=SPEED)
    for side, reference in (("pressure_piston_side", pressure_a), ("pressure_rod_side", pressure_b)):
        assert ours[side][steady] == pytest.approx(reference[steady], rel=STEADY_PRESSURE, abs=FLOOR)
    for moment, stop in met:
        # within a millimetre of the stop a step after the reference, and there until the next command
        place, held = (numbers["stroke"], 5.0) if stop == UPPER else (0.0, SCHEDULE[-1][0])
        assert ours["position"][(time > moment + 5e-3) & (time < held)] == pytest.approx(place, abs=1e-9)
    error = np.abs(ours["position"] - position).max()
    if scheme == "implicit":
        # a speed that is wrong by 0.2 % and 0.1 mm/s while the spool opens, and 1 % where cavities close
        assert error < 3e-5
        impacts = np.any([np.abs(time - moment) < 5e-3 for moment, _ in met], axis=0)
        for side, reference in (("pressure_piston_side", pressure_a), ("pressure_rod_side", pressure_b)):
            passes = 3.0 * (FLOOR + 2e-3 * numbers["supply_pressure"])
            assert np.abs(ours[side] - reference)[~impacts].max() < passes
    else:
        # sub-steps of 0.1 ms at 0.3 m/s, one by one; what a cavity has room for is not kept, a millimetre here
        assert error < (2e-4 if min(pressure_a.min(), pressure_b.min()) > 1.0 else 1e-3)
