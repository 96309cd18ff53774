"""Soft ground in the browser: the ruts of `terrain`, as tiles of a mesh that replace the natural ground there."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import viser

from grouser.nodes.viewer.colours import ColourScale
from grouser.nodes.viewer.shapes import textured_mesh
from grouser.nodes.viewer.soils import Grain, dug

TILE = 32  # cells on each side of a tile
TILES = 1600  # that are drawn, but for those that the simulator sends
TOUCHED = 1e-4  # rut or sinkage from which on a cell is no longer natural ground [m]
SCALES = {
    "sinkage": ColourScale("sinkage of the ground", "mm", 1e-3, 0.05),
    "pressure": ColourScale("pressure that the ground has carried", "kPa", 1e3, 200e3),
    "loose": ColourScale("thickness of loose soil", "mm", 1e-3, 0.3),
}
PLAIN = "soil"  # colour of the ground itself
_COVERS = 0.02  # thickness of loose soil that hides what is below it [m]
_FIELDS = ("z", "sinkage", "pressure", "loose")

TileIndex = tuple[int, int]


class TerrainView:
    """Draws natural ground, and where wheels have been the ground that they have left.

    A tile is drawn once a cell of it is touched, and again when it changes. Tiles that the simulator no longer sends,
    because the wheels are far away, stay as they were, up to `TILES` of them.

    Args:
        scene: where they are drawn.
        cell: spacing of the soil's cells [m].
        natural: height of the natural ground over places x and y [m], shapes (n,).
        grain: colours of the natural ground.
        draw_natural: draws the natural ground but for some tiles.

    Attributes:
        shown_as: what its colours mean: a name of `SCALES`, or `PLAIN`.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        cell: float,
        natural: Callable[[np.ndarray, np.ndarray], np.ndarray],
        grain: Grain,
        draw_natural: Callable[[set[TileIndex]], None],
    ) -> None:
        self._scene, self._cell, self._natural = scene, cell, natural
        self._grain, self._draw_natural = grain, draw_natural
        self._tiles: dict[TileIndex, dict[str, np.ndarray]] = {}
        self._handles: dict[TileIndex, Any] = {}
        self.shown_as = "sinkage"
        draw_natural(set())

    def receive(self, points: Mapping[str, np.ndarray]) -> None:
        """Takes the cells of a message.

        Args:
            points: x, y and z [m], sinkage [m] and pressure [Pa] of each cell, the depth of its rut [m], and the
                thickness of its loose soil [m], (n,) each.
        """
        cells = np.rint(np.stack([points["x"], points["y"]], axis=1) / self._cell).astype(np.int64)
        touched = (np.abs(points["rut"]) > TOUCHED) | (points["sinkage"] > TOUCHED)
        # The surface of a tile goes to the first cells of the next ones.
        places, changed = cells // TILE, set()
        for back in ((0, 0), (1, 0), (0, 1), (1, 1)):
            changed |= set(map(tuple, np.unique((cells[touched] - back) // TILE, axis=0).tolist()))
        order = np.lexsort(places.T)
        starts = np.flatnonzero(np.any(np.diff(places[order], axis=0, prepend=places[order][:1] - 1), axis=1))
        dirty = changed - set(self._handles)
        for group in np.split(order, starts[1:]) if len(order) else []:
            place = tuple(places[group[0]].tolist())
            if place not in self._tiles and not touched[group].any():
                continue
            tile = self._tile(place)
            i, j = (cells[group] - np.array(place) * TILE).T
            for field in _FIELDS:
                values = points[field][group]
                if not np.array_equal(tile[field][i, j], values):
                    tile[field][i, j] = values
                    # The neighbours whose surfaces end here change with it.
                    dirty |= {(place[0] - a, place[1] - b) for a in (0, 1) for b in (0, 1)}
        new = changed - set(self._handles)
        for place in sorted(dirty & (changed | set(self._handles))):
            self._draw(place)
        if new:
            self._forget(set(map(tuple, np.unique(places, axis=0).tolist())))
            self._draw_natural(set(self._handles))

    def colour_by(self, choice: str) -> None:
        """Chooses what the ground's colours mean: a name of `SCALES`, or `PLAIN`."""
        self.shown_as = choice
        for place in list(self._handles):
            self._draw(place)

    def clear(self) -> None:
        """Makes all ground natural again."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        self._tiles.clear()
        self._draw_natural(set())

    def _forget(self, sent: set[TileIndex]) -> None:
        """Removes the tiles that were drawn first, where there are too many; not those that were sent now."""
        surplus = len(self._handles) - TILES
        for place in [place for place in self._handles if place not in sent][: max(surplus, 0)]:
            self._handles.pop(place).remove()
            self._tiles.pop(place, None)

    def _tile(self, place: TileIndex) -> dict[str, np.ndarray]:
        if place not in self._tiles:
            x, y = self._places(place, TILE)
            z = self._natural(x.ravel(), y.ravel()).reshape(x.shape).astype(np.float32)
            self._tiles[place] = {field: z if field == "z" else np.zeros_like(z) for field in _FIELDS}
        return self._tiles[place]

    def _places(self, place: TileIndex, count: int) -> tuple[np.ndarray, np.ndarray]:
        """x and y of `count` cells each way from the first of a tile on [m], shape (count, count) each."""
        i, j = (self._cell * (TILE * index + np.arange(count)) for index in place)
        x, y = np.meshgrid(i, j, indexing="ij")
        return x, y

    def _layer(self, place: TileIndex, field: str) -> np.ndarray:
        """A field of a tile and of the first cells of the next ones, shape (TILE + 1, TILE + 1)."""
        x, y = self._places(place, TILE + 1)
        layer = np.zeros(x.shape, dtype=np.float32)
        if field == "z":
            layer[:] = self._natural(x.ravel(), y.ravel()).reshape(x.shape)
        for a, rows in ((0, slice(0, TILE)), (1, slice(TILE, None))):
            for b, columns in ((0, slice(0, TILE)), (1, slice(TILE, None))):
                tile = self._tiles.get((place[0] + a, place[1] + b))
                if tile is not None:
                    layer[rows, columns] = tile[field][: TILE if a == 0 else 1, : TILE if b == 0 else 1]
        return layer

    def _draw(self, place: TileIndex) -> None:
        x, y = self._places(place, TILE + 1)
        z = self._layer(place, "z")
        picture = self._colours(place, x.ravel(), y.ravel()).reshape(TILE + 1, TILE + 1, 3)
        mesh = textured_mesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), _FACES, _IN_PICTURE, picture)
        name = f"/terrain/{place[0]}_{place[1]}"
        # A node of the same name takes the place of the one before.
        self._handles[place] = self._scene.add_mesh_trimesh(name, mesh, cast_shadow=False)

    def _colours(self, place: TileIndex, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        plain = self._grain.colours(x, y)
        covered = np.clip(self._layer(place, "loose").ravel() / _COVERS, 0.0, 1.0)[:, np.newaxis]
        plain = np.rint((1.0 - covered) * plain + covered * dug(plain)).astype(np.uint8)
        if self.shown_as == PLAIN:
            return plain
        values = self._layer(place, self.shown_as).ravel()
        scale = SCALES[self.shown_as]
        share = np.clip(values / (0.1 * scale.largest), 0.0, 1.0)[:, np.newaxis]  # natural ground keeps its colour
        return np.rint((1.0 - share) * plain + share * scale.colours(values)).astype(np.uint8)


def _faces() -> np.ndarray:
    """Triangles of a tile, shape (2 * TILE**2, 3)."""
    side = TILE + 1
    corner = (np.arange(TILE)[:, np.newaxis] * side + np.arange(TILE)).ravel()
    ahead, opposite, aside = corner + side, corner + side + 1, corner + 1
    return np.concatenate([np.stack([corner, ahead, opposite], 1), np.stack([corner, opposite, aside], 1)])


_FACES = _faces()
# Places of a tile's cells in its picture, whose rows are along x, shape (n, 2): to the right and up, 0 to 1.
_MIDDLES = (np.arange(TILE + 1) + 0.5) / (TILE + 1)
_IN_PICTURE = np.stack(np.meshgrid(1.0 - _MIDDLES, _MIDDLES, indexing="ij")[::-1], axis=-1).reshape(-1, 2)
