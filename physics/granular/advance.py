"""Steps of granular media: leapfrog."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.accounts import add_accounts
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.body_motion import move_bodies
from grouser.physics.granular.clump_motion import move_clumps
from grouser.physics.granular.forces import add_contact_forces
from grouser.physics.granular.neighbours import rebuild
from grouser.physics.granular.sleeping import agree_on_rest, count_rest, fall_asleep
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.tiles import SoilState

# Why steps ended: all made, the lists have no room (`Workspace.needed`), or a position is not finite.
DONE, NEEDS_ROOM, DIVERGED = range(3)


@kernel
def run_steps(
    system: System, state: State, work: Workspace, soils: Soils, cells: SoilState, step: float, count, accounted
):  # fmt: skip
    """Makes steps; nothing but the state depends on how they are divided into calls, unless grains may sleep.

    Grains fall asleep at the end of a call. Velocities are those half a step before the positions: v += h F(x, v)/m,
    then x += h v. Bodies move last.

    Args:
        system, state, work: of the grains, packed.
        soils, cells: of soft ground, packed (`soft_ground`).
        step: h [s].
        count: number of steps.
        accounted: whether the accounts of energy are kept and the force of each contact is stored; the motion is the
            same to the last bit.

    Returns:
        Number of steps made, and why they ended.
    """
    made, ended = 0, DONE
    if state.clumps[0] > 0:
        agree_on_rest(state, work)
    while made < count and ended == DONE:
        if state.stale[0] and not rebuild(system, state, work):
            ended = NEEDS_ROOM
            break
        add_contact_forces(system, state, work, soils, cells, step, accounted)
        ended = move_on(system, state, work, step, accounted)
        made += 1
    if system.rest_steps > 0 and made > 0 and ended == DONE:
        fall_asleep(system, state, work)
    return made, ended


@inlined
def move_on(system: System, state: State, work: Workspace, step, accounted):
    """Moves grains and bodies by a step, for which the forces are known; returns `DONE` or `DIVERGED`."""
    if state.clumps[0] > 0:
        move_clumps(system, state, work, step)
    _kick(system, state, work, step)
    if system.rest_steps > 0:
        count_rest(system, state, work)
    if accounted:
        add_accounts(system, state, work, step)
    ended = _drift(system, state, step)
    move_bodies(system.boundaries, state, step)
    note_travel(system, state)
    state.time[0] += step
    return ended


@kernel
def clear_reactions(state: State, work: Workspace):
    """Starts to sum the impulses on the bodies, about where their origins are now."""
    for b in range(state.travel.shape[0]):
        work.stiffening[b] = 0.0
        for c in range(6):
            work.impulse[b, c] = 0.0
        for c in range(3):
            work.reference[b, c] = state.body_position[b, c]


@kernel
def has_room(state: State):
    """Whether the lists have room for a quarter more than they hold: more than they grow by in some steps."""
    pairs, contacts = state.pair_other.shape[0], state.boundary_shape.shape[0]
    return 1.25 * state.listed[0] <= pairs and 1.25 * state.listed[1] <= contacts


@inlined
def _kick(system: System, state: State, work: Workspace, step):
    """Velocities by a step."""
    g0, g1, g2 = step * system.gravity[0], step * system.gravity[1], step * system.gravity[2]
    velocity, spin, force, torque = state.velocity, state.spin, work.force, work.torque
    for i in range(state.number[0]):
        if state.asleep[i]:
            continue
        light, loose = step * velocity[i, 3], step * spin[i, 3]
        velocity[i, 0] += light * force[i, 0] + g0
        velocity[i, 1] += light * force[i, 1] + g1
        velocity[i, 2] += light * force[i, 2] + g2
        spin[i, 0] += loose * torque[i, 0]
        spin[i, 1] += loose * torque[i, 1]
        spin[i, 2] += loose * torque[i, 2]


@inlined
def _drift(system: System, state: State, step):
    """Positions by a step; marks the lists as stale once a grain has moved by half the skin since they were built."""
    position, velocity, built = state.position, state.velocity, state.built
    farthest = total = 0.0
    for i in range(state.number[0]):
        if state.asleep[i]:
            continue
        position[i, 0] += step * velocity[i, 0]
        position[i, 1] += step * velocity[i, 1]
        position[i, 2] += step * velocity[i, 2]
        e0, e1, e2 = position[i, 0] - built[i, 0], position[i, 1] - built[i, 1], position[i, 2] - built[i, 2]
        way = e0 * e0 + e1 * e1 + e2 * e2
        farthest = max(farthest, way)
        total += way
    if farthest > 0.25 * system.skin * system.skin:
        state.stale[0] = 1
    return DONE if math.isfinite(total) else DIVERGED


@inlined
def note_travel(system: System, state: State):
    """Marks the lists as stale once a body has moved by half the skin, and its gap, since they were built."""
    for b in range(state.travel.shape[0]):
        if state.travel[b] > state.gap[b] + 0.5 * system.skin:
            state.stale[0] = 1
