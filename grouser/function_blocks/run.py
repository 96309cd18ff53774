"""A diagram beside a simulation: reads signals, executes the blocks once a cycle, and gives the commands."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grouser.function_blocks.block import BlockError, Value
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.plan import Plan, Surroundings, make_plan
from grouser.function_blocks.units import unit_text
from grouser.physics.base.errors import MachineError
from grouser.physics.simulation.signals import Signals, values_of
from grouser.program import TWIST

_VALVE = "-"  # unit of the commands of valves alone
_TWIST_UNITS = ("m/s", "m/s", "rad/s")


def surroundings(signals: Signals, vehicle: bool = False) -> Surroundings:
    """What a diagram of a machine can be wired to.

    Args:
        signals: of the machine.
        vehicle: whether a twist can be commanded.
    """
    units = _Units(signals)
    commands = {name.partition(".")[2]: one.unit for name, one in signals.items() if name.startswith("command.")}
    return Surroundings(units, commands | (dict(zip(TWIST, _TWIST_UNITS, strict=True)) if vehicle else {}))


class _Units(Mapping[str, str]):
    """Units of signals by name; joints alone are in it, too."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def __getitem__(self, name: str) -> str:
        return self._signals[name].unit

    def __contains__(self, name: object) -> bool:
        return name in self._signals

    def __iter__(self) -> Any:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)


class DiagramRun:
    """Executes a diagram. It depends on nothing but what it reads: the same signals and inputs give the same bits.

    Args:
        diagram: what to execute.
        signals: of the machine.
        vehicle: whether a twist can be commanded.

    Attributes:
        plan: of the diagram.
        inputs: values of the diagram's inputs, by name; to be set from outside.

    Raises:
        MachineError: the diagram does not suit the machine.
    """

    def __init__(self, diagram: Diagram, signals: Signals, vehicle: bool = False) -> None:
        self.diagram = diagram
        around = surroundings(signals, vehicle)
        self.plan: Plan = make_plan(diagram, around)
        self._valves = {name for name in self.plan.commands if around.actuators[name] == _VALVE}
        self.rebind(signals)
        self.reset()

    def rebind(self, signals: Signals) -> None:
        """Reads the signals of the same machine in another simulation from now on."""
        self._chosen = tuple(signals[name] for name in self.plan.signals)

    def reset(self) -> None:
        """Begins anew: all blocks, and all inputs, as at the start.

        Raises:
            MachineError: a block of the user's cannot be made.
        """
        self._values: list[Value] = list(self.plan.start)
        self._made: list[Callable[..., Any]] = [self._make(name) for name, _, _ in self.plan.blocks]
        self._first = True
        self.inputs = {name: one.default for name, one in self.diagram.inputs.items()}

    def set_input(self, name: str, value: Value) -> None:
        """Sets an input.

        Raises:
            ParameterError: there is none of this name, or the value is not finite.
        """
        self.inputs[name] = self.diagram.input_value(name, value)

    def execute(self, operator: Mapping[str, float]) -> dict[str, float]:
        """One cycle.

        Args:
            operator: what operators command, by actuator; 0 for those that are not in it.

        Returns:
            Commands of the diagram's actuators; those of valves within -1 to 1, as the outputs of a PLC are limited.

        Raises:
            MachineError: a block of the user's failed, or a command is not finite.
        """
        values, plan = self._values, self.plan
        for name, number in plan.inputs.items():
            values[number] = self.inputs[name]
        for name, number in plan.operator.items():
            values[number] = float(operator.get(name, 0.0))
        for number, value in zip(plan.signals.values(), values_of(self._chosen), strict=True):
            values[number] = value
        interval = 0.0 if self._first else self.diagram.cycle
        self._first = False
        delayed = []
        for run, (name, sources, first) in zip(self._made, plan.blocks, strict=True):
            try:
                outputs = run(interval, *[values[source] for source in sources])
            except (Exception, SystemExit) as error:
                raise self._failed(name, error) from error
            if self.diagram.blocks[name].block.delayed:
                delayed.append((first, outputs))
            else:
                values[first : first + len(outputs)] = outputs
        commands = {name: self._command(name, float(values[number])) for name, number in plan.commands.items()}
        for first, outputs in delayed:
            values[first : first + len(outputs)] = outputs
        return commands

    def _make(self, name: str) -> Callable[..., Any]:
        try:
            return self.diagram.blocks[name].block.make()
        except (Exception, SystemExit) as error:
            raise self._failed(name, error) from error

    def _failed(self, name: str, error: BaseException) -> MachineError:
        problem = str(error) if isinstance(error, BlockError) else f"{type(error).__name__}: {error}"
        return MachineError(problem, file=self.diagram.file or None, element=f"block {name}")

    def _command(self, name: str, value: float) -> float:
        if not math.isfinite(value):
            raise MachineError(f"it is {value}", file=self.diagram.file or None, element=f"command {name}")
        return min(max(value, -1.0), 1.0) if name in self._valves else value

    @property
    def values(self) -> dict[str, Value]:
        """What is on every wire after the last cycle: ``block.OUTPUT``, inputs, operator inputs and signals by name."""
        return self.named(self._values)

    def snapshot(self) -> tuple[Value, ...]:
        """What is on every wire, in the order of their sources; for `named`."""
        return tuple(self._values)

    def named(self, values: Sequence[Value]) -> dict[str, Value]:
        """Values of a snapshot by name, as of `values`."""
        return {name: values[number] for name, number in self.plan.names.items()}

    @property
    def units(self) -> dict[str, str]:
        """Units of `values`; "truth" for true or false."""
        kinds = {name: self.plan.kinds[number] for name, number in self.plan.names.items()}
        return {name: "truth" if kind.truth else unit_text(kind.unit or ()) for name, kind in kinds.items()}
