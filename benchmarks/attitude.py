"""Cost of the integrators of rigid bodies: a step of each, and 100 s beside an adaptive solver."""

import statistics
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from grouser import RigidBody, simulate_body
from grouser.benchmarks.figure import Figure, alternating_times, cpu_time
from grouser.physics.base.spatial import skew
from grouser.studies.attitude.body import angular_acceleration
from grouser.studies.attitude.motion import METHODS

DESCRIPTION = "a step of the integrators of a rigid body, and 100 s of the 3D pendulum beside SciPy's DOP853"

_REPEATS = 7
_STEP, _STEPS, _DURATION = 0.01, 100_000, 100.0
_BODY = RigidBody(1.0, [0.13, 0.28, 0.17], [0.0, 0.0, 0.3], [0.0, 0.0, 9.81])
_RATE = (4.14, 4.14, 4.14)
# Of the peer: its energy is then about as wrong after 100 s as that of the Lie-group integrator.
_TOLERANCE = 3e-5


def run() -> list[Figure]:
    """Moves the 3D pendulum."""
    return [*_steps(), _hundred_seconds()]


def _steps() -> list[Figure]:
    """A step of each method; Euler angles would be singular."""
    methods = [method for method in METHODS if method != "euler_angles"]
    works = [partial(_move, method, _STEPS) for method in methods]
    for work in works:
        work()
    times = alternating_times(_REPEATS, *works)
    figures = []
    for method, taken in zip(methods, times, strict=True):
        micros = [1e6 * time / _STEPS for time in taken]
        details: dict[str, float | str] = {
            "step [s]": _STEP,
            "fastest [µs]": min(micros),
            "with": "errors of energy, momentum and rotation",
        }
        figures.append(Figure(f"step, {method}", statistics.median(micros), "µs", details=details))
    return figures


def _move(method: str, steps: int):
    return simulate_body(_BODY, np.eye(3), _RATE, _STEP, steps, method, every=steps)


def _hundred_seconds() -> Figure:
    """The Lie-group integrator, beside an adaptive Runge-Kutta method of eighth order whose right side is compiled."""
    numbers, steps = _BODY.numbers(), round(_DURATION / _STEP)

    def rates(time: float, state: np.ndarray) -> np.ndarray:
        rotation, rate = state[:9].reshape(3, 3), state[9:]
        acceleration = angular_acceleration(numbers, rotation, *rate, 0.0, 0.0, 0.0)
        return np.concatenate([(rotation @ skew(rate)).ravel(), acceleration])

    start = np.concatenate([np.eye(3).ravel(), _RATE])
    solve = partial(solve_ivp, rates, (0.0, _DURATION), start, "DOP853", rtol=_TOLERANCE, atol=_TOLERANCE)
    found = solve()
    rotation, rate = found.y[:9].T.reshape(-1, 3, 3), found.y[9:].T
    energy = 0.5 * np.einsum("ki,ij,kj->k", rate, _BODY.inertia, rate)
    energy -= _BODY.mass * np.einsum("i,kij,j->k", _BODY.gravity, rotation, _BODY.offset)
    apart = np.einsum("kji,kjl->kil", rotation, rotation) - np.eye(3)
    ours = _move("lie_group_variational", steps)
    taken = statistics.median(cpu_time(partial(_move, "lie_group_variational", steps)) for _ in range(_REPEATS))
    theirs = statistics.median(cpu_time(solve) for _ in range(3))
    details = {
        "energy error [J]": ours.max_energy_error,
        "energy error, peer [J]": float(np.abs(energy - energy[0]).max()),
        "rotation error": ours.max_constraint_error,
        "rotation error, peer": float(np.linalg.norm(apart, axis=(1, 2)).max()),
        "evaluations, peer": int(found.nfev),
    }
    return Figure("3D pendulum, 100 s", 1e3 * taken, "ms", "SciPy DOP853", 1e3 * theirs, details)
