"""Servo drives of joints in a step: a limited implicit spring and damper, stable at any stiffness.

The effort of a drive at the end of the step, within its limit, is k (command - position) + k_i (its integral) - d
speed, or d (command - speed) + k_i (its integral). `electric` models converter and DC motor. The limit of a
permanent-magnet motor depends on speed and temperature.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.machine import Machine
from grouser.physics.drives.electric import KEPT, ElectricDrives, drive_through, electric_spring, make_electric_drives
from grouser.physics.drives.modes import EFFORT, MODES, POSITION, VELOCITY

# State of a drive without a DC motor: integral of its error [rad s, m s, rad or m], and temperature rise of its winding
# over that at rated torque [-].
INTEGRAL, WARMTH = 0, 1
# Above this temperature rise the peak torque falls to the rated torque [-].
_WARM = 0.95


class Drives(NamedTuple):
    """Servo drives, shape (drives,) each.

    Attributes:
        member: number of the drive's machine, 0 for a single one (`Machine.member_of`).
        mode: POSITION, VELOCITY or EFFORT.
        stiffness, damping, integral: k, d and k_i.
        effort_limit: [N m or N].
        holding_effort: of the holding brake [N m or N]; 0 without one.
        speed_limit: of velocity commands [rad/s or m/s].
        electric: number in `motors`, -1 for a drive without a DC motor.
        peak, rated: of a permanent-magnet motor, at the joint [N m or N]; infinite without one.
        base_speed, no_load_speed: of a permanent-magnet motor, at the joint [rad/s or m/s].
        warming: inverse of its thermal time constant [1/s]; 0 without a motor.
        motors: DC motors with their converters and gears.
    """

    member: np.ndarray
    mode: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    integral: np.ndarray
    effort_limit: np.ndarray
    holding_effort: np.ndarray
    speed_limit: np.ndarray
    electric: np.ndarray
    peak: np.ndarray
    rated: np.ndarray
    base_speed: np.ndarray
    no_load_speed: np.ndarray
    warming: np.ndarray
    motors: ElectricDrives


def make_drives(machine: Machine, step: float) -> Drives:
    """The machine's drives, for a step [s]."""
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
            *(drive.holding_effort, limits.get(drive.joint, np.inf), electric, *envelope),
        )
        for field, value in zip(columns, values, strict=True):
            columns[field].append(value)
    whole = ("member", "mode", "electric")
    arrays = {f: np.array(c, dtype=np.int64 if f in whole else float) for f, c in columns.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return Drives(**arrays, motors=make_electric_drives(motors, step))


@inlined
def _limited_command(drives: Drives, d, command):
    """A command, limited to the speed limit of its joint."""
    if drives.mode[d] == VELOCITY:
        return min(max(command, -drives.speed_limit[d]), drives.speed_limit[d])
    return command


@kernel
def linearise_drive(drives: Drives, d, position, speed, step: float, command, mobility, pull, kept, work):
    """Linearises drive d for a step: a spring, its limit, and an explicit effort.

    Args:
        drives, d: the drive.
        position, speed: of the joint at the start of the step [rad or m, rad/s or m/s].
        step: h [s].
        command: desired position, speed or effort.
        mobility: of the joint, one over its inertia [1/(kg m2) or 1/kg].
        pull: acceleration of the joint without the drive [rad/s2 or m/s2].
        kept: internal state of the drive, (KEPT,).
        work: buffers, see `electric`.

    Returns:
        Conductance g and target speed b (see `constraints.rows`), greatest effort of the spring [N m or N], and the
        explicit effort [N m or N].
    """
    command, limit = _limited_command(drives, d, command), drives.effort_limit[d]
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
def _envelope(drives: Drives, d, speed, effort, warmth):
    """Greatest effort of a permanent-magnet motor; the voltage limits it only when it drives, not when it brakes."""
    peak, rated = drives.peak[d], drives.rated[d]
    if warmth > _WARM:
        peak = max(rated, rated + (peak - rated) * (1.0 - warmth) / (1.0 - _WARM))
    fast, none = drives.base_speed[d], drives.no_load_speed[d]
    if effort * speed > 0.0 and abs(speed) > fast:
        peak *= max((none - abs(speed)) / (none - fast), 0.0)
    return peak


@kernel
def commit_drive(drives: Drives, d, position, speed, step: float, command, effort, limit, kept, work):
    """Advances the internal state of drive d by the solved speed.

    Args:
        drives, d: the drive.
        position, speed: of the joint, at the start of the step and at its end.
        step: [s].
        command: desired position, speed or effort.
        effort, limit: effort of the drive in the step, and its limit [N m or N].
        kept: internal state of the drive, changed.
        work: buffers, see `electric`.
    """
    command = _limited_command(drives, d, command)
    if drives.electric[d] >= 0:
        drive_through(drives.motors, drives.electric[d], kept, position, speed, command, work)
        for k in range(KEPT):
            kept[k] = work[0, k]
        return
    if drives.integral[d] > 0.0 and drives.mode[d] != EFFORT:
        error = command - speed
        if drives.mode[d] == POSITION:
            error = command - position - step * speed
        # no integration at the limit: anti-windup
        if abs(effort) < limit or effort * error < 0.0:
            kept[INTEGRAL] += step * error
    if drives.warming[d] > 0.0:
        share = effort / drives.rated[d]
        kept[WARMTH] += step * drives.warming[d] * (share * share - kept[WARMTH]) / (1.0 + step * drives.warming[d])
