"""Units of measured data and their SI units."""

import math

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

# Unit: (SI unit, its size in that).
UNITS: dict[str, tuple[str, float]] = {
    "-": ("-", 1.0),
    "%": ("-", 0.01),
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "min": ("s", 60.0),
    "m": ("m", 1.0),
    "cm": ("m", 1e-2),
    "mm": ("m", 1e-3),
    "um": ("m", 1e-6),
    "in": ("m", 0.0254),
    "m/s": ("m/s", 1.0),
    "cm/s": ("m/s", 1e-2),
    "mm/s": ("m/s", 1e-3),
    "km/h": ("m/s", 1.0 / 3.6),
    "m/s2": ("m/s2", 1.0),
    "g": ("m/s2", 9.80665),
    "rad": ("rad", 1.0),
    "deg": ("rad", math.radians(1.0)),
    "rad/s": ("rad/s", 1.0),
    "deg/s": ("rad/s", math.radians(1.0)),
    "rpm": ("rad/s", math.pi / 30.0),
    "Pa": ("Pa", 1.0),
    "kPa": ("Pa", 1e3),
    "MPa": ("Pa", 1e6),
    "bar": ("Pa", 1e5),
    "psi": ("Pa", 4.4482216152605 / 0.0254**2),
    "m3/s": ("m3/s", 1.0),
    "l/min": ("m3/s", 1e-3 / 60.0),
    "N": ("N", 1.0),
    "kN": ("N", 1e3),
    "lbf": ("N", 4.4482216152605),
    "N m": ("N m", 1.0),
    "kN m": ("N m", 1e3),
    "W": ("W", 1.0),
    "kW": ("W", 1e3),
    "J": ("J", 1.0),
    "kg": ("kg", 1.0),
}


def unit_size(name: str, unit: str, si_unit: str | None = None) -> float:
    """Returns the size of a unit in SI.

    Args:
        name: of what has the unit, for messages.
        unit: one of `UNITS`.
        si_unit: that it has to be a unit of; None: any.

    Raises:
        ParameterError: it is unknown, or of another quantity.
    """
    if unit not in UNITS:
        raise ParameterError(f"unit of {name}", unit, closest(unit, UNITS))
    found, size = UNITS[unit]
    if si_unit is not None and found != si_unit:
        fitting = [known for known, (base, _) in UNITS.items() if base == si_unit]
        raise ParameterError(f"unit of {name}", unit, f"a unit of {si_unit}: {', '.join(fitting) or si_unit}")
    return size
