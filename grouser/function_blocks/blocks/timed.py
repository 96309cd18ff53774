"""TIMED: a value over time, as command programs have it."""

from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import (
    TIME,
    TRUTH,
    Block,
    BlockError,
    BlockType,
    Port,
    refuse_rest,
    take_number,
    take_text,
)
from grouser.physics.base.errors import ParameterError
from grouser.program import CommandProgram, TimedCommand

_KEYS = ("RUN", "R", "values", "repeat", "period", "unit")
_ENTRY = {"time", "value", "ramp"}


class Timed:
    """Counts the time in which RUN is true, and gives the value of that time."""

    def __init__(self, program: CommandProgram) -> None:
        self.program = program
        self.elapsed: float | None = None

    def __call__(self, interval: float, run: bool, reset: bool) -> tuple[float, bool, float]:
        if reset:
            self.elapsed = None
        if run:
            self.elapsed = 0.0 if self.elapsed is None else self.elapsed + interval
        if self.elapsed is None:
            return 0.0, False, 0.0
        value = self.program.values(self.elapsed).get("", 0.0)
        return value, self.program.finished(self.elapsed), self.elapsed


def _make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
    entries = parameters.pop("values", None)
    if not isinstance(entries, list) or not entries or not all(_is_entry(one) for one in entries):
        raise BlockError("values is no list of times and values", "write values: [{time: 0.0, value: 0.5, ramp: 0.2}]")
    repeat = parameters.pop("repeat", False)
    if not isinstance(repeat, bool):
        raise BlockError(f"repeat is {repeat!r}; valid is true or false")
    period = take_number(parameters, "period", None, 0.0, 1e9) if "period" in parameters else None
    unit = take_text(parameters, "unit", "-")
    refuse_rest(parameters, _KEYS)
    commands = [TimedCommand(actuator="", kind="joint", **one) for one in entries]
    try:
        program = CommandProgram(commands, repeat=repeat, period=period)
    except ParameterError as error:
        raise BlockError(str(error)) from error
    inputs = {"RUN": Port(truth=True, default=True), "R": Port(truth=True, default=False)}
    outputs = {"OUT": Port(unit=unit), "DONE": TRUTH, "ET": TIME}
    return Block("TIMED", inputs, outputs, lambda: Timed(program))


def _is_entry(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and {"time", "value"} <= set(one) <= _ENTRY
        and all(isinstance(number, int | float) and not isinstance(number, bool) for number in one.values())
    )


BLOCKS = (
    BlockType(
        "TIMED", "values over the time in which RUN is true, from the start again with R; unit `unit`", _KEYS, _make
    ),
)
