"""Loose soil that a bucket holds, and where it lies, over the rake of the plate from its cutting edge to its top edge.

The profile is filled up to the line at the angle of repose through the lower of the two edges. While the plate is less
steep than that, a heap stands on it, with slopes at repose from both edges, and from the side plates. A bucket that is
not full is filled up to a level surface within that region.

Tables begin at a rake of -180 degrees and go around the circle in equal steps.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.checks import require_range, require_size
from grouser.physics.base.errors import ParameterError
from grouser.physics.digging.capacity import heap_volume

# Rakes of the tables, and equal parts of what is held.
_RAKES, _FILLS = 64, 8
_STEEPEST = math.radians(80.0)
# Halvings of the interval of heights in which the surface is.
_HALVINGS = 30


class Holding(NamedTuple):
    """What a bucket holds.

    Attributes:
        volume: of loose soil [m3], (rakes,).
        centre: of the soil at equal parts of that volume, from none to all: place along the plate from the cutting edge
            and depth below the plate [m], (rakes, parts + 1, 2).
    """

    volume: np.ndarray
    centre: np.ndarray


def make_holding(profile: np.ndarray | Sequence[Sequence[float]], width: float, repose: float) -> Holding:
    """What a bucket holds over its rake.

    Args:
        profile: points of the inner profile from the cutting edge, at (0, 0), to the top edge, at (opening, 0): place
            along the plate and depth below it [m], (points, 2).
        width: between the side plates [m].
        repose: angle of repose of the loose soil [rad].

    Raises:
        ParameterError: a profile that is not closed by the plate or has no area, or a wrong width or angle.
    """
    width = require_size("width", width)
    repose = require_range("repose", repose, 0.01, _STEEPEST, "rad")
    points = np.array(profile, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise ParameterError("profile", profile, "at least three points of two numbers")
    if points[0].any() or points[-1, 1] != 0.0 or points[-1, 0] <= 0.0:
        raise ParameterError("profile", profile, "from (0, 0) to (opening, 0), which the plate closes")
    if _area_and_centre(points)[0] <= 0.0:
        raise ParameterError("profile", profile, "points below the plate, with an area above 0 m2")
    return _over_rakes(width, lambda rake: _with_heap(_below_repose(points, rake, repose), width, rake, repose))


def make_closed_holding(profile: np.ndarray | Sequence[Sequence[float]], width: float) -> Holding:
    """What a bucket holds over its rake whose opening is closed: up to the level of its higher edge.

    Args:
        profile, width: as of `make_holding`.
    """
    points, opening = np.array(profile, dtype=float), float(profile[-1][0])

    def below_higher_edge(rake: float) -> np.ndarray:
        return _clip(points, _to_world(points, rake)[1] - max(0.0, opening * math.sin(rake)))

    return _over_rakes(width, below_higher_edge)


def no_holding() -> Holding:
    """That of a blade: nothing."""
    return Holding(np.zeros(_RAKES), np.zeros((_RAKES, _FILLS + 1, 2)))


def _over_rakes(width: float, section: Callable[[float], np.ndarray]) -> Holding:
    """The tables of a bucket, from the section of the soil that it holds at a rake [rad]."""
    holding = no_holding()
    for n, rake in enumerate(np.linspace(-math.pi, math.pi, _RAKES, endpoint=False)):
        held = section(rake)
        holding.volume[n], holding.centre[n] = width * _area_and_centre(held)[0], _centres(held, rake)
    return holding


def _apex(opening: float, width: float, rake: float, repose: float) -> tuple[float, float]:
    """Place of the top of the heap along the plate, and its mean height above the plate, as of a level heap [m]."""
    from_edge, from_top = math.tan(repose - rake), math.tan(repose + rake)
    height = opening / (1.0 / from_edge + 1.0 / from_top)
    with_ends = heap_volume(opening, width, 1.0) / (0.25 * opening**2 * width)
    return height / from_edge, height * with_ends


def _with_heap(profile: np.ndarray, width: float, rake: float, repose: float) -> np.ndarray:
    """The mean section of profile and heap; the profile itself on a plate steeper than the angle of repose."""
    if abs(rake) >= repose:
        return profile
    place, height = _apex(profile[-1, 0], width, rake, repose)
    return np.vstack([profile, (place, -height)])


def _below_repose(profile: np.ndarray, rake: float, repose: float) -> np.ndarray:
    """The part of a profile below the line at repose through the lower edge, as a polygon."""
    up = math.sin(rake) >= 0.0
    lip = profile[0] if up else profile[-1]
    # in the world the line rises to the back from the cutting edge, and ahead from the top edge
    ahead, height = _to_world(profile - lip, rake)
    return _clip(profile, height + math.tan(repose) * (ahead if up else -ahead))


def _centres(section: np.ndarray, rake: float) -> np.ndarray:
    """Centres of the lower part of a section below level surfaces, at equal shares of its area, (parts + 1, 2)."""
    area, centre = _area_and_centre(section)
    if area <= 0.0:
        return np.zeros((_FILLS + 1, 2))
    height = _to_world(section, rake)[1]
    centres = [section[np.argmin(height)]]
    for part in range(1, _FILLS):
        low, high = height.min(), height.max()
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            filled, at = _area_and_centre(_clip(section, height - middle))
            low, high = (middle, high) if filled < part / _FILLS * area else (low, middle)
        centres.append(at)
    return np.array([*centres, centre])


def _to_world(points: np.ndarray, rake: float) -> tuple[np.ndarray, np.ndarray]:
    """Places ahead and heights in the world of points by place along the plate and depth below it [m]."""
    s, t = points.T
    return -s * math.cos(rake) - t * math.sin(rake), s * math.sin(rake) - t * math.cos(rake)


def _clip(polygon: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The part of a polygon that is not above a line, by the distance of its points from it."""
    kept = []
    for k in range(len(polygon)):
        n = (k + 1) % len(polygon)
        if above[k] <= 0.0:
            kept.append(polygon[k])
        if (above[k] <= 0.0) != (above[n] <= 0.0):
            kept.append(polygon[k] + above[k] / (above[k] - above[n]) * (polygon[n] - polygon[k]))
    return np.array(kept).reshape(-1, 2)


def _area_and_centre(polygon: np.ndarray) -> tuple[float, np.ndarray]:
    """Area and centre of a polygon, from the cutting edge around below the plate [m2, m]; of nothing, zeros."""
    if len(polygon) < 3:
        return 0.0, np.zeros(2)
    after = np.roll(polygon, -1, axis=0)
    part = polygon[:, 1] * after[:, 0] - polygon[:, 0] * after[:, 1]
    area = 0.5 * float(part.sum())
    if area <= 0.0:
        return 0.0, polygon[0]
    return area, part @ (polygon + after) / (6.0 * area)
