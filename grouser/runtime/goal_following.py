"""Waypoint following with obstacle avoidance by a polar histogram of lidar points.

After Ulrich and Borenstein, "VFH+: reliable obstacle avoidance for fast mobile robots", ICRA 1998: every obstacle
point, inflated by the machine's radius, blocks the directions that it covers. Of the free directions the one with the
least cost is taken; the cost is a weighted sum of the angles to the goal, to straight ahead and to the previous
direction. Obstacles that have left the lidar's field of view are remembered while the machine passes them.

It is an example and does not solve dead ends, which takes a planner. Everything is planar, in one fixed frame; angles
are in radians, counterclockwise from x.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Number of directions.
_SECTORS = 180
# Weights of the angles to the goal, to straight ahead and to the previous direction: the first must exceed the sum of
# the others (equation 8 of the paper, with its numbers).
_TO_GOAL, _TO_TURN, _TO_CHANGE = 5.0, 2.0, 2.0
# Obstacles that stay farther away than this share of the radius do not slow the machine down.
_GRAZE = 0.9
# Obstacles are remembered as one point for each square of this side [m].
_CELL = 0.1
# Margin at the edges of the lidar's field of view, where obstacles are remembered.
_RIM = math.radians(2.0)

Place = tuple[float, float]
PlanarPose = tuple[float, float, float]


@dataclass(frozen=True)
class Manners:
    """How a machine follows waypoints.

    Attributes:
        radius: of the circle about its origin in which it can turn, with clearance [m].
        view: distance up to which obstacles matter [m].
        tolerance: distance at which a waypoint is reached [m].
        speed: highest [m/s].
        yaw_rate: highest [rad/s].
        headway: least time to an obstacle ahead at the present speed [s].
        steering_time: in which it turns into the wanted direction [s].
        patience: longest time without progress towards the waypoint [s].
        progress: least approach to the waypoint that counts as progress [m].
    """

    radius: float = 1.2
    view: float = 4.0
    tolerance: float = 0.3
    speed: float = 0.4
    yaw_rate: float = 0.4
    headway: float = 2.0
    steering_time: float = 1.5
    patience: float = 30.0
    progress: float = 0.2


@dataclass(frozen=True)
class Step:
    """Result of one control step.

    Attributes:
        speed: forward [m/s].
        yaw_rate: [rad/s].
        reached: number of waypoints reached.
        problem: why the machine gives up; "" if it does not.
    """

    speed: float
    yaw_rate: float
    reached: int
    problem: str = ""


class ObstacleMemory:
    """Remembered obstacle points.

    Args:
        reach: distance from the machine up to which they are kept [m].
    """

    def __init__(self, reach: float) -> None:
        self._reach = reach
        self.points = np.zeros((0, 2))

    def see(self, lidar: PlanarPose, ranges: np.ndarray, bearings: np.ndarray) -> None:
        """Replaces the remembered points within the lidar's field of view by a scan.

        Args:
            lidar: its pose.
            ranges: distances [m]; those that are not finite, or beyond the reach, are no obstacle, shape (beams,).
            bearings: directions of the beams in the lidar's frame, ascending, shape (beams,).
        """
        x, y, yaw = lidar
        distance, bearing = _polar(self.points, lidar)
        looked_at = (bearing > bearings[0] + _RIM) & (bearing < bearings[-1] - _RIM)
        if bearings[-1] - bearings[0] > 2.0 * math.pi - 2.0 * _RIM:
            looked_at[:] = True
        hits = np.isfinite(ranges) & (ranges < self._reach)
        across, along = ranges[hits], bearings[hits] + yaw
        seen = np.column_stack([x + across * np.cos(along), y + across * np.sin(along)])
        points = np.vstack([self.points[~looked_at & (distance < self._reach)], seen])
        _, first = np.unique(np.floor(points / _CELL), axis=0, return_index=True)
        self.points = points[first]


def free_heading(distance: np.ndarray, bearing: np.ndarray, radius: float, target: float, held: float) -> float | None:
    """The direction of least cost that no obstacle blocks.

    Args:
        distance, bearing: of obstacle points from the machine [m], [rad], shape (n,) each.
        radius: by which they are inflated [m].
        target: direction of the goal.
        held: the previous direction.

    Returns:
        The direction relative to straight ahead, between -pi and pi; None if all are blocked.
    """
    candidates = np.append(2.0 * math.pi / _SECTORS * np.arange(_SECTORS) - math.pi, target)
    covers = np.arcsin(np.minimum(radius / np.maximum(distance, 1e-9), 1.0))
    blocked = np.any(np.abs(wrapped(candidates[:, np.newaxis] - bearing)) < covers, axis=1)
    cost = (
        _TO_GOAL * np.abs(wrapped(candidates - target))
        + _TO_TURN * np.abs(wrapped(candidates))
        + _TO_CHANGE * np.abs(wrapped(candidates - held))
    )
    best = int(np.argmin(np.where(blocked, np.inf, cost)))
    return None if blocked[best] else float(candidates[best])


class GoalFollower:
    """Drives a machine to one waypoint after the other.

    Args:
        manners: of driving.
        waypoints: x, y of each [m].
    """

    def __init__(self, manners: Manners, waypoints: Sequence[Place]) -> None:
        self._manners = manners
        self.waypoints = tuple(waypoints)
        self._reached = 0
        self._held: float | None = None
        self._nearest = math.inf
        self._since = -math.inf

    def step(self, time: float, pose: PlanarPose, obstacles: np.ndarray) -> Step:
        """One control step.

        Args:
            time: [s], never decreasing.
            pose: of the machine.
            obstacles: points, shape (n, 2).
        """
        manners = self._manners
        while self._reached < len(self.waypoints):
            (distance,), (target,) = _polar(np.array([self.waypoints[self._reached]]), pose)
            if distance > manners.tolerance:
                break
            self._reached += 1
            self._nearest = math.inf
        else:
            return Step(0.0, 0.0, self._reached)
        if distance < self._nearest - manners.progress:
            self._nearest, self._since = float(distance), time
        elif time - self._since > manners.patience:
            return self._give_up(f"in {manners.patience:g} s it came no nearer than {self._nearest:.2f} m")
        return self._drive(float(distance), float(target), pose, obstacles)

    def _drive(self, distance: float, target: float, pose: PlanarPose, obstacles: np.ndarray) -> Step:
        manners = self._manners
        gaps, bearings = _polar(obstacles, pose)
        # obstacles behind the goal are ignored
        near = gaps < min(manners.view, distance + manners.radius)
        gaps, bearings = gaps[near], bearings[near]
        held = target if self._held is None else wrapped(self._held - pose[2])
        heading = free_heading(gaps, bearings, manners.radius, target, held)
        if heading is None:
            return Step(0.0, 0.0, self._reached)  # the obstacle may move away
        self._held = heading + pose[2]
        yaw_rate = min(max(heading / manners.steering_time, -manners.yaw_rate), manners.yaw_rate)
        across, along = gaps * np.sin(bearings), gaps * np.cos(bearings)
        reach = _GRAZE * manners.radius
        meets = (np.abs(across) < reach) & (along > 0.0)
        free = along[meets] - np.sqrt(reach**2 - across[meets] ** 2)
        way = max(float(np.min(free, initial=math.inf)), 0.0)
        speed = min(manners.speed, way / manners.headway, distance / manners.steering_time)
        return Step(speed * max(math.cos(heading), 0.0) ** 2, yaw_rate, self._reached)

    def _give_up(self, why: str) -> Step:
        x, y = self.waypoints[self._reached]
        return Step(0.0, 0.0, self._reached, f"waypoint {self._reached + 1} at {x:g}, {y:g} is not reached: {why}")


def wrapped(angle):
    """Angles between -pi and pi."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def _polar(points: np.ndarray, pose: PlanarPose) -> tuple[np.ndarray, np.ndarray]:
    """Distances of points from a pose [m], and their directions from its heading, shape (n,) each."""
    x, y, yaw = pose
    away_x, away_y = points[:, 0] - x, points[:, 1] - y
    return np.hypot(away_x, away_y), wrapped(np.arctan2(away_y, away_x) - yaw)
