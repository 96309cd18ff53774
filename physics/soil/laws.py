"""Pressure-sinkage and shear laws of soils: Bekker, Wong and Reece; Janosi and Hanamoto."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.description.data.soil import SLIP_SINKAGE, Soil

NO_SLIP_SINKAGE, BY_EXPONENT, LYASKO = range(3)
_BY_NAME = dict(zip(SLIP_SINKAGE, (NO_SLIP_SINKAGE, BY_EXPONENT, LYASKO), strict=True))


class Soils(NamedTuple):
    """Soils as arrays, (soils,) each; `Soil` of the description explains the numbers.

    Attributes:
        cohesive_modulus, frictional_modulus: k_c and k_phi, or k_1 and k_2 of Reece's form [SI].
        reece: whether Reece's form applies.
        exponent, slip_sinkage, slip_exponent: n, law of slip sinkage, n_1.
        cohesion: [Pa].
        friction: tan phi [-].
        sliding_friction: greatest ratio of shear to normal stress [-].
        shear_modulus, shear_slope: K_x [m, m/rad].
        lateral_modulus, lateral_slope: K_y [m, m/rad].
        max_stress_a0, max_stress_a1, exit_ratio: of the stress under a wheel [-].
        exit_angle_ratio: exit angle over entry angle [-]; NaN where `exit_ratio` applies.
        unloading_stiffness, unloading_slope: [N/m3, N/m4].
        heave: share of the displaced volume that heaves up beside the wheel [-].
        density: [kg/m3].
        repose: tangent of the angle of repose [-].
        swell: volume of loosened soil over that of undisturbed soil [-].
        cell_stiffness, cell_viscosity, plastic_modulus, yield_stress: of cells; NaN for none.
    """

    cohesive_modulus: np.ndarray
    frictional_modulus: np.ndarray
    reece: np.ndarray
    exponent: np.ndarray
    slip_sinkage: np.ndarray
    slip_exponent: np.ndarray
    cohesion: np.ndarray
    friction: np.ndarray
    sliding_friction: np.ndarray
    shear_modulus: np.ndarray
    shear_slope: np.ndarray
    lateral_modulus: np.ndarray
    lateral_slope: np.ndarray
    max_stress_a0: np.ndarray
    max_stress_a1: np.ndarray
    exit_ratio: np.ndarray
    exit_angle_ratio: np.ndarray
    unloading_stiffness: np.ndarray
    unloading_slope: np.ndarray
    heave: np.ndarray
    density: np.ndarray
    repose: np.ndarray
    swell: np.ndarray
    cell_stiffness: np.ndarray
    cell_viscosity: np.ndarray
    plastic_modulus: np.ndarray
    yield_stress: np.ndarray


def make_soils(soils: tuple[Soil, ...]) -> Soils:
    """Soils as read-only arrays, in the order given."""

    def numbers(*values):
        return np.array([math.nan if value is None else value for value in values], dtype=float)

    reece = np.array([soil.reece_k1 is not None for soil in soils], dtype=np.bool_)
    arrays = Soils(
        cohesive_modulus=numbers(*(s.cohesive_modulus if s.reece_k1 is None else s.reece_k1 for s in soils)),
        frictional_modulus=numbers(*(s.frictional_modulus if s.reece_k1 is None else s.reece_k2 for s in soils)),
        reece=reece,
        exponent=numbers(*(s.exponent for s in soils)),
        slip_sinkage=np.array([_BY_NAME[s.slip_sinkage] for s in soils], dtype=np.int64),
        slip_exponent=numbers(*(s.slip_exponent for s in soils)),
        cohesion=numbers(*(s.cohesion for s in soils)),
        friction=numbers(*(math.tan(s.friction_angle) for s in soils)),
        sliding_friction=numbers(*(s.sliding_friction for s in soils)),
        shear_modulus=numbers(*(s.shear_displacement_modulus for s in soils)),
        shear_slope=numbers(*(s.shear_displacement_slope for s in soils)),
        lateral_modulus=numbers(
            *(
                s.shear_displacement_modulus if s.lateral_shear_modulus is None else s.lateral_shear_modulus
                for s in soils
            )
        ),
        lateral_slope=numbers(*(s.lateral_shear_slope for s in soils)),
        max_stress_a0=numbers(*(s.max_stress_a0 for s in soils)),
        max_stress_a1=numbers(*(s.max_stress_a1 for s in soils)),
        exit_ratio=numbers(*(s.exit_ratio for s in soils)),
        exit_angle_ratio=numbers(*(s.exit_angle_ratio for s in soils)),
        unloading_stiffness=numbers(*(s.unloading_stiffness for s in soils)),
        unloading_slope=numbers(*(s.unloading_slope for s in soils)),
        heave=numbers(*(s.heave for s in soils)),
        density=numbers(*(s.density for s in soils)),
        repose=numbers(*(math.tan(s.repose_angle) for s in soils)),
        swell=numbers(*(s.swell for s in soils)),
        cell_stiffness=numbers(*(s.soil_stiffness for s in soils)),
        cell_viscosity=numbers(*(s.soil_viscosity for s in soils)),
        plastic_modulus=numbers(*(s.plastic_modulus for s in soils)),
        yield_stress=numbers(*(s.yield_stress for s in soils)),
    )
    for array in arrays:
        array.flags.writeable = False
    return arrays


@kernel
def sinkage_exponent(soils: Soils, k, slip):
    """n of soil k at a slip ratio."""
    if soils.slip_sinkage[k] == BY_EXPONENT:
        return soils.exponent[k] + soils.slip_exponent[k] * abs(slip)
    return soils.exponent[k]


@kernel
def sinkage_growth(soils: Soils, k, slip):
    """Ratio of sinkage with slip to sinkage by pressure alone, (1 + s) / (1 - 0.5 s) of Lyasko [-]."""
    if soils.slip_sinkage[k] == LYASKO:
        return (1.0 + abs(slip)) / (1.0 - 0.5 * abs(slip))
    return 1.0


@kernel
def pressure_stiffness(soils: Soils, k, width, exponent):
    """K of p = K z^n under a plate [Pa/m^n].

    Args:
        soils, k: the soil.
        width: b, smaller side of the plate [m], > 0.
        exponent: n.
    """
    sides = soils.cohesive_modulus[k] + soils.frictional_modulus[k] * width
    return sides / (width**exponent if soils.reece[k] else width)


@inlined
def shear_strength(soils: Soils, k, pressure, rim_friction):
    """Greatest shear stress, c + p tan phi, limited by mu_t p and by the friction of the rim [Pa].

    Args:
        soils, k: the soil.
        pressure: p [Pa].
        rim_friction: between the wheel's surface and the soil [-].
    """
    sliding = min(soils.sliding_friction[k], rim_friction)
    return limited_strength(soils.cohesion[k], pressure * soils.friction[k], sliding * pressure)


@inlined
def limited_strength(cohesion, friction, sliding):
    """Shear stress of soil that fails, or of what slides on it, whichever is less [Pa]."""
    strength = cohesion + friction
    # zero pressure times infinite friction is NaN: the comparison fails, and cohesion applies
    return sliding if sliding < strength else strength
