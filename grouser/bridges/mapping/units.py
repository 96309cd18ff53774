"""Units of mapping files: each fits signals of one SI unit."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit.

    Attributes:
        si: the SI unit of what it measures.
        factor: SI units in one of it.
    """

    si: str
    factor: float


UNITS = {
    "1": Unit("1", 1.0),
    "%": Unit("1", 0.01),
    "m": Unit("m", 1.0),
    "cm": Unit("m", 0.01),
    "mm": Unit("m", 0.001),
    "rad": Unit("rad", 1.0),
    "deg": Unit("rad", math.pi / 180.0),
    "m/s": Unit("m/s", 1.0),
    "mm/s": Unit("m/s", 0.001),
    "km/h": Unit("m/s", 1.0 / 3.6),
    "rad/s": Unit("rad/s", 1.0),
    "deg/s": Unit("rad/s", math.pi / 180.0),
    "rpm": Unit("rad/s", math.pi / 30.0),
    "m/s2": Unit("m/s2", 1.0),
    "N": Unit("N", 1.0),
    "kN": Unit("N", 1000.0),
    "N m": Unit("N m", 1.0),
    "kN m": Unit("N m", 1000.0),
    "Pa": Unit("Pa", 1.0),
    "kPa": Unit("Pa", 1e3),
    "bar": Unit("Pa", 1e5),
    "MPa": Unit("Pa", 1e6),
    "psi": Unit("Pa", 6894.757293168361),
    "m3/s": Unit("m3/s", 1.0),
    "l/min": Unit("m3/s", 1.0 / 60000.0),
    "W": Unit("W", 1.0),
    "kW": Unit("W", 1000.0),
    "K": Unit("K", 1.0),
}


def units_of(si: str) -> tuple[str, ...]:
    """Returns the names of the units that measure what an SI unit measures."""
    return tuple(name for name, unit in UNITS.items() if unit.si == si)
