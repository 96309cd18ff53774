"""Contacts of blocks that are not bonded: points at corners and edges, as stiff as their share of the surface.

Two blocks touch along the axis of their least overlap. Across a face the corners of the part of the other's face that
lies over it are points, each with its share of that area; where two edges cross there is one point.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross, rotated
from grouser.physics.blocks.contact_point import touch
from grouser.physics.blocks.field_contacts import touch_field
from grouser.physics.blocks.points import copy_row, displaced
from grouser.physics.blocks.separation import deepest_corner, edge_axis, edge_points, least_overlap, overlap


@kernel
def apply_contacts(system, state, work, step: float):
    """Finds all contacts in the order of the blocks, and adds their forces.

    Args:
        system, state, work: of the assembly.
        step: over which they slide [s].
    """
    blocks = work.position.shape[0]
    for block in range(blocks):
        if work.active[block]:
            deform(system.shapes, state, work, block)
    found = last = 0
    for first in range(blocks):
        if not work.active[first]:
            continue
        for second in range(first + 1, blocks):
            if not may_touch(system, state, work, first, second):
                continue
            pair = first * blocks + second
            last, found = _keep_asleep(system, state, work, last, pair, found)
            end = last
            while end < state.contact_count[0] and state.contact_pair[end] == pair:
                work.used[end] = False
                end += 1
            before = found
            if second == system.field_block:
                found = touch_field(system, state, work, first, last, end, found, step)
            else:
                found = _touch_solids(system, state, work, first, second, last, end, found, step)
            work.found_pair[before:found] = pair
            last = end
    _, found = _keep_asleep(system, state, work, last, blocks * blocks, found)
    state.contact_count[0] = found
    for k in range(found):
        state.contact_pair[k] = work.found_pair[k]
        copy_row(state.contact_point, k, work.found_point, k)
        copy_row(state.contact_shear, k, work.found_shear, k)


@kernel
def _keep_asleep(system, state, work, last, pair, found):
    """Goes to the contacts of a pair in the last step, and keeps those of blocks that sleep on the way.

    Returns:
        The first contact of the pair, and the number of all contacts found.
    """
    blocks = work.position.shape[0]
    while last < state.contact_count[0] and state.contact_pair[last] < pair:
        first, second = divmod(state.contact_pair[last], blocks)
        if (_sleeps(system, work, first) or _sleeps(system, work, second)) and found < work.found_pair.shape[0]:
            work.found_pair[found] = state.contact_pair[last]
            copy_row(work.found_point, found, state.contact_point, last)
            copy_row(work.found_shear, found, state.contact_shear, last)
            found += 1
        last += 1
    return last, found


@kernel
def _sleeps(system, work, block):
    return not (work.active[block] or system.bodies.driven[block])


@kernel
def _touch_solids(system, state, work, first, second, last, end, found, step: float):
    """Contacts of two solids along the axis of their least overlap; returns the number of all contacts found."""
    separation, face, of_second, one, two = least_overlap(system.shapes, work, first, second)
    if separation >= 0.0:
        return found
    if one >= 0:
        return _touch_edges(system, state, work, first, second, face, of_second, one, two, last, end, found, step)
    return _touch_face(system, state, work, first, second, face, of_second, last, end, found, step)


@kernel
def may_touch(system, state, work, first, second):
    """Whether two blocks are active and near, not bonded, and one of them can move."""
    if not (work.active[first] and work.active[second]):
        return False
    for axis in range(3):
        if work.box[first, axis] > work.box[second, 3 + axis] or work.box[second, axis] > work.box[first, 3 + axis]:
            return False
    if system.bodies.driven[first] and system.bodies.driven[second]:
        return False
    joint = system.joints.between[first, second]
    return joint < 0 or not state.live[joint]


@kernel
def deform(shapes, state, work, block):
    """Vertices, bounds and normals of a block in the world."""
    box = work.box[block]
    for axis in range(3):
        box[axis], box[3 + axis] = math.inf, -math.inf
    for vertex in range(shapes.vertex_start[block], shapes.vertex_start[block + 1]):
        x, y, z = displaced(shapes.vertex[vertex], shapes.phi[vertex], state.q[block])
        lever = rotated(work.rotation[block], x, y, z)
        for axis in range(3):
            place = work.position[block, axis] + lever[axis]
            work.vertex[vertex, axis] = place
            box[axis], box[3 + axis] = min(box[axis], place), max(box[3 + axis], place)
    for face in range(shapes.face_start[block], shapes.face_start[block + 1]):
        nx = ny = nz = 0.0
        begin, size = shapes.loop_start[face], shapes.loop_start[face + 1] - shapes.loop_start[face]
        origin = work.vertex[shapes.loop[begin]]
        for k in range(1, size - 1):
            one, two = work.vertex[shapes.loop[begin + k]], work.vertex[shapes.loop[begin + k + 1]]
            ax, ay, az = cross(
                one[0] - origin[0], one[1] - origin[1], one[2] - origin[2],
                two[0] - origin[0], two[1] - origin[1], two[2] - origin[2],
            )  # fmt: skip
            nx, ny, nz = nx + ax, ny + ay, nz + az
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        normal = work.normal[face]
        normal[0], normal[1], normal[2] = nx / length, ny / length, nz / length


@kernel
def _touch_face(system, state, work, first, second, face, of_second, last, end, found, step: float):
    """Contacts of a face with the other block's face that looks at it; returns the number of all contacts found."""
    shapes, normal = system.shapes, work.normal[face]
    nx, ny, nz = normal[0], normal[1], normal[2]
    count, area = overlap(shapes, work, face, first if of_second else second)
    polygon, areas = work.clipped[0], work.tributary
    origin = work.vertex[shapes.loop[shapes.loop_start[face]]]
    sign = -1.0 if of_second else 1.0
    before = found
    for k in range(count):
        depth = 0.0
        for axis in range(3):
            depth -= normal[axis] * (polygon[k, axis] - origin[axis])
        if depth > 0.0 and areas[k] > 0.0 and found < work.found_pair.shape[0]:
            for axis in range(3):
                work.found_point[found, axis] = polygon[k, axis] + 0.5 * depth * normal[axis]
            touch(
                system, state, work, first, second, sign * nx, sign * ny, sign * nz, depth, areas[k], last, end, found,
                step,
            )  # fmt: skip
            found += 1
    if found == before and found < work.found_pair.shape[0]:
        # the faces that look at each other lie beside each other: the deepest corner touches
        corner, depth = deepest_corner(shapes, work, face, first if of_second else second)
        for axis in range(3):
            work.found_point[found, axis] = work.vertex[corner, axis] + 0.5 * depth * normal[axis]
        touch(system, state, work, first, second, sign * nx, sign * ny, sign * nz, depth, area, last, end, found, step)
        found += 1
    return found


@kernel
def _touch_edges(system, state, work, first, second, face, of_second, one, two, last, end, found, step: float):
    """Contact of two edges, as large as that of the best face; returns the number of all contacts found."""
    if found == work.found_pair.shape[0]:
        return found
    shapes = system.shapes
    _, area = overlap(shapes, work, face, first if of_second else second)
    px, py, pz, qx, qy, qz = edge_points(shapes, work, one, two)
    nx, ny, nz = edge_axis(shapes, work, one, two)
    depth = nx * (px - qx) + ny * (py - qy) + nz * (pz - qz)
    work.found_point[found, 0] = 0.5 * (px + qx)
    work.found_point[found, 1] = 0.5 * (py + qy)
    work.found_point[found, 2] = 0.5 * (pz + qz)
    touch(system, state, work, first, second, nx, ny, nz, depth, area, last, end, found, step)
    return found + 1
