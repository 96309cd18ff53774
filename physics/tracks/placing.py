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
from grouser.physics.tracks.pads import PADS, is_edge, place_of, side_of
from grouser.physics.tracks.shoes import belt_give, first_shoe, next_shoe, shoe_face
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
    shoes, sprung = (tracks.pad_start[t + 1] - tracks.pad_start[t]) // PADS, is_sprung(tracks, t)
    at, segment = first_shoe(tracks, work.path, t, position)
    lowest = 0.5 * tracks.width[t] * _steepness(terrain, frame[1, 0], frame[1, 1], frame[1, 2])
    for shoe in range(shoes):
        ahead, above, tx, tz, faster = shoe_face(tracks, work.path, t, segment, at)
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
            even, soft = belt_give(tracks, work.path, t, segment, at)
            lx, ly, lz = frame[1, 0], frame[1, 1], frame[1, 2]
            for pad in range(PADS * shoe, PADS * (shoe + 1)):
                aside, edge = place_of(pad) * tracks.width[t], side_of(pad) if is_edge(pad) else 0.0
                n, dx, dy, dz = work.listed[t], aside * lx, aside * ly, aside * lz
                if _find_ground(
                    *(terrain, spacing, soil, gx + dx, gy + dy, gz + dz, nx, ny, nz),
                    *(-edge * lx, -edge * ly, -edge * lz, even, soft, margin, t, n, work),
                ):
                    touch = work.touch[t]
                    touch[X, n], touch[Y, n], touch[Z, n] = x + dx, y + dy, z + dz
                    touch[BELT_X, n], touch[BELT_Y, n], touch[BELT_Z, n] = bx, by, bz
                    touch[PLACE, n], work.pad[t, n] = at, pad
                    if sprung:
                        bear(tracks, t, segment, at, -tz, tx, n, work)
                    work.listed[t] = n + 1
        at, segment = next_shoe(tracks, work.path, t, at, segment)


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
def _find_ground(
    terrain: Terrain, spacing, soil: SoilState, x, y, z, nx, ny, nz, sx, sy, sz, even, soft, margin, t, n, work
):
    """Fills depth, give, normal and soil of pad n at a place; returns whether it may touch within the step.

    Args:
        terrain, spacing, soil: the ground.
        x, y, z: the place [m].
        nx, ny, nz: normal of the face, into the shoe.
        sx, sy, sz: normal of the shoe's side, into the shoe, for a pad on an edge; else zero.
        even, soft: by how much the belt gives way per pressure on rigid ground and on soil [m/Pa]. It does so along the
            normal of the face: a belt that lies on its side does not.
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
        touch[DEPTH, n], touch[GIVE, n] = (level - z) * gz, even * facing * facing
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
    touch[DEPTH, n], touch[GIVE, n] = level - z, soft * facing * facing
    touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n] = (
        facing * nx + beside * sx,
        facing * ny + beside * sy,
        facing * nz + beside * sz,
    )
    return touch[NORMAL_Z, n] > 0.0
