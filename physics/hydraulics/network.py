"""A hydraulic circuit as a graph: lines that hold oil, passages between them, pumps, cylinders and motors.

A line has one pressure. A passage carries oil from one line to another by their pressures and its opening. Where
nothing but lines of constant pressure joins them, the network falls into parts that are solved by themselves.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.hydraulics import LAMINAR_DROP
from grouser.physics.hydraulics.oil import Oil
from grouser.physics.hydraulics.ordering import Pattern

# How a passage opens: always; with the spool of a valve; with pressures; with the position of an actuator; as a leak.
ALWAYS, SPOOL, SPOOL_EITHER_WAY, PRESSURES, POSITION, FAULT = range(6)
# Pressures that one opening may depend on.
PILOTS = 4
# Index of a line that is not there.
NO_LINE = -1
# Number of a passage that is not there.
NO_PASSAGE = -1
# Controls of pumps.
FIXED, PRESSURE, LOAD_SENSING = range(3)
# What a line that nothing else gives a volume holds: a bore in a valve block [m3].
LEAST_VOLUME = 1e-5
# Passages of a plain part, half of them on either line.
PLAIN_EDGES = 4
# Plain parts that lie side by side in a block, and numbers of each (`plain_parts`).
LANES, PLAIN_NUMBERS = 8, 67


class HydraulicNetwork(NamedTuple):
    """The circuit as arrays.

    Attributes:
        oil: what flows.
        constant: whether a line's pressure is, (lines,).
        pressure: of lines whose is, and of all at the start [Pa].
        volume: of each line without the chambers of actuators [m3].
        compliance: of the walls of each line [m3/Pa].
        gas_volume, gas_pressure, gas_index: of an accumulator on each line: gas when empty [m3], its pressure [Pa],
            polytropic index; volume 0 without one.
        local: index of each line within its part, -1 for constant ones.
        origin, end: lines of each passage, (passages,).
        gain: flow per opening and root of pressure, turbulent [m3/s/sqrt(Pa)].
        laminar: flow per opening and pressure [m3/(s Pa)].
        transition: drop below which the turbulent flow becomes laminar [Pa].
        linear: whether it then is proportional to the drop, with the flow at the transition kept; else smoothly so.
        kind, source: how a passage opens, and the valve, actuator or leak that does it; of those that pressures open,
            the relief valve whose setting may be too low; -1 for none.
        opening, slope: opening at rest, and its change with spool, position or setting.
        owner: actuator on a line of the passage, whose accounts have what it throttles; -1 for none.
        pilot, weight: lines whose pressures open it, first those that there are, and by how much [1/Pa], (passages,
            PILOTS).
        outlet, inlet, sense: lines of each pump, (pumps,).
        displacement, speed: [m3/rad], [rad/s].
        control: FIXED, PRESSURE or LOAD_SENSING.
        setting, margin, range: pressures of the control [Pa].
        response: time constant of the swash plate [s].
        power: limit [W]; infinite for none.
        least_swash, torque_loss: [-], [N m].
        leak: passage of each pump's leakage, or NO_PASSAGE.
        supply, supply_tank: lines of constant pressure that pumps hold, and whose pressure they have when these stop.
        line_owner: first actuator on each line, -1 for none.
        line_a, line_b: lines of each actuator's chambers, (actuators,).
        area_a, area_b: by which they push, areas or displacements [m2 or m3/rad].
        stroke: infinite for motors [m or rad].
        mass: piston with rod, or rotor [kg or kg m2].
        viscous, dry, static, stribeck: friction: [N s/m], sliding and at rest [N], speed of the change [m/s].
        wall: growth of the swept parts of its chambers per rise of their pressure [1/Pa].
        buffer, buffer_stiffness, buffer_damping: springs with dampers at the ends of its stroke: how long [m], [N/m],
            [N s/m].
        part_unknown_start: of each part's unknowns: its lines, its actuators' impulses, their speeds.
        below_start, below, beside_start, beside: rows after each unknown's with an entry in its column, and columns
            after its own with one in its row, as the unknowns of its part are eliminated in that order.
        part_line_start, part_line: lines of each part that are not constant; likewise passages, pumps, valves and
            actuators.
        plain_part: parts that are a cylinder and edges of one valve between constant pressures (`plain_parts`).
        plain_edge: their passages, on line a and then on line b, NO_PASSAGE for none, (plain parts, PLAIN_EDGES).
        part_leak_start: where in `part_passage` the leaks of each part begin, which come last.
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
    part_unknown_start: np.ndarray
    below_start: np.ndarray
    below: np.ndarray
    beside_start: np.ndarray
    beside: np.ndarray
    part_line_start: np.ndarray
    part_line: np.ndarray
    part_passage_start: np.ndarray
    part_passage: np.ndarray
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
    """Collects lines, passages, pumps and actuators by name, then makes the arrays.

    Attributes:
        element: name of the element that passages are added for.
        start: pressure with which lines start that are named now [Pa].
        passage_elements: name of the element of each passage.
    """

    def __init__(self, oil: Oil, constant: dict[str, float]):
        self._oil = oil
        self._lines: dict[str, int] = {}
        self._line_values: list[dict] = []
        self._passages: list[dict] = []
        self._pumps: list[dict] = []
        self._supplies: list[tuple[int, int]] = []
        self._actuators: list[dict] = []
        self.element = ""
        self.start = 0.0
        self.passage_elements: list[str] = []
        for name, pressure in constant.items():
            values = self._line_values[self.line(name)]
            values["constant"], values["pressure"] = True, pressure

    def line(self, name: str) -> int:
        """Number of a line, which is made when it is named first."""
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
        """Oil [m3] and yielding walls [m3/Pa] of a line."""
        values = self._line_values[self.line(line)]
        values["volume"] += volume
        values["compliance"] += compliance

    def set_start(self, line: str, pressure: float) -> None:
        """Pressure of a line at the start [Pa]."""
        self._line_values[self.line(line)]["pressure"] = pressure

    def add_gas(self, line: str, volume: float, pressure: float, index: float) -> None:
        """An accumulator on a line that has none: gas [m3] at its precharge [Pa], polytropic index."""
        values = self._line_values[self.line(line)]
        values["gas_volume"], values["gas_pressure"], values["gas_index"] = volume, pressure, index

    def add_passage(
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
        """A way from one line to another; `Network` tells what the numbers mean, `pilots` has weights by line.

        Returns:
            Its number; NO_PASSAGE where it would lead from a line to itself.
        """
        if origin == end:
            return NO_PASSAGE
        weights: dict[int, float] = {}
        for name, weight in (pilots or {}).items():
            weights[self.line(name)] = weights.get(self.line(name), 0.0) + weight
        free = PILOTS - len(weights)
        self._passages.append(
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
        self.passage_elements.append(self.element)
        return len(self._passages) - 1

    def add_pump(self, outlet: str, inlet: str, sense: str, **numbers: float) -> None:
        """A displacement pump; numbers as in `Network`."""
        lines = {
            "outlet": self.line(outlet),
            "inlet": self.line(inlet),
            "sense": self.line(sense) if sense else NO_LINE,
        }
        self._pumps.append(lines | numbers)

    def add_supply(self, line: str, tank: str) -> None:
        """A pump that holds a line of constant pressure, and the tank that it draws from."""
        self._supplies.append((self.line(line), self.line(tank)))

    def add_actuator(self, line_a: str, line_b: str, **numbers: float) -> None:
        """A cylinder or motor; numbers as in `Network`."""
        self._actuators.append({"line_a": self.line(line_a), "line_b": self.line(line_b)} | numbers)

    def build(self, valves: int) -> HydraulicNetwork:
        """The arrays of a circuit with so many valves."""
        for line, values in enumerate(self._line_values):
            chambers = any(line in (one["line_a"], one["line_b"]) for one in self._actuators)
            if values["volume"] == 0.0 and not chambers:
                values["volume"] = LEAST_VOLUME
        lines = _columns(self._line_values, _LINE_FIELDS, {"constant": np.bool_})
        whole = dict.fromkeys(("origin", "end", "kind", "source", "owner", "pilot"), np.int64)
        for passage in self._passages:
            passage["owner"] = self._owner(passage)
        passages = _columns(self._passages, _PASSAGE_FIELDS, {**whole, "linear": np.bool_})
        passages["pilot"] = passages["pilot"].reshape(-1, PILOTS)
        passages["weight"] = passages["weight"].reshape(-1, PILOTS)
        pumps = _columns(
            self._pumps, _PUMP_FIELDS, dict.fromkeys(("outlet", "inlet", "sense", "control", "leak"), np.int64)
        )
        actuators = _columns(self._actuators, _ACTUATOR_FIELDS, dict.fromkeys(("line_a", "line_b"), np.int64))
        parts = self._parts(valves)
        ends = list(zip(actuators["line_a"].tolist(), actuators["line_b"].tolist(), strict=True))
        owner = [next((a for a, own in enumerate(ends) if line in own), -1) for line in range(len(self._lines))]
        parts["line_owner"] = np.array(owner, dtype=np.int64)
        # contiguous, however many there are: kernels are compiled anew for arrays of another layout
        parts["supply"], parts["supply_tank"] = np.array(self._supplies, dtype=np.int64).reshape(-1, 2).T.copy()
        network = HydraulicNetwork(self._oil, **lines, **passages, **pumps, **actuators, **parts)
        for array in network[1:]:
            array.flags.writeable = False
        return network

    def _owner(self, passage):
        ends = {passage["origin"], passage["end"]}
        for number, actuator in enumerate(self._actuators):
            if any(
                line in ends and not self._line_values[line]["constant"]
                for line in (actuator["line_a"], actuator["line_b"])
            ):
                return number
        return -1

    def _parts(self, valves):
        """Lists of what belongs together."""
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
            "passage": [[one["origin"], one["end"], *one["pilot"]] for one in self._passages],
            "pump": [[one["outlet"], one["inlet"], one["sense"]] for one in self._pumps],
            "valve": [
                [
                    line
                    for one in self._passages
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
        for one in self._passages:
            if one["kind"] == POSITION:
                actuator = self._actuators[one["source"]]
                join([one["origin"], one["end"], actuator["line_a"], actuator["line_b"]])
        roots = sorted({root(line) for line in range(len(moving)) if moving[line]})
        number = {line: part for part, line in enumerate(roots)}
        # actuators between constant pressures are by themselves
        lonely = [a for a, lines in enumerate(members["actuator"]) if not any(moving[line] for line in lines)]

        def listed(name, owners):
            found = [[] for _ in range(len(roots) + len(lonely))]
            for index, lines in enumerate(owners):
                own = [number[root(line)] for line in lines if line != NO_LINE and moving[line]]
                if own:
                    found[own[0]].append(index)
                elif name == "actuator":
                    found[len(roots) + lonely.index(index)].append(index)
            starts = np.cumsum([0, *map(len, found)])
            flat = np.array([index for part in found for index in part], dtype=np.int64)
            return {f"part_{name}_start": starts.astype(np.int64), f"part_{name}": flat}

        lists = {}
        for name, owners in {"line": [[line] for line in range(len(moving))], **members}.items():
            lists |= listed(name, owners)
        local = np.full(len(moving), -1, dtype=np.int64)
        lists |= self._eliminations(lists, local)
        ends, flat = lists["part_passage_start"][1:], lists["part_passage"]
        leaks = [sum(self._passages[e]["kind"] == FAULT for e in part) for part in np.split(flat, ends[:-1])]
        lists["part_leak_start"] = ends - np.array(leaks[: len(ends)], dtype=np.int64)
        plain = {part: edges for part in range(len(ends)) if (edges := self._plain_edges(lists, part)) is not None}
        lists["plain_part"] = np.array(list(plain), dtype=np.int64)
        lists["plain_edge"] = np.array(list(plain.values()), dtype=np.int64).reshape(-1, PLAIN_EDGES)
        return {"local": local, **lists}

    def _plain_edges(self, lists, part):
        """Passages of a part as in `Network.plain_edge`; None where it is no plain one."""
        lines, passages, pumps, valves, actuators = (
            lists[f"part_{name}"][slice(*lists[f"part_{name}_start"][part : part + 2])].tolist()
            for name in ("line", "passage", "pump", "valve", "actuator")
        )
        if (len(lines), len(pumps), len(valves), len(actuators)) != (2, 0, 1, 1):
            return None
        actuator = self._actuators[actuators[0]]
        ends = [actuator["line_a"], actuator["line_b"]]
        if sorted(ends) != sorted(lines) or actuator["stroke"] == np.inf or actuator["static"] > actuator["dry"]:
            return None
        edges = [e for e in passages if self._passages[e]["kind"] != FAULT]
        values = [self._passages[e] for e in edges]
        alike = {(one["kind"], one["gain"], one["laminar"], one["transition"], one["linear"]) for one in values}
        if any(self._line_values[line]["gas_volume"] for line in lines) or len(alike) != 1:
            return None
        across = any({one["origin"], one["end"]} == {*ends} for one in values)
        if values[0]["kind"] != SPOOL or values[0]["laminar"] or across:
            return None
        sides = [[e for e in edges if line in (self._passages[e]["origin"], self._passages[e]["end"])] for line in ends]
        most = PLAIN_EDGES // 2
        if max(map(len, sides)) > most:
            return None
        return [e for side in sides for e in (*side, *[NO_PASSAGE] * (most - len(side)))]

    def _eliminations(self, lists, local):
        """What each part's unknowns touch as they are eliminated; puts its lines into that order."""
        counts, below, beside = [0], [], []
        for part in range(len(lists["part_line_start"]) - 1):
            lines, passages, pumps, actuators = (
                lists[f"part_{name}"][slice(*lists[f"part_{name}_start"][part : part + 2])]
                for name in ("line", "passage", "pump", "actuator")
            )
            impulses = {a: len(self._lines) + k for k, a in enumerate(actuators.tolist())}
            speeds = {a: len(self._lines) + len(actuators) + k for k, a in enumerate(actuators.tolist())}
            own = lines.tolist()
            last = [*impulses.values(), *speeds.values()]
            pattern = Pattern([*own, *last])
            for passage in (self._passages[e] for e in passages):
                ends = passage["origin"], passage["end"]
                pattern.couple(_among(own, ends), _among(own, (*ends, *passage["pilot"])))
            for pump in (self._pumps[p] for p in pumps):
                pattern.couple(
                    _among(own, (pump["outlet"], pump["inlet"])), _among(own, (pump["outlet"], pump["sense"]))
                )
            for a in actuators.tolist():
                ends = _among(own, (self._actuators[a]["line_a"], self._actuators[a]["line_b"]))
                pattern.couple(ends, [speeds[a]])
                pattern.couple([impulses[a]], [*ends, speeds[a]])
                pattern.couple([speeds[a]], list(impulses.values()))
            order, rows, columns = pattern.eliminate(own, last)
            place = {unknown: k for k, unknown in enumerate(order)}
            lines[:] = order[: len(lines)]
            local[lines] = np.arange(len(lines))
            below += [sorted(place[row] for row in each) for each in rows]
            beside += [sorted(place[column] for column in each) for each in columns]
            counts.append(len(order))
        return {
            "part_unknown_start": np.cumsum(counts).astype(np.int64),
            "below_start": np.cumsum([0, *map(len, below)]).astype(np.int32),
            "below": np.array([row for rows in below for row in rows], dtype=np.int32),
            "beside_start": np.cumsum([0, *map(len, beside)]).astype(np.int32),
            "beside": np.array([column for columns in beside for column in columns], dtype=np.int32),
        }


def _among(lines, candidates):
    """Those of some lines that are among others."""
    return [line for line in candidates if line in lines]


def _fields(first, last):
    """Fields of `Network` from one to another."""
    names = HydraulicNetwork._fields
    return names[names.index(first) : names.index(last) + 1]


_LINE_FIELDS = _fields("constant", "gas_index")
_PASSAGE_FIELDS = _fields("origin", "weight")
_PUMP_FIELDS = _fields("outlet", "leak")
_ACTUATOR_FIELDS = _fields("line_a", "buffer_damping")


def _columns(values, fields, types):
    """Arrays of the fields of many things alike."""
    return {field: np.array([one[field] for one in values], dtype=types.get(field, float)) for field in fields}
