"""Trains PPO of Stable-Baselines3 in an environment of grouser, and compares it with random actions.

pip install "grouser[learn]"
python docs/learn.py grouser/HydraulicLift-v0 --steps 200000
"""

import argparse
import time
from collections.abc import Callable

import gymnasium
import numpy as np
from stable_baselines3 import PPO

from grouser.envs import TASKS
from grouser.envs.stable_baselines import StableBaselinesEnv


def main() -> None:
    """Trains, and prints mean return and share of successes before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="grouser/HydraulicLift-v0", choices=TASKS)
    parser.add_argument("--steps", type=int, default=200_000, help="of the environment")
    parser.add_argument("--copies", type=int, default=16, help="that step together")
    parser.add_argument("--episodes", type=int, default=64, help="of each evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file of the policy")
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
    judge(options, "random actions", lambda observations: random.uniform(-1.0, 1.0, shape))
    began = time.perf_counter()
    policy.learn(options.steps)
    seconds = time.perf_counter() - began
    print(f"{policy.num_timesteps} steps in {seconds:.0f} s, {policy.num_timesteps / seconds:.0f} a second")
    judge(options, "PPO", lambda observations: policy.predict(observations, deterministic=True)[0])
    if options.save:
        policy.save(options.save)


def judge(options: argparse.Namespace, label: str, act: Callable[[np.ndarray], np.ndarray]) -> None:
    """Prints mean return, share of successes and mean length of episodes that training did not have.

    Args:
        options: of the command line.
        label: of the actions.
        act: observations of all copies -> their actions.
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
        f"{steps.mean():.0f} steps, {options.episodes} episodes"
    )


if __name__ == "__main__":
    main()
