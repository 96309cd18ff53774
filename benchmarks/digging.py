"""Cost of shovels in soft ground, beyond the step of the machine that moves them, and of an excavator that digs."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from statistics import median
from typing import Any

from grouser.benchmarks.figure import Figure, SkippedError, Target
from grouser.benchmarks.peers import require
from grouser.benchmarks.ros import process, require_fast_dds
from grouser.catalogue import program_file
from grouser.experiments.blade_rig import Blade, BladeRig
from grouser.function_blocks.reader import load_control_program
from grouser.loading import load_machine, load_world
from grouser.physics.simulation.simulation import Simulation
from grouser.trials.playing import play

DESCRIPTION = (
    "a bucket in the air, in the soil and full, and a blade of 2.5 m, at cells of 50 mm, beyond the step of their rig; "
    "an excavator that digs a trench, by itself and with topics and page"
)
_SOIL = {
    "density": 1600.0, "cohesion": 2e3, "friction_angle_deg": 30.0, "swell": 1.25, "repose_angle_deg": 32.0,
    "cell_size": 0.05, "gravity": 9.81, "step": 1e-3,
}  # fmt: skip
_FRICTION = math.radians(20.0)
_BUCKET = Blade(0.45, 0.4, math.radians(30.0), _FRICTION, 0.0, depth=0.28)
_BLADE = Blade(2.5, 0.6, math.radians(60.0), _FRICTION, 0.0)
# Speed [m/s], runs, and parts of a run: each costs a call.
_SPEED, _REPEATS, _SAMPLES = 0.5, 5, 1
# How far each is driven before it is timed, and while it is [m].
_AIR, _CUTTING, _FULL, _PILE = (0.0, 0.5), (0.05, 0.25), (1.2, 1.0), (0.5, 1.5)
# A cycle of the excavator's program [s], and how much faster than real time it is to be.
_CYCLE, _FASTER = 17.5, 10.0
# Before the page is measured, and while it is [s of wall time].
_SETTLING, _WATCHED = 5.0, 20.0


def run() -> list[Figure]:
    """Drives the tools, each in fresh soil, and digs with the excavator."""
    alone = _rig_alone()
    return [
        _figure("bucket in the air", _BUCKET, -1.0, _AIR, alone, 0.5),
        _figure("bucket cuts 0.1 m deep", _BUCKET, 0.1, _CUTTING, alone, 35.0),
        _figure("full bucket pushes", _BUCKET, 0.1, _FULL, alone, 35.0),
        _figure("blade of 2.5 m pushes, 0.05 m deep", _BLADE, 0.05, _PILE, alone, 60.0),
        _excavator(),
        _excavator_on_the_page(),
    ]


def _rig_alone() -> float:
    """Processor time of a step of the rig with nothing in the soil [us]."""
    rig = BladeRig(_SOIL, _BLADE, -0.3)
    still = Simulation(rig.simulation.machine, load_world("flat"), _SOIL["step"])
    return _median_of_steps(lambda: still.step(1000))


def _median_of_steps(work: Callable[[], None]) -> float:
    """Median processor time of a step of what makes a thousand [us]."""
    work()
    taken = []
    for _ in range(_REPEATS):
        begun = time.process_time()
        work()
        taken.append(1e3 * (time.process_time() - begun))
    return median(taken)


def _figure(name: str, tool: Blade, depth: float, way: tuple[float, float], alone: float, most: float) -> Figure:
    """A step of the rig with a tool in the soil, less one of the rig alone."""
    taken = []
    for _ in range(_REPEATS):
        rig = BladeRig(_SOIL, tool, depth)
        rig.simulation.step()  # whose first call costs more
        if way[0] > 0.0:
            rig.drive(way[0], _SPEED, 1)
        before, steps = rig.seconds, rig.simulation.step_count
        rig.drive(way[1], _SPEED, _SAMPLES)
        taken.append(1e6 * (rig.seconds - before) / (rig.simulation.step_count - steps))
    beyond = median(taken) - alone
    details = {"step of the rig alone [µs]": alone, "step of the rig in soil [µs]": median(taken)}
    return Figure(name, beyond, "µs", details=details, targets=(Target("µs a step", beyond, most),))


def _excavator() -> Figure:
    """The excavator digs a trench in the quarry: simulated over processor time, over a cycle of its program."""
    simulation = Simulation(load_machine("excavator"), load_world("quarry"))
    program = load_control_program(program_file("excavator_trench"))
    play(simulation, program, 1)
    begun = time.process_time()
    play(simulation, program, round(_CYCLE / simulation.step_size))
    faster = _CYCLE / (time.process_time() - begun)
    load = simulation.bucket_load("bucket")
    return Figure(
        "excavator digs, hydraulics and tracks, times faster than real time", faster, "",
        details={"in the bucket at the end [kg]": load.mass},
        targets=(Target("times real time", faster, _FASTER, at_least=True),),
    )  # fmt: skip


def _excavator_on_the_page() -> Figure:
    """The same by the simulator's node, as fast as it goes, on a page that a browser reads."""
    name = "the same with topics and page, over the time of both processes"
    try:
        require_fast_dds()
        require("viser")
        before, after, pictures = _watched()
    except SkippedError as skipped:
        return Figure(name, None, "", reason=str(skipped))
    simulator, viewer = (last["process"] - first["process"] for first, last in zip(before, after, strict=True))
    simulated = after[0]["simulated"] - before[0]["simulated"]
    faster = simulated / (simulator + viewer)
    return Figure(
        name, faster, "",
        details={
            "simulator [% of a core]": 100.0 * simulator / _WATCHED, "viewer [% of a core]": 100.0 * viewer / _WATCHED,
            "pictures a second": pictures / _WATCHED, "simulated over wall time": simulated / _WATCHED,
        },
        targets=(Target("times real time", faster, _FASTER, at_least=True),),
    )  # fmt: skip


def _watched() -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]], int]:
    """Simulator and viewer as they measure themselves at the beginning and at the end, and pictures between."""
    from grouser.benchmarks.page_reader import reading

    world = 'world="quarry"'
    settings = 'program="excavator_trench"', "real_time_factor=0.0", "wall_rates=true"
    with ExitStack() as stack:
        both = [stack.enter_context(process("simulate", "excavator", world, *settings))]
        both.append(stack.enter_context(process("view", world)))
        reader = stack.enter_context(reading(both[1].request("port")))
        time.sleep(_SETTLING)
        before, pictures = [one.request("measure") for one in both], len(reader.arrivals)
        time.sleep(_WATCHED)
        return before, [one.request("measure") for one in both], len(reader.arrivals) - pictures
