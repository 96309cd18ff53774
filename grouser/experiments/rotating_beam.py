"""A flexible beam on a hub whose rotation is prescribed: it spins up, and vibrates on.

After Fan and Zhang, "Dynamic modeling and simulation of flexible robots based on different discretization methods"
(2016). The hub's inertia is so large that the beam does not change its motion; a torque gives it the prescribed one.
"""

import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.flexible_links import (
    MODAL,
    POINTS,
    discretisation_parameters,
    flexible_element,
    inertial_text,
    joint_text,
    link_text,
    parsed,
)
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.turning import thinning
from grouser.physics.base.errors import DivergenceError
from grouser.physics.description.data.world import World
from grouser.physics.flexible_links.modal_beam import AXIAL
from grouser.physics.flexible_links.stationed import modal_beam
from grouser.physics.simulation.simulation import Simulation

DESCRIPTION = "a flexible beam spins up with its hub (Fan and Zhang, 2016)"

PARAMETERS = {
    "length": positive(8.0, "m", "of the beam"),
    "area": positive(7.2968e-5, "m2", "of its section"),
    "second_moment": positive(8.2189e-9, "m4", "of area, about the axis of rotation"),
    "density": positive(2766.7, "kg/m3", "of its material"),
    "modulus": positive(6.8952e10, "Pa", "Young's modulus"),
    "final_rate": Parameter(4.0, "rad/s", "of the hub after spinning up", minimum=0.0, maximum=100.0),
    "spin_up_time": positive(15.0, "s", "until the final rate"),
    "duration": positive(20.0, "s", "time simulated"),
    **discretisation_parameters(MODAL, 4),
    "axial": Parameter(True, "-", "whether the beam stretches, with as many functions as the size"),
    "coupling": Parameter("first_order", "-", "of rotation and bending", choices=("first_order", "zero_order")),
    "step": Parameter(0.01, "s", "length of a step", minimum=1e-5, maximum=0.1),
    "integrator": Parameter(
        "implicit_midpoint", "-", "of the motion", choices=("implicit_midpoint", "variational", "semi_implicit")
    ),
    "comparison": Parameter(False, "-", "whether all methods are run, with several sizes"),
}

# Inertia of the hub over that of the beam.
_HEAVY = 1e9
# Deflection at which a run has diverged, over the length.
_DIVERGED = 1.0
# Step and deflection by which the vibration about the steady rotation is found [s, m].
_SMALL_STEP, _SMALL = 1e-3, 1e-5
# Newton iterations to the steady rotation, in which the axis is stretched.
_ROUNDS = 3
_COMPARED = {"assumed_modes": (1, 2, 4, 8), "finite_elements": (2, 5, 10), "bezier": (3, 5, 7), "b_spline": (2, 5, 10)}

_UNITS = {
    "time": "s",
    "tip_deflection": "m",
    "tip_axial": "m",
    "min_tip_deflection": "m",
    "time_of_min": "s",
    "first_frequency": "rad/s",
    "steady_half_peak_to_peak": "m",
    "mean_axial_stretch": "m",
    "compute_time": "s",
    "max_rate_error": "rad/s",
    "sweep_min_tip_deflection": "m",
    "sweep_rms_difference": "m",
    "sweep_compute_time": "s",
}
REFERENCE = {"t": "time", "tip_v": "tip_deflection", "v": "tip_deflection"}


class Run(NamedTuple):
    """Curves of one run.

    Attributes:
        time: [s], (N,).
        across, along, stretch: deflection of the tip, its displacement along the undeformed axis, and the elongation of
            the axis [m], (N,).
        diverged: whether it ended because the deflection grew beyond the length.
        compute_time: of the steps [s].
        rate_error: largest difference of the hub's rate from the prescribed one [rad/s].
    """

    time: np.ndarray
    across: np.ndarray
    along: np.ndarray
    stretch: np.ndarray
    diverged: bool
    compute_time: float
    rate_error: float


def run(**parameters: Any) -> Result:
    """Spins the beam up.

    Returns:
        Over time, in the axes of the hub: deflection of the tip, and its displacement along the axis, of which most is
        the shortening by bending. The lowest deflection and its time. Of the vibration after spinning up: half its
        range, and the mean elongation of the axis; absent without that time. `first_frequency`, of small vibrations
        about the steady rotation; absent if it is unstable. `max_rate_error`: of the hub, against the prescribed
        rotation. `diverged`: the deflection grew beyond the length, and the curves end there. `compute_time`: of the
        steps. With `comparison`, for each method and size: the lowest deflection, the root mean square of the
        difference from the last method and size, and the time of the steps.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
        MachineError: a size out of the method's range.
    """
    one = _spin(parameters)
    lowest = int(one.across.argmin())
    steady = one.time >= parameters["spin_up_time"] * (1.0 - 1e-12)
    vibrates = not one.diverged and np.count_nonzero(steady) > 1
    results: dict[str, Any] = {
        "time": one.time,
        "tip_deflection": one.across,
        "tip_axial": one.along,
        "min_tip_deflection": float(one.across[lowest]),
        "time_of_min": float(one.time[lowest]),
        "first_frequency": first_frequency(parameters),
        "steady_half_peak_to_peak": 0.5 * float(np.ptp(one.across[steady])) if vibrates else None,
        "mean_axial_stretch": float(one.stretch[steady].mean()) if vibrates else None,
        "diverged": one.diverged,
        "max_rate_error": one.rate_error,
        "compute_time": one.compute_time,
    }
    if parameters["comparison"]:
        results.update(_compare(parameters))
    return Result(results, _UNITS)


def beam_text(parameters: Mapping[str, Any]) -> str:
    """The element of the beam."""
    return flexible_element(
        *("beam", parameters["length"], parameters["modulus"], parameters),
        area=parameters["area"],
        second_moment_z=parameters["second_moment"],
        density=parameters["density"],
        axial=parameters["size"] if parameters["axial"] else 0,
        torsion=0,
        bending="z",
        coupling=parameters["coupling"],
    )


def _hub_inertia(parameters: Mapping[str, Any]) -> float:
    return _HEAVY * parameters["density"] * parameters["area"] * parameters["length"] ** 3 / 3.0


def _simulation(parameters: Mapping[str, Any], step: float, integrator: str) -> Simulation:
    inertia = _hub_inertia(parameters)
    machine = parsed(
        "rotating_beam",
        link_text("world"),
        link_text("hub", inertial_text(1.0, (inertia, inertia, inertia))),
        link_text("beam"),
        link_text("tip"),
        joint_text("hub", "continuous", "world", "hub"),
        joint_text("clamp", "fixed", "hub", "beam"),
        joint_text("end", "fixed", "beam", "tip", (parameters["length"], 0.0, 0.0)),
        extension=f'<servo_drive joint="hub" mode="effort" effort_limit="1e15"/>{beam_text(parameters)}',
    )
    world = World(gravity=(0.0, 0.0, 0.0), ground=None)
    return Simulation(machine, world, step, integrator=integrator, tolerance=1e-12)


def prescribed_rate(at: float, parameters: Mapping[str, Any]) -> float:
    """Rate of the hub [rad/s]."""
    share = min(at / parameters["spin_up_time"], 1.0)
    return parameters["final_rate"] * (share - math.sin(2.0 * math.pi * share) / (2.0 * math.pi))


def _spin(parameters: Mapping[str, Any]) -> Run:
    steps, step = count_steps(parameters), parameters["step"]
    simulation = _simulation(parameters, step, parameters["integrator"])
    # the first step compiles
    simulation.step()
    simulation.reset()
    inertia, every = _hub_inertia(parameters), thinning(steps, POINTS)
    axial, index = _axial_shapes(simulation)
    hub, tip = (simulation.arrays.names.link_index(name) for name in ("hub", "tip"))
    rows, spent, diverged, error = [(0.0, 0.0, 0.0, 0.0)], 0.0, False, 0.0
    begin, after = 0.0, 0.0
    for k in range(1, steps + 1):
        begin, after = after, prescribed_rate(k * step, parameters)
        simulation.command["hub"] = inertia * (after - begin) / step
        start = time.perf_counter()
        try:
            simulation.step()
        except DivergenceError:
            diverged = True
            break
        spent += time.perf_counter() - start
        if k % every and k < steps:
            continue
        error = max(error, abs(simulation.joint_velocity["hub"] - after))
        poses = simulation.link_poses()
        across, along = _in_axes(poses[hub], poses[tip])
        rows.append((k * step, across, along - parameters["length"], float(axial @ simulation.state.q[index])))
        if not abs(across) <= _DIVERGED * parameters["length"]:
            diverged = True
            break
    moments, across, along, stretch = np.array(rows).T
    return Run(moments, across, along, stretch, diverged, spent, error)


def _axial_shapes(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Elongation of the beam per unit of each elastic coordinate, and their places in q."""
    (flexible,) = simulation.machine.flexible_links
    shapes = modal_beam(flexible).values(AXIAL, np.array([flexible.length]))[0]
    return shapes, simulation.arrays.model.spring_position


def _in_axes(hub: np.ndarray, tip: np.ndarray) -> tuple[float, float]:
    """Coordinates of the tip across and along the hub's x axis, from poses."""
    angle = 2.0 * math.atan2(hub[5], hub[6])
    x, y = tip[0] - hub[0], tip[1] - hub[1]
    return math.cos(angle) * y - math.sin(angle) * x, math.cos(angle) * x + math.sin(angle) * y


def first_frequency(parameters: Mapping[str, Any]) -> float | None:
    """Lowest frequency of small vibrations about the rotation at the final rate [rad/s]; None if it is unstable.

    They are the eigenvalues of a step of the implicit midpoint rule, which turns a vibration by 2 atan(w h / 2).
    """
    frequencies = spinning_frequencies(parameters)
    return float(frequencies[0]) if len(frequencies) else None


def spinning_frequencies(parameters: Mapping[str, Any]) -> np.ndarray:
    """All frequencies of small vibrations about the rotation at the final rate [rad/s]; none if it is unstable."""
    simulation = _simulation(parameters, _SMALL_STEP, "implicit_midpoint")
    index, rates = simulation.arrays.model.spring_position, simulation.arrays.model.spring_rate
    scale = np.sqrt(simulation.arrays.model.spring_stiffness)
    hub, n = simulation.arrays.names.joints["hub"].v, len(index)

    def stepped(deflection: np.ndarray) -> np.ndarray:
        simulation.reset()
        simulation.state.v[hub] = parameters["final_rate"]
        simulation.state.q[index], simulation.state.v[rates] = deflection[:n] / scale, deflection[n:]
        simulation.step()
        return np.concatenate([simulation.state.q[index] * scale, simulation.state.v[rates]])

    steady, small = np.zeros(2 * n), _SMALL * np.eye(2 * n)
    for _ in range(_ROUNDS):
        columns = [(stepped(steady + one) - stepped(steady - one)) / (2.0 * _SMALL) for one in small]
        change = np.array(columns).T
        steady = steady + np.linalg.solve(np.eye(2 * n) - change, stepped(steady) - steady)
    turns = np.angle(np.linalg.eigvals(change))
    if np.count_nonzero(turns > 0.0) < n:
        return np.zeros(0)
    return np.sort(2.0 / _SMALL_STEP * np.tan(0.5 * turns[turns > 0.0]))


def _compare(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All methods with several sizes; the last is the one they are compared with."""
    chosen = [(method, size) for method, sizes in _COMPARED.items() for size in sizes]
    runs = [_spin({**parameters, "method": method, "size": size}) for method, size in chosen]
    finest = runs[-1].across
    return {
        "sweep_method": [method for method, _ in chosen],
        "sweep_size": [size for _, size in chosen],
        "sweep_min_tip_deflection": [float(one.across.min()) for one in runs],
        "sweep_rms_difference": [_difference(one.across, finest) for one in runs],
        "sweep_compute_time": [one.compute_time for one in runs],
    }


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    count = min(len(one), len(other))
    return float(np.sqrt(np.mean((one[:count] - other[:count]) ** 2)))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws deflection and axial displacement of the tip over time, and error over time of a comparison.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t and tip_v, or v, of a reference curve, where present.
    """
    compared = result.results.get("sweep_method")
    panels = figure.subplots(3 if compared else 2, 1)
    panels[0].plot(result["time"], result["tip_deflection"], label="simulation")
    drawn = [draw_reference(panels[0], reference, "t", name) for name in ("tip_v", "v")]
    if any(drawn):
        panels[0].legend()
    panels[0].set_ylabel("tip deflection [m]")
    panels[1].plot(result["time"], result["tip_axial"])
    panels[1].set_ylabel("tip, along the axis [m]")
    panels[1].set_xlabel("time [s]")
    if compared:
        for method in _COMPARED:
            rows = [k for k, name in enumerate(compared) if name == method]
            times = [result["sweep_compute_time"][k] for k in rows]
            panels[2].loglog(times, [result["sweep_rms_difference"][k] or np.nan for k in rows], "o-", label=method)
        panels[2].set_xlabel("time of the steps [s]")
        panels[2].set_ylabel("difference [m]")
        panels[2].legend(fontsize="small")
    for panel in panels:
        panel.grid(alpha=0.3)
    figure.suptitle(f"rotating beam, {parameters['method']} {parameters['size']}, {parameters['final_rate']:g} rad/s")
