"""Coupling of wheels and soil: linearised forces in the equations of motion, and the soil's update by the motion."""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.jacobian import block_of, clear_rows, point_rows, turning_rows
from grouser.physics.multibody.linear_force import add_linear_force, find_motion
from grouser.physics.soil.bulldozing import deposit_soil, slide_slopes
from grouser.physics.soil.contact import commit_cells, measure_cell_forces
from grouser.physics.soil.footprint import find_cells, find_patches, place_wheel
from grouser.physics.soil.memory import MEMORY, shown_slip, slip_of, speeds, turning_speed, updated_memory, updated_roll
from grouser.physics.soil.stress_contact import commit_stress, measure_stress_forces
from grouser.physics.soil.tiles import SoilState
from grouser.physics.soil.wheels import (
    DEFORMABLE,
    REBOUND,
    SINKAGE_OF_WHEEL,
    SLIP,
    SLIP_ANGLE,
    STRESS,
    Wheels,
    WheelWorkspace,
)

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics

# Components of a wheel's twist.
_TWIST = 6


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
    velocity,
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
        kinematics: with the positions of the current state.
        velocity: coordinate rates.
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
        first, last = _fill_jacobian(model, wheels.body[w], kinematics.column, w, work)
        find_motion(_TWIST, work.jacobian, velocity, first, last, work.twist[w])
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
        add_linear_force(
            _TWIST,
            work.jacobian,
            work.pushed,
            work.entry,
            first,
            last,
            step,
            work.wrench[w],
            work.slope[w],
            mass,
            force,
        )


@inlined
def _fill_jacobian(model: MultibodyModel, body, column, w, work: WheelWorkspace):
    """Fills the Jacobian of the twist of a wheel's centre, world axes; returns the range of the coordinates filled."""
    first, last = block_of(model, body)
    clear_rows(work.jacobian, 6, first, last)
    x, y, z = work.centre[w, 0], work.centre[w, 1], work.centre[w, 2]
    parent, start, rate, rows = model.body_parent, model.column_start, model.column_rate, work.jacobian
    point_rows(parent, start, rate, column, body, -1, x, y, z, work.axes, rows, 0)
    turning_rows(parent, start, rate, column, body, -1, work.axes, rows, 3)
    return first, last


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
        first, last = _fill_jacobian(model, wheels.body[w], kinematics.column, w, work)
        find_motion(_TWIST, work.jacobian, velocity, first, last, twist)
        work.figure[w, :] = 0.0
        _measure_motion(wheels, w, twist, step, state, work)
        if work.touched[w] == 0:
            continue
        state.soil_work[w] += step * _mean_power(work.wrench[w], work.slope[w], work.twist[w], twist)
        origin = kinematics.origin
        if wheels.level[w] == STRESS:
            commit_stress(wheels, w, twist, terrain, origin, _weight(model, work.frame[w]), step, state, work)
        else:
            slip = slip_of(state.wheel_motion[w, 0], state.wheel_motion[w, 1])
            commit_cells(wheels, w, slip, twist, origin, step, state, work, work.flow)
        k, share = work.soil[w, 0], work.figure[w, SINKAGE_OF_WHEEL] / (2.0 * wheels.radius[w])
        work.greatest_sinkage[k] = max(work.greatest_sinkage[k], share)
        if wheels.level[w] == DEFORMABLE and wheels.bulldozing[0]:
            deposit_soil(wheels, w, work.flow, origin, state, work)
            state.moved_soil[w] += work.flow[0]
            slide_slopes(wheels, w, state, work)


@inlined
def _mean_power(wrench, slope, start, end):
    """Mean power in a step of the linearised force that acted in it, between the twists at its start and end [W]."""
    power = 0.0
    for k in range(6):
        acted = wrench[k]
        for m in range(6):
            acted -= slope[k, m] * (end[m] - start[m])
        power += 0.5 * acted * (start[k] + end[k])
    return power


@inlined
def _measure_motion(wheels: Wheels, w, twist, step: float, state: SoilState, work: WheelWorkspace):
    """Measures slip and slip angle of a wheel, and updates the soil's memory of its motion."""
    figure, motion = work.figure[w], state.wheel_motion[w]
    rim, ahead, aside = speeds(wheels, w, work.axis[w], work.frame[w], twist)
    figure[SLIP], figure[SLIP_ANGLE] = shown_slip(rim, ahead, aside)
    if work.touched[w] > 0:
        radius, rebound = wheels.radius[w], state.wheel_elastic[w, REBOUND]
        turning = turning_speed(wheels, w, work.frame[w], twist)
        motion[0], motion[1], motion[2] = updated_memory(motion, rim, ahead, aside, turning, radius, step)
        motion[3] = updated_roll(motion[3], rim, ahead, rebound, radius, step)
    else:
        motion[:] = 0.0
        if wheels.level[w] == STRESS and work.touch[w, 0, 0] > 0.0:
            # a wheel that moves within its own depression meets the soil again at the same depth
            for m in range(state.wheel_elastic.shape[1]):
                state.wheel_elastic[w, m] = min(state.wheel_elastic[w, m], 0.0)
        else:
            state.wheel_elastic[w, :] = 0.0
            gone = step * math.sqrt(ahead * ahead + aside * aside) / (MEMORY * wheels.radius[w])
            state.wheel_sinkage[w] /= 1.0 + gone
