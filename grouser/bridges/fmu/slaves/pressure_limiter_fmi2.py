"""A pressure limiter for FMI 2: it takes back what is wished of a valve as a pressure comes near its limit."""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class PressureLimiter(Fmi2Slave):
    """command = wish clip((limit - pressure) / band, 0, 1)."""

    description = "takes back a command as a pressure comes near its limit"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.wish, self.pressure, self.command = 0.0, 0.0, 0.0
        self.limit, self.band = 3.0e6, 1.0e6
        self.register_variable(Real("wish", causality=Fmi2Causality.input))
        self.register_variable(Real("pressure", causality=Fmi2Causality.input))
        self.register_variable(Real("command", causality=Fmi2Causality.output))
        for name in ("limit", "band"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))

    def do_step(self, current_time, step_size):
        """Makes a step."""
        self.command = self.wish * min(max((self.limit - self.pressure) / self.band, 0.0), 1.0)
        return True
