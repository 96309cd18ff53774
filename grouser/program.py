"""A timed command program: commands of valves, joints and vehicles over time.

A program is a YAML file::

    repeat: true             # start again after `period`; default false: the last values hold
    period: 40.0             # [s]; default: when the last command is reached
    commands:
      - {time: 1.0, valve: boom_valve, value: 0.6, ramp: 0.5}
      - {time: 4.0, valve: boom_valve, value: 0.0, ramp: 0.5}
      - {time: 5.0, joint: left_track_joint, value: 1.2}
      - {time: 6.0, twist: x, value: 0.2}

A command takes effect at `time` [s]: at once, or over `ramp` [s] in a straight line from the value then in force.
Values are spool commands in [-1, 1] for valves; rad, rad/s or N m (m, m/s or N) for joints, as their drive's mode says;
m/s or rad/s for the twist of a vehicle: x forward, y to the left, yaw.
"""

import bisect
import math
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.names import closest

_BYTES_MAX = 1_000_000
_ROUNDING = 1e-9  # of times, as a share
_TOP_KEYS = ("repeat", "period", "commands")
_KINDS = {"valve": "valve", "joint": "joint with a servo drive", "twist": "twist of driven wheels"}
_COMMAND_KEYS = ("time", *_KINDS, "value", "ramp")
# Components of a vehicle's twist: speeds forward and to the left [m/s], yaw rate [rad/s].
TWIST = ("twist.x", "twist.y", "twist.yaw")


@dataclass(frozen=True)
class TimedCommand:
    """One entry of a program.

    Attributes:
        time: when it takes effect, from the start of the program [s], >= 0.
        actuator: name of a valve or of a joint with a drive, or one of `TWIST`.
        value: spool command [-1, 1], the joint's target in the unit of its drive's mode, or a speed.
        ramp: duration of the linear ramp to the value [s], >= 0.
        kind: ``valve``, ``joint`` or ``twist``.
        line: 1-based line in the file that it came from, 0 when there is none.
    """

    time: float
    actuator: str
    value: float
    ramp: float = 0.0
    kind: str = "valve"
    line: int = 0


class CommandProgram:
    """Command of every actuator as a function of the time since the program began.

    Args:
        commands: in any order.
        repeat: whether the program starts again after `period`.
        period: length of one cycle [s]; None: when the last command is reached.
        file: its file, for messages.

    Raises:
        ParameterError: a time, value or ramp is not finite, a valve's value leaves [-1, 1], a repeated program has
            no length, or one ends before its last command.
    """

    def __init__(
        self, commands: Iterable[TimedCommand], *, repeat: bool = False, period: float | None = None, file: str = ""
    ) -> None:
        self.commands = tuple(sorted(commands, key=lambda command: command.time))
        self.repeat = repeat
        self.file = file
        for command in self.commands:
            _check_command(command)
        end = max((command.time + command.ramp for command in self.commands), default=0.0)
        self.period = end if period is None else float(period)
        if not math.isfinite(self.period) or self.period < end:
            raise ParameterError("period", period, f"a finite time >= {end:g} s, when the last command is reached")
        if repeat and self.period <= 0.0:
            raise ParameterError("period", period, "a program that repeats needs a period above 0 s")
        self._tracks = {
            name: _Track([command for command in self.commands if command.actuator == name])
            for name in dict.fromkeys(command.actuator for command in self.commands)
        }

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators that the program commands, by their first command."""
        return tuple(self._tracks)

    def check(self, valves: Collection[str], drives: Collection[str], twist: Collection[str] = ()) -> None:
        """Checks every name against a machine.

        Args:
            valves: names of its valves.
            drives: names of its joints with a servo drive.
            twist: `TWIST` if it is a vehicle.

        Raises:
            MachineError: a command names a valve, joint or twist that the machine does not have.
        """
        for command in self.commands:
            known = {"valve": valves, "joint": drives, "twist": twist}[command.kind]
            if command.actuator not in known:
                raise MachineError(
                    f"the machine has no {_KINDS[command.kind]} {command.actuator!r}",
                    file=self.file or None,
                    line=command.line or None,
                    element="commands",
                    remedy=closest(command.actuator, known),
                )

    def values(self, time: float, initial: Mapping[str, float] | None = None) -> dict[str, float]:
        """The commands in force.

        Args:
            time: since the program began [s].
            initial: values before the first command, where a first ramp starts; 0 for a name that is not in it.

        Returns:
            The command of every actuator whose first command has been reached.
        """
        rounds, moment = divmod(time, self.period) if self.repeat else (0.0, time)
        initial = {} if initial is None else initial
        values = {}
        for name, track in self._tracks.items():
            start = track.final if rounds > 0.0 else initial.get(name, 0.0)
            if rounds > 0.0 or moment >= track.first_time:
                values[name] = track.value(moment, start)
        return values

    def constant_until(self, time: float) -> float:
        """When the commands in force at `time` may change next [s]; `time` itself within a ramp, inf at the end."""
        rounds, moment = divmod(time, self.period) if self.repeat else (0.0, time)
        if any(0.0 <= moment - command.time <= (1.0 + _ROUNDING) * command.ramp for command in self.commands):
            return time
        later = [command.time for command in self.commands if command.time > moment]
        if later:
            return time - moment + later[0]
        return (rounds + 1.0) * self.period if self.repeat else math.inf

    def finished(self, time: float) -> bool:
        """Whether all commands are constant after `time` [s]."""
        return not self.repeat and time >= self.period


class _Track:
    """The commands of one actuator in order of time, piecewise linear."""

    def __init__(self, commands):
        self._commands = commands
        self._times = [command.time for command in commands]
        self.first_time = self._times[0]
        self.final = self.value(math.inf, 0.0)

    def value(self, time, start):
        """Value at `time` [s]; `start` holds before the first command."""
        last = bisect.bisect_right(self._times, time)
        value = start
        for index in range(last):
            command = self._commands[index]
            until = self._times[index + 1] if index + 1 < last else time
            elapsed = until - command.time
            if elapsed >= command.ramp:
                value = command.value
            else:
                value += (command.value - value) * elapsed / command.ramp
        return value


def load_program(path: str | Path) -> CommandProgram:
    """Reads a program.

    Args:
        path: of the YAML file.

    Raises:
        MachineError: the file cannot be read or is not a program; the message has the file and the line.
    """
    return parse_program(read_text(Path(path), _BYTES_MAX, "command program"), str(path))


def parse_program(text: str, path: str) -> CommandProgram:
    """Reads a program from the text of its file.

    Args:
        text: YAML.
        path: of the file, for messages.

    Raises:
        MachineError: the text is no program.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise MachineError(f"not valid YAML: {error.problem}", file=path, line=line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MachineError(f"not valid YAML: {error}", file=path) from error
    if not isinstance(content, dict) or not isinstance(content.get("commands"), list):
        raise MachineError("a command program is a mapping with a list `commands`", file=path, line=1)
    _refuse_unknown_keys(content, _TOP_KEYS, path, 1, "command program")
    repeat = content.get("repeat", False)
    if not isinstance(repeat, bool):
        raise MachineError(f"repeat is {repeat!r}; valid is true or false", file=path, line=1)
    period = content.get("period")
    if period is not None:
        period = _number(content, "period", path, 1, "command program")
    entries = content["commands"]
    commands = [_read_command(*entry, path) for entry in zip(entries, _entry_lines(root, len(entries)), strict=True)]
    try:
        return CommandProgram(commands, repeat=repeat, period=period, file=str(path))
    except ParameterError as error:
        raise MachineError(str(error), file=path) from error


def _entry_lines(root, count):
    """1-based lines of the entries of `commands`; 1 where a merge key hides them."""
    for key, value in root.value:
        if key.value == "commands" and len(value.value) == count:
            return [entry.start_mark.line + 1 for entry in value.value]
    return [1] * count


def _read_command(entry, line, path):
    element = "commands"
    if not isinstance(entry, dict):
        raise MachineError(
            f"{entry!r} is not a command",
            file=path,
            line=line,
            element=element,
            remedy="write {time: 1.0, valve: boom_valve, value: 0.5}",
        )
    _refuse_unknown_keys(entry, _COMMAND_KEYS, path, line, element)
    named = [kind for kind in _KINDS if kind in entry]
    if len(named) != 1:
        raise MachineError("a command names one valve, joint or twist", file=path, line=line, element=element)
    kind = named[0]
    if not isinstance(entry[kind], str):
        raise MachineError(f"{kind} is {entry[kind]!r}; valid is a name", file=path, line=line, element=element)
    command = TimedCommand(
        time=_number(entry, "time", path, line, element),
        actuator=f"twist.{entry[kind]}" if kind == "twist" else entry[kind],
        value=_number(entry, "value", path, line, element),
        ramp=_number({"ramp": 0.0, **entry}, "ramp", path, line, element),
        kind=kind,
        line=line,
    )
    try:
        _check_command(command)
    except ParameterError as error:
        raise MachineError(str(error), file=path, line=line, element=element) from error
    return command


def _check_command(command):
    for name, lowest in (("time", 0.0), ("value", -math.inf), ("ramp", 0.0)):
        value = getattr(command, name)
        if not math.isfinite(value) or value < lowest:
            raise ParameterError(name, value, "a finite number" + (" >= 0 s" if lowest == 0.0 else ""))
    if command.kind == "valve" and abs(command.value) > 1.0:
        raise ParameterError("value", command.value, "a spool command in [-1, 1]")


def _refuse_unknown_keys(mapping, known, path, line, element):
    for key in mapping:
        if key not in known:
            raise MachineError(
                f"unknown key {key!r}", file=path, line=line, element=element, remedy=closest(str(key), known)
            )


def _number(mapping, key, path, line, element):
    value = mapping.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        found = f"{key} is missing" if key not in mapping else f"{key} is {value!r}"
        raise MachineError(f"{found}; valid is a number", file=path, line=line, element=element)
    return float(value) if abs(value) <= sys.float_info.max else math.inf
