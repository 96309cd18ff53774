"""Lumps of cut soil: they begin at rest where the plate of a shovel is, and the shovel takes them along by contact.

A lump begins at the lowest free place of the plate of a bucket, else at the lowest one ahead of the plate; above its
top edge where there is none lower. What makes no whole lump, or finds no place, stays with the shovel until then.
"""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.plate import ALONG_X, ALONG_Y, ALONG_Z, UP_X, UP_Y, UP_Z, X, Y, Z, normal_of
from grouser.physics.granular.free_places import is_free
from grouser.physics.granular.sources import enter_grain
from grouser.physics.lumps.notch import is_in_notch

# Between the middles of two places, and of the first ones ahead from the plate, by the radius [-]; number of these.
_BETWEEN, _AHEAD, _STRIPS = 2.2, 1.05, 4
# Height up to which places are tried, by that of the plate [-]: a pile on a bucket or blade is lower.
_HIGHEST = 3.0
# Successive lumps of a shovel begin so many places apart.
_STRIDE = 5


@kernel
def form_lumps(context: Context):
    """Makes lumps of the soil that shovels have cut; returns whether there was room for all that are due."""
    lumps, crumbs = context.system.granular.lumps, context.state.digging.crumbs
    state, due = context.state.granular.grains, 0
    for t in range(crumbs.shape[0]):
        due += int(crumbs[t] / lumps.mass)
    if state.number[0] + due > state.position.shape[0]:
        context.workspace.granular.grains.needed[2] = state.number[0] + due
        return False
    for t in range(crumbs.shape[0]):
        for _ in range(int(crumbs[t] / lumps.mass)):
            if not _form_one(context, t):
                break
            enter_grain(state, lumps.mass, lumps.material, (0.0, 0.0, 0.0), -1)
            crumbs[t] -= lumps.mass
            context.state.digging.formed[t] += 1
    return True


@inlined
def _form_one(context: Context, t):
    """Places a lump of shovel t in the row after the last one; returns whether there is a free place."""
    tools, radius = context.system.digging, context.system.granular.lumps.radius
    within = int(tools.opening[t] / radius)
    if tools.carries[t] and _find_place(context, t, 0.0, within, 1):
        return True
    return _find_place(context, t, _AHEAD * radius, int(_HIGHEST * within), _STRIPS)


@kernel
def _find_place(context: Context, t, ahead, rows, strips):
    """Looks for a free place for a lump from the edge upwards.

    Args:
        context: the row after the last grain gets the place.
        t: the shovel.
        ahead: distance of the first places from the plate, on the side on which it cuts [m].
        rows: number of heights.
        strips: number of places ahead of each other.
    """
    tools, pose, state = context.system.digging, context.workspace.digging.pose[t], context.state.granular.grains
    n, radius, width = state.number[0], context.system.granular.lumps.radius, tools.width[t]
    between = _BETWEEN * radius
    nx, ny, nz = normal_of(pose)
    columns, first = max(int(width / between), 1), _STRIDE * context.state.digging.formed[t]
    state.position[n, 3] = radius
    for row in range(1, rows + 1):
        up = min(row * radius, tools.opening[t])
        for strip in range(strips):
            out = ahead + strip * between
            for column in range(columns):
                place = (column + first) % columns
                across = ((place + 0.5) / columns - 0.5) * width
                state.position[n, 0] = pose[X] + across * pose[ALONG_X] + up * pose[UP_X] + out * nx
                state.position[n, 1] = pose[Y] + across * pose[ALONG_Y] + up * pose[UP_Y] + out * ny
                state.position[n, 2] = pose[Z] + across * pose[ALONG_Z] + up * pose[UP_Z] + out * nz
                state.position[n, 2] += row * radius - up
                x, y, z = state.position[n, 0], state.position[n, 1], state.position[n, 2]
                if not is_in_notch(context, t, x, y, z) and is_free(context, n, n):
                    return True
    return False
