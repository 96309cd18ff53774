"""A function block diagram: blocks, and the wires between them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grouser.function_blocks.block import Block, BlockError, Value
from grouser.function_blocks.blocks import TYPES
from grouser.function_blocks.units import Unit, parse_unit
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

OPERATOR, INPUT, SIGNAL = "operator", "input", "signal"
_CYCLES = (1e-5, 10.0)


@dataclass(frozen=True)
class Constant:
    """A number, or true or false, on a wire.

    Attributes:
        value: SI.
        unit: None: whatever is asked for.
    """

    value: Value
    unit: str | None = None

    def __str__(self) -> str:
        """As it is written."""
        value = str(self.value).lower() if isinstance(self.value, bool) else f"{self.value:g}"
        return value if self.unit in (None, "-") else f"{value} {self.unit}"


Wire = Constant | str


@dataclass(frozen=True)
class Placed:
    """A block of a diagram.

    Attributes:
        block: what it is.
        wires: of its inputs, by name: a constant, or what it comes from (`Diagram`).
    """

    block: Block
    wires: Mapping[str, Wire]


@dataclass(frozen=True)
class Input:
    """A value that comes from outside: of an operator's panel, a bridge, another program.

    Attributes:
        default: as long as nothing has come; also says whether it is true or false, or a number.
        unit: of a number.
    """

    default: Value
    unit: str = "-"


@dataclass
class Diagram:
    """Blocks that are wired between measurements, operator inputs and commands, and executed once a cycle.

    A wire comes from ``block`` or ``block.OUTPUT``, from ``operator.ACTUATOR``: what an operator commands of an
    actuator, from ``input.NAME``: an input of the diagram, or else from a signal of the simulation (docs/python.md).

    Attributes:
        cycle: time between two executions [s].
        blocks: by name.
        inputs: by name.
        commands: of actuators: valves, joints with drives, ``twist.x`` and so on.
        file, lines: it came from, and its lines by block or actuator, for messages.
        source: text that it was read from.
        functions: files of the user's functions in it.
    """

    cycle: float
    blocks: dict[str, Placed] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    commands: dict[str, Wire] = field(default_factory=dict)
    file: str = ""
    lines: dict[str, int] = field(default_factory=dict)
    source: str = ""
    functions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not _CYCLES[0] <= self.cycle <= _CYCLES[1]:
            raise ParameterError("cycle", self.cycle, f"a time from {_CYCLES[0]:g} to {_CYCLES[1]:g} s")

    def add(self, name: str, kind: str, wires: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Adds a block: ``diagram.add("late", "TON", IN="input.start", PT=2.0)``.

        Args:
            name: of the block.
            kind: its type, as of `TYPES`.
            wires: of inputs whose names are free, those of a STATE_CHART or FUNCTION; else what has capital letters is
                an input.
            more: inputs and parameters.

        Raises:
            ParameterError: the name is taken, the type is unknown, or inputs or parameters are not those of the type.
        """
        try:
            self.place(name, place(kind, dict(wires or {}), more))
        except BlockError as error:
            raise ParameterError(
                f"block {name}", kind, f"{error}; {error.remedy}" if error.remedy else str(error)
            ) from None

    def command(self, actuator: str, wire: Any) -> None:
        """Wires the command of an actuator: ``diagram.command("lift_valve", "late")``.

        Raises:
            ParameterError: what is given is no wire.
        """
        try:
            self.commands[actuator] = as_wire(wire)
        except BlockError as error:
            raise ParameterError(f"command {actuator}", wire, str(error)) from None

    def input_value(self, name: str, value: Value) -> Value:
        """A value as the input of a name has it: a truth, or a number.

        Raises:
            ParameterError: there is none of this name, or the value is not finite.
        """
        if name not in self.inputs:
            raise ParameterError("input", name, closest(name, self.inputs))
        if not math.isfinite(value):
            raise ParameterError(f"input {name}", value, "a finite number, or true or false")
        return bool(value) if isinstance(self.inputs[name].default, bool) else float(value)

    def place(self, name: str, placed: Placed) -> None:
        """Adds a block that is made.

        Raises:
            ParameterError: another block has the name, or it is none.
        """
        if not name or "." in name or name in (OPERATOR, INPUT, SIGNAL):
            raise ParameterError("block", name, f"a name without a dot, and not {OPERATOR}, {INPUT} or {SIGNAL}")
        if name in self.blocks:
            raise ParameterError("block", name, "a name that no other block has")
        self.blocks[name] = placed


def place(kind: str, wires: dict[str, Any], more: Mapping[str, Any]) -> Placed:
    """Makes a block of what a file or a program gives.

    Args:
        kind: type of the block.
        wires: of inputs with free names.
        more: inputs, in capital letters, and parameters.

    Raises:
        BlockError: there is no such type, or it has no such input or parameter.
    """
    if kind not in TYPES:
        raise BlockError(f"there is no block of the type {kind!r}", closest(str(kind), TYPES))
    wires |= {name: value for name, value in more.items() if name.isupper()}
    parameters = {name: value for name, value in more.items() if not name.isupper()}
    block = TYPES[kind].make(parameters, list(wires))
    for name in wires:
        if name not in block.inputs:
            raise BlockError(f"a {kind} has no input {name!r}", closest(name, block.inputs))
    made = {}
    for name, port in block.inputs.items():
        if name in wires:
            made[name] = as_wire(wires[name])
        elif port.default is not None:
            made[name] = Constant(port.default)
        else:
            raise BlockError(f"the input {name} is not wired", f"add {name}: a number, a block or a signal")
    return Placed(block, made)


def as_wire(value: Any) -> Wire:
    """What is at the other end of a wire: a number, true or false, ``{value: 2.0, unit: m}``, or a name.

    Raises:
        BlockError: it is none of these.
    """
    unit = None
    if isinstance(value, Mapping):
        if not {"value"} <= set(value) <= {"value", "unit"}:
            raise BlockError(f"{dict(value)!r} is no constant", "write {value: 2.0, unit: m}")
        unit = str(value.get("unit", "-"))
        read_unit(unit)
        value = value["value"]
    elif isinstance(value, str) and value:
        return value
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        raise BlockError(f"{value!r} is no wire: a finite number, true or false, or a name")
    return Constant(value if isinstance(value, bool) else float(value), unit)


def read_unit(text: str) -> Unit:
    """A unit; BlockError where it is none."""
    try:
        return parse_unit(text)
    except ValueError as error:
        raise BlockError(str(error)) from None
