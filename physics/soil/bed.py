"""Soft ground without machines, from Python."""

import numpy as np

from grouser.physics.base.checks import STEPS_MAX, require_count, require_range, require_type, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kernel import kernel
from grouser.physics.contact.terrain import make_terrain
from grouser.physics.description.data.world import Ground
from grouser.physics.soil.contact import RIM_STEPS
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.heaps import with_heaps
from grouser.physics.soil.laws import make_soils
from grouser.physics.soil.relaxation import (
    PLATE,
    RelaxationWorkspace,
    count_restless,
    make_relaxation_workspace,
    relax_soil,
    tiles_of_slides,
    wake_cells,
)
from grouser.physics.soil.strata import add_loose, field_mass, loose_density, soil_of, take_soil
from grouser.physics.soil.tiles import LOOSE, SIDE, SURFACE, SoilState, make_tiles, open_window, with_room

_NO_PLATES = np.zeros((0, PLATE))
_FIRST_TILES = 32
_CELLS_MAX = 4_000_000
_LENGTH_MAX = 1e4


class SoilBed:
    """Soft ground that is dug by hand: cuts, heaps, slides and their mass.

    Args:
        ground: with soil.
        gravity: [m/s2].

    Raises:
        ParameterError: ground without soil, or a wrong gravity.
    """

    def __init__(self, ground: Ground, gravity: float = 9.81):
        require_type("ground", ground, Ground, "a Ground")
        if ground.soil is None:
            raise ParameterError("ground", ground, "a Ground with soil")
        self.spacing = ground.soil.cell
        gravity = require_range("gravity", gravity, 0.01, 1000.0, "m/s2")
        self.ground = SoftGround(make_soils(ground.soil.soils), make_terrain(ground), self.spacing, gravity)
        natural = SoilState(
            **make_tiles(_FIRST_TILES),
            wheel_motion=np.zeros((0, 4)),
            rim_shear=np.zeros((0, RIM_STEPS, 2)),
            wheel_sinkage=np.zeros(0),
            wheel_elastic=np.zeros((0, 3)),
            soil_work=np.zeros(0),
            moved_soil=np.zeros(0),
        )
        self.state = with_heaps(self.ground, ground.soil, natural)
        self.buffers = make_relaxation_workspace()

    @property
    def mass(self) -> float:
        """Solid mass above the natural ground [kg]; negative where more was dug than lies there."""
        return float(field_mass(self.ground, self.state))

    @property
    def at_rest(self) -> bool:
        """Whether no soil may slide."""
        return count_restless(self.state) == 0

    def heights(self, x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
        """Heights of the cells within two ranges, (rows along x, columns along y) [m]."""
        return self._layer(SURFACE, x, y)

    def loose(self, x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
        """Thickness of loose soil of the cells within two ranges, (rows along x, columns along y) [m]."""
        return self._layer(LOOSE, x, y)

    def pour(self, mass: float, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Lays loose soil evenly on the cells within two ranges [kg]."""
        mass = require_range("mass", mass, 0.0, 1e9, "kg")
        window, place = self._open(x, y)
        _pour(self.ground, mass, *window, place, self.state)

    def cut(self, level: float, x: tuple[float, float], y: tuple[float, float]) -> float:
        """Takes the soil above a level off the cells within two ranges, and away; returns its mass [kg]."""
        level = require_range("level", level, -_LENGTH_MAX, _LENGTH_MAX, "m")
        window, place = self._open(x, y)
        return float(_cut(self.ground, level, *window, place, self.state))

    def relax(self, steps: int) -> int:
        """Lets soil slide for some steps, or until it rests; returns the number of steps made."""
        left = require_count("steps", steps, 0, STEPS_MAX)
        while left > 0 and not self.at_rest:
            self.reserve(tiles_of_slides(self.state))
            left -= _relax(self.ground, left, self.state, self.buffers)
        return steps - left

    def reserve(self, tiles: int) -> None:
        """Makes sure that a number of tiles can be opened."""
        self.state = with_room(self.state, tiles)

    def _open(self, x: tuple[float, float], y: tuple[float, float]) -> tuple[tuple[int, int, int, int], np.ndarray]:
        """First cell, rows and columns of the cells whose centres lie within two ranges, and their places."""
        ends = []
        for name, given in (("x", x), ("y", y)):
            low, high = require_vector(name, given, 2, "m", _LENGTH_MAX)
            first, last = (int(np.ceil(low / self.spacing - 1e-9)), int(np.floor(high / self.spacing + 1e-9)))
            if last < first:
                raise ParameterError(
                    name, given, f"a range with the centre of a cell, a multiple of {self.spacing:g} m"
                )
            ends.append((first, last - first + 1))
        (i, rows), (j, columns) = ends
        if rows * columns > _CELLS_MAX:
            raise ParameterError("x, y", (x, y), f"ranges of at most {_CELLS_MAX} cells of {self.spacing:g} m")
        self.reserve((rows // SIDE + 3) * (columns // SIDE + 3))
        place = np.zeros(rows * columns, dtype=np.int64)
        open_window(self.ground.terrain, self.spacing, self.state, i, j, rows, columns, place)
        return (i, j, rows, columns), place

    def _layer(self, layer: int, x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
        (_, _, rows, columns), place = self._open(x, y)
        return self.state.soil_cell[place + layer].reshape(rows, columns)


@kernel
def _pour(ground: SoftGround, mass, i, j, rows, columns, place, state: SoilState):
    """Lays the same mass of loose soil on each of the cells of a window."""
    of_cell = mass / (place.shape[0] * ground.spacing * ground.spacing)
    for at in place:
        add_loose(state.soil_cell, at, of_cell / loose_density(ground.soils, soil_of(state.soil_cell, at)))
    wake_cells(ground, state, i, i + rows - 1, j, j + columns - 1)


@kernel
def _cut(ground: SoftGround, level, i, j, rows, columns, place, state: SoilState):
    """Takes the soil above a level off the cells of a window; returns its mass [kg]."""
    mass = 0.0
    for at in place:
        above = state.soil_cell[at + SURFACE] - level
        if above > 0.0:
            mass += take_soil(ground.soils, state.soil_cell, at, above, 1.0)[0]
    wake_cells(ground, state, i, i + rows - 1, j, j + columns - 1)
    return mass * ground.spacing * ground.spacing


@kernel
def _relax(ground: SoftGround, steps, state: SoilState, work: RelaxationWorkspace):
    """Steps until soil rests, the steps are made, or more tiles might be needed than there are; returns the number."""
    for made in range(steps):
        tiles = tiles_of_slides(state)
        if tiles == 0 or state.tile_count[0] + tiles > state.tile_place.shape[0]:
            return made
        relax_soil(ground, _NO_PLATES, state, work)
    return steps
