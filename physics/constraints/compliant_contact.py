"""Impulses of a contact with a slight compliance, and their slopes by its speeds, for Newton's method."""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.constraints.packed import resists_turning
from grouser.physics.constraints.rows import IMMOVABLE

if TYPE_CHECKING:
    from grouser.physics.constraints.newton import Newton

# An impulse within this share of its limit is at the limit.
_BORDER = 1e-9


@inlined
def evaluate_contact(contact_rows, c, newton: "Newton", stiffness, u, foretold):
    """Impulse and slope of contact c at the velocity u, and its part of the residual."""
    jacobian, index, size = contact_rows.whitened_jacobian[c], contact_rows.index[c], np.uintp(contact_rows.size[c])
    inverse, anchor, impulse, slope = contact_rows.inverse_mass[c], newton.anchor[c], newton.impulse[c], newton.slope[c]
    speed = speed_x = speed_y = 0.0
    for k in range(size):
        rate = u[index[k]]
        speed += jacobian[k, 0] * rate
        speed_x += jacobian[k, 1] * rate
        speed_y += jacobian[k, 2] * rate
    gain = stiffness / inverse[0]
    gain = gain / (1.0 + gain * contact_rows.compliance[c])
    normal = gain * (inverse[0] / stiffness * anchor[0] + contact_rows.target[c] - speed)
    for k in range(6):
        impulse[k] = 0.0
    # without a slope, the contact takes no part in the linear system
    slope[0, 0] = 0.0
    before = newton.foretold[c]
    if (before[0] if foretold else normal) <= 0.0:
        return
    across = max(inverse[1], inverse[2])
    along = stiffness / across if across >= IMMOVABLE else 0.0
    friction = contact_rows.friction[c]
    x, y, xx, xy, yy, to_x, to_y = _in_disk(
        *(anchor[1] - along * speed_x, anchor[2] - along * speed_y, along, friction * normal, friction * gain),
        *(foretold, before[1], before[2], friction * before[0], speed_x, speed_y),
    )
    impulse[0], impulse[1], impulse[2] = normal, x, y
    slope[0, 0], slope[1, 0], slope[2, 0] = gain, to_x, to_y
    slope[1, 1], slope[1, 2], slope[2, 1], slope[2, 2] = xx, xy, xy, yy
    residual = newton.residual
    for k in range(size):
        residual[index[k]] -= jacobian[k, 0] * normal + jacobian[k, 1] * x + jacobian[k, 2] * y
    if resists_turning(contact_rows, c):
        _evaluate_turning(contact_rows, c, newton, stiffness, normal, gain, u, foretold)


@inlined
def _evaluate_turning(contact_rows, c, newton: "Newton", stiffness, normal, gain, u, foretold):
    """Moments of contact c and their slopes at the velocity u, and their part of the residual."""
    turning, index, size = contact_rows.turning[c], contact_rows.index[c], np.uintp(contact_rows.size[c])
    inverse, anchor, slope = contact_rows.turning_inverse[c], newton.anchor[c], newton.turning_slope[c]
    before = newton.foretold[c]
    spin = roll_x = roll_y = 0.0
    for k in range(size):
        rate = u[index[k]]
        spin += turning[k, 0] * rate
        roll_x += turning[k, 1] * rate
        roll_y += turning[k, 2] * rate
    along = stiffness / inverse[0] if inverse[0] >= IMMOVABLE else 0.0
    # on a line, the disk is an interval
    spinning = contact_rows.spinning[c]
    about, _, slope[0, 1], _, _, slope[0, 0], _ = _in_disk(
        *(anchor[3] - along * spin, 0.0, along, spinning * normal, spinning * gain),
        *(foretold, before[3], 0.0, spinning * before[0], spin, 0.0),
    )
    across = max(inverse[1], inverse[2])
    along = stiffness / across if across >= IMMOVABLE else 0.0
    rolling = contact_rows.rolling[c]
    x, y, xx, xy, yy, to_x, to_y = _in_disk(
        *(anchor[4] - along * roll_x, anchor[5] - along * roll_y, along, rolling * normal, rolling * gain),
        *(foretold, before[4], before[5], rolling * before[0], roll_x, roll_y),
    )
    slope[1, 0], slope[1, 2], slope[1, 3] = to_x, xx, xy
    slope[2, 0], slope[2, 2], slope[2, 3] = to_y, xy, yy
    newton.impulse[c, 3], newton.impulse[c, 4], newton.impulse[c, 5] = about, x, y
    residual = newton.residual
    for k in range(size):
        residual[index[k]] -= turning[k, 0] * about + turning[k, 1] * x + turning[k, 2] * y


@embedded
def _in_disk(x, y, gain, radius, growth, foretold, before_x, before_y, before_radius, speed_x, speed_y):
    """The point of a disk nearest to (x, y), and its slopes; or the point on a foretold branch.

    The branches are the inside, where the point is (x, y), and the border, where it is opposite to the speed. On the
    foretold border it turns from where it was as the speed turns.

    Args:
        x, y: the point.
        gain: -dx/d(speed along x), and the same for y.
        radius: of the disk.
        growth: -d(radius)/d(normal speed).
        foretold: whether the branch is foretold.
        before_x, before_y, before_radius: a point and a disk that foretell it.
        speed_x, speed_y: the speeds.

    Returns:
        x, y of the nearest point; its slopes xx, xy, yy by the speeds; its slopes by the normal speed.
    """
    if foretold:
        size = math.sqrt(before_x * before_x + before_y * before_y)
        inside = size < before_radius * (1.0 - _BORDER)
    else:
        size = math.sqrt(x * x + y * y)
        inside = size <= radius
    if inside:
        return x, y, gain, 0.0, gain, 0.0, 0.0
    if size == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if foretold:
        x, y = before_x / size, before_y / size
        turn = gain * before_radius / (before_radius + gain * math.sqrt(speed_x * speed_x + speed_y * speed_y))
        across = turn * (speed_x * y - speed_y * x)
    else:
        x, y = x / size, y / size
        turn, across = gain * radius / size, 0.0
    return (
        *(radius * x - across * y, radius * y + across * x),
        *(turn * y * y, -turn * x * y, turn * x * x, growth * x, growth * y),
    )
