"""Cost of a wheel on soft ground: each level of contact, and the published case that took twenty minutes."""

import statistics
from functools import partial

import numpy as np

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, cpu_time
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground, Heightfield, World

DESCRIPTION = "a step of 1 ms of one wheel on soil at each level, of the rover on sand, and a wheel for 30 s"

_STEP = 0.001
_REPEATS = 7
_STEPS = 2000
# The wheel: radius and width [m], load [N], speed [m/s], slip [-].
_RADIUS, _WIDTH, _LOAD, _SPEED, _SLIP = 0.25, 0.2, 500.0, 0.5, 0.2
# Of the published case (Zuo et al. 2009): the same, its turning [rad/s] and how long it took there [s].
_ZUO_RADIUS, _ZUO_LOAD, _ZUO_TURNING, _ZUO_SLIP, _ZUO_TIME = 0.15, 200.0, 0.196, 0.3, 30.0
# The rover: time [s], speed [m/s], height of its base when it is set down [m].
_ROVER_TIME, _ROVER_SPEED, _ROVER_HEIGHT = 10.0, 0.1, 0.0
_MAP_SIDE = 4000
_RAIL = 1000.0  # [m]


def run() -> list[Figure]:
    """Drives a wheel and the rover in a straight line, and the published wheel for its 30 s."""
    sand, cells = grouser.load_soil("dry_sand"), grouser.load_soil("zuo_cells")
    figures = [
        _wheel("one wheel, 20 mm, bulldozing", sand, "deformable", 0.02),
        _wheel("one wheel, 20 mm", sand, "deformable", 0.02, bulldozing=False),
        _wheel("one wheel, 10 mm, bulldozing", sand, "deformable", 0.01),
        _wheel("one wheel, stress integrals", sand, "stress", 0.02),
        _large_map(sand),
        _published(cells),
    ]
    return [*figures, *_rover(sand)]


def _machine(radius: float, width: float, load: float) -> Machine:
    """The test rig; both the wheel's turning and the carriage are driven."""
    given = {"radius": radius, "width": width, "load": load, "rail_length": _RAIL}
    arguments = {name: repr(value) for name, value in given.items()}
    return grouser.load_machine(catalogue.machine_file("single_wheel_testbed"), arguments)


def _roll(simulation: grouser.Simulation, speed: float, slip: float, radius: float) -> None:
    simulation.command["rail"], simulation.command["drive"] = speed, speed / (radius * (1.0 - slip))
    simulation.step(2000)


def _figure(name: str, simulation: grouser.Simulation) -> Figure:
    taken = statistics.median(cpu_time(lambda: simulation.step(_STEPS)) for _ in range(_REPEATS))
    work = simulation.arrays.context.workspace.soil
    wheel = simulation.wheel["wheel"]
    details = {
        "cells touched": int(work.touched[0]),
        "sinkage [mm]": 1e3 * wheel.sinkage,
        "load [N]": wheel.normal_force,
        "tiles": int(simulation.state.soil.tile_count[0]),
        "steps a call": _STEPS,
    }
    return Figure(name, 1e6 * taken / _STEPS, "µs", details=details)


def _wheel(name: str, soil: Soil, level: str, cell: float, bulldozing: bool = True) -> Figure:
    world = World(ground=Ground(soil=SoilGround((soil,), level, cell, bulldozing)))
    simulation = grouser.Simulation(_machine(_RADIUS, _WIDTH, _LOAD), world, step=_STEP)
    _roll(simulation, _SPEED, _SLIP, _RADIUS)
    return _figure(name, simulation)


def _large_map(soil: Soil) -> Figure:
    """The first wheel again, on a map of a square kilometre and after having driven."""
    rng = np.random.default_rng(1)
    heights = 0.01 * rng.standard_normal((_MAP_SIDE, _MAP_SIDE))
    field = Heightfield(heights, 1000.0 / _MAP_SIDE, (-500.0, -500.0))
    world = World(ground=Ground(heightfield=field, soil=SoilGround((soil,), "deformable", 0.02)))
    simulation = grouser.Simulation(_machine(_RADIUS, _WIDTH, _LOAD), world, step=_STEP)
    _roll(simulation, _SPEED, _SLIP, _RADIUS)
    simulation.step(60_000)
    return _figure("one wheel, 20 mm, on 1 km² after 31 m", simulation)


def _published(soil: Soil) -> Figure:
    world = World(ground=Ground(soil=SoilGround((soil,), "cells", 0.005)))
    simulation = grouser.Simulation(_machine(_ZUO_RADIUS, _ZUO_RADIUS, _ZUO_LOAD), world, step=_STEP)
    simulation.step(1)
    simulation.command["drive"] = _ZUO_TURNING
    simulation.command["rail"] = _ZUO_TURNING * _ZUO_RADIUS * (1.0 - _ZUO_SLIP)
    taken = cpu_time(lambda: simulation.step(round(_ZUO_TIME / _STEP)))
    details = {"cells touched": int(simulation.arrays.context.workspace.soil.touched[0]), "there [s]": 1200.0}
    return Figure(f"cells of 5 mm, {_ZUO_TIME:g} s of one wheel", taken, "s", details=details)


def _rover(soil: Soil) -> list[Figure]:
    """The rover, driven straight ahead on sand at each level that it may meet."""
    machine = grouser.load_machine(catalogue.machine_file("rover"))
    turning = {joint.child: joint.name for joint in machine.joints}
    figures = []
    for level in ("deformable", "stress"):
        world = World(ground=Ground(soil=SoilGround((soil,), level, 0.02)), spawn=Pose((0.0, 0.0, _ROVER_HEIGHT)))
        simulation = grouser.Simulation(machine, world, step=_STEP)
        simulation.step(2000)
        for wheel in machine.wheels:
            simulation.command[turning[wheel.link]] = _ROVER_SPEED / wheel.radius
        start = simulation.time
        taken = cpu_time(partial(simulation.step, round(_ROVER_TIME / _STEP)))
        details = {
            "step [µs]": 1e6 * taken * _STEP / _ROVER_TIME,
            "way [m]": float(simulation.base_pose()[0][0]),
            "sinkage, greatest [mm]": 1e3 * max(simulation.wheel[wheel.link].sinkage for wheel in machine.wheels),
        }
        figures.append(
            Figure(f"real-time factor, rover, {level}", (simulation.time - start) / taken, "s/s", details=details)
        )
    return figures
