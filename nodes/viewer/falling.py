"""Soil in the air in the browser: each lot as some clods across the lip that it left."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import trimesh
import viser

from grouser.nodes.viewer.colours import Colour, linear

# Clods of a lot, and largest ones [m]: chosen by eye.
_CLODS, _LARGEST = 5, 0.06
# A lot keeps its mass as it falls: the digits beyond this say how its clods are shifted across the lip [kg].
_SHIFTS = 1e-4


class FallingSoil:
    """Draws soil in the air.

    Args:
        scene: where it is drawn.
        density: of loose soil [kg/m3].
        colour: of the soil.
    """

    def __init__(self, scene: viser.SceneApi, density: float, colour: Colour) -> None:
        self._scene, self._density = scene, density
        self._colour = linear(np.array(colour))
        self._clod = trimesh.creation.icosphere(subdivisions=1)
        self._handle: Any = None
        self._count = 0

    def receive(self, columns: Mapping[str, np.ndarray]) -> None:
        """Draws the lots of a message; `columns` has (n,) values for each of `FALLING_VALUES`."""
        places, radii = clods(columns, self._density)
        if self._handle is not None and len(places) == self._count:
            self._handle.batched_positions, self._handle.batched_scales = places, radii
            return
        self.clear()
        if not len(places):
            return
        upright = np.zeros((len(places), 4), dtype=np.float32)
        upright[:, 0] = 1.0
        self._count = len(places)
        self._handle = self._scene.add_batched_meshes_simple(
            "/falling_soil",
            np.asarray(self._clod.vertices, dtype=np.float32),
            np.asarray(self._clod.faces, dtype=np.uint32),
            upright,
            places,
            batched_scales=radii,
            batched_colors=self._colour,
            lod="off",
            flat_shading=True,
            cast_shadow=False,
        )

    def clear(self) -> None:
        """Removes all soil."""
        if self._handle is not None:
            self._handle.remove()
        self._handle, self._count = None, 0


def clods(columns: Mapping[str, np.ndarray], density: float) -> tuple[np.ndarray, np.ndarray]:
    """Places [m], (n, 3), and radii [m], (n,), of the clods of some lots: balls of their volume, up to a size."""
    middle = np.stack([columns["x"], columns["y"], columns["z"]], axis=1)
    half = np.stack([columns["half_x"], columns["half_y"], np.zeros(len(middle))], axis=1)
    shift = columns["mass"][:, np.newaxis] / _SHIFTS
    across = 2.0 * ((np.arange(_CLODS) / _CLODS + shift) % 1.0) - 1.0
    places = middle[:, np.newaxis] + across[:, :, np.newaxis] * half[:, np.newaxis]
    volume = columns["mass"] / (density * _CLODS)
    radii = np.minimum(np.cbrt(0.75 * volume / np.pi), _LARGEST)
    return places.reshape(-1, 3).astype(np.float32), np.repeat(radii, _CLODS).astype(np.float32)
