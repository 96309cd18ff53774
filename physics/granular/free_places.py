"""Whether a grain that is not yet among the others has a free place."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State
from grouser.physics.granular.manifold import find_points
from grouser.physics.granular.shapes import MESH, SOIL, shape_gap, to_body
from grouser.physics.granular.soft_ground import REACH, lower_side, window
from grouser.physics.granular.soil_surface import height_above_surface, is_smaller_than_cells
from grouser.physics.soil.tiles import natural_level, surface_of


@kernel
def is_free(context: Context, n, others):
    """Whether a grain touches neither others nor a boundary.

    Args:
        context: its bodies are where the state of the grains says.
        n: row with the grain's place and radius.
        others: number of the first rows that hold the others.
    """
    return not _touches_grain(context.state.granular.grains, n, others) and not _touches_boundary(context, n)


@inlined
def _touches_grain(state: State, n, others):
    position = state.position
    for i in range(others):
        e0, e1, e2 = (
            position[i, 0] - position[n, 0],
            position[i, 1] - position[n, 1],
            position[i, 2] - position[n, 2],
        )
        reach = position[n, 3] + position[i, 3]
        if state.ident[i] >= 0 and e0 * e0 + e1 * e1 + e2 * e2 < reach * reach:
            return True
    return False


@inlined
def _touches_boundary(context: Context, n):
    boundaries, state = context.system.granular.grains.boundaries, context.state.granular.grains
    x, y, z, radius = state.position[n, 0], state.position[n, 1], state.position[n, 2], state.position[n, 3]
    for s in range(boundaries.kind.shape[0]):
        if boundaries.kind[s] == SOIL:
            touches = _touches_soil(context, x, y, z, radius)
        else:
            touches = shape_gap(boundaries, s, to_body(state, boundaries.body[s], x, y, z)) < radius
            if touches and boundaries.kind[s] >= MESH:
                touches = find_points(boundaries, s, state, n, context.workspace.granular.grains) > 0
        if touches:
            return True
    return _is_below_field(context, x, y, z)


@inlined
def _is_below_field(context: Context, x, y, z):
    """Whether a point is below a rigid height field, whose surface alone is a boundary."""
    terrain, rigid = context.system.contact.terrain, context.system.granular.grains.soil_cell == 0.0
    return rigid and terrain.heights.shape[0] > 0 and z < natural_level(terrain, x, y)


@inlined
def _touches_soil(context: Context, x, y, z, radius):
    """Whether the surface of soft ground is above the lower side of a grain, also where no tile is opened."""
    terrain, spacing = context.system.contact.terrain, context.system.granular.grains.soil_cell
    if is_smaller_than_cells(spacing, radius):
        return height_above_surface(terrain, spacing, context.state.soil, x, y, z) < radius
    reach = REACH * radius
    i_first, i_last, j_first, j_last = window(spacing, x, y, reach)
    for i in range(i_first, i_last + 1):
        for j in range(j_first, j_last + 1):
            square = (i * spacing - x) ** 2 + (j * spacing - y) ** 2
            if square < reach * reach:
                height, _ = lower_side(square, radius)
                if z + height < surface_of(terrain, spacing, context.state.soil, i, j):
                    return True
    return False
