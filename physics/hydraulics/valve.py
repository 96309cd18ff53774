"""Directional valve: spool dynamics (5) and metering edges (3), (4)."""

import math

from grouser.physics.kernel import kernel

# Below this pressure drop an orifice is taken as laminar, so that its slope stays finite [Pa].
LAMINAR_DROP = 1e3


@kernel
def advance_spool(position, velocity, command, gain, frequency, damping, step):
    """Spool after a step of semi-implicit Euler of (5): x'' + 2 D w x' + w^2 x = K w^2 u; it stops at +-1."""
    velocity += step * (frequency * frequency * (gain * command - position) - 2.0 * damping * frequency * velocity)
    position += step * velocity
    if abs(position) > 1.0:
        position = 1.0 if position > 0.0 else -1.0
        velocity = 0.0
    return position, velocity


@kernel
def edge_openings(spool, overlap, underlap):
    """Openings of the edges supply-A, A-tank, supply-B, B-tank, as shares of the travel.

    g1(x) = max(x - c1, 0) at the supply edges, g2(x) = max(x + c2, 0) at the tank edges.
    """
    return max(spool - overlap, 0.0), max(underlap - spool, 0.0), max(-spool - overlap, 0.0), max(underlap + spool, 0.0)


@kernel
def turbulent(drop):
    """sgn(d) sqrt(|d|), exactly as published [sqrt(Pa)]."""
    return math.sqrt(drop) if drop >= 0.0 else -math.sqrt(-drop)


@kernel
def smooth_turbulent(drop):
    """d / (d^2 + e^2)^(1/4) and its derivative: the square root with a laminar middle of width e."""
    square = drop * drop + LAMINAR_DROP * LAMINAR_DROP
    root = 1.0 / math.sqrt(math.sqrt(square))
    return drop * root, root * (1.0 - 0.5 * drop * drop / square)


@kernel
def fill_chamber(pressure, supply, tank, open_supply, open_tank, swept, stiffness, implicit):
    """One chamber over a sub-step: the pressure equation (2) with the flows (3), (4).

    Args:
        pressure: in the chamber [Pa].
        supply, tank: pressures [Pa].
        open_supply, open_tank: flow gain times opening of its two edges [m3/s/sqrt(Pa)].
        swept: volume rate that the piston makes room for [m3/s].
        stiffness: sub-step * beta / V: pressure rise per unit of net flow [Pa s/m3].
        implicit: linearly implicit in the orifice flow, which is stiff where the drop across it vanishes; else
            explicit.

    Returns:
        The new pressure, the flow into the chamber and the part of it that the supply delivers [m3/s].
    """
    if implicit:
        up, slope_up = smooth_turbulent(supply - pressure)
        down, slope_down = smooth_turbulent(pressure - tank)
    else:
        up, slope_up = turbulent(supply - pressure), 0.0
        down, slope_down = turbulent(pressure - tank), 0.0
    slope = open_supply * slope_up + open_tank * slope_down
    flow = open_supply * up - open_tank * down
    rise = stiffness * (flow - swept) / (1.0 + stiffness * slope)
    # oil carries no tension: a chamber cavitates at zero absolute pressure
    return max(pressure + rise, 0.0), flow - slope * rise, open_supply * (up - slope_up * rise)
