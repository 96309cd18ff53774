"""Shoes of a belt on its path: where their faces are, and by how much the belt gives way between its wheels.

A shoe that is partly on a wheel's arc and partly on a straight run counts as two parts, which share its pads. The parts
together cover the belt: what it carries does not depend on where its shoes are.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.tracks.belts import Tracks
from grouser.physics.tracks.pads import PADS, is_edge, place_of, share_of, side_of
from grouser.physics.tracks.running_wheels import Segments

# A belt gives way less than the pads on it by this share: not at all [-].
_STIFF = 1e-9
# Columns of `place_pads`: place of a pad in the track's axes (ahead, left, up) [m], normals of the shoe's face (ahead,
# up) and side (left) into the shoe, and area [m2].
AHEAD, LEFT, UP, FACE_AHEAD, FACE_UP, SIDE_LEFT, AREA = range(7)


@kernel
def place_pads(tracks: Tracks, t, position: float, pads):
    """Fills where the pads of a track are, with all joints of its suspensions at zero; returns their number.

    Args:
        tracks, t: the track.
        position: of the sprocket's joint [rad].
        pads: result, AHEAD to AREA of each, (`most_pads` at least, 7).
    """
    path = tracks.path
    segment, into = belt_begin(tracks, path, t, position)
    shoe, count = shoe_length(tracks, path, t), 0
    for first in range(0, tracks.pad_start[t + 1] - tracks.pad_start[t], PADS):
        left = shoe
        while left > 0.0:
            length, following, beyond = part_of_shoe(tracks, path, t, segment, into, left)
            ahead, above, tx, tz, _ = face_at(tracks, path, t, segment, into + 0.5 * length)
            for pad in range(first, first + PADS):
                row = pads[count]
                row[AHEAD], row[LEFT], row[UP] = ahead, place_of(pad) * tracks.width[t], above
                row[FACE_AHEAD], row[FACE_UP] = tz, -tx
                row[SIDE_LEFT] = -side_of(pad) if is_edge(pad) else 0.0
                row[AREA] = share_of(pad) * length * tracks.width[t]
                count += 1
            segment, into, left = following, beyond, left - length
    return count


@inlined
def shoe_length(tracks: Tracks, path: Segments, t):
    """Length of a shoe along the path [m]: a path that sprung wheels lengthen spaces the shoes evenly."""
    last = tracks.segment_start[t + 1] - 1
    return tracks.pitch[t] * ((path.start[last] + path.length[last]) / tracks.wheels.nominal[t])


@inlined
def belt_begin(tracks: Tracks, path: Segments, t, position):
    """Segment of the path at which the first shoe begins, and how far into it [m]."""
    segment, end, nominal = tracks.segment_start[t], tracks.segment_start[t + 1], tracks.wheels.nominal[t]
    total = path.start[end - 1] + path.length[end - 1]
    way = tracks.scale[t] * position
    at = (way - nominal * math.floor(way / nominal)) * (total / nominal)
    while segment < end - 1 and at >= path.start[segment + 1]:
        segment += 1
    return segment, min(at - path.start[segment], path.length[segment])


@inlined
def part_of_shoe(tracks: Tracks, path: Segments, t, segment, into, left):
    """The next part of a shoe, around one wheel or on one straight run, and where the following one begins.

    A run ends at sprung wheels: their arcs are in the path even where they have no length.

    Args:
        tracks, path, t: the track.
        segment, into: where the part begins.
        left: length of the shoe from there on [m].

    Returns:
        Length of the part [m]; segment of the following one, and how far into it it begins [m].
    """
    first, end = tracks.segment_start[t], tracks.segment_start[t + 1]
    dx, dz = path.direction[segment, 0], path.direction[segment, 1]
    bent, length, on = path.radius[segment] != 0.0, 0.0, True
    while on:
        part = min(left - length, path.length[segment] - into)
        length, into = length + part, into + part
        on = length < left
        if on:
            segment, into = segment + 1 if segment < end - 1 else first, 0.0
            straight = not bent and path.radius[segment] == 0.0
            on = straight and path.direction[segment, 0] == dx and path.direction[segment, 1] == dz
    return length, segment, into


@inlined
def face_at(tracks: Tracks, path: Segments, t, segment, into):
    """Face of the belt at a distance into a segment, in the track's plane.

    Returns:
        Ahead and up of the place [m], and of the tangent; speed of the face over that of the belt.
    """
    radius = path.radius[segment]
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
def give_on_soil(tracks: Tracks, path: Segments, t, segment, into, length):
    """By how much part of a shoe gives way per pressure on soil [m/Pa], the mean over its length.

    At the distance x from a wheel the belt gives way by w = b x (l - x) / (2 T) per pressure (`pad_laws`).

    Args:
        tracks, path, t: the track.
        segment, into: where the part begins.
        length: of the part [m].
    """
    if path.radius[segment] > 0.0:
        return 0.0
    first, end = tracks.segment_start[t], tracks.segment_start[t + 1]
    gone, given = 0.0, 0.0
    while gone < length:
        span, low = path.length[segment], into
        high = low + min(length - gone, span - low)
        given += high * high * (0.5 * span - high / 3.0) - low * low * (0.5 * span - low / 3.0)
        gone += high - low
        segment, into = segment + 1 if segment < end - 1 else first, 0.0
    return tracks.width[t] / (2.0 * tracks.pretension[t]) * given / length


@kernel
def give_on_rigid_ground(tracks: Tracks, path: Segments, t, segment, into, length):
    """By how much part of a shoe gives way per pressure on rigid ground [m/Pa], and where the ground presses on it.

    With pads of the stiffness k the pressure goes with 1 / (1 + k w), w as in `give_on_soil`. The shoe gives way by
    what makes its pressure the mean of that, and the force acts in the middle of this pressure.

    Args:
        tracks, path, t: the track.
        segment, into: where the part begins.
        length: of the part [m].

    Returns:
        The first, and how far ahead of the part's middle the force acts [m].
    """
    if path.radius[segment] > 0.0:
        return 0.0, 0.0
    first, end = tracks.segment_start[t], tracks.segment_start[t + 1]
    harder = tracks.stiffness[t] * tracks.width[t] / (2.0 * tracks.pretension[t])
    carried, moment, gone = 0.0, 0.0, 0.0
    while gone < length:
        # integrals of 1 / (1 + a x (l - x)), and of this times the distance from the span's middle
        span, low = path.length[segment], into
        high = low + min(length - gone, span - low)
        one, other = low - 0.5 * span, high - 0.5 * span
        if harder * span * span < _STIFF:
            share, lever = high - low, 0.5 * (one + other) * (high - low)
        else:
            square = 0.25 * span * span + 1.0 / harder
            reach = math.sqrt(square)
            inside = (reach + other) * (reach - one) / ((reach - other) * (reach + one))
            share = 0.5 * math.log(inside) / (harder * reach)
            lever = 0.5 * math.log((square - one * one) / (square - other * other)) / harder
        carried += share
        moment += lever + share * (gone - 0.5 * length - one)
        gone += high - low
        segment, into = segment + 1 if segment < end - 1 else first, 0.0
    return (length / carried - 1.0) / tracks.stiffness[t], moment / carried
