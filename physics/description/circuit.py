"""A hydraulic circuit as a graph: its lines, which the ports of its elements name, and the ways between them.

A line is oil of one pressure. It comes into being by being named; tanks and supplies hold theirs constant.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grouser.physics.description.data.hydraulics import DirectionalValve, Tank
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.table import HYDRAULIC_ELEMENTS
from grouser.physics.description.table.attributes import Kind

# Names of the ports of each kind of element, by the field of `Machine` that holds them.
PORTS: dict[str, tuple[str, ...]] = {
    kind.field: tuple(attribute.name for attribute in kind.attributes if attribute.kind is Kind.PORT)
    for kind in HYDRAULIC_ELEMENTS
    if any(attribute.kind is Kind.PORT for attribute in kind.attributes)
}

# Ways of the oil through each kind of element: from port, to port, and whether pressure alone opens it, whatever is
# commanded and however high the pressure behind it. Compensators and reducing valves close when it rises there.
_WAYS: Mapping[str, tuple[tuple[str, str, bool], ...]] = {
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

# What is on the way from a directional valve to its actuator; what signals or only protects a line is not.
_TO_ACTUATORS = (
    "check_valves",
    "counterbalance_valves",
    "reducing_valves",
    "orifices",
    "compensators",
    "hydraulic_motors",
    "hoses",
)


@dataclass(frozen=True)
class Way:
    """A way of the oil from one line to another; `standing` when pressure alone opens it, whatever is commanded."""

    source: str
    target: str
    standing: bool = False


def circuit_lines(machine: Machine) -> tuple[str, ...]:
    """Returns the names of all lines: tanks, supplies of constant pressure, then the others as the machine names them.

    The others: first those that a `Line` gives a volume, then by the fields of `PORTS`, elements in the order of the
    file, ports in the order of the table.
    """
    names = [*constant_pressures(machine), *(line.name for line in machine.lines)]
    names += [line for field in PORTS for element in getattr(machine, field) for _, line in named_lines(field, element)]
    return tuple(dict.fromkeys(names))


def constant_pressures(machine: Machine) -> dict[str, float]:
    """Returns the lines of constant pressure, tanks before supplies, with that pressure [Pa, absolute]."""
    pressures = {tank.name: tank.pressure for tank in circuit_tanks(machine)}
    for pump in machine.pumps:
        if pump.supply_pressure is not None:
            pressures[pump.outlet] = pump.supply_pressure
    return pressures


def circuit_tanks(machine: Machine) -> tuple[Tank, ...]:
    """Returns the machine's tanks; without any, the one that a machine with hydraulics has all the same."""
    if machine.tanks or not any(getattr(machine, field) for field in PORTS):
        return machine.tanks
    return (Tank("tank", machine.pumps[0].tank_pressure if machine.pumps else Tank().pressure),)


def home_pressure(machine: Machine, name: str) -> tuple[str, float] | None:
    """Returns the first line of constant pressure, its first tank, of the machine that an element or a line belongs to.

    Args:
        machine: perhaps made of several.
        name: of the element or line.

    Returns:
        The line's name and its pressure [Pa, absolute]; None without one.
    """
    owner = machine.member_of(name)
    return next(
        ((line, p) for line, p in constant_pressures(machine).items() if machine.member_of(line) == owner), None
    )


def named_lines(field: str, element: Any) -> Iterator[tuple[str, str]]:
    """Yields the ports of an element that name a line, with that line; `field` of `Machine` holds the element."""
    for port in PORTS[field]:
        line = getattr(element, port)
        if line:
            yield port, line


def ways_of_oil(machine: Machine) -> Iterator[Way]:
    """Yields the ways that oil can take, each in its direction; past a piston only its leakage."""
    for field, ways in _WAYS.items():
        for element in getattr(machine, field):
            for source, target, standing in ways:
                yield from _way(getattr(element, source), getattr(element, target), standing)
    for valve in machine.check_valves:
        if valve.pilot:
            yield Way(valve.outlet, valve.inlet)
    for cylinder in machine.cylinders:
        if cylinder.leakage > 0.0:
            yield from _way(cylinder.piston_side, cylinder.rod_side)
            yield from _way(cylinder.rod_side, cylinder.piston_side)
        home = home_pressure(machine, cylinder.name)
        if cylinder.rod_leakage > 0.0 and home:
            yield from _way(cylinder.rod_side, home[0])
    for motor in machine.hydraulic_motors:
        if motor.drain_leakage > 0.0:
            yield Way(motor.a, motor.drain)
            yield Way(motor.b, motor.drain)


def reached_lines(starts: Iterable[str], ways: Iterable[Way]) -> set[str]:
    """Returns the lines that oil gets to from some lines, these with them."""
    onward: dict[str, list[str]] = defaultdict(list)
    for way in ways:
        onward[way.source].append(way.target)
    reached, ahead = set(starts), list(starts)
    while ahead:
        for line in onward[ahead.pop()]:
            if line not in reached:
                reached.add(line)
                ahead.append(line)
    return reached


def valve_lines(valve: DirectionalValve) -> tuple[str, str]:
    """Returns the lines a and b of a directional valve, whose names follow from its own where it gives none."""
    return valve.a or f"{valve.name}.a", valve.b or f"{valve.name}.b"


def edge_overlaps(valve: DirectionalValve) -> tuple[float, float, float, float]:
    """Returns the overlaps of a valve's edges from supply to a and b, and their underlaps from a and b to tank."""

    def of_edge(own: float | None, common: float) -> float:
        return common if own is None else own

    return (
        of_edge(valve.supply_a_overlap, valve.supply_overlap),
        of_edge(valve.supply_b_overlap, valve.supply_overlap),
        of_edge(valve.tank_a_underlap, valve.tank_underlap),
        of_edge(valve.tank_b_underlap, valve.tank_underlap),
    )


def feeding_valve(machine: Machine, lines: Iterable[str]) -> str | None:
    """Returns the directional valve from one of whose ports a, b oil gets to some lines; None without.

    On the way may be hoses, orifices, check, counterbalance and reducing valves, compensators and motors in series, but
    no tank and no supply. Of several valves it is that with the fewest of them on its way, then the first.

    Args:
        machine: its circuit.
        lines: of an actuator; empty names of open sides do not count.
    """
    ends = constant_pressures(machine)
    sources: dict[str, list[str]] = defaultdict(list)
    for field in _TO_ACTUATORS:
        for element in getattr(machine, field):
            for source, target, _ in _WAYS[field]:
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


def _way(source: str, target: str, standing: bool = False) -> Iterator[Way]:
    if source and target:
        yield Way(source, target, standing)
