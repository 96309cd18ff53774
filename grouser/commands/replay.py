"""`grouser replay`: repeats a recorded run, and compares the states bit by bit."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from grouser.arguments import Parser
from grouser.json_output import SCREEN, add_json, write_json
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.progress import showing_compilation
from grouser.recording.events import StateReached
from grouser.recording.mcap_file import Recording
from grouser.recording.origin import Origin, present_versions
from grouser.recording.player import Player

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
    parser.add_argument("--view", action="store_true", help="show it in the browser, forward and back, with ROS 2")
    parser.add_argument("--port", metavar="NUMBER", help="of the page of --view")
    add_json(parser)
    options = parser.parse_args(arguments)
    recording = Recording(options.file)
    origin = recording.origin
    if options.view:
        if options.json is not None:
            parser.error("--json gives the result of the comparison, without --view")
        _view(recording, options.port)
    if options.port is not None:
        parser.error("--port is that of the page: give --view, too")
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


def _view(recording: Recording, port: str | None) -> NoReturn:
    """Shows a recording in the browser, then ends the process."""
    from grouser.commands.run import make_parser, show  # a comparison needs no ROS

    origin = recording.origin
    parser = make_parser("grouser replay", __doc__)
    options = parser.parse_args([] if port is None else ["--port", port])
    options.replay, options.world, options.program = str(recording.file), origin.world_file, ""
    options.step = origin.step
    show(parser, options, ())


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
    player = Player(recording.origin)
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
