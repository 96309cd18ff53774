"""STATE_CHART: one of some states, with outputs of each and transitions between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grouser.function_blocks.block import (
    TIME,
    TRUTH,
    Block,
    BlockError,
    BlockType,
    Port,
    own_unit,
    refuse_rest,
    take_text,
)
from grouser.function_blocks.blocks.timers import is_over
from grouser.function_blocks.units import parse_unit
from grouser.physics.description.text.names import closest

_KEYS = ("in", "initial", "outputs", "states")
_STATE_KEYS = ("set", "to")
_TRANSITION_KEYS = ("state", "when", "after")
ELAPSED = "ET"


@dataclass(frozen=True)
class Transition:
    """To a state, once all conditions hold.

    Attributes:
        state: where it goes.
        conditions: inputs by number, and what each must be.
        after: least time in the state that it leaves [s].
    """

    state: str
    conditions: tuple[tuple[int, bool], ...]
    after: float


@dataclass(frozen=True)
class State:
    """A state: constants or numbers of inputs that the outputs are, and the transitions in the order of their rank."""

    values: tuple[float | str, ...]
    transitions: tuple[Transition, ...]


class Chart:
    """In a cycle the first transition whose conditions hold is made, at most one; the outputs are the new state's."""

    def __init__(self, states: Mapping[str, State], initial: str, inputs: Sequence[str]) -> None:
        self._states, self._inputs = states, {name: number for number, name in enumerate(inputs)}
        self.state, self.elapsed = initial, 0.0

    def __call__(self, interval: float, *inputs: float | bool) -> tuple[float | bool, ...]:
        self.elapsed += interval
        for one in self._states[self.state].transitions:
            late = is_over(self.elapsed, one.after)
            if late and all(bool(inputs[number]) == wanted for number, wanted in one.conditions):
                self.state, self.elapsed = one.state, 0.0
                break
        values = [
            float(inputs[self._inputs[value]]) if isinstance(value, str) else value
            for value in self._states[self.state].values
        ]
        return (*values, self.elapsed, *(name == self.state for name in self._states))


def _make(parameters: dict[str, Any], wired: Sequence[str]) -> Block:
    outputs = _mapping(parameters.pop("outputs", {}), "outputs", "write outputs: {boom: '-'}: names and units")
    states = _mapping(parameters.pop("states", {}), "states", "write states: {idle: {...}, dig: {...}}")
    initial = take_text(parameters, "initial")
    refuse_rest(parameters, _KEYS)
    if initial not in states:
        raise BlockError(f"the initial state {initial!r} is none of its states", closest(initial, states))
    for name in (*states, *outputs):
        if name == ELAPSED or (name in states and name in outputs):
            raise BlockError(f"{name} is the name of another output, too", "give it another name")
    truths: set[str] = set()
    made = {name: _state(name, state or {}, states, outputs, wired, truths) for name, state in states.items()}
    numbers = {value for state in made.values() for value in state.values if isinstance(value, str)}
    if both := sorted(truths & numbers):
        raise BlockError(f"the input {both[0]} is a condition and a value")
    ports = {name: Port(unit=own_unit(unit)) for name, unit in outputs.items()}
    inputs = {name: TRUTH if name in truths else _port_of_value(name, made, ports) for name in wired}
    ports |= {ELAPSED: TIME} | dict.fromkeys(states, TRUTH)
    return Block("STATE_CHART", inputs, ports, lambda: Chart(made, initial, wired))


def _port_of_value(name: str, states: Mapping[str, State], outputs: Mapping[str, Port]) -> Port:
    """Port of an input that is a value of outputs: it has their unit."""
    values = [pair for state in states.values() for pair in zip(outputs, state.values, strict=True)]
    taken = list(dict.fromkeys(output for output, value in values if value == name))
    if len({parse_unit(outputs[output].unit or "-") for output in taken}) > 1:
        raise BlockError(f"the input {name} is the value of {' and '.join(taken)}, whose units differ")
    return Port(unit=outputs[taken[0]].unit) if taken else Port()


def _state(
    name: str,
    given: Any,
    states: Mapping[str, Any],
    outputs: Mapping[str, Any],
    wired: Sequence[str],
    truths: set[str],
) -> State:
    parts = dict(_mapping(given, f"state {name}", f"write {name}: {{set: {{...}}, to: [...]}}"))
    values = dict(_mapping(parts.pop("set", {}), f"state {name}: set", "write set: {boom: 0.5}"))
    transitions = parts.pop("to", [])
    _refuse(parts, _STATE_KEYS, f"state {name}")
    _refuse({key: 0 for key in values if key not in outputs}, tuple(outputs), f"state {name}: set")
    for output, value in values.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number and not (isinstance(value, str) and value in wired):
            raise BlockError(f"state {name}: {output} is {value!r}; valid is a number, or the name of an input")
    if not isinstance(transitions, list):
        raise BlockError(f"state {name}: to is no list", "write to: [{state: dig, when: start}]")
    return State(
        tuple(value if isinstance(value, str) else float(value) for value in (values.get(one, 0.0) for one in outputs)),
        tuple(_transition(name, one, states, wired, truths) for one in transitions),
    )


def _transition(name: str, given: Any, states: Mapping[str, Any], wired: Sequence[str], truths: set[str]) -> Transition:
    where = f"state {name}: to"
    parts = dict(_mapping(given, where, "write {state: dig, when: start}"))
    target, when, after = parts.pop("state", None), parts.pop("when", []), parts.pop("after", 0.0)
    _refuse(parts, _TRANSITION_KEYS, where)
    if not isinstance(target, str) or target not in states:
        raise BlockError(f"{where}: there is no state {target!r}", closest(str(target), states))
    if isinstance(after, bool) or not isinstance(after, int | float) or not 0.0 <= after <= 1e9:
        raise BlockError(f"{where} {target}: after is {after!r}; valid is a time in s")
    conditions = []
    if not isinstance(when, str | list):
        raise BlockError(f"{where} {target}: when is {when!r}", "write when: start, or when: [start, not high]")
    for text in [when] if isinstance(when, str) else when:
        words = str(text).split() or [""]
        wanted = words[0] != "not"
        condition = words[-1]
        if condition not in wired or len(words) != 2 - wanted:
            raise BlockError(
                f"{where} {target}: {text!r} is no condition: an input, or not and an input", closest(condition, wired)
            )
        truths.add(condition)
        conditions.append((list(wired).index(condition), wanted))
    if not conditions and after == 0.0:
        raise BlockError(f"{where} {target} has no condition", "add when: ... or after: ...")
    return Transition(target, tuple(conditions), float(after))


def _mapping(value: Any, name: str, remedy: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise BlockError(f"{name} is no mapping", remedy)
    return value


def _refuse(parts: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    try:
        refuse_rest(parts, known)
    except BlockError as error:
        raise BlockError(f"{where}: {error}", error.remedy) from None


BLOCKS = (
    BlockType(
        "STATE_CHART", "states with outputs and transitions; a truth of each state's name, ET: time in it", _KEYS, _make
    ),
)
