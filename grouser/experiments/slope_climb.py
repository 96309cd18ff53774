"""Climbing of slopes of soil by a wheel or a rover: which slopes, and with which slip, on deformable terrain.

`single_wheel` is urdf/single_wheel_testbed.urdf.xacro with a carriage that runs freely along a rail up the slope: the
wheel carries its load and pulls it up. Every other machine stands on the slope by itself, headed uphill, with drives in
velocity mode at the joints of its wheels.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.catalogue import machine_file
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import DEFORMABLE, WHEEL
from grouser.experiments.testbed import GRAVITY, make_testbed
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine, load_soil
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.simulation.simulation import Simulation
from grouser.runtime.vehicle_parts import make_vehicle

DESCRIPTION = "up which slopes of soil a wheel or a rover drives"

_SINGLE_WHEEL = "single_wheel"


def _read_soils(value: list) -> list[str]:
    if not value or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of soils by name, for instance [dry_sand, lunar_simulant]")
    for item in value:
        load_soil(item)
    return value


def _read_slopes(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and 0.0 <= item <= 45.0 for item in value):
        raise ValueError("slopes from 0 to 45 degrees")
    return [float(item) for item in value]


PARAMETERS = {
    "machine": Parameter(_SINGLE_WHEEL, "-", "single_wheel, rover, or another machine with wheels: its name or file"),
    "soil": Parameter(["dry_sand", "lunar_simulant"], "-", "soils by name (docs/soils.md)", convert=_read_soils),
    "slope_deg": Parameter([0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0], "deg", "slopes", convert=_read_slopes),
    "load": positive(100.0, "N", "weight that the single wheel carries, its own with it"),
    **WHEEL,
    "grouser_height": Parameter(0.0, "m", "of bars across the rim of the single wheel", minimum=0.0),
    "grouser_count": Parameter(0, "-", "number of them", minimum=0, maximum=1000),
    "angular_velocity": positive(1.0, "rad/s", "of every wheel"),
    "cell_size": Parameter(0.01, "m", "spacing of the soil's cells", minimum=0.001, maximum=0.1),
    "bulldozing": DEFORMABLE["bulldozing"],
    "step": Parameter(0.001, "s", "of the simulation", minimum=1e-5, maximum=0.01),
}

_UNITS = {"soil": "-", "slope": "rad", "slip": "-", "moves": "-", "sinkage": "m"}
# How far the rims turn, in radii and in lengths of the wheelbase: until the machine is taken to drive steadily, also
# one that hardly comes forward, and while it is measured.
_SETTLING, _MEASURING = (8.0, 2.0), (4.0, 0.0)
# The machine stands until it has sunk in [s], and is then brought to speed this gently [m/s2].
_STANDING, _ACCELERATION = 0.5, 0.05
# Meanwhile a rope takes the load's downhill force from the single wheel, and then less and less while the rim turns by
# so many radii: a wheel that starts by itself digs a hole first, and stays in it on slopes that it could climb.
_ROPE = 4.0
# Interval of commands during the start [s].
_TICK = 0.01
# A machine that comes forward by less than this share of what its rims turn does not move, it digs.
_MOVING = 0.1
# Mass of the carriage, small beside the load: the rail carries its weight, but the wheel pulls it.
_CARRIAGE_MASS = 1e-3
REFERENCE = {"slope_deg": "slope_deg", "slip": "slip"}


def run(**parameters: Any) -> Result:
    """Drives up every slope of every soil.

    Returns:
        A list for each soil with a value for each slope: `slip` of rims against soil, 1 where the machine comes no
        way forward or slides back; `moves`, whether it comes forward by more than a tenth of what the rims turn;
        mean `sinkage` of the wheels, below the natural ground.

    Raises:
        ParameterError: a machine without wheels or drives at them.
        MachineError: there is no such machine, or parameters that make no wheel.
    """
    results: dict[str, list[Any]] = {"slip": [], "moves": [], "sinkage": []}
    for name in parameters["soil"]:
        found = [_climb(parameters, load_soil(name), math.radians(slope)) for slope in parameters["slope_deg"]]
        for values, column in zip(results.values(), zip(*found, strict=True), strict=True):
            values.append(list(column))
    slopes = [math.radians(slope) for slope in parameters["slope_deg"]]
    return Result({"soil": parameters["soil"], "slope": slopes, **results}, _UNITS)


def _climb(parameters: Mapping[str, Any], soil: Soil, slope: float) -> tuple[float, bool, float]:
    """Slip, whether it moves, and sinkage."""
    simulation = _on_slope(parameters, soil, slope)
    machine, omega, step = simulation.machine, parameters["angular_velocity"], simulation.step_size
    radius = sum(wheel.radius for wheel in machine.wheels) / len(machine.wheels)
    places = [simulation.link_pose(wheel.link)[0] for wheel in machine.wheels]
    wheelbase = max(np.linalg.norm(one - other) for one in places for other in places)
    turning, measuring = (a + b * wheelbase / radius for a, b in (_SETTLING, _MEASURING))
    rope = parameters["load"] * math.sin(slope) if parameters["machine"] == _SINGLE_WHEEL else 0.0
    _set_off(simulation, omega, radius, rope)
    simulation.step(round(turning / omega / step))
    steps = round(measuring / omega / step)
    before = _way(simulation, slope)
    simulation.step(steps)
    forward = (_way(simulation, slope) - before) / (steps * step * omega * radius)
    sinkage = sum(simulation.wheel[wheel.link].sinkage for wheel in machine.wheels) / len(machine.wheels)
    return min(1.0 - forward, 1.0), bool(forward > _MOVING), sinkage


def _set_off(simulation: Simulation, omega: float, radius: float, rope: float) -> None:
    """Lets the machine stand, brings its wheels to an angular velocity, and slackens the rope.

    Args:
        simulation: of the machine on the slope.
        omega: angular velocity [rad/s].
        radius: of the wheels [m].
        rope: force on the carriage, uphill [N]; 0 for a machine without.
    """
    drives = _wheel_drives(simulation.machine)
    if rope > 0.0:
        simulation.command["rail"] = rope
    simulation.step(round(_STANDING / simulation.step_size))
    tick_steps = max(round(_TICK / simulation.step_size), 1)
    ticks = max(math.ceil(omega * radius / _ACCELERATION / _TICK), 1)
    for tick in range(1, ticks + 1):
        for joint, sign in drives.items():
            simulation.command[joint] = sign * omega * tick / ticks
        simulation.step(tick_steps)
    if rope > 0.0:
        ticks = math.ceil(_ROPE / omega / _TICK)
        for tick in range(1, ticks + 1):
            simulation.command["rail"] = rope * (1.0 - tick / ticks)
            simulation.step(tick_steps)


def _on_slope(parameters: Mapping[str, Any], soil: Soil, slope: float) -> Simulation:
    """The machine on the slope, headed uphill, which is ahead along x."""
    name = parameters["machine"]
    if name == _SINGLE_WHEEL:
        rig = {**parameters, "model": "deformable"}
        carriage = {"carriage": "free", "carriage_mass": repr(_CARRIAGE_MASS * parameters["load"] / GRAVITY)}
        return make_testbed(rig, soil, slope, **carriage)
    machine = load_machine(machine_file(name))
    if not machine.wheels or not machine.floating_base:
        raise ParameterError("machine", name, "one with a <wheel> that its base is free to move with")
    ground = Ground(
        normal=(-math.sin(slope), 0.0, math.cos(slope)),
        soil=SoilGround((soil,), "deformable", parameters["cell_size"], parameters["bulldozing"]),
    )
    spawn = Pose(quaternion=(0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope)))
    return Simulation(machine, World(ground=ground, spawn=spawn), step=parameters["step"])


def _wheel_drives(machine: Machine) -> dict[str, float]:
    """Drives of the wheels, and the sign of their speed that rolls the wheel forward.

    Raises:
        ParameterError: no wheel has one.
    """
    vehicle = make_vehicle(machine)
    drives = {wheel.joint: wheel.sense for wheel in vehicle.wheels if wheel.driven} if vehicle else {}
    if not drives:
        raise ParameterError("machine", machine.name, "one with a servo_drive in velocity mode at a wheel's joint")
    return drives


def _way(simulation: Simulation, slope: float) -> float:
    """Position of the machine's first wheel up the slope [m]."""
    position, _ = simulation.link_pose(simulation.machine.wheels[0].link)
    return float(position[0] * math.cos(slope) + position[2] * math.sin(slope))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws slip over slope, a curve for each soil; crosses mark machines that do not move.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns slope_deg, slip of a reference curve, where present.
    """
    panel = figure.subplots()
    slopes = np.array(parameters["slope_deg"])
    for name, slips, moves in zip(parameters["soil"], result["slip"], result["moves"], strict=True):
        (line,) = panel.plot(slopes, slips, "o-", label=name)
        stuck = ~np.array(moves)
        if stuck.any():
            color = line.get_color()
            panel.plot(slopes[stuck], np.array(slips)[stuck], "x", color=color, markersize=12, label="does not move")
    draw_reference(panel, reference, "slope_deg", "slip")
    panel.set_xlabel("slope [deg]")
    panel.set_ylabel("slip ratio [-]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(f"{parameters['machine']} up slopes of soil")
