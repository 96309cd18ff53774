"""Where the shoes of a track are, and what ground is below them."""

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
    HALF,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    PADS,
    PLACE,
    Tracks,
    TrackWorkspace,
    X,
    Y,
    Z,
)
from grouser.physics.tracks.suspension import bear, is_sprung

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics

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
    along, up = tracks.middle[t, 0], tracks.middle[t, 1]
    x = work.centre[t, 0] + px + along * frame[0, 0] + up * frame[2, 0]
    y = work.centre[t, 1] + py + along * frame[0, 1] + up * frame[2, 1]
    z = work.centre[t, 2] + pz + along * frame[0, 2] + up * frame[2, 2]
    origin = kinematics.origin
    if _clearance(terrain, origin[0] + x, origin[1] + y, origin[2] + z) > reach + margin:
        return
    first, end, path = tracks.segment_start[t], tracks.segment_start[t + 1], work.path
    total = path.start[end - 1] + path.length[end - 1]
    shoes = (tracks.pad_start[t + 1] - tracks.pad_start[t]) // PADS
    pitch = total / shoes
    turns = tracks.scale[t] * position / tracks.wheels.nominal[t] + 0.5 / shoes
    at = total * (turns - math.floor(turns))
    segment, quarter, sprung = first, 0.25 * tracks.width[t], is_sprung(tracks, t)
    while segment < end - 1 and at >= path.start[segment + 1]:
        segment += 1
    lowest = 0.5 * tracks.width[t] * _steepness(terrain, frame[1, 0], frame[1, 1], frame[1, 2])
    for shoe in range(shoes):
        # ahead and up of the face, its tangent, speed of the face over that of the belt, how far the belt gives way
        into, radius = at - path.start[segment], path.radius[segment]
        tx, tz = path.direction[segment, 0], path.direction[segment, 1]
        ahead, above = path.point[segment, 0], path.point[segment, 1]
        faster, give = 1.0, 0.0
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
        if radius <= 0.0:
            # a wheel stands on all of a shoe
            before, behind = max(into - 0.5 * pitch, 0.0), max(path.length[segment] - into - 0.5 * pitch, 0.0)
            give = tracks.width[t] * before * behind / (2.0 * tracks.pretension[t])
        ahead -= tracks.thickness[t] * tz
        above += tracks.thickness[t] * tx
        x = px + ahead * frame[0, 0] + above * frame[2, 0]
        y = py + ahead * frame[0, 1] + above * frame[2, 1]
        z = pz + ahead * frame[0, 2] + above * frame[2, 2]
        gx, gy, gz = (
            origin[0] + work.centre[t, 0] + x,
            origin[1] + work.centre[t, 1] + y,
            origin[2] + work.centre[t, 2] + z,
        )
        if _clearance(terrain, gx, gy, gz) <= lowest + margin:
            # towards the track: against the outward normal
            nx, ny, nz = (
                tz * frame[0, 0] - tx * frame[2, 0],
                tz * frame[0, 1] - tx * frame[2, 1],
                tz * frame[0, 2] - tx * frame[2, 2],
            )
            bx, by, bz = (
                faster * (tx * frame[0, 0] + tz * frame[2, 0]),
                faster * (tx * frame[0, 1] + tz * frame[2, 1]),
                faster * (tx * frame[0, 2] + tz * frame[2, 2]),
            )
            for half in range(PADS):
                side = 1.0 - 2.0 * half
                aside = side * quarter
                dx, dy, dz = aside * frame[1, 0], aside * frame[1, 1], aside * frame[1, 2]
                n = work.listed[t]
                if _find_ground(
                    *(terrain, spacing, soil, gx + dx, gy + dy, gz + dz, nx, ny, nz, margin, t, n, work),
                ):
                    touch = work.touch[t]
                    touch[X, n], touch[Y, n], touch[Z, n] = x + dx, y + dy, z + dz
                    touch[BELT_X, n], touch[BELT_Y, n], touch[BELT_Z, n] = bx, by, bz
                    touch[GIVE, n], touch[PLACE, n], touch[HALF, n] = give, at, side
                    if sprung:
                        bear(tracks, t, segment, into, -tz, tx, n, work)
                    work.pad[t, n] = PADS * shoe + half
                    work.listed[t] = n + 1
        at += pitch
        if at >= total:
            at -= total
            segment = first
        while segment < end - 1 and at >= path.start[segment + 1]:
            segment += 1


@inlined
def _clearance(terrain: Terrain, x, y, z):
    """Lower bound of the distance of a point from the natural ground, negative below it [m]."""
    if terrain.heights.shape[0] > 0:
        return z - terrain.highest[0]
    point, normal = terrain.point, terrain.normal
    return normal[0] * (x - point[0]) + normal[1] * (y - point[1]) + normal[2] * (z - point[2])


@inlined
def _steepness(terrain: Terrain, x, y, z):
    """By how much `_clearance` may change along a unit vector [-]."""
    if terrain.heights.shape[0] > 0:
        return abs(z)
    normal = terrain.normal
    return abs(normal[0] * x + normal[1] * y + normal[2] * z)


@kernel
def _find_ground(terrain: Terrain, spacing, soil: SoilState, x, y, z, nx, ny, nz, margin, t, n, work: TrackWorkspace):
    """Fills depth, normal and soil of pad n at a place of the world; returns whether it may touch within the step."""
    if terrain.heights.shape[0] > 0:
        level, gx, gy, gz = surface_below(terrain.heights, terrain.cell[0], terrain.origin[0], terrain.origin[1], x, y)
    else:
        point, normal = terrain.point, terrain.normal
        gx, gy, gz = normal[0], normal[1], normal[2]
        level = point[2] - (gx * (x - point[0]) + gy * (y - point[1])) / gz
    if (level - z) * gz < -margin or nx * gx + ny * gy + nz * gz <= 0.0:
        return False
    touch, k = work.touch[t], type_at(terrain, x, y)
    if k >= 0:
        at = open_cell(terrain, spacing, soil, x, y)
        k = int(soil.soil_cell[at + TYPE])
        work.cell[t, n] = at
        # the level of the cell is that of its middle
        i, j = math.floor(x / spacing + 0.5), math.floor(y / spacing + 0.5)
        level = soil.soil_cell[at + LEVEL] - (gx * (x - i * spacing) + gy * (y - j * spacing)) / gz
    work.soil[t, n] = k
    if k >= 0:
        # soil is pressed by the face of the shoe, rigid ground presses on it
        touch[DEPTH, n] = level - z
        touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n] = nx, ny, nz
        return nz > 0.0
    touch[DEPTH, n] = (level - z) * gz
    touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n] = gx, gy, gz
    return True
