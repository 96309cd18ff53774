"""Cylinder, valve and oil of the published hydraulic crane, without the simulator."""

import math

import numpy as np

BOOM, MASS, ROD, GRAVITY = 1.0, 500.0, 0.3, 9.8
BARREL, START = math.sqrt(3) / 2, math.radians(30)
PISTON, RING = math.pi / 4 * 0.08**2, math.pi / 4 * (0.08**2 - 0.035**2)
LONG, HOSES, FLOW = 0.221, (3.14e-5, 7.85e-5), 4e-4 / math.sqrt(35e5)
SUPPLY, TANK, LAG = 7.6e6, 1e5, 1 / (2 * math.pi * 35)
BUFFER, SPRING, DAMPER, VISCOUS = 0.008, 1e7, 5e3, 1e5


def length_and_lever(boom):
    """Of the cylinder, with the boom at an angle."""
    length = math.sqrt(BARREL**2 + 0.25 - BARREL * math.cos(boom))
    return length, 0.5 * BARREL * math.sin(boom) / length


def edge(drop):
    """Flow of an open edge per share of its opening."""
    return FLOW * (drop / math.sqrt(2e5) if abs(drop) < 2e5 else math.copysign(math.sqrt(abs(drop)), drop))


def force_of(length, speed, p1, p2, viscous=VISCOUS):
    """Of the cylinder, with its end dampers."""
    out, back = LONG + length - 0.5, LONG - length + 0.5
    force = p1 * PISTON - p2 * RING - viscous * speed
    if out <= BUFFER:
        force += SPRING * (BUFFER - out) - DAMPER * speed
    elif back <= BUFFER:
        force -= SPRING * (BUFFER - back) + DAMPER * speed
    return force


def oil_rates(time, length, speed, spool, p1, p2, command, modulus=1500e6):
    """Rates of the spool and the pressures."""
    times, values = zip(*command, strict=True)
    target = np.interp(time, times, values)
    into, out = (SUPPLY - p1, p2 - TANK) if spool > 0 else (p1 - TANK, SUPPLY - p2)
    flow_1, flow_2 = spool * edge(into), spool * edge(out)
    chamber_1, chamber_2 = PISTON * (LONG + length - 0.5), RING * (LONG - length + 0.5)
    soft = [(c + h) / modulus + c / 31500e6 + h / 150e6 for c, h in zip((chamber_1, chamber_2), HOSES, strict=True)]
    return (target - spool) / LAG, (flow_1 - PISTON * speed) / soft[0], (RING * speed - flow_2) / soft[1]


def start_pressures(weight):
    """Of both chambers, that hold a weight at the tip [N]."""
    force = weight * BOOM * math.cos(START) / length_and_lever(START)[1]
    return (force + RING * 3.3e6) / PISTON, 3.3e6
