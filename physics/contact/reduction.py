"""Few contact points that keep the polygon on which a body stands.

Corners of a convex polygon are chosen one by one: the farthest from the chord between their chosen neighbours comes
next, until none is farther than a small share of the polygon's width, or enough are chosen. The polygon of those chosen
lies inside the whole one by at most that share of its diameter, or, where eight corners are too few, by at most 12 %:
that of a nonagon without a corner; 4 % for a circle.
"""

import math

import numpy as np

from grouser.physics.base.kernel import kernel

# Points of a pair of which one is a convex mesh, or of a mesh with the ground.
HULL_POINTS = 8
# Points to which those are added that do not bear yet; their largest gap unless it closes within two steps anyway: half
# a metre per second, in a step of a millisecond [m].
FEW_POINTS, NEAR = 4, 5e-4
# Points whose gaps differ by less bear together [m]: a few times the gap that is tolerated (`rows.CONTACT_SLOP`).
BEARING = 5e-5
# Corners nearer to the chord, as a share of the distance of the first two, are left out.
_NEAR_CHORD = 0.01
# Of two corners that are equal but for rounding, the first one is taken.
_TIE = 1.0 + 1e-6
# A direction in a solid's frame that is parallel to no edge of common solids: rounding must not decide the first
# corner.
FIRST_CORNER = (0.36, 0.48, 0.8)
_X, _Y = 0, 1


@kernel
def choose_corners(polygon, count, most, gu, gv, chosen):
    """Chooses corners of a convex polygon.

    Args:
        polygon: corners, counter-clockwise, (count or more, 2 or more).
        count: of corners.
        most: largest number to choose.
        gu, gv: a direction in the plane that moves with the solid; the first corner is the farthest along it.
        chosen: result, indices of the chosen corners, ascending, (most or more,).

    Returns:
        Their number.
    """
    if count == 0 or most <= 0:
        return 0
    first, best = 0, -math.inf
    for k in range(count):
        along = gu * polygon[k, _X] + gv * polygon[k, _Y]
        if along > best:
            best, first = along, k
    chosen[0] = first
    second, best = -1, 0.0
    for k in range(count):
        square = (polygon[k, _X] - polygon[first, _X]) ** 2 + (polygon[k, _Y] - polygon[first, _Y]) ** 2
        if square > _TIE * best:
            best, second = square, k
    if second < 0 or most == 1:
        return 1
    number = _insert(chosen, 1, second)
    least = _NEAR_CHORD * math.sqrt(best)
    while number < most:
        farthest, corner = least, -1
        for n in range(number):
            a, b = chosen[n], chosen[n + 1 if n + 1 < number else 0]
            ux, uy = polygon[b, _X] - polygon[a, _X], polygon[b, _Y] - polygon[a, _Y]
            length = math.sqrt(ux * ux + uy * uy)
            k = a + 1 if a + 1 < count else 0
            while k != b:
                distance = ((polygon[k, _X] - polygon[a, _X]) * uy - (polygon[k, _Y] - polygon[a, _Y]) * ux) / length
                if distance > _TIE * farthest:
                    farthest, corner = distance, k
                k = k + 1 if k + 1 < count else 0
        if corner < 0:
            break
        number = _insert(chosen, number, corner)
    return number


@kernel
def _insert(chosen, number, corner):
    """Inserts an index into an ascending list; returns the number of its entries."""
    k = number
    while k > 0 and chosen[k - 1] > corner:
        chosen[k] = chosen[k - 1]
        k -= 1
    chosen[k] = corner
    return number + 1


def make_chosen() -> np.ndarray:
    """A list for `choose_corners`."""
    return np.zeros(HULL_POINTS, dtype=np.int64)
