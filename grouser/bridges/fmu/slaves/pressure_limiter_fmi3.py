"""A pressure limiter for FMI 3: it takes back what is wished of a valve as a pressure comes near its limit."""

from pythonfmu3 import Float64, Fmi3Causality, Fmi3Slave, Fmi3StepResult, Fmi3Variability


class PressureLimiter(Fmi3Slave):
    """command = wish clip((limit - pressure) / band, 0, 1)."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.description = "takes back a command as a pressure comes near its limit"
        self.time, self.wish, self.pressure, self.command = 0.0, 0.0, 0.0, 0.0
        self.limit, self.band = 3.0e6, 1.0e6
        self.register_variable(Float64("time", causality=Fmi3Causality.independent))
        self.register_variable(Float64("wish", causality=Fmi3Causality.input))
        self.register_variable(Float64("pressure", causality=Fmi3Causality.input))
        self.register_variable(Float64("command", causality=Fmi3Causality.output))
        for name in ("limit", "band"):
            self.register_variable(Float64(name, causality=Fmi3Causality.parameter, variability=Fmi3Variability.fixed))

    def do_step(self, current_time, step_size):
        """Makes a step."""
        self.command = self.wish * min(max((self.limit - self.pressure) / self.band, 0.0), 1.0)
        return Fmi3StepResult()
