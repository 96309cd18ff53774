"""Servo drives of joints in a step: a limited spring and damper, taken implicitly, so that any stiffness is stable.

At the end of the step a drive gives, within its limit, k (command - position) + k_i (integral of it) - d speed, or
d (command - speed) + k_i (integral of it). With converter and DC motor it gives what these make of the command
(`electric`), and with a permanent-magnet motor the limit goes with speed and temperature.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.machine import Machine
from grouser.physics.drives.electric import KEPT, ElectricDrives, drive_through, electric_spring, make_electric_drives
from grouser.physics.drives.modes import EFFORT, MODES, POSITION, VELOCITY

# What a drive without a DC motor remembers between steps: the integral of its error [rad s, m s, rad or m], and the
# rise of its winding's temperature over that at rated torque [-].
INTEGRAL, WARMTH = 0, 1
# A winding as warm as this begins to take the torque back to the rated one [-].
_WARM = 0.95


class Drives(NamedTuple):
    """Servo drives, shape (drives,) each.

    Attributes:
        member: number of the machine that it belongs to, 0 where there is one (`Machine.member_of`).
        mode: POSITION, VELOCITY or EFFORT.
        stiffness, damping, integral: k, d and k_i.
        effort_limit: [N m or N].
        speed_limit: of velocity commands [rad/s or m/s].
        electric: number in `motors`, -1 for a drive without a DC motor.
        peak, rated: of a permanent-magnet motor, at the joint [N m or N]; infinite without one.
        base_speed, no_load_speed: likewise [rad/s or m/s].
        warming: over its thermal time constant, one [1/s]; 0 without a motor.
        motors: DC motors with their converters and gears.
    """

    member: np.ndarray
    mode: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    integral: np.ndarray
    effort_limit: np.ndarray
    speed_limit: np.ndarray
    electric: np.ndarray
    peak: np.ndarray
    rated: np.ndarray
    base_speed: np.ndarray
    no_load_speed: np.ndarray
    warming: np.ndarray
    motors: ElectricDrives


def make_drives(machine: Machine, step: float) -> Drives:
    """The machine's drives, at a step [s]."""
    limits = {joint.name: joint.limit.velocity for joint in machine.joints}
    columns: dict[str, list] = {field: [] for field in Drives._fields[:-1]}
    motors = []
    for drive in machine.drives:
        magnet, gear = drive.permanent_magnet_motor, drive.gear
        electric = -1
        if drive.dc_motor is not None and gear is not None:
            electric = len(motors)
            motors.append((drive.mode, drive.dc_motor, gear))
        envelope = (np.inf, np.inf, np.inf, np.inf, 0.0)
        if magnet is not None and gear is not None:
            lever = gear.ratio * gear.efficiency
            envelope = (
                lever * magnet.peak_torque,
                lever * magnet.rated_torque,
                magnet.base_speed / gear.ratio,
                magnet.no_load_speed / gear.ratio,
                1.0 / magnet.thermal_time_constant,
            )
        values = (
            machine.member_of(drive.joint),
            *(MODES[drive.mode], drive.stiffness, drive.damping, drive.integral, drive.effort_limit),
            *(limits.get(drive.joint, np.inf), electric, *envelope),
        )
        for field, value in zip(columns, values, strict=True):
            columns[field].append(value)
    whole = ("member", "mode", "electric")
    arrays = {f: np.array(c, dtype=np.int64 if f in whole else float) for f, c in columns.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return Drives(**arrays, motors=make_electric_drives(motors, step))


@inlined
def _wanted(drives, d, command):
    """A command within what its joint may do."""
    if drives.mode[d] == VELOCITY:
        return min(max(command, -drives.speed_limit[d]), drives.speed_limit[d])
    return command


@kernel
def aim_drive(drives, d, position, speed, step, command, mobility, pull, kept, work):
    """What drive d does in a step: a spring, its limit, and an effort beside it.

    Args:
        drives, d: the drive.
        position, speed: of the joint at the start of the step [rad or m, rad/s or m/s].
        step: h [s].
        command: position, speed or effort wanted.
        mobility: of the joint, one over its inertia [1/(kg m2) or 1/kg].
        pull: acceleration of the joint without the drive [rad/s2 or m/s2].
        kept: what it remembers, (KEPT,).
        work: buffers, see `electric`.

    Returns:
        Conductance g and target speed b (see `constraints.rows`), greatest effort of the spring [N m or N], and the
        effort that goes with no speed [N m or N].
    """
    command, limit = _wanted(drives, d, command), drives.effort_limit[d]
    if drives.electric[d] >= 0:
        at, impulse, slope = electric_spring(
            drives.motors, drives.electric[d], kept, position, speed, step, command, mobility, pull, work
        )
        if slope < 0.0:
            return -slope, at - impulse / slope, limit, 0.0
        return 0.0, 0.0, limit, min(max(impulse / step, -limit), limit)
    if drives.mode[d] == EFFORT:
        limit = min(limit, _envelope(drives, d, speed, command, kept[WARMTH]))
        return 0.0, 0.0, limit, min(max(command, -limit), limit)
    k, c, k_i = drives.stiffness[d], drives.damping[d], drives.integral[d]
    if drives.mode[d] == POSITION:
        resistance = step * (k + step * k_i) + c
        g, b = step * resistance, ((k + step * k_i) * (command - position) + k_i * kept[INTEGRAL]) / resistance
    else:
        resistance = c + step * k_i
        g, b = step * resistance, command + k_i * kept[INTEGRAL] / resistance
    limit = min(limit, _envelope(drives, d, speed, b - speed, kept[WARMTH]))
    return g, b, limit, 0.0


@inlined
def _envelope(drives, d, speed, effort, warmth):
    """Greatest effort that a permanent-magnet motor gives, where it drives; braking it is not short of voltage."""
    peak, rated = drives.peak[d], drives.rated[d]
    if warmth > _WARM:
        peak = max(rated, rated + (peak - rated) * (1.0 - warmth) / (1.0 - _WARM))
    fast, none = drives.base_speed[d], drives.no_load_speed[d]
    if effort * speed > 0.0 and abs(speed) > fast:
        peak *= max((none - abs(speed)) / (none - fast), 0.0)
    return peak


@kernel
def settle_drive(drives, d, position, speed, step, command, effort, limit, kept, work):
    """Moves what drive d remembers on by the speed that the step has found.

    Args:
        drives, d: the drive.
        position, speed: of the joint at the start of the step, and its speed at the end.
        step: [s].
        command: position, speed or effort wanted.
        effort: that the drive gave in the step, and its limit.
        limit: [N m or N].
        kept: what it remembers, changed.
        work: buffers, see `electric`.
    """
    command = _wanted(drives, d, command)
    if drives.electric[d] >= 0:
        drive_through(drives.motors, drives.electric[d], kept, position, speed, command, work)
        for k in range(KEPT):
            kept[k] = work[0, k]
        return
    if drives.integral[d] > 0.0 and drives.mode[d] != EFFORT:
        error = command - speed
        if drives.mode[d] == POSITION:
            error = command - position - step * speed
        # at its limit it would only wind up
        if abs(effort) < limit or effort * error < 0.0:
            kept[INTEGRAL] += step * error
    if drives.warming[d] > 0.0:
        share = effort / drives.rated[d]
        kept[WARMTH] += step * drives.warming[d] * (share * share - kept[WARMTH]) / (1.0 + step * drives.warming[d])
