"""Hardware in the loop: from a stick or a frame in another process to the force, late steps, and shares of a core."""

import os
import time
from collections.abc import Callable

import numpy as np

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target, alternating_medians
from grouser.benchmarks.hil_shares import QuietPlant, shares
from grouser.benchmarks.ros import Windows, process, require_fast_dds
from grouser.bridges.bridge import Bridge
from grouser.bridges.histogram import Distribution, distribution_of
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.messages import Received
from grouser.bridges.scheduling import Scheduling
from grouser.bridges.trials.hands import FULL
from grouser.bridges.trials.latency_trial import LatencyReport, LatencySettings, run_latency

DESCRIPTION = "a stick or a CAN frame of another process to the force, late steps, shares of a core, jitter of /clock"

_MACHINE, _VALVE, _STEP = "excavator", "boom_valve", 0.001
_EVENTS, _INTERVAL = 1000, 0.007
_REPEATS, _MESSAGES = 15, 500
_RATE = 1000.0  # [1/s] messages a second of which a share of a core is told
_MAPPING = "gamepad"
_LISTENED = "demolition_robot"  # of which everything is published and heard


def run() -> list[Figure]:
    """Measures with SCHED_FIFO where the system gives it."""
    simulation = grouser.Simulation(
        grouser.load_machine(catalogue.machine_file(_MACHINE)),
        grouser.load_world(catalogue.world_file("flat")),
        step=_STEP,
    )
    simulation.step(1)
    simulation.reset()
    stick, bus = (_latency(simulation, bridge) for bridge in ("joystick", "can"))
    return [
        _latency_figure("stick event to command, p99", stick, stick.event_to_command, 2.0),
        _latency_figure("stick event to force, p99", stick, stick.event_to_force, 1e3 * _STEP + 2.0),
        _latency_figure("CAN frame to force, p99", bus, bus.event_to_force, 1e3 * _STEP + 2.0),
        _latency_figure("CAN frame to reply, p99", bus, bus.loop, None),
        _late_steps(stick, bus),
        _joy(),
        _cost(),
        *shares(),
        _clock(),
    ]


def _latency(simulation: grouser.Simulation, bridge: str) -> LatencyReport:
    """With SCHED_FIFO and locked memory, where the system gives them."""
    settings = LatencySettings(bridge, "", 100.0, _EVENTS, _INTERVAL, Scheduling("fifo", 50, lock_memory=True))
    return run_latency(simulation, _VALVE, settings)


def _details(report: LatencyReport) -> dict[str, float | int | str]:
    return {
        "scheduling": report.granted.policy,
        "memory locked": str(report.granted.memory_locked),
        "events": report.sent,
        "lost": report.lost,
        "load of the machine": report.load_average,
        "share of a core, with physics": report.cpu_share,
    }


def _latency_figure(name: str, report: LatencyReport, times: Distribution, most: float | None) -> Figure:
    p99 = 1e3 * times.p99
    details = {**_details(report), "p50 [ms]": 1e3 * times.p50, "max [ms]": 1e3 * times.largest}
    return Figure(name, p99, "ms", details=details, targets=() if most is None else (Target("p99 [ms]", p99, most),))


def _late_steps(*reports: LatencyReport) -> Figure:
    count, late = (
        sum(values) for values in zip(*((one.lateness.count, one.late_steps) for one in reports), strict=True)
    )
    share = 100.0 * late / count
    worst, p99 = (
        max(values) for values in zip(*((one.lateness.largest, one.lateness.p99) for one in reports), strict=True)
    )
    return Figure(
        "steps later than a step at 1 kHz",
        share,
        "%",
        details={**_details(reports[0]), "steps": count, "worst [ms]": 1e3 * worst, "p99 [ms]": 1e3 * p99},
        targets=(Target("late steps [%]", share, 0.1),),
    )


def _clock() -> Figure:
    """Jitter of /clock at its sender while everything is published and heard, with SCHED_FIFO and without."""
    jitters = {}
    for policy in ("fifo", "other"):
        settings = [f'scheduling="{policy}"', "priority=50", f"lock_memory={str(policy == 'fifo').lower()}"]
        with process("simulate", _LISTENED, *settings) as simulator, process("listen"):
            jitters[policy] = 1e3 * np.abs(np.diff(Windows(simulator).lateness))
    p99 = float(np.percentile(jitters["fifo"], 99.0))
    return Figure(
        "jitter of /clock at its sender, p99",
        p99,
        "ms",
        "without SCHED_FIFO",
        float(np.percentile(jitters["other"], 99.0)),
        {
            "median [ms]": float(np.median(jitters["fifo"])),
            "largest [ms]": float(jitters["fifo"].max()),
            "load of the machine": os.getloadavg()[0],
        },
        (Target("p99 [ms]", p99, 1.0),),
    )


def _joy() -> Figure:
    """From a stick in one process through a bridge in another to a subscriber of joy in a third."""
    require_fast_dds()
    with process("watch_joy") as watch, process("stick", str(_EVENTS), repr(_INTERVAL)) as stick:
        events = dict(stick.request("measure"))
        arrivals = {round(FULL * axis): time for axis, time in watch.request("measure")}
    delays = [arrivals[raw] - event for raw, event in events.items() if raw in arrivals]
    figures = distribution_of(delays)
    return Figure(
        "stick event to Joy, p99",
        1e3 * figures.p99,
        "ms",
        details={
            "p50 [ms]": 1e3 * figures.p50,
            "max [ms]": 1e3 * figures.largest,
            "events": len(events),
            "heard": len(delays),
            "load of the machine": os.getloadavg()[0],
        },
        targets=(Target("p99 [ms]", 1e3 * figures.p99, 2.0),),
    )


def _cost() -> Figure:
    """Processor time of a message of the gamepad in the bridge: 21 signals, judged, mapped and commanded."""
    mapping = load_bridge_mapping(catalogue.bridge_file(_MAPPING))
    (message,) = mapping.incoming
    (taken,) = alternating_medians(_REPEATS, _many(mapping, message))
    cost = taken / _MESSAGES
    return Figure(
        f"a message of {len(message.signals)} signals in the bridge",
        1e6 * cost,
        "us",
        details={"load of the machine": os.getloadavg()[0]},
        targets=(Target("share of a core at 1000 a second [%]", 100.0 * cost * _RATE, 10.0),),
    )


def _many(mapping: BridgeMapping, message: MessageMapping) -> Callable[[], None]:
    values = {signal.field: 0.0 for signal in message.signals}

    def work() -> None:
        bridge = Bridge(mapping, QuietPlant(), lambda name, sent: True)
        for _ in range(_MESSAGES):
            bridge.receive(Received(message.name, time.monotonic(), values))

    return work
