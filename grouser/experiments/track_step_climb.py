"""A tracked vehicle climbs a step, beside the statics of its two contacts.

The bare vehicle of urdf/tracked_vehicle.urdf.xacro drives slowly against the step. Its shoes are as stiff as the step
of the simulation lets them be under its mass (`grouser.physics.tracks.alternation`), so that it stands on the ends of
its belts, as in the statics (`grouser.studies.tracks.step_climb`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.tracked_vehicle import GRAVITY, VEHICLE, drive, make_tracked_vehicle, standing
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle, World
from grouser.physics.simulation.simulation import Simulation
from grouser.studies.tracks.step_climb import Climber, balance, limit_height, pitch_angles

DESCRIPTION = "a tracked vehicle climbs steps, beside the statics of its two contacts"


def _read_heights(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and 0.0 < item <= 10.0 for item in value):
        raise ValueError("heights above 0 and up to 10 [m]")
    return [float(item) for item in value]


PARAMETERS = {
    "step_height": Parameter([0.05, 0.1, 0.15, 0.18, 0.21, 0.25], "m", "of the steps", convert=_read_heights),
    **VEHICLE,
    "ground_friction": positive(0.7, "-", "of the tracks on the ground"),
    "step_friction": positive(0.7, "-", "of the tracks on the step"),
    "speed": positive(0.05, "m/s", "of the belts; the statics are those of slow ones"),
    "step": Parameter(0.0008, "s", "of the simulation; longer ones need softer shoes", minimum=1e-5, maximum=0.001),
}

_UNITS = {"step_height": "m", "climbed": "-", "pitch": "rad", "limit_height": "m"}
# Stiffness of all shoes on the ground by mass over the square of the step, of which 3 is too much; their shear [m].
_STIFFNESS, _SHEAR = 2.5, 1e-4
# From the front of the vehicle to the step, as a share of the length of the contact.
_GAP = 0.05
# The vehicle has come to a stop when it has moved by less than a share of what its belts ran, over a share of the
# length of its contact.
_STOPPED, _OVER = 0.02, 0.25
# It stands on the step when it is as high and as level as this: shares of the radius, and of one.
_HEIGHT, _LEVEL = 0.2, 0.98
# Cosine of the tilt beyond which it falls over backwards.
_OVERTURNED = 0.1
REFERENCE = {"friction": "step_friction", "limit_height_m": "limit_height"}


def run(**parameters: Any) -> Result:
    """Drives against every step.

    Returns:
        One value a height: `climbed`, whether the vehicle stands on the step in the end; `pitch`, the largest angle by
        which its front was raised. `limit_height` is the lowest step that the statics do not let it climb.

    Raises:
        ParameterError: a vehicle that cannot stand.
    """
    found = [_climb(parameters, height) for height in parameters["step_height"]]
    return Result(
        {
            "step_height": parameters["step_height"],
            "climbed": [climbed for climbed, _ in found],
            "pitch": [pitch for _, pitch in found],
            "limit_height": limit_height(_climber(parameters)),
        },
        _UNITS,
    )


def _climber(parameters: Mapping[str, Any]) -> Climber:
    return Climber(
        length=parameters["contact_length"],
        radius=parameters["radius"],
        centre_ahead=parameters["centre_ahead"],
        centre_height=parameters["centre_height"],
        ground_friction=parameters["ground_friction"],
        step_friction=parameters["step_friction"],
    )


def _climb(parameters: Mapping[str, Any], height: float) -> tuple[bool, float]:
    """Whether the vehicle climbs, and its largest pitch [rad]."""
    length, speed = parameters["contact_length"], parameters["speed"]
    face = 0.5 * length + parameters["radius"] + _GAP * length
    simulation = _before_step(parameters, height, face)
    drive(simulation, speed, speed, _GAP * length / speed)
    ticks = max(round(_OVER * length / speed / simulation.step_size), 1)
    highest, before = 0.0, standing(simulation)
    while True:
        for part in np.diff(np.linspace(0, ticks, 21).astype(int)):
            simulation.step(int(part))
            place, rise, upright = standing(simulation)
            highest = max(highest, rise)
            if upright < _OVERTURNED:
                return False, highest
            if place[0] > face + 0.5 * length:
                return bool(upright > _LEVEL and abs(place[2] - height) < _HEIGHT * parameters["radius"]), highest
        if np.linalg.norm(place - before[0]) < _STOPPED * ticks * simulation.step_size * speed:
            return False, highest
        before = place, rise, upright


def _before_step(parameters: Mapping[str, Any], height: float, face: float) -> Simulation:
    long, wide = 4.0 * (face + parameters["contact_length"]), 4.0 * parameters["tread"]
    step = Obstacle(
        "step",
        Box((long, wide, height)),
        Pose((face + 0.5 * long, 0.0, 0.5 * height)),
        friction=parameters["step_friction"],
    )
    world = World(ground=Ground(friction=parameters["ground_friction"]), obstacles=(step,))
    # the smaller friction of two counts: that of the ground and of the step
    greatest = max(parameters["ground_friction"], parameters["step_friction"])
    area = 2.0 * parameters["contact_length"] * parameters["width"]
    stiffness = _STIFFNESS * parameters["weight"] / GRAVITY / (area * parameters["step"] ** 2)
    return make_tracked_vehicle(parameters, world, friction=greatest, stiffness=stiffness, shear=_SHEAR)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws which steps are climbed beside the limit height, and the friction that the statics need over the pitch.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns friction, limit_height_m of a reference curve, where present.
    """
    panel, statics = figure.subplots(1, 2)
    heights, climbed = np.array(result["step_height"]), np.array(result["climbed"])
    friction = np.linspace(0.3, 1.5, 13) * min(parameters["ground_friction"], parameters["step_friction"])
    limits = [limit_height(_climber({**parameters, "ground_friction": f, "step_friction": f})) for f in friction]
    panel.plot(friction, limits, ":", color="grey", label="statics, one friction")
    own = np.full(len(heights), min(parameters["ground_friction"], parameters["step_friction"]))
    panel.plot(own[climbed], heights[climbed], "o", label="climbed")
    panel.plot(own[~climbed], heights[~climbed], "x", label="not climbed")
    panel.axhline(result["limit_height"], linestyle="-.", label="limit by the statics")
    draw_reference(panel, reference, "friction", "limit_height_m")
    panel.set_xlabel("friction, the smaller [-]")
    panel.set_ylabel("height of the step [m]")
    for height in heights:
        pitches = pitch_angles(_climber(parameters), height)
        found = [balance(_climber(parameters), height, pitch) for pitch in pitches]
        on = int(np.argmax([item.past >= 0.0 for item in found])) or len(found)
        statics.plot(np.degrees(pitches[:on]), [item.friction for item in found[:on]], label=f"{height:g} m")
    statics.axhline(1.0, color="grey", linestyle=":")
    statics.set_ylim(0.0, 2.0)
    statics.set_xlabel("pitch [deg]")
    statics.set_ylabel("share of the friction that holds it [-]")
    for axes in (panel, statics):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.suptitle(
        f"climbing of steps: {parameters['contact_length']:g} m between axes, radius {parameters['radius']:g} m"
    )
