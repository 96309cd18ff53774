"""Motion of clumps: rigid bodies whose spheres are rows of the grains.

Contacts know spheres alone. The forces on the spheres of a clump move it, and each sphere then gets the force that
moves it with the clump: grains and spheres take the same step.

The angular momentum is kept, and changed by the moment of the forces at the time of the positions. A clump turns about
the axis and at the rate that it has in the middle of the step (`multibody.free_body`): without forces its angular
momentum stays as it is to the last bit, and its energy without drift.
"""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import quaternion_exponential, quaternion_product, rotation_matrix
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.multibody.free_body import mean_rate

# Way by the radius from which a sphere has been moved: less is rounding [-].
_MOVED = 1e-9


@kernel
def clump_mobility(state: State, i, n0, n1, n2):
    """Acceleration of a grain's contact point along the normal n by a force of 1 N along it there [1/kg].

    Of a clump it is 1/m + (r x n) I^-1 (r x n), with r from its centre of mass to that of the sphere that touches.
    No body gets more mobile by parts that are fixed to it: a clump is never lighter than the sphere alone.
    """
    c = state.clump[i]
    if c < 0:
        return state.velocity[i, 3]
    b0, b1, b2 = _to_axes(_axes(state, c), n0, n1, n2)
    r0, r1, r2 = state.offset[i, 0], state.offset[i, 1], state.offset[i, 2]
    m0, m1, m2 = r1 * b2 - r2 * b1, r2 * b0 - r0 * b2, r0 * b1 - r1 * b0
    inertia = state.clump_inertia
    return state.clump_velocity[c, 3] + m0 * m0 / inertia[c, 0] + m1 * m1 / inertia[c, 1] + m2 * m2 / inertia[c, 2]


@kernel
def move_clumps(system: System, state: State, work: Workspace, step: float):
    """Moves the clumps that are awake by a step, and puts forces on their spheres that move these with them.

    Args:
        system, state, work: of the grains; velocities and positions of spheres follow as those of other grains.
        step: h [s].
    """
    _gather(state, work)
    for c in range(state.clumps[0]):
        if work.clump_awake[c]:
            _move(system, state, work, c, step)
    for i in range(state.number[0]):
        if state.clump[i] >= 0 and not state.asleep[i]:
            _hold(system, state, work, i, step)


@inlined
def _gather(state: State, work: Workspace):
    """Forces and moments on clumps about their centres."""
    load, force, torque = work.clump_load, work.force, work.torque
    for c in range(state.clumps[0]):
        work.clump_awake[c] = False
        for k in range(6):
            load[c, k] = 0.0
    for i in range(state.number[0]):
        c = state.clump[i]
        if c < 0 or state.asleep[i]:
            continue
        work.clump_awake[c] = True
        r0, r1, r2 = (
            state.position[i, 0] - state.clump_position[c, 0],
            state.position[i, 1] - state.clump_position[c, 1],
            state.position[i, 2] - state.clump_position[c, 2],
        )
        load[c, 0] += force[i, 0]
        load[c, 1] += force[i, 1]
        load[c, 2] += force[i, 2]
        load[c, 3] += torque[i, 0] + r1 * force[i, 2] - r2 * force[i, 1]
        load[c, 4] += torque[i, 1] + r2 * force[i, 0] - r0 * force[i, 2]
        load[c, 5] += torque[i, 2] + r0 * force[i, 1] - r1 * force[i, 0]


@kernel
def _move(system: System, state: State, work: Workspace, c, step):
    """Moves a clump; its load becomes its angular velocity."""
    load, velocity, momentum, inertia = work.clump_load, state.clump_velocity, state.clump_momentum, state.clump_inertia
    for k in range(3):
        velocity[c, k] += step * (velocity[c, 3] * load[c, k] + system.gravity[k])
        momentum[c, k] += step * load[c, 3 + k]
        state.clump_position[c, k] += step * velocity[c, k]
    axes, turn = _axes(state, c), state.clump_turn
    l0, l1, l2 = _to_axes(axes, momentum[c, 0], momentum[c, 1], momentum[c, 2])
    principal = inertia[c, 0], 0.0, 0.0, inertia[c, 1], 0.0, inertia[c, 2]
    w0, w1, w2 = mean_rate(principal, l0 / inertia[c, 0], l1 / inertia[c, 1], l2 / inertia[c, 2], step)
    load[c, 0], load[c, 1], load[c, 2] = _to_world(axes, w0, w1, w2)
    x, y, z, w = quaternion_product(
        turn[c, 0], turn[c, 1], turn[c, 2], turn[c, 3], *quaternion_exponential(step * w0, step * w1, step * w2)
    )
    scale = 1.0 / (x * x + y * y + z * z + w * w) ** 0.5
    turn[c, 0], turn[c, 1], turn[c, 2], turn[c, 3] = scale * x, scale * y, scale * z, scale * w


@inlined
def _hold(system: System, state: State, work: Workspace, i, step):
    """Force and torque on a sphere with which it is where its clump is after the step, and turns as it does."""
    c, velocity, spin, place = state.clump[i], state.velocity, state.spin, _place(state, i)
    for k in range(3):
        way = place[k] - state.position[i, k]
        work.force[i, k] = ((way / step - velocity[i, k]) / step - system.gravity[k]) / velocity[i, 3]
        work.torque[i, k] = (work.clump_load[c, k] - spin[i, k]) / (step * spin[i, 3])


@kernel
def follow_spheres(state: State, work: Workspace):
    """Moves clumps, without a turn, by the mean of the ways that some of their spheres have been moved.

    All spheres are in their place in the clump after it.
    """
    load = work.clump_load
    for c in range(state.clumps[0]):
        for k in range(4):
            load[c, k] = 0.0
    for i in range(state.number[0]):
        c = state.clump[i]
        if c < 0:
            continue
        place, square = _place(state, i), 0.0
        for k in range(3):
            square += (state.position[i, k] - place[k]) ** 2
        if square > (_MOVED * state.position[i, 3]) ** 2:
            load[c, 3] += 1.0
            for k in range(3):
                load[c, k] += state.position[i, k] - place[k]
    for c in range(state.clumps[0]):
        for k in range(3):
            state.clump_position[c, k] += load[c, k] / max(load[c, 3], 1.0)
    for i in range(state.number[0]):
        if state.clump[i] >= 0:
            state.position[i, 0], state.position[i, 1], state.position[i, 2] = _place(state, i)


@inlined
def _place(state: State, i):
    """Place of a sphere in its clump, world frame [m]."""
    c = state.clump[i]
    x, y, z = _to_world(_axes(state, c), state.offset[i, 0], state.offset[i, 1], state.offset[i, 2])
    return state.clump_position[c, 0] + x, state.clump_position[c, 1] + y, state.clump_position[c, 2] + z


@inlined
def _axes(state: State, c):
    """Rotation matrix of a clump's principal axes, row by row."""
    turn = state.clump_turn
    return rotation_matrix(turn[c, 0], turn[c, 1], turn[c, 2], turn[c, 3])


@inlined
def _to_world(r, x, y, z):
    return r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z


@inlined
def _to_axes(r, x, y, z):
    return r[0] * x + r[3] * y + r[6] * z, r[1] * x + r[4] * y + r[7] * z, r[2] * x + r[5] * y + r[8] * z
