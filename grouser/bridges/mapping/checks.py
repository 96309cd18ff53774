"""Checks that several parts of a mapping file share."""

import ipaddress
from collections.abc import Sequence

import yaml

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.yaml_reader import Reader

_ROUNDING = 1e-9  # of limits that went through scale and offset


def require_local(reader: Reader, node: yaml.Node, host: str, is_open: bool) -> None:
    """Refuses a host that is not this computer, unless the file says `open: true`.

    Raises:
        MachineError: names the host and the remedy.
    """
    if not is_open and not is_local(host):
        raise reader.error(
            node,
            "host",
            f"{shortened(host)} is not this computer; valid: 127.0.0.1, ::1, localhost",
            "add open: true beside it if the network between is yours alone",
        )


def is_local(host: str) -> bool:
    """Returns whether a host's name or address is this computer's loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def held_range(limits: tuple[float, float], scale: float, offset: float) -> tuple[float, float]:
    """Returns the scaled values that a field with these limits can hold."""
    ends = [limit * scale + offset for limit in limits]
    return min(ends), max(ends)


def fits(low: float, high: float, outer: tuple[float, float]) -> bool:
    """Returns whether a range is within another, to rounding."""
    slack = _ROUNDING * max(abs(low), abs(high), 1.0)
    return outer[0] - slack <= low and high <= outer[1] + slack


def check_writers(mapping: BridgeMapping) -> None:
    """Refuses two signals that command one actuator, unless their `enable` excludes each other.

    Raises:
        MachineError: names both lines.
    """
    writers: dict[str, list[tuple[MessageMapping, SignalMapping]]] = {}
    for message in mapping.incoming:
        for signal in message.signals:
            others = writers.setdefault(signal.signal, [])
            for other_message, other in others:
                if message is not other_message or not _exclude(signal, other):
                    raise MachineError(
                        f"signal '{signal.signal}' is commanded in line {other.line} too",
                        file=mapping.file,
                        line=signal.line,
                        element=f"message {message.name}",
                        remedy="keep one of them, or give both an enable of the same field with another value",
                    )
            others.append((message, signal))


def check_fields(mapping: BridgeMapping) -> None:
    """Refuses two signals of an outgoing message with one target.

    Raises:
        MachineError: names both lines.
    """
    for message in mapping.outgoing:
        lines: dict[str, int] = {}
        for signal in message.signals:
            if signal.field in lines:
                raise MachineError(
                    f"target '{signal.field}' is written in line {lines[signal.field]} too",
                    file=mapping.file,
                    line=signal.line,
                    element=f"message {message.name}",
                    remedy="keep one of them",
                )
            lines[signal.field] = signal.line


def check_names(reader: Reader, nodes: Sequence[tuple[str, yaml.Node]]) -> None:
    """Refuses a name of a message that is given twice."""
    seen: set[str] = set()
    for name, node in nodes:
        if name in seen:
            raise reader.error(node, f"message {name}", "the name is given twice", "give each its own")
        seen.add(name)


def _exclude(one: SignalMapping, other: SignalMapping) -> bool:
    return (
        one.enable is not None
        and other.enable is not None
        and one.enable.field == other.enable.field
        and one.enable.value != other.enable.value
    )
