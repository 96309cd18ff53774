"""Foreseen paths: whether bodies that approach each other touch within the step.

A row of a contact limits the speed of a point along a straight line. Points of a rotating body move on arcs, and fast
bodies pass each other: a gap that closes along the straight line need not close at all. The paths of the bodies at
their present rates decide: a contact that they do not close must not push.

A path above the ground is followed in parts of the step. Two convex solids are apart during a part of the step if a
direction separates them at both of its ends by more than the arcs bulge in between (for a fixed direction, the error of
linear interpolation is at most acceleration * time^2 / 8). Parts without such a direction are halved.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross, rotated, rotated_back, screw_displacement
from grouser.physics.contact.hull_graph import highest_vertex
from grouser.physics.contact.narrow import point_to_shape
from grouser.physics.contact.shapes import BOX, CAPSULE, CYLINDER, POINTS
from grouser.physics.contact.terrain import nearest_to_sphere, surface_below

if TYPE_CHECKING:
    from grouser.physics.contact.collide import Collision
    from grouser.physics.contact.contacts import Contacts
    from grouser.physics.contact.shapes import Shapes
    from grouser.physics.contact.terrain import Terrain
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics

# Parts of the step in which a path above the ground is followed, at least and at most.
_FEWEST_PARTS, _MOST_PARTS = 8, 64
# Parts of a path over one cell of a height field, or over the radius of a sphere.
_PARTS_PER_LENGTH = 4
# Shortest part of the step, as a share of it, in which two solids are separated.
_SHORTEST_PART = 1.0 / 32.0
# Solids with more faces than this together are separated without trying the normals of their faces.
_MOST_FACES = 64
# Rounds of Gilbert's method.
_ROUNDS = 24
# Largest overlap of solids that pass each other [m]: that of contacts which are held and not corrected.
PASSING = 2e-5
# They approach each other across the surface over which they pass by a smaller share of the contact's closing.
_APPROACH = 0.5
# Cosine between the normals of this surface and of the contact, at most: where a solid is round, and elsewhere.
_SAME_SURFACE, _OTHER_SURFACE = 1.0 - 1e-8, 0.9
# Cosine between normal and axis above which a cylinder touches with its end.
_ON_END = 0.7
# Distance at which a point touches a solid [m]: gaps that small are tolerated.
_TOUCHING = 1e-5
# Cosine between normals of contacts that hold a body in the same direction.
_SAME_NORMAL = 0.999
# Vectors that are shorter have no direction, nor have squares of motions that are smaller.
_TINY = 1e-12


@kernel
def foreseen_clearance(
    model: "MultibodyModel",
    collision: "Collision",
    contacts: "Contacts",
    kinematics: "Kinematics",
    c,
    step: float,
    near,
):
    """Smallest gap of a contact within the step at the present rates [m]; 0 if it closes or may close.

    Args:
        model, collision: of the machine.
        contacts: of this step.
        kinematics: filled for the current state.
        c: the contact, which has a gap.
        step: [s].
        near: buffer, (SPHERE_CONTACTS, 4).
    """
    shapes, candidates, terrain = collision.shapes, collision.candidates, collision.terrain
    s, other = contacts.shape[c], contacts.other_shape[c]
    x, y, z, gap = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2], contacts.gap[c]
    nx, ny, nz = contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2]
    peaks = candidates.peak_slot.shape[0]
    if other < 0 and (peaks == 0 or contacts.slot[c] < candidates.peak_slot[0]):
        return _clearance_above_ground(model, shapes, terrain, kinematics, s, x, y, z, nx, ny, nz, gap, step, near)
    one, two = _contact_solids(collision, contacts, kinematics, c)
    if _enters(model, shapes, kinematics, shapes.body[s], x, y, z, two, step):
        return 0.0
    if other >= 0 and _enters(
        model, shapes, kinematics, shapes.body[other], x - gap * nx, y - gap * ny, z - gap * nz, one, step
    ):
        return 0.0
    return _clearance_of_solids(model, shapes, kinematics, one, two, nx, ny, nz, step)


@kernel
def passes(
    model: "MultibodyModel",
    collision: "Collision",
    contacts: "Contacts",
    kinematics: "Kinematics",
    c,
    path,
    step: float,
):
    """Whether the solids of a contact pass each other within the step although it closes along its normal.

    They pass over a surface, a face or what straight edges move over, if they overlap along its normal by no more than
    `PASSING` at the start, the middle and the end of the step, and hardly approach each other along it. The first one
    may also be about to land on another solid, which will keep it from overlapping more. The surface must not be the
    one that touches: the directions of flat contacts differ much from it. Those of a round solid on an edge turn as it
    rolls over.

    Args:
        model, collision: of the machine.
        contacts: of this step.
        kinematics: filled for the current state.
        c: the contact, between two solids.
        path: change of its gap within the step at the present rates [m], negative.
        step: [s].
    """
    shapes = collision.shapes
    one, two = _contact_solids(collision, contacts, kinematics, c)
    ox, oy, oz, mx, my, mz = _relative_motion(model, kinematics, one, two, 0.0, step)
    edges, faces = _edge_count(shapes, one[0]), _face_count(shapes, one[0])
    edges_of_both, faces_of_both = edges + _edge_count(shapes, two[0]), faces + _face_count(shapes, two[0])
    if faces_of_both > _MOST_FACES:
        faces = faces_of_both = 0
    nx, ny, nz = contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2]
    rolls = _is_round(shapes, kinematics, one, nx, ny, nz) or _is_round(shapes, kinematics, two, nx, ny, nz)
    largest = _SAME_SURFACE if rolls else _OTHER_SURFACE
    for k in range(faces_of_both + edges_of_both):
        edge = k - faces_of_both
        if edge < 0:
            x, y, z = _face_of_either(shapes, kinematics, one, two, faces, k, 0.0)
        else:
            x, y, z = _across_edge(shapes, kinematics, one, two, edges, edge, 0.0, mx, my, mz)
        x, y, z = _towards(x, y, z, ox, oy, oz)
        if x == 0.0 and y == 0.0 and z == 0.0:
            continue
        if x * nx + y * ny + z * nz > largest:
            continue
        before, _, _, _ = _separation(model, shapes, kinematics, one, two, 0.0, 0.0, x, y, z)
        if before > -PASSING:
            after, _, _, _ = _separation(model, shapes, kinematics, one, two, 0.5 * step, step, x, y, z)
            apart = after > -PASSING or _is_held(contacts, contacts.body[c], x, y, z, before + PASSING)
            if apart and after - before > _APPROACH * path:
                return True
    return False


@kernel
def _is_round(shapes: "Shapes", kinematics: "Kinematics", solid, nx, ny, nz):
    """Whether a solid is round where its surface has the normal n: a sphere, a capsule or a cylinder's side."""
    s = solid[0]
    if s < 0 or shapes.kind[s] == CAPSULE:
        return True
    if shapes.kind[s] != CYLINDER:
        return False
    x, y, z = _edge(shapes, kinematics, solid, 0, 0.0)
    return abs(x * nx + y * ny + z * nz) < _ON_END


@kernel
def _is_held(contacts: "Contacts", body, x, y, z, gap):
    """Whether a contact with at most this gap keeps a body from moving against the direction x, y, z."""
    for c in range(contacts.count[0]):
        along = contacts.normal[c, 0] * x + contacts.normal[c, 1] * y + contacts.normal[c, 2] * z
        if contacts.other[c] == body:
            along = -along
        elif contacts.body[c] != body:
            continue
        if along > _SAME_NORMAL and contacts.gap[c] < gap:
            return True
    return False


@kernel
def displacement(model: "MultibodyModel", kinematics: "Kinematics", body, x, y, z, time):
    """Displacement of a body's point, now at x, y, z, after a time at the present coordinate rates [m].

    Exact for a lone body, whose centre of mass moves straight (see `multibody.free_body`), and for a body that moves on
    one screw; the velocity products of a chain of joints are exact to second order.

    Args:
        model, kinematics: of the machine.
        body: -1 for the world.
        x, y, z: from the kinematics' origin, world axes [m].
        time: [s].
    """
    if body < 0:
        return 0.0, 0.0, 0.0
    twist, inertia = kinematics.twist[body], kinematics.inertia[body]
    wx, wy, wz = twist[3], twist[4], twist[5]
    vx, vy, vz = twist[0] + wy * z - wz * y, twist[1] + wz * x - wx * z, twist[2] + wx * y - wy * x
    # the velocity that stays constant, and the acceleration by the joints between this body and the world
    sx = sy = sz = ax = ay = az = 0.0
    if model.body_alone[body]:
        cx, cy, cz = inertia[6] / inertia[9], inertia[7] / inertia[9], inertia[8] / inertia[9]
        sx, sy, sz = twist[0] + wy * cz - wz * cy, twist[1] + wz * cx - wx * cz, twist[2] + wx * cy - wy * cx
    else:
        i = body
        while i >= 0:
            bias = kinematics.bias[i]
            ax += bias[0] + bias[4] * z - bias[5] * y
            ay += bias[1] + bias[5] * x - bias[3] * z
            az += bias[2] + bias[3] * y - bias[4] * x
            i = model.body_parent[i]
    dx, dy, dz = screw_displacement(
        time * wx, time * wy, time * wz, time * (vx - sx), time * (vy - sy), time * (vz - sz)
    )
    half = 0.5 * time * time
    return dx + time * sx + half * ax, dy + time * sy + half * ay, dz + time * sz + half * az


@kernel
def _turned(wx, wy, wz, time, x, y, z):
    """The vector x, y, z after it has turned with the angular velocity w for a time."""
    rx, ry, rz = time * wx, time * wy, time * wz
    tx, ty, tz = cross(rx, ry, rz, x, y, z)
    dx, dy, dz = screw_displacement(rx, ry, rz, tx, ty, tz)
    return x + dx, y + dy, z + dz


@kernel
def _carrier(shapes: "Shapes", kinematics: "Kinematics", s, x, y, z, nx, ny, nz):
    """The body's point that carries a contact point, and the angular velocity of the contact point about it.

    Rotation moves no sphere about its centre and no cylinder about its axis: their contact points do not rotate with
    the body. The centre of a sphere carries its contact point, a point of its axis that of a cylinder.
    """
    kind, body = shapes.kind[s], shapes.body[s]
    if kind in (POINTS, CAPSULE):
        r = shapes.size[s, 0]
        return x + r * nx, y + r * ny, z + r * nz, 0.0, 0.0, 0.0
    if kind != CYLINDER:
        return x, y, z, 0.0, 0.0, 0.0
    turn, local, axes = kinematics.rotation[body], shapes.position[s], shapes.rotation[s]
    ax, ay, az = rotated(turn, axes[0, 2], axes[1, 2], axes[2, 2])
    cx, cy, cz = rotated(turn, local[0], local[1], local[2])
    at, twist = kinematics.position[body], kinematics.twist[body]
    cx, cy, cz = cx + at[0], cy + at[1], cz + at[2]
    along = (x - cx) * ax + (y - cy) * ay + (z - cz) * az
    spin = twist[3] * ax + twist[4] * ay + twist[5] * az
    return (
        *(cx + along * ax, cy + along * ay, cz + along * az),
        *(twist[3] - spin * ax, twist[4] - spin * ay, twist[5] - spin * az),
    )


@kernel
def _clearance_above_ground(
    model: "MultibodyModel",
    shapes: "Shapes",
    terrain: "Terrain",
    kinematics: "Kinematics",
    s,
    x,
    y,
    z,
    nx,
    ny,
    nz,
    gap,
    step: float,
    near,
):
    """Smallest gap between a point of shape s and the ground within the step [m], 0 if it closes."""
    body = shapes.body[s]
    cx, cy, cz, wx, wy, wz = _carrier(shapes, kinematics, s, x, y, z, nx, ny, nz)
    ox, oy, oz = x - cx, y - cy, z - cz
    on_field, parts, radius = terrain.heights.shape[0] > 0, _FEWEST_PARTS, 0.0
    if on_field:
        length = terrain.cell[0]
        if shapes.kind[s] in (POINTS, CAPSULE):
            radius = shapes.size[s, 0]
        if radius > 0.0:
            length = min(length, radius)
        dx, dy, dz = displacement(model, kinematics, body, cx, cy, cz, step)
        needed = _PARTS_PER_LENGTH * math.sqrt(dx * dx + dy * dy + dz * dz) / length
        if not needed < _MOST_PARTS:
            return 0.0
        parts = max(parts, int(needed) + 1)
    least = before = earlier = gap
    for k in range(1, parts + 1):
        time = step * k / parts
        dx, dy, dz = displacement(model, kinematics, body, cx, cy, cz, time)
        px, py, pz = _turned(wx, wy, wz, time, ox, oy, oz)
        px, py, pz = cx + dx + px, cy + dy + py, cz + dz + pz
        if not on_field:
            now = gap + nx * (px - x) + ny * (py - y) + nz * (pz - z)
        elif radius > 0.0:
            now = _sphere_above_field(terrain, kinematics.origin, cx + dx, cy + dy, cz + dz, radius, gap, near)
        else:
            now = _point_above_field(terrain, kinematics.origin, px, py, pz)
        least = min(least, now)
        bend = earlier - 2.0 * before + now
        if k > 1 and earlier > before and now > before:
            # the lowest point of the parabola through three
            least = min(least, before - (now - earlier) ** 2 / (8.0 * bend))
        if not least > 0.0:
            return 0.0
        earlier, before = before, now
    return least


@kernel
def _point_above_field(terrain: "Terrain", origin, x, y, z):
    """Distance of a point from the plane of the triangle below it [m]."""
    grid, cell = terrain.origin, terrain.cell[0]
    height, _, _, nz = surface_below(terrain.heights, cell, grid[0] - origin[0], grid[1] - origin[1], x, y)
    return (z + origin[2] - height) * nz


@kernel
def _sphere_above_field(terrain: "Terrain", origin, x, y, z, radius, most, near):
    """Gap between a sphere and a height field [m], at most `most`."""
    grid, cell, level = terrain.origin, terrain.cell[0], z + origin[2]
    ox, oy = grid[0] - origin[0], grid[1] - origin[1]
    found = nearest_to_sphere(terrain.heights, terrain.crest, cell, ox, oy, x, y, level, radius + most, near)
    return min(near[0, 3] - radius, most) if found > 0 else most


@kernel
def _contact_solids(collision: "Collision", contacts: "Contacts", kinematics: "Kinematics", c):
    """The two solids of a contact for `_support_point`; the peak of a height field is a point."""
    shapes, s, other = collision.shapes, contacts.shape[c], contacts.other_shape[c]
    x, y, z, gap = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2], contacts.gap[c]
    nx, ny, nz = contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2]
    two = (-1, -1, x - gap * nx, y - gap * ny, z - gap * nz, 0.0)
    if other >= 0:
        two = _solid(shapes, kinematics, other)
    one = _solid(shapes, kinematics, s)
    if shapes.kind[s] == POINTS:
        r = shapes.size[s, 0]
        one = (-1, shapes.body[s], x + r * nx, y + r * ny, z + r * nz, r)
    if other >= 0 and shapes.kind[other] == POINTS:
        r = shapes.size[other, 0]
        away = gap + r
        two = (-1, shapes.body[other], x - away * nx, y - away * ny, z - away * nz, r)
    return one, two


@kernel
def _solid(shapes: "Shapes", kinematics: "Kinematics", s):
    """A shape as a solid of `_support_point`."""
    body, local = shapes.body[s], shapes.position[s]
    if body < 0:
        origin = kinematics.origin
        return s, body, local[0] - origin[0], local[1] - origin[1], local[2] - origin[2], 0.0
    x, y, z = rotated(kinematics.rotation[body], local[0], local[1], local[2])
    at = kinematics.position[body]
    return s, body, x + at[0], y + at[1], z + at[2], 0.0


@kernel
def _support_point(model: "MultibodyModel", shapes: "Shapes", kinematics: "Kinematics", solid, time, nx, ny, nz):
    """The farthest point of a solid along a unit vector after a time, from the kinematics' origin [m].

    Args:
        model, shapes, kinematics: of the machine.
        solid: index of its shape, or -1 for a sphere; its body; its centre; radius of the sphere.
        time: [s].
        nx, ny, nz: world axes.
    """
    s, body, x, y, z, radius = solid
    dx, dy, dz = displacement(model, kinematics, body, x, y, z, time)
    if s < 0:
        return x + dx + radius * nx, y + dy + radius * ny, z + dz + radius * nz
    wx = wy = wz = 0.0
    ux, uy, uz = nx, ny, nz
    if body >= 0:
        wx, wy, wz = kinematics.twist[body, 3], kinematics.twist[body, 4], kinematics.twist[body, 5]
        ux, uy, uz = _turned(wx, wy, wz, -time, nx, ny, nz)
        ux, uy, uz = rotated_back(kinematics.rotation[body], ux, uy, uz)
    ux, uy, uz = rotated_back(shapes.rotation[s], ux, uy, uz)
    px, py, pz = _farthest(shapes, s, ux, uy, uz)
    px, py, pz = rotated(shapes.rotation[s], px, py, pz)
    if body >= 0:
        px, py, pz = rotated(kinematics.rotation[body], px, py, pz)
        px, py, pz = _turned(wx, wy, wz, time, px, py, pz)
    return x + dx + px, y + dy + py, z + dz + pz


@kernel
def _farthest(shapes: "Shapes", s, x, y, z):
    """The farthest point of shape s along the unit vector x, y, z, both in its own frame [m]."""
    size = shapes.size[s]
    if shapes.kind[s] == BOX:
        return math.copysign(size[0], x), math.copysign(size[1], y), math.copysign(size[2], z)
    if shapes.kind[s] == CYLINDER:
        across = math.sqrt(x * x + y * y)
        scale = size[0] / across if across > 0.0 else 0.0
        return scale * x, scale * y, math.copysign(size[1], z)
    if shapes.kind[s] == CAPSULE:
        return size[0] * x, size[0] * y, size[0] * z + math.copysign(size[1], z)
    far = highest_vertex(shapes, s, x, y, z)
    return shapes.vertex[far, 0], shapes.vertex[far, 1], shapes.vertex[far, 2]


@kernel
def _enters(model: "MultibodyModel", shapes: "Shapes", kinematics: "Kinematics", body, x, y, z, solid, time):
    """Whether a body's point, now at x, y, z, is in a solid after a time, to the tolerance of contacts.

    It settles most contacts that close without a search for a direction that separates the solids.
    """
    s, other, cx, cy, cz, _ = solid
    if s < 0:
        return False
    dx, dy, dz = displacement(model, kinematics, body, x, y, z, time)
    ox, oy, oz = displacement(model, kinematics, other, cx, cy, cz, time)
    x, y, z = x + dx - cx - ox, y + dy - cy - oy, z + dz - cz - oz
    if other >= 0:
        wx, wy, wz = kinematics.twist[other, 3], kinematics.twist[other, 4], kinematics.twist[other, 5]
        x, y, z = _turned(wx, wy, wz, -time, x, y, z)
        x, y, z = rotated_back(kinematics.rotation[other], x, y, z)
    x, y, z = rotated_back(shapes.rotation[s], x, y, z)
    distance, _, _, _ = point_to_shape(
        *(shapes.kind[s], shapes.size[s], shapes.vertex, shapes.face, shapes.face_corner),
        *(shapes.face_start[s], shapes.face_start[s + 1], x, y, z),
    )
    return distance <= _TOUCHING


@kernel
def _clearance_of_solids(
    model: "MultibodyModel", shapes: "Shapes", kinematics: "Kinematics", one, two, nx, ny, nz, step: float
):
    """Smallest separation that is certain for two solids within the step [m], 0 if they touch or may touch."""
    acceleration = _largest_acceleration(model, shapes, kinematics, one)
    acceleration += _largest_acceleration(model, shapes, kinematics, two)
    least, start, length = math.inf, 0.0, step
    while start < step:
        end = min(start + length, step)
        if end > step * (1.0 - 1e-9):
            end = step
        bulge = 0.125 * acceleration * (end - start) ** 2
        separation, nx, ny, nz = _separate(model, shapes, kinematics, one, two, start, end, bulge, nx, ny, nz)
        if separation > bulge:
            least = min(least, separation - bulge)
            start, length = end, 2.0 * length
        else:
            length *= 0.5
            if length < _SHORTEST_PART * step:
                return 0.0
    return least


@kernel
def _largest_acceleration(model: "MultibodyModel", shapes: "Shapes", kinematics: "Kinematics", solid):
    """Bound of the acceleration of a solid's points at constant rates [m/s2]."""
    s, body, x, y, z, _ = solid
    if body < 0:
        return 0.0
    twist, inertia = kinematics.twist[body], kinematics.inertia[body]
    turning = math.sqrt(twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2)
    if model.body_alone[body]:
        x, y, z = x - inertia[6] / inertia[9], y - inertia[7] / inertia[9], z - inertia[8] / inertia[9]
        vx, vy, vz = cross(twist[3], twist[4], twist[5], x, y, z)
    else:
        vx, vy, vz = cross(twist[3], twist[4], twist[5], x, y, z)
        vx, vy, vz = vx + twist[0], vy + twist[1], vz + twist[2]
    bound = shapes.bound[s] if s >= 0 else 0.0
    return turning * (math.sqrt(vx * vx + vy * vy + vz * vz) + turning * bound)


@kernel
def _separate(model, shapes: "Shapes", kinematics, one, two, start, end, enough, nx, ny, nz):
    """A direction along which two solids are separate at two times.

    Tried in turn: the given direction, without and with the rotation of either solid; the offset of the centres across
    their relative motion; the normals of the surfaces over which straight edges move, and of the faces; and the
    directions of Gilbert's method (1966), which converges to the nearest point of the differences of all points at both
    times. Each points from the centre of the second solid to that of the first.

    Args:
        model, shapes, kinematics: of the machine.
        one, two: see `_support_point`.
        start, end: the times [s].
        enough: ends the search [m].
        nx, ny, nz: direction from the second solid to the first that is tried first.

    Returns:
        The smaller of the two separations [m] and the direction.
    """
    middle = 0.5 * (start + end)
    ox, oy, oz, mx, my, mz = _relative_motion(model, kinematics, one, two, start, end)
    edges, faces = _edge_count(shapes, one[0]), _face_count(shapes, one[0])
    edges_of_both, faces_of_both = edges + _edge_count(shapes, two[0]), faces + _face_count(shapes, two[0])
    if faces_of_both > _MOST_FACES:
        faces = faces_of_both = 0
    known = 4 + edges_of_both + faces_of_both
    best, bx, by, bz, vx, vy, vz = -math.inf, nx, ny, nz, 0.0, 0.0, 0.0
    for k in range(known + _ROUNDS):
        edge, face = k - 4, k - 4 - edges_of_both
        if k >= known:
            x, y, z = vx, vy, vz
        elif k == 0:
            x, y, z = nx, ny, nz
        elif k == 1:
            share = -(ox * mx + oy * my + oz * mz) / max(mx * mx + my * my + mz * mz, _TINY)
            x, y, z = ox + share * mx, oy + share * my, oz + share * mz
        elif k < 4:
            x, y, z = _turned_with(kinematics, one[1] if k == 2 else two[1], middle, nx, ny, nz)
        elif face < 0:
            x, y, z = _across_edge(shapes, kinematics, one, two, edges, edge, middle, mx, my, mz)
        else:
            x, y, z = _face_of_either(shapes, kinematics, one, two, faces, face, middle)
        x, y, z = _towards(x, y, z, ox, oy, oz)
        if x == 0.0 and y == 0.0 and z == 0.0:
            continue
        separation, wx, wy, wz = _separation(model, shapes, kinematics, one, two, start, end, x, y, z)
        if separation > enough:
            return separation, x, y, z
        if k >= known:
            # to the nearest point of the segment from v to w
            wx, wy, wz = wx - vx, wy - vy, wz - vz
            share = -(vx * wx + vy * wy + vz * wz) / (wx * wx + wy * wy + wz * wz)
            if not share > 0.0:
                break
            share = min(share, 1.0)
            vx, vy, vz = vx + share * wx, vy + share * wy, vz + share * wz
        elif separation > best:
            best, bx, by, bz, vx, vy, vz = separation, x, y, z, wx, wy, wz
    return best, bx, by, bz


@kernel
def _towards(x, y, z, ox, oy, oz):
    """The unit vector along x, y, z, forwards or backwards, that does not point against o; zero without a direction."""
    size = math.sqrt(x * x + y * y + z * z)
    if not size > _TINY:
        return 0.0, 0.0, 0.0
    if x * ox + y * oy + z * oz < 0.0:
        size = -size
    return x / size, y / size, z / size


@kernel
def _separation(model, shapes: "Shapes", kinematics, one, two, start, end, nx, ny, nz):
    """The smaller separation of two solids along a unit vector at two times [m]; the vector between their points."""
    least, x, y, z = math.inf, 0.0, 0.0, 0.0
    bx = by = bz = 0.0
    for k in range(4):
        time = start if k < 2 else end
        solid, side = (two, 1.0) if k % 2 == 0 else (one, -1.0)
        px, py, pz = _support_point(model, shapes, kinematics, solid, time, side * nx, side * ny, side * nz)
        if k % 2 == 0:
            bx, by, bz = px, py, pz
            continue
        px, py, pz = px - bx, py - by, pz - bz
        along = nx * px + ny * py + nz * pz
        if along < least:
            least, x, y, z = along, px, py, pz
    return least, x, y, z


@kernel
def _relative_motion(model, kinematics, one, two, start, end):
    """From the second solid's centre to the first's, in the mean of two times; its change from the one to the other."""
    ox, oy, oz = one[2] - two[2], one[3] - two[3], one[4] - two[4]
    mx = my = mz = 0.0
    for k in range(4):
        solid, sign = (one, 1.0) if k % 2 == 0 else (two, -1.0)
        time = start if k < 2 else end
        x, y, z = displacement(model, kinematics, solid[1], solid[2], solid[3], solid[4], time)
        ox, oy, oz = ox + 0.5 * sign * x, oy + 0.5 * sign * y, oz + 0.5 * sign * z
        if k < 2:
            sign = -sign
        mx, my, mz = mx + sign * x, my + sign * y, mz + sign * z
    return ox, oy, oz, mx, my, mz


@kernel
def _turned_with(kinematics: "Kinematics", body, time, x, y, z):
    """A vector after it has turned with a body for a time."""
    if body < 0:
        return x, y, z
    twist = kinematics.twist[body]
    return _turned(twist[3], twist[4], twist[5], time, x, y, z)


@kernel
def _edge_count(shapes: "Shapes", s):
    """Number of directions of straight lines on a shape that are known: a box, or a cylinder's or capsule's side."""
    if s < 0:
        return 0
    kind = shapes.kind[s]
    return 3 if kind == BOX else 1 if kind in (CYLINDER, CAPSULE) else 0


@kernel
def _edge(shapes: "Shapes", kinematics: "Kinematics", solid, k, time):
    """The k-th of these directions after a time, world axes."""
    s, body = solid[0], solid[1]
    column = k if shapes.kind[s] == BOX else 2
    x, y, z = shapes.rotation[s, 0, column], shapes.rotation[s, 1, column], shapes.rotation[s, 2, column]
    if body < 0:
        return x, y, z
    x, y, z = rotated(kinematics.rotation[body], x, y, z)
    return _turned_with(kinematics, body, time, x, y, z)


@kernel
def _face_count(shapes: "Shapes", s):
    """Number of flat faces of a shape, 0 for a sphere (-1)."""
    return shapes.part[s, 3] - shapes.part[s, 2] if s >= 0 else 0


@kernel
def _face_normal(shapes: "Shapes", kinematics: "Kinematics", solid, k, time):
    """Normal of a solid's k-th face after a time, world axes."""
    s, body = solid[0], solid[1]
    f = shapes.part[s, 2] + k
    x, y, z = rotated(shapes.rotation[s], shapes.face[f, 0], shapes.face[f, 1], shapes.face[f, 2])
    if body < 0:
        return x, y, z
    x, y, z = rotated(kinematics.rotation[body], x, y, z)
    return _turned_with(kinematics, body, time, x, y, z)


@kernel
def _face_of_either(shapes: "Shapes", kinematics: "Kinematics", one, two, faces, k, time):
    """Normal of the k-th face of two solids, of which the first has `faces`, after a time, world axes."""
    if k < faces:
        return _face_normal(shapes, kinematics, one, k, time)
    return _face_normal(shapes, kinematics, two, k - faces, time)


@kernel
def _across_edge(shapes: "Shapes", kinematics: "Kinematics", one, two, edges, k, time, mx, my, mz):
    """Product of the k-th edge of two solids, of which the first has `edges`, after a time, and the vector m."""
    if k < edges:
        x, y, z = _edge(shapes, kinematics, one, k, time)
    else:
        x, y, z = _edge(shapes, kinematics, two, k - edges, time)
    return cross(x, y, z, mx, my, mz)
