"""Grabs: two buckets whose openings close each other, and which hold together what each alone would spill.

A bucket is closed by another one that faces it where their cutting edges meet, and as long as both are in the ground,
which closes the rest. Its soil then lies up to the level of the higher edge of its plate, instead of the line at repose
through the lower one.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.bulk import centre_at, held_at
from grouser.physics.digging.plate import UP_X, X, normal_of
from grouser.physics.digging.tools import Tools

# Cutting edges this many cells apart close nothing, and a cell less altogether: chosen.
_OPEN = 2.0
# At most: cosine between the normals of plates that face each other, for 120 degrees, and distance of their top edges
# by the opening.
_FACING, _APART = 0.5, 0.5


@kernel
def closure_of(tools: Tools, t, poses, depth, spacing):
    """Share to which other buckets close the opening of a bucket, 0 to 1.

    Args:
        tools, t: the bucket.
        poses: of all plates, (tools, POSE).
        depth: of all edges below the ground [m], (tools,).
        spacing: of the cells [m].
    """
    share = 0.0
    if not tools.carries[t]:
        return share
    one = poses[t]
    nx, ny, nz = normal_of(one)
    for c in range(tools.body.shape[0]):
        if c == t or not tools.carries[c]:
            continue
        other = poses[c]
        mx, my, mz = normal_of(other)
        if nx * mx + ny * my + nz * mz > _FACING:
            continue
        edges, tops = 0.0, 0.0
        for k in range(3):
            apart = other[X + k] - one[X + k]
            edges += apart * apart
            apart += tools.opening[c] * other[UP_X + k] - tools.opening[t] * one[UP_X + k]
            tops += apart * apart
        if math.sqrt(tops) <= _APART * min(tools.opening[t], tools.opening[c]):
            buried = depth[t] > 0.0 and depth[c] > 0.0
            share = max(share, 1.0 if buried else min(max(_OPEN - math.sqrt(edges) / spacing, 0.0), 1.0))
    return share


@inlined
def room_of(tools: Tools, t, rake, closure):
    """Loose volume that a bucket holds at a rake, closed to a share [m3]."""
    held = held_at(tools.holds[t], rake)
    if closure > 0.0:
        held += closure * max(held_at(tools.closed_holds[t], rake) - held, 0.0)
    return held


@inlined
def place_of(tools: Tools, t, rake, share, closure, k):
    """Coordinate k of the centre of a share of what a bucket holds, closed to a share, as of `centre_at` [m]."""
    place = centre_at(tools.centre[t], rake, share, k)
    if closure > 0.0:
        place += closure * (centre_at(tools.closed_centre[t], rake, share, k) - place)
    return place
