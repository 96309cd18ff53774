"""The hydraulic network as a graph: lines, flow elements between them, pumps, cylinders and motors.

A line has one pressure. A flow element passes oil from one line to another by their pressures and its opening. Lines of
constant pressure divide the network into parts, each of which is solved by itself.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.hydraulics import LAMINAR_DROP
from grouser.physics.hydraulics.oil import Oil
from grouser.physics.hydraulics.ordering import MatrixLayout, SparsityPattern

# What opens a flow element: nothing (constant); a valve's spool; pressures; an actuator's position; a fault (leak).
ALWAYS, SPOOL, SPOOL_EITHER_WAY, PRESSURES, POSITION, FAULT = range(6)
# Most pressures that one opening depends on.
PILOTS = 4
# Index for no line.
NO_LINE = -1
# Number for no flow element.
NO_FLOW_ELEMENT = -1
# Controls of pumps.
FIXED, PRESSURE, LOAD_SENSING = range(3)
# Volume of a line without any other: a bore in a valve block [m3].
LEAST_VOLUME = 1e-5
# Flow elements of a plain part, half of them on each line.
PLAIN_EDGES = 4
# Plain parts side by side in a block, and numbers of each (`plain_parts`).
LANES, PLAIN_NUMBERS = 8, 67


class HydraulicNetwork(NamedTuple):
    """The hydraulic network as arrays.

    Attributes:
        oil: its properties.
        constant: whether the line's pressure is constant, (lines,).
        pressure: of each line at the start, and of constant ones throughout [Pa].
        volume: of each line without the chambers of actuators [m3].
        compliance: of the walls of each line [m3/Pa].
        gas_volume, gas_pressure, gas_index: of the accumulator on each line: gas volume when empty [m3], precharge
            [Pa], polytropic index; volume 0 for none.
        local: index of each line within its part; that of constant ones is beyond the unknowns of all parts, so that
            what they receive goes to an entry that nobody reads.
        origin, end: lines of each flow element, (flow elements,).
        gain: turbulent flow per opening and root of pressure [m3/s/sqrt(Pa)].
        laminar: laminar flow per opening and pressure [m3/(s Pa)].
        transition: pressure drop below which the turbulent flow becomes laminar [Pa].
        linear: whether it is then proportional to the drop and continuous at the transition; otherwise a smooth blend.
        kind, source: what opens the flow element (ALWAYS to FAULT), and number of the valve, actuator or leak; for
            PRESSURES the relief valve with a `low_setting` fault; -1 for none.
        opening, slope: opening at rest, and its derivative by spool, position or setting.
        owner: actuator on a line of the flow element, to which its losses are assigned; -1 for none.
        pilot, weight: lines with the pilot pressures, NO_LINE at the end, and opening per pressure [1/Pa],
            (flow elements, PILOTS).
        outlet, inlet, sense: lines of each pump, (pumps,).
        displacement, speed: [m3/rad], [rad/s].
        control: FIXED, PRESSURE or LOAD_SENSING.
        setting, margin, range: pressures of the control [Pa].
        response: time constant of the swash plate [s].
        power: limit [W]; infinite for none.
        least_swash, torque_loss: [-], [N m].
        leak: flow element of each pump's leakage, or NO_FLOW_ELEMENT.
        supply, supply_tank: lines of constant-pressure pumps, and the lines whose pressure they get when a pump stops.
        line_owner: first actuator on each line, -1 for none.
        line_a, line_b: lines of each actuator's chambers, (actuators,).
        area_a, area_b: piston areas or displacements [m2 or m3/rad].
        stroke: infinite for motors [m or rad].
        mass: piston with rod, or rotor [kg or kg m2].
        viscous, dry, static, stribeck: friction: [N s/m], sliding and at rest [N], speed of the change [m/s].
        wall: relative growth of the swept volume per pressure, of the barrel [1/Pa].
        buffer, buffer_stiffness, buffer_damping: springs with dampers at the ends of its stroke: length [m], [N/m],
            [N s/m].
        matrix_size: most entries of a part's matrix (`ordering.MatrixLayout`); entry 0 is for constant lines.
        coupling: entry of each part's block between its actuators, row by row.
        pivot: entry of each line's diagonal, in the order of `part_line`.
        below_start, below: rows after each line with an entry in its column, fill included, in the order of
            `part_line`; rows and columns of a part are its lines, then its actuators.
        beside_start, beside: likewise the columns after each line with an entry in its row.
        target_start, target: entry that each pair of a row below and a column beside a line changes.
        flow_element_entry: entries of each flow element: rows of its origin and end, columns of origin, end and pilots,
            (flow elements, 2, 2 + PILOTS).
        pump_entry: of each pump: rows of outlet and inlet, columns of outlet and sense line, (pumps, 2, 2).
        actuator_entry: of each actuator, on its lines a and b: row of the line and its own column, and the reverse,
            (actuators, 2, 2).
        part_line_start, part_line: lines of each part that are not constant; likewise flow elements, pumps, valves
            and actuators.
        plain_part: parts of one cylinder and edges of one valve between constant pressures (`plain_parts`).
        plain_edge: their flow elements on line a, then on line b, NO_FLOW_ELEMENT for none,
            (plain parts, PLAIN_EDGES).
        part_leak_start: first leak of each part in `part_flow_element`; leaks come last.
    """

    oil: Oil
    constant: np.ndarray
    pressure: np.ndarray
    volume: np.ndarray
    compliance: np.ndarray
    gas_volume: np.ndarray
    gas_pressure: np.ndarray
    gas_index: np.ndarray
    local: np.ndarray
    origin: np.ndarray
    end: np.ndarray
    gain: np.ndarray
    laminar: np.ndarray
    transition: np.ndarray
    linear: np.ndarray
    kind: np.ndarray
    source: np.ndarray
    opening: np.ndarray
    slope: np.ndarray
    owner: np.ndarray
    pilot: np.ndarray
    weight: np.ndarray
    outlet: np.ndarray
    inlet: np.ndarray
    sense: np.ndarray
    displacement: np.ndarray
    speed: np.ndarray
    control: np.ndarray
    setting: np.ndarray
    margin: np.ndarray
    range: np.ndarray
    response: np.ndarray
    power: np.ndarray
    least_swash: np.ndarray
    torque_loss: np.ndarray
    leak: np.ndarray
    supply: np.ndarray
    supply_tank: np.ndarray
    line_owner: np.ndarray
    line_a: np.ndarray
    line_b: np.ndarray
    area_a: np.ndarray
    area_b: np.ndarray
    stroke: np.ndarray
    mass: np.ndarray
    viscous: np.ndarray
    dry: np.ndarray
    static: np.ndarray
    stribeck: np.ndarray
    wall: np.ndarray
    buffer: np.ndarray
    buffer_stiffness: np.ndarray
    buffer_damping: np.ndarray
    matrix_size: int
    coupling: np.ndarray
    pivot: np.ndarray
    below_start: np.ndarray
    below: np.ndarray
    beside_start: np.ndarray
    beside: np.ndarray
    target_start: np.ndarray
    target: np.ndarray
    flow_element_entry: np.ndarray
    pump_entry: np.ndarray
    actuator_entry: np.ndarray
    part_line_start: np.ndarray
    part_line: np.ndarray
    part_flow_element_start: np.ndarray
    part_flow_element: np.ndarray
    part_leak_start: np.ndarray
    part_pump_start: np.ndarray
    part_pump: np.ndarray
    part_valve_start: np.ndarray
    part_valve: np.ndarray
    part_actuator_start: np.ndarray
    part_actuator: np.ndarray
    plain_part: np.ndarray
    plain_edge: np.ndarray


class NetworkBuilder:
    """Collects lines, flow elements, pumps and actuators by name, then makes the arrays.

    Attributes:
        element: the description's element to which new flow elements belong, as field of `Machine` and name.
        start: initial pressure of new lines [Pa].
        flow_element_owners: the description's element of each flow element.
    """

    def __init__(self, oil: Oil, constant: dict[str, float]):
        self._oil = oil
        self._lines: dict[str, int] = {}
        self._line_values: list[dict] = []
        self._flow_elements: list[dict] = []
        self._pumps: list[dict] = []
        self._supplies: list[tuple[int, int]] = []
        self._actuators: list[dict] = []
        self.element = "", ""
        self.start = 0.0
        self.flow_element_owners: list[tuple[str, str]] = []
        for name, pressure in constant.items():
            values = self._line_values[self.line(name)]
            values["constant"], values["pressure"] = True, pressure

    def line(self, name: str) -> int:
        """Number of a line; adds it when it is new."""
        if name not in self._lines:
            self._lines[name] = len(self._lines)
            self._line_values.append(
                {
                    "constant": False,
                    "pressure": self.start,
                    "volume": 0.0,
                    "compliance": 0.0,
                    "gas_volume": 0.0,
                    "gas_pressure": 1.0,
                    "gas_index": 1.0,
                }
            )
        return self._lines[name]

    @property
    def lines(self) -> tuple[str, ...]:
        """Names of all lines, in order."""
        return tuple(self._lines)

    def add_volume(self, line: str, volume: float, compliance: float = 0.0) -> None:
        """Adds volume [m3] and wall compliance [m3/Pa] to a line."""
        values = self._line_values[self.line(line)]
        values["volume"] += volume
        values["compliance"] += compliance

    def set_start(self, line: str, pressure: float) -> None:
        """Sets the initial pressure of a line [Pa]."""
        self._line_values[self.line(line)]["pressure"] = pressure

    def add_gas(self, line: str, volume: float, pressure: float, index: float) -> None:
        """Adds an accumulator to a line that has none: gas [m3] at its precharge [Pa], polytropic index."""
        values = self._line_values[self.line(line)]
        values["gas_volume"], values["gas_pressure"], values["gas_index"] = volume, pressure, index

    def add_flow_element(
        self,
        origin: str,
        end: str,
        gain: float = 0.0,
        laminar: float = 0.0,
        transition: float = LAMINAR_DROP,
        linear: bool = False,
        kind: int = ALWAYS,
        source: int = -1,
        opening: float = 1.0,
        slope: float = 0.0,
        pilots: dict[str, float] | None = None,
    ) -> int:
        """Adds a flow path from one line to another; numbers as in `HydraulicNetwork`, `pilots` has weights by line.

        Returns:
            Its number; NO_FLOW_ELEMENT if both lines are the same.
        """
        if origin == end:
            return NO_FLOW_ELEMENT
        weights: dict[int, float] = {}
        for name, weight in (pilots or {}).items():
            weights[self.line(name)] = weights.get(self.line(name), 0.0) + weight
        free = PILOTS - len(weights)
        self._flow_elements.append(
            {
                "origin": self.line(origin),
                "end": self.line(end),
                "gain": gain,
                "laminar": laminar,
                "transition": transition,
                "linear": linear,
                "kind": kind,
                "source": source,
                "opening": opening,
                "slope": slope,
                "pilot": [*weights, *[NO_LINE] * free],
                "weight": [*weights.values(), *[0.0] * free],
            }
        )
        self.flow_element_owners.append(self.element)
        return len(self._flow_elements) - 1

    def add_pump(self, outlet: str, inlet: str, sense: str, **numbers: float) -> None:
        """Adds a displacement pump; numbers as in `HydraulicNetwork`."""
        lines = {
            "outlet": self.line(outlet),
            "inlet": self.line(inlet),
            "sense": self.line(sense) if sense else NO_LINE,
        }
        self._pumps.append(lines | numbers)

    def add_supply(self, line: str, tank: str) -> None:
        """Adds a constant-pressure pump by its line and its tank."""
        self._supplies.append((self.line(line), self.line(tank)))

    def add_actuator(self, line_a: str, line_b: str, **numbers: float) -> None:
        """Adds a cylinder or motor; numbers as in `HydraulicNetwork`."""
        self._actuators.append({"line_a": self.line(line_a), "line_b": self.line(line_b)} | numbers)

    def build(self, valves: int) -> HydraulicNetwork:
        """Arrays of the network.

        Args:
            valves: number of directional valves.
        """
        for line, values in enumerate(self._line_values):
            chambers = any(line in (one["line_a"], one["line_b"]) for one in self._actuators)
            if values["volume"] == 0.0 and not chambers:
                values["volume"] = LEAST_VOLUME
        lines = _columns(self._line_values, _LINE_FIELDS, {"constant": np.bool_})
        whole = dict.fromkeys(("origin", "end", "kind", "source", "owner", "pilot"), np.int64)
        for element in self._flow_elements:
            element["owner"] = self._owner(element)
        elements = _columns(self._flow_elements, _FLOW_ELEMENT_FIELDS, {**whole, "linear": np.bool_})
        elements["pilot"] = elements["pilot"].reshape(-1, PILOTS)
        elements["weight"] = elements["weight"].reshape(-1, PILOTS)
        pumps = _columns(
            self._pumps, _PUMP_FIELDS, dict.fromkeys(("outlet", "inlet", "sense", "control", "leak"), np.int64)
        )
        actuators = _columns(self._actuators, _ACTUATOR_FIELDS, dict.fromkeys(("line_a", "line_b"), np.int64))
        parts = self._parts(valves)
        ends = list(zip(actuators["line_a"].tolist(), actuators["line_b"].tolist(), strict=True))
        owner = [next((a for a, own in enumerate(ends) if line in own), -1) for line in range(len(self._lines))]
        parts["line_owner"] = np.array(owner, dtype=np.int64)
        # contiguous at any length: kernels are recompiled for another array layout
        parts["supply"], parts["supply_tank"] = np.array(self._supplies, dtype=np.int64).reshape(-1, 2).T.copy()
        network = HydraulicNetwork(self._oil, **lines, **elements, **pumps, **actuators, **parts)
        for array in network[1:]:
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return network

    def _owner(self, element):
        ends = {element["origin"], element["end"]}
        for number, actuator in enumerate(self._actuators):
            if any(
                line in ends and not self._line_values[line]["constant"]
                for line in (actuator["line_a"], actuator["line_b"])
            ):
                return number
        return -1

    def _parts(self, valves):
        """Lists of the lines, flow elements, pumps, valves and actuators of each part."""
        moving = [not values["constant"] for values in self._line_values]
        groups = list(range(len(moving)))

        def root(line):
            while groups[line] != line:
                line = groups[line]
            return line

        def join(lines):
            lines = [root(line) for line in lines if line != NO_LINE and moving[line]]
            for line in lines[1:]:
                groups[max(line, lines[0])] = min(line, lines[0])
                lines[0] = min(line, lines[0])

        members = {
            "flow_element": [[one["origin"], one["end"], *one["pilot"]] for one in self._flow_elements],
            "pump": [[one["outlet"], one["inlet"], one["sense"]] for one in self._pumps],
            "valve": [
                [
                    line
                    for one in self._flow_elements
                    if one["kind"] in (SPOOL, SPOOL_EITHER_WAY) and one["source"] == valve
                    for line in (one["origin"], one["end"])
                ]
                for valve in range(valves)
            ],
            "actuator": [[one["line_a"], one["line_b"]] for one in self._actuators],
        }
        for kind in members.values():
            for lines in kind:
                join(lines)
        for one in self._flow_elements:
            if one["kind"] == POSITION:
                actuator = self._actuators[one["source"]]
                join([one["origin"], one["end"], actuator["line_a"], actuator["line_b"]])
        roots = sorted({root(line) for line in range(len(moving)) if moving[line]})
        number = {line: part for part, line in enumerate(roots)}
        # an actuator between constant pressures is a part of its own
        lonely = [a for a, lines in enumerate(members["actuator"]) if not any(moving[line] for line in lines)]

        def listed(name, owners):
            found = [[] for _ in range(len(roots) + len(lonely))]
            for index, lines in enumerate(owners):
                own = [number[root(line)] for line in lines if line != NO_LINE and moving[line]]
                if own:
                    found[own[0]].append(index)
                elif name == "actuator":
                    found[len(roots) + lonely.index(index)].append(index)
            if name == "flow_element":
                # leaks last; branches that depend on the kind are predictable
                found = [sorted(part, key=lambda e: self._flow_elements[e]["kind"]) for part in found]
            starts = np.cumsum([0, *map(len, found)])
            flat = np.array([index for part in found for index in part], dtype=np.int64)
            return {f"part_{name}_start": starts.astype(np.int64), f"part_{name}": flat}

        lists = {}
        for name, owners in {"line": [[line] for line in range(len(moving))], **members}.items():
            lists |= listed(name, owners)
        local = np.full(len(moving), -1, dtype=np.int64)
        lists |= self._eliminations(lists, local)
        local = local.astype(np.uintp)
        ends, flat = lists["part_flow_element_start"][1:], lists["part_flow_element"]
        leaks = [sum(self._flow_elements[e]["kind"] == FAULT for e in part) for part in np.split(flat, ends[:-1])]
        lists["part_leak_start"] = ends - np.array(leaks[: len(ends)], dtype=np.int64)
        plain = {part: edges for part in range(len(ends)) if (edges := self._plain_edges(lists, part)) is not None}
        lists["plain_part"] = np.array(list(plain), dtype=np.int64)
        lists["plain_edge"] = np.array(list(plain.values()), dtype=np.int64).reshape(-1, PLAIN_EDGES)
        return {"local": local, **lists}

    def _plain_edges(self, lists, part):
        """Passages of a part as in `HydraulicNetwork.plain_edge`; None if it is not a plain part."""
        lines, elements, pumps, valves, actuators = (
            lists[f"part_{name}"][slice(*lists[f"part_{name}_start"][part : part + 2])].tolist()
            for name in ("line", "flow_element", "pump", "valve", "actuator")
        )
        if (len(lines), len(pumps), len(valves), len(actuators)) != (2, 0, 1, 1):
            return None
        actuator = self._actuators[actuators[0]]
        ends = [actuator["line_a"], actuator["line_b"]]
        if sorted(ends) != sorted(lines) or actuator["stroke"] == np.inf or actuator["static"] > actuator["dry"]:
            return None
        edges = [e for e in elements if self._flow_elements[e]["kind"] != FAULT]
        values = [self._flow_elements[e] for e in edges]
        alike = {(one["kind"], one["gain"], one["laminar"], one["transition"], one["linear"]) for one in values}
        if any(self._line_values[line]["gas_volume"] for line in lines) or len(alike) != 1:
            return None
        across = any({one["origin"], one["end"]} == {*ends} for one in values)
        if values[0]["kind"] != SPOOL or values[0]["laminar"] or across:
            return None
        sides = [
            [e for e in edges if line in (self._flow_elements[e]["origin"], self._flow_elements[e]["end"])]
            for line in ends
        ]
        most = PLAIN_EDGES // 2
        if max(map(len, sides)) > most:
            return None
        return [e for side in sides for e in (*side, *[NO_FLOW_ELEMENT] * (most - len(side)))]

    def _eliminations(self, lists, local):
        """Elimination of the lines of each part, as index lists; puts its lines into the order of elimination."""
        below, beside, pivots, targets, closings = [], [], [], [], []
        flow_element_entry = np.zeros((len(self._flow_elements), 2, 2 + PILOTS), dtype=np.uintp)
        pump_entry = np.zeros((len(self._pumps), 2, 2), dtype=np.uintp)
        actuator_entry = np.zeros((len(self._actuators), 2, 2), dtype=np.uintp)
        sizes = [0]
        for part in range(len(lists["part_line_start"]) - 1):
            lines, elements, pumps, actuators = (
                lists[f"part_{name}"][slice(*lists[f"part_{name}_start"][part : part + 2])]
                for name in ("line", "flow_element", "pump", "actuator")
            )
            own = lines.tolist()
            unknown = {a: len(self._lines) + a for a in actuators.tolist()}
            pattern = SparsityPattern([*own, *unknown.values()])
            for element in (self._flow_elements[e] for e in elements):
                ends = element["origin"], element["end"]
                pattern.couple(_among(own, ends), _among(own, (*ends, *element["pilot"])))
            for pump in (self._pumps[p] for p in pumps):
                pattern.couple(
                    _among(own, (pump["outlet"], pump["inlet"])), _among(own, (pump["outlet"], pump["sense"]))
                )
            for a in actuators.tolist():
                ends = _among(own, (self._actuators[a]["line_a"], self._actuators[a]["line_b"]))
                pattern.couple(ends, [unknown[a]])
                pattern.couple([unknown[a]], ends)
            order, rows, columns = pattern.eliminate(own, list(unknown.values()))
            layout = MatrixLayout(order, rows, columns, list(unknown.values()))
            lines[:] = order
            local[lines] = np.arange(len(lines))
            place = layout.place
            below += [[place[row] for row in each] for each in rows]
            beside += [[place[column] for column in each] for each in columns]
            pivots += layout.pivots
            targets += layout.targets
            closings.append(layout.closing)
            sizes.append(layout.size)
            for e in elements:
                one = self._flow_elements[e]
                ends = one["origin"], one["end"]
                flow_element_entry[e] = layout.entries(ends, (*ends, *one["pilot"]))
            for p in pumps:
                one = self._pumps[p]
                pump_entry[p] = layout.entries((one["outlet"], one["inlet"]), (one["outlet"], one["sense"]))
            for a in actuators.tolist():
                ends = self._actuators[a]["line_a"], self._actuators[a]["line_b"]
                actuator_entry[a, :, 0] = np.ravel(layout.entries(ends, [unknown[a]]))
                actuator_entry[a, :, 1] = np.ravel(layout.entries([unknown[a]], ends))
        unknowns = np.diff(lists["part_line_start"]) + np.diff(lists["part_actuator_start"])
        local[local < 0] = unknowns.max(initial=0)
        return {
            "matrix_size": max(sizes),
            "coupling": np.array(closings, dtype=np.uintp),
            "pivot": np.array(pivots, dtype=np.uintp),
            "below_start": _starts(below),
            "below": _flat(below),
            "beside_start": _starts(beside),
            "beside": _flat(beside),
            "target_start": _starts(targets),
            "target": _flat(targets),
            "flow_element_entry": flow_element_entry,
            "pump_entry": pump_entry,
            "actuator_entry": actuator_entry,
        }


def _starts(lists):
    """Where each list starts in all of them end to end, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)]).astype(np.uintp)


def _flat(lists):
    """The lists end to end."""
    return np.array([one for each in lists for one in each], dtype=np.uintp)


def _among(lines, candidates):
    """The candidates that are among the lines."""
    return [line for line in candidates if line in lines]


def _fields(first, last):
    """Fields of `HydraulicNetwork` from `first` to `last`."""
    names = HydraulicNetwork._fields
    return names[names.index(first) : names.index(last) + 1]


_LINE_FIELDS = _fields("constant", "gas_index")
_FLOW_ELEMENT_FIELDS = _fields("origin", "weight")
_PUMP_FIELDS = _fields("outlet", "leak")
_ACTUATOR_FIELDS = _fields("line_a", "buffer_damping")


def _columns(values, fields, types):
    """One array for each field."""
    return {field: np.array([one[field] for one in values], dtype=types.get(field, float)) for field in fields}
