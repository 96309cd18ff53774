"""An hour of trouble on the line of a bridge, on a clock of its own.

A sender says a lever's deflection; its messages are lost, late, doubled, flipped, mixed with garbage and repeated. The
bridge's opinion of each is compared with that of a second, slow judge that shares no code with it.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from grouser.bridges.trials.fault_trial import run_trial
from grouser.bridges.trials.lines import LINES
from grouser.bridges.trials.trouble import Trouble
from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.base.errors import ParameterError

DESCRIPTION = "a bridge behind a line with every fault obeys nothing invalid and is safe in time"


def _share(default: float, description: str) -> Parameter:
    return Parameter(default, "-", description, minimum=0.0, maximum=1.0)


PARAMETERS = {
    "protocol": Parameter("e2e_5", "-", "how messages are written", choices=tuple(LINES)),
    "duration": positive(3600.0, "s", "of the trial, on its own clock"),
    "period": positive(0.02, "s", "of the sender"),
    "loss": _share(0.05, "messages that do not arrive"),
    "delay_probability": _share(0.05, "messages that come late"),
    "delay_max": Parameter(0.05, "s", "longest delay", minimum=0.0, maximum=10.0),
    "duplicate": _share(0.02, "messages that arrive twice"),
    "bit_flip": _share(0.02, "messages with one bit flipped"),
    "garbage": _share(0.05, "messages before which random bytes arrive"),
    "stuck_probability": _share(0.001, "messages at which the sender begins to repeat itself"),
    "stuck_length": Parameter(50, "-", "messages that it repeats then", minimum=0, maximum=1_000_000),
    "bus_off_times": Parameter([], "s", "when the bus goes off, for half a second each"),
    "timeout": positive(0.1, "s", "of the link"),
    "good": Parameter(3, "-", "valid messages in a row before the link is live", minimum=1, maximum=100),
    "recovery": Parameter("automatic", "-", "what follows a fall", choices=("automatic", "acknowledge")),
    "seed": Parameter(0, "-", "of all faults", minimum=0),
}
_MOST_MESSAGES = 5_000_000
REFERENCE = {}


def run(**parameters: Any) -> Result:
    """Runs the trial.

    Returns:
        Counts, as `TrialReport` describes them; `longest_hold` in seconds.

    Raises:
        ParameterError: a timeout shorter than two periods, too many messages, or times that are no numbers.
    """
    period, timeout = parameters["period"], parameters["timeout"]
    if timeout < 2.0 * period:
        raise ParameterError("timeout", timeout, f"two periods or more, {2.0 * period:g} s")
    if not 1 <= parameters["duration"] / period <= _MOST_MESSAGES:
        raise ParameterError("duration", parameters["duration"], f"{period:g} to {_MOST_MESSAGES * period:g} s")
    times = parameters["bus_off_times"]
    if not all(isinstance(time, int | float) and 0.0 <= time <= parameters["duration"] for time in times):
        raise ParameterError("bus_off_times", times, f"a list of times from 0 to {parameters['duration']:g} s")
    of_line = {field.name: parameters[field.name] for field in fields(Trouble)}
    trouble = Trouble(**{**of_line, "bus_off_times": tuple(times)})
    report = run_trial(parameters["protocol"], trouble, timeout, parameters["good"], parameters["recovery"])
    return Result(vars(report), units={"longest_hold": "s"})


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws what was injected and what was refused."""
    for axes, name in zip(figure.subplots(2, 1), ("injected", "refused"), strict=True):
        counts = result[name]
        axes.barh(list(counts), list(counts.values()))
        axes.set_xlabel("messages")
        axes.set_title(name)
    figure.suptitle(f"faults of {parameters['protocol']}: {result['sent']} messages sent, {result['obeyed']} obeyed")
