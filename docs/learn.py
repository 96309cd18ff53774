"""Trains PPO of Stable-Baselines3 in an environment of grouser, and compares it with random actions.

pip install "grouser[learn]"
python docs/learn.py grouser/HydraulicLift-v0 --steps 200000 --curve lift.csv --plot lift.png
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import matplotlib.figure
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from grouser.envs import TASKS
from grouser.envs.stable_baselines import StableBaselinesEnv

_POINTS = 40  # of a drawn curve: means of as many episodes each


def main() -> None:
    """Trains, and prints mean return and share of successes before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="grouser/HydraulicLift-v0", choices=TASKS)
    parser.add_argument("--steps", type=int, default=200_000, help="of the environment")
    parser.add_argument("--copies", type=int, default=16, help="that step together")
    parser.add_argument("--episodes", type=int, default=64, help="of each evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file of the policy")
    parser.add_argument("--curve", type=Path, help="CSV file of the episodes of the training")
    parser.add_argument("--plot", type=Path, help="picture of them")
    options = parser.parse_args()

    environments = gymnasium.make_vec(options.name, num_envs=options.copies, autoreset_mode="SameStep")
    policy = PPO(
        "MlpPolicy",
        StableBaselinesEnv(environments),
        n_steps=256,
        batch_size=512,
        gamma=0.98,
        learning_rate=1e-3,
        seed=options.seed,
        device="cpu",
    )
    random = np.random.default_rng(options.seed)
    shape = (options.episodes, *environments.single_action_space.shape)
    chance = judge(options, "random actions", lambda observations: random.uniform(-1.0, 1.0, shape))
    began = time.perf_counter()
    curve = Curve(options.curve)
    policy.learn(options.steps, callback=curve)
    seconds = time.perf_counter() - began
    print(f"{policy.num_timesteps} steps in {seconds:.0f} s, {policy.num_timesteps / seconds:.0f} a second")
    judge(options, "PPO", lambda observations: policy.predict(observations, deterministic=True)[0])
    if options.save:
        policy.save(options.save)
    if options.plot:
        draw(np.array(curve.episodes), chance, options.name, options.plot)


class Curve(BaseCallback):
    """Keeps what the episodes of the training bring.

    Args:
        file: CSV file to which each is written; None for none.

    Attributes:
        episodes: steps of all copies at its end, return, and whether it was a success (0 or 1), of each.
    """

    def __init__(self, file: Path | None) -> None:
        super().__init__()
        self._file, self.episodes = file, []

    def _on_training_start(self) -> None:
        self._returns = np.zeros(self.training_env.num_envs)
        if self._file:
            self._file.write_text("step,return,success\n")

    def _on_step(self) -> bool:
        self._returns += self.locals["rewards"]
        for copy in np.flatnonzero(self.locals["dones"]):
            success = self.locals["infos"][copy]["is_success"]
            self.episodes.append((self.num_timesteps, self._returns[copy], float(success)))
            self._returns[copy] = 0.0
            if self._file:
                with self._file.open("a") as file:
                    file.write("{},{:.6g},{:.0f}\n".format(*self.episodes[-1]))
        return True


def judge(options: argparse.Namespace, label: str, act: Callable[[np.ndarray], np.ndarray]) -> float:
    """Prints mean return, share of successes and mean length of episodes that training did not have.

    Args:
        options: of the command line.
        label: of the actions.
        act: observations of all copies -> their actions.

    Returns:
        The mean return.
    """
    environments = gymnasium.make_vec(options.name, num_envs=options.episodes)
    observations, _ = environments.reset(seed=1_000_000 + options.seed)
    returns, steps, successes = np.zeros((3, options.episodes))
    going = np.ones(options.episodes, dtype=bool)
    while going.any():
        observations, rewards, terminated, truncated, infos = environments.step(act(observations))
        returns += going * rewards
        steps += going
        if "is_success" in infos:
            successes += going * infos["is_success"]
        going &= ~(terminated | truncated)
    print(
        f"{label}: return {returns.mean():.2f} ± {returns.std():.2f}, success {100.0 * successes.mean():.0f} %, "
        f"{steps.mean():.0f} steps, {options.episodes} episodes",
        flush=True,
    )
    return float(returns.mean())


def draw(episodes: np.ndarray, chance: float, name: str, file: Path) -> None:
    """Draws the return over the steps of a training, beside that of random actions.

    Args:
        episodes: of `Curve`, (episodes, 3).
        chance: mean return of random actions.
        name: of the environment.
        file: png, svg or pdf.
    """
    figure = matplotlib.figure.Figure(figsize=(6.0, 3.2), layout="constrained")
    parts = np.array_split(episodes, min(_POINTS, len(episodes)))
    step, mean, _ = np.array([part.mean(axis=0) for part in parts]).T
    panel = figure.subplots()
    panel.plot(step / 1000.0, mean, label="PPO, in training")
    panel.axhline(chance, color="0.5", linestyle="--", label="random actions")
    panel.set(xlabel="steps [1000]", ylabel="return of an episode", title=name)
    panel.grid(alpha=0.3)
    panel.legend()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
