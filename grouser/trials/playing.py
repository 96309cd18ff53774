"""A control program played to a simulation."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.run import DiagramRun
from grouser.physics.simulation.record import Record
from grouser.physics.simulation.simulation import Simulation
from grouser.program import TWIST
from grouser.runtime.driving import Driver
from grouser.runtime.program_playing import whole_steps
from grouser.runtime.vehicle import Vehicle
from grouser.runtime.vehicle_parts import driven_vehicle

_ROUNDING = 1e-6  # of times [steps]


class Commands(Protocol):
    """Commands over time, as of a `CommandProgram`."""

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of what is commanded."""

    def check(self, valves: Collection[str], drives: Collection[str], twist: Collection[str] = ()) -> None:
        """Refuses names that the machine does not have."""

    def values(self, time: float, initial: Mapping[str, float] | None = None) -> dict[str, float]:
        """The commands in force at a time [s]."""

    def constant_until(self, time: float) -> float:
        """When those may change next [s]."""


def play(simulation: Simulation, program: Commands | Diagram | None, count: int) -> None:
    """Makes steps of a simulation with the commands of a program before each of them.

    The commands are those that a simulator on ROS gives at a rate of its steps, without an operator.

    Args:
        simulation: at its start.
        program: None: the commands stay as they are.
        count: of steps.

    Raises:
        MachineError: the program commands or reads what the machine does not have, or a block of it failed.
        ParameterError: the cycle of a diagram is no whole number of steps.
        DivergenceError: the state is no longer finite.
    """
    if program is None:
        simulation.step(count)
        return
    vehicle = driven_vehicle(simulation.machine)
    if isinstance(program, Diagram):
        _execute(simulation, program, vehicle, count)
        return
    command = simulation.command
    program.check(command.valves, command.drives, TWIST if vehicle is not None else ())
    initial = {name: command[name] for name in program.actuators if name not in TWIST}
    driver = None if vehicle is None or not set(program.actuators) & set(TWIST) else Driver(vehicle, simulation)
    size, done = simulation.step_size, 0
    while done < count:
        time = done * size
        values = program.values(time, initial)
        if driver is not None:
            command.update(driver.commands(values, size))
            steps = 1
        else:
            command.update(values)
            steps = _steps_before(program.constant_until(time) - time, size)
        steps = min(steps, count - done)
        simulation.step(steps)
        done += steps


def record_played(
    simulation: Simulation,
    program: Commands | Diagram | None,
    count: int,
    signals: str | Iterable[str],
    every: float | None,
) -> Record:
    """Plays a program as `play` does, and lets go of the simulation; returns what was recorded of some signals."""
    record = simulation.record(signals, every)
    play(simulation, program, count)
    samples = record.copy()
    simulation.discard()
    return samples


def _execute(simulation: Simulation, diagram: Diagram, vehicle: Vehicle | None, count: int) -> None:
    """Executes a diagram in each of its cycles."""
    run = DiagramRun(diagram, simulation.signals, vehicle is not None)
    driver = Driver(vehicle, simulation) if vehicle is not None and set(diagram.commands) & set(TWIST) else None
    interval = whole_steps(diagram.cycle, simulation.step_size)
    for done in range(0, count, interval):
        commands = run.execute({})
        simulation.command.update(commands if driver is None else driver.commands(commands, diagram.cycle))
        simulation.step(min(interval, count - done))


def _steps_before(span: float, size: float) -> int:
    """Steps after which a change that comes in a time span [s] has not been missed."""
    return 10**12 if math.isinf(span) else max(1, math.floor(span / size - _ROUNDING))
