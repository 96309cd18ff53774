"""Repeated passes of a wheel through the same rut: repetitive loading of soil, on the test rig.

After a pass the winch lifts the wheel, the carriage returns, and the wheel is set down at its start. The machine is
urdf/single_wheel_testbed.urdf.xacro.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import DEFORMABLE, SOIL, WHEEL, read_soil
from grouser.experiments.testbed import GRAVITY, check_carried, make_testbed, mean_state, travel_speed
from grouser.physics.readings.measurements import TerrainPatch
from grouser.physics.simulation.simulation import Simulation

DESCRIPTION = "a wheel goes through the same rut several times"

PARAMETERS = {
    "model": Parameter("deformable", "-", "level of the contact", choices=("stress", "deformable")),
    "passes": Parameter(5, "-", "how often the wheel goes through", minimum=1, maximum=100),
    "load": positive(100.0, "N", "on the wheel, its own weight with it"),
    "slip": Parameter(0.1, "-", "of the wheel", minimum=-0.95, maximum=0.95),
    **WHEEL,
    "angular_velocity": positive(0.196, "rad/s", "of the wheel"),
    "cell_size": Parameter(0.01, "m", "spacing of the soil's cells", minimum=0.001, maximum=0.1),
    **SOIL,
    **DEFORMABLE,
    "step": Parameter(0.001, "s", "of the simulation", minimum=1e-5, maximum=0.01),
}

_UNITS = {
    "pass": "-",
    "sinkage": "m",
    "sinkage_increment": "m",
    "rut_depth": "m",
    "resistance": "N",
    "thrust": "N",
    "drawbar_pull": "N",
    "torque": "N m",
}
# Where along the bed means begin, and how far they reach, in radii: by then the setting-down is forgotten.
_BEGIN, _MEAN = 4.0, 2.0
# The end of a rut raises a wheel as soon as its rim is there, which so leaves a shallower rut: with each pass that
# comes back by the length of the contact. Each pass ends earlier by so many radii and cells.
_SHORTER_RADII, _SHORTER_CELLS = 1.0, 2.0
# Height to which the wheel is lifted as a share of its radius, and the speeds at which that happens and at which the
# carriage returns [m/s].
_HEIGHT, _HOIST_SPEED, _RETURN_SPEED = 0.5, 0.1, 0.5
# The winch follows its course like a spring and a damper of this frequency, without overshoot [rad/s].
_WINCH = 20.0
REFERENCE = {"pass": "pass", "sinkage_m": "sinkage", "rut_depth_m": "rut_depth", "R_N": "resistance"}


def run(**parameters: Any) -> Result:
    """Drives through the rut.

    Returns:
        One value a pass: of the wheel means over a distance of two radii; depth of the rut's middle below the natural
        ground, there, when the wheel is gone. `sinkage_increment` is by how much deeper it went than the pass before.

    Raises:
        MachineError: parameters that make no wheel.
        ParameterError: a load that the soil does not carry.
    """
    radius, speed = parameters["wheel_radius"], travel_speed(parameters, parameters["slip"])
    begin, shorter = _BEGIN * radius, _SHORTER_RADII * radius + _SHORTER_CELLS * parameters["cell_size"]
    rail = 1.5 * (begin + _MEAN * radius + parameters["passes"] * shorter) + 100.0 * parameters["cell_size"]
    soil = read_soil(parameters, heave=parameters["heave"])
    simulation = make_testbed(parameters, soil, rail_length=repr(rail))
    results: dict[str, list[float]] = {name: [] for name in _UNITS}
    for number in range(1, parameters["passes"] + 1):
        simulation.command["drive"], simulation.command["rail"] = parameters["angular_velocity"], speed
        simulation.step(round(begin / speed / parameters["step"]))
        state = mean_state(simulation, _MEAN * radius / speed)
        check_carried(parameters, state["sinkage"])
        beyond = (parameters["passes"] - number + 1) * shorter
        simulation.step(round(beyond / speed / parameters["step"]))
        _return(simulation, parameters)
        before = results["sinkage"][-1] if number > 1 else 0.0
        own = {
            "pass": number,
            "sinkage_increment": state["sinkage"] - before,
            "rut_depth": _rut_depth(simulation.terrain_patch(), parameters, begin),
        }
        for name, values in results.items():
            values.append(own[name] if name in own else state[name])
    return Result(results, _UNITS)


def _return(simulation: Simulation, parameters: Mapping[str, Any]) -> None:
    """Lifts the wheel out of the rut, returns it to the start and sets it down."""
    up = _HEIGHT * parameters["wheel_radius"]
    simulation.command["drive"] = simulation.command["rail"] = 0.0
    _hoist(simulation, parameters, up)
    way = simulation.joint_position["rail"]
    simulation.command["rail"] = -_RETURN_SPEED
    _hoist(simulation, parameters, up, way / _RETURN_SPEED)
    simulation.command["rail"] = 0.0
    _hoist(simulation, parameters, -parameters["wheel_radius"])
    simulation.command["slide"] = 0.0


def _hoist(simulation: Simulation, parameters: Mapping[str, Any], height: float, duration: float = 0.0) -> None:
    """Moves the slide with the winch, evenly, until it is at a height or, going down, stands on the soil.

    Args:
        simulation: of the rig.
        parameters: of the experiment.
        height: of the slide above where it starts on natural ground [m].
        duration: how long it takes at least [s].
    """
    weight, mass = parameters["load"], parameters["load"] / GRAVITY
    start, step = simulation.joint_position["slide"], simulation.step_size
    time = max(abs(height - start) / _HOIST_SPEED, duration)
    down = height < start
    for k in range(round(time / step)):
        course = start + (height - start) * (k + 1) * step / time
        away = course - simulation.joint_position["slide"]
        force = weight + mass * (_WINCH**2 * away - 2.0 * _WINCH * simulation.joint_velocity["slide"])
        simulation.command["slide"] = max(force, 0.0)
        simulation.step()
        if down and force <= 0.5 * weight:
            break


def _rut_depth(patch: TerrainPatch | None, parameters: Mapping[str, Any], begin: float) -> float:
    """Mean depth of the middle half of the rut, where the wheel was measured [m]."""
    assert patch is not None
    inside = (patch.x > begin) & (patch.x < begin + _MEAN * parameters["wheel_radius"])
    inside &= np.abs(patch.y) < max(0.25 * parameters["wheel_width"], 0.51 * patch.cell)
    return float(patch.rut[inside].mean())


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws sinkage, depth of the rut and resistance over the passes.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns pass, sinkage_m, rut_depth_m, R_N of a reference curve, where present.
    """
    for panel, name, theirs, label in zip(
        figure.subplots(3, 1, sharex=True),
        ("sinkage", "rut_depth", "resistance"),
        ("sinkage_m", "rut_depth_m", "R_N"),
        ("sinkage [m]", "depth of the rut [m]", "rolling resistance [N]"),
        strict=True,
    ):
        panel.plot(result["pass"], result[name], "o-", label=parameters["model"])
        draw_reference(panel, reference, "pass", theirs)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    panel.set_xlabel("pass [-]")
    panel.locator_params(axis="x", integer=True)
    figure.suptitle(f"repeated passes: {parameters['load']:g} N at slip {parameters['slip']:g}")
