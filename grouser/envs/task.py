"""What an environment is made of: quantities, a task with its machine, and an episode of one simulation."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from grouser.loading import load_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.simulation.simulation import Simulation

# Samples of a start or a goal before a task gives up: a hundredth of all positions is enough.
_MOST_SAMPLES = 2000


@dataclass(frozen=True)
class Quantity:
    """A number of an observation or an action, which is the quantity by its scale, from -1 to 1.

    Attributes:
        name: what it is.
        scale: value that 1 stands for.
        unit: of the scale; "-" for none.
    """

    name: str
    scale: float
    unit: str


@dataclass(frozen=True)
class Outcome:
    """Result of a step of an environment.

    Attributes:
        reward: of the step.
        terminated: whether the episode ends, by success or failure.
        success: whether the goal is reached.
    """

    reward: float
    terminated: bool = False
    success: bool = False


class Episode(ABC):
    """One run of a simulation from its start to the end; a new one is made for each.

    Args:
        simulation: at its start.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation

    def begin(self) -> bool:
        """Takes up what the start is once the machine has settled; false: it is not valid, and another is sampled."""
        return True

    @abstractmethod
    def act(self, action: np.ndarray) -> None:
        """Sets the commands for the next step of the environment, from the task's actions."""

    @abstractmethod
    def observe(self) -> Sequence[float]:
        """The observed quantities, in the task's order and their units."""

    @abstractmethod
    def judge(self, action: np.ndarray) -> Outcome:
        """Judges the step of the environment that was made with an action."""


class Task(ABC):
    """A machine with something to do.

    Attributes:
        actions, observations: their quantities.
        interval: steps of the simulation in a step of the environment, during which commands are held.
        settling: steps before an episode begins, with all valves in neutral.
        most_steps: of the environment, after which an episode is truncated.
        purpose, reward, end: in words, for the documentation.
    """

    actions: ClassVar[tuple[Quantity, ...]]
    observations: ClassVar[tuple[Quantity, ...]]
    interval: ClassVar[int]
    settling: ClassVar[int]
    most_steps: ClassVar[int]
    purpose: ClassVar[str]
    reward: ClassVar[str]
    end: ClassVar[str]

    @abstractmethod
    def make_simulation(self) -> Simulation:
        """A simulation of the machine in its world."""

    @abstractmethod
    def start(self, simulation: Simulation, random: np.random.Generator) -> Episode:
        """Resets a simulation to a random start; it has to settle before `Episode.begin`."""


@cache
def shared_machine(name: str) -> Machine:
    """A machine of the catalogue, loaded once."""
    return load_machine(name)


def samples():
    """Numbers of attempts to sample something valid.

    Raises:
        RuntimeError: none of them was.
    """
    yield from range(_MOST_SAMPLES)
    raise RuntimeError(f"none of {_MOST_SAMPLES} sampled positions was valid: report it with the seed")
