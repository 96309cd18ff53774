"""The hydraulic circuit of a machine as a whole: lines are joined, oil finds a tank, no pump is dead-headed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.hydraulics import Pump
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import (
    PORTS,
    Way,
    circuit_lines,
    circuit_tanks,
    constant_pressures,
    named_lines,
    reached_lines,
    ways_of_oil,
)
from grouser.physics.description.table.family import Entry, Extension
from grouser.physics.description.text.names import closest, shortened

# Pairs of ports that are on different lines, or nothing flows as it should.
_IN_AND_OUT = (("inlet", "outlet"),)
_APART: Mapping[str, tuple[tuple[str, str], ...]] = {
    "pumps": _IN_AND_OUT,
    "valves": (("supply", "tank"), ("a", "b"), ("supply", "a"), ("supply", "b")),
    "relief_valves": _IN_AND_OUT,
    "check_valves": _IN_AND_OUT,
    "counterbalance_valves": (("load", "valve"),),
    "reducing_valves": _IN_AND_OUT,
    "shuttle_valves": (("a", "b"), ("a", "outlet"), ("b", "outlet")),
    "orifices": _IN_AND_OUT,
    "compensators": _IN_AND_OUT,
    "hydraulic_motors": (("a", "b"),),
    "hoses": _IN_AND_OUT,
}

# Ports that no tank is at, ports that no supply of constant pressure is at, and ports that return oil.
_NEVER_A_TANK = {
    "pumps": ("outlet",),
    "valves": ("supply",),
    "relief_valves": ("inlet",),
    "counterbalance_valves": ("load",),
    "reducing_valves": ("inlet", "outlet"),
    "shuttle_valves": ("outlet",),
    "compensators": ("inlet",),
}
_NEVER_A_SUPPLY = {
    "valves": ("tank",),
    "relief_valves": ("outlet",),
    "reducing_valves": ("outlet",),
    "shuttle_valves": ("outlet",),
    "compensators": ("outlet",),
    "hydraulic_motors": ("drain",),
}
_RETURNS = {"valves": ("tank",), "relief_valves": ("outlet",), "hydraulic_motors": ("drain",)}
_OPPOSITE = {"inlet": "outlet", "outlet": "inlet", "supply": "tank", "tank": "supply", "load": "valve"}
_LOADS = ("cylinders", "hydraulic_motors")


@dataclass(frozen=True)
class _Port:
    """A port that names a line; `field` of the extension holds its element."""

    entry: Entry
    field: str
    name: str
    line: str


def check_circuit(machine: Machine, extension: Extension) -> None:
    """Checks that the hydraulic elements of a machine make a circuit that can work.

    Args:
        machine: with everything that its elements leave out filled in.
        extension: where its elements stand.

    Raises:
        MachineError: they do not.
    """
    ports = [
        _Port(entry, field, name, line)
        for field in PORTS
        for entry in extension[field]
        for name, line in named_lines(field, entry.value)
    ]
    _check_tanks(machine, extension)
    _check_supplies(machine, extension)
    _check_what_it_needs(machine, extension, ports)
    _check_swapped_ports(machine, extension, ports)
    _check_connections(machine, extension, ports)
    _check_ends_of_strokes(machine, extension)
    ways = list(ways_of_oil(machine))
    _check_lines_have_a_way(machine, ports, ways)
    _check_returns(machine, ports, ways)
    for entry in extension["pumps"]:
        if entry.value.displacement is not None:
            _check_pump_has_a_way(machine, entry, ways)


def _check_tanks(machine: Machine, extension: Extension) -> None:
    """Checks that one element gives the tank's pressure, and that oil does not boil there."""
    tanks = circuit_tanks(machine)
    for entry in extension["pumps"]:
        given = f"tank_pressure = {entry.value.tank_pressure:g} Pa"
        if machine.tanks and "tank_pressure" in entry.element.attributes:
            raise entry.element.error(
                f"{given} is given, and there is a tank {shortened(tanks[0].name)}",
                "give the pressure there, and remove it here",
            )
        if not machine.tanks and entry.value.tank_pressure != tanks[0].pressure:
            raise entry.element.error(
                f"{given}, and pump {shortened(machine.pumps[0].name)} says {tanks[0].pressure:g} Pa",
                "give the same pressure, or add <tank pressure=.../> and leave out both",
            )
    if machine.fluid is None:
        return
    entries = extension["tanks"] or extension["pumps"] or extension["fluid"]
    for tank, entry in zip(tanks, entries, strict=False):
        if tank.pressure <= machine.fluid.vapour_pressure:
            raise entry.element.error(
                f"tank {shortened(tank.name)} is at {tank.pressure:g} Pa, which is not above the oil's "
                f"vapour_pressure = {machine.fluid.vapour_pressure:g} Pa"
            )
    for entry in extension["lines"]:
        start = entry.value.start_pressure
        if start is not None and start <= machine.fluid.vapour_pressure:
            raise entry.element.error(
                f"start_pressure = {start:g} Pa is not above the oil's "
                f"vapour_pressure = {machine.fluid.vapour_pressure:g} Pa"
            )


def _check_supplies(machine: Machine, extension: Extension) -> None:
    """Checks that a line is held at one pressure by one element, a supply's above every tank's."""
    supplies: dict[str, Pump] = {}
    for entry in extension["pumps"]:
        pump = entry.value
        if pump.supply_pressure is None:
            continue
        if pump.outlet in supplies:
            raise entry.element.error(
                f"there are two pumps of constant pressure on line {shortened(pump.outlet)}: "
                f"{shortened(supplies[pump.outlet].name)} and {shortened(pump.name)}",
                "keep one of them, or give one another outlet",
            )
        supplies[pump.outlet] = pump
        for tank in circuit_tanks(machine):
            if tank.pressure >= pump.supply_pressure:
                name = f"pressure of tank {shortened(tank.name)}" if machine.tanks else "tank_pressure"
                raise entry.element.error(
                    f"{name} = {tank.pressure:g} Pa is not below supply_pressure = {pump.supply_pressure:g} Pa"
                )
    for entry in extension["pumps"]:
        pump = entry.value
        if pump.supply_pressure is None and pump.outlet in supplies:
            raise entry.element.error(
                f"it does nothing: pump {shortened(supplies[pump.outlet].name)} holds its outlet "
                f"{shortened(pump.outlet)} at {supplies[pump.outlet].supply_pressure:g} Pa",
                "remove one of them, or give one another outlet",
            )
    constant = constant_pressures(machine)
    for entry in extension["lines"]:
        name = entry.value.name
        if name in constant:
            raise entry.element.error(
                f"its volume does nothing: a tank or supply holds line {shortened(name)} at {constant[name]:g} Pa",
                "remove it",
            )


def _check_what_it_needs(machine: Machine, extension: Extension, ports: Collection[_Port]) -> None:
    """Checks that valves feed something, that a pump feeds them, and that there is oil."""
    for entry in extension["valves"]:
        valve = entry.value
        users = [port for port in ports if port.line in (valve.a, valve.b) and port.entry is not entry]
        if not users and not {valve.a, valve.b} & {line.name for line in machine.lines}:
            raise entry.element.error(
                f"valve {shortened(valve.name)} feeds no cylinder and no motor: nothing else names its lines "
                f"{shortened(valve.a)} and {shortened(valve.b)}",
                "name it in a cylinder, or remove it",
            )
    for entry in extension["cylinders"]:
        if entry.value.valve is not None and not machine.pumps and not machine.accumulators:
            raise entry.element.error("a cylinder needs a supply", "add <pump supply_pressure=.../> to <grouser>")
    if machine.fluid is None:
        for field, what in (("cylinders", "a cylinder"), ("hydraulic_motors", "a motor"), *((f, "it") for f in PORTS)):
            for entry in extension[field]:
                if getattr(entry.value, "supply_pressure", None) is None:
                    raise entry.element.error(f"{what} needs oil", "add <fluid/> to <grouser>")


def _check_swapped_ports(machine: Machine, extension: Extension, ports: Collection[_Port]) -> None:
    """Checks that no port is on a tank or a supply against its purpose, or on the line of its counterpart."""
    tanks = {tank.name for tank in circuit_tanks(machine)}
    supplies = constant_pressures(machine).keys() - tanks
    for what, lines, never in (("a tank", tanks, _NEVER_A_TANK), ("a supply", supplies, _NEVER_A_SUPPLY)):
        for port in ports:
            if port.line in lines and port.name in never.get(port.field, ()):
                raise _swapped(port, f"its {port.name} {shortened(port.line)} is {what}")
    of_valves = {line for valve in machine.valves for line in (valve.a, valve.b)}
    of_loads = {line for field in _LOADS for e in getattr(machine, field) for _, line in named_lines(field, e)}
    for port in ports:
        if port.field == "counterbalance_valves" and port.name == "load":
            load, valve = port.line, port.entry.value.valve
            if load in of_valves - of_loads and valve in of_loads - of_valves:
                raise _swapped(
                    port,
                    f"its load {shortened(load)} is the line of a directional valve, and its valve {shortened(valve)} "
                    "is that of a load",
                )
    for field, pairs in _APART.items():
        for entry in extension[field]:
            for first, second in pairs:
                line = getattr(entry.value, first)
                if line and line == getattr(entry.value, second):
                    raise entry.element.error(
                        f"its {first} and its {second} are both on line {shortened(line)}", "name two different lines"
                    )


def _swapped(port: _Port, problem: str) -> MachineError:
    other = _OPPOSITE.get(port.name)
    there = None if other is None else getattr(port.entry.value, other, None)
    remedy = f"name another line, or swap {port.name} and {other}" if there else "name another line"
    return port.entry.element.error(problem, remedy)


def _check_connections(machine: Machine, extension: Extension, ports: Collection[_Port]) -> None:
    """Checks that every line joins at least two ports, or ends in a volume of its own."""
    by_line: dict[str, list[_Port]] = defaultdict(list)
    for port in ports:
        by_line[port.line].append(port)
    ends = constant_pressures(machine).keys() | {line.name for line in machine.lines}
    for line, found in by_line.items():
        if len(found) == 1 and line not in ends:
            raise found[0].entry.element.error(
                f"its {found[0].name} is not connected: no other port names line {shortened(line)}",
                _how_to_connect(line, found[0].field, [name for name in circuit_lines(machine) if name != line]),
            )
    for entry in extension["lines"]:
        if entry.value.name not in by_line:
            raise entry.element.error(
                f"no port names line {shortened(entry.value.name)}",
                closest(entry.value.name, by_line),
            )


def _check_ends_of_strokes(machine: Machine, extension: Extension) -> None:
    """Checks that a chamber keeps some oil at the end of its stroke."""
    filled = {line.name for line in machine.lines} | {
        line for hose in machine.hoses for line in (hose.inlet, hose.outlet)
    }
    for entry in extension["cylinders"]:
        for side in ("piston_side", "rod_side"):
            line, name = getattr(entry.value, side), f"dead_volume_{side}"
            if line and getattr(entry.value, name) == 0.0 and line not in filled | constant_pressures(machine).keys():
                raise entry.element.error(
                    f"{name} = 0 m3, and line {shortened(line)} has no oil of its own",
                    f'give {name}, or add <line name="{line[:80]}" volume=.../>',
                )


def _how_to_connect(line: str, field: str, others: Collection[str]) -> str:
    if line == "tank":
        return "add <tank/>, or name one that is there"
    if line == "supply" and field != "pumps":
        return "add <pump .../>, or name the outlet of one"
    guess = closest(line, others)
    end = f'name it in another element, or close it off by <line name="{line[:80]}" volume=.../>'
    return f"{guess} Else {end}" if guess.startswith("did") else end


def _check_lines_have_a_way(machine: Machine, ports: Iterable[_Port], ways: Iterable[Way]) -> None:
    """Checks that every line is joined, over whatever can flow, with one whose pressure something sets."""
    anchors = [*constant_pressures(machine), *(accumulator.port for accumulator in machine.accumulators)]
    reached = reached_lines(anchors, [*ways, *(Way(way.target, way.source) for way in ways)])
    for port in ports:
        if port.line not in reached:
            raise port.entry.element.error(
                f"its {port.name} is on line {shortened(port.line)}, which nothing joins with a tank, a supply or an "
                "accumulator",
                "join the line with one of them, for instance by a check valve",
            )


def _check_returns(machine: Machine, ports: Iterable[_Port], ways: Collection[Way]) -> None:
    """Checks that the oil that an element gives back finds a tank."""
    # In a closed circuit oil returns to the pump itself.
    takers = [*constant_pressures(machine), *(pump.inlet for pump in machine.pumps if pump.inlet)]
    returning = reached_lines(takers, [Way(way.target, way.source) for way in ways])
    tanks = [tank.name for tank in circuit_tanks(machine)]
    for port in ports:
        if port.name in _RETURNS.get(port.field, ()) and port.line not in returning:
            raise port.entry.element.error(
                f"its {port.name} is on line {shortened(port.line)}, from which oil finds no tank",
                f'name a tank ({closest(port.line, tanks)}) or add <tank name="{port.line[:80]}"/>',
            )


def _check_pump_has_a_way(machine: Machine, entry: Entry, ways: Collection[Way]) -> None:
    """Checks that what a displacement pump delivers at the least has somewhere to go, whatever is commanded."""
    pump = entry.value
    takers = [
        line
        for field in (*_LOADS, "accumulators")
        for e in getattr(machine, field)
        for _, line in named_lines(field, e)
    ]
    if pump.outlet not in takers and not any(way.source == pump.outlet for way in ways):
        raise entry.element.error(
            f"nothing takes oil from its outlet {shortened(pump.outlet)}",
            "are ports of another element on that line swapped?",
        )
    flow = _least_flow(machine, pump)
    if flow <= 0.0:
        return
    reached = reached_lines([pump.outlet], [way for way in ways if way.standing])
    if reached & {*constant_pressures(machine), pump.inlet}:
        return
    rivals = [
        shortened(other.name)
        for other in machine.pumps
        if other is not pump and other.outlet in reached and other.displacement is not None
    ]
    against = f", against pump {' and '.join(rivals)}" if rivals else ""
    stroke = "" if pump.control == "fixed" else f"minimum_stroke = {pump.minimum_stroke:g} of "
    raise entry.element.error(
        f"it is dead-headed: when valves close, the {flow:g} m3/s that it delivers at the least ({stroke}displacement "
        f"= {pump.displacement:g} m3/rad at speed = {pump.speed:g} rad/s) have nowhere to go from line "
        f"{shortened(pump.outlet)}{against}",
        f'add <relief_valve inlet="{pump.outlet[:80]}" .../>'
        + (', or give it control="pressure"' if pump.control == "fixed" else ", or set minimum_stroke to 0"),
    )


def _least_flow(machine: Machine, pump: Pump) -> float:
    """What a displacement pump delivers at the least when its outlet is as high as its control lets it get [m3/s]."""
    flow = (pump.displacement or 0.0) * (pump.speed or 0.0)
    if pump.setting is None:
        return flow
    leaked = (pump.leakage or 0.0) * (pump.setting - circuit_tanks(machine)[0].pressure)
    return (pump.minimum_stroke or 0.0) * flow - leaked
