"""Flows through orifices, valves and pumps, and their derivatives by the pressures."""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import embedded, kernel
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
    HydraulicNetwork,
)

if TYPE_CHECKING:
    from grouser.physics.hydraulics.faults import Faults

# Pressure drop below which the slope of a turbulent flow is that of its secant, not of its tangent [Pa].
SECANT = 5e3


@embedded
def opening(network: HydraulicNetwork, e, pressure, spool, position, faults: "Faults"):
    """Opening of flow element e [-], and whether it varies with the pilot pressures at this point."""
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


@embedded
def turbulent_flow(gain, transition, drop):
    """Turbulent flow at full opening [m3/s], and its slope by the drop for implicit steps [m3/(s Pa)].

    K d / (d^2 + e^2)^(1/4): the root of the drop (Merritt, Hydraulic Control Systems, 1967, chapter 3), with a laminar
    range of width e (`regRoot` of Modelica.Fluid).
    """
    square = drop * drop
    root = gain / math.sqrt(math.sqrt(square + transition * transition))
    # With the tangent near zero the flow would oscillate between both directions; with the secant it does not.
    return root * drop, root * (1.0 - 0.5 * square / (square + SECANT * SECANT))


@kernel
def flow_with_linear_range(gain, transition, drop):
    """As `turbulent_flow`, but K d / sqrt(e) below e, as some authors write it."""
    size = abs(drop)
    if size < transition:
        slope = gain / math.sqrt(transition)
        return slope * drop, slope
    flow = gain * math.sqrt(size)
    return (flow if drop > 0.0 else -flow), 0.5 * flow / size


@kernel
def swash_setpoint(network: HydraulicNetwork, p, pressure):
    """Swash set by the control of pump p, and its slopes by the outlet's and the sensed pressure [1/Pa].

    Pressure control: s = (p_set - p) / r. Load-sensing control: the lesser of that and 1 + (p_sense + m - p) / r, with
    full displacement at the margin m and none a range r above it. With a power limit P: at most P / (D w p). All within
    the least swash and 1 (Manring and Fales, Hydraulic Control Systems, 2019, of pumps with variable
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
