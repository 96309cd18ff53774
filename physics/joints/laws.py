"""Arrays of limits, dry friction and drives along the coordinates of joints."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import JointFriction, JointLimit
from grouser.physics.drives.springs import NO_DRIVE
from grouser.physics.model.names import Names


class JointLaws(NamedTuple):
    """Coordinates with limits, dry friction or a drive, shape (laws,) each.

    Attributes:
        position_index, rate_index: of the coordinate in q and v.
        lower, upper: limits [rad or m], infinite for none.
        static, kinetic: dry friction [N m or N].
        stribeck_speed: speed constant of the fall from static to kinetic [rad/s or m/s]; 0: kinetic at any motion.
        bristle_stiffness, bristle_damping: of bristles [N m/rad or N/m, N m s/rad or N s/m]; stiffness 0 for none.
        drive: drive number, NO_DRIVE for none.
    """

    position_index: np.ndarray
    rate_index: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    static: np.ndarray
    kinetic: np.ndarray
    stribeck_speed: np.ndarray
    bristle_stiffness: np.ndarray
    bristle_damping: np.ndarray
    drive: np.ndarray


def make_joint_laws(machine: Machine, names: Names) -> JointLaws:
    """Laws of every joint that has limits, dry friction or a drive, and of every driven axis of a spherical joint.

    A mimicking joint's limits and dry friction act on the coordinate of the joint that it follows.
    """
    drives = {drive.joint: number for number, drive in enumerate(machine.drives)}
    limits, frictions = _limits(machine, names), _frictions(machine, names)
    columns: dict[str, list] = {field: [] for field in JointLaws._fields}
    for joint in machine.joints:
        coordinate = names.joints.get(joint.name)
        if coordinate is None or joint.mimic is not None:
            continue
        lower, upper = limits[coordinate.v]
        friction = frictions[coordinate.v]
        number = drives.get(joint.name, NO_DRIVE)
        if lower == -np.inf and upper == np.inf and friction.static == 0.0 and number == NO_DRIVE:
            continue
        values = (coordinate.q, coordinate.v, lower, upper, *friction, number)
        for field, value in zip(JointLaws._fields, values, strict=True):
            columns[field].append(value)
    for axis, place in names.axes.items():
        if axis in drives:
            # only a torque acts on the axis of a spherical joint: it has no position, and the other fields stay zero
            own = {"position_index": place.q, "rate_index": place.v, "lower": -np.inf, "upper": np.inf}
            for field, column in columns.items():
                column.append(own.get(field, drives[axis] if field == "drive" else 0.0))
    whole = {"position_index", "rate_index", "drive"}
    laws = JointLaws(**{f: np.array(c, dtype=np.int64 if f in whole else float) for f, c in columns.items()})
    for array in laws:
        array.flags.writeable = False
    return laws


class _Friction(NamedTuple):
    """Dry friction along a coordinate; see `JointLaws`."""

    static: float = 0.0
    kinetic: float = 0.0
    stribeck_speed: float = 0.0
    bristle_stiffness: float = 0.0
    bristle_damping: float = 0.0


def _frictions(machine: Machine, names: Names) -> dict[int, _Friction]:
    """Dry friction along each coordinate rate, summed over the joints that share it and the belts that they drive."""
    laws = {law.joint: law for law in machine.frictions}
    belts: dict[str, float] = {}
    for track in machine.tracks:
        belts[track.sprocket] = belts.get(track.sprocket, 0.0) + track.friction * track.radius
    sums: dict[int, _Friction] = {}
    for joint in machine.joints:
        coordinate = names.joints.get(joint.name)
        if coordinate is None:
            continue
        law = laws.get(joint.name, JointFriction(joint.name, joint.friction, joint.friction))
        total = _sum_of(sums.get(coordinate.v, _Friction()), _through_gear(law, abs(coordinate.multiplier)))
        if total is not None and joint.name in belts:
            torque = abs(coordinate.multiplier) * belts[joint.name]
            total = _sum_of(total, _Friction(torque, torque))
        if total is None:
            raise MachineError(
                f"its law, {law.law}, cannot be added to the dry friction of the joints and belts that move with it",
                file=machine.file,
                element=f'<joint_friction joint="{joint.name}">',
                remedy="give all but one of them law coulomb, or all two_state",
            )
        sums[coordinate.v] = total
    return sums


def _through_gear(law: JointFriction, lever: float) -> _Friction:
    """Friction along the coordinate of a joint that moves `lever` times as fast as the coordinate."""
    if lever == 0.0:
        return _Friction()
    return _Friction(
        lever * law.static,
        lever * law.kinetic,
        (law.stribeck_speed or 0.0) / lever,
        lever**2 * (law.bristle_stiffness or 0.0),
        lever**2 * law.bristle_damping,
    )


def _sum_of(one: _Friction, other: _Friction) -> _Friction | None:
    """Sum of both; None if no law of this kind describes it."""
    if one.static == 0.0 or other.static == 0.0:
        return one if other.static == 0.0 else other
    if one.bristle_stiffness > 0.0 or other.bristle_stiffness > 0.0:
        return None
    constant = one.static == one.kinetic or other.static == other.kinetic
    if not constant and not math.isclose(one.stribeck_speed, other.stribeck_speed):
        return None
    speed = max(one.stribeck_speed, other.stribeck_speed)
    return _Friction(one.static + other.static, one.kinetic + other.kinetic, speed)


def _limits(machine: Machine, names: Names) -> dict[int, tuple[float, float]]:
    """Narrowest limits of each coordinate rate, over the joints that share it."""
    narrowest: dict[int, tuple[float, float]] = {}
    for joint in machine.joints:
        coordinate = names.joints.get(joint.name)
        if coordinate is None:
            continue
        limit: JointLimit = joint.limit
        ends = [
            None if end is None or coordinate.multiplier == 0.0 else (end - coordinate.offset) / coordinate.multiplier
            for end in (limit.lower, limit.upper)
        ]
        if coordinate.multiplier < 0.0:
            ends.reverse()
        lower, upper = narrowest.get(coordinate.v, (-np.inf, np.inf))
        narrowest[coordinate.v] = (
            lower if ends[0] is None else max(lower, ends[0]),
            upper if ends[1] is None else min(upper, ends[1]),
        )
    for rate, (lower, upper) in narrowest.items():
        if lower > upper:
            raise MachineError(
                f"the limits of the joints that follow it leave no room: {lower:g} to {upper:g}",
                file=machine.file,
                element=f'<joint name="{names.rate_joint[rate]}">',
            )
    return narrowest
