"""Broad phase: the pairs of shapes whose bounding spheres may meet within two steps.

Few pairs are tested one by one. Many are found by sweep and prune (Baraff 1992): the shapes are sorted by the lower
ends of their intervals along the axis on which they are most spread, and only those with overlapping intervals are
tested. The order of the last step is nearly that of this one, so that insertion sort takes linear time. The result is
the same, whatever the order was.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.contacts import CONTACT_MARGIN
from grouser.physics.contact.pairs import CollisionPairs
from grouser.physics.contact.shapes import Shapes

# Up to this number of pairs for each shape, all of them are tested.
_FEW = 4
# Intervals are longer by this share of their numbers, more than rounding can change them.
_ROUNDING = 1e-12


class BroadPhase(NamedTuple):
    """Results and buffers of the broad phase.

    Attributes:
        count: number of near pairs found, and of the contacts that they can have, (2,); more pairs than `pair` can hold
            are counted only.
        pair: the near pairs, ascending, (capacity,).
        found: buffer, the pairs in the order in which they are found, (capacity,).
        start: buffer, first place of the pairs with each digit, (a power of two not less than the shapes + 1,).
        order: the shapes, by the lower ends of their intervals.
        lower, upper: ends of the interval of each shape [m].
        idle: whether each shape does not move, as its body sleeps or it belongs to the world: two of these are not
            near. No shape is idle unless something sleeps.
        active: number of the other shapes, (1,).
        longest: largest interval of an idle shape [m], negative without one, (1,).
    """

    count: np.ndarray
    pair: np.ndarray
    found: np.ndarray
    start: np.ndarray
    order: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    idle: np.ndarray
    active: np.ndarray
    longest: np.ndarray


def make_broad_phase(shapes: int, capacity: int) -> BroadPhase:
    """Buffers for a number of shapes, and of pairs that are near at the same time."""
    return BroadPhase(
        count=np.zeros(2, dtype=np.int64),
        pair=np.zeros(capacity, dtype=np.int64),
        found=np.zeros(capacity, dtype=np.int64),
        start=np.zeros((1 << max(shapes - 1, 0).bit_length()) + 1, dtype=np.int64),
        order=np.arange(shapes),
        lower=np.zeros(shapes),
        upper=np.zeros(shapes),
        idle=np.zeros(shapes, dtype=np.bool_),
        active=np.full(1, shapes),
        longest=np.zeros(1),
    )


@kernel
def find_near_pairs(shapes: Shapes, pairs: CollisionPairs, place, speed, step: float, broad: BroadPhase):
    """Lists the pairs that may touch within two steps, in ascending order.

    Args:
        shapes, pairs: of the collision system.
        place: of the shapes, from the kinematics' origin [m], (shapes, 3).
        speed: upper bound of the speeds of each one's points [m/s].
        step: [s].
        broad: result.
    """
    broad.count[0] = broad.count[1] = 0
    if pairs.first.shape[0] <= _FEW * shapes.bound.shape[0]:
        for p in range(pairs.first.shape[0]):
            a, b = pairs.first[p], pairs.second[p]
            if not (broad.idle[a] and broad.idle[b]) and may_meet(a, b, shapes.bound, place, speed, step):
                _add_pair(p, pairs, broad, broad.pair)
        return
    _place_intervals(shapes.bound, place, speed, step, _widest_axis(shapes.body, place), broad)
    _sort_shapes(broad.lower, broad.order)
    _sweep(shapes, pairs, place, speed, step, broad)
    if broad.count[0] <= broad.pair.shape[0]:
        # two digits: there are fewer pairs than the square of the number of shapes
        _sort_by_digit(broad.found, broad.count[0], 0, broad.start, broad.pair)
        for k in range(broad.count[0]):
            broad.found[k] = broad.pair[k]
        _sort_by_digit(broad.found, broad.count[0], _digit_bits(broad.start), broad.start, broad.pair)


@kernel
def may_meet(a, b, bound, place, speed, step: float):
    """Whether two shapes may touch within two steps, judged by their bounding spheres."""
    reach = bound[a] + bound[b] + max(CONTACT_MARGIN, 2.0 * step * (speed[a] + speed[b]))
    dx, dy, dz = place[a, 0] - place[b, 0], place[a, 1] - place[b, 1], place[a, 2] - place[b, 2]
    return dx * dx + dy * dy + dz * dz < reach * reach


@inlined
def _add_pair(p, pairs: CollisionPairs, broad: BroadPhase, listed):
    """Counts a near pair, and lists it while there is room."""
    if broad.count[0] < listed.shape[0]:
        listed[broad.count[0]] = p
    broad.count[0] += 1
    broad.count[1] += pairs.slots[p]


@kernel
def _widest_axis(body, place):
    """The world's axis along which the moving shapes are most spread."""
    widest, axis = -1.0, 0
    for k in range(3):
        number, total, squares = 0, 0.0, 0.0
        for s in range(body.shape[0]):
            if body[s] >= 0:
                number += 1
                total += place[s, k]
                squares += place[s, k] * place[s, k]
        spread = number * squares - total * total
        if spread > widest:
            widest, axis = spread, k
    return axis


@kernel
def _place_intervals(bound, place, speed, step: float, axis, broad: BroadPhase):
    """Intervals along an axis, which overlap for each pair of shapes that may meet."""
    broad.longest[0] = -1.0
    for s in range(bound.shape[0]):
        at = place[s, axis]
        reach = bound[s] + max(0.5 * CONTACT_MARGIN, 2.0 * step * speed[s])
        reach += _ROUNDING * (reach + abs(at))
        broad.lower[s], broad.upper[s] = at - reach, at + reach
        if broad.idle[s]:
            broad.longest[0] = max(broad.longest[0], 2.0 * reach)


@kernel
def _sort_shapes(lower, order):
    """Insertion sort of the shapes by the lower ends of their intervals."""
    for k in range(1, order.shape[0]):
        s = order[k]
        m = k
        while m > 0 and lower[order[m - 1]] > lower[s]:
            order[m] = order[m - 1]
            m -= 1
        order[m] = s


@kernel
def _sweep(shapes: Shapes, pairs: CollisionPairs, place, speed, step: float, broad: BroadPhase):
    """Tests the pairs of shapes with overlapping intervals, from those that are not idle."""
    order, lower = broad.order, broad.lower
    for k in range(order.shape[0]):
        a = order[k]
        if broad.idle[a]:
            continue
        last = broad.upper[a]
        for m in range(k + 1, order.shape[0]):
            b = order[m]
            if lower[b] > last:
                break
            _test_pair(a, b, shapes, pairs, place, speed, step, broad)
        first = lower[a] - broad.longest[0] * (1.0 + _ROUNDING)
        for m in range(k - 1, -1, -1):
            b = order[m]
            if lower[b] < first:
                break
            if broad.idle[b] and broad.upper[b] >= lower[a]:
                _test_pair(a, b, shapes, pairs, place, speed, step, broad)


@inlined
def _test_pair(a, b, shapes: Shapes, pairs: CollisionPairs, place, speed, step: float, broad: BroadPhase):
    """Lists a pair if its shapes are near each other."""
    if may_meet(a, b, shapes.bound, place, speed, step):
        p = pairs.number[a, b]
        if p >= 0:
            _add_pair(p, pairs, broad, broad.found)


@kernel
def _digit_bits(start):
    """Bits of a digit, from the buffer with a place for each of its values and one more."""
    bits = 0
    while (1 << bits) < start.shape[0] - 1:
        bits += 1
    return bits


@kernel
def _sort_by_digit(found, count, shift, start, listed):
    """Stable counting sort of pairs by one digit of their numbers.

    Args:
        found, count: the pairs, and their number.
        shift: of the digit [bits].
        start: buffer, (values of a digit + 1,).
        listed: result.
    """
    mask = start.shape[0] - 2
    start[:] = 0
    for k in range(count):
        start[((found[k] >> shift) & mask) + 1] += 1
    for digit in range(mask):
        start[digit + 1] += start[digit]
    for k in range(count):
        digit = (found[k] >> shift) & mask
        listed[start[digit]] = found[k]
        start[digit] += 1
