"""Accelerations from forces: the articulated body algorithm beside Pinocchio's, over states that change."""

import numpy as np

import grouser
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.benchmarks.peers import require, source_file
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.model.build import build_model
from grouser.physics.multibody.articulated import forward_dynamics, make_articulated_workspace
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics

DESCRIPTION = "kinematics and articulated body algorithm, one evaluation, beside Pinocchio's in C++"

_STATES = 2000
_REPEATS = 15

# The call of Pinocchio from Python is measured with a machine with negligible dynamics.
_PENDULUM = """<robot name="pendulum"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@kernel
def evaluate_all(model, kinematics, workspace, positions, rates, force, acceleration):
    """Accelerations of each state, (states, coordinates)."""
    for i in range(rates.shape[0]):
        update_kinematics(model, positions[i], rates[i], kinematics)
        forward_dynamics(model, kinematics, force[i], workspace, acceleration[i])


def run() -> list[Figure]:
    """Measures the excavator (10 degrees of freedom) and the rover (20)."""
    pinocchio = require("pinocchio")
    return [_compare(name, pinocchio) for name in ("excavator", "rover")]


def _compare(name, pinocchio):
    path = source_file("test", "data", "models", f"{name}.urdf")
    random = np.random.default_rng(1)
    model, _ = build_model(grouser.load_machine(path))
    # packed as in a step, so that the kernels measured are those of a simulation
    trees = Packed(model), Packed(make_kinematics(model)), make_articulated_workspace(model)
    size = len(model.rate_damping)
    positions = np.tile(model.q_initial, (_STATES, 1))
    rates, force = random.normal(size=(_STATES, size)), random.normal(size=(_STATES, size))
    for q, v in zip(positions, random.normal(size=(_STATES, size)), strict=True):
        integrate_positions(trees[0], q, v, 1.0)
    acceleration = np.zeros((_STATES, size))
    ours = *trees, positions, rates, force, acceleration
    evaluate_all(*ours)
    theirs = _pinocchio_loop(pinocchio, pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer()))
    calls = _pinocchio_loop(pinocchio, pinocchio.buildModelFromXML(_PENDULUM))
    own, raw, overhead = alternating_medians(_REPEATS, lambda: evaluate_all(*ours), theirs, calls)
    microseconds = 1e6 / _STATES
    return Figure(
        f"articulated body, {name}",
        own * microseconds,
        "µs",
        f"Pinocchio {pinocchio.__version__}",
        (raw - overhead) * microseconds,
        {"Pinocchio, with the call from Python [µs]": raw * microseconds, "that call [µs]": overhead * microseconds},
    )


def _pinocchio_loop(pinocchio, model):
    """A function that evaluates `_STATES` random states of a model of Pinocchio's."""
    random = np.random.default_rng(2)
    data = model.createData()
    neutral = pinocchio.neutral(model)
    states = [
        (pinocchio.integrate(model, neutral, random.normal(size=model.nv)), *random.normal(size=(2, model.nv)))
        for _ in range(_STATES)
    ]

    def loop():
        for q, v, force in states:
            pinocchio.aba(model, data, q, v, force)

    return loop
