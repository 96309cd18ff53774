"""A lever for FMI 2: once it is told to begin, each step is an event, and notes when; so does each new reply."""

import json
import time
from pathlib import Path

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

_AFTERWARDS = 30  # steps for the last replies


class Lever(Fmi2Slave):
    """lever: the number of the event by that of full deflection, which `reply` brings back."""

    description = "moves a lever and writes down when"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.lever, self.reply, self.begin = 0.0, 0.0, 0.0
        self._events, self._replies = [], {}
        self._steps = 0
        self.register_variable(Real("lever", causality=Fmi2Causality.output))
        self.register_variable(Real("reply", causality=Fmi2Causality.input))
        self.register_variable(Real("begin", causality=Fmi2Causality.input))

    def enter_initialization_mode(self):
        """Reads how many events there are."""
        self._settings = json.loads(Path(self.resources, "lever.json").read_text())

    def do_step(self, current_time, step_size):
        """Makes an event."""
        full = self._settings["full"]
        self._replies.setdefault(round(full * self.reply), time.monotonic_ns())
        if self.begin > 0.5:
            self._steps += 1
            if self._steps <= self._settings["events"]:
                self.lever = self._steps / full
                self._events.append(time.monotonic_ns())
            if self._steps == self._settings["events"] + _AFTERWARDS:
                self._write()
        return True

    def _write(self):
        journal = Path(self._settings["journal"])
        told = {"events": self._events, "replies": list(self._replies.items())}
        journal.with_suffix(".part").write_text(json.dumps(told))
        journal.with_suffix(".part").rename(journal)
