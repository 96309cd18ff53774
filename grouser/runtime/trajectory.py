"""A joint trajectory: motion through waypoints, and how far a machine may be off it."""

import itertools
import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Waypoint:
    """Where some joints are at one time.

    Attributes:
        time: since the trajectory began [s].
        position: shape (joints,) [rad or m].
        velocity: shape (joints,) [rad/s or m/s]; None: not specified.
        acceleration: shape (joints,) [rad/s2 or m/s2]; None: not specified, as always without a velocity.
    """

    time: float
    position: np.ndarray
    velocity: np.ndarray | None = None
    acceleration: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Waypoints of some joints.

    Attributes:
        joints: their names, each once.
        waypoints: at least one, in order of time, the first at 0 or later.
        start: simulation time from which the waypoints count [s]; None: now.
    """

    joints: tuple[str, ...]
    waypoints: tuple[Waypoint, ...]
    start: float | None = None


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Position, velocity and acceleration of joints at one time, shape (joints,) each [rad or m, s]."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Spline:
    """A motion through waypoints.

    Between two waypoints it is linear; cubic where both have velocities; quintic where both have accelerations too.
    Before the first and after the last waypoint it is at rest.

    Args:
        waypoints: at least one, in order of time.

    Attributes:
        end: time of the last waypoint [s].
        finite: whether all coefficients are finite.
    """

    def __init__(self, waypoints: Sequence[Waypoint]) -> None:
        self._times = [waypoint.time for waypoint in waypoints]
        self.end = self._times[-1]
        self._ends = waypoints[0].position, waypoints[-1].position
        with np.errstate(over="ignore", invalid="ignore"):  # it shows in `finite`
            self._segments = [_Segment(*pair) for pair in itertools.pairwise(waypoints)]
            self.finite = all(segment.finite for segment in self._segments)

    def sample(self, time: float) -> JointMotion:
        """The motion at a time [s]."""
        if self._times[0] <= time < self.end:
            return self._segments[bisect(self._times, time) - 1].sample(time)
        still = np.zeros_like(self._ends[0])
        return JointMotion(self._ends[time >= self.end], still, still)


class _Segment:
    """The polynomial between two waypoints, in the share of the time between them (Hermite interpolation)."""

    def __init__(self, first: Waypoint, last: Waypoint) -> None:
        self._start, self._duration = first.time, last.time - first.time
        ends = [_derivatives(first), _derivatives(last)]
        count = min(map(len, ends))
        known = [self._duration**n * derivative for end in ends for n, derivative in enumerate(end[:count])]
        motion = [np.tensordot(_COEFFICIENTS[count], known, axes=1)]
        for _ in range(2):
            powers = np.arange(1, len(motion[-1]))
            motion.append(powers[:, None] * motion[-1][1:] / self._duration)
        self._motion = motion
        self.finite = all(np.isfinite(coefficients).all() for coefficients in motion)

    def sample(self, time: float) -> JointMotion:
        share = (time - self._start) / self._duration
        powers = share ** np.arange(len(self._motion[0]))
        return JointMotion(*(powers[: len(coefficients)] @ coefficients for coefficients in self._motion))


def _conditions(known: int) -> list[list[float]]:
    """The derivatives below `known` of the powers below 2 `known`, at 0 and at 1."""
    powers = range(2 * known)
    at_start = [[float(math.factorial(n) * (k == n)) for k in powers] for n in range(known)]
    return at_start + [[float(math.perm(k, n)) for k in powers] for n in range(known)]


# By the number of values known at each end: the coefficients that each of these values gives.
_COEFFICIENTS = {known: np.linalg.inv(_conditions(known)) for known in (1, 2, 3)}


def _derivatives(waypoint: Waypoint) -> list[np.ndarray]:
    """Position and as many of its derivatives as a waypoint has."""
    if waypoint.velocity is None:
        return [waypoint.position]
    if waypoint.acceleration is None:
        return [waypoint.position, waypoint.velocity]
    return [waypoint.position, waypoint.velocity, waypoint.acceleration]


@dataclass(frozen=True, eq=False)
class Tolerance:
    """Allowed deviation of joints, shape (joints,) each; infinite: no limit.

    Attributes:
        position: [rad or m].
        velocity: [rad/s or m/s].
    """

    position: np.ndarray
    velocity: np.ndarray

    def violation(self, joints: Sequence[str], position_error: np.ndarray, velocity_error: np.ndarray) -> str:
        """Describes the first joint with a larger deviation; "" if there is none.

        Args:
            joints: their names.
            position_error, velocity_error: desired minus actual, shape (joints,).
        """
        for what, errors, allowed in (
            ("position", position_error, self.position),
            ("velocity", velocity_error, self.velocity),
        ):
            for joint, error, most in zip(joints, errors, allowed, strict=True):
                if abs(error) > most:
                    return f"the {what} of {joint} is off by {error:.4g}, {most:.4g} is allowed"
        return ""


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Tolerances of a trajectory.

    Attributes:
        path: before its end.
        goal: at its end.
        goal_time: longest time after its end to reach the goal [s]; infinite: any.
    """

    path: Tolerance
    goal: Tolerance
    goal_time: float
