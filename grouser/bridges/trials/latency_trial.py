"""The latency trial: from an event in another process to the force that it causes, through a whole bridge."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from grouser.bridges.histogram import Distribution, distribution_of
from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.fields import AxisField, AxisRange
from grouser.bridges.joystick.schema import DeviceRule
from grouser.bridges.joystick.transport import JoystickTransport
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.plant import Plant
from grouser.bridges.runner import BridgeRunner
from grouser.bridges.scheduling import Granted, Scheduling
from grouser.bridges.trials.stepping import SteppedPlant
from grouser.bridges.trials.stimulus import AXIS, FULL, raw_value, times_of
from grouser.physics.simulation.simulation import Simulation

_DEVICE, _MESSAGE = "stick", "stick"
_PERIOD, _TIMEOUT = 0.02, 10.0  # [s]; the timeout is long: what is measured is how late, not whether it is too late
_DEADLINE = 60.0  # [s] until the link is live


@dataclass(frozen=True)
class LatencyReport:
    """What came of a trial; times in seconds.

    Attributes:
        event_to_command: from the event in the other process to the plant's command.
        command_to_force: from there to the end of the step that takes it; of commands that none replaced before.
        event_to_force: both together.
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
    lateness: Distribution
    late_steps: int
    sent: int
    obeyed: int
    lost: int
    duplicated: int
    cpu_share: float
    granted: Granted
    load_average: float


def run_joystick(
    simulation: Simulation, valve: str, events: int, interval: float, scheduling: Scheduling, spin: float
) -> LatencyReport:
    """Moves a stick in another process while a machine steps.

    Args:
        simulation: of the machine, at its start.
        valve: that the stick commands.
        events: of the stick, at most `stimulus.FULL`.
        interval: between two events [s]; each is later by its own share of a step, so that they are spread evenly.
        scheduling: of physics, bridge and stick.
        spin: see `SteppedPlant` [s].
    """
    plant = SteppedPlant(simulation, scheduling, spin)
    recorder = _Recorder(plant)
    plant.start()
    try:
        started, computed, first = time.monotonic(), time.process_time(), len(plant.lateness)
        mapping = stick_mapping(f"valve/{valve}")
        times = move_stick(mapping, recorder, events, interval, simulation.step_size, scheduling)
        share = (time.process_time() - computed) / (time.monotonic() - started)
    finally:
        plant.stop()
    return _report(times, plant, recorder.order, plant.lateness[first:], simulation.step_size, share)


def stick_mapping(signal: str) -> BridgeMapping:
    """A mapping of one axis to one signal."""
    place = AxisField("ABS_X", AXIS, low=-FULL, centre=0, high=FULL)
    of_signal = SignalMapping(place, str(place), signal, "1", 1.0, 1.0, 0.0, -1.0, 1.0)
    message = MessageMapping(_MESSAGE, "in", _DEVICE, _PERIOD, _TIMEOUT, (of_signal,))
    rules = {_DEVICE: DeviceRule(_DEVICE, None, "*")}
    return BridgeMapping("latency trial", "joystick", "", rules, messages=(message,))


def move_stick(
    mapping: BridgeMapping, plant: Plant, events: int, interval: float, spread: float, scheduling: Scheduling
) -> list[float]:
    """Runs a bridge whose stick another process moves.

    Args:
        mapping: `stick_mapping`.
        plant: that gets the commands: event n is the value `event_value(n)`.
        events: number of them.
        interval, spread: see `stimulus` [s].
        scheduling: of bridge and stick.

    Returns:
        When the events were [s of CLOCK_MONOTONIC].
    """
    hand, stick = socket.socketpair()
    stick.setblocking(False)
    with hand, TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "event0").touch()
        transport = JoystickTransport(mapping, folder, lambda file, rule: _device(file, rule, stick))
        runner = BridgeRunner(mapping, transport, plant, scheduling=scheduling)
        runner.start()
        try:
            _wait_until_live(runner)
            times = _move(hand, events, interval, spread, scheduling)
            time.sleep(10.0 * _PERIOD)  # the last event may be on its way
        finally:
            runner.stop()
    return times


def event_value(number: int) -> float:
    """Deflection of an event, by which it is known again."""
    return raw_value(number) / FULL


class _Recorder:
    """A plant that notes the order of its commands."""

    def __init__(self, plant: SteppedPlant) -> None:
        self._plant = plant
        self.order: list[float] = []
        self.measure = plant.measure

    def command(self, values: Mapping[str, float]) -> None:
        self.order.extend(values.values())
        self._plant.command(values)


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


def _wait_until_live(runner: BridgeRunner) -> None:
    end = time.monotonic() + _DEADLINE
    while runner.bridge.states[_MESSAGE] is not LinkState.LIVE:
        if time.monotonic() > end:
            raise TimeoutError(f"the bridge is not live after {_DEADLINE:g} s: {runner.transport.state}")
        time.sleep(0.01)


def _move(hand: socket.socket, events: int, interval: float, spread: float, scheduling: Scheduling) -> list[float]:
    """Lets the other process move the stick; returns the times of its events [s]."""
    command = [sys.executable, "-m", "grouser.bridges.trials.stimulus", str(hand.fileno()), str(events)]
    command += [repr(interval), repr(spread), scheduling.policy, str(scheduling.priority)]
    process = subprocess.run(
        command, input=b"!", stdout=subprocess.PIPE, pass_fds=[hand.fileno()], check=True, env=_environment()
    )
    return times_of(process.stdout)


def _environment() -> dict[str, str]:
    """Of this process, with its search path for modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _report(
    times: Sequence[float],
    plant: SteppedPlant,
    order: Sequence[float],
    lateness: Sequence[float],
    step: float,
    share: float,
) -> LatencyReport:
    values = [event_value(number) for number in range(len(times))]
    events = dict(zip(values, times, strict=True))
    commanded, forced = plant.commanded, plant.forced
    changes = [value for place, value in enumerate(order) if place == 0 or order[place - 1] != value]
    counted = {value: changes.count(value) for value in set(changes) & set(values)}
    assert plant.granted is not None
    return LatencyReport(
        event_to_command=distribution_of([commanded[one] - events[one] for one in values if one in commanded]),
        command_to_force=distribution_of([forced[one] - commanded[one] for one in values if one in forced]),
        event_to_force=distribution_of([forced[one] - events[one] for one in values if one in forced]),
        lateness=distribution_of(lateness),
        late_steps=sum(late > step for late in lateness),
        sent=len(times),
        obeyed=len(counted),
        lost=len(times) - len(counted),
        duplicated=sum(count - 1 for count in counted.values()),
        cpu_share=share,
        granted=plant.granted,
        load_average=os.getloadavg()[0],
    )
