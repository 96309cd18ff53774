"""Environments that step together in compiled code, on all cores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from grouser.envs.stage import Stage, action_space, observation_space, refuse_pictures
from grouser.envs.task import Task
from grouser.physics.base.checks import require_count
from grouser.physics.base.errors import ParameterError

_MOST_ENVS = 1_000_000


class MachineVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """A task in the copies of a batch (`Simulation.batch`): each has the bits of a `MachineEnv` with its seed.

    Args:
        task: what is done.
        num_envs: number of copies.
        max_episode_steps: after which an episode is truncated; the task's by default.
        autoreset_mode: when an episode that has ended begins anew: "NextStep", in the next step, whose action is not
            used; "SameStep", in the step that ends it, with its last observation in `info["final_obs"]`; "Disabled",
            by `reset` with `options={"reset_mask": ...}`.
        threads: that step; as many as there are cores when None.
        render_mode: None.

    Attributes:
        task: as given.
        batch: what is stepped, to be read.

    Raises:
        ParameterError: a number that is not valid, or more copies than the memory holds.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        render_mode: None = None,
    ) -> None:
        refuse_pictures(render_mode)
        self.task = task
        self.num_envs = require_count("num_envs", num_envs, 1, _MOST_ENVS, " of copies")
        self._mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = observation_space(task), action_space(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.batch = task.make_simulation().batch(self.num_envs)
        self._stage = Stage(
            task, self.batch.simulations, lambda count, copies: self.batch.step(count, threads=threads, copies=copies)
        )
        self._most_steps = task.most_steps if max_episode_steps is None else max_episode_steps
        self._random: list[np.random.Generator] = []
        self._steps = np.zeros(self.num_envs, dtype=np.int64)
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations = np.zeros((self.num_envs, len(task.observations)), dtype=np.float32)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins episodes in all copies, or in some of them.

        Args:
            seed: of each copy, or of the first, and of each further one by one more; None: their random numbers go on.
            options: `reset_mask` chooses the copies, (num_envs,) of bool.

        Raises:
            ResetNeeded: the first time, some of the copies.
            ParameterError: not as many seeds as copies, or a mask of another shape.
        """
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + copy for copy in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ParameterError("seed", seed, f"a whole number, or {self.num_envs} of them")
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ParameterError("reset_mask", mask, f"an array of bool of the shape ({self.num_envs},)")
        if not self._random:
            if not mask.all():
                raise ResetNeeded("reset all copies first, without a reset_mask")
            self._random = [seeding.np_random()[0] for _ in range(self.num_envs)]
        for copy in np.flatnonzero(mask).tolist():
            if seeds[copy] is not None:
                self._random[copy] = seeding.np_random(seeds[copy])[0]
        self._begin(mask)
        return self._observations.copy(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Holds the commands of an action in each copy for an interval.

        Raises:
            ResetNeeded: before the first `reset`, or with "Disabled" of a copy whose episode has ended.
            ParameterError: actions of another shape, or a number that is not from -1 to 1.
            DivergenceError: the state of a copy is no longer finite; reset all.
        """
        if not self._random or (self._mode is AutoresetMode.DISABLED and self._ended.any()):
            raise ResetNeeded("call reset first, with a reset_mask of the copies whose episodes have ended")
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        infos: dict[str, Any] = {}
        anew, going = self._ended.copy(), np.flatnonzero(~self._ended).tolist()
        for copy, outcome in zip(going, self._stage.advance(going, np.asarray(actions)), strict=True):
            self._observations[copy] = self._stage.observe(copy)
            self._steps[copy] += 1
            rewards[copy], terminated[copy] = outcome.reward, outcome.terminated
            truncated[copy] = self._steps[copy] >= self._most_steps
            info: dict[str, Any] = {"is_success": outcome.success}
            if self._mode is AutoresetMode.SAME_STEP and (terminated[copy] or truncated[copy]):
                info = {"final_obs": self._observations[copy].copy(), "final_info": info}
                anew[copy] = True
            infos = self._add_info(infos, info, copy)
        self._ended = terminated | truncated
        if anew.any():
            self._begin(anew)
        return self._observations.copy(), rewards, terminated, truncated, infos

    def _begin(self, chosen: np.ndarray) -> None:
        """Begins episodes in the chosen copies, (num_envs,) of bool."""
        copies = np.flatnonzero(chosen).tolist()
        self._stage.begin(copies, self._random)
        for copy in copies:
            self._observations[copy] = self._stage.observe(copy)
        self._steps[chosen], self._ended[chosen] = 0, False


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode of a name."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        valid = ", ".join(one.value for one in AutoresetMode)
        raise ParameterError("autoreset_mode", mode, valid) from None
