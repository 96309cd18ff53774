"""The shoes of a track as one sees them: poses of all shoes from the sprocket's turn and the places of the wheels.

Pictures need these, in the browser and in RViz; the physics has its own pads on the same path (`physics/tracks/shoes`).
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.data.pose import Pose, Quaternion
from grouser.physics.description.data.rotation import product, rotate
from grouser.physics.description.data.track import Track

# Share of the pitch that a shoe is long: what is left is the gap to the next one.
FILLED = 0.88
# Share of the pitch that a grouser is long.
_BAR = 0.15
# Spans shorter than this count as this long [m].
_SHORTEST = 1e-6
# Sharpest bend inward, of half its angle, at which the belt's spans still meet [rad].
_SHARPEST = 1.2


class BeltShoes:
    """The shoes of a track, in the frame of the link that carries it.

    Args:
        machine: that has the track.
        track: one of its tracks.

    Attributes:
        track: the track.
        carrier: link that carries sprocket and wheels, in whose frame the shoes are.
        wheel_links: links whose poses the belt follows: those of wheels on suspensions; empty where the path is fixed.
    """

    def __init__(self, machine: Machine, track: Track) -> None:
        joints = {joint.name: joint for joint in machine.joints}
        above = {joint.child: joint for joint in machine.joints}
        self.track = track
        self.carrier = joints[track.sprocket].parent
        self._plane = track.frame[:, [0, 2]].T.copy()
        self._origin = np.array(track.origin)
        # of a shoe whose x axis points ahead, and of one that is turned by half a turn about the left axis
        turn = _plane_turn(track)
        self._upright, self._turned = np.array(turn), np.array(product(turn, (0.0, 1.0, 0.0, 0.0)))
        self._steps = np.arange(track.shoes + 1)
        self._nominal = track.path.total
        self._path = tuple(vars(track.path)[name] for name in ("start", "length", "point", "direction", "radius"))
        wheels = [wheel for wheel in machine.track_wheels if wheel.track == track.name]
        links = ["", *(wheel.link for wheel in wheels)]
        radii = np.array([track.radius, *(wheel.radius for wheel in wheels)])
        order = [number for number, _ in itertools.groupby(_without_return(track.path.wheel.ravel().tolist()))]
        self._order = np.array(order)
        self._radii = radii[order]
        self._centre = track.path.centre[order]
        moving = {number for number in order if number and _moves(links[number], self.carrier, above)}
        self._moving = {index: links[number] for index, number in enumerate(order) if number in moving}
        self.wheel_links = tuple(dict.fromkeys(self._moving.values()))

    @property
    def boxes(self) -> np.ndarray:
        """Boxes of which a shoe consists: its plate, and the bar across its face if it has one.

        Centre and size, each along the belt, to the left and out of it [m], (boxes, 2, 3).
        """
        track = self.track
        boxes = [((0.0, 0.0, 0.5 * track.thickness), (FILLED * track.pitch, track.width, track.thickness))]
        if track.grouser_height:
            height = track.thickness + 0.5 * track.grouser_height
            boxes.append(((0.0, 0.0, height), (_BAR * track.pitch, track.width, track.grouser_height)))
        return np.array(boxes)

    def poses(self, position: float, carrier: Pose, wheels: Mapping[str, Pose]) -> tuple[np.ndarray, np.ndarray]:
        """Where the shoes are.

        A shoe is rigid between its two pins, which are on the path of the belt.

        Args:
            position: of the sprocket's joint [rad].
            carrier: pose of the carrying link in the world.
            wheels: poses of `wheel_links` in the world.

        Returns:
            Middle between the pins, (shoes, 3) [m], and quaternions x y z w, (shoes, 4), in the frame of the carrying
            link: x along the belt as it runs when the machine goes ahead, y to the left, z out of it.
        """
        path = self._laid(carrier, wheels) if self._moving else self._path
        total = float(path[0][-1] + path[1][-1])
        begin = math.fmod(self.track.sense * self.track.radius * position, self._nominal) * (total / self._nominal)
        pins = _points(path, begin + total / self.track.shoes * self._steps)
        along = pins[1:] - pins[:-1]
        # a turn about the left axis by the angle t takes ahead to (cos t, -sin t)
        half = -0.5 * np.arctan2(along[:, 1], along[:, 0])
        quaternions = np.outer(np.cos(half), self._upright) + np.outer(np.sin(half), self._turned)
        return self._origin + 0.5 * (pins[1:] + pins[:-1]) @ self._plane, quaternions

    def _laid(self, carrier: Pose, wheels: Mapping[str, Pose]) -> tuple[np.ndarray, ...]:
        """The path around the wheels where they are now."""
        centre = self._centre.copy()
        x, y, z, w = carrier.quaternion
        for index, link in self._moving.items():
            away = np.subtract(wheels[link].position, carrier.position)
            held = rotate((-x, -y, -z, w), (away[0], away[1], away[2]))
            centre[index] = self._plane @ (np.array(held) - self._origin)
        return lay_around(centre, self._radii, self.track.path.sag)


def lay_around(centre: np.ndarray, radius: np.ndarray, sag: float) -> tuple[np.ndarray, ...]:
    """The path of a belt around wheels in a given order: for each the arc around it and the span behind it.

    The spans are the common tangents; where the belt bends inward they meet before they come to the wheel. Spans of the
    upper run hang down as arcs.

    Args:
        centre: ahead and up of each wheel in the order in which the belt touches it [m], (wheels, 2).
        radius: to the pitch line [m], (wheels,).
        sag: curvature of a level span that hangs down [1/m].

    Returns:
        `start`, `length`, `point`, `direction` and `radius` of a `BeltPath` with two segments for each wheel.
    """
    away, less = np.roll(centre, -1, axis=0) - centre, radius - np.roll(radius, -1)
    distance = np.maximum(np.hypot(*away.T), np.abs(less) + _SHORTEST)
    chord = np.sqrt(distance**2 - less**2)
    # the supports c . n + r of both wheels are equal
    across = np.column_stack([-away[:, 1], away[:, 0]])
    out = (less[:, np.newaxis] * away + chord[:, np.newaxis] * across) / (distance**2)[:, np.newaxis]
    along = np.column_stack([out[:, 1], -out[:, 0]])
    come, came = np.roll(out, 1, axis=0), np.roll(along, 1, axis=0)
    turn = -np.arctan2(come[:, 0] * out[:, 1] - come[:, 1] * out[:, 0], np.sum(come * out, axis=1))
    turn = np.where(turn < -0.5 * math.pi, turn + 2.0 * math.pi, turn)
    cut = radius * np.tan(np.minimum(np.maximum(-0.5 * turn, 0.0), _SHARPEST))
    span = np.maximum(chord - cut - np.roll(cut, -1), 0.0)
    left = centre + radius[:, np.newaxis] * out + cut[:, np.newaxis] * along
    # the upper run hangs down
    curvature = sag * np.maximum(along[:, 0], 0.0)
    half = np.arcsin(np.minimum(0.5 * curvature * span, 1.0))
    hangs = half > 1e-9
    hung = np.where(hangs, curvature, 1.0)
    descending = np.cos(half)[:, np.newaxis] * along - np.sin(half)[:, np.newaxis] * out
    length = np.column_stack([radius * np.maximum(turn, 0.0), np.where(hangs, 2.0 * half / hung, span)]).ravel()
    return (
        np.concatenate([[0.0], np.cumsum(length)[:-1]]),
        length,
        np.stack([centre + radius[:, np.newaxis] * come, left], axis=1).reshape(-1, 2),
        np.stack([came, descending], axis=1).reshape(-1, 2),
        np.column_stack([radius, np.where(hangs, -1.0 / hung, 0.0)]).ravel(),
    )


def _points(path: tuple[np.ndarray, ...], places: np.ndarray) -> np.ndarray:
    """Ahead and up of places on a path [m], (places, 2)."""
    start, length, point, direction, radius = path
    places = places % (start[-1] + length[-1])
    segment = np.searchsorted(start, places, side="right") - 1
    into, bend = np.minimum(places - start[segment], length[segment]), radius[segment]
    angle = np.divide(into, bend, out=np.zeros_like(into), where=bend != 0.0)
    # the path turns from the tangent away from the outward normal
    forth = np.where(bend != 0.0, bend * np.sin(angle), into)
    inward = bend * (1.0 - np.cos(angle))
    tangent = direction[segment]
    aside = tangent[:, ::-1] * (1.0, -1.0)
    return point[segment] + forth[:, np.newaxis] * tangent + inward[:, np.newaxis] * aside


def _plane_turn(track: Track) -> Quaternion:
    """Quaternion of the axes ahead, left and up of a track's plane."""
    frame = track.frame
    # four times the products of the quaternion's components; the row of the largest square is the most accurate
    products = np.zeros((4, 4))
    products[:3, :3] = frame + frame.T
    products[3, :3] = products[:3, 3] = (
        frame[2, 1] - frame[1, 2],
        frame[0, 2] - frame[2, 0],
        frame[1, 0] - frame[0, 1],
    )
    np.fill_diagonal(products, [*(1.0 + 2.0 * np.diag(frame) - frame.trace()), 1.0 + frame.trace()])
    row = products[int(np.argmax(np.diag(products)))]
    x, y, z, w = (row / np.linalg.norm(row)).tolist()
    return (x, y, z, w)


def _without_return(numbers: list[int]) -> list[int]:
    """Wheels along a path without those at its end that it began with."""
    while len(numbers) > 1 and numbers[-1] == numbers[0]:
        numbers.pop()
    return numbers


def _moves(link: str, carrier: str, above: Mapping[str, Joint]) -> bool:
    """Whether a wheel's axle moves on the link that carries the track."""
    holder = above[link].parent
    while holder != carrier:
        if above[holder].type != "fixed":
            return True
        holder = above[holder].parent
    return False
