"""What a block is: its inputs, outputs and parameters, and what it does in a cycle."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grouser.physics.description.text.names import closest

Value = float | bool
SAME, PRODUCT, QUOTIENT = "same", "product", "quotient"


class Port(NamedTuple):
    """An input or an output.

    Attributes:
        truth: whether it is true or false, else it is a number; None: it takes either.
        unit: of a number: a unit as text, or made of `SAME`, the unit that all ports of the block so marked share:
            ``same``, ``same s``, ``same/s``; or `PRODUCT` or `QUOTIENT` of the first two inputs. None: any.
        default: of an input that need not be wired; None: it must be.
    """

    truth: bool | None = False
    unit: str | None = None
    default: Value | None = None


TRUTH, NUMBER, TIME, LIKE = Port(truth=True), Port(unit="-"), Port(unit="s"), Port(unit=SAME)


@dataclass(frozen=True)
class Block:
    """A block as a diagram has it.

    Attributes:
        type: name of its type.
        inputs: ports by name, in the order of the arguments of what `make` returns.
        outputs: ports by name, in the order of its results. The block's name alone means the first one.
        make: makes what runs in each cycle, with the state of the start. Its arguments are the time since the cycle
            before [s], 0 in the first one, and the inputs; it returns the outputs.
        delayed: whether it returns the outputs of the next cycle, so that a loop may go through it.
        start: of a delayed block: its outputs in the first cycle.
    """

    type: str
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    make: Callable[[], Callable[..., Sequence[Value]]]
    delayed: bool = False
    start: tuple[Value, ...] = ()


@dataclass(frozen=True)
class BlockType:
    """A type of blocks.

    Attributes:
        name: that of IEC 61131-3 where it has one.
        meaning: a line for the reader.
        keys: of its inputs and parameters, for messages and docs.
        make: makes a block of the parameters that a file gives, and the names of the inputs that are wired.
    """

    name: str
    meaning: str
    keys: tuple[str, ...]
    make: Callable[[dict[str, Any], Sequence[str]], Block]


class BlockError(Exception):
    """A block cannot be made.

    Attributes:
        remedy: what to do; None: the message says it.
    """

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.remedy = remedy


class Parameter(NamedTuple):
    """A number that a block is made with.

    Attributes:
        default: None: it must be given.
        low, high: its range.
    """

    default: float | None
    low: float
    high: float


def stateless(
    name: str, meaning: str, inputs: Mapping[str, Port], output: Port, function: Callable[..., Value], out: str = "OUT"
) -> BlockType:
    """A type of blocks whose one output is a function of the inputs."""

    def make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
        refuse_rest(parameters, tuple(inputs))
        return Block(name, inputs, {out: output}, lambda: lambda _, *values: (function(*values),))

    return BlockType(name, meaning, tuple(inputs), make)


def of_many(
    name: str, meaning: str, port: Port, output: Port, function: Callable[[Iterable[Any]], Value], least: int = 2
) -> BlockType:
    """A type of blocks whose output is a function of any number of inputs IN1, IN2, ..."""

    def make(parameters: dict[str, Any], wired: Sequence[str]) -> Block:
        refuse_rest(parameters, ("IN1", "IN2"))
        count = max((int(one[2:]) for one in wired if re.fullmatch(r"IN[1-9]\d*", one)), default=0)
        inputs = {f"IN{number}": port for number in range(1, max(count, least) + 1)}
        return Block(name, inputs, {"OUT": output}, lambda: lambda _, *values: (function(values),))

    return BlockType(name, meaning, ("IN1", "IN2", "..."), make)


def with_state(
    name: str,
    kind: Callable[..., Callable[..., Sequence[Value]]],
    inputs: Mapping[str, Port],
    outputs: Mapping[str, Port],
    parameters: Mapping[str, Parameter] | None = None,
) -> BlockType:
    """A type of blocks that a class makes, whose docstring is their meaning; its arguments are the parameters."""
    known = parameters or {}

    def make(given: dict[str, Any], _: Sequence[str]) -> Block:
        numbers = {one: take_number(given, one, *range_) for one, range_ in known.items()}
        refuse_rest(given, (*inputs, *known))
        return Block(name, inputs, outputs, lambda: kind(**numbers))

    return BlockType(name, (kind.__doc__ or "").partition("\n")[0], (*inputs, *known), make)


def take_number(parameters: dict[str, Any], name: str, default: float | None, low: float, high: float) -> float:
    """Takes a number out of the parameters of a block.

    Raises:
        BlockError: it is missing and has no default, is no number, or is out of range.
    """
    value = parameters.pop(name, default)
    if value is None:
        raise BlockError(f"{name} is missing", f"add {name}: a number from {low:g} to {high:g}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BlockError(f"{name} is {value!r}; valid is a number from {low:g} to {high:g}")
    return float(value)


def take_text(parameters: dict[str, Any], name: str, default: str | None = None) -> str:
    """Takes a text out of the parameters of a block.

    Raises:
        BlockError: it is missing and has no default, or is no text.
    """
    value = parameters.pop(name, default)
    if not isinstance(value, str) or not value:
        raise BlockError(f"{name} is missing" if value is None else f"{name} is {value!r}; valid is a text")
    return value


def refuse_rest(parameters: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuses parameters that nothing has taken.

    Raises:
        BlockError: with the closest name of those that are known.
    """
    for name in parameters:
        raise BlockError(f"unknown key {name!r}", closest(str(name), known))
