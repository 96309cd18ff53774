"""A simulation that steps at its pace in a thread, as the plant of the latency trial."""

import threading
import time
from collections.abc import Collection, Mapping

from grouser.bridges.scheduling import Granted, Scheduling, apply_scheduling
from grouser.physics.simulation.simulation import Simulation


class SteppedPlant:
    """Steps one by one, each due a step after the last one on the monotonic clock; takes commands before each.

    Args:
        simulation: at its start.
        scheduling: of its thread.
        spin: last part of each wait in which it looks at the clock instead of sleeping [s].

    Attributes:
        lateness: of the start of every step [s].
        commanded: value -> when it was commanded first [s].
        forced: value -> end of the step that took it first [s]; without those that another one replaced before a step.
        granted: what its thread got; None before it runs.
    """

    def __init__(self, simulation: Simulation, scheduling: Scheduling, spin: float) -> None:
        self.lateness: list[float] = []
        self.commanded: dict[float, float] = {}
        self.forced: dict[float, float] = {}
        self.granted: Granted | None = None
        self._simulation, self._scheduling, self._spin = simulation, scheduling, spin
        self._lock = threading.Lock()
        self._waiting: dict[str, float] = {}
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)

    def start(self) -> None:
        """Begins to step."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the present step."""
        self._ending = True
        self._thread.join()

    def command(self, values: Mapping[str, float]) -> None:
        """Leaves commands of valves for the next step."""
        now = time.monotonic()
        with self._lock:
            for name, value in values.items():
                self._waiting[name.partition("/")[2]] = value
                self.commanded.setdefault(value, now)

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Measures nothing: the mapping of the trial has no outgoing messages."""
        return {}

    def _run(self) -> None:
        self.granted = apply_scheduling(self._scheduling)
        simulation, size = self._simulation, self._simulation.step_size
        begin, step = time.monotonic(), 0
        while not self._ending:
            due = begin + step * size
            self._wait(due)
            self.lateness.append(time.monotonic() - due)
            with self._lock:
                commands, self._waiting = self._waiting, {}
            simulation.command.update(commands)
            simulation.step(1)
            end = time.monotonic()
            for value in commands.values():
                self.forced.setdefault(value, end)
            step += 1
            if end - due > 0.1:  # far behind: the schedule begins anew, as it does in the simulator
                begin, step = end, 0

    def _wait(self, due: float) -> None:
        left = due - time.monotonic() - self._spin
        if left > 0.0:
            time.sleep(left)
        while self._spin and time.monotonic() < due:
            pass
