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
def shear_lead(rim, ahead, aside):
    """Extrapolation time of the shear under a wheel at these speeds [s]."""
    return _LEAD / (1.0 + (rim * rim + ahead * ahead + aside * aside) / (_PARKED * _PARKED))


@inlined
def updated_memory(motion, rim, ahead, aside, radius, step: float):
    """Memory at the end of a step: a, b, c of `stress_contact`, and the rolled state q."""
    path = step / (MEMORY * radius)
    way = 0.5 * (rim + ahead)
    rolled = path * max(abs(way) - STANDING, 0.0)
    fading = 1.0 / (1.0 + path * max(max(abs(rim), abs(ahead)), abs(aside)))
    return (
        fading * (motion[0] + path * rim),
        fading * (motion[1] + path * ahead),
        fading * (motion[2] + path * aside),
        (motion[3] + math.copysign(rolled, way)) / (1.0 + rolled),
    )


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
