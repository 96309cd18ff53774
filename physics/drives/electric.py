"""Converter, motor and gear of a servo drive within a step.

Between two changes of what acts (voltage within its limit or not, motor driving or driven, gear engaged on either side
or in its backlash) a drive is a linear system. Over a step the joint moves with the speed that it has at the end, as it
does for everything else; so the drive goes through the step exactly, by matrix exponentials, in parts no longer than
its shortest lag. What acts is seen at the start of a part; where something else does at its end, it is made again in
quarters. The impulse that it gives the joint is a line over that speed, as long as the same acts, and enters the
equations of motion as a spring would. Where on its polygon it will be, the drive guesses by the joint's own inertia and
what else pulls at it. A lag that is much shorter than the step is as right as a long one.

The variables z of a part, in this order; the last four do not change in it:

    x_1, x_2    stages of the compensator
    I           current [A]
    phi, P      the joint's position, and the impulse that it was given
    delta, beta twist of an elastic gear, and the rotor's speed, both at the joint
    omega, c, s, 1   the joint's speed, the command, the sign of a voltage at its limit, and one
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.drives import DcMotor, Gear
from grouser.physics.drives.compensator import compensator_rows
from grouser.physics.drives.modes import MODES, POSITION, VELOCITY

FIRST, SECOND, CURRENT, PLACE, IMPULSE, TWIST, ROTOR, SPEED, COMMAND, SIGN, ONE = range(11)
SIZE = 11
# How many move, the first ones: with a rigid gear, and with an elastic one. They are what a drive remembers.
_RIGID, KEPT = 5, 7
# What acts: voltage free or at its limit; motor driving or driven; gear engaged forward, backward, or not at all.
_MODES = 2 * 2 * 3
_ENGAGED, _REVERSED, _LOOSE = range(3)
# No more parts of a step than this, and in how many a part is made in which something changes.
_PARTS, _FINER = 64, 4
# Rounds in which the joint's speed is guessed.
_ROUNDS = 4


class ElectricDrives(NamedTuple):
    """Electric drives of a machine.

    Attributes:
        transition: what a part, or a finer one, makes of z, by what acts, (drives, 2, modes, SIZE, SIZE).
        voltage: voltage by z, when it is within its limit, (drives, SIZE) [V].
        voltage_limit: [V].
        parts: that a step is made in.
        elastic: whether the rotor moves against the joint.
        half_gap: of the backlash, at the joint [rad or m].
    """

    transition: np.ndarray
    voltage: np.ndarray
    voltage_limit: np.ndarray
    parts: np.ndarray
    elastic: np.ndarray
    half_gap: np.ndarray


def make_electric_drives(drives: list[tuple[str, DcMotor, Gear]], step: float) -> ElectricDrives:
    """Electric drives: mode, motor and gear of each, at a step [s]."""
    count = len(drives)
    found = ElectricDrives(
        transition=np.zeros((count, 2, _MODES, SIZE, SIZE)),
        voltage=np.zeros((count, SIZE)),
        voltage_limit=np.array([motor.voltage_limit for _, motor, _ in drives], dtype=float),
        parts=np.ones(count, dtype=np.int64),
        elastic=np.array([gear.stiffness is not None for _, _, gear in drives], dtype=np.bool_),
        half_gap=np.array([0.5 * gear.backlash for _, _, gear in drives], dtype=float),
    )
    for d, (mode, motor, gear) in enumerate(drives):
        lags = [motor.armature_time_constant, motor.compensator_lag]
        if gear.stiffness is not None:
            inertia = gear.ratio**2 * motor.rotor_inertia
            lags.append(math.sqrt(inertia / gear.stiffness))
        found.parts[d] = min(max(math.ceil(step / min(lags)), 1), _PARTS)
        found.voltage[d] = _compensator(MODES[mode], motor, gear)[2]
        for acting in range(_MODES):
            rates = _rates(MODES[mode], motor, gear, acting)
            for fine, parts in enumerate((found.parts[d], _FINER * found.parts[d])):
                found.transition[d, fine, acting] = expm(rates * step / parts)
    for array in found:
        array.flags.writeable = False
    return found


def _error(mode: int, motor: DcMotor, gear: Gear) -> np.ndarray:
    """What goes into the compensator, by z."""
    error = np.zeros(SIZE)
    error[COMMAND] = 1.0
    error[CURRENT] = motor.torque_feedback * motor.torque_constant
    if mode == POSITION:
        error[PLACE] = -1.0
    elif mode == VELOCITY:
        error[SPEED] = -1.0
    else:
        error[CURRENT] -= gear.ratio * motor.torque_constant
    return error


def _compensator(mode: int, motor: DcMotor, gear: Gear) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rates of both stages times their lag, and the voltage, by z."""
    error = _error(mode, motor, gear)
    one, other, output = compensator_rows(motor.compensator_lead, motor.compensator_lag, error, FIRST, SECOND)
    return one, other, motor.gain * output


def _rates(mode: int, motor: DcMotor, gear: Gear, acting: int) -> np.ndarray:
    """Matrix of dz/dt while the same acts."""
    limited, driven, engaged = acting % 2, acting // 2 % 2, acting // 4
    rates = np.zeros((SIZE, SIZE))
    rates[FIRST], rates[SECOND], rates[CURRENT] = _compensator(mode, motor, gear)
    rates[[FIRST, SECOND]] /= motor.compensator_lag
    if limited:
        rates[CURRENT] = motor.voltage_limit * np.eye(SIZE)[SIGN]
    rates[CURRENT, CURRENT] -= motor.resistance
    rates[CURRENT, SPEED if gear.stiffness is None else ROTOR] -= motor.back_emf_constant * gear.ratio
    rates[CURRENT] /= motor.resistance * motor.armature_time_constant
    torque = np.zeros(SIZE)
    torque[CURRENT] = gear.ratio * motor.torque_constant * (1.0 / gear.efficiency if driven else gear.efficiency)
    if gear.stiffness is not None:
        shaft = np.zeros(SIZE)
        if engaged != _LOOSE:
            shaft[TWIST], shaft[ROTOR], shaft[SPEED] = gear.stiffness, gear.damping, -gear.damping
            shaft[ONE] = gear.stiffness * 0.5 * gear.backlash * (-1.0 if engaged == _ENGAGED else 1.0)
        rates[TWIST, ROTOR], rates[TWIST, SPEED] = 1.0, -1.0
        rates[ROTOR] = (torque - shaft) / (gear.ratio**2 * motor.rotor_inertia)
        torque = shaft
    rates[IMPULSE] = torque
    rates[PLACE, SPEED] = 1.0
    return rates


@inlined
def _acting(electric, d, z):
    """What acts on drive d, and the sign of a voltage that is at its limit."""
    voltage = 0.0
    for k in range(SIZE):
        voltage += electric.voltage[d, k] * z[k]
    limited = 1 if abs(voltage) > electric.voltage_limit[d] else 0
    turned = z[ROTOR] if electric.elastic[d] else z[SPEED]
    driven = 1 if z[CURRENT] * turned < 0.0 else 0
    engaged = _ENGAGED
    if electric.half_gap[d] > 0.0:
        gap = electric.half_gap[d]
        engaged = _ENGAGED if z[TWIST] > gap else _REVERSED if z[TWIST] < -gap else _LOOSE
    return limited + 2 * driven + 4 * engaged, 1.0 if voltage >= 0.0 else -1.0


@kernel
def electric_spring(electric, d, kept, position, speed, step, command, mobility, pull, work):
    """Impulse of drive d over a step, as a line over the joint's speed at the end, where that is expected.

    Args:
        electric, d: the drive.
        kept: what it remembers, (KEPT,).
        position, speed: of the joint at the start [rad or m, rad/s or m/s].
        step: [s].
        command: position, speed or effort wanted.
        mobility: of the joint, one over its inertia [1/(kg m2) or 1/kg].
        pull: acceleration of the joint without the drive [rad/s2 or m/s2].
        work: buffers, see `drive_through`.

    Returns:
        A speed, the impulse at it [N m s or N s], and how much that changes with the speed.
    """
    expected = tried = speed
    impulse = slope = 0.0
    for _ in range(_ROUNDS):
        tried = expected
        impulse, slope, changed = drive_through(electric, d, kept, position, tried, command, work)
        expected = (speed + step * pull + mobility * (impulse - slope * tried)) / (1.0 - mobility * min(slope, 0.0))
        if not changed or abs(expected - tried) <= 1e-9 * (abs(expected) + abs(speed)):
            break
    return tried, impulse, slope


@kernel
def drive_through(electric, d, kept, position, speed, command, work):
    """Takes drive d through a step in which the joint keeps a speed.

    Args:
        electric, d, kept, position, command: as in `electric_spring`.
        speed: of the joint [rad/s or m/s].
        work: buffers, (5, SIZE): the variables at the end, their change with the speed, and others.

    Returns:
        Impulse that the drive gives [N m s or N s], how much it changes with the speed, and whether what acts changed.
    """
    z, slope, moving = work[0], work[1], KEPT if electric.elastic[d] else _RIGID
    for k in range(KEPT):
        z[k] = kept[k]
        slope[k] = 0.0
    z[PLACE], z[IMPULSE], z[SPEED], z[COMMAND], z[SIGN], z[ONE] = position, 0.0, speed, command, 1.0, 1.0
    slope[SPEED], slope[COMMAND], slope[SIGN], slope[ONE] = 1.0, 0.0, 0.0, 0.0
    whole, fine, changed = electric.transition[d, 0], electric.transition[d, 1], False
    acting, z[SIGN] = _acting(electric, d, z)
    for _ in range(electric.parts[d]):
        for k in range(moving):
            work[3, k], work[4, k] = z[k], slope[k]
        _advance(whole[acting], moving, z, work[2])
        _advance(whole[acting], moving, slope, work[2])
        then, sign = _acting(electric, d, z)
        if then != acting or (then % 2 == 1 and sign != z[SIGN]):
            changed = True
            for k in range(moving):
                z[k], slope[k] = work[3, k], work[4, k]
            for _ in range(_FINER):
                acting, z[SIGN] = _acting(electric, d, z)
                _advance(fine[acting], moving, z, work[2])
                _advance(fine[acting], moving, slope, work[2])
            then, sign = _acting(electric, d, z)
        acting, z[SIGN] = then, sign
    return z[IMPULSE], slope[IMPULSE], changed


@inlined
def _advance(transition, moving, z, after):
    """z <- transition z, of the variables that move."""
    for i in range(moving):
        total = 0.0
        for k in range(SIZE):
            total += transition[i, k] * z[k]
        after[i] = total
    for i in range(moving):
        z[i] = after[i]
