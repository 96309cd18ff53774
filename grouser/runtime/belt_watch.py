"""Warnings of belts that jump over teeth of their sprockets or leave their wheels."""

import math
from collections.abc import Callable, Sequence

from grouser.physics.description.data.track import Track
from grouser.physics.simulation.view import MachineView


class BeltWatch:
    """Watches the belts of a robot that have limits.

    Args:
        robot: whose tracks are watched.
        tracks: of the robot, by its own names.
        warn: takes a warning for the user.
    """

    def __init__(self, robot: MachineView, tracks: Sequence[Track], warn: Callable[[str], None]) -> None:
        self._robot, self._warn = robot, warn
        self._seen: dict[str, tuple[float, bool]] = {}
        self._limits = {
            track.name: track
            for track in tracks
            if math.isfinite(track.jump_tension) or math.isfinite(track.throw_force)
        }

    def rebind(self, robot: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self._robot = robot

    def reset(self) -> None:
        """Forgets what has been seen."""
        self._seen.clear()

    def look(self) -> None:
        """Warns of belts that have jumped or been thrown since the last look."""
        for name, track in self._limits.items():
            state = self._robot.track[name]
            jumped, thrown = self._seen.get(name, (0.0, False))
            if state.thrown and not thrown:
                self._warn(
                    f"the belt of track '{name}' is thrown: the ground pushed it from the side with more than "
                    f"{track.throw_force:g} N; it drives no more until a reset"
                )
            if state.jumped_teeth > jumped:
                self._warn(
                    f"the belt of track '{name}' has jumped over {state.jumped_teeth:g} teeth of its sprocket: its "
                    f"tension was above {track.jump_tension:g} N"
                )
            self._seen[name] = state.jumped_teeth, state.thrown
