"""Rows of the joints' own coordinates: limits, dry friction and drives."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import close_row, dot, open_row, row_speed, spring_impulse
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import JointFriction, JointLimit
from grouser.physics.drives.servo import aim_drive, settle_drive
from grouser.physics.friction.joints import HELD, hold_impulse
from grouser.physics.model.multibody import Names

NO_DRIVE = -1
# Where a drive's spring is: in the mass matrix; or in a row that bounds it by the drive's limit, because it would be
# beyond it at the speed that the step begins with, or was so in the mass matrix.
BUILT_IN, EXPECTED_BEYOND, FOUND_BEYOND = range(3)
# A joint closer to its limit than this gets a row, that it may land softly [rad or m].
_NEAR = 1e-2
# Share of a limit's violation that a step takes away.
LIMIT_RELIEF = 0.2


class JointLaws(NamedTuple):
    """Coordinates along which something acts, shape (laws,) each.

    Attributes:
        position_index, rate_index: of the coordinate in q and v.
        lower, upper: limits [rad or m], infinite for none.
        static, kinetic: dry friction [N m or N].
        stribeck_speed: of the way from static to kinetic [rad/s or m/s]; 0: at the first motion.
        bristle_stiffness, bristle_damping: of bristles [N m/rad or N/m, N m s/rad or N s/m]; no stiffness: none.
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
            # a torque alone: it has no position, and what the others leave at zero does nothing
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
    """Dry friction along each coordinate rate, of all joints that share it."""
    laws = {law.joint: law for law in machine.frictions}
    sums: dict[int, _Friction] = {}
    for joint in machine.joints:
        coordinate = names.joints.get(joint.name)
        if coordinate is None:
            continue
        law = laws.get(joint.name, JointFriction(joint.name, joint.friction, joint.friction))
        present, added = sums.get(coordinate.v, _Friction()), _through_gear(law, abs(coordinate.multiplier))
        total = _sum_of(present, added)
        if total is None:
            raise MachineError(
                f"its law, {law.law}, cannot be added to the dry friction of the joints that move with it",
                file=machine.file,
                element=f'<joint_friction joint="{joint.name}">',
                remedy="give all but one of them law coulomb, or all two_state",
            )
        sums[coordinate.v] = total
    return sums


def _through_gear(law: JointFriction, lever: float) -> _Friction:
    """Friction of a joint that moves `lever` times as fast as its coordinate, along that."""
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
    """Both together; None where that is no law of the same kind."""
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
    """Narrowest limits of each coordinate rate, from all joints that share it."""
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


@kernel
def aim_drives(laws, drives, q, v, step, command, kept, mass, force, springs, place, effort, work):
    """Finds the drives' springs, and puts what efforts go with no speed into the force.

    Args:
        laws, drives: the machine's.
        q, v: state.
        step: [s].
        command: of the drives; on emergency stop they hold their joints by rows.
        kept: what each drive remembers, (drives, KEPT).
        mass, force: of the equations of motion without the drives; the force is changed in place.
        springs: conductance and target of each law's drive, 0 for none, and its greatest impulse, (laws, 3), result.
        place: of each spring (BUILT_IN, ...), result.
        effort: beside the springs, on each coordinate [N or N m], result.
        work: buffers of the drives.
    """
    effort[:] = 0.0
    for law in range(laws.rate_index.shape[0]):
        springs[law, :] = 0.0
        place[law] = BUILT_IN
        d = laws.drive[law]
        if d == NO_DRIVE or command.emergency_stop[drives.member[d]]:
            continue
        rate, position = laws.rate_index[law], q[laws.position_index[law]]
        mobility = 1.0 / mass[rate, rate]
        pull = mobility * force[rate]
        g, b, limit, direct = aim_drive(
            drives, d, position, v[rate], step, command.drive[d], mobility, pull, kept[d], work
        )
        springs[law, 0], springs[law, 1], springs[law, 2] = g, b, step * limit
        effort[rate] += direct
        force[rate] += direct
        if _overloaded(springs, law, v[rate]):
            place[law] = EXPECTED_BEYOND


@kernel
def settle_drives(laws, drives, q, end, step, command, springs, effort, kept, work):
    """Moves what the drives remember on by the rates that the step has found; what is braked forgets.

    Args:
        laws, drives: the machine's.
        q: positions at the start of the step.
        end: rates at its end.
        step: [s].
        command: as in `aim_drives`.
        springs, effort: from there.
        kept: what each drive remembers, (drives, KEPT), changed.
        work: buffers of the drives.
    """
    for law in range(laws.rate_index.shape[0]):
        d = laws.drive[law]
        if d == NO_DRIVE:
            continue
        if command.emergency_stop[drives.member[d]]:
            kept[d, :] = 0.0
            continue
        rate, most = laws.rate_index[law], springs[law, 2]
        given = min(max(springs[law, 0] * (springs[law, 1] - end[rate]), -most), most) / step + effort[rate]
        position = q[laws.position_index[law]]
        settle_drive(drives, d, position, end[rate], step, command.drive[d], given, most / step, kept[d], work)


@kernel
def engage_drives(laws, v, step, springs, place, grip, mass, force):
    """Puts the springs of the drives that are within their limit into mass matrix and force.

    The factorisation then solves them exactly. A drive at its limit is no spring: with one in it, the matrix would make
    the joint much too heavy for all that moves it. A joint that friction holds has no row: there the limit is a force.

    Args:
        laws: the machine's.
        v: coordinate rates at the start of the step.
        step: [s].
        springs, place: from `aim_drives`.
        grip: what dry friction does with each joint (`joint_friction`).
        mass, force: of the equations of motion, changed in place.
    """
    for law in range(laws.rate_index.shape[0]):
        g = springs[law, 0]
        if g > 0.0 and place[law] == BUILT_IN:
            rate = laws.rate_index[law]
            mass[rate, rate] += g
            force[rate] += g * (springs[law, 1] - v[rate]) / step
        elif grip[law] == HELD:
            force[laws.rate_index[law]] += min(max(g * springs[law, 1], -springs[law, 2]), springs[law, 2]) / step


@kernel
def build_joint_rows(model, laws, q, v, factor, step, frictions, remembered, springs, place, rows):
    """Opens a row for each joint law that may do more in this step than the spring in the mass matrix.

    Args:
        model, laws: the machine.
        q, v: state.
        factor: of the mass matrix.
        step: [s].
        frictions: dry friction of the step; what is held has no row.
        remembered: impulse of each law in the last step, without its drive's.
        springs, place: from `aim_drives`.
        rows: result.
    """
    for law in range(laws.rate_index.shape[0]):
        position, speed = q[laws.position_index[law]], v[laws.rate_index[law]]
        below, above = position - laws.lower[law], laws.upper[law] - position
        reach = 2.0 * step * abs(speed) + _NEAR
        near = below < reach or above < reach
        holds = hold_impulse(laws, law, laws.static[law], frictions, step) > 0.0
        if frictions.grip[law] == HELD or not (near or holds or place[law] != BUILT_IN):
            continue
        r = open_row(rows, law, remembered[law])
        rows.jacobian[r, laws.rate_index[law]] = 1.0
        close_row(rows, r, model.pattern_start, model.pattern, factor)
        if place[law] != BUILT_IN:
            rows.conductance[r], rows.target[r] = springs[law, 0], springs[law, 1]
            rows.spring_bound[r] = springs[law, 2]
            rows.impulse[r] += spring_impulse(rows, r, speed)
        if near:
            rows.slowest[r] = -max(below, 0.0) / step
            rows.fastest[r] = max(above, 0.0) / step
            _keep_within_limits(rows, r, below, above, step)
        rows.hold_bound[r] = hold_impulse(laws, law, frictions.level[law], frictions, step)


@kernel
def replace_drives(laws, v, u, springs, place, first, rows):
    """Moves the springs of drives that turn out to be where they should not; returns whether there are any.

    One that was in the mass matrix moves only once, and one that was expected beyond its limit may come back: no more
    than two moves each.

    Args:
        laws: the machine's.
        v: rates at the end of the step.
        u: the same half-solved.
        springs: from `aim_drives`.
        place: of each spring, changed in place.
        first: first row of a joint.
        rows: solved.
    """
    moved = False
    for law in range(laws.rate_index.shape[0]):
        if place[law] == BUILT_IN and _overloaded(springs, law, v[laws.rate_index[law]]):
            place[law] = FOUND_BEYOND
            moved = True
    for r in range(first, rows.count[0]):
        law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
        if place[law] == EXPECTED_BEYOND:
            # the row's own answer: a stiff spring makes much of what the sweeps leave of an error in v
            speed = row_speed(rows, r, dot(rows.half[r], u) - inverse_mass * rows.impulse[r], inverse_mass)
            if not _overloaded(springs, law, speed):
                place[law] = BUILT_IN
                moved = True
    return moved


@inlined
def _overloaded(springs, law, speed):
    """Whether a drive would give more than its limit at a speed."""
    return springs[law, 0] * abs(springs[law, 1] - speed) > springs[law, 2]


@inlined
def _keep_within_limits(rows, r, below, above, step):
    """Position shift of a joint near a limit: never further beyond it, and part of the way back."""
    if below <= above:
        rows.shift[r] = -below / step if below > 0.0 else -LIMIT_RELIEF * below / step
        rows.shift_upper[r] = np.inf
    else:
        rows.shift[r] = above / step if above > 0.0 else LIMIT_RELIEF * above / step
        rows.shift_lower[r] = -np.inf
