"""Explicit steps in time: central differences with plain damping a M + b K."""

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross
from grouser.physics.blocks.forces import apply_forces
from grouser.physics.blocks.joints import count_joints, is_rigid
from grouser.physics.blocks.system import DAMPING
from grouser.physics.blocks.turning import set_normalised, turn_free, turned


@kernel
def advance(system, state, work, step: float, steps: int):
    """Makes steps: from the forces at the positions to the speeds half a step later, and to the next positions.

    Args:
        system, state, work: packed, of the assembly.
        step: [s].
        steps: how many.
    """
    count_joints(system, state, work)
    for _ in range(steps):
        apply_forces(system, state, work, step)
        state.time[0] += step
        for block in range(state.displacement.shape[0]):
            if not work.active[block]:
                continue
            if system.bodies.driven[block]:
                _move_driven(state, work, block, step)
            else:
                _move_free(system, state, work, block, step)


@kernel
def _move_driven(state, work, block, step: float):
    """Moves a block as it is told, and adds what acts on it to its impulse."""
    impulse, spin, moved = state.impulse[block], state.angular_velocity[block], state.displacement[block]
    force, torque = work.force[block], work.torque[block]
    moment = cross(moved[0], moved[1], moved[2], force[0], force[1], force[2])
    for axis in range(3):
        impulse[axis] += step * force[axis]
        impulse[3 + axis] += step * (torque[axis] + moment[axis])
        moved[axis] += step * state.velocity[block, axis]
    x, y, z, w = turned(state.quaternion[block], spin[0], spin[1], spin[2], step)
    set_normalised(state.quaternion[block], x, y, z, w)


@kernel
def _move_free(system, state, work, block, step: float):
    mass = system.bodies.mass[block]
    decay = 0.5 * system.laws.mass_damping * step
    velocity, rate = state.velocity[block], state.rate[block]
    lost = 0.0
    for axis in range(3):
        before = velocity[axis]
        velocity[axis] = (before * (1.0 - decay) + step * work.force[block, axis] / mass) / (1.0 + decay)
        state.displacement[block, axis] += step * velocity[axis]
        lost += (before + velocity[axis]) * (before + velocity[axis])
    for a in range(0 if is_rigid(system, work, block) else rate.shape[0]):
        before = rate[a]
        rate[a] = (before * (1.0 - decay) + step * work.modal[block, a] / mass) / (1.0 + decay)
        state.q[block, a] += step * rate[a]
        lost += (before + rate[a]) * (before + rate[a])
    state.lost[DAMPING] += 0.5 * decay * mass * lost
    turn_free(system, state, work, block, step)
