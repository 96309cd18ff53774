"""A simulation that steps at its pace in a thread, as the plant of the latency trial."""

import threading
import time
from collections.abc import Collection, Mapping

from grouser.bridges.scheduling import Granted, Scheduling, apply_scheduling
from grouser.bridges.trials.hands import FULL
from grouser.bridges.trials.rigs import BEGIN, OBEYED
from grouser.physics.simulation.simulation import Simulation


class SteppedPlant:
    """Steps one by one, each due a step after the last one on the monotonic clock; takes commands before each.

    Args:
        simulation: at its start.
        valve: that the lever commands.
        scheduling: of its thread.
        spin: last part of each wait in which it looks at the clock instead of sleeping [s].

    Attributes:
        lateness: of the start of every step [s].
        order: raw deflections as they were commanded.
        commanded: raw deflection -> when it was commanded first [s].
        forced: raw deflection -> end of the step that took it first [s]; without those that another one replaced before
            a step.
        begin: whether an FMU is to begin; other hands are told otherwise.
        granted: what its thread got; None before it runs.
    """

    def __init__(self, simulation: Simulation, valve: str, scheduling: Scheduling, spin: float) -> None:
        self.lateness: list[float] = []
        self.order: list[int] = []
        self.commanded: dict[int, float] = {}
        self.forced: dict[int, float] = {}
        self.begin = False
        self.granted: Granted | None = None
        self._simulation, self._valve = simulation, valve
        self._scheduling, self._spin = scheduling, spin
        self._waiting: float | None = None
        self._obeyed = 0.0
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
        """Leaves the lever for the next step."""
        now, (value,) = time.monotonic(), values.values()
        raw = raw_of(value)
        self.order.append(raw)
        self.commanded.setdefault(raw, now)
        self._waiting = value

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Returns the lever of the last step that took one, and whether to begin."""
        return {OBEYED: self._obeyed, BEGIN: float(self.begin)}

    def _run(self) -> None:
        self.granted = apply_scheduling(self._scheduling)
        simulation, size = self._simulation, self._simulation.step_size
        begin, step = time.monotonic(), 0
        while not self._ending:
            due = begin + step * size
            self._wait(due)
            self.lateness.append(time.monotonic() - due)
            value, self._waiting = self._waiting, None
            if value is not None:
                simulation.command[self._valve] = value
            simulation.step(1)
            end = time.monotonic()
            if value is not None:
                self._obeyed = value
                self.forced.setdefault(raw_of(value), end)
            step += 1
            if end - due > 0.1:  # far behind: the schedule begins anew, as it does in the simulator
                begin, step = end, 0

    def _wait(self, due: float) -> None:
        left = due - time.monotonic() - self._spin
        if left > 0.0:
            time.sleep(left)
        while self._spin and time.monotonic() < due:
            pass


def raw_of(value: float) -> int:
    """The raw deflection of a value."""
    return round(FULL * value)
