"""A tracked vehicle on slopes of rigid ground or soil: whether its locked tracks hold it, and how it climbs.

The machine is urdf/tracked_vehicle.urdf.xacro, headed uphill.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import brentq

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import TRACK_SOIL, read_track_soil
from grouser.experiments.tracked_vehicle import STEP, VEHICLE, drive, make_tracked_vehicle
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.simulation.simulation import Simulation
from grouser.studies.tracks.shoe_row import ShoeRow, closed_form

DESCRIPTION = "slopes that a tracked vehicle holds on and climbs, on rigid ground or soil"

_STEEPEST = 60.0


def _read_slopes(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and 0.0 <= item <= _STEEPEST for item in value):
        raise ValueError(f"slopes from 0 to {_STEEPEST:g} degrees")
    return [float(item) for item in value]


PARAMETERS = {
    "slope_deg": Parameter([5.0, 15.0, 20.0, 25.0, 30.0, 40.0], "deg", "slopes", convert=_read_slopes),
    "ground": Parameter("rigid", "-", "of the slope", choices=("rigid", "soil")),
    "friction": positive(0.7, "-", "of the tracks, on rigid ground"),
    **VEHICLE,
    "centre_height": positive(1e-3, "m", "of the centre of mass; the closed forms are those of uniform pressure"),
    **TRACK_SOIL,
    "speed": positive(0.2, "m/s", "of the belts on the way up"),
    "cell_size": Parameter(0.03, "m", "spacing of the soil's cells", minimum=0.001, maximum=0.1),
    "step": STEP,
}

_UNITS = {"slope": "rad", "holds": "-", "creep_speed": "m/s", "slip": "-", "limit_slope": "rad"}
# Stiffness of the shoes on rigid ground [N/m3].
_STIFFNESS = 1e9
# The vehicle stands for so long, and is then watched for so long [s]; it holds below this speed [m/s].
_STANDING, _WATCHED, _CREEP = 10.0, 2.0, 1e-5
# Lengths of the contact that the belts run until the climb is steady, and while it is measured.
_SETTLING, _MEASURING = 3.0, 1.0
# Slip below which the closed forms give none.
_LEAST_SLIP = 1e-9
# Time in which the belts come to their speed [s].
_START = 2.0
REFERENCE = {"slope_deg": "slope_deg", "slip": "slip"}


def run(**parameters: Any) -> Result:
    """Puts the vehicle on every slope with locked tracks, and then drives it up.

    Returns:
        One value a slope: `holds`, whether it creeps by less than 1e-5 m/s; `creep_speed` down the slope; `slip` on
        the way up, 1 where it makes none. `limit_slope` is where friction or soil hold it no longer by the closed form.

    Raises:
        ParameterError: a vehicle that cannot stand.
    """
    results: dict[str, list[Any]] = {"slope": [], "holds": [], "creep_speed": [], "slip": []}
    for degrees in parameters["slope_deg"]:
        slope = math.radians(degrees)
        creep = _creep(_on_slope(parameters, slope), slope)
        slip = _slip(_on_slope(parameters, slope), parameters, slope)
        for values, value in zip(results.values(), (slope, abs(creep) < _CREEP, creep, slip), strict=True):
            values.append(value)
    return Result({**results, "limit_slope": _limit_slope(parameters)}, _UNITS)


def _on_slope(parameters: Mapping[str, Any], slope: float) -> Simulation:
    soft = SoilGround((read_track_soil(parameters),), cell=parameters["cell_size"])
    ground = Ground(
        normal=(-math.sin(slope), 0.0, math.cos(slope)),
        friction=parameters["friction"],
        soil=soft if parameters["ground"] == "soil" else None,
    )
    spawn = Pose(quaternion=(0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope)))
    return make_tracked_vehicle(
        parameters,
        World(ground=ground, spawn=spawn),
        friction=parameters["friction"],
        shear=parameters["shear_displacement_modulus"],
        stiffness=_STIFFNESS,
    )


def _way(simulation: Simulation, slope: float) -> float:
    """Position up the slope [m]."""
    position, _ = simulation.link_pose("base_link")
    return float(position[0] * math.cos(slope) + position[2] * math.sin(slope))


def _creep(simulation: Simulation, slope: float) -> float:
    """Mean speed down the slope with locked tracks, once it has sunk in [m/s]."""
    simulation.step(round(_STANDING / simulation.step_size))
    before, steps = _way(simulation, slope), round(_WATCHED / simulation.step_size)
    simulation.step(steps)
    return (before - _way(simulation, slope)) / (steps * simulation.step_size)


def _slip(simulation: Simulation, parameters: Mapping[str, Any], slope: float) -> float:
    """Slip of the tracks on the way up [-]."""
    speed, passing = parameters["speed"], parameters["contact_length"] / parameters["speed"]
    drive(simulation, speed, speed, _START)
    simulation.step(round(_SETTLING * passing / simulation.step_size))
    before, steps = _way(simulation, slope), round(_MEASURING * passing / simulation.step_size)
    simulation.step(steps)
    return min(1.0 - (_way(simulation, slope) - before) / (steps * simulation.step_size * speed), 1.0)


def _pull(parameters: Mapping[str, Any], slope: float, slip: float) -> float:
    """Drawbar pull of both tracks less the downhill force, by the closed forms of uniform pressure [N].

    On soil shoes enter on the arc of the front and are sheared by then: a shoe at the angle a above the bottom slides
    back by V (1 - (1 - i) cos a) (Wong).
    """
    normal, down = parameters["weight"] * math.cos(slope), parameters["weight"] * math.sin(slope)
    length, modulus = parameters["contact_length"], parameters["shear_displacement_modulus"]
    strength, resistance, before = parameters["friction"] * normal, 0.0, 0.0
    if parameters["ground"] == "soil":
        soil = read_track_soil(parameters)
        row = ShoeRow(0.5 * normal, length, parameters["width"], parameters["shoes"], 0, 0.0)
        pull = closed_form(row, soil, slip)
        strength = 2.0 * length * parameters["width"] * soil.cohesion + normal * math.tan(soil.friction_angle)
        resistance = 2.0 * pull.resistance
        enters = math.acos(max(1.0 - pull.sinkage / parameters["radius"], 0.0))
        before = parameters["radius"] * (enters - (1.0 - slip) * math.sin(enters))
    way = slip * length / modulus
    return strength * (1.0 + math.exp(-before / modulus) * math.expm1(-way) / way) - resistance - down


def closed_slip(parameters: Mapping[str, Any], slope: float) -> float:
    """Slip at which the closed forms carry the vehicle up [-]; 1 where none does."""
    if _pull(parameters, slope, 1.0) <= 0.0:
        return 1.0
    if _pull(parameters, slope, _LEAST_SLIP) >= 0.0:
        return 0.0
    return brentq(lambda slip: _pull(parameters, slope, slip), _LEAST_SLIP, 1.0)


def _limit_slope(parameters: Mapping[str, Any]) -> float:
    """Slope at which the shear strength is the downhill force [rad]."""
    if parameters["ground"] == "rigid":
        return math.atan(parameters["friction"])
    soil, weight = read_track_soil(parameters), parameters["weight"]
    cohesive = 2.0 * parameters["contact_length"] * parameters["width"] * soil.cohesion
    # A c + W cos(a) tan(phi) = W sin(a)
    grip = math.tan(soil.friction_angle)
    return math.atan(grip) + math.asin(min(cohesive / weight / math.hypot(1.0, grip), 1.0))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws slip and creep over slope, beside the closed forms.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns slope_deg, slip of a reference curve, where present.
    """
    climb, creep = figure.subplots(2, 1, sharex=True)
    slopes = np.array(parameters["slope_deg"])
    curve = np.linspace(0.0, max(slopes.max(), 1.0), 201)
    expected = [closed_slip(parameters, math.radians(slope)) for slope in curve]
    climb.plot(curve, expected, ":", color="grey", label="closed form, uniform pressure")
    climb.plot(slopes, result["slip"], "o", label="vehicle")
    draw_reference(climb, reference, "slope_deg", "slip")
    climb.set_ylabel("slip on the way up [-]")
    creep.plot(slopes, np.abs(result["creep_speed"]), "o", label="vehicle, tracks locked")
    creep.axhline(_CREEP, color="grey", linestyle=":", label="holds below")
    creep.set_yscale("symlog", linthresh=1e-8)
    creep.set_ylim(0.0, 10.0 * max(np.abs(result["creep_speed"]).max(), _CREEP))
    creep.set_ylabel("creep speed [m/s]")
    creep.set_xlabel("slope [deg]")
    for panel in (climb, creep):
        panel.axvline(math.degrees(result["limit_slope"]), linestyle="-.", label="limit by the closed form")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"a tracked vehicle on slopes: {parameters['ground']} ground, {parameters['weight']:g} N")
