"""A recorded run at any of its moments, forward and back."""

from collections.abc import Iterable, Iterator

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.simulation.capacity import StateCapacity, capacity_of
from grouser.physics.simulation.simulation import Simulation
from grouser.recording.events import Event, Rewound, StateGiven, StateReached, WasReset
from grouser.recording.mcap_file import Recording
from grouser.recording.player import Checkpoint, Player

MEMORY = 256 * 2**20  # of the checkpoints [bytes]
_SPACING = 0.1  # of the checkpoints of a short recording [s]


class Timeline:
    """Repeats a recorded run up to any of its moments.

    It goes back to the nearest saved moment (checkpoint), and from there makes the recorded steps again. Checkpoints
    are saved while it goes on for the first time; when they take more than `memory`, every second one is dropped and
    their spacing doubled. Each recorded hash that is passed is compared with the state.

    Moments count all steps since the start of the recording; unlike the time stamps, no reset sets them back. At a
    moment, all events that were recorded there have happened.

    Args:
        recording: read to its end; all its events stay in memory.
        memory: of the checkpoints [bytes], at least two of which are kept.

    Raises:
        MachineError: the recording cannot be read, or has no events.

    Attributes:
        moment: the present one.
        end: the last one.
        compared: number of equal states among those that were passed.
        differences: moment -> the difference found there, in words.
        problem: missing parts of the recording; "" for none.
    """

    def __init__(self, recording: Recording, memory: int = MEMORY) -> None:
        self._file = recording.file
        self._player = Player(recording.origin)
        placed = list(_placed(recording.events()))
        if not placed:
            raise MachineError(f"it holds no events: {recording.problem}", file=self._file)
        self.problem = recording.problem
        self._moments = [moment for moment, _ in placed]
        self._events = [event for _, event in placed]
        self._compared: set[int] = set()  # indices of events
        self._capacities: dict[int, StateCapacity] = {}  # of the recorded states, by index of the event
        self._next = 0  # event
        self._memory = memory
        self._spacing = max(1, round(_SPACING / recording.origin.step))
        self.moment, self.end = 0, self._moments[-1]
        self.differences: dict[int, str] = {}
        self._checkpoints: dict[int, tuple[Checkpoint, int]] = {}  # moment -> checkpoint and next event
        self._size = 0
        self._save()
        self._play_events()

    @property
    def simulation(self) -> Simulation:
        """In the present moment; another one after machines came or went."""
        return self._player.simulation

    @property
    def step(self) -> int:
        """Number of steps at the present moment as the time stamps count them."""
        return self._player.step

    @property
    def compared(self) -> int:
        """Number of recorded states that were passed and were equal to the last bit."""
        return len(self._compared)

    @property
    def hints(self) -> tuple[str, ...]:
        """Possible causes of differences."""
        return self._player.hints

    @property
    def checkpoint_memory(self) -> int:
        """Of the saved moments [bytes]."""
        return self._size

    def seek(self, moment: int) -> None:
        """Goes to a moment, from whichever.

        Raises:
            ParameterError: it is not between 0 and the end.
            MachineError: an event cannot be applied.
        """
        if not 0 <= moment <= self.end:
            raise ParameterError("moment", moment, f"a step of the recording, from 0 to {self.end}")
        # From an earlier moment than the wanted one: what sensors measure needs a step.
        start = max((saved for saved in self._checkpoints if saved < moment), default=0)
        if moment < self.moment or start > self.moment:
            checkpoint, self._next = self._checkpoints[start]
            self._player.restore(checkpoint)
            self.moment = start
            if moment == start:
                self._play_events()
        while self.moment < moment:
            self._advance(moment)

    def _advance(self, moment: int) -> None:
        """Goes on to the next moment with events or of a checkpoint, at most to the given one."""
        grid = self.moment - self.moment % self._spacing + self._spacing
        target = min(moment, grid, self._moments[self._next])
        self._player.advance(self._player.step + target - self.moment)
        self.moment = target
        if target == grid and target not in self._checkpoints:
            self._save()
        self._play_events()

    def _play_events(self) -> None:
        """Plays the events of the present moment."""
        while self._next < len(self._events) and self._moments[self._next] == self.moment:
            event = self._events[self._next]
            # Capacity grows by need and never shrinks, so that only the first pass has that of the recorded state.
            capacity = self._capacities.setdefault(self._next, capacity_of(self.simulation.state))
            try:
                difference = self._player.play(event, capacity)
            except ParameterError as error:
                raise MachineError(f"it cannot be replayed: {error}", file=self._file) from None
            if difference is not None:
                self.differences.setdefault(self.moment, difference)
            elif isinstance(event, StateReached):
                self._compared.add(self._next)
            self._next += 1

    def _save(self) -> None:
        """Saves the present moment before its events, and makes room if there is too little."""
        checkpoint = self._player.save()
        self._checkpoints[self.moment] = checkpoint, self._next
        self._size += checkpoint.size
        while self._size > self._memory and len(self._checkpoints) > 2:
            self._spacing *= 2
            for moment in [one for one in self._checkpoints if one % self._spacing]:
                self._size -= self._checkpoints.pop(moment)[0].size


def _placed(events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Events with their moments."""
    earlier = 0  # steps that the stamps no longer count
    for event in events:
        if isinstance(event, StateGiven):
            earlier = -event.step
        yield event.step + earlier, event
        if isinstance(event, WasReset):
            earlier += event.step - event.continues_at
        elif isinstance(event, Rewound):
            earlier += event.step
