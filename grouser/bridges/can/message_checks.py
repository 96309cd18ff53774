"""Refusals of mappings that only all messages of a CAN bus show."""

from typing import Any

from grouser.bridges.can.identifier import GLOBAL_ADDRESS
from grouser.bridges.can.settings import FrameAddress, GroupAddress
from grouser.bridges.can.transport_protocol import broadcast_time
from grouser.bridges.checksums import PROFILES
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.physics.base.errors import MachineError

_FRAME = 8  # [bytes]
# Bits of the counter and of the checksum of each profile; the least significant one is that of the first byte.
_PLACES = {"e2e_5": (0xFF0000, 0xFFFF), "e2e_11": (0xF00, 0xFF), "j1939_tsc1": (0xF << 56, 0xF << 60)}


def check_messages(mapping: BridgeMapping) -> None:
    """Refuses two messages in one frame, counters and checksums without a place or in that of a mapped field, and
    messages of several frames that take longer than their period.

    Raises:
        MachineError: names the lines and the remedy.
    """
    seen: dict[tuple, MessageMapping] = {}
    for message in mapping.messages:
        key = (message.direction, *_frame_key(message.address))
        if key in seen:
            raise _error(
                mapping, message, f"{message.address} is the message of line {seen[key].line} too", "make them one"
            )
        seen[key] = message
        _check_protection(mapping, message)
    _check_broadcasts(mapping)


def _frame_key(address: FrameAddress | GroupAddress) -> tuple:
    if isinstance(address, GroupAddress):
        # Where a NAME is given, the address is its; without one, whoever has the address.
        return "group", address.pgn, address.name or address.source, address.destination
    return "frame", address.identifier, address.is_extended


def _check_broadcasts(mapping: BridgeMapping) -> None:
    """Refuses broadcasts above 8 bytes that do not fit their periods: a node sends one after the other."""
    share = 0.0
    for message in mapping.outgoing:
        address = message.address
        if not (isinstance(address, GroupAddress) and address.codec.length > _FRAME and _is_broadcast(address)):
            continue
        time = broadcast_time(address.codec.length)
        share += time / message.period
        if share > 1.0:
            problem = f"its {address.codec.length} bytes take {time:.2f} s as a broadcast in several frames"
            if time <= message.period:
                problem += ", and those of the messages before it take the rest of the time"
            remedy = f"give it a period of {time:.2f} s or more, or a destination: between two nodes it takes no pauses"
            raise _error(mapping, message, problem, remedy)


def _is_broadcast(address: GroupAddress) -> bool:
    return address.destination == GLOBAL_ADDRESS


def _check_protection(mapping: BridgeMapping, message: MessageMapping) -> None:
    rules = [rule for rule in (message.counter, message.checksum) if rule is not None]
    for rule in rules:
        profile = PROFILES.get(rule.profile)
        if profile is None:
            remedy = f"give one of {', '.join(PROFILES)}"
            raise _error(mapping, message, f"the counter {rule.profile} has no place in a CAN frame", remedy)
        if rule.profile != rules[0].profile:
            problem = f"its counter is of {rules[0].profile} and its checksum of {rule.profile}"
            raise _error(mapping, message, problem, "give both the same profile")
        if message.address.codec.length < profile.length_min:
            problem = f"{message.address.codec.length} bytes have no place for {rule.profile}"
            raise _error(mapping, message, problem, f"give it {profile.length_min} bytes at least")
        if rule.profile == "j1939_tsc1" and message.address.codec.length > _FRAME:
            raise _error(mapping, message, "j1939_tsc1 is of frames with 8 bytes", "use another profile")
        if (
            rule.profile == "j1939_tsc1"
            and isinstance(message.address, FrameAddress)
            and not message.address.is_extended
        ):
            raise _error(mapping, message, "j1939_tsc1 is of frames with 29 bits", "use another profile")
    if rules:
        _check_room(mapping, message, rules[0].profile)
    if message.direction == "out" and message.counter is not None and message.checksum is None:
        raise _error(mapping, message, "it has a counter and no checksum", "add the checksum of the same profile")


def _check_room(mapping: BridgeMapping, message: MessageMapping, profile: str) -> None:
    counter, checksum = _PLACES[profile]
    taken = counter if message.checksum is None else counter | checksum
    for signal in message.signals:
        places: list[Any] = [signal.place] if signal.enable is None else [signal.place, signal.enable.place]
        for place in places:
            if place.mask & taken:
                problem = f"field {place} of line {signal.line} has bits of the counter or the checksum of {profile}"
                raise _error(mapping, message, problem, "move the field, or use a profile that leaves its bits free")


def _error(mapping: BridgeMapping, message: MessageMapping, problem: str, remedy: str) -> MachineError:
    return MachineError(problem, file=mapping.file, line=message.line, element=f"message {message.name}", remedy=remedy)
