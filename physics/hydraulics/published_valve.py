"""Directional valve of the published schemes: spool dynamics (5) and metering edges (3), (4).

Equation numbers are those of Strashnov and Mironenko (2023).
"""

import math

from grouser.physics.base.kernel import kernel

# Pressure in a chamber that cavitates [Pa].
CAVITY = 1e-3


@kernel
def advance_spool(position, velocity, command, gain, frequency, damping, step):
    """Spool after a semi-implicit Euler step of (5), x'' + 2 D w x' + w^2 x = K w^2 u, limited to +-1.

    With infinite damping the spool is of first order, x' + w x = K w u, and the solution is exact.
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
    """Factor from a pressure drop d to sgn(d) sqrt(|d|), 1 / sqrt(|d|), finite at zero [1/sqrt(Pa)].

    d / (d^2 + e^2)^(1/4): the turbulent law with a laminar middle of width e; or, linear, d / sqrt(e) below e.
    """
    if linear:
        return 1.0 / math.sqrt(max(abs(drop), width))
    return 1.0 / math.sqrt(math.sqrt(drop * drop + width * width))


@kernel
def fill_chamber(pressure, supply, tank, open_supply, open_tank, swept, stiffness, transition, linear, implicit):
    """Advances one chamber by a sub-step of the pressure equation (2) with the flows (3), (4).

    Args:
        pressure: in the chamber [Pa].
        supply, tank: pressures [Pa].
        open_supply, open_tank: flow gain times opening of its two edges [m3/s/sqrt(Pa)].
        swept: rate of the chamber's volume as the piston moves [m3/s].
        stiffness: sub-step * beta / V: pressure rise per unit of net flow [Pa s/m3].
        transition, linear: width [Pa] and kind of the laminar middle.
        implicit: whether flows are those of the new pressure, with the conductances of the old one: the pressure then
            cannot overshoot, however stiff the chamber.

    Returns:
        The new pressure [Pa], the flow into the chamber and its share from the supply [m3/s].
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
    # oil carries no tension: the chamber cavitates
    return max(pressure + rise, CAVITY), flow, delivered
