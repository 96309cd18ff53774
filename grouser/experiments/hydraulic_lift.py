"""A hydraulic cylinder lifts a load: the published case of sequential impulses with a hydraulic piston.

After Strashnov and Mironenko, "Simulation of hydraulic actuator dynamics in virtual environment systems" (2023). The
machine is urdf/hydraulic_lift.urdf.xacro; its valve follows the schedule `command`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.cylinder_results import draw_panels, energy_error
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.schedule import read_schedule, schedule_value
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.world import World
from grouser.physics.hydraulics.prediction import (
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_TIME,
)
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "a hydraulic cylinder lifts a load (Strashnov and Mironenko, 2023)"


# Parameters of the machine have the names of its xacro arguments.
MACHINE = {
    "load_mass": positive(100.0, "kg", "mass that is lifted"),
    "piston_mass": positive(5.0, "kg", "piston with rod; carries no weight of its own"),
    "bore": positive(0.04, "m", "bore of the cylinder"),
    "rod_diameter": positive(0.025, "m", "diameter of the rod"),
    "stroke": positive(0.5, "m", "stroke; the load starts on the lower stop"),
    "dead_volume_piston_side": positive(1e-4, "m3", "oil under the retracted piston"),
    "dead_volume_rod_side": positive(1e-4, "m3", "oil over the extended piston"),
    "supply_pressure": positive(10e6, "Pa", "of the supply, absolute"),
    "tank_pressure": Parameter(1e5, "Pa", "of the tank, absolute", minimum=0.0),
    "bulk_modulus": positive(1.4e9, "Pa", "of the oil"),
    "density": positive(850.0, "kg/m3", "of the oil"),
    "discharge_coefficient": positive(0.62, "-", "of the metering edges"),
    "spool_diameter": positive(6e-3, "m", "of the valve"),
    "spool_travel": positive(2e-4, "m", "opening of the valve at full spool"),
    "supply_overlap": Parameter(0.05, "-", "positive overlap of the supply edges", minimum=0.0, maximum=0.99),
    "tank_underlap": Parameter(0.05, "-", "negative overlap of the tank edges", minimum=-0.99, maximum=1.0),
    "viscous_friction": Parameter(2000.0, "N s/m", "of the piston", minimum=0.0),
    "dry_friction": Parameter(200.0, "N", "of the piston", minimum=0.0),
    "valve_gain": positive(1.0, "-", "spool position per unit of command"),
    "valve_frequency": positive(120.0, "rad/s", "natural frequency of the spool"),
    "valve_damping": Parameter(1.0, "-", "damping ratio of the spool", minimum=0.0),
}
PARAMETERS = {
    **MACHINE,
    "gravity": Parameter(9.81, "m/s2", "acceleration, downwards", minimum=0.0),
    "command": Parameter([[0, 0], [1, 0], [1, 1]], "s, -", "schedule of the valve", convert=read_schedule),
    "duration": positive(6.0, "s", "time simulated"),
    "step": Parameter(0.001, "s", "mechanical step", minimum=1e-6, maximum=0.1),
    "scheme": Parameter("implicit", "-", "hydraulic scheme", choices=("implicit", "semi_implicit", "split")),
}

# Displacement that counts as breakaway [m].
_MOVED = 1e-9
# The steady part of the lift, as shares of the time from breakaway to its end.
_STEADY = (0.5, 0.9)

_UNITS = {
    "time": "s",
    "position": "m",
    "velocity": "m/s",
    "pressure_piston_side": "Pa",
    "pressure_rod_side": "Pa",
    "spool": "-",
    "breakaway_time": "s",
    "full_stroke_time": "s",
    "steady_speed": "m/s",
    "steady_pressure_piston_side": "Pa",
    "steady_pressure_rod_side": "Pa",
    "peak_pressure_piston_side": "Pa",
    "final_pressure_piston_side": "Pa",
    "final_pressure_rod_side": "Pa",
    "energy_error": "-",
}
REFERENCE = {
    "t": "time",
    "xp": "position",
    "vp": "velocity",
    "pA": "pressure_piston_side",
    "pB": "pressure_rod_side",
    "xv": "spool",
}


def machine_arguments(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Arguments of the machine: it is the published rig, without a holding brake."""
    return {name: repr(parameters[name]) for name in MACHINE} | {"holding_brake": "false"}


def run(**parameters: Any) -> Result:
    """Lifts the load.

    Returns:
        Curves over time (one point a step), and their figures. Times count from the start of the simulation; events are
        found among the hydraulic sub-steps. `breakaway_time` is absent where the piston never moves and
        `full_stroke_time` where it does not reach its end. Steady values are means over the middle of the first lift;
        the peak is the largest pressure of that lift. `energy_error` is the residual of the balance between the oil's
        energy and the load's, relative to the energy supplied.

    Raises:
        MachineError: parameters that make no cylinder or valve.
        DivergenceError: the step is too long for the parameters.
    """
    machine = load_machine(share_path("urdf", "hydraulic_lift.urdf.xacro"), machine_arguments(parameters))
    world = World(gravity=(0.0, 0.0, -parameters["gravity"]), ground=None)
    step, stroke = parameters["step"], parameters["stroke"]
    if parameters["duration"] < step:
        raise ParameterError("duration", parameters["duration"], f"at least one step, {step:g} s")
    simulation = Simulation(machine, world, step=step, scheme=parameters["scheme"])
    begin = simulation.energy()
    curves, events = _record(simulation, parameters["command"], round(parameters["duration"] / step))
    moving = np.flatnonzero(events[:, TRACE_POSITION] > curves["position"][0] + _MOVED)
    arrived = np.flatnonzero(events[:, TRACE_POSITION] >= stroke * (1.0 - 1e-12))
    breakaway = float(events[max(moving[0] - 1, 0), TRACE_TIME]) if len(moving) else None
    arrival = float(events[arrived[0], TRACE_TIME]) if len(arrived) else None
    end = arrival if arrival is not None else float(events[np.argmax(events[:, TRACE_POSITION]), TRACE_TIME])
    start = breakaway if breakaway is not None else 0.0
    if end <= start:
        end = float(events[-1, TRACE_TIME])
    steady = _between(events, start + _STEADY[0] * (end - start), start + _STEADY[1] * (end - start))
    lift = _between(events, start, end)
    results = {
        **curves,
        "breakaway_time": breakaway,
        "full_stroke_time": arrival,
        "steady_speed": float(
            (steady[-1, TRACE_POSITION] - steady[0, TRACE_POSITION]) / (steady[-1, TRACE_TIME] - steady[0, TRACE_TIME])
        ),
        "steady_pressure_piston_side": float(steady[:, TRACE_PISTON_PRESSURE].mean()),
        "steady_pressure_rod_side": float(steady[:, TRACE_ROD_PRESSURE].mean()),
        "peak_pressure_piston_side": float(lift[:, TRACE_PISTON_PRESSURE].max()),
        "final_pressure_piston_side": curves["pressure_piston_side"][-1],
        "final_pressure_rod_side": curves["pressure_rod_side"][-1],
        "energy_error": energy_error(simulation, begin, "lift", parameters["piston_mass"]),
    }
    return Result(results, _UNITS)


def _record(simulation: Simulation, command, steps: int):
    """Curves by step, and all hydraulic sub-steps with times from the start."""
    rows, traces = [_sample(simulation)], []
    split = simulation.scheme == "split"
    for _ in range(steps):
        time = simulation.time
        simulation.command["lift_valve"] = schedule_value(command, time + 0.5 * simulation.step_size)
        simulation.step()
        rows.append(_sample(simulation))
        trace = simulation.circuit.cylinder_trace("lift")
        if split:
            # The piston moves after the sub-steps.
            trace[-1, TRACE_POSITION] = rows[-1][1]
        trace[:, TRACE_TIME] += time
        traces.append(trace)
    curves = dict(zip(list(_UNITS)[:6], np.array(rows).T, strict=True))
    return curves, np.concatenate(traces)


def _sample(simulation: Simulation):
    cylinder = simulation.cylinder["lift"]
    return (
        simulation.time,
        cylinder.position,
        cylinder.velocity,
        cylinder.pressure_piston_side,
        cylinder.pressure_rod_side,
        cylinder.spool_position,
    )


def _between(events: np.ndarray, start: float, end: float) -> np.ndarray:
    """Sub-steps within a span of time; at least two of them."""
    first, last = np.searchsorted(events[:, TRACE_TIME], (start, end))
    first = min(first, len(events) - 2)
    return events[first : max(last, first + 2)]


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws position, velocity, pressures and spool over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, xp, vp, pA, pB, xv of a reference curve, where present.
    """
    panels = (
        ("position [m]", (("position", "xp", "piston"),), 1.0),
        ("velocity [m/s]", (("velocity", "vp", "piston"),), 1.0),
        (
            "pressure [MPa]",
            (("pressure_piston_side", "pA", "piston side"), ("pressure_rod_side", "pB", "rod side")),
            1e-6,
        ),
        ("spool [-]", (("spool", "xv", "spool"),), 1.0),
    )
    draw_panels(figure, panels, result, reference)
    figure.suptitle(
        f"hydraulic lift: {parameters['load_mass']:g} kg, step {1e3 * parameters['step']:g} ms, {parameters['scheme']}"
    )
