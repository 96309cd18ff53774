"""Commands by name, with checks of their values."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grouser.physics.base.checks import as_float, require_mapping
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.model.command import Command
from grouser.physics.simulation.named_view import require_name


class CommandMap(Mapping):
    """Command of each valve and drive: ``simulation.command["boom_valve"] = 0.5``.

    A valve takes a spool command from -1 to 1 (positive extends its cylinder); a drive takes a position, speed or
    effort by its mode [rad, m, rad/s, m/s, N m or N].

    Args:
        machine: with the valves and drives.
        command: buffer of the commands.
        valve, drive: index of each valve and of each drive in it.

    Attributes:
        valves: names of the valves.
        drives: joint name of each drive -> its mode.
    """

    def __init__(self, machine: Machine, command: Command, valve: np.ndarray, drive: np.ndarray):
        self.valves = tuple(one.name for one in machine.valves)
        self.drives = {one.joint: one.mode for one in machine.drives}
        self._place = {
            name: (command.valve, index) for name, index in zip(self.valves, valve.tolist(), strict=True)
        } | {joint: (command.drive, index) for joint, index in zip(self.drives, drive.tolist(), strict=True)}

    @property
    def names(self) -> tuple[str, ...]:
        """All valves, then all drives."""
        return tuple(self._place)

    def check(self, name: str, value: float) -> float:
        """The value as a float.

        Raises:
            ParameterError: the name is unknown, the value is not finite or out of range.
        """
        require_name("command", name, self._place)
        number = as_float(value)
        if not math.isfinite(number):
            raise ParameterError(name, value, "a finite number")
        if name in self.valves and not -1.0 <= number <= 1.0:
            raise ParameterError(name, value, "a spool command from -1 to 1")
        return number

    def update(self, values: Mapping[str, float]) -> None:
        """Sets several commands, or none of them if one is refused."""
        require_mapping("commands", values, "a mapping from valves and joints with drives to numbers")
        checked = {name: self.check(name, value) for name, value in values.items()}
        for name, number in checked.items():
            array, index = self._place[name]
            array[index] = number

    def not_neutral(self) -> list[str]:
        """Names of valves, and of drives with velocity or effort commands, whose command is not 0."""
        held = {joint for joint, mode in self.drives.items() if mode == "position"}
        return [name for name, (array, index) in self._place.items() if name not in held and array[index] != 0.0]

    def __setitem__(self, name: str, value: float) -> None:
        number = self.check(name, value)
        array, index = self._place[name]
        array[index] = number

    def __getitem__(self, name: str) -> float:
        array, index = self._place[require_name("command", name, self._place)]
        return float(array[index])

    def __repr__(self) -> str:
        return f"<commands {dict(self)}>"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._place

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)
