"""The latency trial: from an event in another process to the force that it causes and back, through a whole bridge."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grouser.bridges.histogram import Distribution, distribution_of
from grouser.bridges.link import LinkState
from grouser.bridges.plant import Plant
from grouser.bridges.runner import BridgeRunner
from grouser.bridges.scheduling import Granted, Scheduling
from grouser.bridges.trials.rigs import RIGS, STICK, Rig, joystick_rig
from grouser.bridges.trials.stepping import SteppedPlant
from grouser.physics.simulation.simulation import Simulation

_DEADLINE = 60.0  # [s] until the link is live, and for the journal of an FMU beyond its events
_LAST = 0.2  # [s] in which the last event may be on its way


@dataclass(frozen=True)
class LatencySettings:
    """What a trial is about.

    Attributes:
        bridge: a name in `RIGS`.
        interface: of CAN: ``slcan``, or one of python-can with its channel, ``socketcan:vcan0``; "": the best there is.
        rate: of the replies [Hz].
        events: number of them, at most `hands.FULL`.
        interval: between two events [s]; each is later by its own share of a step, so that they are spread evenly. Of
            an FMU the communication step.
        scheduling: of physics, bridge and hand.
        spin: see `SteppedPlant` [s].
        seed: of the shares.
    """

    bridge: str
    interface: str
    rate: float
    events: int
    interval: float
    scheduling: Scheduling
    spin: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class LatencyReport:
    """What came of a trial; times in seconds.

    Attributes:
        event_to_command: from the event in the other process to the plant's command.
        command_to_force: from there to the end of the step that takes it; of commands that none replaced before.
        event_to_force: both together.
        force_to_reply: from there until the reply arrives that is the first to say so; a stick hears none.
        loop: from the event to that reply.
        lateness: of the starts of the steps.
        late_steps: steps that began later than a step.
        sent, obeyed, lost, duplicated: events; duplicated are those that were obeyed again after a later one.
        cpu_share: of one processor, by this process.
        granted: what the physics thread got.
        load_average: of the last minute.
    """

    event_to_command: Distribution
    command_to_force: Distribution
    event_to_force: Distribution
    force_to_reply: Distribution
    loop: Distribution
    lateness: Distribution
    late_steps: int
    sent: int
    obeyed: int
    lost: int
    duplicated: int
    cpu_share: float
    granted: Granted
    load_average: float


@dataclass(frozen=True)
class _Told:
    """What the hand did: raw deflection -> time [s]."""

    events: Mapping[int, float]
    replies: Mapping[int, float]


def run_latency(simulation: Simulation, valve: str, settings: LatencySettings) -> LatencyReport:
    """Moves a lever in another process while a machine steps.

    Args:
        simulation: of the machine, at its start.
        valve: that the lever commands.
        settings: of the trial.

    Raises:
        TimeoutError: the bridge does not become live.
    """
    plant = SteppedPlant(simulation, valve, settings.scheduling, settings.spin)
    options = {
        "interface": settings.interface,
        "rate": settings.rate,
        "events": settings.events,
        "interval": settings.interval,
    }
    with TemporaryDirectory() as name, RIGS[settings.bridge](Path(name), options) as rig:
        plant.start()
        try:
            started, computed, first = time.monotonic(), time.process_time(), len(plant.lateness)
            told = _move(rig, plant, settings, simulation.step_size)
            share = (time.process_time() - computed) / (time.monotonic() - started)
        finally:
            plant.stop()
    return _report(told, plant, plant.lateness[first:], simulation.step_size, share)


def move_stick(signal: str, plant: Plant, events: int, interval: float, scheduling: Scheduling) -> dict[int, float]:
    """Runs a joystick's bridge whose stick another process moves.

    Args:
        signal: that it commands.
        plant: that gets the commands: event n is the value (n + 1) / `hands.FULL`.
        events, interval: as in `LatencySettings`; spread over the interval.
        scheduling: of bridge and stick.

    Returns:
        When the events were by their raw deflections [s of CLOCK_MONOTONIC].
    """
    settings = LatencySettings("joystick", "", 100.0, events, interval, scheduling)
    with TemporaryDirectory() as name, joystick_rig(Path(name), {}, signal) as rig:
        return dict(_move(rig, plant, settings, interval).events)


def _move(rig: Rig, plant: Any, settings: LatencySettings, spread: float) -> _Told:
    """Runs the bridge, lets the hand move, and returns what it did."""
    runner = BridgeRunner(rig.mapping, rig.transport, plant, scheduling=settings.scheduling)
    runner.start()
    try:
        _wait_for("open", lambda: runner.transport.state.is_open, runner)
        if rig.journal is not None:
            _wait_for_live_link(runner)
            plant.begin = True
            return _told_by(rig.journal, settings.events * settings.interval)
        with _hand(rig, settings, spread) as process:
            _wait_for_live_link(runner, process)
            said, _ = process.communicate(b"!")
        time.sleep(_LAST)
    finally:
        runner.stop()
    return _told_of(json.loads(said))


@contextmanager
def _hand(rig: Rig, settings: LatencySettings, spread: float):
    """The process of the hand, which holds the lever in neutral."""
    scheduling = settings.scheduling
    specification = {
        **rig.hand,
        "events": settings.events,
        "interval": settings.interval,
        "spread": spread,
        "seed": settings.seed,
        "policy": scheduling.policy,
        "priority": scheduling.priority,
        "cpu": scheduling.cpu,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "grouser.bridges.trials.stimulus", json.dumps(specification)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=rig.descriptors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _wait_for_live_link(runner: BridgeRunner, process: "subprocess.Popen[bytes] | None" = None) -> None:
    _wait_for("live", lambda: runner.bridge.states[STICK] is LinkState.LIVE, runner, process)


def _wait_for(what: str, holds: Callable[[], bool], runner: BridgeRunner, process: Any = None) -> None:
    end = time.monotonic() + _DEADLINE
    while not holds():
        if process is not None and process.poll() is not None:
            raise TimeoutError(f"the bridge is not {what}: the process of the hand ended with {process.returncode}")
        if time.monotonic() > end:
            raise TimeoutError(f"the bridge is not {what} after {_DEADLINE:g} s: {runner.transport.state}")
        time.sleep(0.01)


def _told_by(journal: Path, duration: float) -> _Told:
    """What an FMU wrote down, when it has."""
    end = time.monotonic() + duration + _DEADLINE
    while not journal.exists():
        if time.monotonic() > end:
            raise TimeoutError("the FMU has not made its events in time")
        time.sleep(0.05)
    return _told_of(json.loads(journal.read_text()))


def _told_of(said: Mapping[str, Any]) -> _Told:
    events = {number + 1: 1e-9 * time for number, time in enumerate(said["events"])}
    return _Told(events, {raw: 1e-9 * time for raw, time in said["replies"] if raw in events})


def _report(told: _Told, plant: SteppedPlant, lateness: list[float], step: float, share: float) -> LatencyReport:
    events, replies = told.events, told.replies
    commanded, forced, order = plant.commanded, plant.forced, plant.order
    changes = [raw for place, raw in enumerate(order) if place == 0 or order[place - 1] != raw]
    counted = {raw: changes.count(raw) for raw in set(changes) & set(events)}
    assert plant.granted is not None
    return LatencyReport(
        event_to_command=distribution_of([commanded[one] - events[one] for one in events if one in commanded]),
        command_to_force=distribution_of([forced[one] - commanded[one] for one in events if one in forced]),
        event_to_force=distribution_of([forced[one] - events[one] for one in events if one in forced]),
        force_to_reply=distribution_of([replies[one] - forced[one] for one in replies if one in forced]),
        loop=distribution_of([replies[one] - events[one] for one in replies]),
        lateness=distribution_of(lateness),
        late_steps=sum(late > step for late in lateness),
        sent=len(events),
        obeyed=len(counted),
        lost=len(events) - len(counted),
        duplicated=sum(count - 1 for count in counted.values()),
        cpu_share=share,
        granted=plant.granted,
        load_average=os.getloadavg()[0],
    )
