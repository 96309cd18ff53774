"""The hydraulic circuit of a machine as a graph: nodes are lines, edges are flow paths.

A line is a volume of oil with one pressure. It exists when a port names it. Lines of tanks and supplies have a constant
pressure.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grouser.physics.description.data.hydraulics import Tank, valve_lines
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.table import HYDRAULIC_ELEMENTS
from grouser.physics.description.table.attributes import Kind

# Names of the ports of each kind of element, by its field of `Machine`.
PORTS: dict[str, tuple[str, ...]] = {
    kind.field: tuple(attribute.name for attribute in kind.attributes if attribute.kind is Kind.PORT)
    for kind in HYDRAULIC_ELEMENTS
    if any(attribute.kind is Kind.PORT for attribute in kind.attributes)
}

# Flow paths through each kind of element: from port, to port, and whether pressure alone opens the path, whatever is
# commanded. Compensators and reducing valves close when their outlet pressure rises.
_FLOW_PATHS: Mapping[str, tuple[tuple[str, str, bool], ...]] = {
    "pumps": (("inlet", "outlet", False),),
    "valves": (
        ("supply", "a", False),
        ("supply", "b", False),
        ("a", "tank", False),
        ("b", "tank", False),
        ("a", "sense", False),
        ("b", "sense", False),
        ("sense", "tank", False),
    ),
    "relief_valves": (("inlet", "outlet", True),),
    "check_valves": (("inlet", "outlet", True),),
    "counterbalance_valves": (("valve", "load", True), ("load", "valve", True)),
    "reducing_valves": (("inlet", "outlet", False),),
    "shuttle_valves": (
        ("a", "outlet", True),
        ("b", "outlet", True),
        ("outlet", "a", False),
        ("outlet", "b", False),
    ),
    "orifices": (("inlet", "outlet", True), ("outlet", "inlet", True)),
    "compensators": (("inlet", "outlet", False),),
    "hydraulic_motors": (("a", "b", False), ("b", "a", False)),
    "hoses": (("inlet", "outlet", True), ("outlet", "inlet", True)),
}

# Elements between a directional valve and its actuator; not those that carry signals or protect lines.
_TO_ACTUATORS = (
    "check_valves",
    "counterbalance_valves",
    "reducing_valves",
    "orifices",
    "compensators",
    "hydraulic_motors",
    "hoses",
)

# Flow ports of the elements that have none of these paths, or more ports than those.
_ACTUATING: Mapping[str, tuple[str, ...]] = {
    "cylinders": ("piston_side", "rod_side"),
    "hydraulic_motors": ("a", "b", "drain"),
    "accumulators": ("port",),
}


@dataclass(frozen=True)
class FlowPath:
    """A path of oil from one line to another; `pressure_opened` if pressure alone opens it, whatever is commanded."""

    source: str
    target: str
    pressure_opened: bool = False


def circuit_lines(machine: Machine) -> tuple[str, ...]:
    """Returns the names of all lines: tanks, supplies of constant pressure, then the others.

    The others: first those with a `Line`, then by the fields of `PORTS`, elements in the order of the file, ports in
    the order of the table.
    """
    names = [*constant_pressures(machine), *(line.name for line in machine.lines)]
    names += [line for field in PORTS for element in getattr(machine, field) for _, line in named_lines(field, element)]
    return tuple(dict.fromkeys(names))


def constant_pressures(machine: Machine) -> dict[str, float]:
    """Returns the lines of constant pressure, tanks before supplies, with their pressure [Pa, absolute]."""
    pressures = {tank.name: tank.pressure for tank in circuit_tanks(machine)}
    for pump in machine.pumps:
        if pump.supply_pressure is not None:
            pressures[pump.outlet] = pump.supply_pressure
    return pressures


def circuit_tanks(machine: Machine) -> tuple[Tank, ...]:
    """Returns the tanks of a machine; a machine with hydraulics and without `Tank` has a default one."""
    if machine.tanks or not any(getattr(machine, field) for field in PORTS):
        return machine.tanks
    return (Tank("tank", machine.pumps[0].tank_pressure if machine.pumps else Tank().pressure),)


def home_pressure(machine: Machine, name: str) -> tuple[str, float] | None:
    """Returns the first line of constant pressure of the member that an element or line belongs to.

    Args:
        machine: a machine or a fleet.
        name: of the element or line.

    Returns:
        Name and pressure [Pa, absolute] of the line, usually a tank; None without such a line.
    """
    owner = machine.member_of(name)
    return next(
        ((line, p) for line, p in constant_pressures(machine).items() if machine.member_of(line) == owner), None
    )


def named_lines(field: str, element: Any) -> Iterator[tuple[str, str]]:
    """Yields the connected ports of an element with their lines; `field` is the element's field of `Machine`."""
    for port in PORTS[field]:
        line = getattr(element, port)
        if line:
            yield port, line


def flow_paths(machine: Machine) -> Iterator[FlowPath]:
    """Yields all directed flow paths; across a piston only its leakage."""
    for field, paths in _FLOW_PATHS.items():
        for element in getattr(machine, field):
            for source, target, pressure_opened in paths:
                yield from _flow_path(getattr(element, source), getattr(element, target), pressure_opened)
    for valve in machine.check_valves:
        if valve.pilot:
            yield FlowPath(valve.outlet, valve.inlet)
    for cylinder in machine.cylinders:
        if cylinder.leakage > 0.0:
            yield from _flow_path(cylinder.piston_side, cylinder.rod_side)
            yield from _flow_path(cylinder.rod_side, cylinder.piston_side)
        home = home_pressure(machine, cylinder.name)
        if cylinder.rod_leakage > 0.0 and home:
            yield from _flow_path(cylinder.rod_side, home[0])
    for motor in machine.hydraulic_motors:
        if motor.drain_leakage > 0.0:
            yield FlowPath(motor.a, motor.drain)
            yield FlowPath(motor.b, motor.drain)


@dataclass(frozen=True)
class FlowPort:
    """A port that oil flows through.

    Attributes:
        field: of `Machine` that holds its element.
        element, port: names.
        line: that the port is on.
        takes_rest: whether it takes what is left of its line's flow: that of a supply of constant pressure or of an
            accumulator.
    """

    field: str
    element: str
    port: str
    line: str
    takes_rest: bool

    @property
    def name(self) -> str:
        """Name of the port: elements of different kinds may have the same name."""
        return f"{self.field}/{self.element}/{self.port}"


def flow_ports(machine: Machine) -> Iterator[FlowPort]:
    """Yields the ports that oil flows through, not those that only sense a pressure."""
    for field in PORTS:
        flowing = {port for source, target, _ in _FLOW_PATHS.get(field, ()) for port in (source, target)}
        for element in getattr(machine, field):
            supply = field == "pumps" and element.displacement is None
            for port, line in named_lines(field, element):
                if port in _ACTUATING.get(field, flowing) and not (supply and port == "inlet"):
                    yield FlowPort(field, element.name, port, line, supply or field == "accumulators")


def reached_lines(starts: Iterable[str], paths: Iterable[FlowPath]) -> set[str]:
    """Returns the lines that can be reached along flow paths from `starts`, including these."""
    onward: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        onward[path.source].append(path.target)
    reached, ahead = set(starts), list(starts)
    while ahead:
        for line in onward[ahead.pop()]:
            if line not in reached:
                reached.add(line)
                ahead.append(line)
    return reached


def feeding_valve(machine: Machine, lines: Iterable[str]) -> str | None:
    """Returns the directional valve whose ports a, b feed some lines; None without one.

    Between them there may be hoses, orifices, check, counterbalance and reducing valves, compensators and motors in
    series, but no tank and no supply. Of several valves it is the one with the fewest elements in between, then the
    first.

    Args:
        machine: the machine.
        lines: of an actuator; empty names of open sides are ignored.
    """
    ends = constant_pressures(machine)
    sources: dict[str, list[str]] = defaultdict(list)
    for field in _TO_ACTUATORS:
        for element in getattr(machine, field):
            for source, target, _ in _FLOW_PATHS[field]:
                sources[getattr(element, target)].append(getattr(element, source))
    front = {line for line in lines if line and line not in ends}
    passed: set[str] = set()
    while front:
        for valve in machine.valves:
            if not front.isdisjoint(valve_lines(valve)):
                return valve.name
        passed |= front
        front = {source for line in front for source in sources[line]} - passed - ends.keys()
    return None


def _flow_path(source: str, target: str, pressure_opened: bool = False) -> Iterator[FlowPath]:
    if source and target:
        yield FlowPath(source, target, pressure_opened)
