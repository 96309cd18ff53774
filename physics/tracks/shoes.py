"""Shoes of a belt on its path: where their faces are, and by how much the belt gives way between its wheels."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.tracks.belts import Tracks
from grouser.physics.tracks.pads import PADS, is_edge, place_of, share_of, side_of
from grouser.physics.tracks.running_wheels import Segments

# Columns of `place_pads`: place of a pad in the track's axes (ahead, left, up) [m], normals of the shoe's face (ahead,
# up) and side (left) into the shoe, and area [m2].
AHEAD, LEFT, UP, FACE_AHEAD, FACE_UP, SIDE_LEFT, AREA = range(7)


@kernel
def place_pads(tracks: Tracks, t, position: float, pads):
    """Fills where the pads of a track are, with all joints of its suspensions at zero.

    Args:
        tracks, t: the track.
        position: of the sprocket's joint [rad].
        pads: result, AHEAD to AREA of each, (pads, 7).
    """
    at, segment = first_shoe(tracks, tracks.path, t, position)
    for first in range(0, pads.shape[0], PADS):
        ahead, above, tx, tz, _ = shoe_face(tracks, tracks.path, t, segment, at)
        for pad in range(first, first + PADS):
            row = pads[pad]
            row[AHEAD], row[LEFT], row[UP] = ahead, place_of(pad) * tracks.width[t], above
            row[FACE_AHEAD], row[FACE_UP] = tz, -tx
            row[SIDE_LEFT] = -side_of(pad) if is_edge(pad) else 0.0
            row[AREA] = share_of(pad) * tracks.pitch[t] * tracks.width[t]
        at, segment = next_shoe(tracks, tracks.path, t, at, segment)


@inlined
def first_shoe(tracks: Tracks, path: Segments, t, position):
    """Place of the first shoe's middle on the path [m], and its segment."""
    first, end = tracks.segment_start[t], tracks.segment_start[t + 1]
    total = path.start[end - 1] + path.length[end - 1]
    # a path that sprung wheels lengthen spaces the shoes evenly
    turns = (tracks.scale[t] * position + 0.5 * tracks.pitch[t]) / tracks.wheels.nominal[t]
    return _segment_at(path, end, total * (turns - math.floor(turns)), first)


@inlined
def next_shoe(tracks: Tracks, path: Segments, t, at, segment):
    """Place of the shoe that follows one on the path [m], and its segment."""
    first, end = tracks.segment_start[t], tracks.segment_start[t + 1]
    total = path.start[end - 1] + path.length[end - 1]
    at += tracks.pitch[t] * (total / tracks.wheels.nominal[t])
    if at >= total:
        at -= total
        segment = first
    return _segment_at(path, end, at, segment)


@inlined
def _segment_at(path: Segments, end, at, segment):
    """A place on the path, and the last segment that begins before it, sought from one on."""
    while segment < end - 1 and at >= path.start[segment + 1]:
        segment += 1
    return at, segment


@inlined
def shoe_face(tracks: Tracks, path: Segments, t, segment, at):
    """Middle of a shoe's face in the track's plane.

    Returns:
        Ahead and up of the middle [m], and of the tangent; speed of the face over that of the belt.
    """
    into, radius = at - path.start[segment], path.radius[segment]
    tx, tz = path.direction[segment, 0], path.direction[segment, 1]
    ahead, above = path.point[segment, 0], path.point[segment, 1]
    faster = 1.0
    if radius != 0.0:
        c, s = math.cos(into / radius), math.sin(into / radius)
        # the path turns from the tangent away from the outward normal (-tz, tx)
        ahead += radius * (s * tx + (1.0 - c) * tz)
        above += radius * (s * tz - (1.0 - c) * tx)
        tx, tz = c * tx + s * tz, c * tz - s * tx
        faster = 1.0 + tracks.thickness[t] / radius
    else:
        ahead += into * tx
        above += into * tz
    return ahead - tracks.thickness[t] * tz, above + tracks.thickness[t] * tx, tx, tz, faster


@kernel
def belt_give(tracks: Tracks, path: Segments, t, segment, at):
    """By how much a shoe gives way per pressure, on average over its length [m/Pa].

    At the distance x from a wheel the belt gives way by w = b x (l - x) / (2 T) per pressure (`pad_laws`). On soil the
    mean of w counts. On rigid ground, the pads of which have the stiffness k, it is what makes the pressure of the shoe
    the mean of that along it, which goes with 1 / (1 + k w): the shoes together then carry what the belt does, wherever
    they are below the wheels.

    Args:
        tracks, t: the track.
        path: of all tracks.
        segment, at: of the shoe's middle.

    Returns:
        On rigid ground, and on soil.
    """
    half, first, end = 0.5 * tracks.pitch[t], tracks.segment_start[t], tracks.segment_start[t + 1]
    membrane = tracks.width[t] / (2.0 * tracks.pretension[t])
    harder = tracks.stiffness[t] * membrane
    carried, given = 0.0, 0.0
    # parts of the shoe on the segments, from its middle backward and then forward
    behind, left, place = segment, half, at - path.start[segment]
    while left > 0.0:
        part = min(left, place)
        one, other = _part(path, behind, harder, place - part, place)
        carried, given, left = carried + one, given + other, left - part
        behind = behind - 1 if behind > first else end - 1
        place = path.length[behind]
    left, place = half, at - path.start[segment]
    while left > 0.0:
        part = min(left, path.length[segment] - place)
        one, other = _part(path, segment, harder, place, place + part)
        carried, given, left = carried + one, given + other, left - part
        segment = segment + 1 if segment < end - 1 else first
        place = 0.0
    return (2.0 * half / carried - 1.0) / tracks.stiffness[t], membrane * given / (2.0 * half)


@inlined
def _part(path: Segments, segment, harder, low, high):
    """Integrals over part of a segment of 1 / (1 + a x (l - x)) and of x (l - x); of 1 and 0 around a wheel."""
    if path.radius[segment] > 0.0:
        return high - low, 0.0
    length = path.length[segment]
    reach = math.sqrt(0.25 * length * length + 1.0 / harder)
    one, other = low - 0.5 * length, high - 0.5 * length
    carried = math.atanh(reach * (other - one) / (reach * reach - one * other)) / (harder * reach)
    given = high * high * (length / 2.0 - high / 3.0) - low * low * (length / 2.0 - low / 3.0)
    return carried, given
