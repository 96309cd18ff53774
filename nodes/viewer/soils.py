"""Colours and grain of soils."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from grouser.physics.description.data.soil import SoilGround

# By words in the names of soils, the first that fits; chosen by eye, darker than they look under the page's lights.
_COLOURS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "snow": (236, 240, 245),
        "lunar": (138, 138, 136),
        "martian": (178, 104, 66),
        "clay": (150, 96, 70),
        "loam": (124, 92, 64),
        "sand": (198, 162, 108),
    }
)
OTHER_SOIL = (158, 134, 100)
HARD_GROUND = (200, 197, 188)
_DUG = 0.72  # lightness of loose soil, by that of undisturbed soil
_GRAIN = 14.0  # standard deviation of the lightness of a soil's grains
_PATTERN = 256  # places of the pattern of grains on each side


def soil_colour(name: str) -> tuple[int, int, int]:
    """Colour of a soil: by its name, where that says what it is."""
    return next((colour for word, colour in _COLOURS.items() if word in name), OTHER_SOIL)


def dug(colours: np.ndarray) -> np.ndarray:
    """Colours of soils, loose: darker, as what has just been dug, 0 to 255."""
    return np.rint(_DUG * colours).astype(np.uint8)


def dug_colour(ground: SoilGround) -> tuple[int, int, int]:
    """Colour of the first soil of a ground, dug."""
    red, green, blue = dug(np.array(soil_colour(ground.soils[0].name))).tolist()
    return red, green, blue


class Grain:
    """Colours of natural ground.

    Args:
        ground: its soils and their map.
    """

    def __init__(self, ground: SoilGround) -> None:
        self._ground = ground
        # The last is hard ground, which the map has as -1.
        self._palette = np.array([*(soil_colour(soil.name) for soil in ground.soils), HARD_GROUND], dtype=float)
        self._grains = np.random.default_rng(1).normal(0.0, _GRAIN, (_PATTERN, _PATTERN))

    def colours(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Colours of places [m], shapes (n,), with their grains, shape (n, 3), 0 to 255."""
        i, j = (np.rint(place / self._ground.cell).astype(np.int64) % _PATTERN for place in (x, y))
        colours = self._palette[self.kinds(x, y)] + self._grains[i, j, np.newaxis]
        return np.clip(np.rint(colours), 0, 255).astype(np.uint8)

    def kinds(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Numbers of the soils at places [m], (n,); -1 is hard ground."""
        types, ground = self._ground.types, self._ground
        if types is None:
            return np.zeros(len(x), dtype=np.int64)
        places = (
            np.clip(np.rint((place - start) / ground.types_cell).astype(np.int64), 0, count - 1)
            for place, start, count in zip((x, y), ground.types_origin, types.shape, strict=True)
        )
        return types[tuple(places)].astype(np.int64)

    def texture(self, kind: int) -> np.ndarray:
        """A picture of a soil that fits to itself on all sides, (n, n, 3), 0 to 255; -1: of hard ground."""
        return np.clip(np.rint(self._palette[kind] + self._grains[:, :, np.newaxis]), 0, 255).astype(np.uint8)

    @property
    def pattern_size(self) -> float:
        """Side of the ground that `texture` shows [m]."""
        return _PATTERN * self._ground.cell
