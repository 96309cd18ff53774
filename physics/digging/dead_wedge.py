"""Steep tools: soil sticks to the blade and cuts in its place.

The plane wedge runs away at steep and rough blades. There the soil fails along an inner plane of rake 45 degrees +
phi/2 from the ground at the blade down to a tip ahead of the edge, and what is between moves with the blade over the
soil below. On this plane soil slides on soil: its friction and cohesion replace those of the tool.
"""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import kernel
from grouser.physics.digging.failure_angle import failure_angle
from grouser.physics.digging.wedge import Cut, CutSoil, blade_force, draught_and_pull, rise, wedge_factors


class DeadWedge(NamedTuple):
    """A blade with soil that sticks to it.

    Attributes:
        draught: horizontal force against the motion [N].
        pull: downward force on the blade [N]: none while the soil below carries the wedge, else upwards.
        failure: angle of the plane of failure ahead of the inner plane [rad].
    """

    draught: float
    pull: float
    failure: float


@kernel
def dead_wedge(soil, cut, by_weight):
    """The force on a steep blade with a dead wedge.

    Args:
        soil, cut: `CutSoil`, `Cut` whose depth is that of the wedge's tip.
        by_weight: how the plane of failure is chosen, see `failure_angle`.

    Returns:
        A `DeadWedge` of infinite draught where there is none: blades less steep than the inner plane, or that do not
        hold the wedge down.
    """
    rake = 0.25 * math.pi + 0.5 * soil.friction
    if cut.rake <= rake:
        return DeadWedge(math.inf, 0.0, math.nan)
    within = CutSoil(soil.density, soil.friction, soil.cohesion, soil.friction, soil.cohesion)
    inner = Cut(cut.depth, cut.width, rake, cut.slope, cut.surcharge, cut.speed, cut.gravity)
    failure = failure_angle(within, inner, False, by_weight)
    if math.isnan(failure):
        return DeadWedge(math.inf, 0.0, math.nan)
    factors = wedge_factors(rake, failure, within.friction, within.tool_friction, cut.slope)
    ahead, pull = draught_and_pull(within, inner, blade_force(within, inner, factors, 0.0))
    height = cut.depth * rise(rake, cut.slope)
    length = height * (1.0 / math.tan(rake) - 1.0 / math.tan(cut.rake))
    pull += 0.5 * soil.density * cut.gravity * height * length * cut.width
    draught = ahead + math.tan(soil.friction) * max(0.0, pull) + soil.cohesion * length * cut.width
    if pull + draught * math.tan(soil.tool_friction) < 0.0:
        return DeadWedge(math.inf, 0.0, math.nan)
    return DeadWedge(draught, min(0.0, pull), failure)
