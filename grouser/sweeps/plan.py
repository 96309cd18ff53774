"""The plan of a sweep: a trial, what is changed in it and how, and what is measured."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from grouser import __version__
from grouser.function_blocks.diagram import Diagram
from grouser.physics.base.errors import ParameterError
from grouser.program import CommandProgram
from grouser.sweeps import designs
from grouser.sweeps.parameters import Parameter
from grouser.trials.measures import Measure
from grouser.trials.trial import Trial, settings_text

OPTIMISATION = "optimisation"
# Name of each method: its options with their defaults; None where it must be given.
METHODS: Mapping[str, Mapping[str, Any]] = {
    "grid": {},
    "latin_hypercube": {"samples": None},
    "monte_carlo": {"samples": None},
    "sobol_indices": {"samples": None, "second_order": False},
    OPTIMISATION: {"minimise": "", "maximise": "", "runs": None, "batch": 8, "sampler": "tpe"},
}


@dataclass(frozen=True)
class Plan:
    """A sweep as data.

    Attributes:
        trial: that is run.
        parameters: that are changed.
        measures: that are made of each run.
        method: one of `METHODS`.
        options: of the method, all of them.
        seed: of all random numbers.
    """

    trial: Trial
    parameters: tuple[Parameter, ...]
    measures: tuple[Measure, ...]
    method: str
    options: Mapping[str, Any]
    seed: int = 0

    def design(self) -> list[dict[str, Any]]:
        """Settings of all runs by parameter; of the optimisation none, whose runs follow from results.

        Raises:
            ParameterError: a parameter or an option that the method cannot have.
        """
        if self.method == "grid":
            return designs.grid(self.parameters)
        if self.method == "latin_hypercube":
            return designs.latin_hypercube(self.parameters, self.options["samples"], self.seed)
        if self.method == "monte_carlo":
            return designs.monte_carlo(self.parameters, self.options["samples"], self.seed)
        if self.method == "sobol_indices":
            return designs.sobol(
                self.parameters, self.options["samples"], self.seed, self.options["second_order"]
            )  # fmt: skip
        return []

    def at_addresses(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of a trial by address, of those by parameter."""
        return {address: settings[one.name] for one in self.parameters for address in one.addresses}

    def check(self) -> None:
        """Tries out the machine, world and program of every category, without a step.

        Raises:
            ParameterError, MachineError: as of `Trial.check`.
        """
        for settings in self._examples():
            self.trial.check(self.at_addresses(settings))

    def document(self) -> dict[str, Any]:
        """The plan in plain types, with digests of the files that it names; what is equal gives equal results."""
        trial = asdict(replace(self.trial, folder=""))
        measures = [asdict(one) for one in self.measures]
        for measure in measures:
            if measure["function"].rpartition(":")[0].endswith(".py"):
                measure["function"] = os.path.relpath(measure["function"], self.trial.folder)
        return _plain(
            {
                "trial": trial,
                "parameters": [asdict(one) for one in self.parameters],
                "measures": measures,
                "method": self.method,
                "options": self.options,
                "seed": self.seed,
                "digests": self._digests(),
                "grouser": __version__,
            }
        )

    def _examples(self) -> Iterator[dict[str, Any]]:
        """Settings in which each parameter has each of its examples at least once."""
        first = {one.name: one.examples[0] for one in self.parameters}
        yield first
        for parameter in self.parameters:
            for value in parameter.examples[1:]:
                yield first | {parameter.name: value}

    def _digests(self) -> dict[str, str]:
        """Digests of what machines, worlds, programs and functions are made of."""
        digests = {}
        whole = [one for one in self.parameters if set(one.addresses) & {"machine", "world", "program"}]
        cases: list[dict[str, Any]] = [{}]
        cases += [dict.fromkeys(one.addresses, value) for one in whole for value in one.values]
        for case in cases:
            parts = replace(self.trial, settings={}).parts(case)
            name = settings_text(case) if case else "trial"
            world = [parts.world.source, *(_content(file) for file in parts.world.files)]
            commands = _program_text(parts.program)
            for kind, text in (("machine", parts.machine.source), ("world", repr(world)), ("program", commands)):
                digests[f"{kind} of {name}"] = _digest(text)
        for measure in self.measures:
            file = measure.function.rpartition(":")[0]
            if file.endswith(".py"):
                digests[f"measure {measure.name}"] = _digest(_content(file))
        return digests


def _program_text(program: CommandProgram | Diagram | None) -> str:
    """What a program is made of, with its functions."""
    if isinstance(program, Diagram):
        return repr([program.source, *(_content(file) for file in program.functions)])
    return "" if program is None else repr((program.commands, program.period))


def settings_hash(settings: Mapping[str, Any]) -> str:
    """Hash of the settings of a run."""
    return _digest(settings_text(settings))


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Where two documents differ, a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [*old, *(key for key in new if key not in old)]
        return [
            line for key in keys for line in differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for index, (a, b) in pairs for line in differences(a, b, f"{path}.{index}")]
    return [] if old == new else [f"{path}: {_short(old)} in the folder, {_short(new)} now"]


def _short(value: Any) -> str:
    text = settings_text(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _plain(value: Any) -> Any:
    """A document as JSON has it: lists for tuples, null for infinite numbers and NaN."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _content(file: str) -> str:
    """The bytes of a file as a text."""
    try:
        return Path(file).read_bytes().hex()
    except OSError as error:
        raise ParameterError("file", file, f"one that can be read ({error.strerror})") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
