"""The loader crane with a flexible boom: a cylinder raises it, the valve stops it, boom and oil vibrate in series.

The machine is urdf/loader_crane.urdf.xacro. Once its valve is closed the oil in both chambers is a spring below the
boom; the pressure on the piston side swings about its mean, and decays by the cylinder's viscous friction.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.flexible_links import MODAL, POINTS, discretisation_parameters
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.schedule import schedule_value
from grouser.experiments.turning import thinning
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.hydraulics.actuator_geometry import piston_area, rod_side_area
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "a crane with a flexible boom is stopped by its valve, and vibrates on its oil"

PARAMETERS = {
    "flexible": Parameter(True, "-", "whether the boom bends and stretches"),
    **discretisation_parameters(MODAL, 2, "finite_elements"),
    "payload_mass": positive(100.0, "kg", "mass on the rod at the tip"),
    "boom_mass": positive(15.83, "kg", "mass of the boom, spread evenly"),
    "oil_modulus": Parameter(1.5e9, "Pa", "bulk modulus of the oil", minimum=1e7, maximum=1e11),
    "friction": Parameter(1e4, "N s/m", "viscous friction of the cylinder", minimum=0.0),
    "lift_speed": positive(0.05, "m/s", "speed of the piston that the valve is opened for"),
    "lift_start": Parameter(0.5, "s", "when the valve opens, within 0.1 s", minimum=0.0),
    "lift_time": positive(0.4, "s", "from then until the valve is told to close"),
    "stop_time": Parameter(0.01, "s", "within which the valve's command goes to zero", minimum=0.0),
    "duration": positive(1.4, "s", "time simulated"),
    "step": Parameter(2e-5, "s", "length of a step", minimum=1e-6, maximum=1e-3),
}

# The gravity of the published crane [m/s2].
_GRAVITY = 9.8
# The valve opens within this time at most [s].
_OPENING_TIME = 0.1
# Time constants of the spool after which the valve counts as closed.
_CLOSED = 5.0

_UNITS = {
    "time": "s",
    "boom_angle": "rad",
    "tip_deflection": "m",
    "pressure": "Pa",
    "pressure_rod_side": "Pa",
    "spool": "-",
    "opening": "-",
    "closed_time": "s",
    "frequency": "Hz",
    "ripple": "Pa",
    "decay_rate": "1/s",
}
REFERENCE = {"t": "time", "deflection": "tip_deflection", "p1": "pressure", "p2": "pressure_rod_side"}


def run(**parameters: Any) -> Result:
    """Raises the boom, and stops it.

    Returns:
        Over time: angle of the boom's start above the horizontal, deflection of its tip from the tangent there, upwards
        (zero if it is rigid), pressures of the cylinder's piston side and rod side, and the spool. `opening` of the
        valve while it lifts. `closed_time`: when the spool has come to rest. From then on `frequency` and `decay_rate`
        of the pressure's vibration, by a fit of one damped vibration about a parabola, and `ripple`, half of the
        pressure's range over the first period.

    Raises:
        ParameterError: a speed that the valve does not give, or fewer than four periods after it has closed.
        MachineError: a size out of the method's range, or a payload with which the crane does not start.
        DivergenceError: the step is too long.
    """
    machine = _crane(parameters)
    opening = _opening(machine, parameters)
    begin, step = parameters["lift_start"], parameters["step"]
    end = begin + parameters["lift_time"]
    opened = begin + min(_OPENING_TIME, 0.5 * parameters["lift_time"])
    schedule = [[begin, 0.0], [opened, opening], [end, opening], [end + parameters["stop_time"], 0.0]]
    lag: Any = machine.valves[0].time_constant
    closed = schedule[-1][0] + _CLOSED * lag
    if parameters["duration"] <= closed:
        raise ParameterError("duration", parameters["duration"], f"above {closed:g} s, when the valve has closed")
    simulation = Simulation(machine, World(gravity=(0.0, 0.0, -_GRAVITY), ground=None), step)
    steps = count_steps(parameters)
    every, rows = thinning(steps, POINTS), [_sample(simulation, parameters["flexible"])]
    for k in range(steps):
        simulation.command["lift_valve"] = schedule_value(schedule, (k + 0.5) * step)
        simulation.step()
        if (k + 1) % every == 0:
            rows.append(_sample(simulation, parameters["flexible"]))
    curves = dict(zip(list(_UNITS)[: len(rows[0])], np.array(rows).T, strict=True))
    after = curves["time"] >= closed
    frequency, decay = _vibration(curves["time"][after], curves["pressure"][after], parameters["duration"])
    first = after & (curves["time"] <= closed + 1.0 / frequency)
    found = {
        "opening": opening,
        "closed_time": closed,
        "frequency": frequency,
        "ripple": 0.5 * float(np.ptp(curves["pressure"][first])),
        "decay_rate": decay,
    }
    return Result({**curves, **found}, _UNITS)


def _crane(parameters: Mapping[str, Any]) -> Machine:
    arguments = {
        "flexible": str(parameters["flexible"]).lower(),
        "discretisation": parameters["method"],
        "size": str(parameters["size"]),
        "payload_mass": repr(parameters["payload_mass"]),
        "boom_mass": repr(parameters["boom_mass"]),
        "oil_modulus": repr(parameters["oil_modulus"]),
        "crane_friction": repr(parameters["friction"]),
        "gravity": repr(_GRAVITY),
    }
    return load_machine(share_path("urdf", "loader_crane.urdf.xacro"), arguments)


def _opening(machine: Machine, parameters: Mapping[str, Any]) -> float:
    """Opening at which the piston has the lift speed under the load of the start: both edges throttle Q = k x sqrt(dp),
    and the pressures balance load and friction."""
    cylinder: Any = machine.cylinders[0]
    valve: Any = machine.valves[0]
    pump: Any = machine.pumps[0]
    out, back, speed = piston_area(cylinder), rod_side_area(cylinder), parameters["lift_speed"]
    start: dict[str, Any] = {line.name: line.start_pressure for line in machine.lines}
    load = out * start["lift_valve.a"] - back * start["lift_valve.b"] + parameters["friction"] * speed
    left = out * pump.supply_pressure - back * pump.tank_pressure - load
    per_speed = math.sqrt((out**3 + back**3) * valve.rated_drop / max(left, 1e-9)) / valve.rated_flow
    if per_speed * speed > 1.0:
        raise ParameterError("lift_speed", speed, f"at most {1.0 / per_speed:.3g} m/s, which the open valve gives")
    return per_speed * speed


def _sample(simulation: Simulation, flexible: bool) -> list[float]:
    cylinder = simulation.cylinder["lift"]
    return [
        simulation.time,
        simulation.joint_position["boom"],
        simulation.flexible_link["boom_link"].tip_deflection_z if flexible else 0.0,
        cylinder.pressure_piston_side,
        cylinder.pressure_rod_side,
        cylinder.spool_position,
    ]


def _vibration(moment: np.ndarray, pressure: np.ndarray, duration: float) -> tuple[float, float]:
    """Frequency [Hz] and decay rate [1/s] of the vibration."""
    moment = moment - moment[0]
    swing = pressure - np.polyval(np.polyfit(moment, pressure, 2), moment)
    spectrum = np.abs(np.fft.rfft(swing * np.hanning(len(swing)), 8 * len(swing)))
    guess = float(np.argmax(spectrum)) / (8 * len(swing) * (moment[1] - moment[0]))
    if guess * moment[-1] < 4.0:
        raise ParameterError("duration", duration, "at least four periods after the valve has closed")

    def damped(t, mean, slope, bend, cosine, sine, decay, frequency):
        turn = 2.0 * np.pi * frequency * t
        return mean + t * (slope + t * bend) + np.exp(-decay * t) * (cosine * np.cos(turn) + sine * np.sin(turn))

    size, scale = float(np.abs(swing).max()), float(np.abs(pressure).max())
    start = [0.0, 0.0, 0.0, size / scale, size / scale, 1.0, guess]
    found, _ = curve_fit(damped, moment, (pressure - pressure.mean()) / scale, start)
    return abs(float(found[6])), float(found[5])


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws pressures, deflection and spool over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns t, deflection, p1, p2 of a reference curve, where present.
    """
    panels = figure.subplots(3, 1, sharex=True)
    curves = (
        (0, "pressure", "p1", "piston side", 1e-6),
        (0, "pressure_rod_side", "p2", "rod side", 1e-6),
        (1, "tip_deflection", "deflection", "tip", 1e3),
        (2, "spool", "spool", "spool", 1.0),
    )
    for number, name, column, label, scale in curves:
        panels[number].plot(result["time"], scale * np.asarray(result[name]), label=label)
        draw_reference(panels[number], reference, "t", column, scale)
    for panel, label in zip(panels, ("pressure [MPa]", "deflection [mm]", "spool [-]"), strict=True):
        panel.axvline(result["closed_time"], color="0.6", linestyle=":", label="valve closed")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    panels[-1].set_xlabel("time [s]")
    boom = "flexible" if parameters["flexible"] else "rigid"
    figure.suptitle(
        f"{boom} boom on oil: {result['frequency']:.2f} Hz, ripple {1e-3 * result['ripple']:.0f} kPa after the stop"
    )
