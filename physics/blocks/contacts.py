"""Contacts of blocks that are not bonded: points at corners and edges, as stiff as their share of the surface.

Two blocks touch along the axis of their least overlap. Across a face the corners of the part of the other's face that
lies over it are points, each with its share of that area; where two edges cross there is one point. The force acts on
both blocks at one point, half way in the overlap. The elastic shear of a point is found again in the next step by its
place on the first block.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross, rotated, rotated_back
from grouser.physics.blocks.laws import held_share
from grouser.physics.blocks.points import add_force, copy_row, displaced, velocity_of
from grouser.physics.blocks.separation import deepest_corner, edge_axis, edge_points, least_overlap, overlap
from grouser.physics.blocks.system import DAMPING, FRICTION


@kernel
def apply_contacts(system, state, work, step: float):
    """Finds all contacts in the order of the blocks, and adds their forces.

    Args:
        system, state, work: of the assembly.
        step: over which they slide [s].
    """
    shapes, blocks = system.shapes, work.position.shape[0]
    for block in range(blocks):
        if work.near[block]:
            deform(shapes, state, work, block)
    found = last = 0
    for first in range(blocks):
        for second in range(first + 1, blocks):
            if not may_touch(system, state, work, first, second):
                continue
            separation, face, of_second, one, two = least_overlap(shapes, work, first, second)
            if separation >= 0.0:
                continue
            pair = first * blocks + second
            while last < state.contact_count[0] and state.contact_pair[last] < pair:
                last += 1
            end = last
            while end < state.contact_count[0] and state.contact_pair[end] == pair:
                work.used[end] = False
                end += 1
            before = found
            if one >= 0:
                found = _touch_edges(
                    system, state, work, first, second, face, of_second, one, two, last, end, found, step
                )
            else:
                found = _touch_face(system, state, work, first, second, face, of_second, last, end, found, step)
            work.found_pair[before:found] = pair
            last = end
    state.contact_count[0] = found
    for k in range(found):
        state.contact_pair[k] = work.found_pair[k]
        copy_row(state.contact_point, k, work.found_point, k)
        copy_row(state.contact_shear, k, work.found_shear, k)


@kernel
def may_touch(system, state, work, first, second):
    """Whether two blocks are near, not bonded, and one of them can move."""
    if not (work.near[first] and work.near[second]):
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
            _touch(
                system, state, work, first, second, sign * nx, sign * ny, sign * nz, depth, areas[k], last, end, found,
                step,
            )  # fmt: skip
            found += 1
    if found == before and found < work.found_pair.shape[0]:
        # the faces that look at each other lie beside each other: the deepest corner touches
        corner, depth = deepest_corner(shapes, work, face, first if of_second else second)
        for axis in range(3):
            work.found_point[found, axis] = work.vertex[corner, axis] + 0.5 * depth * normal[axis]
        _touch(system, state, work, first, second, sign * nx, sign * ny, sign * nz, depth, area, last, end, found, step)
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
    _touch(system, state, work, first, second, nx, ny, nz, depth, area, last, end, found, step)
    return found + 1


@kernel
def _touch(system, state, work, first, second, nx, ny, nz, depth, area, last, end, found, step: float):
    """Adds the forces of one point, (nx, ny, nz) out of the first block, and keeps its shear."""
    laws, place, shear = system.laws, work.found_point[found], work.found_shear[found]
    one, two = work.position[first], work.position[second]
    ax, ay, az = place[0] - one[0], place[1] - one[1], place[2] - one[2]
    bx, by, bz = place[0] - two[0], place[1] - two[1], place[2] - two[2]
    phi_first, phi_second = work.shape[0], work.shape[1]
    _find_shape(system, work, first, ax, ay, az, phi_first)
    _find_shape(system, work, second, bx, by, bz, phi_second)
    vx, vy, vz = velocity_of(state, work, first, ax, ay, az, phi_first)
    ux, uy, uz = velocity_of(state, work, second, bx, by, bz, phi_second)
    ux, uy, uz = ux - vx, uy - vy, uz - vz
    apart = nx * ux + ny * uy + nz * uz
    ux, uy, uz = ux - apart * nx, uy - apart * ny, uz - apart * nz

    place[0], place[1], place[2] = rotated_back(work.rotation[first], ax, ay, az)
    _recall(state, work, area, last, end, found)
    ex, ey, ez = rotated(work.rotation[first], shear[0], shear[1], shear[2])
    along = nx * ex + ny * ey + nz * ez
    ex, ey, ez = ex - along * nx + step * ux, ey - along * ny + step * uy, ez - along * nz + step * uz
    normal_stiffness, shear_stiffness = area * laws.normal_stiffness, area * laws.shear_stiffness
    normal = max(normal_stiffness * (depth - laws.stiffness_damping * apart), 0.0)
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    share, lost = held_share(shear_stiffness, laws.friction * normal, length)
    ex, ey, ez = share * ex, share * ey, share * ez
    shear[0], shear[1], shear[2] = rotated_back(work.rotation[first], ex, ey, ez)
    damped = laws.stiffness_damping if share == 1.0 else 0.0
    fx = normal * nx - shear_stiffness * (ex + damped * ux)
    fy = normal * ny - shear_stiffness * (ey + damped * uy)
    fz = normal * nz - shear_stiffness * (ez + damped * uz)
    add_force(work, second, bx, by, bz, phi_second, fx, fy, fz)
    add_force(work, first, ax, ay, az, phi_first, -fx, -fy, -fz)
    state.lost[FRICTION] += lost
    damping = shear_stiffness * damped * (ux * ux + uy * uy + uz * uz) - (normal - normal_stiffness * depth) * apart
    state.lost[DAMPING] += step * damping
    elastic = normal_stiffness * depth * depth + shear_stiffness * (share * length) * (share * length)
    work.spring_energy[0] += 0.5 * elastic
    work.contact_force[0] += normal + shear_stiffness * share * length
    work.contact_force[1] += 1.0
    work.stiffening[first] += step * normal_stiffness
    work.stiffening[second] += step * normal_stiffness


@kernel
def _recall(state, work, area, last, end, found):
    """Takes the elastic shear of the nearest contact of the last step within the size of the area; else none."""
    place, nearest, chosen = work.found_point[found], area, -1
    for k in range(last, end):
        if work.used[k]:
            continue
        square = 0.0
        for axis in range(3):
            way = state.contact_point[k, axis] - place[axis]
            square += way * way
        if square < nearest:
            nearest, chosen = square, k
    if chosen >= 0:
        work.used[chosen] = True
        copy_row(work.found_shear, found, state.contact_shear, chosen)
    else:
        work.found_shear[found, :] = 0.0


@kernel
def _find_shape(system, work, block, lx, ly, lz, phi):
    """Mode shapes of a block at the lever (lx, ly, lz) in the world; the block's own small deformation is neglected."""
    x, y, z = rotated_back(work.rotation[block], lx, ly, lz)
    coefficients = system.bodies.coefficients[block]
    for a in range(coefficients.shape[0]):
        for axis in range(3):
            c = coefficients[a, axis]
            linear = c[0] + c[1] * x + c[2] * y + c[3] * z
            quadratic = c[4] * x * x + c[5] * y * y + c[6] * z * z + c[7] * y * z + c[8] * x * z + c[9] * x * y
            phi[axis, a] = linear + quadratic
