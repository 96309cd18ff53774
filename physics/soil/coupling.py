"""Coupling of wheels and soil: linearised forces in the equations of motion, and the soil's update by the motion."""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.jacobian import list_entries, point_rows, turning_rows
from grouser.physics.soil.bulldozing import deposit_soil, slide_slopes
from grouser.physics.soil.contact import commit_cells, measure_cell_forces
from grouser.physics.soil.footprint import find_cells, find_patches, place_wheel
from grouser.physics.soil.memory import MEMORY, shown_slip, slip_of, speeds, updated_memory
from grouser.physics.soil.stress_contact import commit_stress, measure_stress_forces
from grouser.physics.soil.tiles import SoilState
from grouser.physics.soil.wheels import DEFORMABLE, SINKAGE_OF_WHEEL, SLIP, SLIP_ANGLE, STRESS, Wheels, WheelWorkspace

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics


@kernel
def needs_more_tiles(wheels: Wheels, state: SoilState):
    """Whether a step might open more tiles than the arrays can hold."""
    return state.tile_count[0] + wheels.tiles[0] > state.tile_place.shape[0]


@kernel
def apply_wheel_forces(
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    state: SoilState,
    step: float,
    work: WheelWorkspace,
    mass,
    force,
):
    """Adds the soil's forces on every wheel at the predicted motion to the force, and their slopes to the mass matrix.

    Args:
        wheels, model: the machine.
        terrain: natural ground.
        kinematics: filled for the current state.
        state: of the soil.
        step: h [s].
        work: of the wheels.
        mass, force: of the equations of motion, changed in place.
    """
    for w in range(wheels.body.shape[0]):
        work.touched[w] = 0
        work.window[w, 2] = 0
        work.wrench[w, :] = 0.0
        if not place_wheel(wheels, w, terrain, kinematics, work):
            continue
        if wheels.level[w] == STRESS:
            measure_stress_forces(
                wheels, w, terrain, kinematics.origin, _weight(model, work.frame[w]), step, state, work
            )
        else:
            find_cells(wheels, w, terrain, kinematics.origin, state, step, work)
            slip = slip_of(state.wheel_motion[w, 0], state.wheel_motion[w, 1])
            if wheels.level[w] == DEFORMABLE:
                find_patches(wheels, w, slip, work)
            measure_cell_forces(wheels, w, slip, step, state, work)
        if work.touched[w] == 0:
            continue
        _add_to_equations(model, wheels.body[w], kinematics.column, step, w, work, mass, force)


@inlined
def _add_to_equations(model: MultibodyModel, body, column, step: float, w, work: WheelWorkspace, mass, force):
    """Adds J^T F to the force and h J^T D J to the mass matrix (lower triangle), J of the wheel's centre."""
    jacobian, pushed, entry, slope, wrench = work.jacobian, work.pushed, work.entry, work.slope[w], work.wrench[w]
    for k in range(6):
        for m in range(k):
            slope[m, k] = slope[k, m]
    _fill_jacobian(model, body, column, w, work)
    for a in range(list_entries(jacobian, 6, entry)):
        d = entry[a]
        pull = 0.0
        for k in range(6):
            pull += jacobian[k, d] * wrench[k]
            total = 0.0
            for m in range(6):
                total += slope[k, m] * jacobian[m, d]
            pushed[k, d] = step * total
        force[d] += pull
        for b in range(a + 1):
            e = entry[b]
            total = 0.0
            for k in range(6):
                total += jacobian[k, e] * pushed[k, d]
            mass[d, e] += total


@inlined
def _fill_jacobian(model: MultibodyModel, body, column, w, work: WheelWorkspace):
    """Fills the Jacobian of the twist of a wheel's centre, world axes."""
    x, y, z = work.centre[w, 0], work.centre[w, 1], work.centre[w, 2]
    parent, start, rate, rows = model.body_parent, model.column_start, model.column_rate, work.jacobian
    point_rows(parent, start, rate, column, body, -1, x, y, z, work.axes, rows, 0)
    turning_rows(parent, start, rate, column, body, -1, work.axes, rows, 3)


@inlined
def _weight(model: MultibodyModel, frame):
    """Gravity normal to the ground [m/s2]."""
    g = model.gravity
    return abs(g[0] * frame[2, 0] + g[1] * frame[2, 1] + g[2] * frame[2, 2])


@kernel
def commit_wheels(
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    velocity,
    step: float,
    state: SoilState,
    work: WheelWorkspace,
):
    """Advances the soil by the solved motion, and takes the measurements of every wheel.

    Args:
        wheels, model: the machine.
        terrain: natural ground.
        kinematics: of the start of the step.
        velocity: coordinate rates at the end of the step.
        step: h [s].
        state: of the soil, changed.
        work: of the wheels, as filled by `apply_wheel_forces`.
    """
    for w in range(wheels.body.shape[0]):
        twist = work.end_twist
        _fill_jacobian(model, wheels.body[w], kinematics.column, w, work)
        for k in range(6):
            twist[k] = 0.0
            for d in range(velocity.shape[0]):
                twist[k] += work.jacobian[k, d] * velocity[d]
        work.figure[w, :] = 0.0
        _measure_motion(wheels, w, twist, step, state, work)
        if work.touched[w] == 0:
            continue
        origin = kinematics.origin
        if wheels.level[w] == STRESS:
            commit_stress(wheels, w, twist, terrain, origin, _weight(model, work.frame[w]), step, state, work)
        else:
            slip = slip_of(state.wheel_motion[w, 0], state.wheel_motion[w, 1])
            commit_cells(wheels, w, slip, twist, origin, step, state, work, work.flow)
        k, share = work.soil[w, 0], work.figure[w, SINKAGE_OF_WHEEL] / (2.0 * wheels.radius[w])
        work.greatest_sinkage[k] = max(work.greatest_sinkage[k], share)
        for k in range(6):
            state.soil_work[w] += 0.5 * step * work.wrench[w, k] * (work.twist[w, k] + twist[k])
        if wheels.level[w] == DEFORMABLE and wheels.bulldozing[0]:
            deposit_soil(wheels, w, work.flow, origin, state, work)
            state.moved_soil[w] += work.flow[0]
            slide_slopes(wheels, w, state, work)


@inlined
def _measure_motion(wheels: Wheels, w, twist, step: float, state: SoilState, work: WheelWorkspace):
    """Measures slip and slip angle of a wheel, and updates the soil's memory of its motion."""
    figure, motion = work.figure[w], state.wheel_motion[w]
    rim, ahead, aside = speeds(wheels, w, work.axis[w], work.frame[w], twist)
    figure[SLIP], figure[SLIP_ANGLE] = shown_slip(rim, ahead, aside)
    if work.touched[w] > 0:
        motion[0], motion[1], motion[2], motion[3] = updated_memory(motion, rim, ahead, aside, wheels.radius[w], step)
    else:
        motion[:] = 0.0
        # the wheel leaves its own depression
        gone = step * math.sqrt(ahead * ahead + aside * aside) / (MEMORY * wheels.radius[w])
        state.wheel_sinkage[w] /= 1.0 + gone
