"""How long it takes from an event in another process to the force that it causes, and back, and how late steps are.

Another process moves a lever by the protocol of a bridge; its events go through the whole bridge into a machine that
steps at its pace, and a reply brings back which command was obeyed last. All processes share the clock
(CLOCK_MONOTONIC). With events spread evenly over the steps, the time from event to force has a floor of half a step in
the median and of one step at most, plus transport and computing.

The results are times of this computer at this load: they are reported, never promised.
"""

from collections.abc import Mapping
from typing import Any

from grouser.bridges.histogram import Distribution
from grouser.bridges.scheduling import PRIORITIES, Scheduling
from grouser.bridges.trials.hands import FULL
from grouser.bridges.trials.latency_trial import LatencySettings, run_latency
from grouser.bridges.trials.rigs import RIGS
from grouser.catalogue import machine_file, world_file
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine, load_world
from grouser.physics.simulation.simulation import Simulation

DESCRIPTION = "times from an event in another process through a bridge to the force in the machine"

PARAMETERS = {
    "bridge": Parameter("can", "-", "which bridge", choices=tuple(RIGS)),
    "interface": Parameter(
        "",
        "-",
        "of CAN: slcan, by a pseudo-terminal, or python-can's with its channel, socketcan:vcan0; empty: the best",
    ),
    "machine": Parameter("excavator", "-", "machine that steps: a name or a file"),
    "step": positive(0.001, "s", "of the simulation"),
    "rate": Parameter(100.0, "Hz", "of the replies", minimum=1.0, maximum=2000.0),
    "events": Parameter(2000, "-", "of the lever", minimum=1, maximum=FULL),
    "event_interval": positive(
        0.007, "s", "between two events; each comes its own share of a step later; of an FMU its step"
    ),
    "scheduling": Parameter("fifo", "-", "of physics, bridge and hand", choices=("other", "fifo")),
    "priority": Parameter(50, "-", "of fifo", minimum=PRIORITIES[0], maximum=PRIORITIES[1]),
    "lock_memory": Parameter(True, "-", "whether memory is kept from being paged out"),
    "cpu": Parameter(-1, "-", "processor of all threads; -1: any", minimum=-1, maximum=1023),
    "spin": Parameter(0.0, "s", "last part of a wait that looks at the clock", minimum=0.0, maximum=0.001),
    "seed": Parameter(0, "-", "of the shares of a step", minimum=0, maximum=1_000_000),
}
REFERENCE: dict[str, str] = {}
_TIMES = ("event_to_command", "command_to_force", "event_to_force", "force_to_reply", "loop")


def run(**parameters: Any) -> Result:
    """Runs the trial.

    Returns:
        `_p50`, `_p99`, `_max`, `_edges` and `_counts` (of a histogram) of each of `event_to_command`,
        `command_to_force`, `event_to_force`, `force_to_reply` and `loop`; the last two are empty for a stick, which
        hears no reply. `step_lateness_p50`, `_p99`, `_max`; `steps`, `late_steps`; `sent`, `obeyed`, `lost`,
        `duplicated`; `cpu_share`; what was got: `scheduling_got`, `memory_locked`, `cpu_got`, `refusals`;
        `load_average`.

    Raises:
        ParameterError: the machine has no valve.
    """
    machine = load_machine(machine_file(parameters["machine"]))
    if not machine.valves:
        raise ParameterError("machine", parameters["machine"], "a machine with valves")
    simulation = Simulation(machine, load_world(world_file("flat")), step=parameters["step"])
    simulation.step(1)  # compiles
    simulation.reset()
    scheduling = Scheduling(
        parameters["scheduling"], parameters["priority"], parameters["cpu"], parameters["lock_memory"]
    )
    settings = LatencySettings(
        parameters["bridge"],
        parameters["interface"],
        parameters["rate"],
        parameters["events"],
        parameters["event_interval"],
        scheduling,
        parameters["spin"],
        parameters["seed"],
    )
    report = run_latency(simulation, machine.valves[0].name, settings)
    results: dict[str, Any] = {}
    for name in _TIMES:
        results |= _figures(name, getattr(report, name))
    late = report.lateness
    results |= {
        "step_lateness_p50": late.p50,
        "step_lateness_p99": late.p99,
        "step_lateness_max": late.largest,
        "steps": late.count,
        "late_steps": report.late_steps,
        "sent": report.sent,
        "obeyed": report.obeyed,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "cpu_share": report.cpu_share,
        "scheduling_got": report.granted.policy,
        "memory_locked": report.granted.memory_locked,
        "cpu_got": report.granted.cpu,
        "refusals": list(report.granted.refusals),
        "load_average": report.load_average,
    }
    times = [name for name in results if name.endswith(("_p50", "_p99", "_max", "_edges"))]
    return Result(results, units=dict.fromkeys(times, "s"))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the histograms."""
    for axes, name in zip(figure.subplots(len(_TIMES), 1, sharex=True), _TIMES, strict=True):
        edges, counts = result[f"{name}_edges"], result[f"{name}_counts"]
        axes.stairs(counts[1:-1], edges, fill=True)
        axes.set_xscale("log")
        axes.set_ylabel("number")
        axes.set_title(
            f"{name.replace('_', ' ')}: median {result[f'{name}_p50']:.2e} s, 99 % below {result[f'{name}_p99']:.2e} s"
        )
    axes.set_xlabel("time [s]")
    figure.suptitle("latencies between controller and machine")


def _figures(name: str, distribution: Distribution) -> dict[str, Any]:
    return {
        f"{name}_p50": distribution.p50,
        f"{name}_p99": distribution.p99,
        f"{name}_max": distribution.largest,
        f"{name}_edges": list(distribution.edges),
        f"{name}_counts": list(distribution.counts),
    }
