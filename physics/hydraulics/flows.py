"""What passes through orifices, valves and pumps, and how it changes with the pressures around."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.network import (
    ALWAYS,
    FAULT,
    FIXED,
    LOAD_SENSING,
    NO_LINE,
    PILOTS,
    POSITION,
    SPOOL,
    SPOOL_EITHER_WAY,
)

# Drop up to which the slope of a turbulent flow is that of its secant, not of its tangent [Pa].
SECANT = 5e3


@kernel
def opening(network, e, pressure, spool, position, faults):
    """Opening of passage e [-], and whether it follows the pilots' pressures there."""
    kind, source = network.kind[e], network.source[e]
    if kind == ALWAYS:
        return network.opening[e], False
    if kind == SPOOL:
        return max(network.opening[e] + network.slope[e] * spool[source], 0.0), False
    if kind == SPOOL_EITHER_WAY:
        return max(network.opening[e] - network.slope[e] * abs(spool[source]), 0.0), False
    if kind == POSITION:
        return min(max(network.opening[e] + network.slope[e] * position[source], 0.0), 1.0), False
    if kind == FAULT:
        return faults.leak[source], False
    share = network.opening[e]
    if source >= 0:
        share += network.slope[e] * faults.relief_drop[source]
    for k in range(PILOTS):
        line = network.pilot[e, k]
        if line == NO_LINE:
            break
        share += network.weight[e, k] * pressure[line]
    if share <= 0.0:
        return 0.0, False
    if share >= 1.0:
        return 1.0, False
    return share, True


@kernel
def flow_per_opening(network, e, drop):
    """Turbulent flow of passage e at full opening [m3/s], and a slope over the drop for implicit steps [m3/(s Pa)].

    K d / (d^2 + e^2)^(1/4): the root of the drop (Merritt, Hydraulic Control Systems, 1967, chapter 3), with a laminar
    middle of width e (`regRoot` of Modelica.Fluid); or, as some authors have it, K d / sqrt(e) below e.
    """
    gain, width = network.gain[e], network.transition[e]
    if network.linear[e]:
        size = abs(drop)
        if size < width:
            slope = gain / math.sqrt(width)
            return slope * drop, slope
        flow = gain * math.sqrt(size)
        return (flow if drop > 0.0 else -flow), 0.5 * flow / size
    square = drop * drop
    root = gain / math.sqrt(math.sqrt(square + width * width))
    # A tangent near zero would throw the flow from one direction into the other; the secant does not.
    return root * drop, root * (1.0 - 0.5 * square / (square + SECANT * SECANT))


@kernel
def wanted_swash(network, p, pressure):
    """Swash that the control of pump p asks for, and its slopes over the outlet's and the sensed pressure [1/Pa].

    s = (p_set - p) / r of a pressure control; the lesser of that and 1 + (p_sense + m - p) / r of a load-sensing one,
    which has full displacement at its margin m and none a range r above it; no more than P / (D w p) with a power limit
    P; between the least swash and 1 (Manring and Fales, Hydraulic Control Systems, 2019, of pumps with variable
    displacement).
    """
    control = network.control[p]
    outlet = pressure[network.outlet[p]]
    wanted, over_outlet, over_sense = 1.0, 0.0, 0.0
    if control != FIXED:
        wanted = (network.setting[p] - outlet) / network.range[p]
        over_outlet = -1.0 / network.range[p]
        if control == LOAD_SENSING:
            sensed = (network.margin[p] + pressure[network.sense[p]] - outlet) / network.range[p] + 1.0
            if sensed < wanted:
                wanted, over_sense = sensed, 1.0 / network.range[p]
    full = network.displacement[p] * network.speed[p]
    if full * outlet * min(wanted, 1.0) > network.power[p]:
        wanted = network.power[p] / (full * outlet)
        over_outlet, over_sense = -wanted / outlet, 0.0
    if wanted >= 1.0:
        return 1.0, 0.0, 0.0
    if wanted <= network.least_swash[p]:
        return network.least_swash[p], 0.0, 0.0
    return wanted, over_outlet, over_sense
