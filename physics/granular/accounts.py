"""Accounts of energy: what contacts take from the grains, and what boundaries give them.

The work of a force in a step is its product with the mean of the velocities before and after. With positions half a
step back, where these velocities belong, kinetic energy and weight then balance with the accounts to round-off, and
what is left is the error of the normal springs. Clumps add an error of second order in the step: their spheres get work
at the mean of their velocities over two steps, and turn freely with an energy that oscillates to that order.
"""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import (
    BOUNDARY_WORK,
    FRICTION_LOSS,
    NORMAL_LOSS,
    ROLLING_LOSS,
    State,
    System,
    Workspace,
)
from grouser.physics.granular.body_motion import set_vibration_velocity
from grouser.physics.granular.forces import contact_point
from grouser.physics.granular.normal_law import elastic_energy
from grouser.physics.granular.pairs import ADHESION
from grouser.physics.granular.shapes import MESH, nearest, to_body

# Parts of `read_energy`: kinetic, of weight, of the normal springs [J].
KINETIC, POTENTIAL, ELASTIC = range(3)


@kernel
def add_accounts(system: System, state: State, work: Workspace, step: float):
    """Adds the works of a step, between kick and drift.

    Args:
        system, state: velocities are those after the step, positions those before.
        work: forces of the step, and of each contact.
        step: h [s].
    """
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            if state.pair_history[k, 3] > 0.0:
                _account_pair(system, state, work, i, state.pair_other[k], k, step)
    for b in range(state.travel.shape[0]):
        if system.boundaries.angular_frequency[b] > 0.0:
            set_vibration_velocity(system.boundaries, state, b, state.time[0])
    for i in range(state.number[0]):
        for k in range(state.boundary_start[i], state.boundary_start[i + 1]):
            if state.boundary_history[k, 3] > 0.0:
                _account_boundary(system, state, work, i, k, step)


@inlined
def _mean_velocity(system: System, state: State, work: Workspace, i, step):
    """Means of a grain's velocity and spin before and after the step."""
    half = 0.5 * step
    light, loose = half * state.velocity[i, 3], half * state.spin[i, 3]
    return (
        state.velocity[i, 0] - light * work.force[i, 0] - half * system.gravity[0],
        state.velocity[i, 1] - light * work.force[i, 1] - half * system.gravity[1],
        state.velocity[i, 2] - light * work.force[i, 2] - half * system.gravity[2],
        state.spin[i, 0] - loose * work.torque[i, 0],
        state.spin[i, 1] - loose * work.torque[i, 1],
        state.spin[i, 2] - loose * work.torque[i, 2],
    )


@inlined
def _account_pair(system: System, state: State, work: Workspace, i, j, k, step):
    position = state.position
    e0, e1, e2 = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1], position[i, 2] - position[j, 2]
    distance = (e0 * e0 + e1 * e1 + e2 * e2) ** 0.5
    n0, n1, n2 = e0 / distance, e1 / distance, e2 / distance
    overlap = position[i, 3] + position[j, 3] - distance
    arm, other = position[i, 3] - 0.5 * overlap, position[j, 3] - 0.5 * overlap
    a0, a1, a2, a3, a4, a5 = _mean_velocity(system, state, work, i, step)
    b0, b1, b2, b3, b4, b5 = _mean_velocity(system, state, work, j, step)
    w0, w1, w2 = arm * a3 + other * b3, arm * a4 + other * b4, arm * a5 + other * b5
    u0 = a0 - b0 - (w1 * n2 - w2 * n1)
    u1 = a1 - b1 - (w2 * n0 - w0 * n2)
    u2 = a2 - b2 - (w0 * n1 - w1 * n0)
    _account(state, work.pair_force, k, (n0, n1, n2), (u0, u1, u2), (a3 - b3, a4 - b4, a5 - b5), step)


@inlined
def _account_boundary(system: System, state: State, work: Workspace, i, k, step):
    normal = state.boundary_contact[k, 0], state.boundary_contact[k, 1], state.boundary_contact[k, 2]
    n0, n1, n2 = normal
    b = system.boundaries.body[state.boundary_shape[k]]
    _, (v0, v1, v2), arm = contact_point(state, b, i, normal, state.boundary_contact[k, 3])
    a0, a1, a2, a3, a4, a5 = _mean_velocity(system, state, work, i, step)
    u0 = a0 - v0 - arm * (a4 * n2 - a5 * n1)
    u1 = a1 - v1 - arm * (a5 * n0 - a3 * n2)
    u2 = a2 - v2 - arm * (a3 * n1 - a4 * n0)
    moving, force = state.body_velocity, work.boundary_force
    turning = a3 - moving[b, 3], a4 - moving[b, 4], a5 - moving[b, 5]
    _account(state, force, k, normal, (u0, u1, u2), turning, step)
    push = force[k, 0]
    power = (push * n0 + force[k, 2]) * v0 + (push * n1 + force[k, 3]) * v1 + (push * n2 + force[k, 4]) * v2
    power += force[k, 5] * moving[b, 3] + force[k, 6] * moving[b, 4] + force[k, 7] * moving[b, 5]
    state.account[BOUNDARY_WORK] += step * power


@inlined
def _account(state: State, force, k, normal, speed, turning, step):
    """Adds what a contact takes at these mean speeds."""
    u0, u1, u2 = speed
    separation = u0 * normal[0] + u1 * normal[1] + u2 * normal[2]
    tangential = force[k, 2] * u0 + force[k, 3] * u1 + force[k, 4] * u2
    rolling = force[k, 5] * turning[0] + force[k, 6] * turning[1] + force[k, 7] * turning[2]
    state.account[NORMAL_LOSS] -= step * force[k, 1] * separation
    state.account[FRICTION_LOSS] -= step * tangential
    state.account[ROLLING_LOSS] -= step * rolling


@kernel
def read_energy(system: System, state: State, step: float, energy):
    """Reads the energies half a step before the state's positions, where its velocities belong.

    Args:
        system, state: of the grains.
        step: h of the last step [s].
        energy: gets kinetic energy, that of the weight, that of the normal springs less that of adhesion [J], (3,).
    """
    energy[KINETIC] = energy[POTENTIAL] = energy[ELASTIC] = 0.0
    half = 0.5 * step
    for i in range(state.number[0]):
        if state.clump[i] >= 0:
            _add_clump_energy(system, state, i, half, energy)
            continue
        mass, inertia = 1.0 / state.velocity[i, 3], (1.0 / state.spin[i, 3] if state.spin[i, 3] > 0.0 else 0.0)
        for c in range(3):
            energy[KINETIC] += 0.5 * (mass * state.velocity[i, c] ** 2 + inertia * state.spin[i, c] ** 2)
            energy[POTENTIAL] -= mass * system.gravity[c] * (state.position[i, c] - half * state.velocity[i, c])
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            j = state.pair_other[k]
            square = 0.0
            for c in range(3):
                square += (
                    state.position[i, c] - state.position[j, c] - half * (state.velocity[i, c] - state.velocity[j, c])
                ) ** 2
            both = state.position[i, 3] + state.position[j, 3]
            if square < both * both:
                pair = state.material[i] * system.pairs.materials + state.material[j]
                radius = state.position[i, 3] * state.position[j, 3] / both
                energy[ELASTIC] += _contact_energy(system, pair, radius, both - square**0.5)
        for k in range(state.boundary_start[i], state.boundary_start[i + 1]):
            energy[ELASTIC] += _boundary_energy(system, state, i, k, half)


@inlined
def _add_clump_energy(system: System, state: State, i, half, energy):
    """Adds a sphere's share of the kinetic energy of its clump, and of that of the weight."""
    clump, mass = state.clump[i], 1.0 / state.velocity[i, 3]
    velocity, momentum = state.clump_velocity, state.clump_momentum
    for c in range(3):
        turning = momentum[clump, c] * state.spin[i, c] * velocity[clump, 3]
        energy[KINETIC] += 0.5 * mass * (velocity[clump, c] ** 2 + turning)
        height = state.clump_position[clump, c] - half * velocity[clump, c]
        energy[POTENTIAL] -= mass * system.gravity[c] * height


@inlined
def _boundary_energy(system: System, state: State, i, k, half):
    """Energy in a contact with a boundary."""
    boundaries, s = system.boundaries, state.boundary_shape[k]
    b, radius = boundaries.body[s], state.position[i, 3]
    moving, place = state.body_velocity, state.body_position
    e0, e1, e2 = (
        state.position[i, 0] - place[b, 0],
        state.position[i, 1] - place[b, 1],
        state.position[i, 2] - place[b, 2],
    )
    # the grain, moved back relative to the body
    r0 = state.velocity[i, 0] - moving[b, 0] - moving[b, 4] * e2 + moving[b, 5] * e1
    r1 = state.velocity[i, 1] - moving[b, 1] - moving[b, 5] * e0 + moving[b, 3] * e2
    r2 = state.velocity[i, 2] - moving[b, 2] - moving[b, 3] * e1 + moving[b, 4] * e0
    if boundaries.kind[s] >= MESH:
        if state.boundary_history[k, 3] == 0.0:
            return 0.0
        contact = state.boundary_contact
        overlap = contact[k, 3] - half * (r0 * contact[k, 0] + r1 * contact[k, 1] + r2 * contact[k, 2])
    else:
        point = to_body(
            state,
            b,
            state.position[i, 0] - half * r0,
            state.position[i, 1] - half * r1,
            state.position[i, 2] - half * r2,
        )
        _, _, _, distance = nearest(boundaries, s, point)
        overlap = radius - distance
    if overlap <= 0.0:
        return 0.0
    pair = state.material[i] * system.pairs.materials + boundaries.material[s]
    return _contact_energy(system, pair, radius, overlap)


@inlined
def _contact_energy(system: System, pair, radius, overlap):
    return (
        elastic_energy(system.pairs, pair, radius, overlap) - system.pairs.constant[pair, ADHESION] * radius * overlap
    )
