"""Steps of a closed four-bar linkage while its crank turns, and the cost of a joint of springs."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, alternating_medians, alternating_times
from grouser.physics.description.data.compliance import LoopJoint
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World

DESCRIPTION = "one step of a closed four-bar linkage that moves, and the share of an elastic joint in it"

_STEP = 0.001  # [s]
_STEPS = 5000
_REPEATS = 25
_SPIN_UP_STEPS = 300
_SPIN_UP_EFFORT = 0.2  # of the crank [N m]
_WEIGHTLESS = World(gravity=(0.0, 0.0, 0.0), ground=None)
_STIFFNESS, _DAMPING = 1e6, 1e2  # of the bushing, in every direction [N/m, N s/m]
_ROTATIONAL_STIFFNESS, _ROTATIONAL_DAMPING = 1e-2, 1e-5  # [N m/rad, N m s/rad]


def run() -> list[Figure]:
    """Measures the closed linkage with each integrator, and an open one with and without a bushing."""
    return [_closed(), _bushing()]


def _closed():
    machine = _load({})
    spring = _load({"joint": "spring"})
    ours, springs = (_turning(each, "semi_implicit") for each in (machine, spring))
    middle = _turning(machine, "implicit_midpoint")
    times = alternating_medians(_REPEATS, *[lambda each=each: each.step(_STEPS) for each in (ours, springs, middle)])
    own, elastic, midpoint = (1e6 / _STEPS * time for time in times)
    details: dict[str, float | int | str] = {
        "crank [rad/s]": ours.joint_velocity["crank"],
        "with a joint of springs [µs]": elastic,
        "with a joint of springs, crank [rad/s]": springs.joint_velocity["crank"],
        "implicit midpoint [µs]": midpoint,
        "implicit midpoint, crank [rad/s]": middle.joint_velocity["crank"],
        "implicit midpoint, rounds of the last step": middle.diagnostics.iterations,
        "open at the loop joint [m]": float(np.abs(ours.joint_deflection["c"][:3]).max()),
        "sweeps": "none: the factorisation solves the loop exactly",
        "steps a call": _STEPS,
    }
    return Figure("step moving, closed four-bar", own, "µs", details=details)


def _bushing():
    """The same tree, once with springs in all six directions between coupler and rocker and once without."""
    machine = _load({})
    closed = replace(machine, loop_joints=(_with_springs(machine.loop_joints[0]),))
    opened = replace(machine, loop_joints=())
    with_joint, without = (_turning(each, "semi_implicit") for each in (closed, opened))
    times = alternating_times(_REPEATS, *[lambda each=each: each.step(_STEPS) for each in (with_joint, without)])
    own, free = 1e6 / _STEPS * np.array(times)
    lower, share, upper = np.quantile(own - free, [0.25, 0.5, 0.75]).tolist()
    details: dict[str, float | int | str] = {
        "lower quartile [µs]": lower,
        "upper quartile [µs]": upper,
        "step with it [µs]": float(np.median(own)),
        "step without it [µs]": float(np.median(free)),
        "directions with a spring": 6,
        "crank with it [rad/s]": with_joint.joint_velocity["crank"],
        "crank without it [rad/s]": without.joint_velocity["crank"],
        "stretched [mm]": 1e3 * float(np.abs(with_joint.joint_deflection["c"][:3]).max()),
        "steps a call": _STEPS,
    }
    return Figure("elastic joint, share in a step", share, "µs", details=details)


def _with_springs(joint: LoopJoint) -> LoopJoint:
    """The same joint as a bushing."""
    return replace(
        joint,
        stiffness=(_STIFFNESS,) * 3,
        damping=(_DAMPING,) * 3,
        rotational_stiffness=(_ROTATIONAL_STIFFNESS,) * 3,
        rotational_damping=(_ROTATIONAL_DAMPING,) * 3,
    )


def _load(arguments: Mapping[str, str]) -> Machine:
    return grouser.load_machine(catalogue.machine_file("four_bar"), arguments)


def _turning(machine: Machine, integrator: str) -> grouser.Simulation:
    """The linkage after its crank was spun up."""
    simulation = grouser.Simulation(machine, _WEIGHTLESS, step=_STEP, integrator=integrator)
    simulation.command["crank"] = _SPIN_UP_EFFORT
    simulation.step(_SPIN_UP_STEPS)
    simulation.command["crank"] = 0.0
    return simulation
