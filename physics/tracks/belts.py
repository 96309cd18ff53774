"""Tracks as constant arrays, and buffers of a step."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.contact.laws import LawTable
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.track import BeltPath, Track
from grouser.physics.description.data.world import World
from grouser.physics.model.names import Names
from grouser.physics.soil.laws import pressure_stiffness
from grouser.physics.soil.wheels import Wheels
from grouser.physics.tracks.pads import PADS
from grouser.physics.tracks.running_wheels import (
    RunningWheels,
    Segments,
    WheelWorkspace,
    make_running_wheels,
    make_segments,
    make_wheel_workspace,
)

# Rows of `TrackWorkspace.touch`: position from the body's origin [m] and unit normal towards the track, world axes;
# velocity of the pad per speed of the belt, world axes; depth below the ground's level [m]; by how much the belt gives
# way per pressure [m/Pa]; length along the belt, and place on the path [m]; at the start of the step the speed along
# the normal [m/s], the force of the pressure [N] and its resistance [N s/m]. On tracks with sprung wheels also the
# normal out of the path, ahead and up, and the share of the second wheel in what moves the pad.
X, Y, Z, NORMAL_X, NORMAL_Y, NORMAL_Z, BELT_X, BELT_Y, BELT_Z, DEPTH, GIVE, LENGTH, PLACE = range(13)
ALONG, PRESSED, RESISTED = range(13, 16)
OUT_AHEAD, OUT_UP, SHARE = range(16, 19)
TOUCH = 19
# Columns of the work on a track (`room.State`): of rigid ground and of soil on its pads along their normals, of their
# shear, and of the belt's tension on sprung wheels.
PAD_WORK, SOIL_WORK, SHEAR_WORK, BELT_WORK = range(4)
WORKS = 4
# Velocity of a body's origin and angular velocity, and speed of the belt; then, ahead and up, that of each sprung wheel
# on the body.
MOTION = 7
# Measured quantities of a track; columns of `TrackWorkspace.figure`. Speeds are those of the middle of the belt.
FIGURES = (
    "belt_speed",
    "ground_speed",
    "side_speed",
    "yaw_rate",
    "normal_force",
    "thrust",
    "resistance",
    "side_force",
    "sinkage",
    "peak_pressure",
    "tight_tension",
    "slack_tension",
    "shoes_in_contact",
)
(
    BELT_SPEED,
    GROUND_SPEED,
    SIDE_SPEED,
    YAW_RATE,
    NORMAL,
    THRUST,
    RESISTANCE,
    SIDE,
    SINKAGE_OF_TRACK,
    PEAK_PRESSURE,
    TIGHT,
    SLACK,
    TOUCHING,
) = range(len(FIGURES))


class Tracks(NamedTuple):
    """Tracks on the ground.

    Attributes:
        body: that carries each track, (tracks,).
        place, frame: origin [m] and axes ahead, left and up of each track's plane in the body frame, (tracks, 3) and
            (tracks, 3, 3).
        middle: centre of a circle around the path and its radius with the shoes, in the plane [m], (tracks, 3).
        lowest: height of the lowest shoes in the plane [m], (tracks,).
        position: index in q of the sprocket.
        rate: index in v of the sprocket.
        scale: path of the belt per coordinate [m].
        sprocket: place of the sprocket on the path [m].
        width, pitch, thickness: of the shoes [m]; the pitch is that along the path.
        pad_start: pads of track t are pad_start[t] to pad_start[t + 1]; shoe n has PADS of them.
        segment_start: segments of its path are segment_start[t] to segment_start[t + 1].
        path: of all tracks, with all joints at zero.
        stiffness, damping: of pads on rigid ground, per area [N/m3, N s/m3].
        friction: coefficient between pads and rigid ground [-].
        shear_modulus: K on rigid ground [m].
        pretension: [N].
        tensioner: place on the path where the tension stays that at rest [m]; NaN: its mean over the belt stays.
        jump_tension, throw_force: limits [N].
        wheels: sprung ones, and those between them.
        soil_stiffness: K of each soil under the shoes [Pa/m^n], (tracks, soils).
        cohesion_gain, friction_gain: factors of a soil's strength, by the grousers [-].
    """

    body: np.ndarray
    place: np.ndarray
    frame: np.ndarray
    middle: np.ndarray
    lowest: np.ndarray
    position: np.ndarray
    rate: np.ndarray
    scale: np.ndarray
    sprocket: np.ndarray
    width: np.ndarray
    pitch: np.ndarray
    thickness: np.ndarray
    pad_start: np.ndarray
    segment_start: np.ndarray
    path: Segments
    stiffness: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    shear_modulus: np.ndarray
    pretension: np.ndarray
    tensioner: np.ndarray
    jump_tension: np.ndarray
    throw_force: np.ndarray
    wheels: RunningWheels
    soil_stiffness: np.ndarray
    cohesion_gain: np.ndarray
    friction_gain: np.ndarray


class TrackWorkspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        centre: origin of the body that carries each track, from the kinematics' origin, world axes [m], (tracks, 3).
        plane: origin of the track's plane from there, world axes [m], (tracks, 3).
        frame: ahead, to the left and up of the track's plane, world axes, (tracks, 3, 3).
        listed: number of pads of each track that touch, or may within the step, (tracks,). Pads of a shoe that is
            partly around a wheel count with each part.
        pad: number of each of them among the track's pads, ascending, (tracks, most pads).
        touch: X to SHARE of each, (tracks, TOUCH, most pads).
        soil, cell: soil under each, -1 for rigid ground, and index of its cell, (tracks, most pads).
        bearer: component of the motion that is of the wheel before and of the one behind each, -1 for wheels that are
            not sprung, (tracks, 2, most pads).
        path: of all tracks now.
        wheels: of the sprung tracks.
        motion, end_motion: of each track, at the start and at the end of the step, (tracks, rows) and (rows,).
        wrench: force [N], moment about the body's origin [N m], force along the belt [N], and those on sprung wheels,
            world axes, (tracks, rows).
        slope: resistance to the motion, (tracks, rows, rows).
        jacobian: of the motion of each track, (tracks, rows, coordinates).
        pushed: (rows, coordinates).
        entry: coordinates that move a track, (coordinates,).
        axes: unit vectors of the world, (3, 3).
        shear: state of the pads of a track at the end of the step, (most pads, 3).
        figure: measurements of the last step, (tracks, FIGURES).
    """

    centre: np.ndarray
    plane: np.ndarray
    frame: np.ndarray
    listed: np.ndarray
    pad: np.ndarray
    touch: np.ndarray
    soil: np.ndarray
    cell: np.ndarray
    bearer: np.ndarray
    path: Segments
    wheels: WheelWorkspace
    motion: np.ndarray
    end_motion: np.ndarray
    wrench: np.ndarray
    slope: np.ndarray
    jacobian: np.ndarray
    pushed: np.ndarray
    entry: np.ndarray
    axes: np.ndarray
    shear: np.ndarray
    figure: np.ndarray


def make_tracks(machine: Machine, names: Names, world: World, wheels: Wheels) -> Tracks:
    """The machine's tracks; none without a ground.

    Args:
        machine, names: the machine.
        world: with the ground.
        wheels: with the soils.
    """
    found = machine.tracks if world.ground is not None else ()
    carriers = {joint.name: joint.parent for joint in machine.joints}
    links = [names.link_index(carriers[track.sprocket]) for track in found]
    sprockets = [names.joints[track.sprocket] for track in found]
    turns = [names.link_rotation[link] for link in links]
    laws = LawTable(machine, world)
    law = [laws.between(laws.links[link], laws.ground) for link in links]
    friction = laws.arrays().friction
    running = make_running_wheels(machine, names, found, MOTION)
    path, segment_start = make_segments(found, running)
    tracks = Tracks(
        body=np.array([names.link_body[link] for link in links], dtype=np.int64),
        place=_rows(
            [
                names.link_position[link] + turn @ track.origin
                for link, turn, track in zip(links, turns, found, strict=True)
            ]
        ),
        frame=_rows([turn @ track.frame for turn, track in zip(turns, found, strict=True)], 3),
        middle=_rows([_circle(track) for track in found]),
        lowest=np.array([track.path.outline[:, 1].min() for track in found]),
        position=np.array([sprocket.q for sprocket in sprockets], dtype=np.int64),
        rate=np.array([sprocket.v for sprocket in sprockets], dtype=np.int64),
        scale=np.array([track.sense * track.radius for track in found]),
        sprocket=np.array([_sprocket_place(track.path) for track in found]),
        width=np.array([track.width for track in found]),
        pitch=np.array([track.path.total / track.shoes for track in found]),
        thickness=np.array([track.thickness for track in found]),
        pad_start=_starts([PADS * track.shoes for track in found]),
        segment_start=segment_start,
        path=path,
        stiffness=np.array([track.stiffness for track in found]),
        damping=np.array([track.damping for track in found]),
        friction=friction[law] if law else np.zeros(0),
        shear_modulus=np.array([track.shear_displacement_modulus for track in found]),
        pretension=np.array([track.pretension for track in found]),
        tensioner=np.array([_tensioner_place(machine, track) for track in found]),
        jump_tension=np.array([track.jump_tension for track in found]),
        throw_force=np.array([track.throw_force for track in found]),
        wheels=running,
        soil_stiffness=np.array([_soil_stiffness(wheels, track) for track in found]).reshape(
            len(found), len(wheels.soils.exponent)
        ),
        cohesion_gain=np.array([1.0 + 2.0 * track.grouser_height / track.width for track in found]),
        friction_gain=np.array([_friction_gain(track) for track in found]),
    )
    for array in (*tracks.path, *tracks.wheels, *(part for part in tracks if isinstance(part, np.ndarray))):
        array.flags.writeable = False
    return tracks


def make_track_workspace(tracks: Tracks, coordinates: int) -> TrackWorkspace:
    """Buffers of the right sizes."""
    count, most = len(tracks.body), max((most_pads(tracks, t) for t in range(len(tracks.body))), default=0)
    rows = int(np.max(tracks.wheels.rows, initial=MOTION))
    return TrackWorkspace(
        centre=np.zeros((count, 3)),
        plane=np.zeros((count, 3)),
        frame=np.zeros((count, 3, 3)),
        listed=np.zeros(count, dtype=np.int64),
        pad=np.zeros((count, most), dtype=np.int64),
        touch=np.zeros((count, TOUCH, most)),
        soil=np.zeros((count, most), dtype=np.int64),
        cell=np.zeros((count, most), dtype=np.int64),
        bearer=np.zeros((count, 2, most), dtype=np.int64),
        path=Segments(*(part.copy() for part in tracks.path)),
        wheels=make_wheel_workspace(tracks.wheels),
        motion=np.zeros((count, rows)),
        end_motion=np.zeros(rows),
        wrench=np.zeros((count, rows)),
        slope=np.zeros((count, rows, rows)),
        jacobian=np.zeros((count, rows, coordinates)),
        pushed=np.zeros((rows, coordinates)),
        entry=np.zeros(coordinates, dtype=np.int64),
        axes=np.eye(3),
        shear=np.zeros((most, 3)),
        figure=np.zeros((count, len(FIGURES))),
    )


def most_pads(tracks: Tracks, t: int) -> int:
    """Largest number of pads of a track: those of its shoes, and again of shoes that are on two segments or more."""
    shoes = int(tracks.pad_start[t + 1] - tracks.pad_start[t]) // PADS
    return PADS * (shoes + int(tracks.segment_start[t + 1] - tracks.segment_start[t]) + 1)


def _rows(values: list, columns: int | None = None) -> np.ndarray:
    """Rows as an array that has its shape without rows, too."""
    shape = (-1, 3) if columns is None else (-1, columns, columns)
    return np.array(values, dtype=float).reshape(shape)


def _starts(counts: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def _sprocket_place(path: BeltPath) -> float:
    """Path length to the middle of the arc around the sprocket, whose axis is the origin; 0 if the belt misses it."""
    outward = np.column_stack([-path.direction[:, 1], path.direction[:, 0]])
    centre = path.point - path.radius[:, np.newaxis] * outward
    arcs = np.flatnonzero((path.radius > 0.0) & (np.hypot(*centre.T) < 1e-9))
    return float((path.start[arcs] + 0.5 * path.length[arcs]).mean()) if len(arcs) else 0.0


def _tensioner_place(machine: Machine, track: Track) -> float:
    """Path length to the middle of the belt around the wheel with the tensioner [m]; NaN without one."""
    wheels = [wheel.link for wheel in machine.track_wheels if wheel.track == track.name]
    if track.tensioner is None:
        return math.nan
    number, path = wheels.index(track.tensioner) + 1, track.path
    around = np.flatnonzero((path.wheel == number).any(axis=1) & (path.radius > 0.0))
    touched = around if len(around) else np.flatnonzero(path.wheel[:, 0] == number)
    return float((path.start[touched] + 0.5 * path.length[touched] * (path.radius[touched] > 0.0)).mean())


def _circle(track: Track) -> np.ndarray:
    """Middle of the belt's path, and the farthest corner of the shoes from it, sides included [m]."""
    corners = track.path.outline
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    reach = float(np.hypot(*(corners - middle).T).max())
    return np.array([*middle, math.hypot(reach, 0.5 * track.width)])


def _soil_stiffness(wheels: Wheels, track: Track) -> list[float]:
    """K of p = K z^n of every soil under a plate as wide as the track [Pa/m^n]."""
    soils = wheels.soils
    return [pressure_stiffness(soils, k, track.width, soils.exponent[k]) for k in range(len(soils.exponent))]


def _friction_gain(track: Track) -> float:
    """Factor of the frictional thrust by the sides of the soil between grousers, Bekker (1956)."""
    share = track.grouser_height / track.width
    return 1.0 + 0.64 * share * math.atan2(1.0, share)
