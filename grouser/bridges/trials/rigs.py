"""Rigs of the latency trial: of each kind of bridge a mapping, its transport and the hand at the other end."""

import json
import os
import socket
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.fields import AxisField, AxisRange
from grouser.bridges.joystick.schema import DeviceRule
from grouser.bridges.joystick.transport import JoystickTransport
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.protocols import transport_of
from grouser.bridges.transport import Transport
from grouser.bridges.trials.hands import AXIS, COMMAND_ID, FULL, REGISTERS, REPLY_ID, REPLY_REGISTER

STICK, REPLY = "stick", "reply"  # messages
COMMAND, OBEYED, BEGIN = "joy/axis_0", "joy/axis_1", "joy/axis_2"  # signals: of the lever, of the reply, of the start
_PERIOD, _TIMEOUT = 0.02, 10.0  # [s]; the timeout is long: what is measured is how late, not whether it is too late
_SLAVE = Path(__file__).parent / "slaves" / "lever_fmi2.py"


@dataclass
class Rig:
    """A bridge and the hand at its other end.

    Attributes:
        mapping: of the bridge.
        transport: not open.
        hand: what the hand's process needs.
        descriptors: that it inherits.
        journal: where a hand that is the transport's own process writes what it did; None: `stimulus` prints it.
    """

    mapping: BridgeMapping
    transport: Transport
    hand: dict[str, Any] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()
    journal: Path | None = None


@contextmanager
def joystick_rig(folder: Path, options: Mapping[str, Any], signal: str = COMMAND) -> Iterator[Rig]:
    """An event device whose other end is a socket. It has no reply."""
    mapping = stick_mapping(signal)
    hand, stick = socket.socketpair()
    stick.setblocking(False)
    (folder / "event0").touch()
    with hand:
        transport = JoystickTransport(mapping, folder, lambda file, rule: _device(file, rule, stick))
        yield Rig(mapping, transport, {"hand": "joystick", "descriptor": hand.fileno()}, (hand.fileno(),))


@contextmanager
def can_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """An adapter that speaks slcan at a pseudo-terminal, or a bus that is there: an interface as `socketcan:vcan0`."""
    form = {"fields": {"y": "i16"}}
    messages = (_incoming({"id": COMMAND_ID, **form}, "y"), _outgoing({"id": REPLY_ID, **form}, "y", options))
    interface = options["interface"]
    if interface == "":
        interface = "socketcan:vcan0" if Path("/sys/class/net/vcan0").exists() else "slcan"
    if interface != "slcan":
        name, _, channel = interface.partition(":")
        mapping = _loaded(folder, "can", {"interface": name, "channel": channel}, *messages)
        yield Rig(mapping, transport_of(mapping), {"hand": "bus", "interface": name, "channel": channel})
        return
    with _terminal() as (descriptor, path):
        settings = {"interface": "slcan", "channel": path, "options": {"sleep_after_open": 0.01, "timeout": 0.02}}
        mapping = _loaded(folder, "can", settings, *messages)
        yield Rig(mapping, transport_of(mapping), {"hand": "slcan", "descriptor": descriptor}, (descriptor,))


@contextmanager
def serial_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """A pseudo-terminal."""
    with _terminal() as (descriptor, path):
        mapping = _loaded(folder, "serial", {"port": path, "baud_rate": 115200, "form": "frames"}, *_frames(options))
        yield Rig(mapping, transport_of(mapping), {"hand": "serial", "descriptor": descriptor}, (descriptor,))


@contextmanager
def udp_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """Two ports of the loopback."""
    port, own = _free_ports(socket.SOCK_DGRAM, 2)
    mapping = _loaded(folder, "udp", {"host": "127.0.0.1", "port": own, "local_port": port}, *_frames(options))
    yield Rig(mapping, transport_of(mapping), {"hand": "udp", "port": port, "own_port": own})


@contextmanager
def modbus_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """A server of the machine, and a client."""
    (port,) = _free_ports(socket.SOCK_STREAM, 1)
    messages = (
        {**_incoming(None, REGISTERS + 1), "source": {"heartbeat": REGISTERS}},
        _outgoing(None, REPLY_REGISTER, options),
    )
    interface = {"role": "server", "port": port, "writable": [[REGISTERS, REGISTERS + 1]]}
    mapping = _loaded(folder, "modbus", interface, *messages)
    yield Rig(mapping, transport_of(mapping), {"hand": "modbus", "port": port, "rate": options["rate"]})


@contextmanager
def opcua_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """A server of the machine, and a client."""
    (port,) = _free_ports(socket.SOCK_STREAM, 1)
    heartbeat = {"heartbeat": {"node": "Heartbeat", "type": "uint32"}}
    messages = (
        _incoming(heartbeat, {"node": "Stick", "type": "int16"}),
        _outgoing(None, {"node": "Reply", "type": "int16"}, options),
    )
    mapping = _loaded(folder, "opcua", {"role": "server", "port": port}, *messages)
    yield Rig(mapping, transport_of(mapping), {"hand": "opcua", "port": port, "rate": options["rate"]})


@contextmanager
def fmu_rig(folder: Path, options: Mapping[str, Any]) -> Iterator[Rig]:
    """An FMU whose output is the lever; each of its steps, one an interval, is an event."""
    from grouser.bridges.fmu.build import build_fmu

    journal, settings = folder / "journal.json", folder / "lever.json"
    settings.write_text(json.dumps({"journal": str(journal), "events": options["events"], "full": FULL}))
    fmu = build_fmu(_SLAVE, 2, folder, [settings])
    every = {"rate": 1.0 / options["interval"]}
    reply = _outgoing(None, "reply", every)
    reply["signals"].append({"target": "begin", "signal": BEGIN})
    command = {**_incoming(None, "lever"), "period": options["interval"]}
    command["signals"][0]["scale"] = 1.0
    reply["signals"][0]["scale"] = 1.0
    mapping = _loaded(folder, "fmu", {"fmu": str(fmu), "deadline": 10.0}, command, reply)
    yield Rig(mapping, transport_of(mapping), journal=journal)


def stick_mapping(signal: str) -> BridgeMapping:
    """A joystick's mapping of one axis to a signal."""
    place = AxisField("ABS_X", AXIS, low=-FULL, centre=0, high=FULL)
    of_signal = SignalMapping(place, str(place), signal, "1", 1.0, 1.0, 0.0, -1.0, 1.0)
    message = MessageMapping(STICK, "in", STICK, _PERIOD, _TIMEOUT, (of_signal,))
    return BridgeMapping("latency trial", "joystick", "", {STICK: DeviceRule(STICK, None, "*")}, messages=(message,))


RIGS: dict[str, Callable[..., Any]] = {
    "can": can_rig,
    "serial": serial_rig,
    "udp": udp_rig,
    "modbus": modbus_rig,
    "opcua": opcua_rig,
    "joystick": joystick_rig,
    "fmu": fmu_rig,
}


def _incoming(source: Any, place: Any) -> dict[str, Any]:
    signal = {"source": place, "signal": COMMAND, "scale": 1.0 / FULL, "range": [-1.0, 1.0], "safe": 0.0}
    message = {"name": STICK, "direction": "in", "period": _PERIOD, "signals": [signal]}
    return message if source is None else {**message, "source": source}


def _outgoing(target: Any, place: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    signal = {"target": place, "signal": OBEYED, "scale": 1.0 / FULL}
    message = {"name": REPLY, "direction": "out", "period": 1.0 / options["rate"], "signals": [signal]}
    return message if target is None else {**message, "target": target}


def _frames(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    form = {"fields": {"y": "i16"}}
    command = {**_incoming({"kind": 1, **form}, "y"), "counter": {"profile": "u16"}}
    return command, _outgoing({"kind": 2, **form}, "y", options)


def _loaded(folder: Path, bridge: str, interface: Mapping[str, Any], *messages: Mapping[str, Any]) -> BridgeMapping:
    file = folder / "mapping.yaml"
    whole = {"version": 1, "bridge": bridge, "interface": interface, "timeout": _TIMEOUT, "messages": list(messages)}
    file.write_text(yaml.safe_dump(whole))
    return load_bridge_mapping(file)


@contextmanager
def _terminal() -> Iterator[tuple[int, str]]:
    """The end of a pseudo-terminal for the hand, and the path of the other one."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    tty.setraw(theirs)
    try:
        yield ours, os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


def _free_ports(kind: int, count: int) -> list[int]:
    sockets = [socket.socket(socket.AF_INET, kind) for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _device(file: Path, rule: DeviceRule, stick: socket.socket) -> OpenDevice:
    return OpenDevice(
        DeviceIdentity(str(file), "stick of the trial", 0, 0),
        stick.fileno(),
        {AXIS: AxisRange(-FULL, FULL)},
        reports_time=False,
        report_period=rule.report_period,
        ask=lambda: ({}, set()),
        end=stick.close,
    )
