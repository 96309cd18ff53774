"""The bare vehicle on two tracks, urdf/tracked_vehicle.urdf.xacro, in experiments."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.catalogue import machine_file
from grouser.experiments.protocol import Parameter, positive
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.tracks.alternation import longest_step

# Gravity that its weight is meant for [m/s2].
GRAVITY = 9.81
# Pretension under which a belt presses evenly [N].
EVEN = 1e9
# From the pitch line to the faces of the shoes [m].
THICKNESS = 1e-3
VEHICLE = {
    "weight": positive(20e3, "N", "of the vehicle, on both tracks"),
    "contact_length": positive(1.5, "m", "of each track on the ground, between the axes of sprocket and idler"),
    "width": positive(0.25, "m", "of each track"),
    "tread": positive(1.4, "m", "between the middles of both tracks"),
    "radius": positive(0.2, "m", "of sprocket and idler, to the faces of the shoes"),
    "centre_height": positive(0.4, "m", "of the centre of mass above the ground"),
    "centre_ahead": Parameter(0.0, "m", "of the centre of mass before the middle of the tracks"),
    "shoes": Parameter(96, "-", "of each track", minimum=8, maximum=400),
}
STEP = Parameter(0.002, "s", "of the simulation", minimum=1e-5, maximum=0.01)
# The drives come to their speeds in so many commands.
_RAMP = 100


def make_tracked_vehicle(
    parameters: Mapping[str, Any], world: World, stiffness: float, **arguments: float
) -> Simulation:
    """The vehicle in a world, standing.

    Args:
        parameters: those of `VEHICLE`, and the step.
        world: to drive in.
        stiffness: of the shoes on rigid ground, per area [N/m3].
        arguments: more of the xacro file's.

    Raises:
        ParameterError: tracks wider than their distance, a centre of mass beyond them, or a step at which the load of
            its shoes would alternate.
        MachineError: parameters that make no belt.
    """
    width, tread, half = parameters["width"], parameters["tread"], 0.5 * parameters["contact_length"]
    if width > tread:
        raise ParameterError("width", width, f"at most the tread, {tread:g} m: the tracks would overlap")
    if not abs(parameters["centre_ahead"]) < half:
        valid = f"between {-half:g} and {half:g} m: it would tip over the ends of its tracks"
        raise ParameterError("centre_ahead", parameters["centre_ahead"], valid)
    pressed = 2.0 * width * parameters["contact_length"] * stiffness
    longest = longest_step(pressed, parameters["weight"] / GRAVITY)
    if world.soil is None and parameters["step"] > longest:
        valid = f"at most {longest:.3g} s: the load of these shoes would alternate from step to step"
        raise ParameterError("step", parameters["step"], valid)
    given = {
        "stiffness": stiffness,
        "weight": parameters["weight"],
        "gravity": GRAVITY,
        "length": parameters["contact_length"],
        "radius": parameters["radius"] - THICKNESS,
        "width": width,
        "tread": tread,
        "centre_height": parameters["centre_height"],
        "centre_ahead": parameters["centre_ahead"],
        "shoes": parameters["shoes"],
        "thickness": THICKNESS,
        "pretension": EVEN,
    }
    texts = {name: repr(value) for name, value in (given | arguments).items()}
    return Simulation(load_machine(machine_file("tracked_vehicle"), texts), world, step=parameters["step"])


def drive(simulation: Simulation, left: float, right: float, duration: float) -> None:
    """Brings the belts evenly to other speeds.

    Args:
        simulation: of the vehicle.
        left, right: speeds of the belts [m/s].
        duration: that it takes [s].
    """
    radius = simulation.machine.tracks[0].radius
    steps = max(round(duration / _RAMP / simulation.step_size), 1)
    for name, speed in (("left_sprocket", left), ("right_sprocket", right)):
        simulation.command[name] = speed / radius
    simulation.step(steps * _RAMP)


def standing(simulation: Simulation) -> tuple[np.ndarray, float, float]:
    """Place of the vehicle's root link [m], the angle by which its front is raised [rad], cosine of its tilt."""
    place, quaternion = simulation.link_pose("base_link")
    x, y, z, w = quaternion
    ahead_up, up_up = 2.0 * (x * z - y * w), 1.0 - 2.0 * (x * x + y * y)
    return place, math.asin(min(max(ahead_up, -1.0), 1.0)), float(up_up)
