"""Soil in buckets in the browser: a surface that fills the bucket's profile by the volume that is published."""

from typing import NamedTuple

import numpy as np
import viser

from grouser.nodes.viewer.colours import Colour
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import rotate
from grouser.physics.description.data.shovel import Shovel

# Columns of the surface from edge to edge, and rows between the sides of a bucket.
_COLUMNS, _ROWS = 25, 9
# Share of the width that is drawn, and the height of lumps by the opening: chosen by eye.
_WITHIN, _LUMPS = 0.98, 0.015
_HALVINGS = 20
# Smallest volume that is drawn, as a share of the profile's, smallest change of it, and of the vertical.
_LEAST, _SEEN, _SEEN_TURN = 1e-3, 5e-3, 5e-3


class Section(NamedTuple):
    """A bucket cut into columns along a level line.

    Attributes:
        place: of the columns along the line [m], (columns,).
        low: height of the profile below [m], (columns,).
        most: height up to which soil can lie, row by row [m], (columns, rows).
        area: of a column and row, seen from above [m2].
    """

    place: np.ndarray
    low: np.ndarray
    most: np.ndarray
    area: float


class BucketView:
    """Draws the soil in a bucket.

    Args:
        scene: where it is drawn.
        node: name of the node of the bucket's link.
        shovel: the bucket.
        slope: of heaped soil, rise over run [-].
        colour: of the soil.
    """

    def __init__(self, scene: viser.SceneApi, node: str, shovel: Shovel, slope: float, colour: Colour) -> None:
        self._scene, self._shovel, self._slope, self._colour = scene, shovel, slope, colour
        self._name = f"{node}/soil_{shovel.name.replace('/', '|')}"
        self._axes = plate_axes(shovel)
        self._handle: viser.MeshHandle | None = None
        self._drawn = np.zeros(4)

    @property
    def name(self) -> str:
        """Name of the shovel."""
        return self._shovel.name

    @property
    def link(self) -> str:
        """Name of its link."""
        return self._shovel.link

    def show(self, volume: float, pose: Pose) -> None:
        """Draws a volume of soil at a pose of the bucket's link in the world, if that differs from what is drawn.

        Args:
            volume: loose [m3].
            pose: of the link.
        """
        x, y, z, w = pose.quaternion
        up = np.array(rotate((-x, -y, -z, w), (0.0, 0.0, 1.0)))
        share = volume / (self._shovel.width * self._shovel.opening**2)
        now = np.array([share / _SEEN, *(up / _SEEN_TURN)]) if share > _LEAST else np.zeros(4)
        if np.abs(now - self._drawn).max() < 1.0:
            return
        self._drawn = now
        self.remove()
        if share <= _LEAST:
            return
        vertices, faces = soil_mesh(self._shovel, self._axes, self._slope, volume, up)
        self._handle = self._scene.add_mesh_simple(
            self._name, vertices, faces, color=self._colour, flat_shading=True, side="double", cast_shadow=False
        )

    def remove(self) -> None:
        """Removes what is drawn."""
        if self._handle is not None:
            self._handle.remove()
        self._handle = None


def plate_axes(shovel: Shovel) -> np.ndarray:
    """Middle of the cutting edge, and unit vectors up the plate, into the bucket and along the edge, (4, 3)."""
    edge, top = (np.array(ends) for ends in (shovel.cutting_edge, shovel.top_edge))
    middle, across = edge.mean(axis=0), edge[1] - edge[0]
    across /= np.linalg.norm(across)
    along = top.mean(axis=0) - middle
    along -= (along @ across) * across
    along /= np.linalg.norm(along)
    depth = np.cross(along, across)
    return np.array([middle, along, -np.copysign(1.0, depth @ shovel.cutting_direction) * depth, across])


def soil_mesh(
    shovel: Shovel, axes: np.ndarray, slope: float, volume: float, up: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Surface of a volume of soil in a bucket, and its sides, in the frame of the bucket's link.

    The soil is level up to where its slopes meet those that it can stand at, from the edges and the sides.

    Args:
        shovel: the bucket.
        axes: as of `plate_axes`.
        slope: of the soil, rise over run [-].
        volume: loose [m3].
        up: unit vector to the zenith, in the frame of the link, (3,).

    Returns:
        Vertices [m], (n, 3), and triangles, (m, 3).
    """
    middle, along, depth, across = axes
    vertical = np.array([up @ along, up @ depth])
    vertical /= max(np.linalg.norm(vertical), 1e-9)
    section = cut_section(shovel, vertical, slope)
    surface = fill(section, volume)
    level = np.array([-vertical[1], vertical[0]])
    width = _WITHIN * shovel.width * np.linspace(-0.5, 0.5, _ROWS)
    heights = np.column_stack([surface, section.low, section.low])
    rows = np.concatenate([width, width[[0, -1]]])
    flat = section.place[:, np.newaxis, np.newaxis] * level + heights[:, :, np.newaxis] * vertical
    vertices = middle + flat[:, :, :1] * along + flat[:, :, 1:] * depth + rows[:, np.newaxis] * across
    strips = [(row, row + 1) for row in range(_ROWS - 1)] + [(_ROWS, 0), (_ROWS - 1, _ROWS + 1)]
    lies = np.flatnonzero((surface > section.low[:, np.newaxis]).any(axis=1))
    columns = np.unique(np.clip(np.concatenate([lies - 1, lies]), 0, _COLUMNS - 2))
    corner = columns * len(rows)
    faces = [
        triangle
        for one, other in strips
        for triangle in (
            np.stack([corner + one, corner + len(rows) + one, corner + other], axis=1),
            np.stack([corner + other, corner + len(rows) + one, corner + len(rows) + other], axis=1),
        )
    ]
    return vertices.reshape(-1, 3), np.concatenate(faces)


def cut_section(shovel: Shovel, vertical: np.ndarray, slope: float) -> Section:
    """A bucket in columns; those below its opening can be heaped.

    Args:
        shovel: the bucket.
        vertical: unit vector to the zenith, along the plate and into the bucket, (2,).
        slope: of the soil, rise over run [-].
    """
    corners = np.array(shovel.profile)
    heights, places = corners @ vertical, corners @ np.array([-vertical[1], vertical[0]])
    place = np.linspace(places.min(), places.max(), _COLUMNS)
    low, high = np.full(_COLUMNS, np.inf), np.full(_COLUMNS, -np.inf)
    plate = high
    for k in range(len(corners)):
        ends = [k, (k + 1) % len(corners)]
        first, last = sorted(ends, key=lambda end: places[end])
        within = (place >= places[first]) & (place <= places[last])
        met = np.interp(place, places[[first, last]], heights[[first, last]])
        low, high = np.where(within, np.minimum(low, met), low), np.where(within, np.maximum(high, met), high)
        plate = np.where(within, met, -np.inf)  # the last side is the plate
    near, far = sorted(places[[0, -1]].tolist())
    opened = plate >= high - 1e-9
    from_edges = np.where(opened, np.minimum(place - near, far - place), 0.0)
    from_sides = 0.5 * shovel.width * (1.0 - np.abs(np.linspace(-1.0, 1.0, _ROWS)))
    heap = slope * np.minimum.outer(np.maximum(from_edges, 0.0), from_sides)
    lumps = _LUMPS * shovel.opening * np.random.default_rng(1).uniform(0.0, 1.0, heap.shape)
    area = shovel.width / (_ROWS - 1) * float(place[1] - place[0])
    return Section(place, low, high[:, np.newaxis] + heap + np.where(heap > 0.0, lumps, 0.0), area)


def fill(section: Section, volume: float) -> np.ndarray:
    """Heights of the surface of a volume of soil; all that can lie there, if it is more [m], (columns, rows)."""
    low, weight = section.low[:, np.newaxis], np.full(section.most.shape, section.area)
    weight[[0, -1]] *= 0.5
    weight[:, [0, -1]] *= 0.5
    bottom, top = section.low.min(), section.most.max()
    for _ in range(_HALVINGS):
        level = 0.5 * (bottom + top)
        filled = float((weight * np.maximum(np.minimum(level, section.most) - low, 0.0)).sum())
        bottom, top = (level, top) if filled < volume else (bottom, level)
    return np.maximum(np.minimum(top, section.most), low)
