"""Time steps that contacts allow."""

import math
from collections.abc import Sequence

import numpy as np

from grouser.physics.base.checks import require_range
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.description.data.soil import Soil
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.granular.pairs import PairSurfaces

# Steps in the time of an elastic contact: the default, and the least.
_STEPS, _LEAST_STEPS = 20.0, 10.0
# Longest step by the Rayleigh time of the smallest grain [-].
_RAYLEIGH_SHARE = 0.3
# Time of an elastic contact by largest overlap and speed: 4/5 sqrt(pi) Gamma(2/5)/Gamma(9/10).
_CONTACT = 2.9432751843247043


def largest_overlap(modulus: float, radius: float, mass: float, speed: float) -> float:
    """Largest overlap of an elastic Hertzian impact [m]: (15 m* v^2/(16 E* sqrt(R*)))^(2/5).

    Args:
        modulus: E* [Pa].
        radius, mass: reduced, R* [m] and m* [kg].
        speed: of the impact [m/s].
    """
    return (15.0 * mass * speed**2 / (16.0 * modulus * math.sqrt(radius))) ** 0.4


def contact_time(modulus: float, radius: float, mass: float, speed: float) -> float:
    """Time of an elastic Hertzian impact [s]: 2.943 times the largest overlap by the speed; as `largest_overlap`."""
    return _CONTACT * largest_overlap(modulus, radius, mass, speed) / speed


def rayleigh_time(material: GrainMaterial, radius: float) -> float:
    """Time that a surface wave takes half around a grain [s]: pi R sqrt(rho/G)/(0.1631 nu + 0.8766)."""
    wave = math.sqrt(material.density / material.shear_modulus)
    return math.pi * radius * wave / (0.1631 * material.poisson_ratio + 0.8766)


def shortest_contact(
    material: GrainMaterial,
    other: GrainMaterial,
    surface: Surface,
    radius: float,
    speed: float,
    wall: bool,
    share: float = 1.0,
) -> float:
    """Time of the elastic impact of the smallest grain on a material, another grain of its size or a boundary [s].

    `share` is its effective mass by that of a sphere.
    """
    reduced = radius if wall else 0.5 * radius
    mass = 4.0 / 3.0 * math.pi * radius**3 * material.density * (1.0 if wall else 0.5) * share
    if surface.normal == "hooke":
        return math.pi * math.sqrt(mass / surface.stiffness)
    return contact_time(reduced_modulus(material, other), reduced, mass, speed)


def shortest_times(
    radius: np.ndarray,
    material: np.ndarray,
    table: PairSurfaces,
    walls: np.ndarray,
    speed: float,
    least_share: float = 1.0,
) -> tuple[float, float]:
    """Shortest time of a contact, and shortest Rayleigh time, of grains with each other and with boundaries [s].

    Args:
        radius, material: of the grains [m], numbers.
        table: of the materials.
        walls: numbers of those of boundaries.
        speed: of the fastest impact [m/s].
        least_share: least effective mass of a sphere of a clump by that of the sphere alone [-].
    """
    require_range("speed", speed, 1e-6, 1e4, "m/s")
    contact, rayleigh = math.inf, math.inf
    present = np.unique(material)
    for a in present:
        one, least = table.materials[a], float(radius[material == a].min())
        rayleigh = min(rayleigh, rayleigh_time(one, least))
        for others, wall in ((present, False), (walls, True)):
            for b in others:
                other = table.materials[b]
                surface = table.between(one, other)
                contact = min(contact, shortest_contact(one, other, surface, least, speed, wall, least_share))
    return contact, rayleigh


def soil_contact_time(soils: Sequence[Soil], radius: float, density: float) -> float:
    """Shortest half period of a grain that is half in soil which does not yield [s].

    Args:
        soils: of the ground.
        radius, density: of the smallest and lightest grain [m, kg/m3].
    """
    stiffest = max(soil.unloading_stiffness + soil.unloading_slope * radius for soil in soils)
    return math.pi * math.sqrt(4.0 / 3.0 * radius * density / stiffest)


def default_step(contact: float, rayleigh: float) -> float:
    """The step for a shortest contact time and Rayleigh time: a 20th of the former, at most 0.3 of the latter [s]."""
    return min(contact / _STEPS, _RAYLEIGH_SHARE * rayleigh)


def check_step(step: float, contact: float, rayleigh: float) -> float:
    """Refuses a step with fewer than ten in a contact, or above 0.3 of the Rayleigh time.

    Raises:
        ParameterError: it names the step that would do.
    """
    longest = min(contact / _LEAST_STEPS, _RAYLEIGH_SHARE * rayleigh)
    if not 0.0 < step <= longest:
        valid = f"above 0, at most {longest:.3g} s: a contact lasts {contact:.3g} s, a surface wave {rayleigh:.3g} s"
        raise ParameterError("step", step, f"{valid}; softer grains allow longer steps")
    return step
