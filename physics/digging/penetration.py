"""An edge or teeth that are pushed into soil along the plate: a strip footing at the edge, and friction on the faces.

Bearing capacity factors after Prandtl and Reissner, N_gamma after Vesic (1973), shape factors of a square after
De Beer as Vesic gives them.
"""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import embedded, kernel


class BearingFactors(NamedTuple):
    """Bearing capacity factors of a strip footing: N_c, N_q and N_gamma [-]."""

    cohesion: float
    surcharge: float
    weight: float


class Penetration(NamedTuple):
    """Forces along the plate against its motion: on the edge or the teeth, and on both faces [N]."""

    edge: float
    skin: float


@embedded
def bearing_factors(friction):
    """Factors of a strip footing on soil with an angle of internal friction [rad]."""
    surcharge = math.exp(math.pi * math.tan(friction)) * math.tan(0.25 * math.pi + 0.5 * friction) ** 2
    cohesion = (surcharge - 1.0) / math.tan(friction) if friction > 1e-6 else math.pi + 2.0
    return BearingFactors(cohesion, surcharge, 2.0 * (surcharge + 1.0) * math.tan(friction))


@kernel
def edge_penetration(soil, thickness, width, depth, gravity):
    """An edge as wide as its plate.

    Args:
        soil: `CutSoil`.
        thickness, width: of the edge [m].
        depth: of the edge below the ground, along the plate [m].
        gravity: [m/s2].
    """
    n = bearing_factors(soil.friction)
    unit_weight = soil.density * gravity
    pressure = soil.cohesion * n.cohesion + unit_weight * (depth * n.surcharge + 0.5 * thickness * n.weight)
    return Penetration(thickness * width * pressure, skin_friction(soil, width, depth, gravity))


@kernel
def teeth_penetration(soil, count, side, width, depth, gravity):
    """Square teeth ahead of a plate.

    Args:
        soil: `CutSoil`.
        count: of the teeth.
        side: of the square that a tooth presses with [m].
        width: of the plate [m].
        depth: of the teeth below the ground, along the plate [m].
        gravity: [m/s2].
    """
    n = bearing_factors(soil.friction)
    unit_weight = soil.density * gravity
    cohesive = (1.0 + n.surcharge / n.cohesion) * soil.cohesion * n.cohesion
    surcharge = (1.0 + math.tan(soil.friction)) * unit_weight * depth * n.surcharge
    pressure = cohesive + surcharge + 0.6 * unit_weight * 0.5 * side * n.weight
    return Penetration(count * side * side * pressure, skin_friction(soil, width, depth, gravity))


@embedded
def skin_friction(soil, width, depth, gravity):
    """Friction and adhesion on both faces of a plate, under the pressure of soil at rest [N]."""
    at_rest = (1.0 - math.sin(soil.friction)) * 0.5 * soil.density * gravity * depth * depth
    return 2.0 * width * (soil.adhesion * depth + at_rest * math.tan(soil.tool_friction))
