"""A machine as an FMU: what its slave scripts do, and how it is packed.

The FMU holds names and numbers; grouser itself must be installed where it runs. A host that is not Python must load
libpython first.
"""

import json
import math
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from grouser.bridges.fmu.build import SLAVES, build_fmu
from grouser.bridges.mapping.data import BridgeMapping, SignalMapping
from grouser.bridges.mapping.signals import commands_of, measurements_of
from grouser.bridges.plant import Signal
from grouser.bridges.simulation_plant import SimulationPlant
from grouser.catalogue import machine_file
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine, load_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.simulation.simulation import Simulation

_ROUNDING = 1e-9
_FILE, _WORLD = "machine.json", "world.yaml"
_LEFT_OUT = ("joy", "cmd_vel", "odom")  # signals that are not of the machine itself


@dataclass(frozen=True)
class Port:
    """An input or output of the FMU.

    Attributes:
        name: of the variable.
        signal: of the machine.
        factor: SI units in one unit of the scaled value.
        scale, offset: to the scaled value, as in a mapping.
        low, high: range of the scaled value; inputs outside are refused, outputs are held at the border.
        unit: of the scaled value.
    """

    name: str
    signal: str
    factor: float = 1.0
    scale: float = 1.0
    offset: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    unit: str = "1"


@dataclass(frozen=True)
class MachineSetup:
    """What the FMU is made of.

    Attributes:
        machine: its name, or the path of its file.
        arguments: of its xacro file.
        step: of the simulation [s].
        scheme: of the hydraulics.
        inputs, outputs: of the FMU.
    """

    machine: str
    arguments: Mapping[str, str]
    step: float
    scheme: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class MachineModel:
    """The machine in an FMU.

    Args:
        resources: directory with the files of the setup.
    """

    def __init__(self, resources: str | Path):
        setup = json.loads((Path(resources) / _FILE).read_text())
        self.inputs = tuple(Port(**port) for port in setup["inputs"])
        self.outputs = tuple(Port(**port) for port in setup["outputs"])
        machine = load_machine(machine_file(setup["machine"]), setup["arguments"])
        world = load_world(Path(resources) / _WORLD)
        self._simulation = Simulation(machine, world, step=setup["step"], scheme=setup["scheme"])
        self._plant = SimulationPlant(self._simulation)

    def starts(self) -> dict[str, float]:
        """Returns the values of the inputs at the start, by name: positions hold the joint, all others are zero."""
        measured = {name: signal for name, signal in self._plant.measurements.items() if name.endswith("/position")}
        held = self._plant.measure([port.signal for port in self.inputs if port.signal in measured])
        return {port.name: _shown(port, held.get(port.signal, 0.0)) for port in self.inputs}

    def measure(self) -> dict[str, float]:
        """Returns the outputs of the present state, by name."""
        measured = self._plant.measure({port.signal for port in self.outputs})
        return {port.name: _shown(port, measured[port.signal]) for port in self.outputs}

    def step(self, length: float, values: Mapping[str, float]) -> bool:
        """Commands the inputs and steps.

        Args:
            length: of the communication step [s], a multiple of the simulation's.
            values: of the inputs, by name.

        Returns:
            Whether the step was made; False: a value is not finite or outside its range, or the length is no multiple.
        """
        steps = length / self._simulation.step_size
        count = round(steps)
        if count < 1 or abs(steps - count) > _ROUNDING * count:
            return False
        commands = {}
        for port in self.inputs:
            scaled = values[port.name] * port.scale + port.offset
            if not port.low <= scaled <= port.high:  # NaN neither
                return False
            commands[port.signal] = scaled * port.factor
        self._plant.command(commands)
        self._simulation.step(count)
        return True


def ports_of_machine(machine: Machine) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Returns inputs and outputs for all actuators and measurements of a machine.

    Outputs have the names of their signals, inputs the same after ``command/``: a joint's speed may be both.
    """
    return _all_ports(commands_of(machine), "command/"), _all_ports(measurements_of(machine), "")


def ports_of_mapping(mapping: BridgeMapping) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Returns inputs and outputs for the signals of a mapping, under the names of its fields.

    Raises:
        ParameterError: two signals have one name, or a signal that is not of the machine itself.
    """
    inputs = [_port(signal) for message in mapping.incoming for signal in message.signals]
    outputs = [_port(signal) for message in mapping.outgoing for signal in message.signals]
    names = [port.name for port in (*inputs, *outputs)]
    for port in (*inputs, *outputs):
        if names.count(port.name) > 1:
            raise ParameterError("variable", port.name, "a name that the mapping gives once")
        if port.signal.partition("/")[0] in _LEFT_OUT:
            raise ParameterError("signal", port.signal, "actuators and measurements of the machine itself")
    return tuple(inputs), tuple(outputs)


def build_machine_fmu(setup: MachineSetup, world: Path, version: int, output: Path) -> None:
    """Packs a machine into an FMU, after it was loaded once.

    Args:
        setup: what it is made of.
        world: file of the world, without files beside it.
        version: of FMI, 2 or 3.
        output: file to write.

    Raises:
        MachineError: the machine or the world cannot be loaded, or packing failed.
        ParameterError: a step out of range.
    """
    with tempfile.TemporaryDirectory(prefix="grouser_fmu_") as name:
        resources = [Path(name) / _FILE, Path(name) / _WORLD]
        resources[0].write_text(json.dumps(asdict(setup)))
        shutil.copy(world, resources[1])
        MachineModel(name).measure()
        built = build_fmu(SLAVES / f"machine_fmi{version}.py", version, Path(name) / "built", resources)
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, output)


def _all_ports(signals: Mapping[str, Signal], beginning: str) -> tuple[Port, ...]:
    return tuple(
        Port(beginning + one.name, one.name, low=one.low, high=one.high, unit=one.unit)
        for one in signals.values()
        if one.name.partition("/")[0] not in _LEFT_OUT
    )


def _port(signal: SignalMapping) -> Port:
    return Port(
        signal.field, signal.signal, signal.factor, signal.scale, signal.offset, signal.low, signal.high, signal.unit
    )


def _shown(port: Port, value: float) -> float:
    scaled = min(max(value / port.factor, port.low), port.high)
    return (scaled - port.offset) / port.scale
