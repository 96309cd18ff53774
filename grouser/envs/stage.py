"""Copies of a simulation and their episodes: what single and vectorised environments have in common."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from gymnasium import spaces

from grouser.envs.task import Episode, Outcome, Task, samples
from grouser.physics.base.errors import ParameterError
from grouser.physics.simulation.simulation import Simulation

# Steps some of the copies, by their numbers.
Stepper = Callable[[int, Sequence[int]], None]


class Stage:
    """Episodes of a task in copies of its simulation.

    Args:
        task: what is done.
        simulations: the copies.
        step: makes a number of steps of some of them.
    """

    def __init__(self, task: Task, simulations: Sequence[Simulation], step: Stepper) -> None:
        self._task, self._simulations, self._step = task, simulations, step
        self._episodes: list[Episode | None] = [None] * len(simulations)
        self._scales = np.array([quantity.scale for quantity in task.observations])

    def begin(self, copies: Iterable[int], random: Sequence[np.random.Generator]) -> None:
        """Begins new episodes.

        Args:
            copies: numbers of the simulations.
            random: of every simulation.
        """
        waiting = list(copies)
        for _ in samples():
            begun = {copy: self._task.start(self._simulations[copy], random[copy]) for copy in waiting}
            self._step(self._task.settling, waiting)
            self._episodes = [begun.get(copy, episode) for copy, episode in enumerate(self._episodes)]
            waiting = [copy for copy, episode in begun.items() if not episode.begin()]
            if not waiting:
                break

    def advance(self, copies: Sequence[int], actions: np.ndarray) -> list[Outcome]:
        """Makes a step of the environment in some copies.

        Args:
            copies: numbers of the simulations, whose episodes have begun.
            actions: of all copies, (copies, actions).

        Raises:
            ParameterError: an action that is not from -1 to 1; no copy has been stepped.
            DivergenceError: as of `Simulation.step`.
        """
        shape = (len(self._simulations), len(self._task.actions))
        if actions.shape != shape or not (np.abs(actions[list(copies)]) <= 1.0).all():
            raise ParameterError("action", actions.tolist(), f"numbers from -1 to 1, of the shape {shape[1:]} each")
        for copy in copies:
            self._episode(copy).act(actions[copy])
        self._step(self._task.interval, copies)
        return [self._episode(copy).judge(actions[copy]) for copy in copies]

    def observe(self, copy: int) -> np.ndarray:
        """Observation of a copy, (observations,)."""
        values = np.array(self._episode(copy).observe(), dtype=float)
        return np.clip(values / self._scales, -1.0, 1.0).astype(np.float32)

    def _episode(self, copy: int) -> Episode:
        episode = self._episodes[copy]
        assert episode is not None, "episodes begin by `begin`"
        return episode


def refuse_pictures(render_mode: object) -> None:
    """Refuses a mode of drawing.

    Raises:
        ParameterError: it is not None.
    """
    if render_mode is not None:
        raise ParameterError("render_mode", render_mode, "None: the environments draw no pictures")


def observation_space(task: Task) -> spaces.Box:
    """Space of a task's observations."""
    return spaces.Box(-1.0, 1.0, (len(task.observations),), np.float32)


def action_space(task: Task) -> spaces.Box:
    """Space of a task's actions."""
    return spaces.Box(-1.0, 1.0, (len(task.actions),), np.float32)
