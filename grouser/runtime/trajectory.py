"""A joint trajectory: motion through waypoints, and how far a machine may be off it. Without ROS."""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Waypoint:
    """Where some joints are at one time.

    Attributes:
        time: since the trajectory began [s].
        position: shape (joints,) [rad or m].
        velocity: shape (joints,) [rad/s or m/s]; None: whatever it turns out to be.
        acceleration: shape (joints,) [rad/s2 or m/s2]; None as for the velocity, without which it is None.
    """

    time: float
    position: np.ndarray
    velocity: np.ndarray | None = None
    acceleration: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What joints are asked to do.

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

    Between two of them it is a straight line; a cubic, where both have velocities; a quintic, where both have
    accelerations too. What comes before the first and after the last rests there.

    Args:
        waypoints: at least one, in order of time.

    Attributes:
        end: time of the last waypoint [s].
        finite: whether no coefficient is beyond the range of numbers.
    """

    def __init__(self, waypoints: Sequence[Waypoint]) -> None:
        self._times = [waypoint.time for waypoint in waypoints]
        self._ends = waypoints[0].position, waypoints[-1].position
        with np.errstate(over="ignore", invalid="ignore"):  # it shows in `finite`
            self._pieces = [_piece(*pair) for pair in itertools.pairwise(waypoints)]
        self.end = self._times[-1]
        self.finite = all(np.isfinite(piece).all() for piece in self._pieces)

    def sample(self, time: float) -> JointMotion:
        """The motion at a time [s]."""
        index = bisect.bisect_right(self._times, time) - 1
        if index < 0 or index == len(self._pieces):
            still = np.zeros_like(self._ends[0])
            return JointMotion(self._ends[index >= 0], still, still)
        length = self._times[index + 1] - self._times[index]
        share = (time - self._times[index]) / length
        position = velocity = acceleration = np.zeros_like(self._ends[0])
        for coefficient in self._pieces[index][::-1]:  # Horner's scheme, for the polynomial and its derivatives
            acceleration = acceleration * share + 2.0 * velocity
            velocity = velocity * share + position
            position = position * share + coefficient
        return JointMotion(position, velocity / length, acceleration / length**2)


def _piece(first: Waypoint, last: Waypoint) -> np.ndarray:
    """Coefficients of the powers of the share of the way in time, shape (powers, joints)."""
    length = last.time - first.time
    way = last.position - first.position
    if first.velocity is None or last.velocity is None:
        return np.array([first.position, way])
    v0, v1 = length * first.velocity, length * last.velocity
    if first.acceleration is None or last.acceleration is None:
        return np.array([first.position, v0, 3.0 * way - 2.0 * v0 - v1, v0 + v1 - 2.0 * way])
    a0, a1 = 0.5 * length**2 * first.acceleration, 0.5 * length**2 * last.acceleration
    return np.array(
        [
            first.position,
            v0,
            a0,
            10.0 * way - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1,
            8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1 - 15.0 * way,
            6.0 * way - 3.0 * (v0 + v1) - a0 + a1,
        ]
    )


@dataclass(frozen=True, eq=False)
class Tolerance:
    """How far joints may be off where they should be, shape (joints,) each; infinite: as far as they like.

    Attributes:
        position: [rad or m].
        velocity: [rad/s or m/s].
    """

    position: np.ndarray
    velocity: np.ndarray

    def violation(self, joints: Sequence[str], position_error: np.ndarray, velocity_error: np.ndarray) -> str:
        """The first joint that is off by more, in words; empty if none is.

        Args:
            joints: their names.
            position_error, velocity_error: wanted less actual, shape (joints,).
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
    """What becomes of a trajectory that is not kept to.

    Attributes:
        path: while it is under way.
        goal: at its end.
        goal_time: how long after its end the goal may be reached [s]; infinite: any time.
    """

    path: Tolerance
    goal: Tolerance
    goal_time: float
