"""Soils, soft ground, and the wheels that roll on it. SI units."""

import math
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.base.checks import require_items, require_range, require_size, require_vector
from grouser.physics.base.errors import ParameterError

LEVELS = ("cells", "stress", "deformable")
SLIP_SINKAGE = ("none", "exponent", "lyasko")
HEAP_MIN, HEAP_MAX = 0.01, 10.0  # lowest and greatest height of a heap [m]
HEAP_CELLS_MAX = 1000  # in the radius of a heap


@dataclass(frozen=True)
class Validity:
    """Range in which the parameters of a soil were measured; outside of it they are extrapolated.

    Attributes:
        width: least and greatest width of the plates or wheels [m].
        pressure: greatest normal pressure [Pa].
        diameter: least diameter of a wheel [m].
        sinkage: greatest sinkage of a wheel over its diameter [-]. The default is Bekker's bound (1969).
    """

    width: tuple[float, float] = (0.0, np.inf)
    pressure: float = np.inf
    diameter: float = 0.0
    sinkage: float = 1.0 / 3.0


@dataclass(frozen=True, repr=False)
class Soil:
    """A soil.

    A plate of width b presses with p = K z^n: K = k_c / b + k_phi (Bekker 1969), or K = (k_1 + k_2 b) / b^n where
    `reece_k1` and `reece_k2` are given (Wong and Reece 1967). It shears with tau = (c + p tan phi) (1 - exp(-j / K_x)).

    Attributes:
        name: as world files give it.
        source: of its parameters.
        cohesive_modulus: k_c [N/m^(n+1)].
        frictional_modulus: k_phi [N/m^(n+2)].
        reece_k1, reece_k2: k_1 [Pa] and k_2 [Pa/m]; None for Bekker's form.
        exponent: n [-].
        slip_sinkage: how sinkage grows with slip s: "none"; "exponent", n + n_1 abs(s) (Ding et al. 2011); "lyasko",
            z (1 + s) / (1 - 0.5 s) (Lyasko 2010).
        slip_exponent: n_1 [-].
        cohesion: c [Pa].
        friction_angle: phi [rad].
        shear_displacement_modulus: K_x at slip angle 0 [m].
        shear_displacement_slope: growth of K_x with the slip angle [m/rad].
        lateral_shear_modulus, lateral_shear_slope: the same of K_y, across the wheel [m, m/rad].
        sliding_friction: mu_t, greatest shear over normal stress [-]; infinite for none.
        max_stress_a0, max_stress_a1: the greatest normal stress is at (a0 + a1 s) of the entry angle [-].
        exit_ratio: lambda, depth at the exit over sinkage [-].
        exit_angle_ratio: exit angle over entry angle, both above zero [-]; replaces `exit_ratio` where given.
        unloading_stiffness, unloading_slope: k_0 and A_u of p = p_u - (k_0 + A_u z_u) (z_u - z) below the deepest
            sinkage z_u (Wong) [N/m3, N/m4].
        heave: share of the displaced volume that rises beside and ahead of the wheel; the rest is compacted [-]. The
            default is chosen: loose soil is mainly compacted.
        density: [kg/m3].
        repose_angle: angle of repose [rad].
        swell: volume of loosened soil over that of the undisturbed one [-]. The default is chosen: common earth.
        lumps: whether what tools cut becomes grains until it rests.
        soil_stiffness: c_f, elastic stiffness of a cell [N/m3]; None without parameters for cells.
        soil_viscosity: eta [Pa s/m].
        plastic_modulus: mu_v [N/m3].
        yield_stress: mu_p [Pa].
        validity: of the parameters.
    """

    name: str
    source: str
    frictional_modulus: float
    exponent: float
    cohesion: float
    friction_angle: float
    shear_displacement_modulus: float
    density: float
    repose_angle: float
    cohesive_modulus: float = 0.0
    reece_k1: float | None = None
    reece_k2: float | None = None
    slip_sinkage: str = "none"
    slip_exponent: float = 0.0
    shear_displacement_slope: float = 0.0
    lateral_shear_modulus: float | None = None
    lateral_shear_slope: float = 0.0
    sliding_friction: float = np.inf
    max_stress_a0: float = 0.4
    max_stress_a1: float = 0.15
    exit_ratio: float = 0.0
    exit_angle_ratio: float | None = None
    unloading_stiffness: float = 4e7
    unloading_slope: float = 0.0
    heave: float = 0.3
    swell: float = 1.25
    lumps: bool = False
    soil_stiffness: float | None = None
    soil_viscosity: float | None = None
    plastic_modulus: float | None = None
    yield_stress: float | None = None
    validity: Validity = Validity()

    def __repr__(self) -> str:
        return (
            f"<Soil '{self.name}': exponent {self.exponent:g}, cohesion {self.cohesion:g} Pa, friction angle"
            f" {math.degrees(self.friction_angle):.3g} deg, density {self.density:g} kg/m3>"
        )


@dataclass(frozen=True)
class Heap:
    """A heap of loose soil on soft ground at the start: a cone at the angle of repose of the soil below its top.

    Attributes:
        place: x, y of its top in the world [m].
        height: of its top above the ground there [m]; None where `volume` is given.
        volume: of the cone on level ground, loose [m3]; None where `height` is given.

    Raises:
        ParameterError: neither or both of height and volume, or a value out of its range.
    """

    place: tuple[float, float]
    height: float | None = None
    volume: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", require_vector("heap place", self.place, 2, "m"))
        if (self.height is None) == (self.volume is None):
            raise ParameterError("heap", (self.height, self.volume), "either a height or a volume")
        if self.height is not None:
            require_range("heap height", self.height, HEAP_MIN, HEAP_MAX, "m")
        else:
            require_range("heap volume", self.volume, HEAP_MIN**3, HEAP_MAX**3, "m3")

    def height_at(self, repose_angle: float) -> float:
        """Height of its top above the ground, for an angle of repose [rad]."""
        if self.height is not None:
            return self.height
        assert self.volume is not None, "as it was checked"
        return float(np.cbrt(3.0 * self.volume * math.tan(repose_angle) ** 2 / math.pi))


@dataclass(frozen=True, eq=False)
class SoilGround:
    """Soft ground: its soils, their map, and the contact model of wheels on it.

    Attributes:
        soils: soils of the map.
        level: contact model: "cells", "stress" or "deformable"; a wheel may have another one.
        cell: spacing of the soil's cells [m].
        bulldozing: whether displaced soil is moved aside (level deformable).
        types: index into `soils` over a grid, -1 for rigid ground, shape (n_x, n_y); None: the first soil everywhere.
            Beyond the grid the border's type continues.
        types_cell: spacing of that grid [m].
        types_origin: x, y of types[0, 0] in the world [m]; types[i, j] covers the cell centred on its place.
        heaps: of loose soil at the start; where they meet, the higher one counts.
    """

    soils: tuple[Soil, ...]
    level: str = "deformable"
    cell: float = 0.02
    bulldozing: bool = True
    types: np.ndarray | None = None
    types_cell: float = 1.0
    types_origin: tuple[float, float] = (0.0, 0.0)
    heaps: tuple[Heap, ...] = ()

    def __post_init__(self) -> None:
        soils = require_items("soils", self.soils, Soil, "a Soil; `grouser.load_soil` loads one")
        if not soils:
            raise ParameterError("soils", soils, "at least one Soil")
        object.__setattr__(self, "soils", soils)
        for soil in soils:
            if soil.lumps != soils[0].lumps:
                valid = f"{str(soils[0].lumps).lower()}, as that of soil '{soils[0].name}' on the same ground"
                raise ParameterError(f"lumps of soil '{soil.name}'", str(soil.lumps).lower(), valid)
        if not isinstance(self.level, str) or self.level not in LEVELS:
            raise ParameterError("level", self.level, ", ".join(LEVELS))
        require_size("cell", self.cell)
        require_size("types_cell", self.types_cell)
        object.__setattr__(self, "heaps", require_items("heaps", self.heaps, Heap, "a Heap"))
        flattest = min(soil.repose_angle for soil in soils)
        for heap in self.heaps:
            radius = heap.height_at(flattest) / math.tan(flattest)
            if not radius <= HEAP_CELLS_MAX * self.cell:
                valid = f"one of at most {HEAP_CELLS_MAX} cells of {self.cell:g} m; its radius is {radius:.3g} m"
                raise ParameterError("heap", heap, valid)


@dataclass(frozen=True)
class Wheel:
    """A wheel on soil.

    Attributes:
        link: the link that turns about the wheel's axis.
        radius: without grousers [m].
        width: [m].
        position: centre in the link frame [m].
        axis: unit vector in the link frame; a positive turn about it rolls the wheel forward.
        grousers: number of them around the wheel.
        grouser_height: [m].
        grouser_thickness: along the rim [m].
        friction: coefficient between its surface and soil, where less than the soil's own strength [-]. The default is
            infinite: grousers and treads shear the soil itself.
        level: contact model; None: that of the ground.
        profile: radius at equal steps of the angle about the axis and of the position along it [m], shape (angles,
            places); None for a cylinder with grousers. Angles count from that axis of the link's frame which is least
            parallel to the wheel's axis, projected normal to it.
        steering: name of the joint that steers it; "" for none.
    """

    link: str
    radius: float
    width: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    grousers: int = 0
    grouser_height: float = 0.0
    grouser_thickness: float = 0.0
    friction: float = np.inf
    level: str | None = None
    steering: str = ""
    profile: np.ndarray | None = field(default=None, compare=False, repr=False)


def beyond_validity(
    soil: Soil,
    *,
    width: float = math.nan,
    diameter: float = math.nan,
    pressure: float = math.nan,
    sinkage: float = math.nan,
) -> str | None:
    """Returns a warning if the parameters of a soil are extrapolated; None within their validity.

    Args:
        soil: the soil.
        width: smaller side of the plate or wheel [m].
        diameter: of the wheel [m].
        pressure: normal pressure [Pa].
        sinkage: of the wheel, over its diameter [-].
    """
    valid, problems = soil.validity, []
    least, greatest = valid.width
    # comparisons with NaN, the default, are false
    if width < least or width > greatest:
        problems.append(f"for widths of {least:g} to {greatest:g} m, not {width:.3g} m")
    if diameter < valid.diameter:
        problems.append(f"for wheels of {valid.diameter:g} m diameter or more, not {diameter:.3g} m")
    if pressure > valid.pressure:
        problems.append(f"for pressures up to {valid.pressure:g} Pa, not {pressure:.3g} Pa")
    if sinkage > valid.sinkage:
        problems.append(f"down to {valid.sinkage:.3g} of a wheel's diameter, not {sinkage:.3g}")
    return f"the numbers of soil '{soil.name}' hold {' and '.join(problems)}" if problems else None
