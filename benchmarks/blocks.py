"""Cost of deformable blocks: a wall beside the demolition robot, asleep, while its tool breaks it, and as rubble."""

import time

from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target
from grouser.loading import load_machine, load_world
from grouser.physics.simulation.simulation import Simulation
from grouser.program import load_program
from grouser.trials.playing import play

DESCRIPTION = (
    "the demolition robot beside a wall: asleep, while its tool breaks it, and as rubble, of a core in real time"
)

# Ends of the stages by the robot's program [s]: the wall sleeps; the tool goes through it; the tool sweeps the rubble.
_STAGES = {"wall asleep": (0.0, 4.0), "tool in the wall": (5.0, 6.0), "tool in rubble": (8.0, 9.5)}


def run() -> list[Figure]:
    """Plays the program up to the begin and to the end of each stage."""
    simulation = Simulation(load_machine("demolition_robot"), load_world("rubble"))
    return [_stage(simulation, name, *times) for name, times in _STAGES.items()]


def _stage(simulation: Simulation, name: str, begin: float, end: float) -> Figure:
    taken, program = [], load_program(catalogue.program_file("demolition_robot_wall"))
    for until in (begin, end):
        simulation.reset()
        before = time.process_time()
        play(simulation, program, round(until / simulation.step_size))
        taken.append(time.process_time() - before)
    blocks = simulation.blocks
    steps = (end - begin) / blocks.block_step
    share = (taken[1] - taken[0]) / (end - begin)
    details = {
        "blocks": len(blocks),
        "pieces": len(set(blocks.pieces.tolist())),
        "steps of the blocks in one of the machine": round(simulation.step_size / blocks.block_step),
        "of all, a block and step of the blocks [µs]": 1e6 * (taken[1] - taken[0]) / (steps * len(blocks)),
    }
    targets = (Target("share of a core", share, 1.0),)
    return Figure(f"{name}, of a core in real time", share, "", details=details, targets=targets)
