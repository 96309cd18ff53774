"""Contacts of a grain with a surface that may touch it at several points, without seams.

The deepest point of a mesh, or of the solids of a body, is a contact. Others are contacts only where they lie above the
tangent plane of each of these: points of the same face, and edges and corners beside it, lie in that plane or below.
Faces that meet at a small hollow angle, as of a round surface, are one contact, the deeper of them.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import Boundaries, State, Workspace
from grouser.physics.granular.shapes import MESH, nearest_of_triangle, to_body, to_world_axes
from grouser.physics.granular.solids import BOUND, nearest_of_solid

# Height above a tangent plane, by the radius, up to which a point counts as in it: rounding of corners [-].
_FLAT = 1e-6
# Cosine of the hollow angle up to which two faces are one contact.
_ROUND = 0.97
# Cosine of the angle by which the normal of a contact may turn in a step.
_SAME = 0.7
# Columns of `Workspace.manifold`: point and normal in the axes of the body, depth, slot.
NORMAL, DEPTH, SLOT = 3, 6, 7


@kernel
def find_manifold(boundaries: Boundaries, s, state: State, i, first, work: Workspace):
    """Finds the contacts of a grain with a mesh or solids, and the slot of each: that whose last normal was nearest.

    Args:
        boundaries, s: the shape.
        state, i: the grain.
        first: its first boundary contact with the shape.
        work: `manifold` gets point and normal, world axes relative to the body, depth and slot of each.

    Returns:
        Number of contacts.
    """
    count, b = find_points(boundaries, s, state, i, work), boundaries.body[s]
    found = work.manifold
    for k in range(count):
        n0, n1, n2 = to_world_axes(state, b, found[k, 3], found[k, 4], found[k, 5])
        found[k, NORMAL], found[k, NORMAL + 1], found[k, NORMAL + 2] = n0, n1, n2
    _match_slots(boundaries.slots[s], first, count, state, found)
    return count


@kernel
def find_points(boundaries: Boundaries, s, state: State, i, work: Workspace):
    """Finds the contacts as `find_manifold`, with normals in the axes of the body, and without slots."""
    b = boundaries.body[s]
    y = to_body(state, b, state.position[i, 0], state.position[i, 1], state.position[i, 2])
    radius, found = state.position[i, 3], work.manifold
    count = 0
    if boundaries.kind[s] == MESH:
        cell = _cell_of(boundaries, boundaries.mesh[s], y)
        if cell < 0:
            return 0
        begin, end = boundaries.cell_start[cell], boundaries.cell_start[cell + 1]
        while count < boundaries.slots[s] and _add_triangle(boundaries, begin, end, y, radius, count, found):
            count += 1
    else:
        while count < boundaries.slots[s] and _add_solid(boundaries, s, y, radius, count, found):
            count += 1
    return count


@inlined
def _cell_of(boundaries: Boundaries, m, point):
    """Cell of a mesh's grid with a point in it; -1 outside."""
    cell = 0
    for c in (2, 1, 0):
        place = math.floor((point[c] - boundaries.grid[m, c]) / boundaries.grid[m, 3])
        if place < 0 or place >= boundaries.grid_size[m, c]:
            return -1
        cell = cell * boundaries.grid_size[m, c] + place
    return boundaries.grid_size[m, 3] + cell


@inlined
def _add_triangle(boundaries: Boundaries, begin, end, y, radius, count, found):
    """Adds the deepest contact with a triangle that those found do not cover; returns whether there is one."""
    deepest = 0.0
    for item in range(begin, end):
        q0, q1, q2 = nearest_of_triangle(boundaries.triangle, boundaries.cell_triangle[item], y)
        e0, e1, e2 = y[0] - q0, y[1] - q1, y[2] - q2
        distance = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        depth = radius - distance
        if depth > deepest and distance > 0.0:
            normal = e0 / distance, e1 / distance, e2 / distance
            if not _is_covered((q0, q1, q2), normal, radius, count, found):
                deepest = depth
                _note(found, count, (q0, q1, q2), normal, depth)
    return deepest > 0.0


@inlined
def _add_solid(boundaries: Boundaries, s, y, radius, count, found):
    """Adds the deepest contact with a solid that those found do not cover; returns whether there is one."""
    deepest, value = 0.0, boundaries.solid
    for p in range(boundaries.solid_start[s], boundaries.solid_start[s + 1]):
        e0, e1, e2, reach = y[0] - value[p, 0], y[1] - value[p, 1], y[2] - value[p, 2], value[p, BOUND] + radius
        if e0 * e0 + e1 * e1 + e2 * e2 >= reach * reach:
            continue
        n0, n1, n2, distance = nearest_of_solid(boundaries, p, y)
        depth = radius - distance
        if depth > deepest:
            point = y[0] - distance * n0, y[1] - distance * n1, y[2] - distance * n2
            if not _is_covered(point, (n0, n1, n2), radius, count, found):
                deepest = depth
                _note(found, count, point, (n0, n1, n2), depth)
    return deepest > 0.0


@inlined
def _is_covered(point, normal, radius, count, found):
    """Whether a point lies in the tangent plane of a contact found, below it, or has nearly the same normal."""
    for k in range(count):
        m0, m1, m2 = found[k, 3], found[k, 4], found[k, 5]
        above = (point[0] - found[k, 0]) * m0 + (point[1] - found[k, 1]) * m1 + (point[2] - found[k, 2]) * m2
        if above <= _FLAT * radius or normal[0] * m0 + normal[1] * m1 + normal[2] * m2 > _ROUND:
            return True
    return False


@inlined
def _note(found, count, point, normal, depth):
    for c in range(3):
        found[count, c], found[count, NORMAL + c] = point[c], normal[c]
    found[count, DEPTH] = depth


@inlined
def _match_slots(slots, first, count, state: State, found):
    """Gives each contact the slot with the nearest normal of the last step, or one without memory."""
    for k in range(count):
        best, chosen = _SAME, -1
        for slot in range(slots):
            taken = False
            for other in range(k):
                taken = taken or found[other, SLOT] == slot
            if taken or state.boundary_history[first + slot, 3] == 0.0:
                continue
            along = 0.0
            for c in range(3):
                along += state.boundary_contact[first + slot, c] * found[k, NORMAL + c]
            if along > best:
                best, chosen = along, slot
        found[k, SLOT] = chosen
    for k in range(count):
        if found[k, SLOT] >= 0.0:
            continue
        for slot in range(slots):
            taken = False
            for other in range(count):
                taken = taken or found[other, SLOT] == slot
            if not taken:
                found[k, SLOT] = slot
                # the memory of a contact that has ended
                for c in range(state.boundary_history.shape[1]):
                    state.boundary_history[first + slot, c] = 0.0
                break
