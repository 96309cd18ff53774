"""Positions of joints that are commanded by a speed: a lever in neutral holds the joint."""

import math
from collections.abc import Mapping, Sequence


class PositionTargets:
    """Targets of drives in position mode, which move at the speed of a lever.

    Args:
        limits: joint -> lowest and highest target [rad or m].
    """

    def __init__(self, limits: Mapping[str, tuple[float, float]]) -> None:
        self._limits = limits
        self._measured: dict[str, float] = {}
        self._targets: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._limits)

    def measure(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """Takes present positions [rad or m]; those of other joints, and what is not finite, are ignored."""
        for name, position in zip(names, positions, strict=False):
            if name in self._limits and math.isfinite(position):
                self._measured[name] = float(position)

    def advance(self, speeds: Mapping[str, float], elapsed: float) -> dict[str, float]:
        """Moves the targets on; returns those of the joints that were moved since `forget`.

        A joint is not commanded before its lever first moves, and then from its present position.

        Args:
            speeds: joint -> speed of its target [rad/s or m/s].
            elapsed: time since the last call [s].
        """
        for joint, speed in speeds.items():
            start = self._targets.get(joint, self._measured.get(joint))
            if start is None or (speed == 0.0 and joint not in self._targets):
                continue
            low, high = self._limits[joint]
            self._targets[joint] = min(max(start + speed * elapsed, low), high)
        return dict(self._targets)

    def forget(self) -> None:
        """Lets go of all joints; their drives hold the last targets."""
        self._targets.clear()
