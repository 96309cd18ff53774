"""Cells that the edge of a tool passes in a step: their soil is taken off down to the edge.

Of a cell, the share g F has been taken once the edge has passed the part F of its length, with g the part of its width
within the edge. A step from F0 to F1 takes g (F1 - F0) / (1 - g F0) of what is left: taking g (F1 - F0) of it in each
step would leave the part 1/e of the cell standing.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.plate import (
    ALONG_Z,
    STEEPEST_EDGE,
    X,
    Y,
    Z,
    ahead,
    faces_motion,
    plan_length,
)
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.relaxation import wake_cells
from grouser.physics.soil.strata import add_loose, loose_density, soil_of, take_soil
from grouser.physics.soil.tiles import (
    NO_TILE,
    SURFACE,
    TYPE,
    SoilState,
    cell_in,
    nearest_cell,
    open_cell_of,
    same_or_next_tile,
    surface_of,
)

# What `cut_soil` finds: solid mass [kg]; its volume once loose [m3]; greatest depth of the edge below the surface [m];
# the same in rigid ground [m]; cells that the edge has advanced [-].
MASS, VOLUME, DEPTH, DEPTH_IN_ROCK, ADVANCE = range(5)
CUT = 5


@kernel
def cut_soil(ground: SoftGround, width, old, new, state: SoilState, cut):
    """Takes off the soil above the cutting edge over the area that it sweeps.

    Args:
        ground: natural ground and its soils.
        width: of the edge [m].
        old, new: poses of the plate at both ends of the step.
        state: of the soil, changed.
        cut: result, (CUT,).
    """
    spacing = ground.spacing
    cut[:] = 0.0
    length = plan_length(new)
    if length < STEEPEST_EDGE:
        return
    fx, fy = ahead(new)
    advance = (new[X] - old[X]) * fx + (new[Y] - old[Y]) * fy
    if not (advance > 0.0 and faces_motion(old, new)):
        return
    cut[ADVANCE] = advance / spacing
    lx, ly, half, slope = -fy, fx, 0.5 * width * length, new[ALONG_Z] / length
    # of a cell along the motion, and along the edge
    reach = 0.5 * spacing * (abs(fx) + abs(fy))
    drift = ((new[X] - old[X]) * lx + (new[Y] - old[Y]) * ly) / advance
    back, front = -reach, advance + reach
    side = half + reach + abs(drift) * advance
    x_low, x_high = _range(old[X], fx, back, front, abs(lx) * side)
    y_low, y_high = _range(old[Y], fy, back, front, abs(ly) * side)
    i_first, i_last = int(math.ceil(x_low / spacing)), int(math.floor(x_high / spacing))
    j_first, j_last = int(math.ceil(y_low / spacing)), int(math.floor(y_high / spacing))
    top, bottom, left, right = i_last + 1, i_first - 1, j_last + 1, j_first - 1
    for i in range(i_first, i_last + 1):
        for j in range(j_first, j_last + 1):
            dx, dy = i * spacing - old[X], j * spacing - old[Y]
            begin = dx * fx + dy * fy - reach
            first, last = max(begin, 0.0), min(begin + 2.0 * reach, advance)
            middle = 0.5 * (first + last)
            across = dx * lx + dy * ly - drift * middle
            inside = min(across + reach, half) - max(across - reach, -half)
            if last <= first or inside <= 0.0:
                continue
            edge = old[Z] + (new[Z] - old[Z]) * middle / advance + slope * min(max(across, -half), half)
            if surface_of(ground.terrain, spacing, state, i, j) <= edge:
                continue
            at = open_cell_of(ground.terrain, spacing, state, i, j)
            depth = state.soil_cell[at + SURFACE] - edge
            within = inside / (2.0 * reach)
            before, after = (first - begin) / (2.0 * reach), (last - begin) / (2.0 * reach)
            share = within * (after - before) / (1.0 - within * before)
            mass, volume = take_soil(ground.soils, state.soil_cell, at, depth, share)
            cut[MASS] += mass
            cut[VOLUME] += volume
            rigid = state.soil_cell[at + TYPE] < 0.0
            cut[DEPTH_IN_ROCK if rigid else DEPTH] = max(cut[DEPTH_IN_ROCK if rigid else DEPTH], depth)
            top, bottom, left, right = min(top, i), max(bottom, i), min(left, j), max(right, j)
    cut[MASS] *= spacing * spacing
    cut[VOLUME] *= spacing * spacing
    if cut[MASS] > 0.0:
        wake_cells(ground, state, top, bottom, left, right)


@inlined
def _range(start, direction, back, front, side):
    """Least and greatest coordinate of a rectangle from `back` to `front` along a direction, `side` to both sides."""
    return start + min(back * direction, front * direction) - side, start + max(
        back * direction, front * direction
    ) + side


@kernel
def lay_ahead(ground: SoftGround, width, pose, mass, length, state: SoilState):
    """Lays loose soil on the cells ahead of a plate, over its width: most at the plate, none at the end of the strip.

    Args:
        ground: natural ground and its soils.
        width: of the edge [m].
        pose: of the plate.
        mass: solid mass [kg].
        length: of the strip ahead that gets it [m].
        state: of the soil, changed.
    """
    fx, fy = ahead(pose)
    spacing = ground.spacing
    half, middle = 0.5 * width * plan_length(pose), 0.5 * length
    x, y = pose[X] + middle * fx, pose[Y] + middle * fy
    reach_x, reach_y = middle * abs(fx) + half * abs(fy), middle * abs(fy) + half * abs(fx)
    i_first, i_last = int(math.ceil((x - reach_x) / spacing)), int(math.floor((x + reach_x) / spacing))
    j_first, j_last = int(math.ceil((y - reach_y) / spacing)), int(math.floor((y + reach_y) / spacing))
    parts = 0.0
    for i in range(i_first, i_last + 1):
        for j in range(j_first, j_last + 1):
            if _covers(i * spacing - x, j * spacing - y, fx, fy, middle, half):
                parts += _part(i * spacing - x, j * spacing - y, fx, fy, middle)
    if parts == 0.0:
        # narrower than a cell
        i_first = i_last = nearest_cell(x, spacing)
        j_first = j_last = nearest_cell(y, spacing)
    of_part, cell, tile = mass / ((parts if parts > 0.0 else 1.0) * spacing * spacing), state.soil_cell, NO_TILE
    for i in range(i_first, i_last + 1):
        for j in range(j_first, j_last + 1):
            dx, dy = i * spacing - x, j * spacing - y
            if parts > 0.0 and not _covers(dx, dy, fx, fy, middle, half):
                continue
            share = _part(dx, dy, fx, fy, middle) if parts > 0.0 else 1.0
            tile = same_or_next_tile(ground.terrain, spacing, state, i, j, tile)
            at = cell_in(tile, i, j)
            add_loose(cell, at, of_part * share / loose_density(ground.soils, soil_of(cell, at)))
    wake_cells(ground, state, i_first, i_last, j_first, j_last)


@inlined
def _part(dx, dy, fx, fy, middle):
    """Weight of a place given from the middle of a strip: 1 at the plate, 0 at its end."""
    return 0.5 - 0.5 * (dx * fx + dy * fy) / middle


@inlined
def _covers(dx, dy, fx, fy, middle, half):
    """Whether a rectangle covers a point, given from its middle."""
    return abs(dx * fx + dy * fy) <= middle and abs(dy * fx - dx * fy) <= half
