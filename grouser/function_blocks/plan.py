"""What is wired where: the order of the blocks, and the errors of a diagram.

Sources of wires have numbers: outputs of blocks, constants, inputs, operator inputs and signals. `run` fills in the
last three, then the outputs in the order of the blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from grouser.function_blocks.block import PRODUCT, QUOTIENT, SAME, BlockError, Port, Value
from grouser.function_blocks.diagram import INPUT, OPERATOR, Constant, Diagram, Placed, Wire, read_unit
from grouser.function_blocks.units import NUMBER, Unit, multiplied, parse_unit, unit_text
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import closest


class Kind(NamedTuple):
    """What flows: a truth, or a number with a unit; None: not known yet, or any."""

    truth: bool | None
    unit: Unit | None = None


@dataclass(frozen=True)
class Surroundings:
    """What a diagram can be wired to.

    Attributes:
        signals: name -> unit as text.
        actuators: name -> unit of its command as text.
    """

    signals: Mapping[str, str]
    actuators: Mapping[str, str]


@dataclass(frozen=True)
class Plan:
    """A diagram that is to be executed.

    Attributes:
        start: value of every source at the start.
        inputs, operator, signals: name -> number of the source.
        blocks: name, numbers of its sources, number of its first output; in the order of execution. Delayed blocks are
            at the end, as their outputs are those of the next cycle.
        commands: actuator -> number of the source.
        kinds: what flows from each source.
        names: of the sources that are no constants -> number.
    """

    start: tuple[Value, ...]
    inputs: Mapping[str, int]
    operator: Mapping[str, int]
    signals: Mapping[str, int]
    blocks: tuple[tuple[str, tuple[int, ...], int], ...]
    commands: Mapping[str, int]
    kinds: tuple[Kind, ...]
    names: Mapping[str, int]


def make_plan(diagram: Diagram, around: Surroundings) -> Plan:
    """Finds the order of the blocks and checks every wire.

    Args:
        diagram: what to execute.
        around: what it can be wired to.

    Raises:
        MachineError: a name that nothing has, a loop without a delay, a truth wired to a number, or units that differ;
            with the block, the wire and what would be right.
    """
    return _Planner(diagram, around).plan()


class _Planner:
    def __init__(self, diagram: Diagram, around: Surroundings) -> None:
        self._diagram, self._around = diagram, around
        self._start: list[Value] = []
        self._kinds: list[Kind] = []
        self._found: dict[str, int] = {}
        self._groups: dict[str, dict[str, int]] = {INPUT: {}, OPERATOR: {}, "": {}}
        self._first: dict[str, int] = {}

    def plan(self) -> Plan:
        blocks = self._diagram.blocks
        taken = {name.partition(".")[0] for name in self._around.signals}
        for name, placed in blocks.items():
            if name in taken or name in self._around.signals:
                raise self._error(name, f"{name!r} is the name of a signal, too", "give the block another name")
            self._first[name] = len(self._start)
            start = placed.block.start or (0.0,) * len(placed.block.outputs)
            for (output, port), value in zip(placed.block.outputs.items(), start, strict=True):
                self._found[f"{name}.{output}"] = self._source(value, self._kind_of_port(name, port))
        wires = {name: self._wires(name, placed) for name, placed in blocks.items()}
        commands = {}
        for actuator, wire in self._diagram.commands.items():
            if actuator not in self._around.actuators:
                raise self._error(actuator, f"the machine has no actuator {actuator!r}", self._hint(actuator))
            commands[actuator] = self._resolve(actuator, wire)
        order = [name for name in self._ordered() if not blocks[name].block.delayed]
        order += [name for name, placed in blocks.items() if placed.block.delayed]
        self._settle_units(order, wires)
        for actuator, source in commands.items():
            wanted = Port(unit=self._around.actuators[actuator])
            self._check_port(actuator, "its command", wanted, source)
        return Plan(
            tuple(self._start),
            self._groups[INPUT],
            self._groups[OPERATOR],
            self._groups[""],
            tuple((name, tuple(wires[name].values()), self._first[name]) for name in order),
            commands,
            tuple(self._kinds),
            self._found,
        )

    def _source(self, value: Value, kind: Kind) -> int:
        self._start.append(value)
        self._kinds.append(kind)
        return len(self._start) - 1

    def _wires(self, name: str, placed: Placed) -> dict[str, int]:
        return {one: self._resolve(name, wire) for one, wire in placed.wires.items()}

    def _resolve(self, name: str, wire: Wire) -> int:
        """Number of the source of a wire of a block or a command."""
        if isinstance(wire, Constant):
            unit = None if wire.unit is None else parse_unit(wire.unit)
            return self._source(wire.value, Kind(isinstance(wire.value, bool), unit))
        first, _, rest = wire.partition(".")
        if first in self._diagram.blocks:
            outputs = self._diagram.blocks[first].block.outputs
            full = f"{first}.{rest or next(iter(outputs))}"
            if full not in self._found:
                raise self._error(name, f"the block {first} has no output {rest!r}", closest(rest, outputs))
            return self._found[full]
        if wire in self._found:
            return self._found[wire]
        if first == INPUT:
            if rest not in self._diagram.inputs:
                raise self._error(name, f"the diagram has no input {rest!r}", closest(rest, self._diagram.inputs))
            given = self._diagram.inputs[rest]
            truth = isinstance(given.default, bool)
            kind, start, group, key = Kind(truth, self._read(name, given.unit)), given.default, INPUT, rest
        elif first == OPERATOR:
            if rest not in self._around.actuators:
                raise self._error(name, f"the machine has no actuator {rest!r}", self._hint(rest))
            unit = self._read(name, self._around.actuators[rest])
            kind, start, group, key = Kind(False, unit), 0.0, OPERATOR, rest
        else:
            if wire not in self._around.signals:
                hint = closest(first, {*self._diagram.blocks, *self._around.signals}) if not rest else None
                raise self._error(
                    name, f"{wire!r} is no block and no signal", hint or closest(wire, self._around.signals)
                )
            kind, start, group, key = Kind(False, self._read(name, self._around.signals[wire])), 0.0, "", wire
        self._found[wire] = self._groups[group][key] = self._source(start, kind)
        return self._found[wire]

    def _ordered(self) -> list[str]:
        """The blocks, each after those that it is wired to; delayed ones do not count."""
        blocks = self._diagram.blocks

        def before(name: str) -> list[str]:
            sources = [wire.partition(".")[0] for wire in blocks[name].wires.values() if isinstance(wire, str)]
            return [one for one in sources if one in blocks and not blocks[one].block.delayed]

        try:
            return list(TopologicalSorter({name: before(name) for name in blocks}).static_order())
        except CycleError as error:
            loop: list[str] = error.args[1]
            raise self._error(loop[0], f"a loop without a delay: {' -> '.join(loop)}", "put a DELAY into it") from None

    def _settle_units(self, order: Sequence[str], wires: Mapping[str, Mapping[str, int]]) -> None:
        """Follows units along the wires until nothing is new: what a delay gives is known when its input is.

        What is not known then is a number in products.
        """
        for rest in (None, NUMBER):
            for _ in range(len(order) + 1):
                before = list(self._kinds)
                for name in order:
                    self._settle_block(name, self._diagram.blocks[name], wires[name], rest)
                if self._kinds == before:
                    break

    def _settle_block(self, name: str, placed: Placed, wires: Mapping[str, int], rest: Unit | None) -> None:
        ports = placed.block.inputs
        shared: tuple[str, Unit] | None = None
        for one, source in wires.items():
            kind, port = self._kinds[source], ports[one]
            self._check_truth(name, one, port, kind)
            if kind.unit is None or port.unit is None or port.truth:
                continue
            if SAME not in port.unit:
                self._check_port(name, one, port, source)
                continue
            unit = multiplied(kind.unit, parse_unit(port.unit.replace(SAME, "")), -1)
            if shared is None:
                shared = one, unit
            elif shared[1] != unit:
                there, here = (unit_text(self._kinds[wires[part]].unit or NUMBER) for part in (shared[0], one))
                raise self._error(name, f"{one} is in {here}, and {shared[0]} in {there}: their units do not agree")
        units = [self._kinds[source].unit for source in wires.values()]
        known = [NUMBER if isinstance(wire, Constant) else rest for wire in placed.wires.values()]
        inputs = [other if unit is None else unit for unit, other in zip(units, known, strict=True)]
        for output, port in placed.block.outputs.items():
            if not port.truth and port.unit is not None:
                given = _unit_of(port.unit, shared[1] if shared else None, inputs)
                self._kinds[self._found[f"{name}.{output}"]] = Kind(False, given)

    def _check_port(self, name: str, one: str, port: Port, source: int) -> None:
        kind = self._kinds[source]
        self._check_truth(name, one, port, kind)
        if port.unit is not None and kind.unit is not None and kind.unit != parse_unit(port.unit):
            wanted = unit_text(parse_unit(port.unit))
            raise self._error(name, f"{one} is in {unit_text(kind.unit)}; {wanted} is needed")

    def _check_truth(self, name: str, one: str, port: Port, kind: Kind) -> None:
        if port.truth is None or kind.truth is None or port.truth == kind.truth:
            return
        if port.truth:
            raise self._error(name, f"{one} is true or false, and a number is wired to it", "compare it, as by GT")
        raise self._error(name, f"{one} is a number, and true or false is wired to it", "choose numbers by SEL")

    def _kind_of_port(self, name: str, port: Port) -> Kind:
        if port.truth or port.unit is None or port.unit in (PRODUCT, QUOTIENT) or SAME in port.unit:
            return Kind(port.truth)
        return Kind(False, self._read(name, port.unit))

    def _read(self, name: str, text: str) -> Unit:
        try:
            return read_unit(text)
        except BlockError as error:
            raise self._error(name, str(error)) from None

    def _hint(self, actuator: str) -> str:
        return closest(actuator, self._around.actuators)

    def _error(self, name: str, problem: str, remedy: str | None = None) -> MachineError:
        element = f"block {name}" if name in self._diagram.blocks else f"command {name}"
        return MachineError(
            problem, file=self._diagram.file or None, line=self._diagram.lines.get(name), element=element, remedy=remedy
        )


def _unit_of(unit: str, shared: Unit | None, inputs: Sequence[Unit | None]) -> Unit | None:
    """Unit of an output, with the shared one of the block and those of its inputs; None: not known."""
    if unit in (PRODUCT, QUOTIENT):
        one, other = inputs[:2]
        return None if one is None or other is None else multiplied(one, other, 1 if unit == PRODUCT else -1)
    if SAME in unit:
        return None if shared is None else multiplied(shared, parse_unit(unit.replace(SAME, "")))
    return parse_unit(unit)
