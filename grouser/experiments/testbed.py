"""The single-wheel test rig, urdf/single_wheel_testbed.urdf.xacro, in experiments."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.readings.measurements import WheelState
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

# Lengths of the contact after which a wheel has forgotten how it was set down, by model: 0.1 % of what it does is left
# of that. Soil of cells knows of nothing but the wheel above it; stress integrals fade their memory out, and a heap of
# displaced soil takes its time to grow.
_SETTLING = {"cells": 2.2, "stress": 4.0, "deformable": 4.0}
# Cells over which the forces are averaged; they swell and fade with each that the wheel comes to.
MEAN_CELLS = 4
# Gravity of the rig [m/s2].
GRAVITY = 9.81
# The wheel looks this often at how long its contact is while it settles, shares of its radius.
_STRIDE = 0.05
# Largest number of readings in a mean.
_READINGS = 800
# A wheel that sinks by more than this share of its radius is not carried.
_SUNK = 0.95
_FIGURES = tuple(field.name for field in fields(WheelState))


def make_testbed(
    parameters: Mapping[str, Any],
    soil: Soil,
    slope: float = 0.0,
    **arguments: str,
) -> Simulation:
    """The rig on level or rising ground of one soil.

    Args:
        parameters: model, load, wheel_radius, wheel_width, cell_size, bulldozing and step; where the experiment has
            them grouser_count and grouser_height.
        soil: of the bed.
        slope: by which rail and ground rise ahead [rad].
        arguments: more of the xacro file's.

    Raises:
        MachineError: parameters that make no wheel.
        ParameterError: a step that is out of range.
    """
    given = {
        "radius": parameters["wheel_radius"],
        "width": parameters["wheel_width"],
        "load": parameters["load"],
        "gravity": GRAVITY,
        "grousers": parameters.get("grouser_count", 0),
        "grouser_height": parameters.get("grouser_height", 0.0),
        "slope_deg": math.degrees(slope),
        "rail_length": 40.0 * parameters["wheel_radius"] + 100.0 * parameters["cell_size"],
    }
    machine = load_machine(
        share_path("urdf", "single_wheel_testbed.urdf.xacro"),
        {name: repr(value) for name, value in given.items()} | arguments,
    )
    bed = SoilGround((soil,), parameters["model"], parameters["cell_size"], parameters["bulldozing"])
    normal = (-math.sin(slope), 0.0, math.cos(slope))
    world = World(gravity=(0.0, 0.0, -GRAVITY), ground=Ground(normal=normal, soil=bed))
    return Simulation(machine, world, step=parameters["step"])


def travel_speed(parameters: Mapping[str, Any], slip: float) -> float:
    """Of the carriage [m/s]: v = r w (1 - s) of a wheel that drives, r w / (1 + s) of one that brakes."""
    rim = parameters["angular_velocity"] * parameters["wheel_radius"]
    return rim * (1.0 - slip) if slip >= 0.0 else rim / (1.0 + slip)


def settle(simulation: Simulation, parameters: Mapping[str, Any], speed: float) -> None:
    """Lets the wheel roll until its contact is steady.

    Raises:
        ParameterError: the soil does not carry the load.
    """
    radius, cell = parameters["wheel_radius"], parameters["cell_size"]
    steps = max(round(_STRIDE * radius / (speed * simulation.step_size)), 1)
    done, length = 0.0, radius
    while done < _SETTLING[parameters["model"]] * length:
        simulation.step(steps)
        done += steps * simulation.step_size * speed
        wheel = simulation.wheel["wheel"]
        length = max(radius * (math.sin(wheel.entry_angle) - math.sin(wheel.exit_angle)), cell)
        check_carried(parameters, wheel.sinkage)


def check_carried(parameters: Mapping[str, Any], sinkage: float) -> None:
    """Checks that the soil carries the wheel.

    Raises:
        ParameterError: it sinks to its axle.
    """
    if sinkage > _SUNK * parameters["wheel_radius"]:
        raise ParameterError("load", parameters["load"], "a load that the soil carries: the wheel sinks to its axle")


def mean_state(simulation: Simulation, duration: float) -> dict[str, float]:
    """Means over time of all measurements of the wheel, by the names of `WheelState`."""
    steps = max(round(duration / simulation.step_size), 1)
    every = max(steps // _READINGS, 1)
    wheel = simulation.wheel
    total = np.zeros(len(_FIGURES))
    for _ in range(steps // every):
        simulation.step(every)
        state = wheel["wheel"]
        total += [getattr(state, name) for name in _FIGURES]
    return dict(zip(_FIGURES, (total / (steps // every)).tolist(), strict=True))
