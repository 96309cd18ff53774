"""Environments: Gymnasium's checker, equal bits of single and vectorised ones, valid starts, goals that are reached."""

import math
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import SyncVectorEnv  # noqa: E402

from grouser import ParameterError  # noqa: E402
from grouser.docs_pages.environments import environments_section  # noqa: E402
from grouser.envs import TASKS, MachineEnv, MachineVectorEnv, demolition_reach  # noqa: E402
from grouser.envs.demolition_reach import DemolitionReach  # noqa: E402
from grouser.envs.excavator_trench import ExcavatorTrench  # noqa: E402
from grouser.envs.hydraulic_lift import HydraulicLift  # noqa: E402
from grouser.envs.rover_goal import RoverGoal  # noqa: E402

LIFT = "grouser/HydraulicLift-v0"
# What may touch something at the start.
STANDING = {DemolitionReach: "outrigger_link_", RoverGoal: "", ExcavatorTrench: "track_"}


@pytest.fixture(scope="module", params=TASKS, ids=lambda name: name.removeprefix("grouser/"))
def environment(request):
    """Each environment, made once, with the wrappers of `gymnasium.make`."""
    return gymnasium.make(request.param)


def test_the_checker_of_gymnasium_passes(environment):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped)


def test_starts_are_valid_and_inside_the_space(environment):
    task, simulation = environment.unwrapped.task, environment.unwrapped.simulation
    for seed in range(4):
        observation, _ = environment.reset(seed=seed)
        for value, quantity in zip(observation, task.observations, strict=True):
            assert abs(value) < 1.0 or "slip" in quantity.name or "cosine" in quantity.name, quantity.name
        assert not simulation.overlaps()
        links = {contact.link for contact in simulation.contacts()}
        assert all(link.startswith(STANDING[type(task)]) for link in links)
        assert np.abs(simulation.state.v).max() < 0.15, "at rest, but for a long arm that swings on its oil"


def test_episodes_leave_nothing_behind(environment):
    """The same seed after another episode gives the same bits, in the wrapped simulation and in a new one."""
    fresh = MachineEnv(type(environment.unwrapped.task)())
    environment.reset(seed=11)
    for _ in range(3):
        environment.step(np.ones(environment.action_space.shape, dtype=np.float32))
    runs = []
    for each in (environment, fresh):
        random = np.random.default_rng(0)
        observations = [each.reset(seed=3)[0]]
        for _ in range(3):
            action = random.uniform(-1.0, 1.0, each.action_space.shape).astype(np.float32)
            observation, reward, *_ = each.step(action)
            observations += [observation, np.array([reward])]
        runs.append(np.concatenate(observations))
    assert np.array_equal(*runs)
    assert not np.array_equal(environment.reset(seed=4)[0], fresh.reset(seed=5)[0])


def equal(one, other):
    """Whether two infos have the same keys and values, NaN of no episode included."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if one.dtype == object:
        return all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
    return np.array_equal(one, other)


def play_both(name, mode, longest, steps):
    """Steps a vectorised environment and single ones, and compares all that they return; returns the episodes ended."""
    single = SyncVectorEnv([partial(gymnasium.make, name, max_episode_steps=longest)] * 3, autoreset_mode=mode)
    vectorised = gymnasium.make_vec(name, num_envs=3, max_episode_steps=longest, autoreset_mode=mode)
    assert isinstance(vectorised, MachineVectorEnv)
    assert vectorised.metadata["autoreset_mode"] is single.metadata["autoreset_mode"]
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(vectorised, space) == getattr(single, space)
    for ours, theirs in zip(vectorised.reset(seed=7), single.reset(seed=7), strict=True):
        assert equal(ours, theirs)
    random, ended, shape = np.random.default_rng(1), 0, single.action_space.shape
    for _ in range(steps):
        action = random.uniform(-1.0, 1.0, shape).astype(np.float32)
        ours, theirs = vectorised.step(action), single.step(action)
        for one, other in zip(ours, theirs, strict=True):
            assert equal(one, other)
        over = ours[2] | ours[3]
        ended += int(over.sum())
        if mode == "Disabled" and over.any():
            for one, other in zip(
                *(env.reset(options={"reset_mask": over}) for env in (vectorised, single)), strict=True
            ):
                assert equal(one, other)
    return ended


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vectorised_lifts_are_single_ones_with_the_same_seeds(mode):
    assert play_both(LIFT, mode, longest=5, steps=14) >= 6


@pytest.mark.parametrize("name", [name for name in TASKS if name != LIFT])
def test_vectorised_machines_are_single_ones_with_the_same_seeds(name):
    assert play_both(name, "NextStep", longest=2, steps=4) == 3


def test_lift_reaches_its_goal_by_proportional_control():
    environments = gymnasium.make_vec(LIFT, num_envs=8)
    observations, _ = environments.reset(seed=0)
    going, successes = np.ones(8, dtype=bool), np.zeros(8, dtype=bool)
    for _ in range(HydraulicLift.most_steps):
        observations, _, terminated, truncated, infos = environments.step(
            np.clip(10.0 * observations[:, :1], -1.0, 1.0)
        )
        successes |= going & infos["is_success"] & terminated
        going &= ~(terminated | truncated)
        if not going.any():
            break
    assert successes.all()


def test_rover_reaches_its_goal_on_sand():
    environment = gymnasium.make("grouser/RoverGoal-v0")
    observation, _ = environment.reset(seed=2)
    distance, total, terminated, truncated = 5.0 * observation[0], 0.0, False, False
    while not (terminated or truncated):
        angle = math.atan2(observation[2], observation[1])
        action = np.clip([math.cos(angle) if abs(angle) < 1.2 else 0.0, 1.5 * angle], -1.0, 1.0)
        observation, reward, terminated, truncated, info = environment.step(action)
        total += reward
    assert info["is_success"]
    left = 5.0 * observation[0]
    assert left <= 0.25
    effort = 0.002 * RoverGoal.most_steps
    assert distance - left + 1.0 - effort <= total <= distance - left + 1.0


def valves_towards(simulation, model, joints, point, velocity):
    """Commands of the valves of joints that move a point with a velocity, by damped least squares.

    Args:
        simulation: what is moved.
        model: another simulation of the machine, for its geometry.
        joints: of the cylinders, by the cylinders' names.
        point: simulation -> the point [m].
        velocity: wanted [m/s].
    """
    present = {joint: simulation.joint_position[joint] for joint in joints.values()}
    changes, strokes = [], []
    for cylinder, joint in joints.items():
        places = []
        for step in (-1e-3, 1e-3):
            model.reset(present | {joint: present[joint] + step})
            places.append((point(model), model.cylinder[cylinder].position))
        changes.append((places[1][0] - places[0][0]) / 2e-3)
        strokes.append((places[1][1] - places[0][1]) / 2e-3)
    jacobian = np.array(changes).T
    rates = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 0.05 * np.eye(len(velocity)), velocity)
    commands = np.array(strokes) * rates / 0.15  # full spool moves the cylinders by 0.1 to 0.2 m/s
    return commands / max(1.0, np.abs(commands).max())


def test_chisel_reaches_its_goal():
    environment, model = gymnasium.make("grouser/DemolitionReach-v0"), DemolitionReach().make_simulation()
    observation, _ = environment.reset(seed=4)
    joints, terminated, truncated = {name: name for name in ("swing", "boom", "stick", "tool")}, False, False
    while not (terminated or truncated):
        away = 8.0 * observation[:3]
        velocity = away / max(0.5, np.linalg.norm(away) / 0.6)
        simulation = environment.unwrapped.simulation
        action = valves_towards(simulation, model, joints, demolition_reach.tip, velocity)
        observation, _, terminated, truncated, info = environment.step(action)
    assert info["is_success"]
    assert np.linalg.norm(8.0 * observation[:3]) <= 0.1


def dig(observation, phase):
    """Actions of a rule that digs by turns, and the phase that follows: reach out, go down, draw, curl, lift."""
    ahead, height, angle = observation[:3] * [5.0, 3.0, math.pi]
    level = 4.0 * (-0.5 - angle)
    action, over = (
        ((0.0, -1.0 if ahead < 3.2 else 0.0, level), ahead >= 3.0),
        ((-0.4, 0.0, level), height < -0.2),
        ((5.0 * (-0.35 - height), 0.7, 0.1), ahead < 2.3),
        ((0.1, 0.2, 1.0), angle > 2.2),
        ((0.7, 0.0, 0.3), False),
    )[phase]
    return np.clip(np.array(action, dtype=np.float32), -1.0, 1.0), phase + over


@pytest.mark.parametrize("seed", [0, 6])
def test_bucket_is_filled_from_the_ground(seed):
    environment = gymnasium.make("grouser/ExcavatorTrench-v0")
    observation, _ = environment.reset(seed=seed)
    simulation, phase, total, terminated, truncated = environment.unwrapped.simulation, 0, 0.0, False, False
    while not (terminated or truncated):
        action, phase = dig(observation, phase)
        observation, reward, terminated, truncated, info = environment.step(action)
        total += reward
    assert info["is_success"]
    assert 7.0 < total < 11.0, "6 for the soil and 5 for success, less what is lost on the way"
    load, balance = simulation.bucket_load("bucket"), simulation.soil_balance()
    assert load.fill_factor == pytest.approx(1.5 * observation[3], rel=1e-6)
    assert load.mass > 30.0, "0.6 of 44.6 l at 1280 kg/m3 are 34 kg"
    assert abs(balance.relative_residual) < 1e-9


def test_episodes_are_truncated_after_the_time_limit():
    environments = gymnasium.make_vec(LIFT, num_envs=2, max_episode_steps=3)
    environments.reset(seed=0)
    over = [environments.step(np.zeros((2, 1)))[2:4] for _ in range(4)]
    assert [truncated.tolist() for _, truncated in over] == [[False] * 2, [False] * 2, [True] * 2, [False] * 2]
    assert not any(terminated.any() for terminated, _ in over)


def test_wrong_use_is_refused():
    for kind in (MachineEnv, MachineVectorEnv):
        with pytest.raises(ParameterError, match="render_mode"):
            kind(HydraulicLift(), render_mode="rgb_array")
    with pytest.raises(ParameterError, match="autoreset_mode.*NextStep"):
        MachineVectorEnv(HydraulicLift(), autoreset_mode="later")
    environments = MachineVectorEnv(HydraulicLift(), 2, autoreset_mode="Disabled", max_episode_steps=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environments.step(np.zeros((2, 1)))
    with pytest.raises(gymnasium.error.ResetNeeded):
        environments.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ParameterError, match="seed"):
        environments.reset(seed=[1, 2, 3])
    with pytest.raises(ParameterError, match="reset_mask"):
        environments.reset(options={"reset_mask": np.array([True])})
    environments.reset(seed=0)
    before = environments.batch.state.q.copy()
    for wrong in (np.zeros(2), np.full((2, 1), np.nan), np.array([[0.5], [1.5]])):
        with pytest.raises(ParameterError, match="action"):
            environments.step(wrong)
    assert np.array_equal(environments.batch.state.q, before)
    environments.step(np.zeros((2, 1)))
    with pytest.raises(gymnasium.error.ResetNeeded):
        environments.step(np.zeros((2, 1)))


def test_stable_baselines_learns_in_copies():
    """The smallest training: the adapter gives what the library asks for."""
    library = pytest.importorskip("stable_baselines3")
    from grouser.envs.stable_baselines import StableBaselinesEnv

    environments = StableBaselinesEnv(
        gymnasium.make_vec(LIFT, num_envs=2, max_episode_steps=20, autoreset_mode="SameStep")
    )
    environments.seed(5)
    first = environments.reset()
    assert np.array_equal(first[1], gymnasium.make(LIFT).reset(seed=6)[0])
    policy = library.PPO("MlpPolicy", environments, n_steps=32, batch_size=32, n_epochs=1, seed=0, device="cpu")
    policy.learn(64)
    assert policy.num_timesteps == 64
    with pytest.raises(ParameterError, match="autoreset_mode"):
        StableBaselinesEnv(gymnasium.make_vec(LIFT, num_envs=2))


def test_page_of_the_environments():
    """Its section on them is what their tasks say, and its examples run."""
    page = (Path(__file__).parents[2] / "docs" / "gymnasium.md").read_text(encoding="utf-8")
    assert page.endswith(environments_section()), (
        "run: python -m grouser.docs_pages.environments, at the end of the page"
    )
    namespace: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "docs/gymnasium.md", "exec"), namespace)
    assert namespace["observations"].shape == (4, len(HydraulicLift.observations))
