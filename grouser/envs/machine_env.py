"""An environment of one simulation."""

from typing import Any

import gymnasium
import numpy as np

from grouser.envs.stage import Stage, action_space, observation_space, refuse_pictures
from grouser.envs.task import Task


class MachineEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A task as Gymnasium's environment; it draws no pictures.

    Args:
        task: what is done.
        render_mode: None.

    Attributes:
        task: as given.
        simulation: what is stepped, to be read and recorded.

    Raises:
        ParameterError: a mode of drawing.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, task: Task, render_mode: None = None) -> None:
        refuse_pictures(render_mode)
        self.task = task
        self.observation_space, self.action_space = observation_space(task), action_space(task)
        self.simulation = task.make_simulation()
        self._stage = Stage(task, [self.simulation], lambda count, copies: self.simulation.step(count))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode; the same seed gives the same one, to the last bit."""
        super().reset(seed=seed)
        self._stage.begin([0], [self.np_random])
        return self._stage.observe(0), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Holds the commands of an action for an interval.

        Raises:
            ParameterError: the action has another shape, or a number that is not from -1 to 1.
            DivergenceError: the state is no longer finite; reset.
        """
        (outcome,) = self._stage.advance([0], np.asarray(action)[np.newaxis])
        return self._stage.observe(0), outcome.reward, outcome.terminated, False, {"is_success": outcome.success}
