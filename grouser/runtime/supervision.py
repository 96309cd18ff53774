"""Command supervision: which source commands the actuators, and what happens when it falls silent."""

from collections.abc import Callable, Mapping

from grouser.function_blocks.block import Value
from grouser.physics.base.errors import MachineError
from grouser.physics.simulation.view import MachineView
from grouser.runtime.program_playing import DiagramPlayer, ProgramPlayer, operator_input


class CommandSupervisor:
    """Merges the command program and the command sources, with a silence watchdog.

    A timed program plays until any source commands; then its actuators go to their safe values and it stays off until
    a reset. A diagram goes on: it takes the commands that it reads, and those of its other actuators are refused. When
    a source has been silent for longer than the timeout, its actuators go to their safe values: valves to neutral,
    velocity and effort drives to zero; position drives hold their last target. Silence is measured in simulation time,
    so that a run is repeatable and a pause is not silence.

    Args:
        step_size: simulated time of a step [s].
        timeout: longest silence [s]; 0: any.
        safe_values: actuator -> its safe command; an actuator without one keeps its last command.
        program: a control program, or None.
        warn: takes a warning for the user.
        timeouts: source -> its own longest silence [s], where it has one.
    """

    def __init__(
        self,
        step_size: float,
        timeout: float,
        safe_values: Mapping[str, float],
        program: ProgramPlayer | None,
        warn: Callable[[str], None],
        timeouts: Mapping[str, float] | None = None,
    ) -> None:
        self.timeout = timeout
        self.timeouts = dict(timeouts or {})
        self.trips = 0
        self._step_size = step_size
        self._safe_values = dict(safe_values)
        self._program = program
        self._warn = warn
        self._playing = program
        self._stopped_by_fault = False
        self._operator: dict[str, float] = {}
        self._refused: set[str] = set()
        self._owner: dict[str, str] = {}
        self._last_command: dict[str, int] = {}
        self._silent: set[str] = set()

    @property
    def silent_sources(self) -> tuple[str, ...]:
        """Sources that have commanded before and are silent now."""
        return tuple(sorted(self._silent))

    def reset(self, step: int) -> None:
        """Forgets every source; the program begins again at `step`."""
        self._owner.clear()
        self._last_command.clear()
        self._silent.clear()
        self._begin_program(step)

    def rewind(self, steps: int) -> None:
        """Sets the step count back by `steps`; silences and the program's time stay as they are."""
        self._last_command = {source: last - steps for source, last in self._last_command.items()}
        if self._program is not None:
            self._program.rewind(steps)

    def rebind(self, robot: MachineView) -> None:
        """Goes on with the same machine in another simulation."""
        if self._program is not None:
            self._program.rebind(robot)

    def set_program_inputs(self, values: Mapping[str, Value]) -> None:
        """Sets inputs of a diagram."""
        if isinstance(self._program, DiagramPlayer):
            self._program.set_inputs(values)

    def stop_program(self) -> None:
        """Ends the program until the next reset; a diagram until the stop is released."""
        self._playing = None

    def release(self, step: int) -> None:
        """A diagram begins anew after a stop was released."""
        if self._program is not None and not self._program.yields and not self._stopped_by_fault:
            self._begin_program(step)

    def steps_to_next(self, step: int) -> int | None:
        """Steps until the program wants to be asked again; None: it does not mind."""
        return None if self._playing is None else self._playing.steps_to_next(step)

    def program_state(self, step: int) -> str:
        """State of the program: none, playing, finished or stopped."""
        if self._program is None:
            return "none"
        if self._playing is None:
            return "stopped"
        return "finished" if self._playing.finished(step) else "playing"

    def commands(self, step: int, messages: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Commands of the actuators for the next tick.

        Args:
            step: the present step.
            messages: received commands: source -> actuator -> value.

        Returns:
            Actuator -> value; other actuators keep their commands.
        """
        commands: dict[str, float] = {}
        if messages and self._playing is not None and self._playing.yields:
            commands.update(self._safe(self._playing.actuators))
            self._playing = None
            self._warn(f"{' and '.join(messages)} took over: the command program stops")
        for source, values in messages.items():
            commands.update(values)
            self._last_command[source] = step
            self._silent.discard(source)
            self._owner.update(dict.fromkeys(values, source))
        for source in self._newly_silent(step):
            owned = [name for name, owner in self._owner.items() if owner == source]
            if not owned:  # other sources command all of its actuators now
                del self._last_command[source]
                continue
            commands.update(self._safe(owned))
            self._silent.add(source)
            self.trips += 1
            self._warn(f"{source} has been silent for {self._patience(source):g} s: {', '.join(owned)} go to safety")
        return commands if self._program is None else self._with_program(step, self._program, commands)

    def _with_program(self, step: int, program: ProgramPlayer, commands: dict[str, float]) -> dict[str, float]:
        """Commands of the sources and of the program together."""
        if not program.yields:  # also where it stands: what it is to prevent must not happen then
            self._operator.update({name: commands.pop(name) for name in program.read if name in commands})
            for name in [name for name in commands if name in program.actuators]:
                del commands[name]
                self._refuse(name)
        if self._playing is None:
            return commands
        try:
            return {**program.commands(step, self._operator), **commands}
        except MachineError as error:
            self._playing, self._stopped_by_fault = None, True
            self._warn(f"the program stops until a reset: {error}")
            return {**self._safe(program.actuators), **commands}

    def _begin_program(self, step: int) -> None:
        self._playing, self._stopped_by_fault = self._program, False
        self._operator.clear()
        if self._program is not None:
            self._program.begin(step)

    def _refuse(self, name: str) -> None:
        """Tells once that a command is without effect."""
        if name not in self._refused:
            self._refused.add(name)
            self._warn(f"{name} is commanded by the program; a diagram that is to obey reads {operator_input(name)}")

    def _newly_silent(self, step):
        return [
            source
            for source, last in self._last_command.items()
            if source not in self._silent and 0.0 < self._patience(source) <= (step - last) * self._step_size
        ]

    def _patience(self, source):
        return self.timeouts.get(source, self.timeout)

    def _safe(self, actuators):
        return {name: self._safe_values[name] for name in actuators if name in self._safe_values}
