"""Machines with flexible links: the speed of a step, and its accuracy beside Exudyn's cable elements."""

import statistics
import time
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np

from grouser import experiments
from grouser.benchmarks.exudyn_peer import make_double_pendulum
from grouser.benchmarks.figure import Figure, SkippedError, Target, cpu_time
from grouser.benchmarks.peers import require
from grouser.catalogue import machine_file
from grouser.experiments.double_flexible_pendulum import double_pendulum
from grouser.experiments.five_link_arm import five_link_arm
from grouser.experiments.protocol import complete_parameters
from grouser.physics.description import load_machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation

DESCRIPTION = "flexible links: a double pendulum beside Exudyn, a rotating beam, an arm, a crane"

_STEP, _DURATION = 1e-3, 2.0  # [s]
_CABLES, _CONVERGED_CABLES, _CONVERGED_STEP = 4, 8, 2.5e-4
_REPEATS = 3
# Discretisations of the double pendulum.
_DISCRETISATIONS = (("bezier", 4), ("bezier", 5), ("b_spline", 4))


def run() -> list[Figure]:
    """Measures the double pendulum, the rotating beam, the arm and the crane."""
    return [*_double_pendulum(), _rotating_beam(), _five_link_arm(), _flexible_crane()]


def _double_pendulum() -> list[Figure]:
    try:
        peer = require("exudyn")
    except SkippedError as skipped:
        return [Figure("step, double flexible pendulum", None, "µs", reason=str(skipped))]
    steps = round(_DURATION / _STEP)
    exact = make_double_pendulum(peer, _CONVERGED_CABLES, _CONVERGED_STEP, _DURATION)
    exact.step()
    figures = []
    for method, size in _DISCRETISATIONS:
        given = {"method": method, "size": size}
        parameters = complete_parameters(experiments.load("double_flexible_pendulum"), given)
        world = World(gravity=(0.0, -parameters["gravity"], 0.0), ground=None)
        simulation = Simulation(double_pendulum(parameters), world, _STEP, integrator="implicit_midpoint")
        simulation.step()
        own, theirs = [], []
        for _ in range(_REPEATS):
            simulation.reset()
            own.append(cpu_time(partial(simulation.step, steps)))
            cables = make_double_pendulum(peer, _CABLES, _STEP, _DURATION)
            theirs.append(cpu_time(cables.step))
        tips = np.array([simulation.link_pose(f"end_{number}")[0][:2] for number in (1, 2)])
        times = [1e6 / steps * statistics.median(taken) for taken in (own, theirs)]
        details: dict[str, float | int | str] = {
            "error of the tips after 2 s [m]": _largest(tips - exact.tips()),
            "error of the peer's [m]": _largest(cables.tips() - exact.tips()),
            "reference": f"{_CONVERGED_CABLES} cable elements a link, {1e3 * _CONVERGED_STEP:g} ms",
            "elastic coordinates": len(simulation.arrays.model.spring_position),
            "bodies": len(simulation.arrays.model.body_parent),
        }
        share = Target("time of a step over the peer's", times[0] / times[1], 0.2)
        name = f"step, double flexible pendulum, {method} {size}"
        peer_name = f"Exudyn {version('exudyn')}, {_CABLES} cable elements a link"
        figures.append(Figure(name, times[0], "µs", peer_name, times[1], details, (share,)))
    return figures


def _largest(differences: np.ndarray) -> float:
    return float(np.linalg.norm(differences, axis=1).max())


def _rotating_beam() -> Figure:
    """The experiment with four modes and its own step, with a command each step."""
    results = [experiments.run("rotating_beam", axial=False) for _ in range(_REPEATS)]
    spent = statistics.median(result["compute_time"] for result in results)
    details: dict[str, float | int | str] = {
        "lowest deflection [m]": results[0]["min_tip_deflection"],
        "first frequency [rad/s]": results[0]["first_frequency"],
        "half the range when steady [m]": results[0]["steady_half_peak_to_peak"],
    }
    return Figure(
        "rotating beam, 4 modes, 20 s", spent, "s", details=details, targets=(Target("time [s]", spent, 0.1),)
    )


def _five_link_arm() -> Figure:
    simulation = _arm({"flexible": True, "size": 1})
    rates = [_real_time_factor(simulation) for _ in range(_REPEATS)]
    factor = statistics.median(rates)
    tip = simulation.link_pose("end")[0]
    fine = _arm({"flexible": True, "size": 2, "integrator": "implicit_midpoint"})
    fine.step(round(_DURATION / _STEP))
    details: dict[str, float | int | str] = {
        "elastic coordinates": len(simulation.arrays.model.spring_position),
        "bodies": len(simulation.arrays.model.body_parent),
        "tip from that of two modes by the midpoint rule [m]": float(np.linalg.norm(tip - fine.link_pose("end")[0])),
    }
    target = Target("real-time factor", factor, 30.0, at_least=True)
    return Figure("arm of five flexible rods, 1 ms", factor, "x real time", details=details, targets=(target,))


def _arm(given: Mapping[str, Any]) -> Simulation:
    parameters = complete_parameters(experiments.load("five_link_arm"), {"integrator": "semi_implicit", **given})
    world = World(gravity=(0.0, -9.81, 0.0), ground=None)
    return Simulation(five_link_arm(parameters), world, _STEP, integrator=parameters["integrator"])


def _flexible_crane() -> Figure:
    """The loader crane with a flexible boom, raised by its valve."""
    machine = load_machine(machine_file("loader_crane"), {"flexible": "true"})
    simulation = Simulation(machine, World(gravity=(0.0, 0.0, -9.8), ground=None), _STEP)
    rates = [_real_time_factor(simulation, {"lift_valve": 0.6}) for _ in range(_REPEATS)]
    factor = statistics.median(rates)
    details: dict[str, float | int | str] = {
        "elastic coordinates": len(simulation.arrays.model.spring_position),
        "bodies": len(simulation.arrays.model.body_parent),
        "angle of the boom at the end [rad]": simulation.joint_position["boom"],
    }
    target = Target("real-time factor", factor, 40.0, at_least=True)
    return Figure("loader crane with a flexible boom, 1 ms", factor, "x real time", details=details, targets=(target,))


def _real_time_factor(simulation: Simulation, commands: Mapping[str, float] = MappingProxyType({})) -> float:
    """Time simulated over processor time, from the start, with commands that are held."""
    simulation.step()
    simulation.reset()
    for name, value in commands.items():
        simulation.command[name] = value
    start = time.process_time()
    simulation.step(round(_DURATION / _STEP))
    return _DURATION / (time.process_time() - start)
