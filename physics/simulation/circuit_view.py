"""The hydraulic circuit of a simulation, or of one machine in it, by name; cylinders are in `MachineView`."""

from collections.abc import Iterable, Sized

import numpy as np

from grouser.physics.base.checks import require_range
from grouser.physics.description.elements.hydraulics.circuit import circuit_lines
from grouser.physics.hydraulics.published_valve import CAVITY
from grouser.physics.readings.hydraulic_states import (
    cylinder_energy,
    cylinder_trace,
    hydraulic_motor_state,
    pump_state,
)
from grouser.physics.readings.measurements import HydraulicMotorState
from grouser.physics.readings.port_flows import PortFlows
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.membership import Selection
from grouser.physics.simulation.named_view import NamedView, elements_view, numbers_view, require_name


class CircuitView:
    """A hydraulic circuit.

    Args:
        engine: of the simulation.
        selection: the elements that the view shows.

    Attributes:
        lines: names of the lines of the description: neither the air at open sides of cylinders nor their cushions.
        line_pressure: of every hydraulic line [Pa, absolute].
        line_flow: through every hydraulic line, mean over the last step [m3/s]: the greater of what enters and leaves.
        port_flow: from its line into every port that oil flows through, likewise [m3/s]: see `PortFlows`.
        spool_position: of every directional valve [-].
        pump: of every displacement pump.
        hydraulic_motor: of every hydraulic motor.
        cylinder_energy: energy account of every cylinder.
    """

    def __init__(self, engine: Engine, selection: Selection):
        names, own, system = selection.names, selection.own, engine.setup.system
        valves = tuple(valve.name for valve in selection.machine.valves)
        self._engine, self._own, self._names = engine, own, names
        self.line_pressure = elements_view(
            "line", names.line, own.line, lambda n: float(engine.state.hydraulics.pressure[n])
        )
        self.spool_position = elements_view(
            "valve", valves, own.valve, lambda v: float(engine.state.hydraulics.spool[v, 0])
        )
        self.lines = circuit_lines(selection.machine)
        lines = dict(zip(names.line, own.line.tolist(), strict=True))
        self._flows = flows = PortFlows(
            *(selection.machine, selection.prefix, lines),
            *(engine.setup.machine, engine.setup.flow_element_owners, system),
        )
        self.port_flow = numbers_view("port", flows.names, lambda: flows.read(engine.state, engine.workspace))
        self.line_flow = numbers_view("line", names.line, lambda: flows.lines(self.port_flow.values()))
        self.pump = elements_view(
            "pump",
            *(names.pump, own.pump),
            lambda p: pump_state(system, engine.state, engine.command, engine.workspace, p),
        )
        motors = range(len(names.hydraulic_motor))
        self.hydraulic_motor = NamedView(
            "hydraulic motor",
            names.hydraulic_motor,
            lambda m: self._motor_states([m])[0],
            lambda: self._motor_states(motors),
        )
        self.cylinder_energy = elements_view(
            "cylinder", names.cylinder, own.cylinder, lambda c: cylinder_energy(engine.state, c)
        )

    def __repr__(self) -> str:
        parts: dict[str, Sized] = {"lines": self.lines, "valves": self.spool_position}
        parts |= {"pumps": self.pump, "hydraulic motors": self.hydraulic_motor}
        counts = [f"{len(own)} {name if len(own) > 1 else name[:-1]}" for name, own in parts.items() if len(own)]
        return f"<circuit: {', '.join(counts) or 'none'}>"

    def actuator_flows(self) -> np.ndarray:
        """Flows of `port_flow` into both sides of each cylinder, then of each motor [m3/s], (actuators, 2)."""
        return self._flows.actuators(self._engine.state, self._engine.workspace)

    def set_line_pressure(self, line: str, pressure: float) -> None:
        """Sets the pressure of a hydraulic line [Pa, absolute]; those of tanks and supplies stay as they are.

        Raises:
            ParameterError: no such line, or a pressure that oil cannot have.
        """
        require_name("line", line, self.line_pressure.names)
        network = self._engine.setup.system.hydraulics.network
        pressure = require_range("pressure", pressure, network.oil.vapour + CAVITY, 1e9, "Pa")
        number = int(self._own.line[self.line_pressure.names.index(line)])
        if not network.constant[number]:
            self._engine.state.hydraulics.pressure[number] = pressure

    def cylinder_trace(self, name: str) -> np.ndarray:
        """Sub-steps of a cylinder in the last step, (sub-steps, 6): see `hydraulics.prediction.Prediction.trace`."""
        require_name("cylinder", name, self._names.cylinder)
        return cylinder_trace(self._engine.workspace, int(self._own.cylinder[self._names.cylinder.index(name)]))

    def _motor_states(self, motors: Iterable[int]) -> list[HydraulicMotorState]:
        """States of some hydraulic motors, by their numbers in the view."""
        setup, engine, flows = self._engine.setup, self._engine, self.actuator_flows()[len(self._own.cylinder) :]
        states = []
        for m in motors:
            number = int(self._own.hydraulic_motor[m])
            joint = setup.names.joints[setup.machine.hydraulic_motors[number].joint]
            position = float(joint.multiplier * engine.state.q[joint.q] + joint.offset)
            actuator = len(setup.machine.cylinders) + number
            states.append(
                hydraulic_motor_state(setup.system, engine.state, engine.workspace, actuator, position, flows[m])
            )
        return states
