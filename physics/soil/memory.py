"""Memory of the soil under a wheel: a low-pass filter of its motion over the rolled distance."""

import math

from grouser.physics.base.kernel import inlined
from grouser.physics.soil.wheels import Wheels

# Length constant of the memory, as a share of the wheel's radius [-].
MEMORY = 0.25
# Below this speed the slip shown fades to 0, so that it is not that of rounding errors [m/s].
STANDSTILL = 1e-4
# Below this speed a wheel does not roll [m/s].
STANDING = 1e-4
# Under a wheel at rest, shear follows the position extrapolated by this time: it damps oscillations of a parked
# vehicle. It fades with the square of the wheel's speed over the second number [s, m/s].
_LEAD, _PARKED = 5e-2, 1e-2


@inlined
def speeds(wheels: Wheels, w, axis, frame, twist):
    """Speeds of the rim, and of the wheel ahead and to the left [m/s]."""
    rim = wheels.radius[w] * (twist[3] * axis[0] + twist[4] * axis[1] + twist[5] * axis[2])
    ahead = twist[0] * frame[0, 0] + twist[1] * frame[0, 1] + twist[2] * frame[0, 2]
    aside = twist[0] * frame[1, 0] + twist[1] * frame[1, 1] + twist[2] * frame[1, 2]
    return rim, ahead, aside


@inlined
def turning_speed(wheels: Wheels, w, frame, twist):
    """Speed at which a wheel that turns about the ground's normal slides at its sides [m/s]."""
    return wheels.half_width[w] * abs(twist[3] * frame[2, 0] + twist[4] * frame[2, 1] + twist[5] * frame[2, 2])


@inlined
def shear_lead(rim, ahead, aside):
    """Extrapolation time of the shear under a wheel at these speeds [s]."""
    return _LEAD / (1.0 + (rim * rim + ahead * ahead + aside * aside) / (_PARKED * _PARKED))


@inlined
def updated_memory(motion, rim, ahead, aside, turning, radius, step: float):
    """Shear memory at the end of a step: a, b, c of `stress_contact`."""
    path = step / (MEMORY * radius)
    fading = 1.0 / (1.0 + path * max(max(abs(rim), abs(ahead)), max(abs(aside), turning)))
    return (
        fading * (motion[0] + path * rim),
        fading * (motion[1] + path * ahead),
        fading * (motion[2] + path * aside),
    )


@inlined
def updated_roll(rolled, rim, ahead, rebound, radius, step: float):
    """Rolled state q at the end of a step: it grows as the wheel rolls on, and is released as the wheel comes back.

    The pressure in front of a wheel resists its motion plastically. When the wheel moves back, that pressure may push
    it no farther than the soil springs back.

    Args:
        rolled: q, -1 (backward) to 1.
        rim, ahead: speeds of the rim and of the wheel [m/s].
        rebound: way back along which the pressure in front vanishes [m].
        radius: of the wheel [m].
        step: h [s].
    """
    if rolled * ahead < 0.0:
        left = abs(rolled) * rebound - step * abs(ahead)
        rolled = math.copysign(left / rebound, rolled) if left > 0.0 else 0.0
    way = 0.5 * (rim + ahead)
    more = step / (MEMORY * radius) * max(abs(way) - STANDING, 0.0)
    return (rolled + math.copysign(more, way)) / (1.0 + more)


@inlined
def slip_of(rolling, forward):
    """Slip by the speeds of rim and wheel: over the rim speed when driving, the wheel speed when braking; 0 at rest."""
    reference = rolling if abs(rolling) >= abs(forward) else forward
    if reference == 0.0:
        return 0.0
    return min(max((rolling - forward) / reference, -1.0), 1.0)


@inlined
def shown_slip(rolling, forward, lateral):
    """Slip and slip angle [rad] of a wheel; both fade to 0 at rest.

    The angle is from the heading to the direction of motion, positive to the left, within a quarter turn: for a wheel
    that rolls backwards it is from the opposite of the heading.

    Args:
        rolling: speed of the rim about the wheel's centre [m/s].
        forward, lateral: of the centre, along the heading and to the left of it [m/s].
    """
    known = min(max(max(abs(rolling), abs(forward)), abs(lateral)) / STANDSTILL, 1.0)
    return known * slip_of(rolling, forward), known * math.atan2(lateral, abs(forward))
