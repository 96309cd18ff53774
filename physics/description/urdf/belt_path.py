"""The path of a belt around its wheels: the border of the convex hull of their circles."""

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


def lay_belt(centres: np.ndarray, radii: np.ndarray, thickness: float) -> BeltPath:
    """Lays a belt around circles.

    Args:
        centres: ahead and up of each circle [m], (circles, 2).
        radii: to the pitch line [m], (circles,).
        thickness: from the pitch line to the outer face [m].

    Returns:
        The path; it begins at the foremost point of the hull.
    """
    rows, outline = [], []
    arcs = _arcs(centres, radii)
    for number, (circle, first, last) in enumerate(arcs):
        centre, radius = centres[circle], radii[circle]
        if first - last > _NO_ANGLE:
            rows.append((radius * (first - last), centre + radius * _normal(first), _tangent(first), radius))
            outline += _corners(centre, radius + thickness, first, last)
        following = arcs[(number + 1) % len(arcs)][0]
        begin, end = centre + radius * _normal(last), centres[following] + radii[following] * _normal(last)
        rows += _spans(begin, end, last, centres, radii)
    lengths = np.array([row[0] for row in rows])
    path = BeltPath(
        start=np.concatenate([[0.0], np.cumsum(lengths)[:-1]]),
        length=lengths,
        point=np.array([row[1] for row in rows]),
        direction=np.array([row[2] for row in rows]),
        radius=np.array([row[3] for row in rows]),
        outline=np.array(outline),
    )
    for array in vars(path).values():
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


def _spans(begin, end, angle, centres, radii):
    """Straight spans from point to point, divided at the wheels that the belt touches between them."""
    normal, tangent = _normal(angle), _tangent(angle)
    length = float((end - begin) @ tangent)
    height = float(begin @ normal)
    touching = np.abs(centres @ normal + radii - height) < _TOUCHING
    along = (centres[touching] - begin) @ tangent
    ends = [0.0, *sorted(place for place in along if _TOUCHING < place < length - _TOUCHING), length]
    return [
        (high - low, begin + low * tangent, tangent, 0.0)
        for low, high in itertools.pairwise(ends)
        if high - low > _NO_LENGTH
    ]


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
