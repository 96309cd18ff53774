"""A simulation that repeats the events of a recording."""

from collections.abc import Mapping
from typing import NamedTuple

from grouser.physics.base.errors import DivergenceError, ParameterError
from grouser.physics.base.trees import leaves
from grouser.physics.description import parse_world
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.world import NOWHERE, World
from grouser.physics.simulation.capacity import StateCapacity, with_capacity
from grouser.physics.simulation.pushes import Push
from grouser.physics.simulation.simulation import Simulation, Snapshot
from grouser.physics.simulation.transfer import simulate, transfer_state
from grouser.recording.events import (
    Commanded,
    Diverged,
    Event,
    FaultsChanged,
    Joined,
    Left,
    Placed,
    Pushed,
    Released,
    Rewound,
    StateGiven,
    StateReached,
    Stopped,
    WasReset,
    WorldLoaded,
)
from grouser.recording.origin import Origin
from grouser.recording.state_arrays import read
from grouser.recording.state_hash import state_hash


class Checkpoint(NamedTuple):
    """What a player continues from, opaque."""

    simulation: Simulation
    snapshot: Snapshot
    members: Mapping[str, Member]
    world: World
    step: int
    problem: str
    recorded_problem: str

    @property
    def size(self) -> int:
        """Memory of the saved arrays [bytes]; the simulation is shared by all checkpoints with the same machines."""
        return sum(array.nbytes for array in leaves((self.snapshot.state, self.snapshot.command)))


class Player:
    """Repeats a recorded run from where the recording begins.

    Args:
        origin: of the recording.

    Raises:
        MachineError: a mesh or map is missing or has changed.

    Attributes:
        simulation: the present one; another one after machines came or went.
        step: number of steps as the time stamps count them.
        hints: possible causes of differences.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self.simulation = origin.simulation()
        machine = self.simulation.machine
        self._members = {one.name: one for one in machine.members} or {"": Member(machine)}
        self._world = self.simulation.world
        self.step = 0
        self._problem = ""  # divergence of the present state
        self._recorded_problem = ""  # and the one that the events tell of
        same = self.simulation.snapshot().system == origin.system
        self.hints = () if same else ("machine and world already come out differently from the same files",)

    @property
    def time(self) -> float:
        """Time as in the time stamps [s]."""
        return self.step * self.simulation.step_size

    def save(self) -> Checkpoint:
        """The present moment, for `restore`."""
        moment = self.simulation, self.simulation.snapshot(), dict(self._members), self._world
        return Checkpoint(*moment, self.step, self._problem, self._recorded_problem)

    def restore(self, saved: Checkpoint) -> None:
        """Continues from a moment that this player saved; measurements of the last step are empty until the next."""
        self.simulation, self._members, self._world = saved.simulation, dict(saved.members), saved.world
        self.step, self._problem, self._recorded_problem = saved.step, saved.problem, saved.recorded_problem
        self.simulation.restore(saved.snapshot)

    def advance(self, step: int) -> None:
        """Makes steps with nothing changed, up to a count, or to a divergence.

        Raises:
            ParameterError: the count is behind.
        """
        if step < self.step:
            raise ParameterError("step", step, f"at least {self.step}")
        if step == self.step or self._problem:
            return  # Zero steps would open the accounts of a simulation at its start.
        before = self.simulation.step_count
        try:
            self.simulation.step(step - self.step)
        except DivergenceError as error:
            self._problem = str(error)
        finally:
            self.step += self.simulation.step_count - before

    def play(self, event: Event, capacity: StateCapacity | None = None) -> str | None:
        """Steps to an event and applies it; returns the difference, or None.

        Args:
            event: the next one.
            capacity: of a recorded state; None: that of the present one, which after `restore` may be larger.

        Raises:
            GrouserError: it cannot be applied.
        """
        if isinstance(event, StateGiven):
            self._begin(event)
            return None
        self.advance(event.step)
        if isinstance(event, Diverged):
            self._recorded_problem = event.problem
        if self._problem != self._recorded_problem:
            return f"{self._problem or 'no divergence'}; recorded: {self._recorded_problem or 'none'}"
        simulation = self.simulation
        match event:
            case Commanded():
                simulation.command.update(event.values)
            case Pushed():
                pushes = simulation.part(event.machine).pushes
                if any(event.force) or any(event.moment):
                    pushes[event.link] = Push(event.force, moment=event.moment)
                else:
                    pushes.pop(event.link, None)
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
                self.simulation = self._make()
                self._problem = self._recorded_problem = ""
            case WasReset():
                simulation.reset()
                self.step = event.continues_at
                self._problem = self._recorded_problem = ""
            case Rewound():
                self.step = 0
            case StateReached() if (found := self._hash(capacity)) != event.hash:
                return f"the state has the hash {found}; recorded: {event.hash}"
        return None

    def _begin(self, event: StateGiven) -> None:
        """Continues from the state in which a recording begins."""
        present = self.simulation.snapshot()
        state, command = read("state", event.state, present.state), read("command", event.command, present.command)
        for own, other in zip(leaves(present.command), leaves(command), strict=True):
            if own.shape != other.shape:
                raise ParameterError("command", f"an array of {other.shape}", f"one of this machine, {own.shape}")
        self.simulation.use_state(state)
        self.simulation.restore(present._replace(state=state, command=command))
        self.step = event.step

    def _hash(self, capacity: StateCapacity | None) -> str:
        state = self.simulation.state
        return state_hash(state if capacity is None else with_capacity(state, capacity))

    def _make(self) -> Simulation:
        """A simulation of the present machines."""
        origin = self._origin
        settings = (origin.step, origin.scheme, origin.integrator, origin.spawn, origin.sleeping)
        return simulate(self._members, self._world, *settings)

    def _exchange(self) -> None:
        """Continues with the present machines."""
        before, self.simulation = self.simulation, self._make()
        transfer_state(before, self.simulation)
