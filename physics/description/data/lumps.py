"""Lumps: the grains that soil becomes where it is cut, until it rests. SI units."""

import math
from dataclasses import replace

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import GrainMaterial, GrainPair, GranularMedia, Surface
from grouser.physics.description.data.soil import Soil, SoilGround

LUMPS = "lumps"
# Radius by the spacing of the cells.
LUMP_RADIUS = 0.5
# Share of the space that lumps fill: of spheres, poured [-].
SOLID_SHARE = 0.6
# Chosen: three steps a millisecond at cells of 50 mm, overlaps of some per cent below a metre of soil [Pa].
_MODULUS, _POISSON = 1e6, 0.25
# Chosen: impacts of soil lose nearly all; rolling and twisting friction make up for the shape of
# lumps, by the tangent of repose.
_RESTITUTION, _ROLLING = 0.3, 0.5
# Of a fall of 1.3 m [m/s].
_IMPACT_SPEED = 5.0


def lump_density(soil: Soil) -> float:
    """Density of a lump, of which a loose bed has the density of the loose soil [kg/m3]."""
    return soil.density / (soil.swell * SOLID_SHARE)


def lump_mass(ground: SoilGround) -> float:
    """Mass of a lump [kg]."""
    return lump_density(ground.soils[0]) * 4.0 / 3.0 * math.pi * (LUMP_RADIUS * ground.cell) ** 3


def with_lumps(media: GranularMedia | None, ground: SoilGround) -> GranularMedia:
    """Granular media with the lumps of soft ground: their material, the last, and how they touch what else there is.

    Lumps are of the first soil. They rub on each other and on all else with the tangent of its angle of repose.

    Raises:
        ParameterError: grains of another size, or with the name of the material of lumps.
    """
    soil, radius = ground.soils[0], LUMP_RADIUS * ground.cell
    slope = math.tan(soil.repose_angle)
    surface = Surface(_RESTITUTION, slope, _ROLLING * slope, _ROLLING * slope)
    material = GrainMaterial(LUMPS, _MODULUS, _POISSON, lump_density(soil))
    if media is None:
        return GranularMedia((material,), (), surface=surface, impact_speed=_IMPACT_SPEED, lumps=radius)
    others = (*media.materials, media.boundary)
    if any(one.name == LUMPS for one in others):
        raise ParameterError("grain materials", LUMPS, f"another name: soil '{soil.name}' becomes lumps")
    pairs = (*media.pairs, *(GrainPair(LUMPS, one.name, surface) for one in (material, *others)))
    materials, speed = (*media.materials, material), max(media.impact_speed, _IMPACT_SPEED)
    return replace(media, materials=materials, pairs=pairs, impact_speed=speed, lumps=radius)
