"""The notch between the plate of a shovel and the soil that it cuts: soil in it belongs to the wedge, and is no lump.

A lump that gets there would press on the plate beside the wedge's force, jammed against soil that is about to fail.
"""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, ALONG_Z, X, Y, Z, ahead, normal_of
from grouser.physics.soil.tiles import nearest_cell, surface_of

# The soil that stands is looked at so many cells ahead of the edge: nearer ones are cut in part; so far the notch goes.
_STANDS, _REACHES = 1.5, 2.0


@inlined
def is_in_notch(context: Context, t, x, y, z):
    """Whether a place is ahead of the plate of a shovel in soil, and below the soil that stands ahead of that."""
    if not context.workspace.digging.resistance.depth[t] > 0.0:
        return False
    pose, half = context.workspace.digging.pose[t], 0.5 * context.system.digging.width[t]
    spacing, terrain = context.system.granular.grains.soil_cell, context.system.contact.terrain
    dx, dy, dz = x - pose[X], y - pose[Y], z - pose[Z]
    along = dx * pose[ALONG_X] + dy * pose[ALONG_Y] + dz * pose[ALONG_Z]
    fx, fy = ahead(pose)
    if abs(along) > half or dx * fx + dy * fy > _REACHES * spacing:
        return False
    nx, ny, nz = normal_of(pose)
    if dx * nx + dy * ny + dz * nz <= 0.0:
        return False
    i = nearest_cell(pose[X] + along * pose[ALONG_X] + _STANDS * spacing * fx, spacing)
    j = nearest_cell(pose[Y] + along * pose[ALONG_Y] + _STANDS * spacing * fy, spacing)
    return z < surface_of(terrain, spacing, context.state.soil, i, j)


@kernel
def take_back(context: Context):
    """Takes the lumps in the notches of all shovels back into what these have cut."""
    state, lumps, digging = context.state.granular.grains, context.system.granular.lumps, context.state.digging
    for t in range(digging.crumbs.shape[0]):
        if not context.workspace.digging.resistance.depth[t] > 0.0:
            continue
        for r in range(state.number[0]):
            x, y, z = state.position[r, 0], state.position[r, 1], state.position[r, 2]
            is_lump = state.ident[r] >= 0 and state.material[r] == lumps.material
            if is_lump and is_in_notch(context, t, x, y, z):
                digging.crumbs[t] += 1.0 / state.velocity[r, 3]
                state.ident[r] = -1
                state.stale[0] = 1
