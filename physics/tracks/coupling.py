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
from grouser.physics.tracks.belts import MOTION, Tracks, TrackWorkspace
from grouser.physics.tracks.pad_forces import commit_pads, measure_pad_forces
from grouser.physics.tracks.placing import find_pads, place_track

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics


@kernel
def apply_track_forces(
    tracks: Tracks,
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    position,
    velocity,
    shear,
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
        shear: state of the pads, (pads, 2).
        soil: state of the soil.
        step: h [s].
        work: of the tracks.
        mass, force: of the equations of motion, changed in place.
    """
    gravity = _size(model.gravity)
    for t in range(tracks.body.shape[0]):
        work.listed[t] = 0
        for k in range(MOTION):
            work.wrench[t, k] = 0.0
        if not place_track(tracks, t, kinematics, work):
            continue
        first, last = _fill_jacobian(tracks, t, model, kinematics.column, work)
        find_motion(MOTION, work.jacobian, velocity, first, last, work.motion[t])
        find_pads(
            *(tracks, t, terrain, wheels.cell[0], kinematics, position[tracks.position[t]], step, soil, work),
        )
        if work.listed[t] == 0:
            continue
        measure_pad_forces(tracks, t, wheels.soils, gravity, step, shear, soil, work)
        add_linear_force(
            MOTION,
            work.jacobian,
            work.pushed,
            work.entry,
            first,
            last,
            step,
            work.wrench[t],
            work.slope[t],
            mass,
            force,
        )


@kernel
def commit_tracks(
    tracks: Tracks,
    wheels: Wheels,
    model: MultibodyModel,
    terrain: Terrain,
    kinematics: "Kinematics",
    velocity,
    step: float,
    shear,
    work_done,
    soil: SoilState,
    work: TrackWorkspace,
):
    """Advances pads and soil by the solved motion, and takes the measurements of every track.

    Args:
        tracks, wheels, model, terrain: as of `apply_track_forces`.
        kinematics: of the start of the step.
        velocity: coordinate rates at the end of the step.
        step: h [s].
        shear: state of the pads, changed, (pads, 2).
        work_done: work of the ground on each track [J], changed, (tracks,).
        soil: state of the soil, changed.
        work: as filled by `apply_track_forces`.
    """
    gravity = _size(model.gravity)
    for t in range(tracks.body.shape[0]):
        first, last = _fill_jacobian(tracks, t, model, kinematics.column, work)
        find_motion(MOTION, work.jacobian, velocity, first, last, work.end_motion)
        if work.listed[t] > 0:
            _find_acted(work.wrench[t], work.slope[t], work.motion[t], work.end_motion)
            work_done[t] += step * _mean_power(work.wrench[t], work.motion[t], work.end_motion)
        commit_pads(
            *(tracks, t, wheels.soils, terrain, wheels.cell[0], kinematics.origin, gravity, step),
            *(shear, soil, work),
        )


@inlined
def _fill_jacobian(tracks: Tracks, t, model: MultibodyModel, column, work: TrackWorkspace):
    """Fills the Jacobian of a track's motion, world axes; returns the range of the coordinates filled."""
    body, sprocket = tracks.body[t], tracks.rate[t]
    first, last = model.rate_first[sprocket], model.rate_last[sprocket]
    clear_rows(work.jacobian, MOTION, first, last)
    x, y, z = work.centre[t, 0], work.centre[t, 1], work.centre[t, 2]
    parent, start, rate, rows = model.body_parent, model.column_start, model.column_rate, work.jacobian
    point_rows(parent, start, rate, column, body, -1, x, y, z, work.axes, rows, 0)
    turning_rows(parent, start, rate, column, body, -1, work.axes, rows, 3)
    rows[6, sprocket] = tracks.scale[t]
    return first, last


@inlined
def _find_acted(wrench, slope, start, end):
    """Changes the force at the motion at the start of the step to that which acted: its linearisation at the end."""
    for k in range(MOTION):
        for m in range(MOTION):
            wrench[k] -= slope[k, m] * (end[m] - start[m])


@inlined
def _mean_power(acted, start, end):
    """Mean power in a step of the force that acted in it, between the motions at its start and end [W]."""
    power = 0.0
    for k in range(MOTION):
        power += 0.5 * acted[k] * (start[k] + end[k])
    return power


@inlined
def _size(vector):
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])
