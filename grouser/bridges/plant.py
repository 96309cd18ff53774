"""The plant: the machine at the other end of a bridge, by the names of its signals."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

SILENCE = 0.5  # [s of wall time]: a measurement that has not come for longer is none


@dataclass(frozen=True)
class Signal:
    """An actuator that a bridge may command, or a measurement that it may show.

    Attributes:
        name: ``valve/boom_valve``, ``joint/boom/position``, ``hydraulics/boom_cylinder/pressure_piston_side``.
        unit: SI, as units.py has it: ``Pa``, ``rad``, ``m/s``, ``1``.
        is_command: whether a bridge commands it; else it measures it.
        low, high: its range in `unit`; infinite where there is no limit.
    """

    name: str
    unit: str
    is_command: bool
    low: float = float("-inf")
    high: float = float("inf")


class Plant(Protocol):
    """A machine, in this process or by topics.

    Its methods may be called from any thread, and return within a step of the machine.
    """

    def command(self, values: Mapping[str, float]) -> None:
        """Commands actuators: name of the signal -> value [SI]. All have been checked."""

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Returns the latest measurements [SI] by the names of their signals; NaN where there is none yet."""
