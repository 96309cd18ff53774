"""Whole steps of the excavator and the rover of test/data/models, at rest and moving, beside MuJoCo.

Both get the same masses, shapes, drives, friction and step. MuJoCo solves its soft contacts by Newton's method and, at
rest, needs a single iteration: that is its best case, so that the moving cases are the ones to look at.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import grouser
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.benchmarks.peers import require, source_file
from grouser.physics.description.machine import Pose, World

DESCRIPTION = "one step of 1 ms, excavator and rover, at rest and moving, beside MuJoCo"

_STEP = 0.001
_TOLERANCE = 1e-6  # of our impulses [m/s]
_SETTLING_STEPS = 3000
_STEPS = 2000
_REPEATS = 9
_COMMAND_STEPS = 10  # commands change every 10 ms in both
_SWINGS = {"j_upper": 0.4, "j_boom": -0.2, "j_stick": 0.3, "j_bucket": 0.4}  # half of what they swing over [rad]
_SWING_RATE = 1.2  # [rad/s]
_WHEEL_SPEED = 2.0  # [rad/s]


@dataclass
class Pair:
    """One machine in both programs: `model` and `data` are MuJoCo's, `moving_since` is when commands began [s]."""

    ours: grouser.Simulation
    mujoco: Any
    model: Any
    data: Any
    moving_since: float = 0.0

    def command(self, values: dict[str, float]) -> None:
        """Commands drives of ours."""
        self.ours.command.update(values)

    def command_peer(self, values: dict[str, float]) -> None:
        """Commands actuators of MuJoCo's; joint j_x has actuator a_x."""
        for joint, value in values.items():
            self.data.actuator(f"a{joint[1:]}").ctrl = value

    def run(self, commands: Callable[[float], dict[str, float]] | None = None) -> None:
        """Makes `_STEPS` steps of ours."""
        if commands is None:
            self.ours.step(_STEPS)
            return
        for _ in range(_STEPS // _COMMAND_STEPS):
            self.command(commands(self.ours.time - self.moving_since))
            self.ours.step(_COMMAND_STEPS)

    def run_peer(self, commands: Callable[[float], dict[str, float]] | None = None) -> None:
        """Makes `_STEPS` steps of MuJoCo's."""
        if commands is None:
            self.mujoco.mj_step(self.model, self.data, nstep=_STEPS)
            return
        for _ in range(_STEPS // _COMMAND_STEPS):
            self.command_peer(commands(self.data.time - self.moving_since))
            self.mujoco.mj_step(self.model, self.data, nstep=_COMMAND_STEPS)

    def differences(self) -> dict[str, float]:
        """How far the two are apart: height and horizontal place of the base, and the joints but for wheels."""
        position, _ = self.ours.base_pose()
        apart = position - self.data.qpos[:3]
        joints = [
            angle - self.data.joint(joint).qpos[0]
            for joint, angle in self.ours.joint_position.items()
            if "wheel" not in joint
        ]
        return {
            "apart, height [mm]": 1e3 * abs(float(apart[2])),
            "apart, across the ground [mm]": 1e3 * math.hypot(*apart[:2].tolist()),
            "apart, joints [mrad]": 1e3 * float(np.abs(joints).max()),
        }


def run() -> list[Figure]:
    """Measures four cases."""
    mujoco = require("mujoco")
    return [
        *_measure(mujoco, "excavator", _swings),
        *_measure(mujoco, "rover", None),
    ]


def _swings(time):
    """Positions wanted of the arm's joints, beginning softly, so that the tracks do not slip."""
    return {joint: half * (1.0 - math.cos(_SWING_RATE * time)) for joint, half in _SWINGS.items()}


def _measure(mujoco, name, swings):
    """The figures of one machine; without `swings` it moves by its wheels, at a constant speed."""
    pair = _make_pair(mujoco, name)
    pair.ours.step(_SETTLING_STEPS)
    mujoco.mj_step(pair.model, pair.data, nstep=_SETTLING_STEPS)
    yield _figure(pair, f"step at rest, {name}", None)
    pair.moving_since = pair.ours.time
    if swings is None:
        speeds = {joint: _WHEEL_SPEED for joint, mode in pair.ours.command.drives.items() if mode == "velocity"}
        pair.command(speeds)
        pair.command_peer(speeds)
    pair.run(swings)  # the jerk of the start is not what is measured
    pair.run_peer(swings)
    yield _figure(pair, f"step moving, {name}", swings)


def _make_pair(mujoco, name):
    model = mujoco.MjModel.from_xml_path(str(source_file("test", "data", "models", f"{name}.xml")))
    data = mujoco.MjData(model)
    machine = grouser.load_machine(source_file("benchmarks", "data", f"{name}.urdf.xacro"))
    world = World(spawn=Pose((0.0, 0.0, float(data.qpos[2]))))
    assert model.opt.timestep == _STEP
    return Pair(grouser.Simulation(machine, world, step=_STEP, tolerance=_TOLERANCE), mujoco, model, data)


def _figure(pair, name, commands):
    own, peer = alternating_medians(_REPEATS, lambda: pair.run(commands), lambda: pair.run_peer(commands))
    state = pair.ours.diagnostics
    details = {
        "contacts": state.contact_count,
        "rows": state.row_count,
        "sweeps of the last step": state.iterations,
        "tolerance [m/s]": _TOLERANCE,
        "MuJoCo's iterations": int(pair.data.solver_niter[0]),
        "MuJoCo's tolerance": pair.model.opt.tolerance,
        "steps a call": _STEPS if commands is None else _COMMAND_STEPS,
        **pair.differences(),
    }
    microseconds = 1e6 / _STEPS
    return Figure(name, own * microseconds, "µs", f"MuJoCo {pair.mujoco.__version__}", peer * microseconds, details)
