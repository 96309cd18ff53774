"""Tracks: belts of shoes around sprocket and wheels. SI units."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.pose import Vector3


@dataclass(frozen=True, eq=False)
class BeltPath:
    """Closed path of a belt's pitch line in the plane of its wheels.

    The plane has the axes ahead and up, and its origin on the sprocket's axis. The path runs as the belt does when the
    sprocket turns forward: ahead over the wheels, down at the front, back below them. It consists of spans and arcs
    around wheels; a span ends at each wheel that the belt touches. Spans of the upper run hang down as arcs.

    Attributes:
        start: path length before each segment [m], (segments,).
        length: of each segment [m], (segments,).
        point: ahead and up of its first point [m], (segments, 2).
        direction: unit tangent there, (segments, 2).
        radius: of an arc around a wheel [m]; 0 for a straight span, negative for one that hangs down, (segments,).
        wheel: number of the wheel at the beginning and at the end, 0: the sprocket, then those of the track in the
            order of the file, (segments, 2).
        centre: ahead and up of each wheel, whether the belt touches it or not [m], (wheels, 2).
        sag: weight per length over pretension, the curvature of a level span that hangs down [1/m].
        outline: corners of a polygon around the shoes' faces, for collisions [m], (corners, 2).
    """

    start: np.ndarray
    length: np.ndarray
    point: np.ndarray
    direction: np.ndarray
    radius: np.ndarray
    wheel: np.ndarray
    centre: np.ndarray
    sag: float
    outline: np.ndarray

    @property
    def total(self) -> float:
        """Length of the path [m]."""
        return float(self.length.sum())

    @property
    def longest_run(self) -> float:
        """Length of the longest straight run, that along the ground [m]."""
        runs, run = [0.0], 0.0
        for length, radius in zip(self.length, self.radius, strict=True):
            run = run + float(length) if radius == 0.0 else 0.0
            runs.append(run)
        return max(runs)


@dataclass(frozen=True)
class TrackWheel:
    """A wheel that a belt runs around: idler, road wheel or return roller.

    Attributes:
        track: name of the track.
        link: that is the wheel; its axle, a joint about the sprocket's axis or a fixed one, is on the link that carries
            the sprocket, or on a suspension between that link and the wheel.
        radius: to the belt's pitch line [m].
    """

    track: str
    link: str
    radius: float


@dataclass(frozen=True, eq=False)
class Track:
    """A track.

    Attributes:
        name: of the track.
        sprocket: joint that turns the sprocket; forward about its axis drives the machine ahead. The link that it
            stands on carries all wheels, some of them by a suspension.
        radius: of the sprocket, to the belt's pitch line [m].
        width: of the shoes [m].
        shoes: number of shoes.
        pitch: length of a shoe along the belt [m].
        thickness: from the pitch line to the faces of the shoes [m].
        offset: of the belt's middle from the sprocket's link, along the sprocket's axis [m].
        ahead, left: unit vectors in the frame of the link that carries the sprocket, to both of which up is normal;
            left is along the sprocket's axis.
        sense: 1 if the sprocket's axis points to the left, -1 if it points to the right.
        origin: of the plane in that frame: the sprocket's centre, moved by `offset` [m].
        grouser_height: of the bars across the faces of the shoes [m].
        mass: of the belt [kg].
        friction: force along the belt that pins and wheels take to turn [N].
        pretension: of the belt at rest [N].
        tensioner: link of the wheel at which the tension stays as at rest; None: its mean over the belt stays.
        tension_stiffness: rise of the tension with the length of the path [N/m].
        jump_tension: greatest tension that the sprocket's teeth hold [N].
        throw_force: greatest force from the side that keeps the belt on its wheels [N].
        stiffness, damping: of the shoes' pads on rigid ground, per area [N/m3, N s/m3].
        shear_displacement_modulus: on rigid ground [m].
        steering: joint that turns the link that carries the sprocket about an upright axis; "" for none.
        path: of the belt.
    """

    name: str
    sprocket: str
    radius: float
    width: float
    shoes: int
    pitch: float
    thickness: float
    offset: float
    ahead: Vector3
    left: Vector3
    sense: float
    origin: Vector3
    grouser_height: float
    mass: float
    friction: float
    pretension: float
    tensioner: str | None
    tension_stiffness: float
    jump_tension: float
    throw_force: float
    stiffness: float
    damping: float
    shear_displacement_modulus: float
    steering: str
    path: BeltPath

    @property
    def frame(self) -> np.ndarray:
        """Axes ahead, left and up as columns, in the frame of the link that carries the sprocket, (3, 3)."""
        return np.column_stack([self.ahead, self.left, np.cross(self.ahead, self.left)])

    @property
    def longest(self) -> float:
        """Largest distance between two corners of the belt [m]."""
        extent = self.path.outline.max(axis=0) - self.path.outline.min(axis=0)
        return float(np.linalg.norm([*extent, self.width]))
