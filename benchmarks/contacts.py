"""Contacts that press against each other: stacks, walls, grips and braced feet beside MuJoCo, and braced machines.

Each scene is measured while its bodies land on each other, a quarter of a second from the start, and at rest.

The residuals of both programs are equal (`mujoco_peer`). MuJoCo's contacts are soft by its law: how deep they rest and
how fast they creep is in the details, not in the residual.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

import grouser
from grouser.benchmarks import scenes
from grouser.benchmarks.figure import Figure, Target, alternating_medians, cpu_time
from grouser.benchmarks.machines import MACHINES, real_time_factor, standing
from grouser.benchmarks.mujoco_peer import MuJoCoPeer
from grouser.benchmarks.peers import require
from grouser.benchmarks.scenes import Scene
from grouser.benchmarks.solver_effort import step_and_watch

DESCRIPTION = "stacks, walls, grips, braced feet beside MuJoCo; real-time factors of braced machines"

_LANDING_STEPS = 250
_SETTLING_STEPS = 750
_RESTING_STEPS = 500
_REPEATS = 9
_RATIO = 0.8  # of grouser's time to MuJoCo's
# Command and duration of each function, in one direction and then back [-, s].
_OPENING, _MOVING = 0.5, 1.0
_ROUNDS = 4  # of all functions at once
# Real-time factors: every function in turn, and all at once.
_FACTORS = {"demolition_robot": (20.0, 12.0), "excavator": (25.0, 20.0)}


def all_scenes() -> tuple[Scene, ...]:
    """The scenes that are measured."""
    return (
        scenes.braced_feet(),
        scenes.tracks(),
        scenes.stack(),
        scenes.wall(),
        scenes.pyramid(),
        scenes.heavy_on_light(),
        scenes.grip(2),
        scenes.grip(4),
    )


def run() -> list[Figure]:
    """Measures all scenes beside MuJoCo, then the braced machines."""
    mujoco = require("mujoco")
    compared = chain.from_iterable(compare(mujoco, scene) for scene in all_scenes())
    return [*compared, *chain.from_iterable(map(_braced_machine, MACHINES))]


# --- scenes ---------------------------------------------------------------------------------------------------------


class MuJoCoScene(MuJoCoPeer):
    """A scene in MuJoCo.

    Args:
        mujoco: the module.
        scene: the scene.
        tolerance: of its solver.
    """

    def __init__(self, mujoco: Any, scene: Scene, tolerance: float):
        model = mujoco.MjModel.from_xml_string(scenes.mujoco_text(scene, tolerance))
        super().__init__(mujoco, model, lambda data: scenes.mujoco_start(mujoco, model, data, scene))


def compare(mujoco: Any, scene: Scene) -> Iterator[Figure]:
    """The figures of a scene while it lands and at rest."""
    ours, peer = scenes.simulation(scene), settled_peer(mujoco, scene)
    starts: dict[Any, Callable[[], None]] = {ours: partial(scenes.start, ours, scene), peer: peer.start}
    ours.step(1)  # Compiles.
    times: dict[Any, list[float]] = {ours: [], peer: []}
    for _ in range(_REPEATS):
        for program, start in starts.items():
            start()
            times[program].append(cpu_time(partial(program.step, _LANDING_STEPS)))
    for start in starts.values():
        start()
    medians = [statistics.median(taken) for taken in times.values()]
    yield _figure(f"{scene.name}, landing", scene, ours, peer, medians, _LANDING_STEPS)
    for program in starts:
        program.step(_SETTLING_STEPS)
    medians = alternating_medians(_REPEATS, *[partial(program.step, _RESTING_STEPS) for program in starts])
    yield _figure(f"{scene.name}, at rest", scene, ours, peer, medians, _RESTING_STEPS)


def settled_peer(mujoco: Any, scene: Scene) -> MuJoCoScene:
    """MuJoCo with the loosest tolerance that leaves no larger residual than grouser's tolerance."""
    peer = MuJoCoScene(mujoco, scene, 1e-8)
    peer.settle_tolerance(_LANDING_STEPS + _SETTLING_STEPS + _RESTING_STEPS)
    return peer


def _figure(
    name: str, scene: Scene, ours: grouser.Simulation, peer: MuJoCoPeer, times: list[float], steps: int
) -> Figure:
    """Makes the steps once more, observed."""
    effort, theirs = step_and_watch(ours, steps), peer.watch(steps)
    own, other = (1e6 / steps * time for time in times)
    state = ours.diagnostics
    details: dict[str, float | int | str] = {
        "bodies": len(scene.bodies),
        "contacts": state.contact_count,
        "MuJoCo's contacts": int(peer.data.ncon),
        **effort.details,
        "MuJoCo's iterations, mean": theirs.mean,
        "MuJoCo's iterations, most": theirs.most,
        "MuJoCo's residual, largest [m/s]": theirs.residual,
        "MuJoCo's tolerance": peer.model.opt.tolerance,
        "MuJoCo's deepest penetration [mm]": -1e3 * float(peer.data.contact.dist.min(initial=0.0)),
        "fastest coordinate [m/s or rad/s]": float(np.abs(ours.state.v).max()),
        "MuJoCo's fastest coordinate [m/s or rad/s]": float(np.abs(peer.data.qvel).max()),
        "apart [mm]": 1e3 * _apart(scene, ours, peer),
    }
    targets = (Target("ratio", own / other, _RATIO), *effort.targets)
    return Figure(name, own, "µs", peer.name, other, details, targets)


def _apart(scene: Scene, ours: grouser.Simulation, peer: MuJoCoPeer) -> float:
    """Largest distance of a body's positions in the two programs [m]."""
    pairs = ((ours.link_pose(scenes.link_name(body))[0], peer.position(body.name)) for body in scene.bodies)
    return max(float(np.linalg.norm(one - other)) for one, other in pairs)


# --- machines -------------------------------------------------------------------------------------------------------


def _braced_machine(name: str) -> Iterator[Figure]:
    """Every function of a machine in turn, and all at once."""
    simulation = standing(name)
    valves = [valve.name for valve in simulation.machine.valves]
    in_turn, at_once = _FACTORS[name]
    duration = 2.0 * _MOVING * len(valves)
    yield real_time_factor(f"{name}, in turn", simulation, functions_in_turn(valves), duration, in_turn)
    duration = 2.0 * _MOVING * _ROUNDS
    yield real_time_factor(f"{name}, at once", simulation, functions_at_once(valves), duration, at_once)


def functions_in_turn(valves: list[str]) -> Callable[[float], Mapping[str, float]]:
    """Commands by time [s]: one valve after the other opens one way and then the other."""

    def values(time: float) -> Mapping[str, float]:
        turn, part = divmod(time, 2.0 * _MOVING)
        way = _OPENING if part < _MOVING else -_OPENING
        return {valve: way if number == int(turn) else 0.0 for number, valve in enumerate(valves)}

    return values


def functions_at_once(valves: list[str]) -> Callable[[float], Mapping[str, float]]:
    """Commands by time [s]: all valves open one way and then the other."""

    def values(time: float) -> Mapping[str, float]:
        return dict.fromkeys(valves, _OPENING if time % (2.0 * _MOVING) < _MOVING else -_OPENING)

    return values
