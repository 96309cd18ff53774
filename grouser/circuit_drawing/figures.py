"""The lines of figures beside the symbols of hydraulic elements."""

from collections.abc import Callable, Mapping
from typing import Any


def figures_of(field: str, element: Any) -> tuple[str, ...]:
    """Returns the figures of an element that a field of `Machine` holds."""
    return _FIGURES[field](element) if field in _FIGURES else ()


def _pump(pump: Any) -> tuple[str, ...]:
    if pump.displacement is None:
        return (f"{_mega(pump.supply_pressure)} MPa, constant",)
    figures = [f"{_number(6e4 * pump.displacement * pump.speed)} l/min"]
    if pump.control != "fixed":
        figures.append(f"{pump.control.replace('_', ' ')}, {_mega(pump.setting)} MPa")
    if pump.power_limit:
        figures.append(f"{_number(1e-3 * pump.power_limit)} kW")
    return tuple(figures)


def _orifice(orifice: Any) -> tuple[str, ...]:
    if orifice.diameter is None:
        return (f"{orifice.resistance:.3g} Pa s/m³",)
    return (f"⌀ {_milli(orifice.diameter)} mm",)


def _number(value: float) -> str:
    return f"{value:.3g}"


def _mega(pressure: float) -> str:
    return f"{1e-6 * pressure:.3g}"


def _milli(length: float) -> str:
    return f"{1e3 * length:.4g}"


_FIGURES: Mapping[str, Callable[[Any], tuple[str, ...]]] = {
    "pumps": _pump,
    "relief_valves": lambda valve: (f"{_mega(valve.pressure)} MPa",),
    "check_valves": lambda valve: (f"pilot ratio {valve.pilot_ratio:g}",) if valve.pilot else (),
    "counterbalance_valves": lambda valve: (f"{_mega(valve.pressure)} MPa", f"pilot ratio {valve.pilot_ratio:g}"),
    "reducing_valves": lambda valve: (f"to {_mega(valve.pressure)} MPa",),
    "orifices": _orifice,
    "compensators": lambda valve: (f"{_mega(valve.margin)} MPa",),
    "cylinders": lambda cylinder: (
        f"⌀ {_milli(cylinder.bore)} / {_milli(cylinder.rod_diameter)} x {_milli(cylinder.stroke)} mm",
    ),
    "hydraulic_motors": lambda motor: (f"{_number(1e6 * motor.displacement)} cm³/rad",),
    "accumulators": lambda gas: (f"{_number(1e3 * gas.volume)} l, {_mega(gas.precharge)} MPa",),
    "hoses": lambda hose: (f"{_number(hose.length)} m, ⌀ {_milli(hose.diameter)} mm",),
}
