"""Reads mapping files; docs/bridges.md describes the language."""

import math
from pathlib import Path

import yaml

from grouser.bridges.checksums import PROFILES
from grouser.bridges.counters import MODULI
from grouser.bridges.mapping import checks
from grouser.bridges.mapping.data import (
    BridgeMapping,
    ChecksumRule,
    CounterRule,
    Direction,
    Enable,
    MessageMapping,
    SignalMapping,
)
from grouser.bridges.mapping.signals import commands_of, measurements_of
from grouser.bridges.mapping.units import UNITS, units_of
from grouser.bridges.plant import Signal
from grouser.bridges.protocols import KINDS, Schema, schema_of
from grouser.catalogue import machine_file
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.yaml_reader import Reader, compose

VERSION = 1
_TOP_KEYS = ("version", "bridge", "machine", "interface", "timeout", "recovery", "good", "messages")
_MESSAGE_KEYS = ("name", "direction", "source", "target", "period", "timeout", "counter", "checksum", "signals")
_SIGNAL_KEYS = (
    *("source", "target", "signal", "scale", "offset", "unit", "range", "safe", "neutral", "rate"),
    *("sensor_fault", "enable"),
)
_DIRECTIONS: tuple[Direction, ...] = ("in", "out")
_OF_DIRECTION = {"in": "source", "out": "target"}
# Keys that only one direction has.
_ONLY_IN = ("safe", "neutral", "rate", "enable")
_ONLY_OUT = ("sensor_fault",)
_HOLD = "hold"
_PERIODS = (0.0005, 10.0)  # [s]
_TIMEOUTS = (0.001, 60.0)  # [s]
_PERIODS_IN_TIMEOUT = 2.0
_GOOD = (1, 100)
_JUMPS = (1, 100)
_DATA_IDS = (0, 65535)


def load_bridge_mapping(path: str | Path) -> BridgeMapping:
    """Reads a mapping file and the machine that it names.

    Raises:
        MachineError: the file, the machine or what the protocol reads is not valid; names file, line, key and remedy.
        ParameterError: a package that the protocol needs is not installed.
    """
    root = compose(Path(path), "mapping")
    if root is None:
        raise MachineError("the file is empty", file=path, remedy="docs/bridges.md shows one")
    return _MappingReader(str(path)).bridge_mapping(root)


class _MappingReader(Reader):
    """Reads the parts of a mapping from the nodes of one file."""

    _schema: Schema
    _commands: dict[str, Signal]
    _measurements: dict[str, Signal]

    def bridge_mapping(self, root: yaml.Node) -> BridgeMapping:
        name = "mapping"
        nodes = self.mapping(root, name, _TOP_KEYS)
        self._whole(self.required(nodes, "version", root, name), "version", VERSION, VERSION)
        kind = self.choice(self.required(nodes, "bridge", root, name), "bridge", tuple(KINDS))
        self._schema = schema_of(kind)
        machine_name, machine = self._machine(nodes["machine"]) if "machine" in nodes else ("", None)
        self._commands, self._measurements = commands_of(machine), measurements_of(machine)
        interface = self._schema.read_interface(self, nodes.get("interface", _empty(root)))
        entries = self.items(self.required(nodes, "messages", root, name), "messages")
        if not entries:
            raise self.error(nodes["messages"], "messages", "the list is empty", "add - {name: ..., direction: in}")
        timeout = self.number(nodes["timeout"], "timeout", *_TIMEOUTS) if "timeout" in nodes else None
        messages = tuple(self._message(entry, interface, timeout) for entry in entries)
        checks.check_names(self, [(message.name, node) for message, node in zip(messages, entries, strict=True)])
        recovery = "automatic"
        if "recovery" in nodes:
            recovery = self.choice(nodes["recovery"], "recovery", ("automatic", "acknowledge"))
        mapping = BridgeMapping(
            file=self.file,
            bridge=kind,
            machine=machine_name,
            interface=interface,
            recovery="acknowledge" if recovery == "acknowledge" else "automatic",
            good=self._whole(nodes["good"], "good", *_GOOD) if "good" in nodes else 3,
            messages=messages,
        )
        checks.check_writers(mapping)
        checks.check_fields(mapping)
        self._schema.check(mapping)
        return mapping

    def _machine(self, node: yaml.Node) -> tuple[str, Machine]:
        name = self.text(node, "machine")
        try:
            file = machine_file(name)
        except MachineError as error:
            raise self.error(node, "machine", error.problem, error.remedy) from None
        if name.endswith((".urdf", ".xacro")):
            file = self.path(node, "machine")
        return str(file) if name.endswith((".urdf", ".xacro")) else name, load_machine(file)

    def _message(self, node: yaml.Node, interface: object, timeout: float | None) -> MessageMapping:
        nodes = self.mapping(node, "message", _MESSAGE_KEYS)
        name = self.text(self.required(nodes, "name", node, "message"), "name")
        label = f"message {name}"
        direction = self._direction(self.required(nodes, "direction", node, label))
        self._refuse_other(nodes, label, direction)
        place = _OF_DIRECTION[direction]
        address = self._schema.read_address(self, nodes.get(place, _empty(node)), direction, interface)
        period = self.number(self.required(nodes, "period", node, label), f"{label} period", *_PERIODS)
        entries = self.items(self.required(nodes, "signals", node, label), f"{label} signals")
        if not entries:
            raise self.error(nodes["signals"], label, "it has no signals", "add - {signal: ...}, or remove the message")
        return MessageMapping(
            name=name,
            direction=direction,
            address=address,
            period=period,
            timeout=self._timeout(node, nodes, label, timeout, period) if direction == "in" else 0.0,
            signals=tuple(self._signal(entry, label, direction, address, interface) for entry in entries),
            counter=self._counter(nodes["counter"], label) if "counter" in nodes else None,
            checksum=self._checksum(nodes["checksum"], label) if "checksum" in nodes else None,
            line=node.start_mark.line + 1,
        )

    def _direction(self, node: yaml.Node) -> Direction:
        word = self.choice(node, "direction", _DIRECTIONS)
        return "in" if word == "in" else "out"

    def _refuse_other(self, nodes: dict[str, yaml.Node], label: str, direction: Direction) -> None:
        """Refuses the key `source` or `target` of the other direction."""
        other = "target" if direction == "in" else "source"
        if other in nodes:
            remedy = f"write {_OF_DIRECTION[direction]}, or change the direction"
            raise self.error(nodes[other], label, f"key '{other}' does not go with direction {direction}", remedy)

    def _timeout(
        self, node: yaml.Node, nodes: dict[str, yaml.Node], label: str, timeout: float | None, period: float
    ) -> float:
        if "timeout" in nodes:
            node = nodes["timeout"]
            timeout = self.number(node, f"{label} timeout", *_TIMEOUTS)
        if timeout is None:
            raise self.error(node, label, "key 'timeout' is missing", "add timeout: ... here or at the top")
        if timeout < _PERIODS_IN_TIMEOUT * period * (1.0 - 1e-9):
            raise self.error(
                node,
                label,
                f"timeout {timeout:g} is shorter than two periods of {period:g} s; valid: {2.0 * period:g} or more",
                "one late message must not stop the machine",
            )
        return timeout

    def _counter(self, node: yaml.Node, label: str) -> CounterRule:
        nodes = self.mapping(node, f"{label} counter", ("profile", "max_jump"))
        profile = self.choice(self.required(nodes, "profile", node, f"{label} counter"), "profile", tuple(MODULI))
        highest = min(_JUMPS[1], MODULI[profile] // 2)
        jump = self._whole(nodes["max_jump"], "max_jump", _JUMPS[0], highest) if "max_jump" in nodes else 3
        return CounterRule(profile, jump)

    def _checksum(self, node: yaml.Node, label: str) -> ChecksumRule:
        nodes = self.mapping(node, f"{label} checksum", ("profile", "data_id"))
        profile = self.choice(self.required(nodes, "profile", node, f"{label} checksum"), "profile", tuple(PROFILES))
        if profile.startswith("e2e"):
            return ChecksumRule(profile, self._hexadecimal(self.required(nodes, "data_id", node, f"{label} checksum")))
        if "data_id" in nodes:
            raise self.error(nodes["data_id"], f"{label} checksum", f"{profile} has no data id", "remove it")
        return ChecksumRule(profile)

    def _hexadecimal(self, node: yaml.Node) -> int:
        text = self.text(node, "data_id")
        if text.lower().startswith("0x"):
            try:
                value = int(text, 16)
            except ValueError:
                raise self.error(node, "data_id", f"{shortened(text)} is not a number") from None
            if not _DATA_IDS[0] <= value <= _DATA_IDS[1]:
                raise self.error(node, "data_id", f"{text} is out of range; valid: 0 to 0xFFFF")
            return value
        return self._whole(node, "data_id", *_DATA_IDS)

    def _signal(
        self, node: yaml.Node, label: str, direction: Direction, address: object, interface: object
    ) -> SignalMapping:
        nodes = self.mapping(node, f"{label} signal", _SIGNAL_KEYS)
        self._refuse_other(nodes, label, direction)
        self._refuse_foreign(nodes, label, direction)
        key = _OF_DIRECTION[direction]
        place = self._schema.read_field(self, self.required(nodes, key, node, label), direction, address, interface)
        signal = self._machine_signal(self.required(nodes, "signal", node, label), direction)
        label = f"signal {signal.name}"
        unit = self._unit(nodes["unit"], signal) if "unit" in nodes else signal.unit
        scale, offset = self._scale(nodes, label), self.number(nodes["offset"], label) if "offset" in nodes else 0.0
        held = checks.held_range(place.limits or (-math.inf, math.inf), scale, offset)
        low, high = held
        if direction == "in" or "range" in nodes:
            low, high = self._range(node, nodes, signal, UNITS[unit].factor, direction)
            if not checks.fits(low, high, held):
                raise self.error(
                    nodes.get("range", node),
                    label,
                    f"range [{low:g}, {high:g}] {unit} is more than '{place}' can hold: {held[0]:g} to {held[1]:g}",
                    "narrow the range, or change scale and offset",
                )
        return SignalMapping(
            place=place,
            field=str(place),
            signal=signal.name,
            unit=unit,
            factor=UNITS[unit].factor,
            scale=scale,
            offset=offset,
            low=low,
            high=high,
            safe=self._safe(node, nodes, signal, low, high) if direction == "in" else 0.0,
            neutral=self.number(nodes["neutral"], f"{label} neutral", 0.0) if "neutral" in nodes else 0.0,
            rate=self._rate(nodes["rate"], label) if "rate" in nodes else math.inf,
            sensor_fault=self.boolean(nodes["sensor_fault"], label) if "sensor_fault" in nodes else True,
            enable=self._enable(nodes["enable"], label, address, interface) if "enable" in nodes else None,
            line=node.start_mark.line + 1,
        )

    def _refuse_foreign(self, nodes: dict[str, yaml.Node], label: str, direction: Direction) -> None:
        for key in _ONLY_OUT if direction == "in" else _ONLY_IN:
            if key in nodes:
                raise self.error(nodes[key], label, f"key '{key}' does not go with direction {direction}", "remove it")

    def _machine_signal(self, node: yaml.Node, direction: Direction) -> Signal:
        name = self.text(node, "signal")
        valid, others = self._commands, self._measurements
        if direction == "out":
            valid, others = others, valid
        if name in valid:
            return valid[name]
        if name in others:
            what = "is measured, not commanded" if direction == "in" else "is commanded, not measured"
            raise self.error(node, "signal", f"{shortened(name)} {what}", closest(name, valid))
        raise self.error(node, "signal", f"the machine has no signal {shortened(name)}", _nearest(name, valid))

    def _unit(self, node: yaml.Node, signal: Signal) -> str:
        name = self.choice(node, "unit", tuple(UNITS))
        if UNITS[name].si != signal.unit:
            valid = ", ".join(units_of(signal.unit))
            raise self.error(node, f"signal {signal.name}", f"unit '{name}' does not fit; valid: {valid}")
        return name

    def _scale(self, nodes: dict[str, yaml.Node], label: str) -> float:
        if "scale" not in nodes:
            return 1.0
        scale = self.number(nodes["scale"], f"{label} scale")
        if scale == 0.0:
            raise self.error(
                nodes["scale"], label, "scale 0 moves nothing", "give another number, or remove the signal"
            )
        return scale

    def _range(
        self, node: yaml.Node, nodes: dict[str, yaml.Node], signal: Signal, factor: float, direction: Direction
    ) -> tuple[float, float]:
        label = f"signal {signal.name}"
        low, high = self.pair(self.required(nodes, "range", node, label), f"{label} range")
        if not low < high:
            raise self.error(nodes["range"], label, f"range [{low:g}, {high:g}] is empty", "write [low, high]")
        if direction == "in" and not checks.fits(low * factor, high * factor, (signal.low, signal.high)):
            valid = f"{signal.low / factor:g} to {signal.high / factor:g}"
            raise self.error(
                nodes["range"], label, f"range [{low:g}, {high:g}] is more than the machine takes; valid: {valid}"
            )
        return low, high

    def _safe(
        self, node: yaml.Node, nodes: dict[str, yaml.Node], signal: Signal, low: float, high: float
    ) -> float | None:
        label = f"signal {signal.name}"
        safe = self.required(nodes, "safe", node, label)
        if isinstance(safe, yaml.ScalarNode) and safe.value == _HOLD:
            if not signal.name.endswith("/position"):
                raise self.error(safe, label, "'hold' is not safe here; valid: of a joint's position", "give a number")
            return None
        value = self.number(safe, f"{label} safe")
        if not low <= value <= high:
            raise self.error(safe, label, f"safe {value:g} is outside its range; valid: {low:g} to {high:g}")
        return value

    def _rate(self, node: yaml.Node, label: str) -> float:
        rate = self.number(node, f"{label} rate")
        if not rate > 0.0:
            raise self.error(node, label, f"rate {rate:g} is out of range; valid: above 0")
        return rate

    def _enable(self, node: yaml.Node, label: str, address: object, interface: object) -> Enable:
        nodes = self.mapping(node, f"{label} enable", ("source", "value"))
        source = self.required(nodes, "source", node, f"{label} enable")
        place = self._schema.read_field(self, source, "in", address, interface)
        value = self.number(self.required(nodes, "value", node, f"{label} enable"), f"{label} enable")
        return Enable(place, str(place), value)

    def _whole(self, node: yaml.Node, name: str, low: int, high: int) -> int:
        value = self.number(node, name, low, high)
        if value != int(value):
            raise self.error(node, name, f"{value:g} is not a whole number; valid: {low} to {high}")
        return int(value)


def _empty(node: yaml.Node) -> yaml.Node:
    """An empty mapping in the place of a node."""
    return yaml.MappingNode("tag:yaml.org,2002:map", [], node.start_mark, node.end_mark)


def _nearest(name: str, valid: dict[str, Signal]) -> str:
    """The nearest names, of those that begin alike if there are any."""
    group = [one for one in valid if one.partition("/")[0] == name.partition("/")[0]]
    return closest(name, group or valid)
