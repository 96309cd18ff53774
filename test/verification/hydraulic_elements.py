"""Elements for `hydraulic_rig.Rig`, and independent implementations of their laws."""

import math

from scipy.integrate import solve_ivp

from grouser.physics.description.data.hydraulics import DirectionalValve, Pump

# Of the oil and of `hydraulic_rig.cylinder`.
BETA, DENSITY = 1.4e9, 850.0
AREA_A, AREA_B = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
# Tolerance of a sub-step, as a share of the pressure, beside 1e4 Pa: see `trials`.
SHARE, FLOOR = 2e-3, 1e4
# Of a controlled pump.
CONTROL = {"regulation_range": 5e5, "response_time": 0.05, "power_limit": 0.0, "minimum_stroke": 0.0}


def supply(pressure=10e6):
    return Pump("supply", supply_pressure=pressure, outlet="supply")


def pump(flow, **more):
    """A pump of this flow [m3/s] on a shaft of 100 rad/s, from the tank to the line `p`."""
    numbers = {"setting": 0.0, "leakage": 0.0, "control": "fixed", "outlet": "p", "inlet": "tank"} | more
    return Pump("pump", displacement=flow / 100.0, speed=100.0, **numbers)


def valve(**more):
    """A valve of 4.5e-8 m3/s per root of pressure at full spool: 0.14 l/s at 10 MPa."""
    numbers = {"discharge_coefficient": 0.62, "spool_diameter": 6e-3, "spool_travel": 8e-5, "supply_overlap": 0.05}
    numbers |= {"tank_underlap": 0.05, "gain": 1.0, "natural_frequency": 120.0, "damping_ratio": 1.0}
    return DirectionalValve(**{"name": "valve", "a": "a", "b": "b"} | numbers | more)


def root(drop):
    """The turbulent law with its laminar range, implemented independently."""
    return drop / (drop * drop + 1e6) ** 0.25


def orifice_gain(diameter, coefficient=0.7):
    return coefficient * math.pi / 4 * diameter**2 * math.sqrt(2 / DENSITY)


def radau(rates, start, times, **more):
    result = solve_ivp(rates, (0.0, times[-1]), start, "Radau", t_eval=times, rtol=1e-10, atol=1e-10, **more)
    assert result.success
    return result.y
