"""Grains in the browser: one mesh, drawn for each of them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import trimesh
import viser

from grouser.nodes.viewer.colours import STOPS, ColourScale, linear

STONE = "stone"  # colours of the materials
# The largest force of the scale grows with what is seen.
SCALES = {
    "speed": ColourScale("speed of the grains", "m/s", 1.0, 2.0),
    "force": ColourScale("force on the grains", "N", 1.0, 0.0),
}
CHOICES = (*SCALES, STONE)
# Share of the grains that bear at most the largest force of the scale.
_WITHIN = 0.99
# Colours of materials, by their numbers; chosen by eye.
_STONES = np.array([(92, 84, 72), (62, 68, 76), (118, 94, 62), (84, 62, 50), *STOPS], dtype=np.uint8)


class GrainsView:
    """Draws grains as spheres.

    Args:
        scene: where they are drawn.

    Attributes:
        shown_as: what their colours mean, one of `CHOICES`.
    """

    def __init__(self, scene: viser.SceneApi):
        self._scene = scene
        self._ball = trimesh.creation.icosphere(subdivisions=1)
        self._handle: Any = None
        self._columns: Mapping[str, np.ndarray] = {}
        self._scales = dict(SCALES)
        self.shown_as = STONE

    @property
    def legend(self) -> str:
        """The scale of the colours, as HTML; "" for those of the materials."""
        return "" if self.shown_as == STONE else self._scales[self.shown_as].legend()

    @property
    def count(self) -> int:
        """Number of grains that are drawn."""
        return len(self._columns["x"]) if self._columns else 0

    def receive(self, columns: Mapping[str, np.ndarray]) -> None:
        """Draws the grains of a message; `columns` has (n,) values for each of `GRAIN_VALUES`."""
        before, self._columns = self.count, columns
        places = np.stack([columns["x"], columns["y"], columns["z"]], axis=1).astype(np.float32)
        if self.count != before or self._handle is None:
            self._make(places)
        elif self.count:
            self._handle.batched_positions = places
            self._colour()

    def colour_by(self, choice: str) -> None:
        """Chooses what the colours mean, one of `CHOICES`."""
        self.shown_as = choice
        if self.count:
            self._colour()

    def clear(self) -> None:
        """Removes all grains."""
        if self._handle is not None:
            self._handle.remove()
        self._handle, self._columns, self._scales = None, {}, dict(SCALES)

    def _make(self, places: np.ndarray) -> None:
        """Draws another number of grains anew."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        if not len(places):
            return
        upright = np.zeros((len(places), 4), dtype=np.float32)
        upright[:, 0] = 1.0
        self._handle = self._scene.add_batched_meshes_simple(
            "/grains",
            np.asarray(self._ball.vertices, dtype=np.float32),
            np.asarray(self._ball.faces, dtype=np.uint32),
            upright,
            places,
            batched_scales=self._columns["radius"].astype(np.float32),
            batched_colors=self._colours(),
            lod="off",
            flat_shading=False,
            cast_shadow=False,
        )

    def _colour(self) -> None:
        colours = self._colours()
        if not np.array_equal(colours, self._handle.batched_colors):
            self._handle.batched_colors = colours

    def _colours(self) -> np.ndarray:
        """Colours of the grains."""
        if self.shown_as == STONE:
            return linear(_STONES[self._columns["material"].astype(np.int64) % len(_STONES)])
        values, scale = self._columns[self.shown_as], self._scales[self.shown_as]
        if self.shown_as == "force":
            largest = _round_up(float(np.quantile(values, _WITHIN)))
            scale = self._scales["force"] = replace(scale, largest=max(scale.largest, largest))
        return linear(scale.colours(values))


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20 and so on, or of their parts; at least a millionth."""
    power = 10.0 ** math.floor(math.log10(max(value, 1e-6)))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value)
