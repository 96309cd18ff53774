"""Hardware in the loop: from a stick in another process to the force, late steps, and what a message costs."""

import os
import time
from collections.abc import Callable

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target, alternating_medians
from grouser.benchmarks.ros import process, require_fast_dds
from grouser.bridges.bridge import Bridge
from grouser.bridges.histogram import distribution_of
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.messages import Received
from grouser.bridges.scheduling import Scheduling
from grouser.bridges.trials.latency_trial import LatencyReport, run_joystick
from grouser.bridges.trials.stimulus import FULL, raw_value

DESCRIPTION = "a stick in another process to the force of an excavator, late steps at 1 kHz, the cost of a message"

_MACHINE, _VALVE, _STEP = "excavator", "boom_valve", 0.001
_EVENTS, _INTERVAL = 1000, 0.007
_REPEATS, _MESSAGES = 15, 500
_RATE = 1000.0  # [1/s] messages a second of which a share of a core is told
_MAPPING = "gamepad"


def run() -> list[Figure]:
    """Measures with SCHED_FIFO where the system gives it."""
    simulation = grouser.Simulation(
        grouser.load_machine(catalogue.machine_file(_MACHINE)),
        grouser.load_world(catalogue.world_file("flat")),
        step=_STEP,
    )
    simulation.step(1)
    simulation.reset()
    scheduling = Scheduling("fifo", 50, lock_memory=True)
    report = run_joystick(simulation, _VALVE, _EVENTS, _INTERVAL, scheduling, 0.0)
    return [*_latencies(report), _joy(), _cost()]


def _latencies(report: LatencyReport) -> list[Figure]:
    details: dict[str, float | int | str] = {
        "scheduling": report.granted.policy,
        "memory locked": str(report.granted.memory_locked),
        "events": report.sent,
        "load of the machine": report.load_average,
        "share of a core, with physics": report.cpu_share,
    }
    command, force, late = report.event_to_command, report.event_to_force, report.lateness
    share = 100.0 * report.late_steps / late.count
    return [
        Figure(
            "stick event to command, p99",
            1e3 * command.p99,
            "ms",
            details={**details, "p50 [ms]": 1e3 * command.p50, "max [ms]": 1e3 * command.largest, "lost": report.lost},
            targets=(Target("p99 [ms]", 1e3 * command.p99, 2.0),),
        ),
        Figure(
            "stick event to force, p99",
            1e3 * force.p99,
            "ms",
            details={**details, "p50 [ms]": 1e3 * force.p50, "max [ms]": 1e3 * force.largest},
            targets=(Target("p99 [ms]", 1e3 * force.p99, 1e3 * _STEP + 2.0),),
        ),
        Figure(
            "steps later than a step at 1 kHz",
            share,
            "%",
            details={**details, "steps": late.count, "worst [ms]": 1e3 * late.largest, "p99 [ms]": 1e3 * late.p99},
            targets=(Target("late steps [%]", share, 0.1),),
        ),
    ]


def _joy() -> Figure:
    """From a stick in one process through a bridge in another to a subscriber of joy in a third."""
    require_fast_dds()
    with process("watch_joy") as watch, process("stick", str(_EVENTS), repr(_INTERVAL)) as stick:
        events = stick.request("measure")
        arrivals = {round(FULL * axis): time for axis, time in watch.request("measure")}
    delays = [arrivals[raw] - event for number, event in enumerate(events) if (raw := raw_value(number)) in arrivals]
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


class _Plant:
    """Takes commands and does nothing."""

    def command(self, values):
        pass

    def measure(self, names):
        return {}


def _many(mapping: BridgeMapping, message: MessageMapping) -> Callable[[], None]:
    values = {signal.field: 0.0 for signal in message.signals}

    def work() -> None:
        bridge = Bridge(mapping, _Plant(), lambda name, sent: True)
        for _ in range(_MESSAGES):
            bridge.receive(Received(message.name, time.monotonic(), values))

    return work
