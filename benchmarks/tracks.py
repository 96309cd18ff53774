"""Machines on tracks: driving straight and turning, on soft soil and on rigid ground."""

import statistics
from collections.abc import Mapping
from functools import partial

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target, cpu_time
from grouser.benchmarks.machines import real_time_factor
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, World

DESCRIPTION = "real-time factor of demolition robot and excavator on tracks, and what a track costs, steps of 1 ms"

_STEP = 0.001
_REPEATS = 7
_STEPS = 2000
_DURATION = 8.0
# Real-time factors that are meant to be reached, on soft soil and on rigid ground.
_LEAST = {"demolition_robot": (12.0, 20.0), "excavator": (15.0, 25.0)}
_ARGUMENTS: Mapping[str, Mapping[str, str]] = {"demolition_robot": {"stance": "tracks"}, "excavator": {}}
# What a track may add to the step of its rig [us].
_MOST = 8.0
_SPEED, _SLIP = 0.5, 0.2


def run() -> list[Figure]:
    """Drives both machines ahead and turns them, and the track of the rig."""
    soil = World(ground=Ground(soil=SoilGround((grouser.load_soil("dry_sand"),))))
    figures = []
    for name, least in _LEAST.items():
        machine = grouser.load_machine(catalogue.machine_file(name), _ARGUMENTS[name])
        for ground, world, factor in zip(("dry sand", "rigid ground"), (soil, World()), least, strict=True):
            simulation = grouser.Simulation(machine, world, step=_STEP)
            simulation.step(1)
            figures.append(real_time_factor(f"{name}, {ground}", simulation, _drive, _DURATION, factor))
    return [*figures, _track(soil)]


def _drive(time: float) -> Mapping[str, float]:
    """Straight ahead, a turn at a radius, a turn on the spot."""
    left, right = ((0.6, 0.6), (0.6, 0.3), (0.6, -0.6))[min(int(3.0 * time / _DURATION), 2)]
    return {"track_left_valve": left, "track_right_valve": right}


def _track(soil: World) -> Figure:
    """The track of the rig at work, beside the same rig in the air."""
    file, taken, details = catalogue.machine_file("tracked_testbed"), {}, {}
    for place, world in (("on the ground", soil), ("in the air", World(ground=None))):
        simulation = grouser.Simulation(grouser.load_machine(file, {"rail_length": "1000"}), world, step=_STEP)
        if world.ground is None:
            simulation.command["slide"] = 1e4
        simulation.command["drive"], simulation.command["rail"] = _SPEED / 0.2, _SPEED * (1.0 - _SLIP)
        simulation.step(_STEPS)
        times = [cpu_time(partial(simulation.step, _STEPS)) for _ in range(_REPEATS)]
        taken[place] = 1e6 * statistics.median(times) / _STEPS
        details[f"step {place} [µs]"] = taken[place]
        details[f"shoes that touch, {place}"] = simulation.track["track"].shoes_in_contact
    cost = taken["on the ground"] - taken["in the air"]
    return Figure(
        "a track of 40 shoes beyond its rig", cost, "µs", details=details, targets=(Target("cost [µs]", cost, _MOST),)
    )
