"""Commands of the valves that move a tool's tip with a wanted velocity."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.machine import Machine
from grouser.runtime.control_mapping import TIP_DIRECTIONS, TipControl
from grouser.runtime.tip_kinematics import ArmMotion, TipKinematics

# Share of the error of a cylinder's speed by which the command is corrected within a second [1/s], and its limit [-].
_INTEGRAL, _CORRECTION = 4.0, 0.3
# Distance from the ends of a stroke at which a cylinder begins to slow down, and at which it stands, as shares of the
# stroke; and the share of its speed that it keeps meanwhile [-].
_SLOWING, _END, _SLOW = 0.1, 0.01, 0.15
# Time in which a joint may not reach its limit, nor a cylinder its dead point [s].
_FORESIGHT = 0.3
# Share of its stroke below which the lever of a cylinder counts as at a dead point [1/rad], and time over which its
# change is found [s].
_LEAST_LEVER, _MOMENT = 0.25, 0.01
_LEAST_COSINE = 0.8  # of the angle between the wanted velocity and one that cylinders at their ends allow
_FOLLOWED = 1e-6  # share of the wanted velocity by which one may differ that counts as reached
_ATTITUDE = TIP_DIRECTIONS.index("attitude")
_STILL = 1e-6  # share of the fastest below which something stands


class ArmReading(NamedTuple):
    """Measured motion of the joints of an arm.

    Attributes:
        positions, velocities: joint -> value [rad or m, rad/s or m/s].
        time: of some steady clock [s].
    """

    positions: Mapping[str, float]
    velocities: Mapping[str, float]
    time: float


def read_arm(
    joints: Sequence[str], names: Sequence[str], positions: Sequence[float], velocities: Sequence[float], time: float
) -> ArmReading | None:
    """The reading of an arm's joints from a message of all joints; None where one is missing or not finite.

    Args:
        joints: of the arm.
        names, positions, velocities: of all joints [rad or m, rad/s or m/s].
        time: of its arrival [s].
    """
    if not len(names) == len(positions) == len(velocities):
        return None
    index = {name: number for number, name in enumerate(names)}
    if not set(joints) <= set(index):
        return None
    position = {joint: float(positions[index[joint]]) for joint in joints}
    velocity = {joint: float(velocities[index[joint]]) for joint in joints}
    if not all(map(math.isfinite, (*position.values(), *velocity.values()))):
        return None
    return ArmReading(position, velocity, time)


class TipDriver:
    """Spool commands from the velocity of a tip.

    A valve's command is the wanted share of its cylinder's greatest speed, and an integral of the error of that speed.
    Where a cylinder would go faster than it can, or nears an end of its stroke or a dead point, or a joint its limit,
    all of them become slower by one factor: the tip keeps its direction. A cylinder that is at its end stands, and the
    others move the tip as wanted if they can; else the tip keeps its direction and gives up its attitude; where it
    cannot even do this, all stand.

    Args:
        control: the tip and its valves.
        machine: whose tip it is.

    Attributes:
        joints: names of the joints whose positions and velocities it needs.

    Raises:
        MachineError: the tip does not suit the machine.
    """

    def __init__(self, control: TipControl, machine: Machine) -> None:
        names = {valve.name for valve in machine.valves}
        functions = control.functions.values()
        cylinders = [function.cylinder for function in functions]
        for cylinder in cylinders:
            if cylinders.count(cylinder) > 1:
                raise MachineError(f"two valves move the cylinder {cylinder!r}", remedy="name it once")
        for valve in control.functions:
            if valve not in names:
                raise MachineError(f"no valve {valve!r}", remedy=f"one of {', '.join(sorted(names))}")
        if len(control.functions) < len(control.directions):
            count, directions = len(control.functions), ", ".join(control.directions)
            raise MachineError(
                f"{count} cylinders cannot move the tip in {len(control.directions)} directions ({directions})",
                remedy="remove a lever of the tip, or add the valve of another cylinder to its functions",
            )
        self.valves = tuple(control.functions)
        self._directions = [TIP_DIRECTIONS.index(direction) for direction in control.directions]
        self._arm = TipKinematics(machine, control.frame, control.link, control.point, cylinders)
        self.joints = self._arm.joints
        self._extending = np.array([function.extending for function in functions])
        self._retracting = np.array([function.retracting for function in functions])
        known = {cylinder.name: cylinder for cylinder in machine.cylinders}
        self._shortest = np.array([known[name].retracted_length for name in cylinders])
        self._stroke = np.array([known[name].stroke for name in cylinders])
        limits = {joint.name: joint.limit for joint in machine.joints}
        ends = [(limits[name].lower, limits[name].upper) for name in self.joints]
        self._lower = np.array([-np.inf if lower is None else lower for lower, _ in ends])
        self._upper = np.array([np.inf if upper is None else upper for _, upper in ends])
        self.neutral()

    def neutral(self) -> dict[str, float]:
        """Commands with which the tip stands; the corrections begin anew."""
        self._correction = np.zeros(len(self.valves))
        return dict.fromkeys(self.valves, 0.0)

    def commands(
        self,
        wanted: tuple[float, float, float],
        arm: ArmReading,
        interval: float,
    ) -> dict[str, float]:
        """Spool commands for the next interval.

        Args:
            wanted: velocity of the tip along x [m/s] and z [m/s] of the frame, and angular velocity of its link about
                -y [rad/s]: positive lifts what is ahead.
            arm: of all `joints`.
            interval: until the next commands [s].
        """
        if not any(wanted):
            return self.neutral()
        motion = self._arm.motion(arm.positions)
        rates = self._rates(motion, np.array(wanted))
        speeds = motion.cylinders @ rates
        greatest = np.where(speeds > 0.0, self._extending, self._retracting)
        shares = speeds / greatest
        shares *= min(
            1.0,
            self._factor_of_strokes(motion.lengths, shares),
            self._factor_of_joints(arm.positions, rates),
            self._factor_of_levers(motion, arm.positions, rates),
        )
        measured = motion.cylinders @ np.array([arm.velocities[name] for name in self.joints])
        self._correction += interval * _INTEGRAL * (shares - measured / greatest)
        self._correction = np.clip(self._correction, -_CORRECTION, _CORRECTION)
        self._correction[~_moving(shares)] = 0.0
        return dict(zip(self.valves, np.clip(shares + self._correction, -1.0, 1.0).tolist(), strict=True))

    def _rates(self, motion: ArmMotion, wanted: np.ndarray) -> np.ndarray:
        """Rates of the joints, with cylinders standing that would leave their strokes; zero where these are needed."""
        standing = np.zeros(len(self.valves), dtype=bool)
        for directions in (self._directions, [one for one in self._directions if one != _ATTITUDE]):
            rates = self._rates_within_strokes(motion, directions, wanted[directions], standing)
            asked, given = wanted[directions], motion.tip[directions] @ rates
            if not standing.any() or np.linalg.norm(given - asked) <= _FOLLOWED * np.linalg.norm(asked):
                return rates
        if asked @ given > _LEAST_COSINE * np.linalg.norm(asked) * np.linalg.norm(given):
            return rates
        return np.zeros_like(rates)

    def _rates_within_strokes(
        self, motion: ArmMotion, directions: list[int], wanted: np.ndarray, standing: np.ndarray
    ) -> np.ndarray:
        """Rates of the joints; adds to those that stand the cylinders that would leave their strokes."""
        while True:
            rates = motion.rates(directions, wanted, standing, np.minimum(self._extending, self._retracting))
            speeds = motion.cylinders @ rates
            leaving = (self._room(motion.lengths, speeds) <= 0.0) & _moving(speeds) & ~standing
            if not leaving.any():
                return rates
            standing |= leaving

    def _room(self, lengths: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """How much of the full speed the ends of the strokes allow, from 0 to 1."""
        out = (lengths - self._shortest) / self._stroke
        left = np.where(speeds > 0.0, 1.0 - out, out)
        return np.where(left > _END, np.clip((left - _END) / (_SLOWING - _END), _SLOW, 1.0), 0.0)

    def _factor_of_strokes(self, lengths: np.ndarray, shares: np.ndarray) -> float:
        """Factor by which cylinders are within their speeds, which fall to zero at the ends of their strokes."""
        moving = _moving(shares)
        return float(np.min(self._room(lengths, shares)[moving] / np.abs(shares[moving]), initial=np.inf))

    def _factor_of_joints(self, positions: Mapping[str, float], rates: np.ndarray) -> float:
        """Factor by which no joint reaches its limit soon."""
        present = np.array([positions[name] for name in self.joints])
        left = np.where(rates > 0.0, self._upper - present, present - self._lower)
        moving = _moving(rates) & np.isfinite(left)
        return float(np.min(np.maximum(left[moving], 0.0) / np.abs(_FORESIGHT * rates[moving]), initial=np.inf))

    def _factor_of_levers(self, motion: ArmMotion, positions: Mapping[str, float], rates: np.ndarray) -> float:
        """Factor by which no cylinder reaches its dead point soon."""
        soon = {name: positions[name] + _MOMENT * rate for name, rate in zip(self.joints, rates, strict=True)}
        levers = motion.levers
        turning = np.isfinite(levers)
        falling = (levers - self._arm.motion(soon).levers)[turning] / _MOMENT
        left = np.maximum(levers - _LEAST_LEVER * self._stroke, 0.0)[turning]
        shrinking = falling > _STILL * levers[turning]
        return float(np.min(left[shrinking] / (_FORESIGHT * falling[shrinking]), initial=np.inf))


def _moving(rates: np.ndarray) -> np.ndarray:
    """Which of them move, but for rounding errors."""
    return np.abs(rates) > _STILL * np.max(np.abs(rates), initial=0.0)


def add_commands(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Sums of spool commands, within their range."""
    names = dict.fromkeys((*first, *second))
    return {name: min(max(first.get(name, 0.0) + second.get(name, 0.0), -1.0), 1.0) for name in names}
