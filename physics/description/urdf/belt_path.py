"""The path of a belt around its wheels: the border of the convex hull of their circles. Its upper run hangs down."""

import itertools
import math

import numpy as np

from grouser.physics.description.data.track import BeltPath

# Wheels this near to a straight span carry the belt [m].
_TOUCHING = 1e-3
# Angles and lengths below these are none [rad, m].
_NO_ANGLE, _NO_LENGTH = 1e-9, 1e-9
# Largest turn between two corners of the outline [rad].
_CORNER = math.pi / 32.0


def lay_belt(centres: np.ndarray, radii: np.ndarray, thickness: float, sag: float = 0.0) -> BeltPath:
    """Lays a belt around circles.

    A span of the upper run hangs by w l^2 / (8 T) in its middle, across its chord: l is its length, w its weight per
    length, T its tension. The parabola is taken as the circle through its ends and its middle.

    Args:
        centres: ahead and up of each circle [m], (circles, 2).
        radii: to the pitch line [m], (circles,).
        thickness: from the pitch line to the outer face [m].
        sag: w / T, the curvature of a level span [1/m].

    Returns:
        The path; it begins with the arc at the foremost point of the hull.
    """
    rows, outline = [], []
    arcs = _arcs(centres, radii)
    for number, (circle, first, last) in enumerate(arcs):
        centre, radius = centres[circle], radii[circle]
        if first - last > _NO_ANGLE:
            begin = centre + radius * _normal(first)
            rows.append((radius * (first - last), begin, _tangent(first), radius, circle, circle))
            outline += _corners(centre, radius + thickness, first, last)
        following = arcs[(number + 1) % len(arcs)][0]
        begin, end = centre + radius * _normal(last), centres[following] + radii[following] * _normal(last)
        rows += [_hung(row, sag) for row in _spans(begin, end, last, centres, radii, (circle, following))]
    lengths = np.array([row[0] for row in rows])
    path = BeltPath(
        start=np.concatenate([[0.0], np.cumsum(lengths)[:-1]]),
        length=lengths,
        point=np.array([row[1] for row in rows]),
        direction=np.array([row[2] for row in rows]),
        radius=np.array([row[3] for row in rows]),
        wheel=np.array([row[4:] for row in rows], dtype=np.int64),
        centre=np.array(centres, dtype=float),
        sag=sag,
        outline=np.array(outline),
    )
    for array in vars(path).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return path


def _arcs(centres, radii):
    """Circle, first and last angle of the outward normal of each arc, in the belt's direction: angles decrease."""
    angles = [0.0]
    for one, other in itertools.combinations(range(len(radii)), 2):
        # the supports are equal where (c_1 - c_2) . n = r_2 - r_1
        away = centres[one] - centres[other]
        distance, middle = float(np.hypot(*away)), math.atan2(away[1], away[0])
        turn = math.acos(min(max((radii[other] - radii[one]) / distance, -1.0), 1.0))
        angles += [middle + turn, middle - turn]
    angles = sorted({angle % (2.0 * math.pi) for angle in angles}, reverse=True)
    arcs: list[list] = []
    for high, low in zip(angles, [*angles[1:], angles[0] - 2.0 * math.pi], strict=True):
        if high - low <= _NO_ANGLE:
            continue
        normal = _normal(0.5 * (high + low))
        circle = int(np.argmax(centres @ normal + radii))
        if arcs and arcs[-1][0] == circle:
            arcs[-1][2] = low
        else:
            arcs.append([circle, high, low])
    if len(arcs) > 1 and arcs[0][0] == arcs[-1][0]:
        arcs[0][1] = arcs.pop()[1] + 2.0 * math.pi
    return arcs


def _spans(begin, end, angle, centres, radii, wheels):
    """Straight spans from point to point, divided at the wheels that the belt touches between the two given."""
    normal, tangent = _normal(angle), _tangent(angle)
    length = float((end - begin) @ tangent)
    height = float(begin @ normal)
    touching = np.flatnonzero(np.abs(centres @ normal + radii - height) < _TOUCHING).tolist()
    along = [(float((centres[wheel] - begin) @ tangent), wheel) for wheel in touching]
    between = sorted(place for place in along if _TOUCHING < place[0] < length - _TOUCHING)
    ends = [(0.0, wheels[0]), *between, (length, wheels[1])]
    return [
        (high - low, begin + low * tangent, tangent, 0.0, wheel, following)
        for (low, wheel), (high, following) in itertools.pairwise(ends)
        if high - low > _NO_LENGTH
    ]


def _hung(row, sag):
    """A straight span as it hangs: an arc about a centre above it, if it is on the upper run."""
    length, begin, tangent, _, *wheels = row
    curvature = sag * tangent[0]
    if curvature * length <= _NO_ANGLE:
        return row
    turn = 2.0 * math.asin(min(0.5 * curvature * length, 1.0))
    normal = np.array([-tangent[1], tangent[0]])
    descending = math.cos(0.5 * turn) * tangent - math.sin(0.5 * turn) * normal
    return (turn / curvature, begin, descending, -1.0 / curvature, *wheels)


def _corners(centre, radius, first, last):
    """Corners around an arc, on its tangents: the polygon contains it."""
    count = max(int(math.ceil((first - last) / _CORNER)), 1)
    half = 0.5 * (first - last) / count
    middles = [first - (2 * k + 1) * half for k in range(count)]
    return [centre + radius / math.cos(half) * _normal(middle) for middle in middles]


def _normal(angle):
    return np.array([math.cos(angle), math.sin(angle)])


def _tangent(angle):
    return np.array([math.sin(angle), -math.cos(angle)])
