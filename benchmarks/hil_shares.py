"""Shares of a core that bridges take in this process, with their peers in others."""

import os
import socket
import statistics
import subprocess
import sys
import time
import tty
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from grouser import catalogue
from grouser.benchmarks.figure import Figure, SkippedError, Target
from grouser.benchmarks.hil_peers import COMMANDS, MEASUREMENTS, NODES, READ, WRITTEN
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.protocols import transport_of
from grouser.bridges.runner import BridgeRunner

_WINDOWS, _WINDOW = 8, 1.0  # [s]
_START = 30.0  # [s] until a link is live
_SIGNALS = [f"joy/axis_{number}" for number in range(16)]


class QuietPlant:
    """Takes commands and shows constants."""

    def command(self, values):
        pass

    def measure(self, names):
        return dict.fromkeys(names, 0.25)


def shares() -> list[Figure]:
    """Of CAN with decoding, of Modbus and of OPC UA."""
    return [_can(1000.0), _modbus(100.0), _opcua(20.0)]


def _can(rate: float) -> Figure:
    ours, theirs = os.openpty()
    tty.setraw(ours)
    tty.setraw(theirs)
    interface = {
        "interface": "slcan",
        "channel": os.ttyname(theirs),
        "database": str(Path(catalogue.bridge_file("excavator_ecu")).with_name("excavator.dbc")),
        "options": {"sleep_after_open": 0.01, "timeout": 0.02},
    }
    signals = [
        {"source": f"{name}Spool", "signal": signal, "scale": 0.01, "range": [-1, 1], "safe": 0.0}
        for name, signal in zip(("Boom", "Stick", "Bucket", "Swing"), _SIGNALS, strict=False)
    ]
    message = {
        "source": {"message": "EcuCommand"},
        "counter": {"profile": "e2e_5"},
        "checksum": {"profile": "e2e_5", "data_id": 0x1234},
    }
    try:
        with _bridge("can", interface, _incoming(rate, signals, message)) as runner:
            return _share(f"CAN, {rate:g} frames a second", runner, rate, 10.0, ours)
    finally:
        os.close(ours)
        os.close(theirs)


def _modbus(rate: float) -> Figure:
    port = _free_port()
    interface = {"role": "server", "port": port, "writable": [[COMMANDS, COMMANDS + WRITTEN - 1]]}
    written = [
        {"source": COMMANDS + 1 + number, "signal": _SIGNALS[number], "scale": 0.001, "range": [-1, 1], "safe": 0.0}
        for number in range(WRITTEN - 1)
    ]
    read = [
        {"target": MEASUREMENTS + number, "signal": _SIGNALS[number % len(_SIGNALS)], "scale": 0.001}
        for number in range(READ - 1)
    ]
    messages = (
        _incoming(rate, written, {"source": {"heartbeat": COMMANDS}}),
        _outgoing(rate, read, {"target": {"heartbeat": MEASUREMENTS + READ - 1}}),
    )
    with _bridge("modbus", interface, *messages) as runner:
        return _share(f"Modbus, {READ} read and {WRITTEN} written at {rate:g} Hz", runner, rate, 3.0, port)


def _opcua(rate: float) -> Figure:
    port = _free_port()
    signals = [{"target": f"V{number}", "signal": _SIGNALS[number % len(_SIGNALS)]} for number in range(NODES)]
    with _bridge("opcua", {"role": "server", "port": port}, _outgoing(rate, signals, {})) as runner:
        return _share(f"OPC UA, {NODES} nodes at {rate:g} Hz", runner, rate, 5.0, port)


def _incoming(rate: float, signals: list[dict[str, Any]], more: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "command", "direction": "in", "period": 1.0 / rate, "signals": signals, **more}


def _outgoing(rate: float, signals: list[dict[str, Any]], more: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "state", "direction": "out", "period": 1.0 / rate, "signals": signals, **more}


@contextmanager
def _bridge(kind: str, interface: Mapping[str, Any], *messages: Mapping[str, Any]) -> Iterator[BridgeRunner]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "mapping.yaml")
        whole = {"version": 1, "bridge": kind, "interface": interface, "timeout": 1.0, "messages": list(messages)}
        file.write_text(yaml.safe_dump(whole))
        mapping = load_bridge_mapping(file)
    runner = BridgeRunner(mapping, transport_of(mapping), QuietPlant())
    runner.start()
    try:
        _wait(lambda: runner.transport.state.is_open, "open")
        yield runner
    finally:
        runner.stop()


def _share(name: str, runner: BridgeRunner, rate: float, most: float, place: int) -> Figure:
    """Share of a core while the peer works."""
    kind = name.partition(",")[0].lower().replace(" ", "")
    peer = subprocess.Popen(
        [sys.executable, "-m", "grouser.benchmarks.hil_peers", kind, repr(rate), str(place)],
        pass_fds=[place] if kind == "can" else [],
    )
    inputs, outputs = runner.bridge.figures.inputs, runner.bridge.figures.outputs
    try:
        _wait(lambda: all(state is LinkState.LIVE for state in runner.bridge.states.values()), "live")
        time.sleep(_WINDOW)
        taken, started, obeyed = [], time.monotonic(), sum(one.obeyed for one in inputs.values())
        for _ in range(_WINDOWS):
            wall, computed = time.monotonic(), time.process_time()
            time.sleep(_WINDOW)
            taken.append(100.0 * (time.process_time() - computed) / (time.monotonic() - wall))
        passed = time.monotonic() - started
        obeyed = sum(one.obeyed for one in inputs.values()) - obeyed
    finally:
        peer.kill()
        peer.wait()
    share = statistics.median(taken)
    details: dict[str, float | int | str] = {
        "obeyed a second": obeyed / passed,
        "refused": sum(sum(one.refused.values()) for one in inputs.values()),
        "sent": sum(one.sent for one in outputs.values()),
        "load of the machine": os.getloadavg()[0],
    }
    return Figure(name, share, "%", details=details, targets=(Target("share of a core [%]", share, most),))


def _wait(holds, what: str) -> None:
    end = time.monotonic() + _START
    while not holds():
        if time.monotonic() > end:
            raise SkippedError(f"a bridge is not {what} after {_START:g} s")
        time.sleep(0.02)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
