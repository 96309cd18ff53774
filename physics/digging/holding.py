"""Loose soil that a bucket holds, over the rake of the plate from its cutting edge to its top edge.

The profile is filled up to the line at the angle of repose through the lower of the two edges. While the plate is less
steep than that, a heap stands on it, with slopes at repose from both edges, and from the side plates.
"""

import math
from collections.abc import Sequence

import numpy as np

from grouser.physics.base.checks import require_range, require_size
from grouser.physics.base.errors import ParameterError

# Entries of a table around the circle.
_RAKES = 64
_STEEPEST = math.radians(80.0)


def hold_table(profile: np.ndarray | Sequence[Sequence[float]], width: float, repose: float) -> np.ndarray:
    """Loose volume that a bucket holds over its rake, from -180 degrees in equal steps around the circle [m3].

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
    if _area(points) <= 0.0:
        raise ParameterError("profile", profile, "points below the plate, with an area above 0 m2")
    rakes = np.linspace(-math.pi, math.pi, _RAKES, endpoint=False)
    return np.array(
        [
            width * _area(_below_repose(points, rake, repose)) + heap(points[-1, 0], width, rake, repose)
            for rake in rakes
        ]
    )


def heap(opening: float, width: float, rake: float, repose: float) -> float:
    """Volume of the heap on the plate, zero on a plate steeper than the angle of repose [m3].

    Args:
        opening, width: sides of the plate, along its slope and across [m].
        rake: of the plate, from level [rad].
        repose: slope of the heap on all sides [rad].
    """
    if abs(rake) >= repose:
        return 0.0
    section = opening**2 / (2.0 * (1.0 / math.tan(repose - rake) + 1.0 / math.tan(repose + rake)))
    # the ends of the heap, exactly for a level plate: W L^2 / 4 - L^3 / 12 with L the shorter side, over L^2 W / 4
    short, long_ = min(opening, width), max(opening, width)
    return section * width * (long_ * short**2 - short**3 / 3.0) / (opening**2 * width)


def _below_repose(profile: np.ndarray, rake: float, repose: float) -> np.ndarray:
    """The part of a profile below the line at repose through the lower edge, as a polygon."""
    up = math.sin(rake) >= 0.0
    lip = profile[0] if up else profile[-1]
    # height above the line, in the world: the line rises to the back from the cutting edge, to the front from the top
    s, t = (profile - lip).T
    ahead, height = -s * math.cos(rake) - t * math.sin(rake), s * math.sin(rake) - t * math.cos(rake)
    above = height + math.tan(repose) * (ahead if up else -ahead)
    kept = []
    for k in range(len(profile)):
        n = (k + 1) % len(profile)
        if above[k] <= 0.0:
            kept.append(profile[k])
        if (above[k] <= 0.0) != (above[n] <= 0.0):
            kept.append(profile[k] + above[k] / (above[k] - above[n]) * (profile[n] - profile[k]))
    return np.array(kept)


def _area(polygon: np.ndarray) -> float:
    """Area of a polygon of places along the plate and depths, from the cutting edge around below the plate [m2]."""
    if len(polygon) < 3:
        return 0.0
    s, t = polygon.T
    return 0.5 * float(np.dot(t, np.roll(s, -1)) - np.dot(s, np.roll(t, -1)))
