"""The wedge over real ground: the profile of cells ahead of a strip of the edge, with piles, ruts and slopes in it."""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import embedded, inlined, kernel
from grouser.physics.digging.wedge import inertial_force, wedge_force

# Distance between trial angles about that of the last step [rad], and how many are tried at most to either side: the
# force is flat in the angle.
BETWEEN, MOST = 0.02, 3
_COSINE, _SINE = math.cos(BETWEEN), math.sin(BETWEEN)
# Trial angles of a strip that has no last step, over the whole range.
FIRST_TRIALS = 24
# Of the whole range, the ends at which the plane is nearly level or the wedge nearly jams are left out [rad].
_MARGIN = 0.05


class ProfileWedge(NamedTuple):
    """The wedge of least force on a strip, a width; forces are at the angle of tool friction to the plate's normal.

    Attributes:
        force: on the plate [N/m]; infinite where the wedge jams at each angle.
        failure: angle of the plane of failure [rad]; NaN where it jams.
        momentum: part of the force by the momentum that the wedge takes up [N/m].
        mass: force by the mass of the wedge over the acceleration of the blade [kg/m].
    """

    force: float
    failure: float
    momentum: float
    mass: float


@embedded
def area_and_reach(heights, spacing, depth, climb):
    """Area between ground and plane of failure, which has a slope, and how far ahead of the edge they meet.

    The ground is straight between the middles of the cells, and level beyond the last.

    Returns:
        The area ahead of the edge [m2]; the reach [m].
    """
    area, place, above = 0.0, 0.0, depth
    for k in range(len(heights)):
        ahead = (k + 0.5) * spacing
        next_above = heights[k] - climb * ahead
        if next_above <= 0.0:
            part = above / (above - next_above) * (ahead - place)
            return area + 0.5 * above * part, place + part
        area += 0.5 * (above + next_above) * (ahead - place)
        place, above = ahead, next_above
    return area + 0.5 * above * above / climb, place + above / climb


@kernel
def profile_wedge(heights, loose, spacing, depth, face, soil, gravity, flux, last):
    """The wedge of least force on a strip of a blade.

    Args:
        heights: of the cells ahead above the edge [m], (cells,), the first from the edge on.
        loose: thickness of the loose soil in them [m], (cells,): the plane has no cohesion there.
        spacing: of the cells [m].
        depth: of the edge below the ground above it [m], above 0.
        face: the plate, as of `face_of`.
        soil: `CutSoil`.
        gravity: [m/s2].
        flux: momentum that soil at the speed of the blade would take up in a second [N/m].
        last: angle of the plane of failure in the last step [rad], from which the search goes down; NaN for none.
    """
    low, high = _MARGIN, face.steepest - _MARGIN
    if low > high:
        return ProfileWedge(math.inf, math.nan, 0.0, 0.0)
    if math.isnan(last):
        return _scan(heights, loose, spacing, depth, face, soil, gravity, flux, low, high)
    middle = min(max(last, low), high)
    sine, cosine = math.sin(middle), math.cos(middle)
    best = _wedge_at(heights, loose, spacing, depth, face, soil, gravity, flux, middle, sine, cosine)
    for way in (-1.0, 1.0):
        s, c = sine, cosine
        for trial in range(1, MOST + 1):
            failure = middle + trial * way * BETWEEN
            if failure < low or failure > high:
                break
            s, c = s * _COSINE + way * c * _SINE, c * _COSINE - way * s * _SINE
            found = _wedge_at(heights, loose, spacing, depth, face, soil, gravity, flux, failure, s, c)
            if not found.force < best.force:
                break
            best = found
    return best


@inlined
def flattest_plane(face, last):
    """Slope below that of all planes of failure that `profile_wedge` tries: cells beyond it do not count [-].

    Args:
        face, last: as of `profile_wedge`.
    """
    if math.isnan(last):
        return 0.0
    middle = min(max(last, _MARGIN), face.steepest - _MARGIN)
    return math.tan(max(middle - (MOST + 0.5) * BETWEEN, 0.0))


@embedded
def _scan(heights, loose, spacing, depth, face, soil, gravity, flux, low, high):
    """The wedge of least force of even trials over a range; arguments as of `profile_wedge`."""
    best, between = ProfileWedge(math.inf, math.nan, 0.0, 0.0), (high - low) / (FIRST_TRIALS - 1)
    for trial in range(FIRST_TRIALS):
        failure = low + trial * between
        sine, cosine = math.sin(failure), math.cos(failure)
        found = _wedge_at(heights, loose, spacing, depth, face, soil, gravity, flux, failure, sine, cosine)
        if found.force < best.force:
            best = found
    return best


@embedded
def _wedge_at(heights, loose, spacing, depth, face, soil, gravity, flux, failure, sine, cosine):
    """The wedge above a plane of failure of this angle, sine and cosine; other arguments as of `profile_wedge`."""
    area, reach = area_and_reach(heights, spacing, depth, sine / cosine)
    end = min(int(reach / spacing), heights.shape[0] - 1)
    plane = max(reach / cosine - loose[end] / sine, 0.0)
    mass = soil.density * (area + 0.5 * depth * depth * face.cot_rake)
    share = inertial_force(face, sine, cosine)
    momentum = flux * share
    force = momentum + wedge_force(face, sine, cosine, soil, gravity * mass, plane, depth * face.csc_rake, 0.0)
    return ProfileWedge(force, failure, momentum, mass * share)
