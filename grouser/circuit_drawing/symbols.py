"""Symbols of the elements of a hydraulic circuit after ISO 1219-1. Oil flows upwards through a symbol as drawn here."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.symbol import SENSING, SPACING, Symbol
from grouser.circuit_drawing.valve_symbol import directional_valve


def symbol(field: str, element: Any) -> Symbol:
    """Returns the symbol of an element that a field of `Machine` holds."""
    draw: Mapping[str, Callable[[Any], Symbol]] = {
        "pumps": _pump,
        "valves": directional_valve,
        "relief_valves": lambda valve: _pressure_valve(open_at_rest=False, senses_outlet=False),
        "check_valves": lambda valve: _check_valve(bool(valve.pilot)),
        "counterbalance_valves": lambda valve: _counterbalance_valve(),
        "reducing_valves": lambda valve: _pressure_valve(open_at_rest=True, senses_outlet=True),
        "orifices": lambda orifice: _orifice(),
        "compensators": lambda valve: _compensator(),
        "cylinders": lambda cylinder: _cylinder(),
        "hydraulic_motors": lambda motor: _motor(),
        "accumulators": lambda accumulator: _accumulator(),
        "hoses": lambda hose: _hose(),
    }
    return draw[field](element)


def relief_across() -> Symbol:
    """Returns a relief valve between two lines that both come from below."""
    valve = _pressure_valve(open_at_rest=False, senses_outlet=False)
    # Turned by a quarter its inlet is at the left and its outlet at the right.
    body = shapes.turned(valve.svg, f"translate({(SPACING + 44) / 2 + 2:g} -12) rotate(90)")
    left, right = (SPACING - 40) / 2, (SPACING + 48) / 2
    body += shapes.lines(f"M{left:g} 10V54", f"M{right:g} 10V54")
    return Symbol(right + 4, 54, {"inlet": (left, 54.0, False), "outlet": (right, 54.0, False)}, body)


def shuttle_valve(a_above: bool, b_above: bool) -> Symbol:
    """Returns a shuttle valve whose outlet is below, and whose inlets come from above or below."""
    body = shapes.box(12, 14, 44, 20) + shapes.circle(27, 24, 5)
    body += shapes.lines("M20 17L25 24L20 31", "M48 17L43 24L48 31", "M34 34V48")
    places = {"outlet": (34.0, 48.0, False)}
    for port, x, edge, above in (("a", 4.0, 20.0, a_above), ("b", 64.0, 48.0, b_above)):
        end = 0.0 if above else 48.0
        body += shapes.lines(f"M{edge:g} 24H{x:g}V{end:g}", dashed=True)
        places[port] = (x, end, above)
    return Symbol(68, 48, places, body)


def _pump(pump: Any) -> Symbol:
    if pump.displacement is None:
        body = shapes.triangle((12, 2), (3, 18), (21, 18)) + shapes.lines("M12 18V28", "M4 28H20", "M12 2V0")
        return Symbol(24, 30, {"outlet": (12.0, 0.0, True), "inlet": (12.0, 30.0, False)}, body)
    body = shapes.circle(24, 26, 18) + shapes.triangle((24, 8), (17, 19), (31, 19))
    body += shapes.lines("M24 8V0", "M24 44V50")
    if pump.control != "fixed":
        body += shapes.arrow(6, 44, 44, 6)
    width, places = 48.0, {"outlet": (24.0, 0.0, True), "inlet": (24.0, 50.0, False)}
    if pump.sense:
        body += shapes.box(48, 20, 12, 12) + shapes.lines("M42 26H48") + shapes.lines("M54 20V0", dashed=True)
        width, places["sense"] = 62.0, (54.0, 0.0, True)
    return Symbol(width, 50, places, body)


def _motor() -> Symbol:
    half, left = SPACING / 2, 6.0
    middle, right, bottom = left + half, left + SPACING, SPACING + 18
    body = shapes.circle(middle, half, half)
    body += shapes.triangle((left + 10, half), (left, half - 6), (left, half + 6))
    body += shapes.triangle((right - 10, half), (right, half - 6), (right, half + 6))
    body += shapes.lines(f"M{left:g} {half:g}V{bottom:g}", f"M{right:g} {half:g}V{bottom:g}")
    body += shapes.lines(f"M{middle:g} {SPACING:g}v4", dashed=True)
    places = {"a": (left, bottom, False), "b": (right, bottom, False), "drain": (middle, SPACING + 4, False)}
    return Symbol(SPACING + 12, bottom, places, body, "above")


def _cylinder() -> Symbol:
    barrel = SPACING + 16
    body = shapes.box(0, 0, barrel, 24) + shapes.lines("M24 0V24", width=4)
    body += shapes.lines(f"M24 12H{barrel + 24:g}", width=2.6) + shapes.circle(barrel + 27, 12, 3)
    body += shapes.lines("M8 24v6", f"M{8 + SPACING:g} 24v6")
    places = {"piston_side": (8.0, 30.0, False), "rod_side": (8.0 + SPACING, 30.0, False)}
    return Symbol(barrel + 32, 30, places, body, "above")


def _pressure_valve(*, open_at_rest: bool, senses_outlet: bool) -> Symbol:
    """A box of one position: its spring at the right, the pressure that moves it at the left."""
    line = 22.0 if open_at_rest else 15.0
    body = shapes.box(8, 8, 28, 28) + shapes.arrow(line, 36, line, 8) + shapes.lines("M22 44V36", "M22 8V0")
    body += shapes.spring(36, 28, 50, 28)
    pilot = "M22 4H3V22H8" if senses_outlet else "M22 40H3V22H8"
    body += shapes.lines(pilot, width=1.1, dashed=True)
    return Symbol(52, 44, {"inlet": (22.0, 44.0, False), "outlet": (22.0, 0.0, True)}, body)


def _compensator() -> Symbol:
    valve = _pressure_valve(open_at_rest=True, senses_outlet=True)
    load = 22 + SENSING
    body = valve.svg + shapes.lines(f"M{load:g} 0V18H36", width=1.1, dashed=True)
    return replace(valve, svg=body, places={**valve.places, "load": (load, 0.0, True)})


def _check_valve(piloted: bool) -> Symbol:
    body = shapes.lines("M12 32V23", "M12 9V0") + shapes.circle(12, 14, 5) + shapes.lines("M4 15L12 23L20 15")
    width, places = 24.0, {"inlet": (12.0, 32.0, False), "outlet": (12.0, 0.0, True)}
    if piloted:
        width, places["pilot"] = 16 + SPACING, (12 + SPACING, 32.0, False)
        body += shapes.lines(f"M{12 + SPACING:g} 32V26H14", width=1.1, dashed=True)
    return Symbol(width, 32, places, body)


def _counterbalance_valve() -> Symbol:
    """A relief valve opened by the pressures of the load and of the pilot line, and a check valve beside it."""
    x, pilot = 54.0, 54.0 + SPACING
    body = shapes.turned(_check_valve(piloted=False).svg, "translate(4 12)")
    body += shapes.lines(f"M16 12V6H{x:g}", f"M16 44V50H{x:g}") + shapes.dot(x, 6) + shapes.dot(x, 50)
    body += shapes.box(x - 14, 14, 28, 28) + shapes.arrow(x - 7, 14, x - 7, 42)
    body += shapes.lines(f"M{x:g} 0V14", f"M{x:g} 42V56") + shapes.spring(x - 14, 34, x - 28, 34)
    body += shapes.lines(f"M{pilot:g} 56V32H{x + 14:g}", f"M{x:g} 10H{x + 22:g}V22H{x + 14:g}", width=1.1, dashed=True)
    frame = f'<rect x="1" y="3" width="{pilot + 3:g}" height="50" fill="none" stroke="#808080" '
    frame += 'stroke-dasharray="8 3 2 3"/>'
    places = {"load": (x, 0.0, True), "valve": (x, 56.0, False), "pilot": (pilot, 56.0, False)}
    return Symbol(pilot + 5, 56, places, frame + body)


def _orifice() -> Symbol:
    body = shapes.lines("M12 32V0", "M5 8Q11 16 5 24", "M19 8Q13 16 19 24")
    return Symbol(24, 32, {"inlet": (12.0, 32.0, False), "outlet": (12.0, 0.0, True)}, body)


def _hose() -> Symbol:
    body = shapes.lines("M12 32C-2 28 -2 4 12 0") + shapes.dot(12, 32) + shapes.dot(12, 0)
    return Symbol(16, 32, {"inlet": (12.0, 32.0, False), "outlet": (12.0, 0.0, True)}, body)


def _accumulator() -> Symbol:
    body = '<rect x="2" y="0" width="20" height="38" rx="10" fill="white" stroke="#202020" stroke-width="1.4"/>'
    body += shapes.lines("M2 19H22", "M12 38V46") + shapes.lines("M8 8H16L12 14Z", width=1.1)
    return Symbol(24, 46, {"port": (12.0, 46.0, False)}, body)
