"""How soil comes to know the motion of a wheel, and forgets it."""

import math

from grouser.physics.base.kernel import inlined

# Length over which the soil under a wheel comes to know how it moves, as a share of its radius [-].
MEMORY = 0.25
# Slower than this a wheel is taken to stand: its slip fades with its speed, and is not that of rounding errors [m/s].
STANDSTILL = 1e-4
# A wheel that trembles slower than this does not roll [m/s].
STANDING = 1e-4
# Under a wheel that stands, shear answers not only where it is but where it will be so much later: this damps the
# swinging of what is parked. It fades with the square of the wheel's speed over the other number [s, m/s].
_LEAD, _PARKED = 5e-2, 1e-2


@inlined
def speeds(wheels, w, axis, frame, twist):
    """Speed of the rim, of the wheel ahead and to the left [m/s]."""
    rim = wheels.radius[w] * (twist[3] * axis[0] + twist[4] * axis[1] + twist[5] * axis[2])
    ahead = twist[0] * frame[0, 0] + twist[1] * frame[0, 1] + twist[2] * frame[0, 2]
    aside = twist[0] * frame[1, 0] + twist[1] * frame[1, 1] + twist[2] * frame[1, 2]
    return rim, ahead, aside


@inlined
def shear_lead(rim, ahead, aside):
    """How far ahead in time shear answers under a wheel of these speeds [s]."""
    return _LEAD / (1.0 + (rim * rim + ahead * ahead + aside * aside) / (_PARKED * _PARKED))


@inlined
def remembered(motion, rim, ahead, aside, radius, step):
    """What the soil knows of a wheel's motion at the end of a step: a, b, c of `stress_contact`, how far it rolled."""
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
    """Slip by the speeds of rim and wheel: over the rim's when driving, over the wheel's when braking; 0 at rest."""
    reference = rolling if abs(rolling) >= abs(forward) else forward
    if reference == 0.0:
        return 0.0
    return min(max((rolling - forward) / reference, -1.0), 1.0)


@inlined
def shown_slip(rolling, forward, lateral):
    """Slip and slip angle [rad] of a wheel, fading where it comes to rest.

    The angle is that from the heading to the way, positive where the wheel moves to its left, within a quarter turn: a
    wheel that rolls backwards has its heading behind it.

    Args:
        rolling: speed of the rim about the wheel's centre [m/s].
        forward, lateral: of the centre, along the heading and to the left of it [m/s].
    """
    known = min(max(max(abs(rolling), abs(forward)), abs(lateral)) / STANDSTILL, 1.0)
    return known * slip_of(rolling, forward), known * math.atan2(lateral, abs(forward))
