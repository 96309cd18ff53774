"""The plane up which a wedge fails: that of the least force, or of the least weight factor."""

import math

from grouser.physics.base.kernel import embedded, kernel
from grouser.physics.digging.crescents import crescent_ratio
from grouser.physics.digging.wedge import blade_force, steepest_failure, wedge_factors

# Range of angles below which the wedge counts as jammed: the force grows with the inverse of it [rad].
LEAST_RANGE = math.radians(1.0)
# Trial angles, of which the best and its neighbours bracket the minimum, and sections of that bracket.
_TRIALS, _SECTIONS = 64, 80
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@embedded
def resistance(soil, cut, failure, crescents, by_weight):
    """What the plane of failure makes least: the force on the blade [N], or its factor N_gamma [-]."""
    factors = wedge_factors(cut.rake, failure, soil.friction, soil.tool_friction, cut.slope)
    if by_weight:
        return factors.weight
    ratio = crescent_ratio(cut.depth, cut.width, cut.rake, failure) if crescents else 0.0
    return blade_force(soil, cut, factors, ratio)


@kernel
def failure_angle(soil, cut, crescents, by_weight):
    """Angle of the plane of failure below plane ground [rad].

    Perumpral et al. (1983) take the least force, McKyes (1985) the least N_gamma. Angles at which the wedge jams
    against the blade, alpha + beta + phi + delta from 180 degrees up, are left out.

    Args:
        soil, cut: `CutSoil`, `Cut`.
        crescents: whether soil breaks out at the sides; the ground is level then.
        by_weight: whether N_gamma is least, and not the force.

    Returns:
        The angle, to 1e-8; NaN where less than a degree is left.
    """
    low = max(0.0, cut.slope)
    high = steepest_failure(cut.rake, soil.friction, soil.tool_friction)
    if high - low < LEAST_RANGE:
        return math.nan
    between = (high - low) / (_TRIALS + 1)
    best, least = 0, math.inf
    for trial in range(1, _TRIALS + 1):
        here = resistance(soil, cut, low + trial * between, crescents, by_weight)
        if here < least:
            best, least = trial, here
    low, high = low + (best - 1) * between, low + (best + 1) * between
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if resistance(soil, cut, left, crescents, by_weight) < resistance(soil, cut, right, crescents, by_weight):
            high = right
        else:
            low = left
    return 0.5 * (low + high)
