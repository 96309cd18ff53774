"""Figures of the physics thread for diagnostics and the status line."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.readings.measurements import SoilBalance

_TICKS_KEPT = 1000
_REFRESH_PERIOD = 0.2
_REFRESHES_KEPT = 6


@dataclass(frozen=True)
class ReplayReport:
    """Figures of a recording that is replayed.

    Attributes:
        end: of the recording [s], since its start.
        backward: whether it goes back.
        compared: number of recorded states that were passed and were equal to the last bit.
        difference: the first that was found, in words; "" for none.
        problem: missing parts of the recording; "" for none.
        memory: of the saved moments [bytes].
    """

    end: float
    backward: bool
    compared: int
    difference: str
    problem: str
    memory: int


@dataclass(frozen=True)
class RecordingReport:
    """The recording that is being made.

    Attributes:
        file: as given.
        seconds: simulation time in it [s].
        problem: reason why it is incomplete; "" if it is complete so far.
    """

    file: str
    seconds: float
    problem: str


@dataclass(frozen=True)
class LoopReport:
    """The state of the physics thread at one moment.

    Attributes:
        time: simulation time [s].
        active: whether the node's lifecycle state lets it run.
        paused: whether it is paused.
        failure: what stopped the simulation permanently, or "".
        real_time_factor: simulated seconds per wall second over the last second; 0 while paused.
        elapsed_simulated, elapsed_wall: since the first step was due, pauses included [s].
        overruns: how often it fell behind by more than the overrun limit.
        dropped_samples: number of samples dropped because publishing could not keep up.
        step_time_median, step_time_p99, step_time_max: computing time of a step [s], over the last 1000 ticks.
        command_to_force_p50, command_to_force_p99, command_to_force_max: from the arrival of commands to the end of the
            tick that took them [s of wall time], over the last 1000 ticks with commands.
        iterations, iterations_max: of the contact solver, last and largest.
        residual, residual_max: of the contact solver [m/s], last and largest.
        unsettled_steps: steps whose iteration did not converge, or whose sweeps ended at their limit.
        contact_count: number of contact points.
        kinetic_energy, potential_energy, elastic_energy: of the machine [J].
        actuator_work, dissipation: sums of the accounts of `EnergyBalance` since the start [J].
        balance_residual: energy that they do not explain [J].
        hydraulic_energy: the sums of the accounts of `HydraulicBalance` since the start [J]; empty without hydraulics.
        soil: balance of the solid mass of soil; None on rigid ground, and without shovels.
        emergency_stop: whether the emergency stop of any machine is latched.
        refused_commands: number of commands that the simulation refused.
        watchdog_trips: how often a command source fell silent.
        silent_sources: command sources that are silent now.
        late_commands: lockstep source -> how often it missed the deadline.
        program: state of the command program: none, playing, finished, stopped.
        recording: the one that is being made; None: none is.
        replay: figures of a replay; None: this is none.
    """

    time: float = 0.0
    active: bool = True
    paused: bool = False
    failure: str = ""
    real_time_factor: float = 0.0
    elapsed_simulated: float = 0.0
    elapsed_wall: float = 0.0
    overruns: int = 0
    dropped_samples: int = 0
    step_time_median: float = 0.0
    step_time_p99: float = 0.0
    step_time_max: float = 0.0
    command_to_force_p50: float = 0.0
    command_to_force_p99: float = 0.0
    command_to_force_max: float = 0.0
    iterations: int = 0
    iterations_max: int = 0
    residual: float = 0.0
    residual_max: float = 0.0
    unsettled_steps: int = 0
    contact_count: int = 0
    kinetic_energy: float = 0.0
    potential_energy: float = 0.0
    elastic_energy: float = 0.0
    actuator_work: float = 0.0
    dissipation: float = 0.0
    balance_residual: float = 0.0
    hydraulic_energy: Mapping[str, float] = field(default_factory=dict)
    soil: SoilBalance | None = None
    emergency_stop: bool = False
    refused_commands: int = 0
    watchdog_trips: int = 0
    silent_sources: tuple[str, ...] = ()
    late_commands: Mapping[str, int] = field(default_factory=dict)
    program: str = "none"
    recording: RecordingReport | None = None
    replay: ReplayReport | None = None


class LoopMeter:
    """Measures the computing time and the pace of steps.

    Args:
        step_size: simulated time of a step [s].
        clock: monotonic wall clock [s].
    """

    def __init__(self, step_size: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.steps = 0
        self._step_size = step_size
        self._clock = clock
        self._step_times = np.zeros(_TICKS_KEPT)
        self._ticks = 0
        self._command_times: deque[float] = deque(maxlen=_TICKS_KEPT)
        self._started = clock()
        self._history: deque[tuple[float, int]] = deque([(self._started, 0)], maxlen=_REFRESHES_KEPT)

    def restart(self) -> None:
        """Starts again: the first step is due now."""
        self.steps = self._ticks = 0
        self._started = self._clock()
        self.resume()

    def resume(self) -> None:
        """Clears the recent history, so that a pause does not lower the real-time factor."""
        self._history.clear()
        self._history.append((self._clock(), self.steps))

    def add(self, count: int, seconds: float) -> None:
        """Records that `count` steps took `seconds` of wall time."""
        self._step_times[self._ticks % _TICKS_KEPT] = seconds / count
        self._ticks += 1
        self.steps += count

    def add_command(self, seconds: float) -> None:
        """Records that commands took `seconds` of wall time from their arrival to the end of their tick."""
        self._command_times.append(seconds)

    def refresh_due(self) -> bool:
        """Whether the figures are old enough to be computed again."""
        return self._clock() - self._history[-1][0] >= _REFRESH_PERIOD

    def figures(self) -> dict[str, float]:
        """The fields of a `LoopReport` that depend on counted steps and time."""
        now = self._clock()
        then, steps = self._history[0]
        self._history.append((now, self.steps))
        times = self._step_times[: min(self._ticks, _TICKS_KEPT)]
        median, p99, largest = _percentiles(times)
        of_commands = _percentiles(self._command_times)
        return {
            "real_time_factor": (self.steps - steps) * self._step_size / max(now - then, 1e-9),
            "elapsed_simulated": self.steps * self._step_size,
            "elapsed_wall": now - self._started,
            "step_time_median": median,
            "step_time_p99": p99,
            "step_time_max": largest,
            "command_to_force_p50": of_commands[0],
            "command_to_force_p99": of_commands[1],
            "command_to_force_max": of_commands[2],
        }


def _percentiles(times: Sequence[float] | np.ndarray) -> list[float]:
    """Median, 99th percentile and largest, between two neighbours in proportion; zeros of none."""
    count = len(times)
    if count == 0:
        return [0.0, 0.0, 0.0]
    return np.interp(np.array([0.5, 0.99, 1.0]) * (count - 1), np.arange(count), np.sort(times)).tolist()
