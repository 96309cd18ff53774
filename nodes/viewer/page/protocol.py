"""What a browser says on ``/control``: JSON objects with a `type`, checked before anything else sees them."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 20_000  # characters of a message
_MOST_STEPS = 100_000
_LARGEST_FACTOR = 1000.0
_LONGEST_RECORDING = 1e7  # [s]
_LARGEST_BOX, _HEAVIEST_BOX = 100.0, 1e6  # [m], [kg]


class ProtocolError(ValueError):
    """A message that is refused; its text says why, for the user."""


@dataclass(frozen=True)
class Hands:
    """What the user's hands do.

    Attributes:
        enable: whether motion is enabled: the dead man's button.
        axes: of a game controller, in [-1, 1], positive to the left and ahead.
        buttons: numbers of those that are pressed.
        sliders: actuator -> deflection in [-1, 1]; the others are in neutral.
        ahead, left: of driving, in [-1, 1].
    """

    enable: bool
    axes: tuple[float, ...]
    buttons: frozenset[int]
    sliders: Mapping[str, float]
    ahead: float
    left: float


@dataclass(frozen=True)
class Order:
    """Anything else that the user wants.

    Attributes:
        type: a key of `ORDERS`.
        values: its fields.
    """

    type: str
    values: Mapping[str, Any]


def parse(text: str | bytes) -> Hands | Order:
    """The request of a message.

    Raises:
        ProtocolError: it is not valid; the text names the field, its value and what is valid.
    """
    if not isinstance(text, str):
        raise ProtocolError("a message must be text, not bytes")
    if len(text) > LONGEST:
        raise ProtocolError(f"a message must be at most {LONGEST} characters long, not {len(text)}")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message must be JSON") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message must be a JSON object")
    kind = message.pop("type", None)
    if kind == "hands":
        return _hands(message)
    if not isinstance(kind, str) or kind not in ORDERS:
        raise ProtocolError(f"type = {_shown(kind)}: must be one of hands, {', '.join(ORDERS)}")
    return Order(kind, _fields(kind, message, ORDERS[kind]))


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _fields(kind: str, message: dict[str, Any], checks: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    for name in message:
        if name not in checks:
            raise ProtocolError(f"{kind}: unknown field {_shown(name)}; it has {', '.join(checks) or 'none'}")
    values = {}
    for name, check in checks.items():
        if name not in message:
            raise ProtocolError(f"{kind}: the field {name} is missing")
        try:
            values[name] = check(message[name])
        except ValueError as error:
            raise ProtocolError(f"{kind}: {name} = {_shown(message[name])}: {error}") from error
    return values


def _number(low: float, high: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        valid = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not valid or not low <= value <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return float(value)

    return check


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return check


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200:
        raise ValueError("must be a text of at most 200 characters")
    return value


def _size(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("must be a list of three lengths")
    check = _number(0.01, _LARGEST_BOX)
    return tuple(check(entry) for entry in value)


def _axes(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) > 64:
        raise ValueError("must be a list of at most 64 numbers")
    return tuple(_deflection(entry) for entry in value)


def _buttons(value: Any) -> frozenset[int]:
    if not isinstance(value, list) or len(value) > 64:
        raise ValueError("must be a list of at most 64 numbers of buttons")
    check = _whole(0, 63)
    return frozenset(check(entry) for entry in value)


def _sliders(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ValueError("must be an object: actuator -> deflection")
    return {name: _deflection(entry) for name, entry in value.items()}


_deflection = _number(-1.0, 1.0)
_HANDS: dict[str, Callable[[Any], Any]] = {
    "enable": _truth,
    "axes": _axes,
    "buttons": _buttons,
    "sliders": _sliders,
    "ahead": _deflection,
    "left": _deflection,
}
ORDERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "stop": {},
    "release": {},
    "pause": {"value": _truth},
    "step": {"count": _whole(1, _MOST_STEPS)},
    "reset": {},
    "speed": {"factor": _number(0.0, _LARGEST_FACTOR)},
    "seek": {"time": _number(0.0, _LONGEST_RECORDING)},
    "backward": {"value": _truth},
    "pattern": {"name": _name},
    "box": {"size": _size, "mass": _number(0.001, _HEAVIEST_BOX)},
    "clear": {},
    "scene": {"machine": _name, "world": _name},
    "circuit": {"shown": _truth},
    "program": {"shown": _truth},
    "push": {"on": _truth},
    "record": {"value": _truth},
}


def _hands(message: dict[str, Any]) -> Hands:
    return Hands(**_fields("hands", message, _HANDS))
