"""What soil can hold a shovel with: directions, places and limits of the forces, one for each way that it may move.

A shovel in soil is held as by dry friction, up to a limit and never pushed:

- CUT: the wedge ahead of its plate, over the profile of the cells, strip by strip of the edge; acts a third of the
  depth above the edge. Undisturbed soil that comes into the wedge takes up momentum; the mass of the wedge resists
  acceleration.
- PENETRATE: a strip footing under the edge, or squares under its teeth, and friction on both faces, against motion the
  way the edge points; where it moves to its face by more than 10 degrees from there, the wedge takes its place, and
  altogether from 20 degrees on.
- SIDE: soil beside the side plates, at Rankine's passive pressure, against motion along the edge either way.
- BEAR: soil below surfaces that face down, by its pressure-sinkage law; it stays pressed. Backs and side plates bear
  with both sides, a blade's face only where there is no wedge. Each of the corners of a shovel has its own force.

Limits belong to the pose at the start of a step. The first two grow as the shovel moves on (`mobilisation`).
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.mobilisation import mobilised_share
from grouser.physics.digging.penetration import edge_penetration, teeth_penetration
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, ALONG_Z, UP_X, UP_Y, UP_Z, X, Y, Z, ahead, rake
from grouser.physics.digging.profile_wedge import flattest_plane
from grouser.physics.digging.strip_force import blade_of, strip_force
from grouser.physics.digging.tools import (
    ACROSS,
    AREA,
    BELOW,
    CORNER,
    CORNERS,
    NORMAL_ACROSS,
    NORMAL_BELOW,
    NORMAL_UP,
    UP,
    Tools,
)
from grouser.physics.digging.wedge import CutSoil
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.laws import pressure_stiffness
from grouser.physics.soil.strata import press_surface
from grouser.physics.soil.tiles import (
    LEVEL,
    LOOSE,
    NO_TILE,
    SURFACE,
    TYPE,
    SoilState,
    cell_in,
    nearest_cell,
    same_or_next_tile,
)

CUT, PENETRATE, SIDE, BEAR = range(4)
WAYS = BEAR + CORNERS
# Cells ahead that the wedge may reach, and how far by the depth of the edge.
_CELLS, _REACH = 64, 4.0
# Plates closer to horizontal than this have no wedge [rad].
_FLATTEST = math.radians(8.0)
# Between these angles of the motion to where an edge points its footing gives way to the wedge, as sines: chosen.
_POINTED, _TURNED = math.sin(math.radians(10.0)), math.sin(math.radians(20.0))
# Below this speed an edge has no direction of motion [m/s].
_SLOW = 1e-3
# A surface is on soil within this distance above it [m], unless it leaves it faster than this [m/s]; those closer to
# upright than this, as a cosine, bear nothing.
_TOUCHES, _LEAVES, _UPRIGHT = 2e-4, 1e-4, 0.05


class Resistance(NamedTuple):
    """What soil can hold shovels with; buffers of a step.

    Attributes:
        limit: of each force [N], (tools, WAYS); 0 for none.
        momentum: part of the limit of CUT by the momentum that the soil takes up [N], (tools,).
        mass: of the wedge, as a mass along the force of CUT [kg], (tools,).
        wrench: unit force and its moment about the origin, world axes, (tools, WAYS, 6).
        depth: greatest of the edge below the ground [m], (tools,).
        heights, loose: of the ground ahead of a strip, and thickness of its loose soil [m], (cells,).
        shifted: buffers of `strip_force`, (2, cells).
    """

    limit: np.ndarray
    momentum: np.ndarray
    mass: np.ndarray
    wrench: np.ndarray
    depth: np.ndarray
    heights: np.ndarray
    loose: np.ndarray
    shifted: np.ndarray


def make_resistance(tools: int) -> Resistance:
    """Buffers for a number of tools."""
    return Resistance(
        np.zeros((tools, WAYS)),
        np.zeros(tools),
        np.zeros(tools),
        np.zeros((tools, WAYS, 6)),
        np.zeros(tools),
        np.zeros(_CELLS),
        np.zeros(_CELLS),
        np.zeros((2, _CELLS)),
    )


@kernel
def measure_resistance(
    ground: SoftGround, tools: Tools, t, pose, origin, twist, lip, travel, failure, state: SoilState, work: Resistance
):
    """Finds what holds a shovel.

    Args:
        ground: natural ground and its soils.
        tools, t: the shovel.
        pose: of its plate.
        origin: of the moments [m].
        twist: of its body, world axes about the origin, (6,).
        lip: unit vector in which its edge points, world axes.
        travel: of the shovel against CUT and PENETRATE [m], (2,).
        failure: planes of failure of each strip, changed, 0 for none [rad], (STRIPS, 2).
        state: of the soil; cells below a back are pressed.
        work: filled for the shovel.
    """
    work.limit[t, :] = 0.0
    work.wrench[t, :, :] = 0.0
    width, depth, k = _measure_strips(ground, tools, t, pose, origin, twist, failure, state, work)
    if width > 0.0:
        soil = _soil_of(ground, tools, t, k)
        share = mobilised_share(travel[CUT], work.depth[t])
        work.limit[t, CUT] *= share
        work.momentum[t] *= share
        _measure_edge(ground, tools, t, pose, origin, twist, lip, soil, width, depth, work)
        work.limit[t, PENETRATE] *= mobilised_share(travel[PENETRATE], work.depth[t])
        _measure_side(ground, tools, t, pose, origin, soil, depth, work)
    _measure_bearing(ground, tools, t, pose, origin, twist, state, work)


@inlined
def _soil_of(ground: SoftGround, tools: Tools, t, k):
    """Soil k as the shovel cuts it."""
    friction = math.atan(ground.soils.friction[k])
    of_tool = tools.friction[t]
    if math.isnan(of_tool):
        of_tool = 2.0 / 3.0 * friction
    return CutSoil(ground.soils.density[k], friction, ground.soils.cohesion[k], of_tool, tools.adhesion[t])


@inlined
def _measure_strips(
    ground: SoftGround, tools: Tools, t, pose, origin, twist, failure, state: SoilState, work: Resistance
):
    """Sums the wedges of all strips into CUT; returns the width in soil, its mean depth [m], and the last soil."""
    count, spacing = tools.strips[t], ground.spacing
    strip = tools.width[t] / count
    fx, fy = ahead(pose)
    tilt = rake(pose)
    wedged = _FLATTEST < tilt < math.pi - _FLATTEST
    width, sum_of_depths, deepest, soil = 0.0, 0.0, 0.0, 0
    whole, steep = _soil_of(ground, tools, t, soil), min(max(tilt, _FLATTEST), math.pi - _FLATTEST)
    blade = blade_of(steep, whole.friction, whole.tool_friction)
    tile = NO_TILE
    force_x, force_y, force_z, moment_x, moment_y, moment_z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    draught, momentum, mass = 0.0, 0.0, 0.0
    for s in range(count):
        across = ((s + 0.5) / count - 0.5) * tools.width[t]
        x, y = pose[X] + across * pose[ALONG_X], pose[Y] + across * pose[ALONG_Y]
        z = pose[Z] + across * pose[ALONG_Z]
        # the cell below the edge is cut in part: the next one ahead stands
        i, j = nearest_cell(x + spacing * fx, spacing), nearest_cell(y + spacing * fy, spacing)
        tile = same_or_next_tile(ground.terrain, spacing, state, i, j, tile)
        at = cell_in(tile, i, j)
        k = int(state.soil_cell[at + TYPE])
        depth = _height(ground, state, at) - z
        if depth <= 0.0 or k < 0:
            failure[s, 0] = failure[s, 1] = 0.0
            continue
        width += strip
        sum_of_depths += strip * depth
        deepest = max(deepest, depth)
        if k != soil:
            soil, whole = k, _soil_of(ground, tools, t, k)
            blade = blade_of(steep, whole.friction, whole.tool_friction)
        if not wedged:
            continue
        last = failure[s, 0] if failure[s, 0] != 0.0 else math.nan
        inner = failure[s, 1] if failure[s, 1] != 0.0 else math.nan
        cells, flattest = min(int(_REACH * depth / spacing) + 2, _CELLS), flattest_plane(blade.plate, last)
        work.heights[0], work.loose[0] = depth, state.soil_cell[at + LOOSE] / ground.soils.swell[k]
        for n in range(1, cells):
            way = (n + 0.5) * spacing
            i, j = nearest_cell(x + way * fx, spacing), nearest_cell(y + way * fy, spacing)
            tile = same_or_next_tile(ground.terrain, spacing, state, i, j, tile)
            one = cell_in(tile, i, j)
            work.heights[n] = _height(ground, state, one) - z
            work.loose[n] = state.soil_cell[one + LOOSE] / ground.soils.swell[k]
            if work.heights[n] < flattest * way and blade.lead <= 0.0:
                cells = n + 1
                break
        # adhesion acts on the undisturbed part of the depth, cohesion where there is one
        undisturbed = state.soil_cell[at + SURFACE] - state.soil_cell[at + LOOSE] - z
        bank = min(max(undisturbed, 0.0) / depth, 1.0)
        cohesion = whole.cohesion if bank > 0.0 else 0.0
        cut = CutSoil(whole.density, whole.friction, cohesion, whole.tool_friction, bank * whole.adhesion)
        heights, loose = work.heights[:cells], work.loose[:cells]
        vx, vy, _ = _velocity(twist, x - origin[0], y - origin[1], z - origin[2])
        speed = max(vx * fx + vy * fy, 0.0)
        flux = cut.density * bank * depth * speed * speed
        found = strip_force(heights, loose, work.shifted, spacing, depth, blade, cut, ground.gravity, flux, last, inner)
        failure[s, 0] = 0.0 if math.isnan(found.failure) else found.failure
        failure[s, 1] = 0.0 if math.isnan(found.inner_failure) else found.inner_failure
        if not math.isfinite(found.draught):
            continue
        # on the plate, a third of the depth above the edge
        up = min(depth / (3.0 * math.sin(tilt)), tools.opening[t])
        px, py, pz = x + up * pose[UP_X] - origin[0], y + up * pose[UP_Y] - origin[1], z + up * pose[UP_Z] - origin[2]
        gx, gy, gz = -strip * found.draught * fx, -strip * found.draught * fy, -strip * found.pull
        force_x, force_y, force_z = force_x + gx, force_y + gy, force_z + gz
        draught, momentum = draught + strip * found.draught, momentum + strip * found.momentum
        mass += strip * found.mass
        moment_x, moment_y = moment_x + py * gz - pz * gy, moment_y + pz * gx - px * gz
        moment_z += px * gy - py * gx
    _set_force(work, t, CUT, force_x, force_y, force_z, moment_x, moment_y, moment_z)
    # of the draught, as parts of a force that is not level
    slant = work.limit[t, CUT] / draught if draught > 0.0 else 0.0
    work.momentum[t], work.mass[t] = momentum * slant, mass * slant * slant
    work.depth[t] = deepest
    return width, sum_of_depths / width if width > 0.0 else 0.0, soil


@inlined
def _set_force(work: Resistance, t, way, fx, fy, fz, mx, my, mz):
    """Stores a force and its moment as unit wrench and limit."""
    limit = math.sqrt(fx * fx + fy * fy + fz * fz)
    work.limit[t, way] = limit
    if limit > 0.0:
        row = work.wrench[t, way]
        row[0], row[1], row[2] = fx / limit, fy / limit, fz / limit
        row[3], row[4], row[5] = mx / limit, my / limit, mz / limit


@inlined
def _height(ground: SoftGround, state: SoilState, at):
    """Height of a cell with its loose soil as if it were as dense as undisturbed soil [m]."""
    k = max(int(state.soil_cell[at + TYPE]), 0)
    return state.soil_cell[at + SURFACE] - (1.0 - 1.0 / ground.soils.swell[k]) * state.soil_cell[at + LOOSE]


@inlined
def _measure_edge(ground: SoftGround, tools: Tools, t, pose, origin, twist, lip, soil, width, depth, work: Resistance):
    """Footing of the edge or its teeth, against motion the way that they point."""
    x, y, z = pose[X] - origin[0], pose[Y] - origin[1], pose[Z] - origin[2]
    vx, vy, vz = _velocity(twist, x, y, z)
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    # to the face: along lip x along
    nx = lip[1] * pose[ALONG_Z] - lip[2] * pose[ALONG_Y]
    ny = lip[2] * pose[ALONG_X] - lip[0] * pose[ALONG_Z]
    nz = lip[0] * pose[ALONG_Y] - lip[1] * pose[ALONG_X]
    turned = (vx * nx + vy * ny + vz * nz) / (speed + _SLOW)
    share = min(max((_TURNED - turned) / (_TURNED - _POINTED), 0.0), 1.0)
    if share == 0.0:
        return
    if tools.teeth[t] > 0:
        tips = max(depth - tools.tooth_length[t] * lip[2], 0.0)
        in_soil = tools.teeth[t] * width / tools.width[t]
        found = teeth_penetration(soil, in_soil, tools.tooth_side[t], width, tips, ground.gravity)
    else:
        found = edge_penetration(soil, tools.thickness[t], width, depth, ground.gravity)
    limit = share * (found.edge + found.skin)
    _set_force_at(work, t, PENETRATE, x, y, z, -limit * lip[0], -limit * lip[1], -limit * lip[2])


@inlined
def _velocity(twist, x, y, z):
    """Velocity of a place from the origin at a twist."""
    return (
        twist[0] + twist[4] * z - twist[5] * y,
        twist[1] + twist[5] * x - twist[3] * z,
        twist[2] + twist[3] * y - twist[4] * x,
    )


@inlined
def _set_force_at(work: Resistance, t, way, x, y, z, fx, fy, fz):
    """Stores a force at a place from the origin."""
    _set_force(work, t, way, fx, fy, fz, y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)


@inlined
def _measure_side(ground: SoftGround, tools: Tools, t, pose, origin, soil, depth, work: Resistance):
    """Passive pressure on a side plate (Rankine), against motion along the edge either way."""
    passive = math.tan(0.25 * math.pi + 0.5 * soil.friction)
    weight = soil.density * ground.gravity
    force = tools.side[t] * depth * passive * (0.5 * weight * depth * passive + 2.0 * soil.cohesion)
    ax, ay, az = force * pose[ALONG_X], force * pose[ALONG_Y], force * pose[ALONG_Z]
    _set_force_at(work, t, SIDE, pose[X] - origin[0], pose[Y] - origin[1], pose[Z] - origin[2], ax, ay, az)


@inlined
def _measure_bearing(ground: SoftGround, tools: Tools, t, pose, origin, twist, state: SoilState, work: Resistance):
    """Pressure of the soil below surfaces that face down, which they press down to where they are."""
    spacing, soils, cell = ground.spacing, ground.soils, state.soil_cell
    # below the plate: against the direction of along x up
    bx = pose[ALONG_Z] * pose[UP_Y] - pose[ALONG_Y] * pose[UP_Z]
    by = pose[ALONG_X] * pose[UP_Z] - pose[ALONG_Z] * pose[UP_X]
    bz = pose[ALONG_Y] * pose[UP_X] - pose[ALONG_X] * pose[UP_Y]
    fx, fy = ahead(pose)
    tilt = rake(pose)
    faces = tools.carries[t] or not _FLATTEST < tilt < math.pi - _FLATTEST
    reach, narrow = 0.5 * spacing * (abs(fx) + abs(fy)), min(tools.opening[t], tools.width[t])
    tile, soil, stiffness = NO_TILE, -1, 0.0
    for p in range(tools.point_start[t], tools.point_start[t + 1]):
        point = tools.point[p]
        nu, na, nb = point[NORMAL_UP], point[NORMAL_ACROSS], point[NORMAL_BELOW]
        nz = nu * pose[UP_Z] + na * pose[ALONG_Z] + nb * bz
        if abs(nz) < _UPRIGHT or (nz > 0.0 and not faces):
            continue
        outer = nz < 0.0
        sign = 1.0 if outer else -1.0
        nx = sign * (nu * pose[UP_X] + na * pose[ALONG_X] + nb * bx)
        ny = sign * (nu * pose[UP_Y] + na * pose[ALONG_Y] + nb * by)
        nz = -abs(nz)
        up, across, below = point[UP], point[ACROSS], point[BELOW]
        x = pose[X] + across * pose[ALONG_X] + up * pose[UP_X] + below * bx
        y = pose[Y] + across * pose[ALONG_Y] + up * pose[UP_Y] + below * by
        z = pose[Z] + across * pose[ALONG_Z] + up * pose[UP_Z] + below * bz
        i, j = nearest_cell(x, spacing), nearest_cell(y, spacing)
        if outer and (i * spacing - pose[X]) * fx + (j * spacing - pose[Y]) * fy > -reach:
            continue  # a part of what stands there is ahead of the plate
        tile = same_or_next_tile(ground.terrain, spacing, state, i, j, tile)
        at = cell_in(tile, i, j)
        k = int(cell[at + TYPE])
        if k < 0 or cell[at + SURFACE] < z - _TOUCHES:
            continue
        px, py, pz = x - origin[0], y - origin[1], z - origin[2]
        vx, vy, vz = _velocity(twist, px, py, pz)
        if vx * nx + vy * ny + vz * nz < -_LEAVES:
            continue
        sinkage = max(cell[at + LEVEL] - z, 0.0)
        if k != soil:
            soil, stiffness = k, pressure_stiffness(soils, k, narrow, soils.exponent[k])
        pressure = stiffness * sinkage ** soils.exponent[k]
        if cell[at + SURFACE] > z:
            press_surface(cell, at, sinkage, pressure, sinkage)
        _add_bearing(work, t, BEAR + int(point[CORNER]), -point[AREA] * pressure, nx, ny, nz, px, py, pz)
    for way in range(BEAR, WAYS):
        row = work.wrench[t, way]
        _set_force(work, t, way, row[0], row[1], row[2], row[3], row[4], row[5])


@inlined
def _add_bearing(work: Resistance, t, way, force, nx, ny, nz, px, py, pz):
    """Adds a force along a normal at a place to the sums of a corner."""
    row = work.wrench[t, way]
    gx, gy, gz = force * nx, force * ny, force * nz
    row[0] += gx
    row[1] += gy
    row[2] += gz
    row[3] += py * gz - pz * gy
    row[4] += pz * gx - px * gz
    row[5] += px * gy - py * gx
