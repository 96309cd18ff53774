"""Converter, motor and gear of a servo drive within a step.

Between changes of regime (voltage saturated or not, motor driving or driven, gear engaged on either side or in its
backlash) a drive is a linear system. Over a step the joint moves with its speed at the end of the step, so the drive is
integrated exactly, by matrix exponentials, in parts no longer than its shortest lag. The regime is determined at the
start of a part; if it differs at the end, the part is repeated in quarters. Within a regime the impulse on the joint is
linear in that speed, and enters the equations of motion like a spring; it is linearised at a speed predicted by the
joint's own inertia and the other forces. Lags much shorter than the step are integrated as accurately as long ones.

The variables z of a part, in this order; the last four are constant within it:

    x_1, x_2    stages of the compensator
    I           current [A]
    phi, P      the joint's position, and the impulse on it
    delta, beta twist of an elastic gear, and the rotor's speed, both on the joint's side
    omega, c, s, 1   the joint's speed, the command, the sign of a voltage at its limit, and one
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.drives import DcMotor, Gear
from grouser.physics.drives.compensator import compensator_rows
from grouser.physics.drives.modes import MODES, POSITION, VELOCITY

FIRST, SECOND, CURRENT, PLACE, IMPULSE, TWIST, ROTOR, SPEED, COMMAND, SIGN, ONE = range(11)
SIZE = 11
# Number of variables that change, from the first: with a rigid gear, and with an elastic one. They are its state.
_RIGID, KEPT = 5, 7
# Regimes: voltage free or at its limit; motor driving or driven; gear engaged forward, backward, or in its backlash.
_REGIMES = 2 * 2 * 3
_ENGAGED, _REVERSED, _LOOSE = range(3)
# Most parts of a step, and subdivision of a part in which the regime changes.
_PARTS, _FINER = 64, 4
# Most rounds of the prediction of the joint's speed.
_ROUNDS = 4


class ElectricDrives(NamedTuple):
    """Electric drives of a machine.

    Attributes:
        transition: matrix of z over a part, or over a finer one, by regime, (drives, 2, regimes, SIZE, SIZE).
        voltage: unsaturated voltage, as a row over z, (drives, SIZE) [V].
        voltage_limit: [V].
        parts: number of parts of a step.
        elastic: whether the gear is elastic.
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
        transition=np.zeros((count, 2, _REGIMES, SIZE, SIZE)),
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
        for regime in range(_REGIMES):
            rates = _rates(MODES[mode], motor, gear, regime)
            for fine, parts in enumerate((found.parts[d], _FINER * found.parts[d])):
                found.transition[d, fine, regime] = _exponential(rates * step / parts)
    for array in found:
        array.flags.writeable = False
    return found


def _exponential(matrix: np.ndarray) -> np.ndarray:
    from scipy.linalg import expm  # takes long to import, and few machines have a motor

    return expm(matrix)


def _error(mode: int, motor: DcMotor, gear: Gear) -> np.ndarray:
    """Input of the compensator, as a row over z."""
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
    """Rates of both stages times their lag, and the voltage, as rows over z."""
    error = _error(mode, motor, gear)
    one, other, output = compensator_rows(motor.compensator_lead, motor.compensator_lag, error, FIRST, SECOND)
    return one, other, motor.gain * output


def _rates(mode: int, motor: DcMotor, gear: Gear, regime: int) -> np.ndarray:
    """Matrix of dz/dt in a regime."""
    limited, driven, engaged = regime % 2, regime // 2 % 2, regime // 4
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
def _regime_of(electric: ElectricDrives, d, z):
    """Regime of drive d, and the sign of its voltage."""
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
def electric_spring(electric: ElectricDrives, d, kept, position, speed, step: float, command, mobility, pull, work):
    """Impulse of drive d over a step, linearised at the predicted speed of the joint at the end.

    Args:
        electric, d: the drive.
        kept: internal state of the drive, (KEPT,).
        position, speed: of the joint at the start [rad or m, rad/s or m/s].
        step: [s].
        command: desired position, speed or effort.
        mobility: of the joint, one over its inertia [1/(kg m2) or 1/kg].
        pull: acceleration of the joint without the drive [rad/s2 or m/s2].
        work: buffers, see `drive_through`.

    Returns:
        The predicted speed, the impulse at it [N m s or N s], and its derivative by the speed.
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
def drive_through(electric: ElectricDrives, d, kept, position, speed, command, work):
    """Integrates drive d over a step with the joint at constant speed.

    Args:
        electric, d, kept, position, command: as in `electric_spring`.
        speed: of the joint [rad/s or m/s].
        work: buffers, (5, SIZE): the variables at the end, their derivatives by the speed, and others.

    Returns:
        Impulse of the drive [N m s or N s], its derivative by the speed, and whether the regime changed.
    """
    z, slope, moving = work[0], work[1], KEPT if electric.elastic[d] else _RIGID
    for k in range(KEPT):
        z[k] = kept[k]
        slope[k] = 0.0
    z[PLACE], z[IMPULSE], z[SPEED], z[COMMAND], z[SIGN], z[ONE] = position, 0.0, speed, command, 1.0, 1.0
    slope[SPEED], slope[COMMAND], slope[SIGN], slope[ONE] = 1.0, 0.0, 0.0, 0.0
    whole, fine, changed = electric.transition[d, 0], electric.transition[d, 1], False
    regime, z[SIGN] = _regime_of(electric, d, z)
    for _ in range(electric.parts[d]):
        for k in range(moving):
            work[3, k], work[4, k] = z[k], slope[k]
        _advance(whole[regime], moving, z, work[2])
        _advance(whole[regime], moving, slope, work[2])
        then, sign = _regime_of(electric, d, z)
        if then != regime or (then % 2 == 1 and sign != z[SIGN]):
            changed = True
            for k in range(moving):
                z[k], slope[k] = work[3, k], work[4, k]
            for _ in range(_FINER):
                regime, z[SIGN] = _regime_of(electric, d, z)
                _advance(fine[regime], moving, z, work[2])
                _advance(fine[regime], moving, slope, work[2])
            then, sign = _regime_of(electric, d, z)
        regime, z[SIGN] = then, sign
    return z[IMPULSE], slope[IMPULSE], changed


@inlined
def _advance(transition, moving, z, after):
    """z <- transition z, for the variables that change."""
    for i in range(moving):
        total = 0.0
        for k in range(SIZE):
            total += transition[i, k] * z[k]
        after[i] = total
    for i in range(moving):
        z[i] = after[i]
