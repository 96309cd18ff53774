"""A machine's hydraulic circuit as a drawing, in graphviz' language DOT.

Pumps stand at the bottom, directional valves in a row, actuators at the top. A line between two ports is drawn from
one to the other; one of more ports is a dot with its name. Every port on a tank has a tank of its own beneath it, as
circuit diagrams have. Lines before the valves are thick, those between valve and actuator less so, returns thin,
signals and pilots dashed. In the SVG, groups of elements have the ids ``element-<name>``, those of lines
``line-<name>``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grouser.commands.circuit_symbols import PLACED_PORTS, symbol, tank_symbol
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import (
    PORTS,
    circuit_tanks,
    flow_paths,
    named_lines,
    reached_lines,
)

# Ports of pressure signals.
_SIGNAL_PORTS: Mapping[str, tuple[str, ...]] = {
    "pumps": ("sense",),
    "valves": ("sense",),
    "check_valves": ("pilot",),
    "counterbalance_valves": ("pilot",),
    "compensators": ("load",),
    "shuttle_valves": ("a", "b", "outlet"),
}
# Ports whose line is drawn above the element, so that oil goes up to the actuators and signals down to the pump.
_UPPER_PORTS: Mapping[str, tuple[str, ...]] = {
    "pumps": ("outlet", "sense"),
    "valves": ("a", "b"),
    "check_valves": ("outlet",),
    "counterbalance_valves": ("load",),
    "reducing_valves": ("outlet",),
    "shuttle_valves": ("a", "b"),
    "orifices": ("outlet",),
    "compensators": ("outlet",),
    "hoses": ("outlet",),
}
# Elements that hang beneath the line at their inlet when their outlet is a tank.
_HANGING = ("relief_valves", "check_valves", "orifices")
# Ports that do not affect the vertical order.
_LOOSE_PORTS = {("compensators", "load"), ("check_valves", "pilot"), ("counterbalance_valves", "pilot")}
_PRESSURE = 'color="#b01818", penwidth=3.5'
_WORK = 'color="#303030", penwidth=2'
_RETURN = 'color="#2060b0", penwidth=1'
_SIGNAL = 'color="#207030", penwidth=1.2, style=dashed'


@dataclass(frozen=True)
class _End:
    """A port of an element on a line, where an edge of the graph ends."""

    node: str
    is_signal: bool
    is_upper: bool
    is_loose: bool
    field: str


def circuit_dot(machine: Machine) -> str:
    """Returns the drawing of a machine's circuit as DOT text."""
    tanks = {tank.name for tank in circuit_tanks(machine)}
    ends: dict[str, list[_End]] = defaultdict(list)
    text = [
        f"graph {_quoted(machine.name)} {{",
        'rankdir=BT; nodesep=0.3; ranksep=0.4; fontname="Helvetica";',
        'node [fontname="Helvetica", fontsize=10];',
        'edge [fontname="Helvetica", fontsize=8, fontcolor="#606060"];',
    ]
    for field in PORTS:
        for number, element in enumerate(getattr(machine, field)):
            node = f"{field}.{number}"
            identity = _quoted(f"element-{element.name}")
            text.append(f"{_quoted(node)} [{symbol(field, element)}, id={identity}, tooltip={_quoted(element.name)}];")
            hangs = field in _HANGING and element.outlet in tanks
            for port, line in named_lines(field, element):
                end = _end(field, node, port, hangs)
                if line in tanks:
                    tank = _quoted(f"{node}.{port}.tank")
                    text.append(f"{tank} [{tank_symbol()}, tooltip={_quoted(line)}];")
                    text.append(f"{tank} -- {end.node} [{_RETURN}];")
                else:
                    ends[line].append(end)
    row = " ".join(_quoted(f"valves.{number}") + ";" for number in range(len(machine.valves)))
    text.append(f"{{rank=same; {row}}}")
    styles = _styles(machine, ends)
    for number, (line, its_ends) in enumerate(ends.items()):
        text += _drawn_line(f"line.{number}", line, its_ends, styles[line])
    return "\n".join([*text, "}", ""])


def _end(field: str, node: str, port: str, hangs: bool) -> _End:
    placed = port in PLACED_PORTS.get(field, ())
    return _End(
        node=f"{_quoted(node)}:{port}" if placed else _quoted(node),
        is_signal=port in _SIGNAL_PORTS.get(field, ()),
        is_upper=hangs or port in _UPPER_PORTS.get(field, ()),
        is_loose=(field, port) in _LOOSE_PORTS,
        field=field,
    )


def _styles(machine: Machine, ends: Mapping[str, Sequence[_End]]) -> dict[str, str]:
    """How each line is drawn."""
    before_valves = replace(
        machine, valves=(), relief_valves=(), shuttle_valves=(), cylinders=(), hydraulic_motors=(), pumps=()
    )
    fed = reached_lines([pump.outlet for pump in machine.pumps], flow_paths(before_valves))
    returns = {valve.tank for valve in machine.valves}
    styles = {}
    for line, its_ends in ends.items():
        # An orifice may bleed a signal line.
        if all(end.is_signal or end.field == "orifices" for end in its_ends):
            styles[line] = _SIGNAL
        elif line in fed:
            styles[line] = _PRESSURE
        else:
            styles[line] = _RETURN if line in returns else _WORK
    return styles


def _drawn_line(node: str, line: str, ends: Sequence[_End], style: str) -> Iterator[str]:
    """A line between two ports, or from a dot to each of its ports."""
    style += f", id={_quoted(f'line-{line}')}"
    if len(ends) == 2 and ends[0].is_upper != ends[1].is_upper:
        below, above = sorted(ends, key=lambda end: not end.is_upper)
        yield f"{below.node} -- {above.node} [label={_quoted(line)}, {style}];"
        return
    yield f'{_quoted(node)} [shape=point, width=0.07, xlabel={_quoted(line)}, fontsize=8, fontcolor="#606060"];'
    for end in ends:
        nodes = (end.node, _quoted(node)) if end.is_upper else (_quoted(node), end.node)
        loose = ", constraint=false" if end.is_loose else ""
        drawn = f"{_SIGNAL}, id={_quoted(f'line-{line}')}" if end.is_signal else style
        yield f"{nodes[0]} -- {nodes[1]} [{drawn}{loose}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
