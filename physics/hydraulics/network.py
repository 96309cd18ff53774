"""A hydraulic circuit as a graph: lines that hold oil, passages between them, pumps, cylinders and motors.

A line has one pressure. A passage carries oil from one line to another by their pressures and its opening. Where
nothing but lines of constant pressure joins them, the network falls into parts that are solved by themselves.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.hydraulic_schema import LAMINAR_DROP
from grouser.physics.hydraulics.oil import Oil

# How a passage opens: always; with the spool of a valve; with pressures; with the position of an actuator.
ALWAYS, SPOOL, SPOOL_EITHER_WAY, PRESSURES, POSITION = range(5)
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


class Network(NamedTuple):
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
        laminar: flow per pressure [m3/(s Pa)].
        transition: drop below which the turbulent flow becomes laminar [Pa].
        linear: whether it then is proportional to the drop, with the flow at the transition kept; else smoothly so.
        kind, source: how a passage opens, and the valve or actuator that does it.
        opening, slope: opening at rest, and its change with spool or position.
        owner: actuator on a line of the passage, whose accounts have what it throttles; -1 for none.
        pilot, weight: lines whose pressures open it, and by how much [1/Pa], (passages, PILOTS).
        outlet, inlet, sense: lines of each pump, (pumps,).
        displacement, speed: [m3/rad], [rad/s].
        control: FIXED, PRESSURE or LOAD_SENSING.
        setting, margin, range: pressures of the control [Pa].
        response: time constant of the swash plate [s].
        power: limit [W]; infinite for none.
        least_swash, torque_loss: [-], [N m].
        leak: passage of each pump's leakage, or NO_PASSAGE.
        line_owner: first actuator on each line, -1 for none.
        line_a, line_b: lines of each actuator's chambers, (actuators,).
        area_a, area_b: by which they push, areas or displacements [m2 or m3/rad].
        stroke: infinite for motors [m or rad].
        mass: piston with rod, or rotor [kg or kg m2].
        viscous, dry, static, stribeck: friction: [N s/m], sliding and at rest [N], speed of the change [m/s].
        wall: growth of the swept parts of its chambers per rise of their pressure [1/Pa].
        buffer, buffer_stiffness, buffer_damping: springs with dampers at the ends of its stroke: how long [m], [N/m],
            [N s/m].
        part_line_start, part_line: lines of each part that are not constant; likewise passages, pumps, valves and
            actuators.
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
    part_line_start: np.ndarray
    part_line: np.ndarray
    part_passage_start: np.ndarray
    part_passage: np.ndarray
    part_pump_start: np.ndarray
    part_pump: np.ndarray
    part_valve_start: np.ndarray
    part_valve: np.ndarray
    part_actuator_start: np.ndarray
    part_actuator: np.ndarray


class NetworkBuilder:
    """Collects lines, passages, pumps and actuators by name, then makes the arrays."""

    def __init__(self, oil: Oil, constant: dict[str, float], start: float):
        self._oil, self._start = oil, start
        self._lines: dict[str, int] = {}
        self._line_values: list[dict] = []
        self._passages: list[dict] = []
        self._pumps: list[dict] = []
        self._actuators: list[dict] = []
        # name of the element that passages are added for, and that of each so far
        self.element = ""
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
                    "pressure": self._start,
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
        source: int = 0,
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

    def add_actuator(self, line_a: str, line_b: str, **numbers: float) -> None:
        """A cylinder or motor; numbers as in `Network`."""
        self._actuators.append({"line_a": self.line(line_a), "line_b": self.line(line_b)} | numbers)

    def build(self, valves: int) -> Network:
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
        network = Network(self._oil, **lines, **passages, **pumps, **actuators, **parts)
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

        def listed(name, owners):
            found = [[] for _ in roots]
            for index, lines in enumerate(owners):
                own = [number[root(line)] for line in lines if line != NO_LINE and moving[line]]
                if own:
                    found[own[0]].append(index)
            starts = np.cumsum([0, *map(len, found)])
            flat = np.array([index for part in found for index in part], dtype=np.int64)
            return {f"part_{name}_start": starts.astype(np.int64), f"part_{name}": flat}

        lists = listed("line", [[line] for line in range(len(moving))])
        local = np.full(len(moving), -1, dtype=np.int64)
        for part in range(len(roots)):
            first, last = lists["part_line_start"][part : part + 2]
            local[lists["part_line"][first:last]] = np.arange(last - first)
        for name, owners in members.items():
            lists |= listed(name, owners)
        return {"local": local, **lists}


def _fields(first, last):
    """Fields of `Network` from one to another."""
    names = Network._fields
    return names[names.index(first) : names.index(last) + 1]


_LINE_FIELDS = _fields("constant", "gas_index")
_PASSAGE_FIELDS = _fields("origin", "weight")
_PUMP_FIELDS = _fields("outlet", "leak")
_ACTUATOR_FIELDS = _fields("line_a", "buffer_damping")


def _columns(values, fields, types):
    """Arrays of the fields of many things alike."""
    return {field: np.array([one[field] for one in values], dtype=types.get(field, float)) for field in fields}
