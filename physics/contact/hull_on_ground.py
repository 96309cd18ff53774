"""Contacts of convex meshes with the ground: lowest vertices, of many the corners of the polygon on which one stands.

The vertices that bear, within a small distance of the lowest one, come first. Then follow others that may touch within
two steps, and, up to four points, those that are almost as near. Each vertex is a candidate with a slot of its own.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.contact.candidates import GroundCandidates
from grouser.physics.contact.contacts import CONTACT_MARGIN, Contacts, add_contact, normal_speed
from grouser.physics.contact.facing import TAG, X, Y, convex_outline, sort_points
from grouser.physics.contact.ground import is_soft, seen_from
from grouser.physics.contact.hull_graph import clear_cap, find_cap
from grouser.physics.contact.manifold import PREFERENCE, fill_frame
from grouser.physics.contact.reduction import BEARING, FEW_POINTS, FIRST_CORNER, HULL_POINTS, NEAR, choose_corners
from grouser.physics.contact.shapes import Shapes
from grouser.physics.contact.terrain import Terrain, look_ahead, surface_below
from grouser.physics.contact.unmoved import is_still, recall_vertices, store_vertices

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# Columns of a vertex that may touch, beside its number: normal speed, whether it is kept, and gap.
_SPEED, _KEPT, _GAP = 0, 1, 3
# Which vertices are chosen from: those that bear, that will touch, that are near.
_BEAR, _CLOSE, _NEAR = range(3)


@kernel
def touch_ground_with_hulls(
    candidates: GroundCandidates,
    shapes: Shapes,
    terrain: Terrain,
    kinematics: "Kinematics",
    step: float,
    workspace: "ContactWorkspace",
    contacts: Contacts,
):
    """Adds the contacts of meshes with the ground that exist or may begin within two steps.

    Args:
        candidates, shapes, terrain: of the collision system.
        kinematics: filled for the current state.
        step: [s].
        workspace: poses and speeds of the shapes, and buffers.
        contacts: result.
    """
    for h in range(candidates.hull_first.shape[0]):
        first = candidates.hull_first[h]
        s = candidates.shape[first]
        body, r, at = shapes.body[s], workspace.rotation[s], workspace.position[s]
        unmoved, origin, still, number = workspace.on_ground, kinematics.origin, is_still(workspace.speed[s]), -1
        if still:
            number = recall_vertices(unmoved, h, origin, r, at, workspace.chosen)
        if number < 0:
            count = _list_vertices(candidates, shapes, terrain, kinematics, step, first, s, workspace)
            number = _choose_vertices(shapes, terrain, step, s, count, workspace) if count > 0 else 0
            if still:
                store_vertices(unmoved, h, origin, r, at, workspace.chosen, number)
        for k in range(number):
            v = workspace.chosen[k]
            x, y, z = _corner(shapes, v, r, at)
            gap, nx, ny, nz = _gap_of(terrain, kinematics.origin, x, y, z)
            slot, law = candidates.slot[first + v - shapes.part[s, 0]], candidates.law[first]
            add_contact(contacts, kinematics, slot, body, -1, s, -1, law, x, y, z, nx, ny, nz, gap)


@kernel
def _list_vertices(
    candidates: GroundCandidates,
    shapes: Shapes,
    terrain: Terrain,
    kinematics: "Kinematics",
    step: float,
    first,
    s,
    workspace: "ContactWorkspace",
):
    """Lists the vertices of mesh s that touch or may do so within two steps, in the first buffer; their number."""
    at, r, points, cap = workspace.position[s], workspace.rotation[s], workspace.buffer[0], workspace.first_cap
    origin, body = kinematics.origin, shapes.body[s]
    ahead = max(CONTACT_MARGIN, 2.0 * step * workspace.speed[s])
    on_field = terrain.heights.shape[0] > 0
    vertices = shapes.part[s, 1] - shapes.part[s, 0]
    if on_field:
        highest = terrain.highest[0] - origin[2] + look_ahead(ahead, terrain.cell[0])
        if at[2] - shapes.bound[s] > highest:
            return 0
    else:
        nx, ny, nz = terrain.normal[0], terrain.normal[1], terrain.normal[2]
        height, _, _, _ = _gap_of(terrain, origin, at[0], at[1], at[2])
        if height > shapes.bound[s] + ahead:
            return 0
        lx, ly, lz = rotated_back(r, -nx, -ny, -nz)
        vertices, faces = find_cap(shapes, s, lx, ly, lz, height - ahead, cap)
        clear_cap(cap, vertices, faces)
    count = 0
    for k in range(vertices):
        v = shapes.part[s, 0] + k if on_field else cap.vertex[k]
        x, y, z = _corner(shapes, v, r, at)
        if (on_field and z > highest) or (candidates.sinks[first] and is_soft(terrain, origin, x, y)):
            continue
        gap, nx, ny, nz = _gap_of(terrain, origin, x, y, z)
        speed = normal_speed(kinematics.twist, body, -1, x, y, z, nx, ny, nz)
        if gap < CONTACT_MARGIN or gap + 2.0 * step * speed < 0.0:
            points[count, _SPEED], points[count, TAG], points[count, _GAP] = speed, v, gap
            count += 1
    return count


@kernel
def _choose_vertices(shapes: Shapes, terrain: Terrain, step: float, s, count, workspace: "ContactWorkspace"):
    """Chooses at most HULL_POINTS of the vertices listed, ascending; returns their number."""
    points, polygon, spare = workspace.buffer[0], workspace.buffer[1], workspace.buffer[2]
    frame, at, r, kept = workspace.frame, workspace.position[s], workspace.rotation[s], workspace.chosen
    fill_frame(terrain.normal, frame)
    gx, gy, gz = rotated(r, FIRST_CORNER[0], FIRST_CORNER[1], FIRST_CORNER[2])
    gu = frame[0, 0] * gx + frame[0, 1] * gy + frame[0, 2] * gz
    gv = frame[1, 0] * gx + frame[1, 1] * gy + frame[1, 2] * gz
    deepest = math.inf
    for k in range(count):
        deepest = min(deepest, points[k, _GAP])
        points[k, _KEPT] = 0.0
    bearing, number = max(deepest, 0.0) + BEARING, 0
    for choice in (_BEAR, _CLOSE, _NEAR):
        most = FEW_POINTS if choice == _NEAR else HULL_POINTS
        if number >= most:
            continue
        some = 0
        for k in range(count):
            gap = points[k, _GAP]
            if choice == _BEAR:
                counts = gap <= bearing
            elif choice == _CLOSE:
                # what bears is inside of the polygon of those kept
                counts = gap > bearing and gap + 2.0 * step * points[k, _SPEED] < 0.0
            else:
                counts = gap < NEAR
            if counts and points[k, _KEPT] == 0.0:
                x, y, z = _corner(shapes, int(points[k, TAG]), r, at)
                spare[some, X] = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
                spare[some, Y] = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z
                spare[some, TAG] = k
                some += 1
        sort_points(spare, some)
        some = convex_outline(spare, some, polygon)
        corners = choose_corners(polygon, some, most - number, gu, gv, workspace.corner)
        number = _keep_corners(points, polygon, workspace.corner, corners, kept, number)
        if choice == _BEAR:
            least = math.inf
            for n in range(number):
                least = min(least, points[kept[n], _GAP])
            if deepest < least - PREFERENCE:
                # what bears lies inside of the polygon: of a bulge, a few vertices that are lower than all others
                for n in range(number):
                    points[kept[n], _KEPT] = 0.0
                corners = choose_corners(polygon, some, FEW_POINTS, gu, gv, workspace.corner)
                number = _keep_corners(points, polygon, workspace.corner, corners, kept, 0)
                number = _add_lowest(points, count, kept, number)
    for k in range(number):
        v, m = int(points[kept[k], TAG]), k
        while m > 0 and kept[m - 1] > v:
            kept[m] = kept[m - 1]
            m -= 1
        kept[m] = v
    return number


@kernel
def _keep_corners(points, polygon, corner, corners, kept, number):
    """Adds the chosen corners of a polygon to those kept of the vertices listed; returns their number."""
    for n in range(corners):
        k = int(polygon[corner[n], TAG])
        points[k, _KEPT], kept[number + n] = 1.0, k
    return number + corners


@kernel
def _add_lowest(points, count, kept, number):
    """Adds the lowest of the vertices listed that are not yet kept, FEW_POINTS at most; returns their number."""
    for _ in range(min(FEW_POINTS, count - number)):
        lowest, deepest = -1, math.inf
        for k in range(count):
            if points[k, _KEPT] == 0.0 and points[k, _GAP] < deepest:
                lowest, deepest = k, points[k, _GAP]
        points[lowest, _KEPT], kept[number] = 1.0, lowest
        number += 1
    return number


@kernel
def _corner(shapes: Shapes, v, r, at):
    """A vertex of a mesh with rotation r and position `at`, from the kinematics' origin in world axes."""
    x, y, z = rotated(r, shapes.vertex[v, 0], shapes.vertex[v, 1], shapes.vertex[v, 2])
    return at[0] + x, at[1] + y, at[2] + z


@kernel
def _gap_of(terrain: Terrain, origin, x, y, z):
    """Distance of a point from the plane or from that of the triangle below it [m]; the normal of this plane."""
    normal, at = terrain.normal, terrain.point
    if terrain.heights.shape[0] == 0:
        nx, ny, nz = normal[0], normal[1], normal[2]
        level = nx * (at[0] - origin[0]) + ny * (at[1] - origin[1]) + nz * (at[2] - origin[2])
        return nx * x + ny * y + nz * z - level, nx, ny, nz
    ox, oy, level = seen_from(terrain.origin, origin)
    height, nx, ny, nz = surface_below(terrain.heights, terrain.cell[0], ox, oy, x, y)
    return (z - level - height) * nz, nx, ny, nz
