"""Joysticks as a transport: several devices, plugged in and out, their state repeated by a timer."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grouser.bridges.joystick.device import OpenDevice, is_gone
from grouser.bridges.joystick.feedback import ForceFeedback
from grouser.bridges.joystick.fields import JoystickField, values_of
from grouser.bridges.joystick.finding import (
    INPUT_FOLDER,
    DeviceRefusedError,
    event_files,
    is_event_file,
    open_device,
)
from grouser.bridges.joystick.schema import DeviceRule
from grouser.bridges.joystick.watch import FolderWatch
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.receiving import tell_of_failures
from grouser.bridges.transport import TransportError

GONE, SILENT = "device gone", "device silent"
_LONGEST_WAIT = 0.5  # [s]

Read = Callable[[float], Iterator[None]]
Opener = Callable[[Path, DeviceRule], OpenDevice | None]


def make_transport(mapping: BridgeMapping) -> "JoystickTransport":
    """Makes the transport of a mapping."""
    return JoystickTransport(mapping)


class JoystickTransport:
    """Says the state of joysticks: at every report, and in the period of each message while the device is alive.

    Args:
        mapping: with the rules of the devices as its interface.
        folder: of the devices' files.
        opener: opens a file if it fits a rule; raises OSError or DeviceRefusedError.

    Attributes:
        folder, opener: as given.
        rules: of the devices, by their names in the mapping.
        messages: device -> name, period and fields of its messages.
        found: device -> what was found, in words.
        felt: outgoing message -> device, period and fields.
        motors: of the devices that are open; changed and used with `motors_lock`, so that none is closed meanwhile.
    """

    def __init__(self, mapping: BridgeMapping, folder: Path = INPUT_FOLDER, opener: Opener = open_device) -> None:
        self.folder, self.opener = folder, opener
        self.messages: dict[str, list[tuple[str, float, tuple[JoystickField, ...]]]] = {}
        self.felt = {one.name: (one.address, one.period, tuple(one.places)) for one in mapping.outgoing}
        self.motors: dict[str, ForceFeedback | None] = {}
        self.motors_lock = threading.Lock()
        for message in mapping.incoming:
            places: list[Any] = [signal.place for signal in message.signals]
            places += [signal.enable.place for signal in message.signals if signal.enable is not None]
            fields = tuple(dict.fromkeys(places))
            self.messages.setdefault(message.address, []).append((message.name, message.period, fields))
        self.rules: Mapping[str, DeviceRule] = {
            name: replace(rule, used=self._used(name)) for name, rule in mapping.interface.items()
        }
        self._thread: threading.Thread | None = None
        self._wake = -1
        self.found: dict[str, str] = dict.fromkeys(self.rules, "absent")

    def _used(self, device: str) -> frozenset[str]:
        return frozenset(one.name for _, _, fields in self.messages.get(device, []) for one in fields)

    @property
    def facts(self) -> Mapping[str, str]:
        """Which device was taken for each rule, and how its link is judged."""
        return dict(self.found)

    def open(self, sink: Sink) -> None:
        """Watches for devices, and opens those that are there."""
        try:
            watch = FolderWatch(self.folder)
        except OSError as error:
            raise TransportError(f"{self.folder}: {error.strerror}: this computer has no input devices") from None
        wake, self._wake = os.pipe()
        reader = _DeviceReader(self, sink, watch, wake)
        self._thread = threading.Thread(target=reader.run, name="joysticks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Closes all devices."""
        if self._thread is not None:
            os.close(self._wake)
            self._thread.join()
            self._thread = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """Plays force feedback; False where the device is absent or has no such motor, too."""
        device, period, _ = self.felt[message]
        with self.motors_lock:
            motors = self.motors.get(device)
            try:
                return motors is not None and motors.play(values, period)
            except OSError:  # it is gone, which its reader notices, too, or has no room for another effect
                return False


class _DeviceReader:
    """Reads all devices in one thread, until the other end of the pipe `wake` is closed."""

    def __init__(self, owner: JoystickTransport, sink: Sink, watch: FolderWatch, wake: int) -> None:
        self._owner = owner
        self._folder, self._opener = owner.folder, owner.opener
        self._rules, self._messages, self._facts = owner.rules, owner.messages, owner.found
        self._sink, self._watch, self._wake = sink, watch, wake
        self._devices: dict[str, OpenDevice] = {}
        self._due: dict[str, float] = {}  # message -> when it is said again
        self._silent: set[str] = set()

    def run(self) -> None:
        """Reads until it is closed; a failure goes to the sink."""
        try:
            tell_of_failures(self._read_all, self._sink, (OSError,), lambda error: f"{self._folder}: {error}")
        finally:
            for name in list(self._devices):
                self._drop(name, GONE)
            self._watch.close()
            os.close(self._wake)

    def _read_all(self) -> None:
        self._find(event_files(self._folder))
        while self._turn():
            pass

    def _turn(self) -> bool:
        """Waits for the next event and treats it; returns whether to go on."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        poll.register(self._watch.descriptor, select.POLLIN)
        reads: dict[int, tuple[str, Read]] = {}
        for name, device in self._devices.items():
            reads[device.descriptor] = (name, device.read)
            if device.raw is not None:
                reads[device.raw] = (name, device.read_raw)
        for descriptor in reads:
            poll.register(descriptor, select.POLLIN)
        happened = dict(poll.poll(1000.0 * self._wait()))
        if self._wake in happened:
            return False
        now = time.monotonic()
        for descriptor, (name, read) in reads.items():
            if descriptor in happened and name in self._devices:
                self._read(name, read, happened[descriptor], now)
        if self._watch.descriptor in happened:
            self._find([self._folder / name for name in self._watch.news() if is_event_file(name)])
        self._repeat(now)
        return True

    def _read(self, name: str, read: Read, happened: int, now: float) -> None:
        try:
            for _ in read(now):
                self._say(name, now)
            if is_gone(happened) and not happened & select.POLLIN:
                raise OSError(GONE)
        except OSError:
            self._drop(name, GONE)

    def _find(self, files: list[Path]) -> None:
        """Opens the first device for each rule that has none."""
        for file in files:
            for name, rule in self._rules.items():
                if name in self._devices or any(one.identity.path == str(file) for one in self._devices.values()):
                    continue
                try:
                    device = self._opener(file, rule)
                except DeviceRefusedError as refusal:
                    self._facts[name] = f"refused: {refusal}"
                    continue
                except OSError as error:
                    self._facts[name] = f"{file}: {error.strerror}"
                    continue
                except ValueError as error:  # what it says of itself cannot be read
                    self._facts[name] = f"{file}: {error}"
                    continue
                if device is not None:
                    self._take(name, device)

    def _take(self, name: str, device: OpenDevice) -> None:
        now = time.monotonic()
        device.begin(now)
        self._devices[name] = device
        with self._owner.motors_lock:
            self._owner.motors[name] = device.feedback
        self._facts[name] = f"{device.identity}, liveness: {device.liveness}{self._lacking(name, device)}"
        for message, period, _ in self._messages.get(name, []):
            self._due[message] = now + period

    def _lacking(self, name: str, device: OpenDevice) -> str:
        """What the mapping sends to a device and it has no motor for, in words."""
        wanted = [field for to, _, fields in self._owner.felt.values() if to == name for field in fields]
        lacking = wanted if device.feedback is None else device.feedback.lacks(wanted)
        return f", without {', '.join(lacking)}" if lacking else ""

    def _drop(self, name: str, reason: str) -> None:
        with self._owner.motors_lock:
            self._owner.motors.pop(name)
            self._devices.pop(name).end()
        self._silent.discard(name)
        self._facts[name] = "absent"
        self._sink.lost(reason, time.monotonic(), self._names(name))

    def _names(self, name: str) -> list[str]:
        return [message for message, _, _ in self._messages.get(name, [])]

    def _say(self, name: str, now: float) -> None:
        device = self._devices[name]
        for message, period, fields in self._messages.get(name, []):
            self._due[message] = now + period
            self._sink.receive(Received(message, now, values_of(fields, device.axes, device.buttons, device.ranges)))

    def _repeat(self, now: float) -> None:
        """Says again what has not changed; tells once of a device whose link is lost."""
        for name, device in self._devices.items():
            if device.is_silent(now):
                if name not in self._silent:
                    self._silent.add(name)
                    self._sink.lost(SILENT, now, self._names(name))
                continue
            self._silent.discard(name)
            if any(now >= self._due[message] for message in self._names(name)):
                self._say(name, now)

    def _wait(self) -> float:
        """How long to wait for events [s]."""
        now = time.monotonic()
        alive = [name for name in self._devices if name not in self._silent]
        dues = [self._due[message] for name in alive for message in self._names(name)]
        return max(0.0, min([_LONGEST_WAIT, *(due - now for due in dues)]))
