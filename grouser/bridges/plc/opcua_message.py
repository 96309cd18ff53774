"""A message that a controller writes into variables of OPC UA: whether it may be stored, and what it says."""

from collections.abc import Mapping

from asyncua import ua

from grouser.bridges.mapping.data import MessageMapping
from grouser.bridges.messages import Received
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.node_types import NodeField
from grouser.bridges.plc.opcua_schema import node_fields
from grouser.bridges.plc.variants import has_type, is_bad

Values = Mapping[str, ua.DataValue]  # by variable


def fault_of(message: MessageMapping, values: Values) -> tuple[str, int]:
    """Why a request to write a message is refused, and the code that says so; "" where it is not."""
    for place in node_fields(message):
        refusal, code = _fault(place, values.get(place.node))
        if refusal:
            return refusal, code
    return "", ua.StatusCodes.Good


def received_of(message: MessageMapping, values: Values, heartbeats: Heartbeats, now: float) -> Received:
    """The message in values without a fault.

    Args:
        message: of the mapping.
        values: of all its variables.
        heartbeats: of the connection; takes that of the message.
        now: [s].
    """
    places = message.places
    errors = frozenset(name for name, place in places.items() if is_bad(values[place.node]))
    numbers = {name: float(values[place.node].Value.Value) for name, place in places.items() if name not in errors}
    heartbeat = message.address.heartbeat
    if heartbeat is not None and not errors:
        beat = values[heartbeat.node]
        if is_bad(beat) or not heartbeats.changed(message.name, int(beat.Value.Value)):
            return Received(message.name, now, refusal="heartbeat stands still")
    return Received(message.name, now, numbers, errors)


def _fault(place: NodeField, value: ua.DataValue | None) -> tuple[str, int]:
    """The same of one variable; None: the request does not have it."""
    if value is None:
        return "written in part", ua.StatusCodes.BadInvalidArgument
    if is_bad(value):
        return "", ua.StatusCodes.Good
    if not has_type(place, value):
        return "type", ua.StatusCodes.BadTypeMismatch
    number = value.Value.Value
    if number is None or not abs(number) < float("inf"):
        return "not a number", ua.StatusCodes.BadOutOfRange
    return "", ua.StatusCodes.Good
