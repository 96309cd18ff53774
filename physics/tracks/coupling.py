"""Coupling of tracks and ground: linearised forces in the equations of motion, and the update by the motion."""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.jacobian import clear_rows, point_rows, turning_rows
from grouser.physics.multibody.linear_force import add_linear_force, find_motion
from grouser.physics.multibody.mass import MassMatrix
from grouser.physics.soil.tiles import SoilState
from grouser.physics.soil.wheels import Wheels
from grouser.physics.tracks.belts import (
    BELT_WORK,
    MOTION,
    PAD_WORK,
    SHEAR_WORK,
    SIDE,
    SOIL_WORK,
    TIGHT,
    Tracks,
    TrackWorkspace,
)
from grouser.physics.tracks.pad_forces import commit_pads, measure_pad_forces
from grouser.physics.tracks.placing import find_pads, place_track
from grouser.physics.tracks.suspension import fill_wheel_rows, is_sprung, lay_moving_path, pull_power, pull_wheels

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics
    from grouser.physics.tracks.room import State


@kernel
def apply_track_forces(
    tracks: Tracks,
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    position,
    velocity,
    state: "State",
    soil: SoilState,
    step: float,
    work: TrackWorkspace,
    mass: MassMatrix,
    force,
):
    """Adds the ground's forces on every track at the motion at the start to the force, their slopes to the mass matrix.

    Args:
        tracks, wheels, model: the machine; `wheels` has the soils.
        terrain: natural ground.
        kinematics: filled for the current state.
        position, velocity: q and v.
        state: of the tracks.
        soil: state of the soil.
        step: h [s].
        work: of the tracks.
        mass, force: of the equations of motion, changed in place.
    """
    gravity = _size(model.gravity)
    for t in range(tracks.body.shape[0]):
        work.listed[t] = 0
        for k in range(tracks.wheels.rows[t]):
            work.wrench[t, k] = 0.0
        if not place_track(tracks, t, kinematics, work):
            continue
        sprung = is_sprung(tracks, t)
        if sprung:
            lay_moving_path(tracks, t, kinematics, work)
        _fill_jacobian(tracks, t, model, kinematics, state.loose[t], work)
        first, last = _coordinates_of(tracks, t, model)
        _find_motion(tracks, t, velocity, first, last, work, work.motion[t])
        turned = position[tracks.position[t]] + state.travel[t] / tracks.scale[t]
        find_pads(tracks, t, terrain, wheels.cell[0], kinematics, turned, step, soil, work)
        if work.listed[t] == 0 and not sprung:
            continue
        measure_pad_forces(tracks, t, wheels.soils, gravity, step, state.shear, soil, work)
        if sprung:
            pull_wheels(tracks, t, step, work)
            _add_force(tracks.wheels.rows[t], t, first, last, step, work, mass, force)
        else:
            _add_force(MOTION, t, first, last, step, work, mass, force)


@kernel
def commit_tracks(
    tracks: Tracks,
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    velocity,
    step: float,
    state: "State",
    soil: SoilState,
    work: TrackWorkspace,
):
    """Advances pads and soil by the solved motion, and takes the measurements of every track.

    Args:
        tracks, wheels, model, terrain: as of `apply_track_forces`.
        kinematics: of the start of the step.
        velocity: coordinate rates at the end of the step.
        step: h [s].
        state: of the tracks, changed.
        soil: state of the soil, changed.
        work: as filled by `apply_track_forces`.
    """
    gravity = _size(model.gravity)
    for t in range(tracks.body.shape[0]):
        sprung = is_sprung(tracks, t)
        first, last = _coordinates_of(tracks, t, model)
        _find_motion(tracks, t, velocity, first, last, work, work.end_motion)
        acted, pulled = 0.0, 0.0
        if sprung:
            acted = _find_acted(tracks.wheels.rows[t], t, work)
            pulled = pull_power(tracks, t, work.end_motion, work)
        elif work.listed[t] > 0:
            acted = _find_acted(MOTION, t, work)
        if state.loose[t] > 0.0:
            _let_roll(tracks, t, work)
        pads, pressed = commit_pads(
            *(tracks, t, wheels.soils, terrain, wheels.cell[0], kinematics.origin, gravity, step),
            *(state.shear, soil, work),
        )
        state.work[t, PAD_WORK] += step * pads
        state.work[t, SOIL_WORK] += step * pressed
        state.work[t, SHEAR_WORK] += step * (acted - pulled - pads - pressed)
        state.work[t, BELT_WORK] += step * pulled
        _hold_belt(tracks, t, step * (work.end_motion[6] - tracks.scale[t] * velocity[tracks.rate[t]]), state, work)


@inlined
def _hold_belt(tracks: Tracks, t, slipped, state: "State", work: TrackWorkspace):
    """Lets a belt jump or be thrown whose load is past its limit, and the teeth hold it again when one has passed.

    Args:
        tracks, t: the track.
        slipped: way of the belt over its sprocket in the step [m].
        state: of the tracks, changed.
        work: with the measurements of the step.
    """
    held = state.loose[t] == 0.0
    if not held:
        state.travel[t] += slipped
        state.loose[t] = max(state.loose[t] - abs(slipped), 0.0)
    elif work.figure[t, TIGHT] > tracks.jump_tension[t]:
        state.loose[t] = tracks.pitch[t]
        state.jumped[t] += 1.0
    if abs(work.figure[t, SIDE]) > tracks.throw_force[t]:
        state.loose[t] = math.inf
    if held and state.loose[t] > 0.0:
        # the belt springs back
        for pad in range(tracks.pad_start[t], tracks.pad_start[t + 1]):
            state.shear[pad, 0] = state.shear[pad, 1] = 0.0


@inlined
def _let_roll(tracks: Tracks, t, work: TrackWorkspace):
    """Hands the pull along a loose belt on to the body that carries it."""
    wrench = work.wrench[t]
    ax, ay, az, mx, my, mz = _rolling(tracks, t, work)
    pull, wrench[6] = wrench[6], 0.0
    wrench[0] += pull * ax
    wrench[1] += pull * ay
    wrench[2] += pull * az
    wrench[3] += pull * mx
    wrench[4] += pull * my
    wrench[5] += pull * mz


@inlined
def _fill_jacobian(tracks: Tracks, t, model: MultibodyModel, kinematics: "Kinematics", loose, work: TrackWorkspace):
    """Fills the Jacobian of a track's motion, world axes.

    The sprocket drives the belt. A belt that is `loose` runs freely: as fast as the track goes over the ground, so that
    what pulls on it along the track pulls on nothing.
    """
    body, rows = tracks.body[t], work.jacobian[t]
    first, last = _coordinates_of(tracks, t, model)
    clear_rows(rows, tracks.wheels.rows[t], first, last)
    x, y, z = work.centre[t, 0], work.centre[t, 1], work.centre[t, 2]
    parent, start, rate = model.body_parent, model.column_start, model.column_rate
    column = kinematics.column
    point_rows(parent, start, rate, column, body, -1, x, y, z, work.axes, rows, 0)
    turning_rows(parent, start, rate, column, body, -1, work.axes, rows, 3)
    if loose > 0.0:
        ax, ay, az, mx, my, mz = _rolling(tracks, t, work)
        for d in range(first, last):
            rows[6, d] = ax * rows[0, d] + ay * rows[1, d] + az * rows[2, d]
            rows[6, d] += mx * rows[3, d] + my * rows[4, d] + mz * rows[5, d]
    else:
        rows[6, tracks.rate[t]] = tracks.scale[t]
    if is_sprung(tracks, t):
        fill_wheel_rows(tracks, t, model, kinematics, work)


@inlined
def _coordinates_of(tracks: Tracks, t, model: MultibodyModel):
    """Range of the coordinates that may move a track."""
    sprocket = tracks.rate[t]
    return model.rate_first[sprocket], model.rate_last[sprocket]


@inlined
def _rolling(tracks: Tracks, t, work: TrackWorkspace):
    """Unit force ahead at the middle of the lowest shoes, and its moment about the body's origin, world axes [-, m]."""
    frame, plane, ahead, below = work.frame[t], work.plane[t], tracks.middle[t, 0], tracks.lowest[t]
    ax, ay, az = frame[0, 0], frame[0, 1], frame[0, 2]
    x = plane[0] + ahead * ax + below * frame[2, 0]
    y = plane[1] + ahead * ay + below * frame[2, 1]
    z = plane[2] + ahead * az + below * frame[2, 2]
    return ax, ay, az, y * az - z * ay, z * ax - x * az, x * ay - y * ax


# Without sprung wheels the number of components is a constant: the compiler unrolls their loops.


@inlined
def _find_motion(tracks: Tracks, t, velocity, first, last, work: TrackWorkspace, motion):
    """Fills the motion of a track at coordinate rates."""
    if is_sprung(tracks, t):
        find_motion(tracks.wheels.rows[t], work.jacobian[t], velocity, first, last, motion)
    else:
        find_motion(MOTION, work.jacobian[t], velocity, first, last, motion)


@inlined
def _add_force(rows, t, first, last, step, work: TrackWorkspace, mass, force):
    """Adds the force on a track and its slope to the equations of motion."""
    wrench, slope = work.wrench[t], work.slope[t]
    add_linear_force(rows, work.jacobian[t], work.pushed, work.entry, first, last, step, wrench, slope, mass, force)


@inlined
def _find_acted(rows, t, work: TrackWorkspace):
    """Changes the force at the motion at the start of the step to that which acted: its linearisation at the end.

    Returns:
        Its mean power in the step, between the motions at its start and end [W].
    """
    wrench, slope, start, end, power = work.wrench[t], work.slope[t], work.motion[t], work.end_motion, 0.0
    for k in range(rows):
        for m in range(rows):
            wrench[k] -= slope[k, m] * (end[m] - start[m])
        power += 0.5 * wrench[k] * (start[k] + end[k])
    return power


@inlined
def _size(vector):
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])
