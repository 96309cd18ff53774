"""Control programs in the physics thread: timed commands, and diagrams of function blocks."""

import sys
from collections.abc import Collection, Mapping
from typing import Protocol

from grouser.function_blocks.block import Value
from grouser.function_blocks.diagram import OPERATOR, Diagram
from grouser.function_blocks.run import DiagramRun
from grouser.physics.base.errors import ParameterError
from grouser.physics.simulation.signals import Signals
from grouser.physics.simulation.view import MachineView
from grouser.program import CommandProgram

_TOLERANCE = 1e-6  # of a step: how far a cycle may be from a whole number of them


class ProgramPlayer(Protocol):
    """A program that is played from some step on.

    Attributes:
        actuators: that it commands.
        read: actuators whose operators' commands it takes as inputs; the machine does not get them.
        yields: whether it ends when an operator commands; else other commands of its actuators are refused.
    """

    @property
    def actuators(self) -> Collection[str]: ...

    @property
    def read(self) -> Collection[str]: ...

    @property
    def yields(self) -> bool: ...

    def begin(self, step: int) -> None:
        """Begins anew."""

    def rewind(self, steps: int) -> None:
        """Goes on, with a step count that is set back."""

    def rebind(self, robot: MachineView) -> None:
        """Goes on with the same machine in another simulation."""

    def commands(self, step: int, operator: Mapping[str, float]) -> Mapping[str, float]:
        """Commands that begin at a step; `operator` has what operators now command of `read`."""

    def steps_to_next(self, step: int) -> int:
        """Steps until it wants to be asked again, >= 1."""

    def finished(self, step: int) -> bool:
        """Whether its commands do not change any more."""


class TimedPlayer:
    """Plays timed commands.

    Args:
        program: the commands.
        initial: actuator -> its command at the start, where the first ramps begin.
        step_size: [s].
    """

    read: Collection[str] = ()
    yields = True

    def __init__(self, program: CommandProgram, initial: Mapping[str, float], step_size: float) -> None:
        self._program, self._initial, self._step_size = program, dict(initial), step_size
        self._start = 0

    @property
    def actuators(self) -> Collection[str]:
        return self._program.actuators

    def begin(self, step: int) -> None:
        self._start = step

    def rewind(self, steps: int) -> None:
        self._start -= steps

    def rebind(self, robot: MachineView) -> None:
        """It reads nothing."""

    def commands(self, step: int, operator: Mapping[str, float]) -> Mapping[str, float]:
        return self._program.values((step - self._start) * self._step_size, self._initial)

    def steps_to_next(self, step: int) -> int:
        return sys.maxsize

    def finished(self, step: int) -> bool:
        return self._program.finished((step - self._start) * self._step_size)


class DiagramPlayer:
    """Executes a diagram in every cycle.

    Args:
        diagram: what to execute.
        signals: of the machine.
        vehicle: whether a twist can be commanded.
        step_size: [s].

    Raises:
        MachineError: the diagram does not suit the machine.
        ParameterError: its cycle is no whole number of steps.
    """

    yields = False

    def __init__(self, diagram: Diagram, signals: Signals, vehicle: bool, step_size: float) -> None:
        self._interval = whole_steps(diagram.cycle, step_size)
        self._run = DiagramRun(diagram, signals, vehicle)
        self._start = 0
        self._step_size = step_size
        self._last = 0, self._run.snapshot()  # step of the last cycle, and what was on the wires

    @property
    def actuators(self) -> Collection[str]:
        return self._run.plan.commands.keys()

    @property
    def read(self) -> Collection[str]:
        return self._run.plan.operator.keys()

    def set_inputs(self, values: Mapping[str, Value]) -> None:
        """Sets inputs; ParameterError if there is none of a name, or a value is not finite."""
        for name, value in values.items():
            self._run.set_input(name, value)

    def begin(self, step: int) -> None:
        self._start = step
        self._run.reset()

    def rewind(self, steps: int) -> None:
        self._start -= steps

    def rebind(self, robot: MachineView) -> None:
        self._run.rebind(robot.signals)

    def commands(self, step: int, operator: Mapping[str, float]) -> Mapping[str, float]:
        if (step - self._start) % self._interval:
            return {}
        commands = self._run.execute(operator)
        self._last = step, self._run.snapshot()
        return commands

    @property
    def shown(self) -> tuple[int, dict[str, Value]]:
        """Stamp of the last cycle [ns], and what was on the wires then, by name; for any thread."""
        step, values = self._last
        return round(1e9 * step * self._step_size), self._run.named(values)

    def steps_to_next(self, step: int) -> int:
        return self._interval - (step - self._start) % self._interval

    def finished(self, step: int) -> bool:
        return False


def whole_steps(cycle: float, step_size: float) -> int:
    """Steps in a cycle; ParameterError where they are not a whole number."""
    count = cycle / step_size
    if count < 1.0 - _TOLERANCE or abs(count - round(count)) > _TOLERANCE:
        raise ParameterError("cycle", cycle, f"a whole number of steps of {step_size:g} s")
    return round(count)


def operator_input(actuator: str) -> str:
    """How a diagram calls what operators command of an actuator."""
    return f"{OPERATOR}.{actuator}"
