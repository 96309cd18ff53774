"""Profiles of buckets: the inner surface from the cutting edge to the top edge, as given or from collision meshes."""

import itertools
from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.mesh_section import SectionLine, mesh_section
from grouser.physics.description.urdf.meshes import MeshError

Profile = tuple[tuple[float, float], ...]
# Largest distance from an edge at which a profile ends there, and of a point that is left out from the line between
# its neighbours [m]: that of steel and drawings.
_CLOSED = 1e-3
_REMEDY = "give the profile"
_SOLIDS_REMEDY = "unite them in one, or give the profile"


@dataclass(frozen=True)
class Plate:
    """The plate from the cutting edge to the top edge, in the link's frame.

    Attributes:
        origin: middle of the cutting edge [m].
        up, normal: unit vectors up the plate, and normal to plate and edge.
        opening: length [m].
    """

    origin: np.ndarray
    up: np.ndarray
    normal: np.ndarray
    opening: float

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Places up the plate and along its normal [m], (points, 2)."""
        away = points - self.origin
        return np.column_stack([away @ self.up, away @ self.normal])


def given_profile(element: Element, points: tuple[Vector3, ...], plate: Plate) -> Profile:
    """A profile as written, in the axes of the plate, on the side of it that it lies on.

    Raises:
        MachineError: it has too few points, is open, or crosses itself or the plate.
    """
    flat = plate.flat(np.array(points, dtype=float))
    if len(flat) < 3:
        raise element.error(f"profile has {len(flat)} points", "give three at least, from cutting edge to top edge")
    for name, point, end in (("cutting_edge", flat[0], 0.0), ("top_edge", flat[-1], plate.opening)):
        distance = float(np.hypot(point[0] - end, point[1]))
        if distance > _CLOSED:
            raise element.error(
                f"profile is open: it ends {distance:.4g} m from {name}",
                f"it goes from cutting_edge to top_edge, within {_CLOSED:g} m",
            )
    return _checked(element, "profile", flat, plate)


def section_profile(element: Element, link: Link, plate: Plate, thickness: float) -> Profile:
    """The inner side of the section of a link's collision meshes in the middle of a bucket; empty without meshes.

    The section is a line from edge to edge, of sheets without thickness, or a loop around a wall, whose inner side
    counts: the one that encloses less with the plate.

    Args:
        element: for errors.
        link: with the meshes.
        plate: of the bucket.
        thickness: of the cutting edge: the section passes both edges within it [m].

    Raises:
        MachineError: a mesh cannot be read; the section has several lines, ends elsewhere than at the edges, or is
            solid up to the plate.
    """
    what = f"the section of the collision mesh of '{link.name}' in the middle of the cutting edge"
    try:
        lines = mesh_section(link, plate.origin, np.cross(plate.up, plate.normal))
    except MeshError as error:
        raise element.error(str(error), _REMEDY) from None
    if not lines:
        return ()
    if len(lines) > 1:
        raise element.error(f"{what} has {len(lines)} lines, not one: the mesh is of several solids", _SOLIDS_REMEDY)
    sides = _sides(element, what, lines[0], plate, thickness)
    inner = min(sides, key=lambda side: abs(_enclosed(side)))
    if abs(_enclosed(inner)) < thickness * plate.opening:
        raise element.error(f"{what} is solid up to the plate between the edges", _REMEDY)
    ends = np.array([(0.0, 0.0), (plate.opening, 0.0)])
    away = np.linalg.norm(inner[:, np.newaxis] - ends, axis=2).min(axis=1)
    return _checked(element, what, _simplified(np.vstack([ends[:1], inner[away > thickness], ends[1:]])), plate)


def _sides(element: Element, what: str, line: SectionLine, plate: Plate, thickness: float) -> list[np.ndarray]:
    """A section between its points nearest to the edges, from cutting edge to top edge: one line, or both of a loop."""
    flat = plate.flat(line.points)
    corners = np.vstack([flat, flat[:1]]) if line.closed else flat
    places = []
    for name, end in (("cutting_edge", 0.0), ("top_edge", plate.opening)):
        place, distance = _nearest(corners, np.array([end, 0.0])) if line.closed else _nearest_end(flat, end)
        if distance > max(thickness, _CLOSED):
            passes = "passes" if line.closed else "ends"
            raise element.error(f"{what} {passes} {distance:.4g} m from {name}", _REMEDY)
        places.append(place)
    cut, top = places
    if not line.closed:
        return [flat if cut < top else flat[::-1]]
    numbers = np.arange(len(flat))
    between = flat[(numbers > min(cut, top)) & (numbers < max(cut, top))]
    around = np.vstack([flat[numbers > max(cut, top)], flat[numbers < min(cut, top)]])
    return [between, around[::-1]] if cut < top else [between[::-1], around]


def _nearest_end(line: np.ndarray, place: float) -> tuple[float, float]:
    """Number of the end of a line that is nearest to a place up the plate, and its distance [m]."""
    distances = [float(np.hypot(line[end, 0] - place, line[end, 1])) for end in (0, -1)]
    return (0.0, distances[0]) if distances[0] <= distances[1] else (float(len(line) - 1), distances[1])


def _nearest(line: np.ndarray, point: np.ndarray) -> tuple[float, float]:
    """Where a line is nearest to a point, in points and parts between them, and the distance [m]."""
    begin, along = line[:-1], np.diff(line, axis=0)
    square = np.maximum((along**2).sum(axis=1), 1e-30)
    share = np.clip(((point - begin) * along).sum(axis=1) / square, 0.0, 1.0)
    distance = np.linalg.norm(begin + share[:, np.newaxis] * along - point, axis=1)
    k = int(np.argmin(distance))
    return k + float(share[k]), float(distance[k])


def _enclosed(line: np.ndarray) -> float:
    """Area between a line and the chord of its ends, by the shoelace formula [m2]."""
    after = np.roll(line, -1, axis=0)
    return 0.5 * float((line[:, 0] * after[:, 1] - line[:, 1] * after[:, 0]).sum())


def _simplified(line: np.ndarray) -> np.ndarray:
    """A line without the points that are close to it (Ramer, Douglas and Peucker)."""
    if len(line) < 3:
        return line
    away, chord = line[1:-1] - line[0], line[-1] - line[0]
    share = np.clip(away @ chord / max(float(chord @ chord), 1e-30), 0.0, 1.0)
    distance = np.linalg.norm(away - share[:, np.newaxis] * chord, axis=1)
    k = 1 + int(np.argmax(distance))
    if distance[k - 1] <= _CLOSED:
        return line[[0, -1]]
    return np.vstack([_simplified(line[: k + 1])[:-1], _simplified(line[k:])])


def _checked(element: Element, what: str, flat: np.ndarray, plate: Plate) -> Profile:
    """Points behind the plate as a profile, with its ends at the edges."""
    flat[0], flat[-1] = (0.0, 0.0), (plate.opening, 0.0)
    flat[:, 1] *= 1.0 if flat[:, 1].sum() >= 0.0 else -1.0
    if (flat[1:-1, 1] <= 0.0).any():
        k = 1 + int(np.argmin(flat[1:-1, 1]))
        raise element.error(
            f"point {k + 1} of {what} is {-flat[k, 1]:.4g} m before the plate, and others are behind it",
            "all points between the edges lie on one side of the plate",
        )
    for one, other in itertools.combinations(range(len(flat) - 1), 2):
        if other > one + 1 and _cross(flat[one], flat[one + 1], flat[other], flat[other + 1]):
            raise element.error(
                f"{what} crosses itself: between its points {one + 1} and {one + 2}, and {other + 1} and {other + 2}"
            )
    return tuple((float(place), float(depth)) for place, depth in flat)


def _cross(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> bool:
    """Whether two line segments in a plane cross."""

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0.0 and side(c, d, a) * side(c, d, b) < 0.0
