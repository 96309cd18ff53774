"""All forces on the blocks at their present places."""

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross
from grouser.physics.blocks.contacts import apply_contacts
from grouser.physics.blocks.joints import apply_joints
from grouser.physics.blocks.points import add_force, lever_of
from grouser.physics.blocks.system import DAMPING
from grouser.physics.blocks.turning import place_block


@kernel
def apply_forces(system, state, work, step: float):
    """Sums weights, loads, the blocks' own stiffness, joints and contacts into force, torque and modal force.

    Args:
        system, state, work: of the assembly.
        step: over which energy is lost, and contacts slide [s].
    """
    bodies, laws = system.bodies, system.laws
    work.spring_energy[0] = 0.0
    work.contact_force[:] = 0.0
    for block in range(bodies.mass.shape[0]):
        if not work.active[block]:
            continue
        place_block(system, state, work, block)
        load, moved = work.load[block], state.displacement[block]
        moment = cross(moved[0], moved[1], moved[2], load[0], load[1], load[2])
        for axis in range(3):
            work.force[block, axis] = bodies.mass[block] * laws.gravity[axis] + load[axis]
            work.torque[block, axis] = load[3 + axis] - moment[axis]
        for a in range(state.q.shape[1]):
            damped = laws.stiffness_damping * state.rate[block, a]
            work.modal[block, a] = -bodies.stiffness[block, a] * (state.q[block, a] + damped)
            state.lost[DAMPING] += step * bodies.stiffness[block, a] * damped * state.rate[block, a]
    _apply_loads(system.loads, state, work)
    apply_joints(system, state, work, step)
    if laws.collide:
        apply_contacts(system, state, work, step)


@kernel
def _apply_loads(loads, state, work):
    for load in range(loads.block.shape[0]):
        block, phi, force, factor = loads.block[load], loads.phi[load], loads.force[load], loads.factor[0]
        lx, ly, lz = lever_of(state, work, block, loads.point[load], phi)
        add_force(work, block, lx, ly, lz, phi, factor * force[0], factor * force[1], factor * force[2])
