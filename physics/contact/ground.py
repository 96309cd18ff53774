"""Contacts of the shapes with the ground, at its candidates (`candidates`).

Peaks of a height field that press into a box, cylinder, capsule or hull between its candidates are contacts, too.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross, rotated
from grouser.physics.contact.candidates import LOWEST, PEAK_CONTACTS, GroundCandidates
from grouser.physics.contact.contacts import CONTACT_MARGIN, Contacts, add_contact, add_found, normal_speed
from grouser.physics.contact.narrow import point_to_shape
from grouser.physics.contact.shapes import BOX, HULL, Shapes
from grouser.physics.contact.slots import Memory
from grouser.physics.contact.terrain import (
    Terrain,
    cell_range,
    look_ahead,
    nearest_to_sphere,
    surface_below,
    type_at,
)

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# Cosine of the angle between a face and the ground above which the cylinder is on its face (26 degrees).
_ON_FACE = 0.9
# A shape is far from the plane at this multiple of the largest distance that matters: rounding makes no difference.
_FAR = 1.0 + 1e-9
# Sine of that angle below which no point of a rim is the lowest: the rim is level to a small part of the slop, and
# rounding would decide.
_LEVEL = 1e-6
# Two points of a rim that are closer are one, as a share of its radius.
_SAME_POINT = 1e-9


@kernel
def touch_plane(
    candidates: GroundCandidates,
    shapes: Shapes,
    terrain: Terrain,
    kinematics: "Kinematics",
    step: float,
    placed: bool,
    workspace: "ContactWorkspace",
    contacts: Contacts,
):
    """Adds the contacts of the candidates, without meshes, with the plane that exist or may begin within two steps.

    Args:
        candidates, shapes, terrain: of the collision system.
        kinematics: filled for the current state.
        step: [s].
        placed: whether `workspace` has the poses of the shapes: those far above the plane are then left out at once.
        workspace: poses and speeds of the shapes.
        contacts: result.
    """
    normal, rotation, position, twist = terrain.normal, kinematics.rotation, kinematics.position, kinematics.twist
    nx, ny, nz = normal[0], normal[1], normal[2]
    level = 0.0
    for k in range(3):
        level += normal[k] * (terrain.point[k] - kinematics.origin[k])
    tested, is_far = -1, False
    for c in range(candidates.single[0]):
        body, shape = candidates.body[c], candidates.shape[c]
        if workspace.broad.idle[shape]:
            continue
        if placed and shape != tested:
            tested = shape
            at = workspace.position[shape]
            height = nx * at[0] + ny * at[1] + nz * at[2] - level
            is_far = height > _FAR * (shapes.bound[shape] + max(CONTACT_MARGIN, 2.0 * step * workspace.speed[shape]))
        if is_far:
            continue
        x, y, z = _place(candidates.point[c], rotation[body], position[body])
        if candidates.sinks[c] and is_soft(terrain, kinematics.origin, x, y):
            continue
        radius = candidates.radius[c]
        if radius > 0.0:
            dx, dy, dz = _way_down(candidates, c, rotation[body], nx, ny, nz)
            if dx == 0.0 and dy == 0.0 and dz == 0.0:
                continue
            x, y, z = x + radius * dx, y + radius * dy, z + radius * dz
        gap = nx * x + ny * y + nz * z - level
        if gap < CONTACT_MARGIN or gap + 2.0 * step * normal_speed(twist, body, -1, x, y, z, nx, ny, nz) < 0.0:
            slot, law = candidates.slot[c], candidates.law[c]
            add_contact(contacts, kinematics, slot, body, -1, shape, -1, law, x, y, z, nx, ny, nz, gap)


@inlined
def touch_field(
    candidates: GroundCandidates,
    terrain: Terrain,
    kinematics: "Kinematics",
    step: float,
    memory: Memory,
    workspace: "ContactWorkspace",
    contacts: Contacts,
):
    """Adds the contacts of the candidates without meshes with the height field that exist or may begin in two steps."""
    rotation, position, found = kinematics.rotation, kinematics.position, workspace.found
    heights, cell = terrain.heights, terrain.cell[0]
    # the grid relative to the kinematics' origin
    ox, oy, level = seen_from(terrain.origin, kinematics.origin)
    for c in range(candidates.single[0]):
        body = candidates.body[c]
        if workspace.broad.idle[candidates.shape[c]]:
            continue
        radius = candidates.radius[c]
        x, y, z = _place(candidates.point[c], rotation[body], position[body])
        if candidates.sinks[c] and is_soft(terrain, kinematics.origin, x, y):
            continue
        ahead = look_ahead(max(CONTACT_MARGIN, 2.0 * step * _speed(kinematics.twist, body, x, y, z, radius)), cell)
        if z - radius - ahead > terrain.highest[0] + level:
            continue
        if candidates.slots[c] > 1:
            span = radius + ahead
            number = nearest_to_sphere(heights, terrain.crest, cell, ox, oy, x, y, z - level, span, workspace.near)
            for k in range(number):
                for m in range(3):
                    found[k, 3 + m] = workspace.near[k, m]
                found[k, 0] = x - radius * found[k, 3]
                found[k, 1] = y - radius * found[k, 4]
                found[k, 2] = z - radius * found[k, 5]
                found[k, 6] = workspace.near[k, 3] - radius
                workspace.found_slot[k] = -1
        else:
            number = _touch_rim(heights, cell, ox, oy, level, x, y, z, candidates, c, rotation[body], found[0])
            workspace.found_slot[0] = candidates.slot[c]
        first, slots, shape, law = candidates.slot[c], candidates.slots[c], candidates.shape[c], candidates.law[c]
        add_found(number, contacts, kinematics, step, workspace, memory, first, slots, radius, body, -1, shape, -1, law)


@inlined
def touch_peaks(
    candidates: GroundCandidates,
    shapes: Shapes,
    terrain: Terrain,
    kinematics: "Kinematics",
    step: float,
    memory: Memory,
    workspace: "ContactWorkspace",
    contacts: Contacts,
):
    """Adds the contacts of peaks of the height field with shapes that exist or may begin within two steps."""
    ox, oy, level = seen_from(terrain.origin, kinematics.origin)
    for p in range(candidates.peak_shape.shape[0]):
        s = candidates.peak_shape[p]
        if workspace.broad.idle[s]:
            continue
        ahead = look_ahead(max(CONTACT_MARGIN, 2.0 * step * workspace.speed[s]), terrain.cell[0])
        if workspace.position[s, 2] - shapes.bound[s] - ahead > terrain.highest[0] + level:
            continue
        number = _deepest_peaks(
            *(terrain.heights, terrain.peak, terrain.cell[0], ox, oy, level),
            *(shapes.kind[s], shapes.size[s], shapes.bound[s]),
            *(shapes.vertex, shapes.face, shapes.face_corner, shapes.face_start[s], shapes.face_start[s + 1]),
            *(workspace.rotation[s], workspace.position[s], ahead, workspace.found),
        )
        if candidates.peak_sinks[p]:
            number = _remove_soft(terrain, kinematics.origin, workspace.found, number)
        for k in range(number):
            workspace.found_slot[k] = -1
        first, size, body, law = candidates.peak_slot[p], shapes.bound[s], shapes.body[s], candidates.peak_law[p]
        add_found(
            number, contacts, kinematics, step, workspace, memory, first, PEAK_CONTACTS, size, body, -1, s, -1, law
        )


@kernel
def is_soft(terrain: Terrain, origin, x, y):
    """Whether the ground is soft at x, y from the kinematics' origin."""
    return type_at(terrain, origin[0] + x, origin[1] + y) >= 0


@inlined
def _remove_soft(terrain: Terrain, origin, found, number):
    """Removes the rows on soft ground from those found; returns the number of the others."""
    kept = 0
    for k in range(number):
        if not is_soft(terrain, origin, found[k, 0], found[k, 1]):
            for m in range(7):
                found[kept, m] = found[k, m]
            kept += 1
    return kept


@kernel
def _place(point, r, at):
    """A point of a body, from the kinematics' origin in world axes."""
    return (
        at[0] + r[0, 0] * point[0] + r[0, 1] * point[1] + r[0, 2] * point[2],
        at[1] + r[1, 0] * point[0] + r[1, 1] * point[1] + r[1, 2] * point[2],
        at[2] + r[2, 0] * point[0] + r[2, 1] * point[1] + r[2, 2] * point[2],
    )


@kernel
def seen_from(grid_origin, origin):
    """x and y of the grid's first vertex and height zero, from the kinematics' origin."""
    return grid_origin[0] - origin[0], grid_origin[1] - origin[1], -origin[2]


@kernel
def _speed(twist, body, x, y, z, radius):
    """Upper bound of the speeds of the sphere or rim around x, y, z on the body [m/s]."""
    wx, wy, wz = twist[body, 3], twist[body, 4], twist[body, 5]
    vx = twist[body, 0] + wy * z - wz * y
    vy = twist[body, 1] + wz * x - wx * z
    vz = twist[body, 2] + wx * y - wy * x
    return math.sqrt(vx * vx + vy * vy + vz * vz) + radius * math.sqrt(wx * wx + wy * wy + wz * wz)


@kernel
def _way_down(candidates: GroundCandidates, c, r, nx, ny, nz):
    """Unit vector from the centre of candidate c's sphere or rim to its point that may touch the ground.

    Zero where another candidate has the same point: the lowest one of a rim that is level, or off the face.
    """
    axis, quarters = candidates.axis[c], candidates.quarters[c]
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return -nx, -ny, -nz
    dx, dy, dz, along = _to_lowest(axis, r, nx, ny, nz)
    if quarters == LOWEST:
        return (dx, dy, dz) if along > _ON_FACE else (0.0, 0.0, 0.0)
    if along > _ON_FACE:
        level = candidates.level[c]
        return rotated(r, level[0], level[1], level[2])
    if quarters % 2 == 1:
        ax, ay, az = rotated(r, axis[0], axis[1], axis[2])
        dx, dy, dz = cross(ax, ay, az, dx, dy, dz)
    if quarters >= 2:
        return -dx, -dy, -dz
    return dx, dy, dz


@kernel
def _to_lowest(axis, r, nx, ny, nz):
    """Unit vector from the centre of a rim to its lowest point, zero if it is level; cosine of normal and axis."""
    ax, ay, az = rotated(r, axis[0], axis[1], axis[2])
    along = nx * ax + ny * ay + nz * az
    dx, dy, dz = along * ax - nx, along * ay - ny, along * az - nz
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length < _LEVEL:
        return 0.0, 0.0, 0.0, abs(along)
    return dx / length, dy / length, dz / length, abs(along)


@kernel
def _touch_rim(heights, cell, ox, oy, level, x, y, z, candidates: GroundCandidates, c, r, found):
    """Fills `found` with candidate c's point on its rim (x, y, z itself without a radius), normal and gap.

    Returns:
        1, or 0 where another candidate has the same point.
    """
    px, py, pz, radius = x, y, z, candidates.radius[c]
    height, nx, ny, nz = surface_below(heights, cell, ox, oy, px, py)
    if candidates.quarters[c] == LOWEST:
        # the lowest point depends on the slope below it: two iterations, the first with the slope below the centre
        dx, dy, dz, along = _to_lowest(candidates.axis[c], r, nx, ny, nz)
        px, py, pz = x + radius * dx, y + radius * dy, z + radius * dz
        _, nx, ny, nz = surface_below(heights, cell, ox, oy, px, py)
        dx, dy, dz, _ = _to_lowest(candidates.axis[c], r, nx, ny, nz)
        qx, qy, qz = x + radius * dx, y + radius * dy, z + radius * dz
        same = abs(qx - px) + abs(qy - py) + abs(qz - pz) < _SAME_POINT * radius
        if (dx == 0.0 and dy == 0.0 and dz == 0.0) or (same and along <= _ON_FACE):
            return 0
        px, py, pz = qx, qy, qz
        height, nx, ny, nz = surface_below(heights, cell, ox, oy, px, py)
    elif radius > 0.0:
        dx, dy, dz = _way_down(candidates, c, r, nx, ny, nz)
        px, py, pz = x + radius * dx, y + radius * dy, z + radius * dz
        height, nx, ny, nz = surface_below(heights, cell, ox, oy, px, py)
    found[0], found[1], found[2], found[3], found[4], found[5] = px, py, pz, nx, ny, nz
    found[6] = (pz - level - height) * nz
    return 1


@kernel
def _deepest_peaks(
    heights,
    peak,
    cell,
    ox,
    oy,
    level,
    kind,
    size,
    bound,
    vertex,
    face,
    face_corner,
    face_first,
    face_end,
    r,
    at,
    ahead,
    found,
):
    """Peaks of the field that are deepest inside a shape or nearest to it, at most PEAK_CONTACTS.

    Args:
        heights, peak, cell: the grid.
        ox, oy, level: its first vertex and height zero, from the kinematics' origin.
        kind, size, bound, vertex, face, face_corner, face_first, face_end: the shape.
        r, at: its pose.
        ahead: largest gap [m].
        found: result, point of the shape, normal from the ground to it and gap, (PEAK_CONTACTS or more, 7).

    Returns:
        Number of peaks found.
    """
    half_x, half_y = _half_extent(kind, size, bound, r, 0), _half_extent(kind, size, bound, r, 1)
    lowest = at[2] - _half_extent(kind, size, bound, r, 2) - ahead - level
    i_first, i_last = cell_range(at[0] - half_x - ahead, at[0] + half_x + ahead, ox, cell)
    j_first, j_last = cell_range(at[1] - half_y - ahead, at[1] + half_y + ahead, oy, cell)
    count = 0
    for i in range(max(i_first, 0), min(i_last + 1, heights.shape[0] - 1) + 1):
        for j in range(max(j_first, 0), min(j_last + 1, heights.shape[1] - 1) + 1):
            if not peak[i, j] or heights[i, j] < lowest:
                continue
            x, y, z = ox + i * cell - at[0], oy + j * cell - at[1], level + heights[i, j] - at[2]
            distance, ux, uy, uz = point_to_shape(
                *(kind, size, vertex, face, face_corner, face_first, face_end),
                *(r[0, 0] * x + r[1, 0] * y + r[2, 0] * z, r[0, 1] * x + r[1, 1] * y + r[2, 1] * z),
                *(r[0, 2] * x + r[1, 2] * y + r[2, 2] * z, ahead),
            )
            if distance > ahead or (count == PEAK_CONTACTS and distance >= found[count - 1, 6]):
                continue
            slot = min(count, PEAK_CONTACTS - 1)
            while slot > 0 and found[slot - 1, 6] > distance:
                for m in range(7):
                    found[slot, m] = found[slot - 1, m]
                slot -= 1
            nx = -(r[0, 0] * ux + r[0, 1] * uy + r[0, 2] * uz)
            ny = -(r[1, 0] * ux + r[1, 1] * uy + r[1, 2] * uz)
            nz = -(r[2, 0] * ux + r[2, 1] * uy + r[2, 2] * uz)
            found[slot, 0], found[slot, 1], found[slot, 2] = (
                at[0] + x + distance * nx,
                at[1] + y + distance * ny,
                at[2] + z + distance * nz,
            )
            found[slot, 3], found[slot, 4], found[slot, 5], found[slot, 6] = nx, ny, nz, distance
            count = min(count + 1, PEAK_CONTACTS)
    return count


@kernel
def _half_extent(kind, size, bound, r, k):
    """Half of the extent of a shape along world axis k [m]; an upper bound for a hull."""
    if kind == BOX:
        return abs(r[k, 0]) * size[0] + abs(r[k, 1]) * size[1] + abs(r[k, 2]) * size[2]
    if kind == HULL:
        return bound
    # a cylinder is inside the capsule around it
    return abs(r[k, 2]) * size[1] + size[0]
