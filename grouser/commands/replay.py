"""`grouser replay`: repeats a recorded run, and compares the states bit by bit."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grouser.arguments import Parser
from grouser.json_output import SCREEN, add_json, write_json
from grouser.physics.base.errors import DivergenceError, MachineError, ParameterError
from grouser.physics.description import parse_world
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.world import NOWHERE
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.transfer import simulate, transfer_state
from grouser.progress import showing_compilation
from grouser.recording.events import (
    Commanded,
    Diverged,
    Event,
    FaultsChanged,
    Joined,
    Left,
    Placed,
    Released,
    Rewound,
    StateReached,
    Stopped,
    WasReset,
    WorldLoaded,
)
from grouser.recording.mcap_file import Recording
from grouser.recording.origin import Origin, present_versions
from grouser.recording.state_hash import state_hash

EXIT_DIFFERENT = 1


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser replay`.

    Args:
        arguments: what follows the word `replay`.

    Returns:
        0 if all recorded states are equal to the last bit, 1 if not.

    Raises:
        MachineError: the file is no recording, or one that cannot be replayed.
    """
    parser = Parser(prog="grouser replay", description=__doc__)
    parser.add_argument("file", help="recording, from `grouser record` or the parameter `record` of the simulator")
    add_json(parser)
    options = parser.parse_args(arguments)
    recording = Recording(options.file)
    origin = recording.origin
    with showing_compilation():
        result = replay(recording)
    hints = [] if result.difference is None else [*result.hints, *version_hints(origin)]
    if options.json is not None:
        facts: dict[str, Any] = {
            "file": str(recording.file),
            "machine": str(origin.machine_file),
            "world": str(origin.world_file),
        }
        facts |= {"step": origin.step, "problem": recording.problem or None, "hints": hints}
        facts |= {"compared": result.compared, "time": result.time, "difference": result.difference}
        write_json(options.json, facts)
    if options.json == SCREEN:
        return 0 if result.difference is None else EXIT_DIFFERENT
    print(f"{recording.file}: {origin.machine_file} in {origin.world_file}, step {origin.step:g} s")
    if recording.problem:
        print(f"incomplete: {recording.problem}")
    if result.difference is None:
        print(f"the same to the last bit: {result.compared} states up to t = {result.time:.3f} s")
        return 0
    print(f"the first difference is in second {int(result.time)}, at t = {result.time:.3f} s: {result.difference}")
    for hint in hints:
        print(f"  {hint}")
    return EXIT_DIFFERENT


@dataclass(frozen=True)
class Replay:
    """Result of a replay.

    Attributes:
        compared: number of equal states.
        time: of the last one, or of the difference [s].
        difference: the first, in words; None if there is none.
        hints: possible causes.
    """

    compared: int
    time: float
    difference: str | None = None
    hints: tuple[str, ...] = ()


def replay(recording: Recording) -> Replay:
    """Repeats a recorded run, up to the first difference.

    Raises:
        MachineError: the recording cannot be replayed, or compares nothing.
    """
    player = _Player(recording.origin)
    compared, time = 0, 0.0
    for event in recording.events():
        try:
            difference = player.play(event)
        except ParameterError as error:
            raise MachineError(f"it cannot be replayed: {error}", file=recording.file) from None
        if difference is not None:
            deque(recording.events(), maxlen=0)  # Problems of the file are known at its end.
            return Replay(compared, player.time, difference, player.hints)
        if isinstance(event, StateReached):
            compared, time = compared + 1, player.time
    if compared == 0:
        raise MachineError(f"it holds no state to compare: {recording.problem}", file=recording.file)
    return Replay(compared, time)


def version_hints(origin: Origin) -> list[str]:
    """Differences between the present versions and the recorded ones, which may round differently."""
    present = present_versions()
    return [
        f"recorded with {name} {recorded}, replayed with {present.get(name, 'none')}"
        for name, recorded in origin.versions.items()
        if present.get(name) != recorded
    ]


class _Player:
    """A simulation that repeats the events of a recording."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._simulation = origin.simulation()
        machine = self._simulation.machine
        self._members = {one.name: one for one in machine.members} or {"": Member(machine)}
        self._world = self._simulation.world
        self._step = 0
        same = self._simulation.snapshot().system == origin.system
        self.hints = () if same else ("machine and world already come out differently from the same files",)

    @property
    def time(self) -> float:
        """Time as in the time stamps [s]."""
        return self._step * self._simulation.step_size

    def play(self, event: Event) -> str | None:
        """Steps to an event and applies it; returns the difference, or None."""
        problem = self._go_to(event.step)
        expected = event.problem if isinstance(event, Diverged) else ""
        if problem != expected:
            return f"{problem or 'no divergence'}; recorded: {expected or 'none'}"
        simulation = self._simulation
        match event:
            case Commanded():
                simulation.command.update(event.values)
            case FaultsChanged():
                simulation.faults.clear()
                for component, faults in event.faults.items():
                    for name, value in faults.items():
                        simulation.faults[component][name] = value
            case Stopped():
                simulation.part(event.machine).emergency_stop = True
            case Released():
                simulation.part(event.machine).release_emergency_stop()
            case Placed():
                place = simulation.part(event.machine).place
                place(event.position, event.quaternion, event.linear, event.angular)
            case Joined():
                self._members[event.machine] = event.member()
                if not event.more:
                    self._exchange()
            case Left():
                del self._members[event.machine]
                self._exchange()
            case WorldLoaded():
                self._members.clear()
                self._world = parse_world(event.world, event.file) if event.world else NOWHERE
                self._simulation = self._make()
            case WasReset():
                simulation.reset()
                self._step = event.continues_at
            case Rewound():
                self._step = 0
            case StateReached() if (found := state_hash(simulation.state)) != event.hash:
                return f"the state has the hash {found}; recorded: {event.hash}"
        return None

    def _make(self) -> Simulation:
        """A simulation of the present machines."""
        origin = self._origin
        settings = (origin.step, origin.scheme, origin.integrator, origin.spawn, origin.sleeping)
        return simulate(self._members, self._world, *settings)

    def _exchange(self) -> None:
        """Continues with the present machines."""
        before, self._simulation = self._simulation, self._make()
        transfer_state(before, self._simulation)

    def _go_to(self, step: int) -> str:
        """Makes steps; returns the problem if the simulation diverges."""
        if step < self._step:
            raise ParameterError("step", step, f"at least {self._step}")
        if step == self._step:
            return ""  # Zero steps would open the accounts of a simulation at its start.
        before = self._simulation.step_count
        try:
            self._simulation.step(step - self._step)
        except DivergenceError as error:
            return str(error)
        finally:
            self._step += self._simulation.step_count - before
        return ""
