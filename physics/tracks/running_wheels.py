"""Wheels of tracks with a suspension, and the segments of belts' paths, as constant arrays and buffers of a step."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.track import BeltPath, Track
from grouser.physics.model.names import Names

# Components of a sprung wheel's velocity on the body that carries the track: ahead and up.
WHEEL_MOTION = 2


class Segments(NamedTuple):
    """Segments of the paths of all tracks, see `BeltPath`.

    A track with sprung wheels has two for each wheel along its path: the arc around it and the span behind it.

    Attributes:
        start, length, radius: (segments,).
        point, direction: (segments, 2).
    """

    start: np.ndarray
    length: np.ndarray
    point: np.ndarray
    direction: np.ndarray
    radius: np.ndarray


class RunningWheels(NamedTuple):
    """Sprung wheels, and the other wheels of their tracks that the belt runs around.

    Attributes:
        start: wheels of track t, in the order of its path, are start[t] to start[t + 1]; a track without sprung wheels
            has none.
        link: that holds the axle of each, (wheels,).
        body, place: that holds the axle of each, and the axle in its frame [m], (wheels,) and (wheels, 3).
        centre: ahead and up in the track's plane, of those that are not sprung [m], (wheels, 2).
        radius: to the pitch line [m], (wheels,).
        row: first component of the track's motion that is of this wheel; -1 if it is not sprung, (wheels,).
        rows: number of components of each track's motion, (tracks,).
        nominal: length of each path with all joints at zero [m], (tracks,).
        sag: curvature of a level span of the upper run [1/m], (tracks,).
        stiffness: rise of the tension with the length of the path [N/m], (tracks,).
    """

    start: np.ndarray
    link: np.ndarray
    body: np.ndarray
    place: np.ndarray
    centre: np.ndarray
    radius: np.ndarray
    row: np.ndarray
    rows: np.ndarray
    nominal: np.ndarray
    sag: np.ndarray
    stiffness: np.ndarray


class WheelWorkspace(NamedTuple):
    """Buffers of a step of tracks with sprung wheels.

    Attributes:
        centre: of each wheel in its track's plane [m], (wheels, 2).
        normal: out of the belt, of the span behind each wheel, (wheels, 2).
        chord, cut: length of that span between the points where it would touch its wheels, and by how much it ends
            before each of them where the belt bends inward [m], (wheels,).
        lengthening: of the path with the motion [m/m], (tracks, rows).
        pull: of the belt on the wheels at the start of the step [N], (tracks, rows).
        tension: of the belt, mean [N], (tracks,).
        moved: farthest that a wheel is from its place with all joints at zero [m], (tracks,).
    """

    centre: np.ndarray
    normal: np.ndarray
    chord: np.ndarray
    cut: np.ndarray
    lengthening: np.ndarray
    pull: np.ndarray
    tension: np.ndarray
    moved: np.ndarray


def make_running_wheels(machine: Machine, names: Names, tracks: Sequence[Track], motion: int) -> RunningWheels:
    """The wheels of the tracks that have sprung ones.

    Args:
        machine, names: the machine.
        tracks: those on the ground.
        motion: components of the motion of a track without sprung wheels.
    """
    laid = [_wheels_along(machine, names, track, motion) for track in tracks]
    wheels = [wheel for of_track in laid for wheel in of_track]
    sprung = [{wheel[5] for wheel in of_track} - {-1} for of_track in laid]
    return RunningWheels(
        start=np.concatenate([[0], np.cumsum([len(of_track) for of_track in laid], dtype=np.int64)]).astype(np.int64),
        link=np.array([wheel[0] for wheel in wheels], dtype=np.int64),
        body=np.array([wheel[1] for wheel in wheels], dtype=np.int64),
        place=np.array([wheel[2] for wheel in wheels], dtype=float).reshape(-1, 3),
        centre=np.array([wheel[3] for wheel in wheels], dtype=float).reshape(-1, 2),
        radius=np.array([wheel[4] for wheel in wheels], dtype=float),
        row=np.array([wheel[5] for wheel in wheels], dtype=np.int64),
        rows=np.array([motion + WHEEL_MOTION * len(rows) for rows in sprung], dtype=np.int64),
        nominal=np.array([track.path.start[-1] + track.path.length[-1] for track in tracks]),
        sag=np.array([track.path.sag for track in tracks]),
        stiffness=np.array([track.tension_stiffness for track in tracks]),
    )


def make_segments(tracks: Sequence[Track], wheels: RunningWheels) -> tuple[Segments, np.ndarray]:
    """Segments of all paths with all joints at zero, and the first one of each track, (tracks + 1,)."""
    paths = [
        [*zip(path.length, path.radius, path.point, path.direction, strict=True)]
        if first == end
        else _in_pairs(path, wheels.radius[first:end])
        for path, first, end in zip((track.path for track in tracks), wheels.start[:-1], wheels.start[1:], strict=True)
    ]
    start = np.concatenate([[0], np.cumsum([len(path) for path in paths], dtype=np.int64)]).astype(np.int64)
    lengths = [np.array([row[0] for row in path]) for path in paths]
    rows = [row for path in paths for row in path]
    segments = Segments(
        start=np.concatenate([np.zeros(0), *[np.concatenate([[0.0], np.cumsum(length)[:-1]]) for length in lengths]]),
        length=np.concatenate([np.zeros(0), *lengths]),
        point=np.array([row[2] for row in rows], dtype=float).reshape(-1, 2),
        direction=np.array([row[3] for row in rows], dtype=float).reshape(-1, 2),
        radius=np.array([row[1] for row in rows], dtype=float),
    )
    return segments, start


def _in_pairs(path: BeltPath, radii: np.ndarray) -> list[tuple]:
    """Length, radius, point and direction of an arc, perhaps of no length, and a span for each wheel along a path."""
    rows, k = [], 0
    for radius in radii.tolist():
        point, direction = path.point[k], path.direction[k]
        if path.radius[k] > 0.0:
            rows.append((path.length[k], radius, point, direction))
            k += 1
        else:
            rows.append((0.0, radius, point, direction))
        rows.append((path.length[k], path.radius[k], path.point[k], path.direction[k]))
        k += 1
    return rows


def make_wheel_workspace(wheels: RunningWheels) -> WheelWorkspace:
    """Buffers of the right sizes."""
    count, tracks, rows = len(wheels.body), len(wheels.rows), int(np.max(wheels.rows, initial=0))
    return WheelWorkspace(
        centre=np.zeros((count, 2)),
        normal=np.zeros((count, 2)),
        chord=np.zeros(count),
        cut=np.zeros(count),
        lengthening=np.zeros((tracks, rows)),
        pull=np.zeros((tracks, rows)),
        tension=np.zeros(tracks),
        moved=np.zeros(tracks),
    )


def sprung_wheels(tracks) -> list[tuple[int, int]]:
    """Number of the track and of the wheel in `RunningWheels` of every sprung wheel."""
    wheels = tracks.wheels
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for t, (first, end) in enumerate(itertools.pairwise(wheels.start.tolist())):
        for w in range(first, end):
            if wheels.row[w] >= 0:
                found.setdefault((t, int(wheels.row[w])), (t, w))
    return list(found.values())


def sprung_force(tracks, work, t: int, wheel: int) -> np.ndarray:
    """Force of the belt on a sprung wheel in the last step, from the ground and by its tension, world axes [N], (3,).

    Args:
        tracks, work: `Tracks` and `TrackWorkspace`.
        t, wheel: as of `sprung_wheels`.
    """
    row, frame = tracks.wheels.row[wheel], work.frame[t]
    return work.wrench[t, row] * frame[0] + work.wrench[t, row + 1] * frame[2]


def _wheels_along(machine: Machine, names: Names, track: Track, motion: int) -> list[tuple]:
    """Link, body, place, centre, radius and first component of the motion of each wheel along a path.

    A wheel that the belt touches twice is there twice. There are none if none is sprung.
    """
    joints = {joint.name: joint for joint in machine.joints}
    above = {joint.child: joint for joint in machine.joints}
    sprocket = joints[track.sprocket]
    found = [wheel for wheel in machine.track_wheels if wheel.track == track.name]
    axles = [sprocket, *(above[wheel.link] for wheel in found)]
    radii = [track.radius, *(wheel.radius for wheel in found)]
    carrier, rows, wheels = names.link_body[names.link_index(sprocket.parent)], {}, []
    for number, _ in itertools.groupby(_in_order(track.path.wheel)):
        link = names.link_index(axles[number].parent)
        body = names.link_body[link]
        place = names.link_position[link] + names.link_rotation[link] @ np.array(axles[number].pose.position)
        row = -1 if body == carrier else rows.setdefault(number, motion + WHEEL_MOTION * len(rows))
        wheels.append((link, body, place, track.path.centre[number], radii[number], row))
    return wheels if rows else []


def _in_order(wheel: np.ndarray) -> list[int]:
    """Numbers of the wheels along a path, from the one that it begins at; neighbours may be the same."""
    numbers = wheel.ravel().tolist()
    while len(numbers) > 1 and numbers[-1] == numbers[0]:
        numbers.pop()
    return numbers
