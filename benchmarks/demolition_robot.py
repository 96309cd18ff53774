"""How much faster than time the demolition robot runs while it plays its demonstration."""

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, cpu_time
from grouser.program import load_program

DESCRIPTION = "real-time factor of the demolition robot with its command program, steps of 1 ms"

_STEP = 0.001
_COMMAND_STEPS = 10
_LONGEST = 60.0  # [s] of simulated time


def run() -> list[Figure]:
    """Plays one round of the program."""
    path = catalogue.machine_file("demolition_robot")
    simulation = grouser.Simulation(grouser.load_machine(path), step=_STEP)
    program = load_program(catalogue.program_file("demolition_robot"))
    simulation.step(1)
    simulation.reset()
    duration = min(program.period, _LONGEST)
    sweeps = []

    def play():
        while simulation.time < duration:
            simulation.command.update(program.values(simulation.time))
            simulation.step(_COMMAND_STEPS)
            sweeps.append(simulation.diagnostics.iterations)

    taken = cpu_time(play)
    details = {
        "simulated [s]": simulation.time,
        "step [µs]": 1e6 * taken / simulation.step_count,
        "sweeps, mean": sum(sweeps) / len(sweeps),
        "sweeps, most": simulation.diagnostics.iterations_max,
        "residual, largest [m/s]": simulation.diagnostics.residual_max,
        "steps a call": _COMMAND_STEPS,
    }
    return [Figure("real-time factor, demolition robot", simulation.time / taken, "s/s", details=details)]
