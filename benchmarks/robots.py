"""Robots as their makers published them, beside MuJoCo on the same URDF.

Each robot begins a millimetre above the ground, or fixed to it, in the position that its URDF gives: joints at zero, or
at the limit next to it. Nothing drives it: legs give way, arms swing into their limits. It is measured from its start
and after two seconds. Both programs have their usual settings except step, friction and the tolerance of equal
residuals (`mujoco_peer`). They differ in the pairs of links that may touch: grouser leaves out those that overlap at
the start, MuJoCo only neighbours.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import grouser
from grouser.benchmarks.figure import Figure, Target, alternating_medians, cpu_time
from grouser.benchmarks.mujoco_peer import MuJoCoPeer
from grouser.benchmarks.mujoco_urdf import mujoco_model, put_at_start
from grouser.benchmarks.peers import require
from grouser.benchmarks.robot_files import package_version, robots_folder
from grouser.benchmarks.solver_effort import step_and_watch
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.world import World

DESCRIPTION = "robots of example-robot-data that fall or swing, then lie, beside MuJoCo on the same URDF"

STEP = 0.001  # [s]
GAP = 0.001  # of the lowest point above the ground [m]
# Robots by their file, and whether the base floats.
ROBOTS = {
    "g1_29dof_rev_1_0": True,
    "bolt": True,
    "xarm7": False,
    "z1": False,
    "so101": False,
    "go2": True,
    "a1": True,
    "solo12": True,
    "panda": False,
    "ur5_robot": False,
    "romeo_small": True,
}
_FIRST_STEPS = 250
_SETTLING_STEPS = 1750
_LATER_STEPS = 200
_REPEATS = 5
_RATIO = 1.0  # of grouser's time to MuJoCo's


def run() -> Iterator[Figure]:
    """Measures every robot.

    Raises:
        SkippedError: MuJoCo or the robots are not installed.
    """
    mujoco, folder = require("mujoco"), robots_folder()
    files = {path.stem: path for path in folder.rglob("*.urdf")}
    bases = {name: "floating" if floats else "fixed" for name, floats in ROBOTS.items()}
    for name, base in bases.items():
        yield from compare(mujoco, name, files[name], base)


def compare(mujoco: Any, name: str, file: Path, base: str) -> Iterator[Figure]:
    """The figures of a robot from its start, and later."""
    machine = grouser.load_machine(file, base=base)
    ours, height = simulation_on_ground(machine)
    peer = peer_on_ground(mujoco, machine, height, ours.joint_position)
    peer.settle_tolerance(_FIRST_STEPS + _SETTLING_STEPS + (_REPEATS + 1) * _LATER_STEPS)
    ours.step(1)  # Compiles.
    starts: dict[Any, Callable[[], None]] = {ours: ours.reset, peer: peer.start}
    times: dict[Any, list[float]] = {ours: [], peer: []}
    for _ in range(_REPEATS):
        for program, start in starts.items():
            start()
            times[program].append(cpu_time(partial(program.step, _FIRST_STEPS)))
    for start in starts.values():
        start()
    medians = [statistics.median(taken) for taken in times.values()]
    yield _figure(f"{name}, from the start", ours, peer, medians, _FIRST_STEPS)
    for program in starts:
        program.step(_SETTLING_STEPS)
    medians = alternating_medians(_REPEATS, *[partial(program.step, _LATER_STEPS) for program in starts])
    yield _figure(f"{name}, later", ours, peer, medians, _LATER_STEPS)


def simulation_on_ground(machine: Machine) -> tuple[grouser.Simulation, float]:
    """A machine, its lowest point a little above the ground if its base floats, and the height of its base [m]."""
    made = grouser.Simulation(machine, step=STEP)
    bounds = made.bounds()
    if not machine.floating_base or bounds is None:
        return made, 0.0
    height = GAP - float(bounds[0][2]) + float(made.base_pose()[0][2])
    return grouser.Simulation(machine, World(spawn=Pose((0.0, 0.0, height))), step=STEP), height


def peer_on_ground(
    mujoco: Any, machine: Machine, height: float, joint_position: Mapping[str, float] = MappingProxyType({})
) -> MuJoCoPeer:
    """The same machine in MuJoCo.

    Args:
        mujoco: the module.
        machine: the machine.
        height: of its base [m].
        joint_position: of its joints [m or rad], 0 for others.

    Raises:
        ValueError: MuJoCo refuses the URDF.
    """
    world = World()
    assert world.ground is not None
    model = mujoco_model(mujoco, machine, STEP, world.ground.friction)
    position: Vector3 = (0.0, 0.0, height)
    start = dict(joint_position)
    return MuJoCoPeer(mujoco, model, lambda data: put_at_start(mujoco, model, data, position, start))


def _figure(name: str, ours: grouser.Simulation, peer: MuJoCoPeer, times: list[float], steps: int) -> Figure:
    """Makes the steps once more, observed."""
    effort, theirs = step_and_watch(ours, steps), peer.watch(steps)
    own, other = (1e6 / steps * time for time in times)
    state = ours.diagnostics
    details: dict[str, float | int | str] = {
        "robots": f"example-robot-data {package_version()}",
        "degrees of freedom": len(ours.state.v),
        "MuJoCo's degrees of freedom": int(peer.model.nv),
        "contacts": state.contact_count,
        "MuJoCo's contacts": int(peer.data.ncon),
        **effort.details,
        "MuJoCo's iterations, mean": theirs.mean,
        "MuJoCo's iterations, most": theirs.most,
        "MuJoCo's residual, largest [m/s]": theirs.residual,
        "MuJoCo's tolerance": float(peer.model.opt.tolerance),
        "fastest coordinate [m/s or rad/s]": float(np.abs(ours.state.v).max()),
        "MuJoCo's fastest coordinate [m/s or rad/s]": float(np.abs(peer.data.qvel).max()),
    }
    return Figure(name, own, "µs", peer.name, other, details, (Target("ratio", own / other, _RATIO),))
