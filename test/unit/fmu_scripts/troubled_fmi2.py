"""An FMU that does what an FMU should not do, from a time on. Parameter `trouble`: see the methods."""

import os
import signal
import subprocess
import time
from pathlib import Path

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Troubled(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.wish, self.pressure, self.command, self.trouble, self.begin = 0.0, 0.0, 0.0, 0, 0.0
        self.count, self.is_on = 0, False
        for name in ("wish", "pressure"):
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        self.register_variable(Real("command", causality=Fmi2Causality.output))
        self.number, self.is_wished, self.seen, self.is_seen = 0, False, 0, False
        self.register_variable(Integer("number", causality=Fmi2Causality.input, variability=Fmi2Variability.discrete))
        self.register_variable(
            Boolean("is_wished", causality=Fmi2Causality.input, variability=Fmi2Variability.discrete)
        )
        discrete = {"causality": Fmi2Causality.output, "variability": Fmi2Variability.discrete}
        self.register_variable(Integer("count", **discrete))
        self.register_variable(Boolean("is_on", **discrete))
        self.register_variable(Integer("seen", **discrete))
        self.register_variable(Boolean("is_seen", **discrete))
        fixed = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.fixed}
        self.register_variable(Integer("trouble", **fixed))
        self.register_variable(Real("begin", **fixed))
        self.is_loud = False
        self.register_variable(Boolean("is_loud", **fixed))

    def enter_initialization_mode(self):
        if self.trouble == 8:
            time.sleep(3600)

    def terminate(self):
        if "TROUBLED_ENDED" in os.environ:
            Path(os.environ["TROUBLED_ENDED"]).write_text("ended")

    def do_step(self, current_time, step_size):
        self.command, self.count, self.is_on = self.wish, self.count + 1, not self.is_on
        self.seen, self.is_seen = self.number, self.is_wished
        if current_time < self.begin or self.trouble == 0:
            return True
        if self.trouble == 1:
            return False
        if self.trouble == 2:
            raise RuntimeError("on purpose")
        if self.trouble == 3:
            self.command = float("nan")
        if self.trouble == 4:
            time.sleep(3600)
        if self.trouble == 5:
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.trouble == 6:
            os._exit(0)
        if self.trouble == 7:
            self.command = 1.5
        if self.trouble == 9:
            self.count = subprocess.Popen(["sleep", "3600"]).pid
        return True
