"""Directional valve: spool dynamics (5) and metering edges (3), (4)."""

import math

from grouser.physics.base.kernel import kernel

# What is left in a chamber that cavitates [Pa].
CAVITY = 1e-3


@kernel
def advance_spool(position, velocity, command, gain, frequency, damping, step):
    """Spool after a step of semi-implicit Euler of (5): x'' + 2 D w x' + w^2 x = K w^2 u; it stops at +-1.

    With infinite damping it is one of first order, x' + w x = K w u, over the step exactly.
    """
    if damping == math.inf:
        position = gain * command + (position - gain * command) * math.exp(-frequency * step)
        return min(max(position, -1.0), 1.0), 0.0
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
def conductance(drop, width, linear):
    """What takes a pressure drop d to the square root's flow, sqrt(|d|) / |d|, finite at zero [1/sqrt(Pa)].

    d / (d^2 + e^2)^(1/4): the turbulent law with a laminar middle of width e; or, linear, d / sqrt(e) below e.
    """
    if linear:
        return 1.0 / math.sqrt(max(abs(drop), width))
    return 1.0 / math.sqrt(math.sqrt(drop * drop + width * width))


@kernel
def fill_chamber(pressure, supply, tank, open_supply, open_tank, swept, stiffness, transition, linear, implicit):
    """One chamber over a sub-step: the pressure equation (2) with the flows (3), (4).

    Args:
        pressure: in the chamber [Pa].
        supply, tank: pressures [Pa].
        open_supply, open_tank: flow gain times opening of its two edges [m3/s/sqrt(Pa)].
        swept: volume rate that the piston makes room for [m3/s].
        stiffness: sub-step * beta / V: pressure rise per unit of net flow [Pa s/m3].
        transition, linear: width [Pa] and kind of the laminar middle.
        implicit: flows at the new pressure, by the old one's conductances: they can level a pressure drop at most,
            however stiff the chamber; else explicit.

    Returns:
        The new pressure, the flow into the chamber and the part of it that the supply delivers [m3/s].
    """
    up, down = supply - pressure, pressure - tank
    if implicit:
        from_supply, to_tank = (
            open_supply * conductance(up, transition, linear),
            open_tank * conductance(down, transition, linear),
        )
        rise = stiffness * (from_supply * up - to_tank * down - swept) / (1.0 + stiffness * (from_supply + to_tank))
        delivered = from_supply * (up - rise)
        flow = delivered - to_tank * (down + rise)
    else:
        delivered = open_supply * turbulent(up)
        flow = delivered - open_tank * turbulent(down)
        rise = stiffness * (flow - swept)
    # oil carries no tension: a chamber cavitates
    return max(pressure + rise, CAVITY), flow, delivered
