"""Forces of all contacts on grains and bodies."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.clump_motion import clump_mobility
from grouser.physics.granular.contact_law import contact_force
from grouser.physics.granular.grain_force import add_grain_force
from grouser.physics.granular.manifold import find_manifold
from grouser.physics.granular.shapes import MESH, SOIL, nearest, to_body, to_world_axes
from grouser.physics.granular.sleeping import find_quiet, wake_beside, wake_on_body
from grouser.physics.granular.soft_ground import add_soil_force
from grouser.physics.granular.soil_surface import is_smaller_than_cells, surface_below_grain
from grouser.physics.soil.laws import Soils
from grouser.physics.soil.tiles import SoilState


@kernel
def add_contact_forces(
    system: System, state: State, work: Workspace, soils: Soils, cells: SoilState, step: float, recorded
):  # fmt: skip
    """Fills force and torque on each grain, and adds the impulses on the bodies; contacts advance by a step.

    Args:
        system, state, work: of the grains.
        soils, cells: of soft ground; the cells change.
        step: h [s].
        recorded: whether the force of each contact is stored.
    """
    if system.rest_steps > 0 and work.unquiet[0]:
        find_quiet(system, state, work)
    for i in range(state.number[0]):
        if not work.quiet[i]:
            for c in range(3):
                work.force[i, c] = work.torque[i, c] = 0.0
    add_pair_forces(system, state, work, 0, state.number[0], step, recorded, False)
    add_boundary_forces(system, state, work, soils, cells, step, recorded)


@inlined
def add_pair_forces(system: System, state: State, work: Workspace, first, end, step, recorded, apart):
    """Forces between grains: those on the first of the pairs of a row are summed before they are stored.

    Args:
        system, state, work: of the grains.
        first, end: rows whose pairs are computed.
        step: h [s].
        recorded: whether the force of each contact is stored.
        apart: whether those on the second of each pair are stored by themselves, in `work.reaction`, and the sums of
            the rows replace what is in `work`, so that rows do not depend on each other.
    """
    position, velocity, spin, force, torque = state.position, state.velocity, state.spin, work.force, work.torque
    start, history, reaction, clumped = state.pair_start, state.pair_history, work.reaction, state.clumps[0] > 0
    for i in range(first, end):
        if work.quiet[i]:
            continue
        x, y, z, radius = position[i, 0], position[i, 1], position[i, 2], position[i, 3]
        f0 = f1 = f2 = t0 = t1 = t2 = 0.0
        row, sleeps = state.material[i] * system.pairs.materials, state.asleep[i]
        for k in range(start[i], start[i + 1]):
            j = state.pair_other[k]
            if sleeps and state.asleep[j]:
                continue
            e0, e1, e2, both = x - position[j, 0], y - position[j, 1], z - position[j, 2], radius + position[j, 3]
            square = e0 * e0 + e1 * e1 + e2 * e2
            if square >= both * both:
                if history[k, 3] > 0.0:
                    if sleeps != state.asleep[j]:
                        wake_beside(state, work, i, j)
                    _forget(history, k)
                if recorded:
                    _forget(work.pair_force, k)
                if apart:
                    _forget(reaction, k)
                continue
            if sleeps != state.asleep[j]:
                wake_beside(state, work, i, j)
            distance = math.sqrt(square)
            n0, n1, n2 = e0 / distance, e1 / distance, e2 / distance
            overlap = both - distance
            # both arms reach to one point, midway in the overlap: they add up to the distance
            arm, other = radius - 0.5 * overlap, position[j, 3] - 0.5 * overlap
            w0, w1, w2 = (
                arm * spin[i, 0] + other * spin[j, 0],
                arm * spin[i, 1] + other * spin[j, 1],
                arm * spin[i, 2] + other * spin[j, 2],
            )
            speed = (
                velocity[i, 0] - velocity[j, 0] - (w1 * n2 - w2 * n1),
                velocity[i, 1] - velocity[j, 1] - (w2 * n0 - w0 * n2),
                velocity[i, 2] - velocity[j, 2] - (w0 * n1 - w1 * n0),
            )
            turning = spin[i, 0] - spin[j, 0], spin[i, 1] - spin[j, 1], spin[i, 2] - spin[j, 2]
            mobility = velocity[i, 3] + velocity[j, 3]
            if clumped:
                mobility = clump_mobility(state, i, n0, n1, n2) + clump_mobility(state, j, n0, n1, n2)
            push, damped, g0, g1, g2, m0, m1, m2 = contact_force(
                system.pairs, row + state.material[j], radius * position[j, 3] / both,
                1.0 / mobility, overlap, (n0, n1, n2), speed, turning, step, history, k,
            )  # fmt: skip
            if recorded:
                _store(work.pair_force, k, push, damped, g0, g1, g2, m0, m1, m2)
            p0, p1, p2 = push * n0 + g0, push * n1 + g1, push * n2 + g2
            c0, c1, c2 = n1 * g2 - n2 * g1, n2 * g0 - n0 * g2, n0 * g1 - n1 * g0
            f0, f1, f2 = f0 + p0, f1 + p1, f2 + p2
            t0, t1, t2 = t0 + m0 - arm * c0, t1 + m1 - arm * c1, t2 + m2 - arm * c2
            if apart:
                reaction[k, 0], reaction[k, 1], reaction[k, 2] = p0, p1, p2
                reaction[k, 3], reaction[k, 4], reaction[k, 5] = m0 + other * c0, m1 + other * c1, m2 + other * c2
                continue
            force[j, 0] -= p0
            force[j, 1] -= p1
            force[j, 2] -= p2
            torque[j, 0] -= m0 + other * c0
            torque[j, 1] -= m1 + other * c1
            torque[j, 2] -= m2 + other * c2
        if apart:
            force[i, 0], force[i, 1], force[i, 2] = f0, f1, f2
            torque[i, 0], torque[i, 1], torque[i, 2] = t0, t1, t2
            continue
        force[i, 0] += f0
        force[i, 1] += f1
        force[i, 2] += f2
        torque[i, 0] += t0
        torque[i, 1] += t1
        torque[i, 2] += t2


@inlined
def add_boundary_forces(system: System, state: State, work: Workspace, soils: Soils, cells: SoilState, step, recorded):
    """Forces of the boundaries, in the order of the grains and of the shapes."""
    boundaries, history = system.boundaries, state.boundary_history
    for i in range(state.number[0]):
        if work.quiet[i]:
            continue
        k, end = state.boundary_start[i], state.boundary_start[i + 1]
        while k < end:
            s = state.boundary_shape[k]
            if state.asleep[i] and boundaries.body[s] == 0:
                k += boundaries.slots[s]
                continue
            if recorded:
                for slot in range(k, k + boundaries.slots[s]):
                    _forget(work.boundary_force, slot)
            if boundaries.kind[s] >= MESH:
                _add_manifold(system, s, state, i, k, work, step, recorded)
            elif boundaries.kind[s] == SOIL and is_smaller_than_cells(system.soil_cell, state.position[i, 3]):
                _add_surface(system, s, state, i, k, cells, work, step, recorded)
            elif boundaries.kind[s] == SOIL:
                add_soil_force(system, s, state, i, k, soils, cells, work, step)
            else:
                b = boundaries.body[s]
                point = to_body(state, b, state.position[i, 0], state.position[i, 1], state.position[i, 2])
                n0, n1, n2, distance = nearest(boundaries, s, point)
                if distance < state.position[i, 3]:
                    normal = to_world_axes(state, b, n0, n1, n2)
                    overlap = state.position[i, 3] - distance
                    add_boundary_force(system, s, state, i, k, normal, overlap, work, step, recorded)
                elif history[k, 3] > 0.0:
                    work.woken[i] = state.asleep[i]
                    _forget(history, k)
            k += boundaries.slots[s]


@kernel
def _add_surface(system: System, s, state: State, i, k, cells: SoilState, work: Workspace, step, recorded):
    """Force of the surface of soft ground on a grain that is smaller than its cells."""
    x, y, z, radius = state.position[i, 0], state.position[i, 1], state.position[i, 2], state.position[i, 3]
    n0, n1, n2, distance = surface_below_grain(system.soil_cell, cells, x, y, z)
    if distance < radius:
        height = state.boundary_contact[k, 3]
        add_boundary_force(system, s, state, i, k, (n0, n1, n2), radius - distance, work, step, recorded)
        state.boundary_contact[k, 3] = height  # of the ground, by which the grain wakes
    else:
        _forget(state.boundary_history, k)


@kernel
def _add_manifold(system: System, s, state: State, i, first, work: Workspace, step, recorded):
    """Forces of a mesh or solids on a grain, whose boundary contacts with them begin at `first`."""
    count = find_manifold(system.boundaries, s, state, i, first, work)
    found = work.manifold
    for slot in range(system.boundaries.slots[s]):
        touched = -1
        for k in range(count):
            if found[k, 7] == slot:
                touched = k
        if touched < 0:
            if state.boundary_history[first + slot, 3] > 0.0:
                work.woken[i] = state.asleep[i]
            _forget(state.boundary_history, first + slot)
        else:
            normal = found[touched, 3], found[touched, 4], found[touched, 5]
            add_boundary_force(system, s, state, i, first + slot, normal, found[touched, 6], work, step, recorded)


@kernel
def add_boundary_force(
    system: System, s, state: State, i, k, normal, overlap, work: Workspace, step: float, recorded
):  # fmt: skip
    """Force of a shape on a grain, and its reaction on the body at the same point.

    Args:
        system, s: the shape.
        state, i: the grain.
        k: the contact.
        normal: unit normal towards the grain, world axes.
        overlap: [m].
        work: force, torque and impulses are added.
        step: h [s].
        recorded: whether the force is stored.
    """
    n0, n1, n2 = normal
    b, spin, radius = system.boundaries.body[s], state.spin, state.position[i, 3]
    point, (v0, v1, v2), arm = contact_point(state, b, i, normal, overlap)
    speed = (
        state.velocity[i, 0] - v0 - arm * (spin[i, 1] * n2 - spin[i, 2] * n1),
        state.velocity[i, 1] - v1 - arm * (spin[i, 2] * n0 - spin[i, 0] * n2),
        state.velocity[i, 2] - v2 - arm * (spin[i, 0] * n1 - spin[i, 1] * n0),
    )
    moving = state.body_velocity
    if state.asleep[i]:
        wake_on_body(system, state, work, b, i, (v0, v1, v2))
    turning = spin[i, 0] - moving[b, 3], spin[i, 1] - moving[b, 4], spin[i, 2] - moving[b, 5]
    pair = state.material[i] * system.pairs.materials + system.boundaries.material[s]
    push, damped, g0, g1, g2, m0, m1, m2 = contact_force(
        system.pairs, pair, radius, 1.0 / clump_mobility(state, i, n0, n1, n2), overlap, normal, speed, turning, step,
        state.boundary_history, k,
    )  # fmt: skip
    contact = state.boundary_contact
    contact[k, 0], contact[k, 1], contact[k, 2], contact[k, 3] = n0, n1, n2, overlap
    if recorded:
        _store(work.boundary_force, k, push, damped, g0, g1, g2, m0, m1, m2)
    f0, f1, f2 = push * n0 + g0, push * n1 + g1, push * n2 + g2
    add_grain_force(work, i, arm, normal, (f0, f1, f2), (g0, g1, g2), (m0, m1, m2))
    r0, r1, r2 = point[0] - work.reference[b, 0], point[1] - work.reference[b, 1], point[2] - work.reference[b, 2]
    work.stiffening[b] += step * state.boundary_history[k, 3]
    impulse = work.impulse
    impulse[b, 0] -= step * f0
    impulse[b, 1] -= step * f1
    impulse[b, 2] -= step * f2
    impulse[b, 3] -= step * (r1 * f2 - r2 * f1 + m0)
    impulse[b, 4] -= step * (r2 * f0 - r0 * f2 + m1)
    impulse[b, 5] -= step * (r0 * f1 - r1 * f0 + m2)


@inlined
def contact_point(state: State, b, i, normal, overlap):
    """Point of a contact with a body, midway in the overlap [m], the body's velocity there [m/s], and the arm [m]."""
    arm = state.position[i, 3] - 0.5 * overlap
    p0, p1, p2 = (
        state.position[i, 0] - arm * normal[0],
        state.position[i, 1] - arm * normal[1],
        state.position[i, 2] - arm * normal[2],
    )
    place, moving = state.body_position, state.body_velocity
    r0, r1, r2 = p0 - place[b, 0], p1 - place[b, 1], p2 - place[b, 2]
    velocity = (
        moving[b, 0] + moving[b, 4] * r2 - moving[b, 5] * r1,
        moving[b, 1] + moving[b, 5] * r0 - moving[b, 3] * r2,
        moving[b, 2] + moving[b, 3] * r1 - moving[b, 4] * r0,
    )
    return (p0, p1, p2), velocity, arm


@inlined
def _store(force, k, push, damped, g0, g1, g2, m0, m1, m2):
    force[k, 0], force[k, 1] = push, damped
    force[k, 2], force[k, 3], force[k, 4] = g0, g1, g2
    force[k, 5], force[k, 6], force[k, 7] = m0, m1, m2


@inlined
def _forget(rows, k):
    for c in range(rows.shape[1]):
        rows[k, c] = 0.0
