"""One run of a simulation as data: machine, world, commands, duration, and what is recorded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from grouser import catalogue
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.reader import parse_control_program
from grouser.loading import load_machine
from grouser.physics.base.checks import require_range
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import parse_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.yaml_reader import BYTES_MAX, PlainLoader
from grouser.physics.simulation.record import Record
from grouser.physics.simulation.simulation import Simulation
from grouser.program import CommandProgram
from grouser.trials.playing import play, record_played
from grouser.trials.settings import check_address, in_group, with_values

_DURATION_MAX = 1e7  # [s]
_STEP_MAX = 1.0  # [s]
_MACHINES_KEPT = 16


class Parts(NamedTuple):
    """What a run is made of, with all settings in place.

    Attributes:
        machine, world: as they are simulated.
        program: None without commands.
        step: [s].
        steps: their number.
    """

    machine: Machine
    world: World
    program: CommandProgram | Diagram | None
    step: float
    steps: int


@dataclass(frozen=True)
class Trial:
    """A run of a simulation that other processes can make: `run` gives the same record for the same settings.

    Attributes:
        machine: name or file.
        duration: [s].
        record: names of signals, as of `Simulation.record`.
        world: name, file, or what a world file holds; None: flat ground.
        program: name or file of a control program, timed or of function blocks, or what such a file holds; None:
            nothing is commanded.
        arguments: of the machine's xacro file.
        base: of `load_machine`.
        step: [s].
        every: interval of the samples [s]; None: every step.
        settings: values by address (`grouser.trials.settings`).
        folder: where relative file names start.
    """

    machine: str
    duration: float
    record: tuple[str, ...]
    world: str | Mapping[str, Any] | None = None
    program: str | Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    base: str | None = None
    step: float = 0.001
    every: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""

    def parts(self, settings: Mapping[str, Any] | None = None) -> Parts:
        """Returns what a run with other values by address is made of; they precede `settings` of the trial.

        Raises:
            ParameterError: an unknown address, a path that leads to nothing, or a value out of range.
            MachineError: a machine, world or program that cannot be loaded with these values.
        """
        values = {check_address(address): value for address, value in {**self.settings, **(settings or {})}.items()}
        step = require_range("step", values.get("step", self.step), 1e-9, _STEP_MAX, "s")
        duration = require_range("duration", values.get("duration", self.duration), step, _DURATION_MAX, "s")
        return Parts(
            self._machine(values.get("machine", self.machine), values),
            self._world(values.get("world", self.world), in_group(values, "world")),
            self._program(values.get("program", self.program), in_group(values, "program")),
            step,
            round(duration / step),
        )

    def start(self, parts: Parts) -> Simulation:
        """Returns the simulation of a run at its start."""
        return Simulation(parts.machine, parts.world, step=parts.step)

    def check(self, settings: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Checks everything that can be seen before a run; returns the unit of each recorded signal.

        Raises:
            ParameterError: an unknown address or signal, or a value out of range.
            MachineError: a machine, world or program that cannot be loaded, or that do not fit.
        """
        parts = self.parts(settings)
        simulation = self.start(parts)
        record = simulation.record(self.record, self.every)
        play(simulation, parts.program, 0)
        units = {name: record.units[name] for name in record.names}
        simulation.discard()
        return units

    def run(self, settings: Mapping[str, Any] | None = None) -> Record:
        """Runs the simulation.

        Args:
            settings: values by address; they precede those of the trial.

        Returns:
            The recorded signals.

        Raises:
            ParameterError, MachineError: as of `check`.
            DivergenceError, ConvergenceError: the simulation failed.
        """
        parts = self.parts(settings)
        return record_played(self.start(parts), parts.program, parts.steps, self.record, self.every)

    def _machine(self, name: Any, values: Mapping[str, Any]) -> Machine:
        if not isinstance(name, str):
            raise ParameterError("machine", name, "the name of a machine, or the path of a URDF or xacro file")
        arguments = {**self.arguments, **in_group(values, "argument")}
        for argument, value in arguments.items():
            if not isinstance(value, str | int | float):
                raise ParameterError(f"argument.{argument}", value, "a number, a text or a truth value")
        machine = _load(self._file(catalogue.machine_file(name)), tuple(sorted(arguments.items())), self.base)
        changes = in_group(values, "machine")
        return machine.replace(changes) if changes else machine

    def _world(self, world: Any, values: Mapping[str, Any]) -> World:
        if world is None and not values:
            return World()
        content, file = self._content("world", {} if world is None else world)
        return parse_world(_text(with_values(content, values, "world")), file)

    def _program(self, program: Any, values: Mapping[str, Any]) -> CommandProgram | Diagram | None:
        if program is None:
            if values:
                raise ParameterError("address", f"program.{next(iter(values))}", "of a program; the trial has none")
            return None
        content, file = self._content("program", program)
        return parse_control_program(_text(with_values(content, values, "program")), file)

    def _content(self, kind: str, given: Any) -> tuple[Any, str]:
        """What a world or program file holds, and the path from which its own file names start."""
        if isinstance(given, Mapping):
            return dict(given), str(Path(self.folder) / kind)
        if not isinstance(given, str):
            raise ParameterError(kind, given, f"a name, the path of a {kind} file, or what such a file holds")
        find = catalogue.world_file if kind == "world" else catalogue.program_file
        file = self._file(find(given))
        return yaml.load(read_text(Path(file), BYTES_MAX, kind), PlainLoader), file

    def _file(self, path: Path) -> str:
        return str(Path(self.folder) / path)


def _text(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Returns settings as a text that is the same for the same values."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


@lru_cache(_MACHINES_KEPT)
def _load(file: str, arguments: tuple[tuple[str, Any], ...], base: str | None) -> Machine:
    return load_machine(Path(file), dict(arguments), base)
