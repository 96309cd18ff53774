"""The drawing of a machine's hydraulic circuit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.cells import Placed
from grouser.circuit_drawing.element_cells import element_cell
from grouser.circuit_drawing.flow_parts import FlowParts, flow_parts
from grouser.circuit_drawing.geometry import LineShape, line_shapes
from grouser.circuit_drawing.labels import SIZE, Label, Labels
from grouser.circuit_drawing.placing import place
from grouser.circuit_drawing.routing import routed
from grouser.circuit_drawing.rows import rows_of, terminals
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_tanks, flow_paths, reached_lines

_MARGIN = 20.0
_VALUE = ' class="value"'


@dataclass(frozen=True)
class _Style:
    colour: str
    width: float


_PRESSURE, _WORK, _RETURN = _Style("#b01818", 2.4), _Style("#303030", 1.8), _Style("#2060b0", 1.4)
_SIGNAL = _Style("#207030", 1.2)


def circuit_svg(machine: Machine, live: bool = False) -> str:
    """Returns the drawing of a machine's circuit as SVG.

    The group of an element has the id ``element-<name>``, that of a line ``line-<name>``; both have a title. In the
    group of a directional valve the group of class ``spool`` has the boxes of its three positions.

    Args:
        machine: whose circuit it is.
        live: whether there are empty texts of the class ``value`` for what a page shows, where lines and elements have
            room for it, and in the groups of lines unseen paths of the class ``flow``. Their attribute ``data-ports``
            has the ports (`FlowPort.name`, as JSON) that take what flows through them in the direction of the path.
    """
    tanks = frozenset(tank.name for tank in circuit_tanks(machine))
    from_shuttles = frozenset(valve.outlet for valve in machine.shuttle_valves)
    elements = [(field, element) for field in PORTS for element in getattr(machine, field)]
    rows = rows_of([element_cell(*each, tanks, from_shuttles) for each in elements])
    place(rows)
    lines = line_shapes(rows, {channel: routed(nets) for channel, nets in terminals(rows).items()}, live)
    labels = Labels(rows, lines)
    names = labels.names()
    line_values, element_values = (labels.line_values(names), labels.element_values()) if live else ({}, {})
    width = max(placed.x + placed.cell.width for row in rows for placed in row) + 2 * _MARGIN
    height = max(placed.y + placed.cell.height for row in rows for placed in row) + 2 * _MARGIN
    styles = _styles(machine, lines)
    body = [f'<rect x="{-_MARGIN:g}" y="{-_MARGIN:g}" width="{width:g}" height="{height:g}" fill="white"/>']
    body += [_element(placed, element_values.get(placed)) for row in rows for placed in row if placed.cell.field]
    for net, shape in lines.items():
        parts = flow_parts(net, shape, rows) if live else {}
        body.append(_line(net, shape, styles[net], names.get(net), line_values.get(net), parts))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:g} {height:g}" font-family="{shapes.FONT}">',
            shapes.title(machine.name),
            *body,
            "</svg>",
            "",
        ]
    )


def _element(placed: Placed, value: Label | None) -> str:
    svg = shapes.title(placed.cell.name) + placed.cell.svg[placed.mirrored]
    if value:
        svg += _text(replace(value, x=value.x - placed.x, y=value.y - placed.y), "", _VALUE)
    place = f"translate({placed.x:.1f} {placed.y:.1f})"
    return f"<g {_id('element', placed.cell.name)} transform={shapes.quoted(place)}>{svg}</g>"


def _line(net: str, shape: LineShape, style: _Style, name: Label | None, value: Label | None, parts: FlowParts) -> str:
    svg = [shapes.title(net)]
    for signal in (False, True):
        strokes = "".join(
            f"M{part.x0:.1f} {part.y0:.1f}L{part.x1:.1f} {part.y1:.1f}"
            for part in shape.segments
            if part.signal == signal and (part.x0, part.y0) != (part.x1, part.y1)
        )
        if strokes:
            drawn = _SIGNAL if signal else style
            dash = ' stroke-dasharray="5 3"' if signal else ""
            svg.append(
                f'<path d="{strokes}" fill="none" stroke="{drawn.colour}" stroke-width="{drawn.width:g}"{dash}/>'
            )
    svg += [shapes.dot(x, y, style.colour) for x, y in shape.dots]
    for ports, edges in parts.items():
        strokes = "".join(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" for (x0, y0), (x1, y1) in edges)
        svg.append(f'<path class="flow" data-ports={shapes.quoted(json.dumps(ports))} d="{strokes}" fill="none"/>')
    if name:
        svg.append(_text(name, net, ' fill="#505050"'))
    if value:
        svg.append(_text(value, "", _VALUE))
    return f"<g {_id('line', net)}>{''.join(svg)}</g>"


def _text(label: Label, words: str, more: str) -> str:
    turn = f' transform="rotate(-90 {label.x:.1f} {label.y:.1f})"' if label.upright else ""
    return shapes.text(label.x, label.y, words, SIZE, more=more + turn)


def _id(kind: str, name: str) -> str:
    return f"id={shapes.quoted(f'{kind}-{name}')}"


def _styles(machine: Machine, lines: Mapping[str, LineShape]) -> dict[str, _Style]:
    """Lines before the valves, returns, and those between valve and actuator."""
    before_valves = replace(
        machine, valves=(), relief_valves=(), shuttle_valves=(), cylinders=(), hydraulic_motors=(), pumps=()
    )
    fed = reached_lines([pump.outlet for pump in machine.pumps], flow_paths(before_valves))
    returns = {valve.tank for valve in machine.valves}
    return {net: _PRESSURE if net in fed else _RETURN if net in returns else _WORK for net in lines}
