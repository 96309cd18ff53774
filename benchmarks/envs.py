"""Processor time of environments with random actions, and of the excavator with all of its valves at random.

The peer is another machine: a humanoid of 23 degrees of freedom in MuJoCo, as Gymnasium has it, with its contacts, its
step of 3 ms and without hydraulics. Times count all threads, so they are those of one core.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import grouser
from grouser.benchmarks.figure import Figure, SkippedError, Target, alternating_medians, cpu_time
from grouser.benchmarks.peers import require

DESCRIPTION = "environments with random actions, beside a humanoid of Gymnasium in MuJoCo; excavator with random valves"

_PEER = "Humanoid-v5"
_COPIES = 8
_STEPS = 50  # of the environments, in a measurement
_REPEATS = 5
_INTERVALS = (20, 100, 500, 2000)  # steps for which random valves are held
_SIMULATED = 6000  # steps
_FACTOR = 20.0  # wanted


def run() -> list[Figure]:
    """Measures all environments beside the peer, then the excavator's valves.

    Raises:
        SkippedError: Gymnasium is not installed.
    """
    try:
        import gymnasium

        from grouser.envs import TASKS
    except ImportError as error:
        raise SkippedError(f'needs gymnasium: pip install "grouser[envs]" ({error})') from None
    figures = [_environment(gymnasium, name, task.interval) for name, task in TASKS.items()]
    return [*figures, *_random_valves()]


def _environment(gymnasium: Any, name: str, interval: int) -> Figure:
    """Copies of an environment and the peer, alternately."""
    own = gymnasium.make_vec(name, num_envs=_COPIES)
    simulated = 1e-3 * interval * _STEPS * _COPIES
    try:
        require("mujoco")
        peer = gymnasium.make(_PEER)
    except SkippedError:
        (time,) = alternating_medians(_REPEATS, _random_steps(own))
        return Figure(_title(name), 1e3 * time / simulated, "ms", details=_details(time, simulated))
    peer_simulated = peer.unwrapped.dt * _STEPS * _COPIES
    time, peer_time = alternating_medians(_REPEATS, _random_steps(own), _random_steps(peer, _STEPS * _COPIES))
    return Figure(
        _title(name),
        1e3 * time / simulated,
        "ms",
        f"MuJoCo {require('mujoco').__version__}, {_PEER}",
        1e3 * peer_time / peer_simulated,
        _details(time, simulated),
    )


def _title(name: str) -> str:
    return f"simulated second, {name.removeprefix('grouser/')}"


def _details(time: float, simulated: float) -> dict[str, float | int | str]:
    return {
        "copies": _COPIES,
        "steps of the environment a second": _STEPS * _COPIES / time,
        "real-time factor": simulated / time,
    }


def _random_steps(environment: Any, count: int = _STEPS) -> Callable[[], None]:
    """Steps with random actions; one environment that is not vectorised is reset by hand."""
    environment.action_space.seed(0)
    environment.reset(seed=0)

    def play() -> None:
        for _ in range(count):
            _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
            if not isinstance(terminated, np.ndarray) and (terminated or truncated):
                environment.reset()

    play()
    return play


def _random_valves() -> Iterator[Figure]:
    """All valves of the excavator on flat ground, each at a random value that is held for an interval."""
    simulation = grouser.Simulation(grouser.load_machine("excavator"))
    for interval in _INTERVALS:

        def play(interval: int = interval) -> None:
            simulation.reset()
            random = np.random.default_rng(0)
            for _ in range(_SIMULATED // interval):
                values = random.uniform(-1.0, 1.0, len(simulation.command.valves))
                simulation.command.update(dict(zip(simulation.command.valves, values, strict=True)))
                simulation.step(interval)

        play()
        time = float(np.median([cpu_time(play) for _ in range(_REPEATS)]))
        simulated = _SIMULATED * simulation.step_size
        factor = simulated / time
        yield Figure(
            f"simulated second, valves every {interval} ms",
            1e3 * time / simulated,
            "ms",
            details={"step [µs]": 1e6 * time / _SIMULATED, "real-time factor": factor},
            targets=(Target("real-time factor", factor, _FACTOR, at_least=True),),
        )
