"""Cells of the elements of a circuit: the symbol, its texts, its tanks."""

from collections.abc import Mapping
from typing import Any

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.cells import Cell, Port
from grouser.circuit_drawing.figures import figures_of
from grouser.circuit_drawing.symbol import Symbol
from grouser.circuit_drawing.symbols import relief_across, shuttle_valve, symbol
from grouser.physics.description.elements.hydraulics.circuit import PORTS, named_lines

# Ports of pressure signals.
_SIGNAL_PORTS: Mapping[str, tuple[str, ...]] = {
    "pumps": ("sense",),
    "valves": ("sense",),
    "check_valves": ("pilot",),
    "counterbalance_valves": ("pilot",),
    "compensators": ("load",),
    "shuttle_valves": ("a", "b", "outlet"),
}
_NAME, _FIGURES, _LEADING, _TANK = 10.0, 9.0, 12.0, 16.0


def element_cell(field: str, element: Any, tanks: frozenset[str], from_shuttles: frozenset[str]) -> Cell:
    """Returns the cell of an element.

    Args:
        field: of `Machine` that holds it.
        element: the element.
        tanks: lines that are tanks; every port on one has a tank of its own.
        from_shuttles: lines at the outlet of a shuttle valve.
    """
    nets = dict(named_lines(field, element))
    if field == "shuttle_valves":
        drawn = shuttle_valve(*(nets[port] not in from_shuttles for port in ("a", "b")))
    elif field == "relief_valves" and tanks.isdisjoint(nets.values()):
        drawn = relief_across()
    else:
        drawn = symbol(field, element)
        if "inlet" in PORTS[field] and nets.get("outlet") in tanks:
            drawn = drawn.hanging()
    texts = [(element.name, _NAME, True), *((line, _FIGURES, False) for line in figures_of(field, element))]
    forms = [_form(field, form, nets, tanks, texts) for form in (drawn, drawn.mirrored())]
    (width, height), ports, svgs = forms[0][0], [form[1] for form in forms], [form[2] for form in forms]
    return Cell(element.name, field, width, height, (ports[0], ports[1]), (svgs[0], svgs[1]))


def way_cell(net: str, signal: bool) -> Cell:
    """Returns the way of a line through a row."""
    ports = tuple(Port(net, 4.0, 0.0, above, signal) for above in (True, False))
    return Cell("", "", 8.0, 0.0, (ports, ports))


def _form(
    field: str,
    drawn: Symbol,
    nets: Mapping[str, str],
    tanks: frozenset[str],
    texts: list[tuple[str, float, bool]],
) -> tuple[tuple[float, float], tuple[Port, ...], str]:
    """Size, ports and shapes of a cell."""
    room = max(shapes.text_width(*text) for text in texts)
    height = _LEADING * len(texts)
    first, top, left = 0.0, height + 3, 0.0
    if drawn.texts == "right":
        width, total = drawn.width + 5 + room, max(drawn.height, height)
        x, anchor, first, top = drawn.width + 5, "start", (total - height) / 2, (total - drawn.height) / 2
    elif drawn.texts == "above":
        width, total = max(drawn.width, room), drawn.height + height + 3
        left, x, anchor = (width - drawn.width) / 2, width / 2, "middle"
    else:
        before = drawn.places["a"][0] - 8
        left = max(0.0, room - before)
        width, total, x, anchor = left + drawn.width, drawn.height + height + 3, left + before, "end"
    svg = [shapes.turned(drawn.svg, f"translate({left:g} {top:g})")]
    for number, (line, size, bold) in enumerate(texts):
        svg.append(shapes.text(x, first + _LEADING * (number + 0.8), line, size, bold, anchor))
    used = {port: place for port, place in drawn.places.items() if port in nets}
    below = any(nets[port] in tanks for port in used)
    bottom = total + (_TANK if below else 0.0)
    ports = []
    for port, (port_x, port_y, above) in used.items():
        x, y = left + port_x, top + port_y
        if nets[port] in tanks:
            svg.append(_tank(x, y, above, nets[port]))
            continue
        signal, edge = port in _SIGNAL_PORTS.get(field, ()), 0.0 if above else bottom
        if y != edge:
            svg.append(shapes.lines(f"M{x:g} {y:g}V{edge:g}", dashed=signal))
        ports.append(Port(nets[port], x, edge, above, signal, port))
    return (width, bottom), tuple(ports), "".join(svg)


def _tank(x: float, y: float, above: bool, name: str) -> str:
    """A tank below a port; from a port above the line turns down to it."""
    way = f"M{x:g} {y:g}v-4h12v12" if above else f"M{x:g} {y:g}v10"
    x, y = (x + 12, y + 8) if above else (x, y + 10)
    shape = shapes.lines(way) + shapes.lines(f"M{x - 8:g} {y - 5:g}v9h16v-9")
    return f"<g>{shapes.title(name)}{shape}</g>"
