"""Vectorised environments for Stable-Baselines3, which has an interface of its own."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from grouser.envs.machine_vector_env import MachineVectorEnv
from grouser.physics.base.errors import ParameterError


class StableBaselinesEnv(VecEnv):
    """A `MachineVectorEnv` as Stable-Baselines3 takes it.

    Args:
        environments: with the autoreset mode "SameStep".

    Raises:
        ParameterError: they have another mode.
    """

    def __init__(self, environments: MachineVectorEnv) -> None:
        mode = environments.metadata["autoreset_mode"]
        if mode is not AutoresetMode.SAME_STEP:
            raise ParameterError("autoreset_mode", mode.value, AutoresetMode.SAME_STEP.value)
        self._environments = environments
        self._actions = np.zeros(environments.action_space.shape or (0,), dtype=np.float32)
        super().__init__(environments.num_envs, environments.single_observation_space, environments.single_action_space)

    def reset(self) -> np.ndarray:
        """Begins episodes in all copies, with the seeds that `seed` was given last."""
        observations, _ = self._environments.reset(seed=self._seeds)
        self._reset_seeds()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Makes the step."""
        observations, rewards, terminated, truncated, infos = self._environments.step(self._actions)
        ended = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for copy in np.flatnonzero(ended).tolist():
            each[copy] = {
                "terminal_observation": infos["final_obs"][copy],
                "TimeLimit.truncated": bool(truncated[copy] and not terminated[copy]),
                "is_success": bool(infos["final_info"]["is_success"][copy]),
            }
        return observations, rewards.astype(np.float32), ended, each

    def close(self) -> None:
        """Closes the environments."""
        self._environments.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments, which all copies share."""
        return [getattr(self._environments, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuses: attributes are those of all copies."""
        raise ParameterError(attr_name, value, "an attribute that is only read")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refuses: the copies have no methods of their own."""
        raise ParameterError("env_method", method_name, "none: read `batch[copy]` of the environments")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """False for each: copies have no wrappers."""
        return [False] * len(self._chosen(indices))

    def _chosen(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return list(self._get_indices(indices))
