"""Forces of bonded faces: springs at the Gauss points, which break one by one.

The springs of a joint live in the axes of its first block. Their force acts on both blocks at the same point of space,
that of the second block: with the moment that turning the axes takes, so that momentum, angular momentum and energy
are kept.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.physics.blocks.laws import breaks, held_share
from grouser.physics.blocks.points import add_force, lever_of, shift_of, velocity_of
from grouser.physics.blocks.system import BREAKING, DAMPING, FRICTION

# A joint ends where a broken point has opened or slid by more than this share of its size: the edges of the faces,
# outside of the Gauss points, would press into each other.
_PARTED = 1e-3


@kernel
def count_joints(system, state, work):
    """Counts the joints of each block that have a bond."""
    work.joint_count[:] = 0
    for joint in range(state.live.shape[0]):
        if state.live[joint]:
            for side in range(2):
                work.joint_count[system.joints.blocks[joint, side]] += 1


@kernel
def is_rigid(system, work, block):
    """Whether a block has no modes: rubble, where that is rigid."""
    return system.laws.rigid_rubble and work.joint_count[block] == 0


@kernel
def apply_joints(system, state, work, step: float):
    """Adds the forces of all joints that have a bond.

    Args:
        system, state, work: of the assembly.
        step: over which energy is lost [s].
    """
    joints, laws = system.joints, system.laws
    breakable = laws.tensile_strength < math.inf or laws.cohesion < math.inf
    for joint in range(joints.blocks.shape[0]):
        first, second = joints.blocks[joint, 0], joints.blocks[joint, 1]
        if not (state.live[joint] and work.active[first] and work.active[second]):
            continue
        for point in range(joints.start[joint], joints.start[joint + 1]):
            _measure(system, state, work, joint, point)
        if breakable:
            _break(system, state, work, joint)
        for point in range(joints.start[joint], joints.start[joint + 1]):
            _pull(system, state, work, joint, point, step)


@kernel
def _measure(system, state, work, joint, point):
    """Jump of a point and its rate, in the frame of its joint."""
    joints = system.joints
    first, second = joints.blocks[joint, 0], joints.blocks[joint, 1]
    phi_first, phi_second = joints.phi[point, 0], joints.phi[point, 1]
    start, moved = system.bodies.start, state.displacement
    ax, ay, az = shift_of(state, first, joints.point[point, 0], phi_first)
    bx, by, bz = shift_of(state, second, joints.point[point, 1], phi_second)
    dx = (moved[second, 0] - moved[first, 0]) + (bx - ax)
    dy = (moved[second, 1] - moved[first, 1]) + (by - ay)
    dz = (moved[second, 2] - moved[first, 2]) + (bz - az)
    place = joints.point[point, 1]
    lx, ly, lz = place[0] + bx, place[1] + by, place[2] + bz
    ux, uy, uz = velocity_of(state, work, second, lx, ly, lz, phi_second)
    # the second block's point from the first block's centre
    lx += start[second, 0] - start[first, 0] + moved[second, 0] - moved[first, 0]
    ly += start[second, 1] - start[first, 1] + moved[second, 1] - moved[first, 1]
    lz += start[second, 2] - start[first, 2] + moved[second, 2] - moved[first, 2]
    vx, vy, vz = velocity_of(state, work, first, lx, ly, lz, phi_first)
    jump, frame, rotation = work.jump[point], joints.frame[joint], work.rotation[first]
    jump[0], jump[1], jump[2] = rotated(frame, *rotated_back(rotation, dx, dy, dz))
    jump[3], jump[4], jump[5] = rotated(frame, *rotated_back(rotation, ux - vx, uy - vy, uz - vz))


@kernel
def _break(system, state, work, joint):
    """Breaks the bonds whose stress at the outer end of their cell is beyond the strength."""
    joints, laws = system.joints, system.laws
    ends = joints.cell_ends
    group = ends.shape[0]
    strengths = laws.tensile_strength, laws.cohesion, laws.friction
    bonds, area, parted = 0, 0.0, 0.0
    for point in range(joints.start[joint], joints.start[joint + 1]):
        area += joints.area[point]
        if not state.bonded[point]:
            parted = max(parted, work.jump[point, 0], abs(work.jump[point, 1]), abs(work.jump[point, 2]))
            continue
        place = (point - joints.start[joint]) % group
        opening = shear_first = shear_second = 0.0
        for other in range(group):
            jump, share = work.jump[point - place + other], ends[place, other]
            opening += share * jump[0]
            shear_first += share * jump[1]
            shear_second += share * jump[2]
        if breaks(opening, shear_first, shear_second, laws.normal_stiffness, laws.shear_stiffness, strengths):
            state.bonded[point] = False
            opening = max(work.jump[point, 0], 0.0)
            state.lost[BREAKING] += 0.5 * joints.area[point] * laws.normal_stiffness * opening * opening
        else:
            bonds += 1
    if bonds == 0 or parted > _PARTED * math.sqrt(area):
        _release(system, state, work, joint)


@kernel
def _release(system, state, work, joint):
    """Ends a joint: its blocks are free of each other, and touch as others do; contacts begin without shear."""
    joints, laws = system.joints, system.laws
    state.live[joint] = False
    for point in range(joints.start[joint], joints.start[joint + 1]):
        jump, slip = work.jump[point], state.slip[point]
        first, second = jump[1] - slip[0], jump[2] - slip[1]
        state.bonded[point] = False
        springs = laws.shear_stiffness * (first * first + second * second)
        if not laws.collide:
            springs += laws.normal_stiffness * min(jump[0], 0.0) * min(jump[0], 0.0)
        state.lost[BREAKING] += 0.5 * joints.area[point] * springs
    for side in range(2):
        block = joints.blocks[joint, side]
        work.joint_count[block] -= 1
        if is_rigid(system, work, block):
            _drop_modes(system.bodies, state, block)


@kernel
def _drop_modes(bodies, state, block):
    """Ends the deformation of a block; its energy is lost."""
    for a in range(state.q.shape[1]):
        strain = bodies.stiffness[block, a] * state.q[block, a] * state.q[block, a]
        kinetic = bodies.mass[block] * state.rate[block, a] * state.rate[block, a]
        state.lost[BREAKING] += 0.5 * (strain + kinetic)
        state.q[block, a] = state.rate[block, a] = 0.0


@kernel
def _pull(system, state, work, joint, point, step: float):
    """Adds the force of a point: bonded in all directions, broken in compression and friction only."""
    joints, laws = system.joints, system.laws
    if not state.live[joint]:
        return
    jump, slip, area = work.jump[point], state.slip[point], joints.area[point]
    normal_stiffness, shear_stiffness = area * laws.normal_stiffness, area * laws.shear_stiffness
    damping = laws.stiffness_damping
    opening, first, second = jump[0], jump[1] - slip[0], jump[2] - slip[1]
    normal = -normal_stiffness * (opening + damping * jump[3])
    shear_damping = damping
    if not state.bonded[point]:
        opening = min(opening, 0.0)
        normal = max(normal, 0.0) if opening < 0.0 else 0.0
        length = math.sqrt(first * first + second * second)
        share, lost = held_share(shear_stiffness, laws.friction * normal, length)
        first, second = share * first, share * second
        slip[0], slip[1] = jump[1] - first, jump[2] - second
        shear_damping = damping if share == 1.0 else 0.0
        state.lost[FRICTION] += lost
    force = work.point_force[point]
    force[0] = normal
    force[1] = -shear_stiffness * (first + shear_damping * jump[4])
    force[2] = -shear_stiffness * (second + shear_damping * jump[5])
    elastic = normal_stiffness * opening * opening + shear_stiffness * (first * first + second * second)
    work.spring_energy[0] += 0.5 * elastic
    damped = shear_stiffness * shear_damping * (jump[4] * jump[4] + jump[5] * jump[5])
    state.lost[DAMPING] += step * (damped - (normal + normal_stiffness * opening) * jump[3])
    work.contact_force[0] += abs(force[0]) + abs(force[1]) + abs(force[2])
    work.contact_force[1] += 1.0
    _act(system, state, work, joint, point)


@kernel
def _act(system, state, work, joint, point):
    """Adds the force of a point to both blocks, where the second block's point is."""
    joints = system.joints
    first, second = joints.blocks[joint, 0], joints.blocks[joint, 1]
    force = work.point_force[point]
    inner = rotated_back(joints.frame[joint], force[0], force[1], force[2])
    fx, fy, fz = rotated(work.rotation[first], *inner)
    lx, ly, lz = lever_of(state, work, second, joints.point[point, 1], joints.phi[point, 1])
    add_force(work, second, lx, ly, lz, joints.phi[point, 1], fx, fy, fz)
    one, two = work.position[first], work.position[second]
    lx, ly, lz = lx + (two[0] - one[0]), ly + (two[1] - one[1]), lz + (two[2] - one[2])
    add_force(work, first, lx, ly, lz, joints.phi[point, 0], -fx, -fy, -fz)
