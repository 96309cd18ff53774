"""A point at which two blocks touch: its springs, friction and damping.

The force acts on both blocks at one point, half way in the overlap. The elastic shear of a point is found again in the
next step by its place on the first block.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.blocks.laws import held_share
from grouser.physics.blocks.points import add_force, copy_row, velocity_of
from grouser.physics.blocks.system import DAMPING, FRICTION


@kernel
def touch(system, state, work, first, second, nx, ny, nz, depth, area, last, end, found, step: float):
    """Adds the forces of one point, and keeps its shear.

    Args:
        system, state, work: of the assembly; `found_point` of the work has the point in the world.
        first, second: blocks.
        nx, ny, nz: normal out of the first block.
        depth: of the overlap [m].
        area: that the point stands for [m2].
        last, end: contacts of both blocks in the last step.
        found: number of the point among those of this step.
        step: over which it slides [s].
    """
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
