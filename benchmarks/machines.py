"""Real-time factor of the machines with load-sensing circuits: their demonstrations, and every function."""

from collections.abc import Callable, Mapping

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, cpu_time
from grouser.program import load_program

DESCRIPTION = "real-time factor of demolition robot and excavator at work, steps of 1 ms"

_MACHINES = ("demolition_robot", "excavator")
_STEP = 0.001
_COMMAND_STEPS = 10
_LONGEST = 60.0  # [s] of simulated time
# Command and duration of each function, in one direction and then back [-, s].
_OPENING, _MOVING = 0.5, 1.0


def run() -> list[Figure]:
    """Plays one round of each program, then moves all functions of each machine in turn."""
    figures = []
    for name in _MACHINES:
        simulation = grouser.Simulation(grouser.load_machine(catalogue.machine_file(name)), step=_STEP)
        simulation.step(1)
        program = load_program(catalogue.program_file(name))
        figures.append(_measure(f"{name}, program", simulation, program.values, min(program.period, _LONGEST)))
        valves = [valve.name for valve in simulation.machine.valves]
        figures.append(
            _measure(f"{name}, functions in turn", simulation, _in_turn(valves), 2.0 * _MOVING * len(valves))
        )
    return figures


def _in_turn(valves: list[str]) -> Callable[[float], Mapping[str, float]]:
    """Commands by time [s]: one valve after the other opens one way and then the other."""

    def values(time: float) -> Mapping[str, float]:
        turn, part = divmod(time, 2.0 * _MOVING)
        way = _OPENING if part < _MOVING else -_OPENING
        return {valve: way if number == int(turn) else 0.0 for number, valve in enumerate(valves)}

    return values


def _measure(
    label: str,
    simulation: grouser.Simulation,
    commands: Callable[[float], Mapping[str, float]],
    duration: float,
) -> Figure:
    """Runs a machine from its start for a time [s]."""
    simulation.reset()
    simulation.clear_diagnostics()
    sweeps = []

    def play() -> None:
        while simulation.time < duration:
            simulation.command.update(commands(simulation.time))
            simulation.step(_COMMAND_STEPS)
            sweeps.append(simulation.diagnostics.iterations)

    taken = cpu_time(play)
    details = {
        "simulated [s]": simulation.time,
        "step [µs]": 1e6 * taken / simulation.step_count,
        "lines": len(simulation.lines),
        "sweeps, mean": sum(sweeps) / len(sweeps),
        "sweeps, most": simulation.diagnostics.iterations_max,
        "residual, largest [m/s]": simulation.diagnostics.residual_max,
        "steps a call": _COMMAND_STEPS,
    }
    return Figure(f"real-time factor, {label}", simulation.time / taken, "s/s", details=details)
