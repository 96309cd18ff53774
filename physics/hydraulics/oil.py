"""Oil with free and dissolved air: fluid mass in a volume as a function of pressure.

The normalised fluid mass (content) c of a volume is its oil beyond that at zero pressure without gas, per volume:

    c(p) = p / beta - a_e / (p - p_v) - a_d max(1 / (p - p_v) - 1 / (p_s - p_v), 0),

the liquid's compression, the volume of entrained air at constant temperature, and that of dissolved air released below
the saturation pressure by Henry's law; a = share * 1e5 Pa. V dc/dt = inflow - dV/dt conserves mass. The pressure stays
above the vapour pressure p_v at any outflow, because the gas expands; every oil has a trace of gas, `SEED`, for that.
The derivative gives 1/beta_eff = 1/beta + a / (p - p_v)^2 (compare Merritt,
Hydraulic Control Systems, 1967, section 2.3).
"""

import math
from typing import TYPE_CHECKING, NamedTuple

from grouser.physics.base.kernel import embedded, kernel

if TYPE_CHECKING:
    from grouser.physics.hydraulics.network import HydraulicNetwork

# Share of gas at 1e5 Pa from which cavities grow in oil without air.
SEED = 1e-8
_NORMAL_PRESSURE = 1e5
# Kinematic viscosities are given at this temperature [K].
REFERENCE_TEMPERATURE = 313.15


class Oil(NamedTuple):
    """An oil at its temperature.

    Attributes:
        density: [kg/m3].
        bulk_modulus: beta of the liquid [Pa].
        viscosity: dynamic [Pa s].
        entrained, dissolved: a_e, a_d [Pa].
        saturation: p_s - p_v [Pa].
        vapour: p_v [Pa].
    """

    density: float
    bulk_modulus: float
    viscosity: float
    entrained: float
    dissolved: float
    saturation: float
    vapour: float


def make_oil(fluid) -> Oil:
    """The oil of a description (`Fluid`): mu = rho nu exp(-l (T - 313.15 K)), after Reynolds (1886)."""
    cooling = math.exp(-fluid.viscosity_slope * (fluid.temperature - REFERENCE_TEMPERATURE))
    return Oil(
        fluid.density,
        fluid.bulk_modulus,
        fluid.density * fluid.kinematic_viscosity * cooling,
        max(fluid.entrained_air, SEED) * _NORMAL_PRESSURE,
        fluid.dissolved_air * _NORMAL_PRESSURE,
        fluid.saturation_pressure - fluid.vapour_pressure,
        fluid.vapour_pressure,
    )


@embedded
def aerated(oil: Oil, air):
    """The oil with additional entrained air, as a share of its volume at 1e5 Pa."""
    entrained = oil.entrained + _NORMAL_PRESSURE * air
    return Oil(oil.density, oil.bulk_modulus, oil.viscosity, entrained, oil.dissolved, oil.saturation, oil.vapour)


@kernel
def content(oil: Oil, pressure):
    """Normalised fluid mass c(p) [-]."""
    q = pressure - oil.vapour
    total = pressure / oil.bulk_modulus - oil.entrained / q
    if q < oil.saturation:
        total -= oil.dissolved * (1.0 / q - 1.0 / oil.saturation)
    return total


@kernel
def pressure_of(oil: Oil, content):
    """The inverse of `content` [Pa]: with q = p - p_v a quadratic, q^2 + (p_v - beta c) q - beta a = 0."""
    q = _root(oil.vapour - oil.bulk_modulus * content, oil.bulk_modulus * oil.entrained)
    if q < oil.saturation and oil.dissolved > 0.0:
        shifted = content - oil.dissolved / oil.saturation
        gas = oil.entrained + oil.dissolved
        q = _root(oil.vapour - oil.bulk_modulus * shifted, oil.bulk_modulus * gas)
    return q + oil.vapour


@kernel
def _root(b, c):
    """The positive root of q^2 + b q - c, c > 0, without cancellation."""
    size = abs(b) + math.sqrt(b * b + 4.0 * c)
    return 0.5 * size if b <= 0.0 else 2.0 * c / size


@kernel
def compression_energy(oil: Oil, pressure):
    """Compression energy per volume, integral of p dc [J/m3]."""
    q = pressure - oil.vapour
    total = 0.5 * pressure * pressure / oil.bulk_modulus + oil.entrained * (math.log(q) - oil.vapour / q)
    if q < oil.saturation and oil.dissolved > 0.0:
        total += oil.dissolved * (math.log(q / oil.saturation) - oil.vapour * (1.0 / q - 1.0 / oil.saturation))
    return total


@kernel
def gas_energy(network: "HydraulicNetwork", line, pressure):
    """Energy stored in an accumulator's gas, integral of p dV with p V^n constant [J]."""
    volume, empty, index = network.gas_volume[line], network.gas_pressure[line], network.gas_index[line]
    if pressure <= empty:
        return 0.0
    if index == 1.0:
        return volume * empty * math.log(pressure / empty)
    power = (index - 1.0) / index
    return volume * empty / (index - 1.0) * ((pressure / empty) ** power - 1.0)


@kernel
def pressure_rise(oil: Oil, pressure):
    """dp/dc, the effective bulk modulus [Pa]."""
    q = pressure - oil.vapour
    gas = oil.entrained + (oil.dissolved if q < oil.saturation else 0.0)
    return 1.0 / (1.0 / oil.bulk_modulus + gas / (q * q))
