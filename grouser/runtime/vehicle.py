"""Vehicles on wheels: from a twist of the body to steering angles and wheel speeds, and back.

A vehicle moves in the plane of its root link. A wheel with its centre at c and its heading d (a unit vector, n is that
to its left) rolls without slip where

    d . (v + w x c) = r omega,    n . (v + w x c) = 0

for the velocity v of the root link's origin and its yaw rate w. Steering turns c and d about a pivot p by delta: with
c = p + R(delta) c0 the second equation has the closed form of `Vehicle.steer`. It holds for any wheels: Ackermann, crab
and point turns are what follows for a twist that turns, one that does not, and one that does nothing else. Wheels that
are not steered scrub where they have to.
"""

import math
from dataclasses import dataclass

import numpy as np

# Weight of the no-sideslip equation of an unsteered wheel relative to those of rolling.
_SCRUBBING_WEIGHT = 1e-4
# Bisection steps in search of a twist that the steering allows.
_HALVINGS = 40
# Tolerance of steering limits [rad].
_ROUNDING = 1e-9
# Below this speed [m/s] a pivot is at rest.
_STILL = 1e-12
# Greatest part of a twist [m/s, rad/s]: a larger twist is scaled down to it, which keeps the path.
_FASTEST = 1e9
# Steering error [rad] from which on the wheels are not driven.
_STEERED = 0.7
# Change of a steering angle [rad] that turns a wheel round, and angle beyond its limits [rad] at which a wheel that has
# turned round stays at the limit instead of turning back.
_ROUND = 0.5 * math.pi
_SLACK = 0.2
# Time for which a wheel does not turn back, by the time that its turn takes.
_HOLD = 3.0
# Assumed slip: as a share of the rim's speed, and of a scrubbing wheel as a share of its lateral speed or of the speed
# of its sides about its centre.
SLIP_SHARE = 0.02
SCRUB_SHARE = 1.0
# Slip that all wheels have in common on soft ground, as a share of the distance: the rover on level sand has 8 to 16 %.
SOFT_SLIP = 0.15
# Distance over which a slip is correlated [m], and the least standard deviation of a speed [m/s].
SLIP_LENGTH = 1.0
LEAST_DEVIATION = 1e-4


@dataclass(frozen=True)
class VehicleWheel:
    """A wheel, seen from above in the root link's frame, at steering angle zero.

    Attributes:
        name: of its link.
        joint: that it turns in.
        sense: 1 or -1: direction of the joint relative to rolling forward.
        driven: whether a velocity drive turns it, or a valve by a hydraulic motor.
        radius: [m].
        width: of what slides on the ground where it turns on the spot [m].
        speed_limit: of the joint [rad/s].
        centre: x, y [m].
        heading: direction in which it rolls, from x [rad].
        steering: joint that steers it; "" for none.
        pivot: x, y of that joint's axis [m].
        turn: 1 or -1: direction of that joint relative to a left turn.
        lower, upper: its limits [rad].
        steering_speed: its greatest speed [rad/s].
        valve: that turns it by a hydraulic motor; "" for none.
        valve_sense: 1 or -1: direction in which a positive command turns its joint.
    """

    name: str
    joint: str
    sense: float
    driven: bool
    radius: float
    width: float
    speed_limit: float
    centre: tuple[float, float]
    heading: float
    steering: str = ""
    pivot: tuple[float, float] = (0.0, 0.0)
    turn: float = 1.0
    lower: float = -math.inf
    upper: float = math.inf
    steering_speed: float = math.inf
    valve: str = ""
    valve_sense: float = 1.0


@dataclass(frozen=True, eq=False)
class WheelOdometry:
    """Motion of the body from the wheels.

    Attributes:
        twist: forward, to the left [m/s] and yaw rate [rad/s], (3,).
        covariance: of the twist, without `LEAST_DEVIATION`, (3, 3).
        speed: root mean square of the rims' speeds, scrubbing included [m/s].
    """

    twist: np.ndarray
    covariance: np.ndarray
    speed: float


@dataclass(frozen=True, eq=False)
class Steering:
    """What is remembered of the steering from one command to the next.

    Attributes:
        goals: angles to which the wheels are steered, (wheels,) [rad].
        targets: last commanded angles, which approach the goals at the joints' speed limits, (wheels,) [rad].
        hold: time for which each wheel, having turned round, does not turn back, (wheels,) [s].
    """

    goals: np.ndarray
    targets: np.ndarray
    hold: np.ndarray


def steering_at(angles: np.ndarray) -> Steering:
    """Wheels at rest at given angles, (wheels,) [rad]."""
    return Steering(angles, angles, np.zeros(len(angles)))


class Vehicle:
    """The wheels of a machine, or its tracks, as one vehicle; a track is a wheel that is not steered.

    A twist is (forward [m/s], to the left [m/s], yaw rate to the left [rad/s]) of the root link; steering angles [rad]
    and wheel speeds [rad/s] are positions and rates of the wheels' joints, in the order of `wheels`. A wheel that is
    not steered has the angle zero.

    Args:
        wheels: at least one.
    """

    def __init__(self, wheels: tuple[VehicleWheel, ...]) -> None:
        self.wheels = wheels
        self._steered = np.array([bool(wheel.steering) for wheel in wheels])
        self._turn = np.array([wheel.turn for wheel in wheels])
        self._lower = np.array([wheel.lower for wheel in wheels])
        self._upper = np.array([wheel.upper for wheel in wheels])
        self._steering_speed = np.array([wheel.steering_speed for wheel in wheels])
        self._sense = np.array([wheel.sense for wheel in wheels])
        self._radius = np.array([wheel.radius for wheel in wheels])
        self._width = np.array([wheel.width for wheel in wheels])
        self._speed_limit = np.array([wheel.speed_limit for wheel in wheels])
        self._heading = np.array([wheel.heading for wheel in wheels])
        self._centre = np.array([wheel.centre for wheel in wheels])
        self._pivot = np.where(self._steered[:, np.newaxis], [wheel.pivot for wheel in wheels], self._centre)
        arm = self._centre - self._pivot
        ahead, left = _directions(self._heading)
        # where the centre is from the pivot: along the heading and to its left
        self._trail, self._offset = np.sum(arm * ahead, 1), np.sum(arm * left, 1)

    @property
    def driven(self) -> bool:
        """Whether a twist can be commanded: a drive or a valve turns at least one wheel."""
        return any(wheel.driven for wheel in self.wheels)

    def steer(
        self, twist: np.ndarray, present: np.ndarray, slack: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The twist that the steering allows, and the angles at which no steered wheel scrubs.

        Of the two possible angles of a wheel (it may roll backwards) the one nearer to the present angle within its
        limits is taken. If a wheel has none, yaw rate and lateral speed are reduced together until all have one: the
        result is the nearest feasible twist. A twist of zero, or a turn about a wheel's pivot, leaves the angle
        unchanged.

        Args:
            twist: wanted, (3,).
            present: angles to which the wheels are steered now, (wheels,).
            slack: by which an angle may lie beyond the limits, (wheels,) [rad]; the wheel is then steered to its limit
                and scrubs.
        """
        twist = np.asarray(twist, dtype=float)
        angles, reachable = self._angles(twist, present, slack)
        if reachable:
            return twist, angles
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            reachable = self._angles(twist * (1.0, middle, middle), present, slack)[1]
            low, high = (middle, high) if reachable else (low, middle)
        allowed = twist * (1.0, low, low)
        angles, reachable = self._angles(allowed, present, slack)
        return (allowed, angles) if reachable else (np.zeros(3), np.array(present, dtype=float))

    def wheel_speeds(self, twist: np.ndarray, steering: np.ndarray) -> np.ndarray:
        """Speeds of the wheels' joints that go with a twist at given steering angles, (wheels,) [rad/s]."""
        rows = self._rows(steering)
        return self._sense * (rows[: len(self.wheels)] @ np.asarray(twist, dtype=float)) / self._radius

    def drive(
        self, twist: np.ndarray, angles: np.ndarray, steering: Steering, interval: float
    ) -> tuple[Steering, np.ndarray]:
        """Next commands of the drives for a twist.

        A wheel goes on to the angle that was chosen at first: another one is chosen only where the limits exclude it,
        and a wheel that has turned round does not turn back at once. The speed is reduced while a wheel is far from its
        steering angle; an error counts by the share that the speed at the wheel's pivot has of the greatest one, so
        that a wheel near the centre of a turn holds up nothing. All speeds are scaled down together if one exceeds its
        joint's limit, so that the path stays the same.

        Args:
            twist: wanted, (3,), finite.
            angles: at which the wheels are, (wheels,).
            steering: of the last command.
            interval: until the next command [s].

        Returns:
            The steering, and wheel speeds, (wheels,).
        """
        twist = np.asarray(twist, dtype=float)
        twist = twist / max(float(np.max(np.abs(twist))) / _FASTEST, 1.0)
        twist, goals = self.steer(twist, steering.goals, np.where(steering.hold > 0.0, _SLACK, 0.0))
        way, most = np.abs(goals - steering.goals), self._steering_speed * interval
        targets = steering.targets + np.clip(goals - steering.targets, -most, most)
        hold = np.where(way > _ROUND, _HOLD * way / self._steering_speed, np.maximum(steering.hold - interval, 0.0))
        pace = np.hypot(*self._pivot_velocity(twist))
        error = np.abs(goals - angles) * pace / max(float(np.max(pace)), _STILL)
        speeds = self.wheel_speeds(twist, angles)
        speeds *= max(1.0 - (float(np.max(error[self._steered], initial=0.0)) / _STEERED) ** 2, 0.0)
        excess = float(np.max(np.abs(speeds) / self._speed_limit, initial=1.0))
        return Steering(goals, targets, hold), speeds / excess

    def motion(
        self, speeds: np.ndarray, steering: np.ndarray, steering_rates: np.ndarray | None = None
    ) -> WheelOdometry:
        """Least-squares fit of the twist to the wheels' rotation, with covariance.

        Rolling wheels do not slip, and steered wheels do not slip sideways. Unsteered wheels may scrub: their lateral
        equation has a small weight. The variance of each equation is its squared residual plus the assumed shares
        `SLIP_SHARE` and `SCRUB_SHARE` (White's heteroskedasticity-consistent estimator, Econometrica 48, 1980).

        Args:
            speeds: of the wheels' joints, (wheels,) [rad/s].
            steering: angles, (wheels,) [rad].
            steering_rates: (wheels,) [rad/s]; None: they stand still.
        """
        count = len(self.wheels)
        rates = np.zeros(count) if steering_rates is None else self._turn * steering_rates
        rim = self._sense * speeds * self._radius
        rows = self._rows(steering)
        wanted = np.concatenate([rim + self._offset * rates, -self._trail * rates])
        weight = np.concatenate([np.ones(count), np.where(self._steered, 1.0, _SCRUBBING_WEIGHT)])
        gain = np.linalg.pinv(weight[:, np.newaxis] * rows, rcond=1e-9) * weight
        twist = gain @ wanted
        left_over = rows @ twist - wanted
        dragged = np.where(self._steered, 0.0, np.abs(left_over[count:]))
        # when the body turns, one side of a wheel slips forwards and the other backwards
        scrub = dragged**2 + (0.5 * self._width * twist[2]) ** 2
        assumed = (SLIP_SHARE * rim) ** 2 + SCRUB_SHARE**2 * scrub
        variance = left_over**2 + np.concatenate([assumed, assumed])
        return WheelOdometry(twist, (gain * variance) @ gain.T, float(np.sqrt(np.mean(rim**2 + scrub))))

    def _pivot_velocity(self, twist):
        """Velocities of the pivots, forward and to the left, (wheels,) [m/s] each."""
        forward, left, yaw = twist
        return forward - yaw * self._pivot[:, 1], left + yaw * self._pivot[:, 0]

    def _angles(self, twist, present, slack):
        """Steering angles of the joints, and whether all are within their limits."""
        yaw = twist[2]
        along_x, along_y = self._pivot_velocity(twist)
        speed = np.hypot(along_x, along_y)
        moves = self._steered & (speed > _STILL)
        # sin(phi - heading - delta) = -w trail / speed, with phi the direction in which the pivot moves
        sine = np.divide(-yaw * self._trail, speed, out=np.zeros(len(speed)), where=moves)
        # a wheel behind its pivot is dragged sideways by a turn about the pivot
        reachable = np.abs(yaw * self._trail) <= np.maximum(speed, _STILL)
        lean = np.arcsin(np.clip(sine, -1.0, 1.0))
        to_pivot = np.arctan2(along_y, along_x) - self._heading
        forwards = self._nearest(self._turn * (to_pivot - lean), present, slack)
        backwards = self._nearest(self._turn * (to_pivot - math.pi + lean), present, slack)
        angles = np.where(np.abs(backwards - present) < np.abs(forwards - present), backwards, forwards)
        reachable &= np.isfinite(angles) | ~moves
        angles = np.where(moves, np.clip(angles, self._lower, self._upper), present)
        return angles, bool(np.all(reachable | ~self._steered))

    def _nearest(self, angles, present, slack):
        """The equivalent angle (modulo whole turns) within the limits and slack that is nearest to the present one."""
        lower, upper = self._lower - slack - _ROUNDING, self._upper + slack + _ROUNDING
        turns = np.round((present - angles) / (2.0 * math.pi))
        nearest = np.full(len(angles), np.nan)
        for turn in (turns - 1.0, turns + 1.0, turns):
            angle = angles + 2.0 * math.pi * turn
            within = (angle >= lower) & (angle <= upper)
            closer = np.isnan(nearest) | (np.abs(angle - present) <= np.abs(nearest - present))
            nearest = np.where(within & closer, angle, nearest)
        return np.where(np.isnan(nearest), np.inf, nearest)

    def _rows(self, steering):
        """Speeds of the centres along the headings, then to their left, per twist, (2 wheels, 3)."""
        turned = np.where(self._steered, self._turn * steering, 0.0)
        ahead, left = _directions(self._heading + turned)
        centre = self._pivot + self._trail[:, np.newaxis] * ahead + self._offset[:, np.newaxis] * left
        ways = np.concatenate([ahead, left])
        places = np.concatenate([centre, centre])
        return np.column_stack([ways, places[:, 0] * ways[:, 1] - places[:, 1] * ways[:, 0]])


class DeadReckoning:
    """Pose of a vehicle by integration of wheel rotations, with the drift of a real vehicle.

    The twist between two readings is taken as constant, so that the path is an arc, which is integrated exactly. The
    error of the twist is correlated over `SLIP_LENGTH`, so that the variance grows with distance and not with the
    number of readings. The slip that all wheels have in common on soft ground is constant: its variance grows with the
    square of the distance.

    Args:
        vehicle: whose wheels are read.
        pose: at the start: x, y [m] and yaw [rad], (3,).
        angles: of the wheels' joints at the start, (wheels,) [rad].
        steering: angles at the start, (wheels,) [rad].
        common_slip: assumed for all wheels together, as a share of distance [-].

    Attributes:
        pose: now, (3,).
        covariance: of the pose, about the axes of the frame in which it is given, (3, 3).
        twist: forward, left [m/s], yaw rate [rad/s], mean since the last reading, (3,).
        twist_covariance: of the twist, (3, 3).
    """

    def __init__(
        self, vehicle: Vehicle, pose: np.ndarray, angles: np.ndarray, steering: np.ndarray, common_slip: float = 0.0
    ) -> None:
        self.vehicle = vehicle
        self.pose = np.array(pose, dtype=float)
        self.covariance = np.zeros((3, 3))
        self._common_slip = common_slip
        # derivative of the pose with respect to the common slip
        self._lost = np.zeros(3)
        self.twist = np.zeros(3)
        self.twist_covariance = LEAST_DEVIATION**2 * np.eye(3)
        self._angles = np.array(angles, dtype=float)
        self._steering = np.array(steering, dtype=float)

    def update(self, interval: float, angles: np.ndarray, steering: np.ndarray) -> None:
        """Updates the pose with a reading.

        Args:
            interval: since the last one [s], above 0.
            angles: of the wheels' joints, (wheels,) [rad].
            steering: angles, (wheels,) [rad].
        """
        rates = (steering - self._steering) / interval
        middle = 0.5 * (steering + self._steering)
        motion = self.vehicle.motion((angles - self._angles) / interval, middle, rates)
        self._angles, self._steering = np.array(angles, dtype=float), np.array(steering, dtype=float)
        self.twist = motion.twist
        common = self._common_slip**2
        self.twist_covariance = (
            motion.covariance + common * np.outer(motion.twist, motion.twist) + LEAST_DEVIATION**2 * np.eye(3)
        )
        way, by_pose, by_way = _arc(self.pose[2], interval * motion.twist)
        self.pose = self.pose + way
        # an error that is constant for a time T integrates like white noise of its variance times T
        lasts = SLIP_LENGTH / max(motion.speed, LEAST_DEVIATION)
        noise = motion.covariance * interval * lasts
        before = by_pose @ self._lost
        self._lost = before + by_way @ (interval * motion.twist)
        lasting = common * (np.outer(self._lost, self._lost) - np.outer(before, before))
        self.covariance = by_pose @ self.covariance @ by_pose.T + by_way @ noise @ by_way.T + lasting


def _directions(heading):
    """Unit vectors along headings and to their left, (n, 2) each."""
    cosine, sine = np.cos(heading), np.sin(heading)
    return np.column_stack([cosine, sine]), np.column_stack([-sine, cosine])


def _arc(yaw: float, way: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Change of a pose along an arc (the exponential map of SE(2)), and its derivatives.

    Args:
        yaw: at the start [rad].
        way: twist times time: forward, left [m] and turn [rad], (3,).

    Returns:
        Change of x, y, yaw, (3,); derivatives of the pose at the end by that at the start and by the way, (3, 3).
    """
    forward, left, turn = way
    # means over the arc of cos and sin of the yaw, and of their products with the time that has passed
    half = 0.5 * turn
    chord = math.sin(half) / half if abs(half) > 1e-4 else 1.0 - half * half / 6.0
    cosine, sine = chord * math.cos(yaw + half), chord * math.sin(yaw + half)
    change = np.array([cosine * forward - sine * left, sine * forward + cosine * left, turn])
    by_pose = np.eye(3)
    by_pose[0, 2], by_pose[1, 2] = -change[1], change[0]
    slope = (half * math.cos(half) - math.sin(half)) / (2.0 * half * half) if abs(half) > 1e-2 else -half / 6.0
    bent_x, bent_y = slope * math.cos(yaw + half), slope * math.sin(yaw + half)
    by_way = np.eye(3)
    by_way[0, :2] = cosine, -sine
    by_way[1, :2] = sine, cosine
    by_way[0, 2] = -0.5 * change[1] + bent_x * forward - bent_y * left
    by_way[1, 2] = 0.5 * change[0] + bent_y * forward + bent_x * left
    return change, by_pose, by_way
