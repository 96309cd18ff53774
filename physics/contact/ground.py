"""Contacts of the shapes with the ground.

A convex shape touches the ground with its lowest points. A sphere has one candidate, a capsule the spheres at its ends,
a box its corners, a mesh the vertices of its hull (`hull_on_ground`), a point set its points. A cylinder has the lowest
point of each rim, which stays below the axis as it rolls. On a face it stands on four points that are fixed on the rim,
and on the lowest one once it tilts. Off its faces the other points turn with the lowest one, too: fixed points would
roll under it.

A candidate has permanent slots, which store its contact impulses. Above a height field a sphere has several slots, as
it touches both sides of a valley at once (with one contact it would bounce from side to side). Peaks of the field that
press into a box, cylinder, capsule or hull between its candidates are contacts, too.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross, rotated
from grouser.physics.contact.contacts import CONTACT_MARGIN, Contacts, add_contact, add_found, normal_speed
from grouser.physics.contact.laws import LawTable
from grouser.physics.contact.narrow import point_to_shape
from grouser.physics.contact.reduction import HULL_POINTS
from grouser.physics.contact.shapes import BOX, HULL, POINTS, Shapes, rim
from grouser.physics.contact.slots import Memory
from grouser.physics.contact.terrain import (
    SPHERE_CONTACTS,
    Terrain,
    cell_range,
    look_ahead,
    nearest_to_sphere,
    surface_below,
    type_at,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.data.world import World
from grouser.physics.model.multibody import Names

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# Peaks that may press into a shape at the same time.
PEAK_CONTACTS = 4
# The lowest point of a rim, for the slope below it.
LOWEST = 4
# Cosine of the angle between a face and the ground above which the cylinder is on its face (26 degrees).
_ON_FACE = 0.9
# A shape is far from the plane at this multiple of the largest distance that matters: rounding makes no difference.
_FAR = 1.0 + 1e-9
# Sine of that angle below which no point of a rim is the lowest: the rim is level to a small part of the slop, and
# rounding would decide.
_LEVEL = 1e-6
# Two points of a rim that are closer are one, as a share of its radius.
_SAME_POINT = 1e-9


class GroundCandidates(NamedTuple):
    """Points that may touch the ground, and the shapes that peaks of the ground may touch; those of meshes come last.

    Attributes:
        single: number of candidates that do not belong to meshes, (1,).
        most: largest number of contacts with the ground, (1,).
        hull_first: the first candidate of each mesh: one for each vertex, in their order, (meshes,).
        shape: index into the shapes, (candidates,).
        body: body of the candidate.
        point: centre in the body frame [m], (candidates, 3).
        radius: of the sphere around `point` that touches, or of the rim [m].
        axis: unit axis of the rim in the body frame, (candidates, 3); zero for a point or a sphere.
        level: direction from the centre to the candidate on the rim of a cylinder on its face, (candidates, 3).
        quarters: quarter turns about the axis from the rim's lowest point to the candidate off the face, or LOWEST.
        law: index into the laws.
        wheel: whether it belongs to a wheel: contacts of wheels ignore soft ground.
        slot, slots: first slot and number of slots.
        peak_shape: shapes that peaks of a height field may touch, (peak shapes,).
        peak_wheel: whether each belongs to a wheel.
        peak_law, peak_slot: law and first slot of each; they have PEAK_CONTACTS slots.
    """

    single: np.ndarray
    most: np.ndarray
    hull_first: np.ndarray
    shape: np.ndarray
    body: np.ndarray
    point: np.ndarray
    radius: np.ndarray
    axis: np.ndarray
    level: np.ndarray
    quarters: np.ndarray
    law: np.ndarray
    wheel: np.ndarray
    slot: np.ndarray
    slots: np.ndarray
    peak_shape: np.ndarray
    peak_wheel: np.ndarray
    peak_law: np.ndarray
    peak_slot: np.ndarray


def make_ground_candidates(
    machine: Machine, names: Names, world: World, shapes: Shapes, laws: LawTable
) -> tuple[GroundCandidates, int]:
    """Candidates of every collision shape on a moving body, none without a ground; number of their slots."""
    on_field = world.ground is not None and world.ground.heightfield is not None
    shape, point, radius, axis, level, quarters, slots = [], [], [], [], [], [], []
    peak_shape = []
    wheels = {wheel.link for wheel in machine.wheels}
    of_wheel = [link.name in wheels for link in machine.links for _ in link.collisions]
    numbered = enumerate(
        (index, collision) for index, link in enumerate(machine.links) for collision in link.collisions
    )
    # belts stand on their shoes
    movable = [
        row for row in numbered if names.link_body[row[1][0]] >= 0 and world.ground is not None and not row[1][1].track
    ]
    hull_first = []
    for number, (index, collision) in sorted(movable, key=lambda row: shapes.kind[row[0]] == HULL):
        if shapes.kind[number] == HULL:
            hull_first.append(len(shape))
            turn, at = shapes.rotation[number], shapes.position[number]
            corners = shapes.vertex[shapes.vertex_start[number] : shapes.vertex_start[number + 1]]
            candidates_of_shape = [(corner, 0.0, np.zeros(3), np.zeros(3), 0) for corner in corners]
        else:
            turn = names.link_rotation[index] @ spatial.matrix(collision.pose.quaternion)
            at = names.link_position[index] + names.link_rotation[index] @ np.array(collision.pose.position)
            candidates_of_shape = _lowest_points(collision.geometry)
        for local, size, around, outward, turns in candidates_of_shape:
            shape.append(number)
            point.append(at + turn @ local)
            radius.append(size)
            axis.append(turn @ around)
            level.append(turn @ outward)
            quarters.append(turns)
            slots.append(SPHERE_CONTACTS if on_field and size > 0.0 and not np.any(around) else 1)
        if on_field and shapes.kind[number] != POINTS:
            peak_shape.append(number)
    ends = np.concatenate([[0], np.cumsum(slots, dtype=np.int64)]).astype(np.int64)
    law = {number: laws.between(laws.links[shapes.link[number]], laws.ground) for number in sorted({*shape})}
    single = hull_first[0] if hull_first else len(shape)
    most = sum(slots[:single]) + int(np.minimum(np.diff([*hull_first, len(shape)]), HULL_POINTS).sum())
    most += PEAK_CONTACTS * len(peak_shape)
    candidates = GroundCandidates(
        single=np.array([single], dtype=np.int64),
        most=np.array([most], dtype=np.int64),
        hull_first=np.array(hull_first, dtype=np.int64),
        shape=np.array(shape, dtype=np.int64),
        body=np.array([shapes.body[s] for s in shape], dtype=np.int64),
        point=np.array(point, dtype=float).reshape(-1, 3),
        radius=np.array(radius, dtype=float),
        axis=np.array(axis, dtype=float).reshape(-1, 3),
        level=np.array(level, dtype=float).reshape(-1, 3),
        quarters=np.array(quarters, dtype=np.int64),
        law=np.array([law[s] for s in shape], dtype=np.int64),
        wheel=np.array([of_wheel[s] for s in shape], dtype=np.bool_),
        slot=np.array(ends[:-1]),
        slots=np.array(slots, dtype=np.int64),
        peak_shape=np.array(peak_shape, dtype=np.int64),
        peak_wheel=np.array([of_wheel[s] for s in peak_shape], dtype=np.bool_),
        peak_law=np.array([law[s] for s in peak_shape], dtype=np.int64),
        peak_slot=ends[-1] + PEAK_CONTACTS * np.arange(len(peak_shape), dtype=np.int64),
    )
    for array in candidates:
        array.flags.writeable = False
    return candidates, int(ends[-1]) + PEAK_CONTACTS * len(peak_shape)


def _lowest_points(geometry: Geometry):
    """(point, radius, rim axis, `level`, `quarters`) of each candidate in the shape's own frame."""
    none = np.zeros(3)
    if isinstance(geometry, Cylinder):
        up = np.array([0.0, 0.0, 1.0])
        ends = [0.5 * geometry.length * side * up for side in (-1.0, 1.0)]
        each = [*enumerate(rim(1.0, 0.0, 4)), (LOWEST, none)]
        return [(end, geometry.radius, up, outward, turns) for end in ends for turns, outward in each]
    return [(point, radius, none, none, 0) for point, radius in _fixed_points(geometry)]


def _fixed_points(geometry: Geometry):
    """(point, radius) of each candidate of a shape without rims."""
    if isinstance(geometry, Sphere):
        return [(np.zeros(3), geometry.radius)]
    if isinstance(geometry, PointSet):
        return [(point, geometry.radius) for point in np.asarray(geometry.points, dtype=float)]
    if isinstance(geometry, Box):
        half = 0.5 * np.array(geometry.size)
        signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        return [(half * sign, 0.0) for sign in signs]
    if isinstance(geometry, Capsule):
        return [(np.array([0.0, 0.0, 0.5 * geometry.length * side]), geometry.radius) for side in (-1.0, 1.0)]
    return [(vertex, 0.0) for vertex in geometry.hull] if isinstance(geometry, Mesh) else []


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
        if candidates.wheel[c] and is_soft(terrain, kinematics.origin, x, y):
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
        if candidates.wheel[c] and is_soft(terrain, kinematics.origin, x, y):
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
        if candidates.peak_wheel[p]:
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
