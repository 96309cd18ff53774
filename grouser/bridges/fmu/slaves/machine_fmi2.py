"""A machine of grouser for FMI 2. Its names and numbers are in the resources; grouser must be installed."""

from xml.etree.ElementTree import Element, SubElement

from pythonfmu import Fmi2Causality, Fmi2Slave, Real

from grouser.bridges.fmu.machine_model import MachineModel


class Machine(Fmi2Slave):
    """Inputs are commands, outputs measurements."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.description = "a working machine, simulated by grouser"
        self._model = MachineModel(self.resources)
        self._inputs = self._model.starts()
        self._outputs = self._model.measure()

        for port in self._model.inputs:
            self._register(port, Fmi2Causality.input, self._inputs)
        for port in self._model.outputs:
            self._register(port, Fmi2Causality.output, self._outputs)

    def do_step(self, current_time, step_size):
        """Makes a step, or discards it."""
        if not self._model.step(step_size, self._inputs):
            return False
        self._outputs.update(self._model.measure())
        return True

    def to_xml(self, *arguments, **named):
        """Returns the description: names are those of signals, not structured as FMI has it; outputs are computed."""
        description = super().to_xml(*arguments, **named)
        description.set("variableNamingConvention", "flat")
        structure = description.find("ModelStructure")
        if structure.find("InitialUnknowns") is None:
            outputs = structure.findall("Outputs/Unknown")
            SubElement(structure, "InitialUnknowns").extend(
                Element("Unknown", index=output.get("index")) for output in outputs
            )
        return description

    def _register(self, port, causality, values):
        def put(value):
            values[port.name] = value

        self.register_variable(
            Real(port.name, causality=causality, getter=lambda: values[port.name], setter=put, description=port.signal)
        )
