"""Real-time factor of the machines with load-sensing circuits: their demonstrations.

`contacts` has their functions in turn and all at once.
"""

from collections.abc import Callable, Mapping

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target, cpu_time
from grouser.benchmarks.solver_effort import SolverEffort
from grouser.program import load_program

DESCRIPTION = "real-time factor of demolition robot and excavator at work, steps of 1 ms"

MACHINES = ("demolition_robot", "excavator")
_STEP = 0.001
_COMMAND_STEPS = 10
_LONGEST = 60.0  # [s] of simulated time


def run() -> list[Figure]:
    """Plays one round of each program."""
    figures = []
    for name in MACHINES:
        program = load_program(catalogue.program_file(name))
        duration = min(program.period, _LONGEST)
        figures.append(real_time_factor(f"{name}, program", standing(name), program.values, duration))
    return figures


def standing(name: str) -> grouser.Simulation:
    """A machine at its start, compiled."""
    simulation = grouser.Simulation(grouser.load_machine(catalogue.machine_file(name)), step=_STEP)
    simulation.step(1)
    return simulation


def real_time_factor(
    label: str,
    simulation: grouser.Simulation,
    commands: Callable[[float], Mapping[str, float]],
    duration: float,
    least: float | None = None,
) -> Figure:
    """Runs a machine from its start.

    Args:
        label: name of the motion.
        simulation: the machine, which is reset.
        commands: of the valves, by time [s].
        duration: [s].
        least: real-time factor that is meant to be reached, together with the targets of the solver.
    """
    simulation.reset()
    simulation.clear_diagnostics()
    sweeps = []

    def play() -> None:
        while simulation.time < duration:
            simulation.command.update(commands(simulation.time))
            simulation.step(_COMMAND_STEPS)
            sweeps.append(simulation.diagnostics.iterations)

    taken = cpu_time(play)
    effort = SolverEffort.of(simulation, sweeps, simulation.step_count)
    factor = simulation.time / taken
    details = {
        "simulated [s]": simulation.time,
        "step [µs]": 1e6 * taken / simulation.step_count,
        "lines": len(simulation.arrays.lines),
        **effort.details,
        "steps a call": _COMMAND_STEPS,
    }
    targets: tuple[Target, ...] = ()
    if least is not None:
        targets = (Target("real-time factor", factor, least, at_least=True), *effort.targets)
    return Figure(f"real-time factor, {label}", factor, "s/s", details=details, targets=targets)
