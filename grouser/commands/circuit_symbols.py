"""Symbols of the elements of a hydraulic circuit, as HTML-like labels of graphviz.

After ISO 1219-1 as far as letters, boxes and circles go: pumps and motors are circles with triangles, valves boxes, a
cylinder shows its piston and rod.
"""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from grouser.physics.description.data.hydraulics import DirectionalValve, HydraulicCylinder, Pump

# Ports with a cell of their own in a symbol, by the field of `Machine` that holds the element.
PLACED_PORTS: Mapping[str, tuple[str, ...]] = {
    "valves": ("a", "b", "supply", "tank", "sense"),
    "cylinders": ("piston_side", "rod_side"),
}


def symbol(field: str, element: Any) -> str:
    """Returns the DOT attributes of an element that a field of `Machine` holds."""
    draw: Mapping[str, Callable[[Any], str]] = {
        "pumps": _pump,
        "valves": _directional_valve,
        "cylinders": _cylinder,
        "hydraulic_motors": _motor,
    }
    label = draw[field](element) if field in draw else _box(field, element)
    shape = "circle, margin=0.02" if field in ("pumps", "hydraulic_motors") else "plain"
    return f"shape={shape}, label=<{label}>"


def tank_symbol() -> str:
    """Returns the DOT attributes of a tank: a box open at the top."""
    cell = '<TD SIDES="LBR" WIDTH="26" HEIGHT="9" FIXEDSIZE="TRUE"></TD>'
    return f'shape=plain, label=<<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0"><TR>{cell}</TR></TABLE>>'


def _pump(pump: Pump) -> str:
    if pump.displacement is None:
        return _lines("▲", _bold(pump.name), f"{_mega(pump.supply_pressure)} MPa, constant")
    flow = pump.displacement * (pump.speed or 0.0)
    figures = [f"{_number(6e4 * flow)} l/min"]
    if pump.control != "fixed":
        figures.append(f"{pump.control.replace('_', ' ')}, {_mega(pump.setting)} MPa")
    if pump.power_limit:
        figures.append(f"{_number(1e-3 * pump.power_limit)} kW")
    return _lines("▲" if pump.control == "fixed" else "▲ ↗", _bold(pump.name), *figures)


def _motor(motor: Any) -> str:
    return _lines("▼ ▲", _bold(motor.name), f"{_number(1e6 * motor.displacement)} cm³/rad")


def _directional_valve(valve: DirectionalValve) -> str:
    rows = [
        _cell("A", "a") + _cell(_bold(valve.name)) + _cell("B", "b"),
        _cell("↑ ↓") + _cell(f"{valve.centre} centre") + _cell("↗ ↙"),
        _cell("P", "supply") + _cell("LS" if valve.sense else "", "sense") + _cell("T", "tank"),
    ]
    return _table(rows)


def _cylinder(cylinder: HydraulicCylinder) -> str:
    sizes = f"⌀ {_milli(cylinder.bore)} / {_milli(cylinder.rod_diameter)} x {_milli(cylinder.stroke)} mm"
    rod = f'<TD SIDES="">{"━" * 4}○</TD>'
    barrel = _cell("", "piston_side", 'WIDTH="36" HEIGHT="22"') + _cell("", "", 'WIDTH="5" BGCOLOR="black"')
    barrel += _cell("━" * 6, "rod_side")
    title = f'<TD SIDES="" COLSPAN="4">{_bold(cylinder.name)}  {sizes}</TD>'
    return _table([title, barrel + rod])


def _box(field: str, element: Any) -> str:
    """A box with a sign, and the description beside it."""
    sign, figures = _SIGNS[field]
    text = _lines(_bold(element.name), figures(element))
    return _table([_cell(f'<FONT POINT-SIZE="13">{escape(sign)}</FONT>') + f'<TD SIDES="" ALIGN="LEFT">{text}</TD>'])


def _orifice(orifice: Any) -> str:
    if orifice.diameter is None:
        return f"{orifice.resistance:.3g} Pa s/m³"
    return f"⌀ {_milli(orifice.diameter)} mm"


# A sign and the figures beside it.
_SIGNS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "relief_valves": ("↑⌇", lambda valve: f"relief {_mega(valve.pressure)} MPa"),
    "check_valves": ("○<", lambda valve: f"check, pilot ratio {valve.pilot_ratio:g}" if valve.pilot else "check"),
    "counterbalance_valves": (
        "↑⌇ ○<",
        lambda valve: f"counterbalance {_mega(valve.pressure)} MPa, ratio {valve.pilot_ratio:g}",
    ),
    "reducing_valves": ("⌇↓", lambda valve: f"reducing to {_mega(valve.pressure)} MPa"),
    "shuttle_valves": (">○<", lambda valve: "shuttle"),
    "orifices": (")(", _orifice),
    "compensators": ("↑⌇", lambda valve: f"compensator {_mega(valve.margin)} MPa"),
    "accumulators": ("(N₂)", lambda gas: f"{_number(1e3 * gas.volume)} l, {_mega(gas.precharge)} MPa"),
    "hoses": ("∿", lambda hose: f"hose {_number(hose.length)} m, ⌀ {_milli(hose.diameter)} mm"),
}


def _lines(*texts: str) -> str:
    return "<BR/>".join(texts)


def _bold(name: str) -> str:
    return f"<B>{escape(name)}</B>"


def _cell(text: str, port: str = "", more: str = "") -> str:
    place = f' PORT="{port}"' if port else ""
    return f"<TD{place} {more}>{text}</TD>"


def _table(rows: list[str]) -> str:
    body = "".join(f"<TR>{row}</TR>" for row in rows)
    return f'<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="0" CELLPADDING="3">{body}</TABLE>'


def _number(value: float) -> str:
    return f"{value:.3g}"


def _mega(pressure: float | None) -> str:
    return f"{1e-6 * (pressure or 0.0):.3g}"


def _milli(length: float) -> str:
    return f"{1e3 * length:.4g}"
