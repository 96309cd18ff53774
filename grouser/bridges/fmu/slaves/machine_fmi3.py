"""A machine of grouser for FMI 3. Its names and numbers are in the resources; grouser must be installed."""

from pythonfmu3 import Float64, Fmi3Causality, Fmi3Slave, Fmi3Status, Fmi3StepResult

from grouser.bridges.fmu.machine_model import MachineModel


class Machine(Fmi3Slave):
    """Inputs are commands, outputs measurements."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.description = "a working machine, simulated by grouser"
        self._model = MachineModel(self.resources)
        self._inputs = self._model.starts()
        self._outputs = self._model.measure()
        self.time = 0.0
        self.register_variable(Float64("time", causality=Fmi3Causality.independent))
        for port in self._model.inputs:
            self._register(port, Fmi3Causality.input, self._inputs)
        for port in self._model.outputs:
            self._register(port, Fmi3Causality.output, self._outputs)

    def do_step(self, current_time, step_size):
        """Makes a step, or discards it."""
        if not self._model.step(step_size, self._inputs):
            return Fmi3StepResult(status=Fmi3Status.discard)
        self._outputs.update(self._model.measure())
        return Fmi3StepResult()

    def to_xml(self, *arguments, **named):
        """Returns the description: names are those of signals, not structured as FMI has it."""
        description = super().to_xml(*arguments, **named)
        description.set("variableNamingConvention", "flat")
        return description

    def _register(self, port, causality, values):
        def put(value):
            values[port.name] = value

        self.register_variable(
            Float64(
                port.name, causality=causality, getter=lambda: values[port.name], setter=put, description=port.signal
            )
        )
