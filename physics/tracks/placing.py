"""Where the pads of a track are, and what ground is below them."""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain, surface_below, type_at
from grouser.physics.soil.tiles import LEVEL, TYPE, SoilState, open_cell
from grouser.physics.tracks.belts import (
    BELT_X,
    BELT_Y,
    BELT_Z,
    DEPTH,
    GIVE,
    LENGTH,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    PLACE,
    Tracks,
    TrackWorkspace,
    X,
    Y,
    Z,
)
from grouser.physics.tracks.pad_laws import curved_contact
from grouser.physics.tracks.pads import PADS, is_edge, place_of, side_of
from grouser.physics.tracks.running_wheels import Segments
from grouser.physics.tracks.shoes import (
    belt_begin,
    face_at,
    give_on_rigid_ground,
    give_on_soil,
    part_of_shoe,
    shoe_length,
)
from grouser.physics.tracks.suspension import bear, is_sprung

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics

# Shorter parts of shoes are rounding errors [m].
_SHORTEST = 1e-9
# There is no ground farther than this from the world's origin [m].
_FARTHEST = 1e7
# A pad is in the step while it may come this much nearer than its speed at the start says, as a factor.
_REACH = 2.0


@kernel
def place_track(tracks: Tracks, t, kinematics: "Kinematics", work: TrackWorkspace):
    """Sets origin and axes of a track; returns whether its position is finite."""
    body, centre, frame, plane = tracks.body[t], work.centre[t], work.frame[t], work.plane[t]
    for k in range(3):
        centre[k] = kinematics.position[body, k] if body >= 0 else -kinematics.origin[k]
        plane[k] = 0.0 if body >= 0 else tracks.place[t, k]
        for m in range(3):
            frame[m, k] = 0.0 if body >= 0 else tracks.frame[t, k, m]
            if body >= 0:
                plane[k] += kinematics.rotation[body, k, m] * tracks.place[t, m]
                for n in range(3):
                    frame[m, k] += kinematics.rotation[body, k, n] * tracks.frame[t, n, m]
    x, y = kinematics.origin[0] + centre[0], kinematics.origin[1] + centre[1]
    return abs(x) < _FARTHEST and abs(y) < _FARTHEST


@kernel
def find_pads(
    tracks: Tracks,
    t,
    terrain: Terrain,
    spacing: float,
    kinematics: "Kinematics",
    position: float,
    step: float,
    soil: SoilState,
    work: TrackWorkspace,
):
    """Lists the pads of a track that touch the ground, or may do so within the step.

    Args:
        tracks, t: the track.
        terrain: natural ground.
        spacing: of the soil's cells [m].
        kinematics: filled for the current state.
        position: of the sprocket's joint [rad].
        step: h [s].
        soil: tiles are opened.
        work: placed, with the motion; `listed`, `pad`, `touch`, `soil` and `cell` are filled.
    """
    work.listed[t] = 0
    frame, motion = work.frame[t], work.motion[t]
    px, py, pz = work.plane[t, 0], work.plane[t, 1], work.plane[t, 2]
    reach = tracks.middle[t, 2] + work.wheels.moved[t]
    speed = math.sqrt(motion[0] ** 2 + motion[1] ** 2 + motion[2] ** 2)
    for k in range(6, tracks.wheels.rows[t]):
        speed += abs(motion[k])
    speed += (2.0 * reach + math.sqrt(px * px + py * py + pz * pz)) * math.sqrt(
        motion[3] ** 2 + motion[4] ** 2 + motion[5] ** 2
    )
    margin = _REACH * step * speed
    origin = kinematics.origin
    ox, oy, oz = origin[0] + work.centre[t, 0], origin[1] + work.centre[t, 1], origin[2] + work.centre[t, 2]
    # clearance of a place in the track's plane: that of its origin, and how it grows ahead and up
    level = _clearance(terrain, ox + px, oy + py, oz + pz)
    ahead_rise = _rise(terrain, frame[0, 0], frame[0, 1], frame[0, 2])
    up_rise = _rise(terrain, frame[2, 0], frame[2, 1], frame[2, 2])
    if level + tracks.middle[t, 0] * ahead_rise + tracks.middle[t, 1] * up_rise > reach + margin:
        return
    path, sprung = work.path, is_sprung(tracks, t)
    limit = 0.5 * tracks.width[t] * abs(_rise(terrain, frame[1, 0], frame[1, 1], frame[1, 2])) + margin
    segment, into = belt_begin(tracks, path, t, position)
    shoe, ranged, low, high = shoe_length(tracks, path, t), -1, -math.inf, math.inf
    for first in range(0, tracks.pad_start[t + 1] - tracks.pad_start[t], PADS):
        if segment == ranged and low > high and shoe <= path.length[segment] - into:
            into += shoe
            continue
        left = shoe
        while left > 0.0:
            length, following, beyond = part_of_shoe(tracks, path, t, segment, into, left)
            if segment != ranged:
                ranged = segment
                low, high = _near_range(tracks, path, t, segment, ahead_rise, up_rise, level - limit)
            radius = path.radius[segment]
            is_near = length > _SHORTEST and into <= high and into + length >= low
            if is_near:
                ahead, above, tx, tz, faster = face_at(tracks, path, t, segment, into + 0.5 * length)
                # a curved face may touch beside its middle
                early = 0.5 * faster * length * abs(tx * ahead_rise + tz * up_rise) if radius > 0.0 else 0.0
                is_near = level + ahead * ahead_rise + above * up_rise <= limit + early
            if is_near:
                x = px + ahead * frame[0, 0] + above * frame[2, 0]
                y = py + ahead * frame[0, 1] + above * frame[2, 1]
                z = pz + ahead * frame[0, 2] + above * frame[2, 2]
                bx = tx * frame[0, 0] + tz * frame[2, 0]
                by = tx * frame[0, 1] + tz * frame[2, 1]
                bz = tx * frame[0, 2] + tz * frame[2, 2]
                # towards the track: against the outward normal
                nx = tz * frame[0, 0] - tx * frame[2, 0]
                ny = tz * frame[0, 1] - tx * frame[2, 1]
                nz = tz * frame[0, 2] - tx * frame[2, 2]
                even = soft = -1.0
                shift, at = 0.0, path.start[segment] + into + 0.5 * length
                lx, ly, lz = frame[1, 0], frame[1, 1], frame[1, 2]
                for pad in range(first, first + PADS):
                    aside, edge = place_of(pad) * tracks.width[t], side_of(pad) if is_edge(pad) else 0.0
                    n, dx, dy, dz = work.listed[t], aside * lx, aside * ly, aside * lz
                    if _find_ground(
                        *(terrain, spacing, soil, ox + x + dx, oy + y + dy, oz + z + dz, nx, ny, nz),
                        *(-edge * lx, -edge * ly, -edge * lz, margin + early, t, n, work),
                    ):
                        touch, along = work.touch[t], 0.0
                        touch[LENGTH, n] = length
                        if work.soil[t, n] >= 0:
                            if soft < 0.0:
                                soft = give_on_soil(tracks, path, t, segment, into, length)
                            touch[GIVE, n] *= soft
                        else:
                            if even < 0.0:
                                even, shift = give_on_rigid_ground(tracks, path, t, segment, into, length)
                            touch[GIVE, n] *= even
                            along = _settle(touch, n, faster * bx, faster * by, faster * bz, radius, faster, shift)
                            dx, dy, dz = dx + along * bx, dy + along * by, dz + along * bz
                        touch[X, n], touch[Y, n], touch[Z, n] = x + dx, y + dy, z + dz
                        touch[BELT_X, n], touch[BELT_Y, n], touch[BELT_Z, n] = faster * bx, faster * by, faster * bz
                        touch[PLACE, n], work.pad[t, n] = at, pad
                        if sprung:
                            bear(tracks, t, segment, at + along, -tz, tx, n, work)
                        work.listed[t] = n + 1
            segment, into, left = following, beyond, left - length


@inlined
def _settle(touch, n, bx, by, bz, radius, faster, shift):
    """Moves a pad on rigid ground to where the ground presses; returns how far along the belt [m].

    Args:
        touch, n: the pad, with depth, length and normal.
        bx, by, bz: tangent of its face, times the speed of the face over that of the belt.
        radius: of the wheel that the belt is around [m]; 0 on a straight run, negative where the belt hangs down.
        faster: speed of the face over that of the belt.
        shift: how far along a straight run [m].
    """
    rise = bx * touch[NORMAL_X, n] + by * touch[NORMAL_Y, n] + bz * touch[NORMAL_Z, n]
    if radius <= 0.0:
        touch[DEPTH, n] -= shift * rise
        return shift
    depth, length, along = curved_contact(touch[DEPTH, n], rise, 0.5 * faster / radius, touch[LENGTH, n])
    touch[DEPTH, n], touch[LENGTH, n] = depth, length
    return along


@inlined
def _clearance(terrain: Terrain, x, y, z):
    """Lower bound of the distance of a point from the natural ground, negative below it [m]."""
    if terrain.heights.shape[0] > 0:
        return z - terrain.highest[0]
    point, normal = terrain.point, terrain.normal
    return normal[0] * (x - point[0]) + normal[1] * (y - point[1]) + normal[2] * (z - point[2])


@inlined
def _rise(terrain: Terrain, x, y, z):
    """By how much `_clearance` changes along a unit vector [-]."""
    if terrain.heights.shape[0] > 0:
        return z
    normal = terrain.normal
    return normal[0] * x + normal[1] * y + normal[2] * z


@inlined
def _near_range(tracks: Tracks, path: Segments, t, segment, ahead_rise, up_rise, level):
    """Range of a segment where the clearance may be not above a limit [m]; low above high if it is everywhere.

    Args:
        tracks, path, t, segment: the segment.
        ahead_rise, up_rise: growth of the clearance ahead and up [-].
        level: clearance of the plane's origin, less the limit [m].
    """
    radius, tx, tz = path.radius[segment], path.direction[segment, 0], path.direction[segment, 1]
    # of the first outward normal, and of the tangent there
    out, along = tx * up_rise - tz * ahead_rise, tx * ahead_rise + tz * up_rise
    level += path.point[segment, 0] * ahead_rise + path.point[segment, 1] * up_rise
    size, length = math.sqrt(out * out + along * along), path.length[segment]
    if radius <= 0.0:
        level += tracks.thickness[t] * out + min(length * along, 0.0)
        if radius < 0.0:
            # it hangs down from its tangent, and its normal turns
            level += (0.5 * length + tracks.thickness[t]) * size * length / radius
        return (math.inf, -math.inf) if level > _SHORTEST else (-math.inf, math.inf)
    level -= radius * out
    reach = radius + tracks.thickness[t]
    if level >= reach * size:
        return math.inf, -math.inf
    if level <= -reach * size:
        return -math.inf, math.inf
    # the clearance is level + reach * size * cos(angle - that of the highest point)
    half, middle = math.acos(level / (reach * size)), 0.5 * length / radius
    lowest = math.atan2(-along, -out)
    lowest -= 2.0 * math.pi * math.floor((lowest - middle + math.pi) / (2.0 * math.pi))
    if half + abs(lowest - middle) + middle > 2.0 * math.pi:
        return -math.inf, math.inf
    return radius * (lowest - half), radius * (lowest + half)


@kernel
def _find_ground(terrain: Terrain, spacing, soil: SoilState, x, y, z, nx, ny, nz, sx, sy, sz, margin, t, n, work):
    """Fills depth, normal and soil of pad n at a place; returns whether it may touch within the step.

    `GIVE` is set to the share of the belt's give that counts: it is along the normal of the face, and a belt that lies
    on its side does not give way.

    Args:
        terrain, spacing, soil: the ground.
        x, y, z: the place [m].
        nx, ny, nz: normal of the face, into the shoe.
        sx, sy, sz: normal of the shoe's side, into the shoe, for a pad on an edge; else zero.
        margin: way that it may go in the step [m].
        t, n, work: the pad.
    """
    if terrain.heights.shape[0] > 0:
        level, gx, gy, gz = surface_below(terrain.heights, terrain.cell[0], terrain.origin[0], terrain.origin[1], x, y)
    else:
        point, normal = terrain.point, terrain.normal
        gx, gy, gz = normal[0], normal[1], normal[2]
        level = point[2] - (gx * (x - point[0]) + gy * (y - point[1])) / gz
    facing, beside = max(nx * gx + ny * gy + nz * gz, 0.0), max(sx * gx + sy * gy + sz * gz, 0.0)
    if (level - z) * gz < -margin or (facing == 0.0 and beside == 0.0):
        return False
    touch, k = work.touch[t], type_at(terrain, x, y)
    work.soil[t, n] = k
    if k < 0:
        # rigid ground presses on a shoe
        touch[DEPTH, n], touch[GIVE, n] = (level - z) * gz, facing * facing
        touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n] = gx, gy, gz
        return True
    at = open_cell(terrain, spacing, soil, x, y)
    work.soil[t, n] = int(soil.soil_cell[at + TYPE])
    work.cell[t, n] = at
    # the level of the cell is that of its middle
    i, j = math.floor(x / spacing + 0.5), math.floor(y / spacing + 0.5)
    level = soil.soil_cell[at + LEVEL] - (gx * (x - i * spacing) + gy * (y - j * spacing)) / gz
    # soil is pressed by the face of a shoe; an edge turns to it as far as the side does
    size = math.sqrt(facing * facing + beside * beside) if beside > 0.0 else facing
    facing, beside = facing / size, beside / size
    touch[DEPTH, n], touch[GIVE, n] = level - z, facing * facing
    touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n] = (
        facing * nx + beside * sx,
        facing * ny + beside * sy,
        facing * nz + beside * sz,
    )
    return touch[NORMAL_Z, n] > 0.0
