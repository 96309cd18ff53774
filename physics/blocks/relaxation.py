"""Dynamic relaxation: statics by damped explicit steps with scaled masses, in which time has no meaning.

Each coordinate has as mass a quarter of the sum of magnitudes in its row of the stiffness matrix. With it steps of
length 1 are stable (Gershgorin), and all coordinates move alike fast (Underwood, 1983).
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.forces import apply_forces
from grouser.physics.blocks.joints import count_joints
from grouser.physics.blocks.turning import set_normalised, turned

# Share of the force by which `local` slows the motion (Cundall, 1987).
_LOCAL_DAMPING = 0.8


@kernel
def relax(system, state, work, scaled_mass, history, local: bool, tolerance: float, most_steps: int):
    """Steps until nothing is unbalanced; the speeds of the state, zero at first, are displacements a step.

    `viscous` damps critically, c = 2 omega_1 M, with the slowest frequency by Rayleigh's quotient
    omega_1^2 = (u . K u)/(u . M u): that of the displacement in the last step, or since the start where it is less.
    `local` takes a share of each force that drives the motion, and adds it to one that slows it.

    Args:
        system, state, work: packed, of the assembly; without damping.
        scaled_mass: of the coordinates: centre, rotation and modes, (b, 6 + modes).
        history: buffer, (3, b, 6 + modes): forces at the start and of the last step, and the displacement since the
            start; zero at first.
        local: which damping.
        tolerance: share of the mean force of a contact.
        most_steps: at most so many.

    Returns:
        Steps made, and the largest unbalanced force as a share of the mean force of a contact.
    """
    damping = 0.0
    share = math.inf
    count_joints(system, state, work)
    for made in range(most_steps + 1):
        apply_forces(system, state, work, 1.0)
        share = _unbalanced(system, work)
        if share <= tolerance:
            return made, share
        if made > 0 and not local:
            damping = _slowest(system, state, work, scaled_mass, history, damping)
        for block in range(state.displacement.shape[0]):
            if not system.bodies.driven[block]:
                for a in range(scaled_mass.shape[1]):
                    force, speed = _force_of(work, block, a), _speed_of(state, block, a)
                    history[1, block, a] = force
                    if made == 0:
                        history[0, block, a] = force
                    if local:
                        slowed = force - _LOCAL_DAMPING * abs(force) * _sign(speed)
                        speed += slowed / scaled_mass[block, a]
                    else:
                        speed = ((1.0 - damping) * speed + force / scaled_mass[block, a]) / (1.0 + damping)
                    _set_speed(state, block, a, speed)
                    history[2, block, a] += speed
                _move(state, block)
    return most_steps, share


@kernel
def _sign(value):
    if value > 0.0:
        return 1.0
    return -1.0 if value < 0.0 else 0.0


@kernel
def _slowest(system, state, work, scaled_mass, history, last):
    """Slowest frequency, at most 1; `last` where no force acts against a displacement."""
    stiff = inertia = stiff_since = inertia_since = 0.0
    for block in range(scaled_mass.shape[0]):
        if not system.bodies.driven[block]:
            for a in range(scaled_mass.shape[1]):
                mass, force = scaled_mass[block, a], _force_of(work, block, a)
                way, since = _speed_of(state, block, a), history[2, block, a]
                stiff += way * (history[1, block, a] - force)
                inertia += way * mass * way
                stiff_since += since * (history[0, block, a] - force)
                inertia_since += since * mass * since
    square = math.inf
    if stiff > 0.0:
        square = stiff / inertia
    if stiff_since > 0.0:
        square = min(square, stiff_since / inertia_since)
    return min(math.sqrt(square), 1.0) if square < math.inf else last


@kernel
def _force_of(work, block, a):
    if a < 3:
        return work.force[block, a]
    if a < 6:
        return work.torque[block, a - 3]
    return work.modal[block, a - 6]


@kernel
def _speed_of(state, block, a):
    if a < 3:
        return state.velocity[block, a]
    if a < 6:
        return state.angular_velocity[block, a - 3]
    return state.rate[block, a - 6]


@kernel
def _set_speed(state, block, a, speed):
    if a < 3:
        state.velocity[block, a] = speed
    elif a < 6:
        state.angular_velocity[block, a - 3] = speed
    else:
        state.rate[block, a - 6] = speed


@kernel
def _unbalanced(system, work):
    """Largest force as a share of the mean force of a contact; torques by the radius of gyration."""
    largest = 0.0
    for block in range(work.force.shape[0]):
        if system.bodies.driven[block]:
            continue
        inertia = system.bodies.inertia[block]
        radius = math.sqrt((inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / (2.0 * system.bodies.mass[block]))
        for a in range(6 + work.modal.shape[1]):
            force = abs(_force_of(work, block, a))
            largest = max(largest, force / radius if 3 <= a < 6 else force)
    if largest == 0.0:
        return 0.0
    if work.contact_force[0] == 0.0:
        return math.inf
    return largest * work.contact_force[1] / work.contact_force[0]


@kernel
def _move(state, block):
    spin = state.angular_velocity[block]
    for axis in range(3):
        state.displacement[block, axis] += state.velocity[block, axis]
    for a in range(state.q.shape[1]):
        state.q[block, a] += state.rate[block, a]
    x, y, z, w = turned(state.quaternion[block], spin[0], spin[1], spin[2], 1.0)
    set_normalised(state.quaternion[block], x, y, z, w)
