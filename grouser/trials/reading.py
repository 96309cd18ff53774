"""Trials and measures of a YAML file."""

from pathlib import Path
from typing import Any

import yaml

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.yaml_reader import Reader
from grouser.trials.measures import REDUCTIONS, WITH_LEVEL, Measure, load_function
from grouser.trials.settings import check_address
from grouser.trials.trial import Trial

TRIAL_KEYS = ("machine", "arguments", "base", "world", "program", "duration", "step", "record", "every", "settings")
_OPTIONS = ("from", "until", "level")


def read_trial(reader: Reader, node: yaml.Node, signals: tuple[str, ...] = ()) -> Trial:
    """Returns the trial that a mapping describes.

    Args:
        reader: of the file, where relative file names start.
        node: a mapping with `TRIAL_KEYS`.
        signals: that are recorded as well.

    Raises:
        MachineError: a key is unknown, missing or has a value of another kind; with file and line.
    """
    nodes = reader.mapping(node, "trial", TRIAL_KEYS)
    values: dict[str, Any] = {
        "machine": reader.text(reader.required(nodes, "machine", node, "trial"), "machine"),
        "duration": reader.number(reader.required(nodes, "duration", node, "trial"), "duration", 0.0),
        "folder": str(Path(reader.file).absolute().parent),
    }
    recorded = [reader.text(item, "record") for item in _listed(nodes.get("record"))]
    values["record"] = tuple(dict.fromkeys((*recorded, *signals)))
    if not values["record"]:
        raise reader.error(node, "trial", "it records nothing", "add record: [signal, ...]")
    for key in ("step", "every"):
        if key in nodes:
            values[key] = reader.number(nodes[key], key, 0.0)
    if "base" in nodes:
        values["base"] = reader.text(nodes["base"], "base")
    for key in ("world", "program"):
        if key in nodes:
            values[key] = reader.plain(nodes[key], key)
            if values[key] is not None and not isinstance(values[key], str | dict):
                raise reader.error(nodes[key], key, f"it is {values[key]!r}", "give a name, a file, or a mapping")
    for key in ("arguments", "settings"):
        if key in nodes:
            values[key] = {name: reader.plain(item, name) for name, item in reader.entries(nodes[key], key)}
    for name in values.get("settings", ()):
        check_node_address(reader, nodes["settings"], name)
    return Trial(**values)


def check_node_address(reader: Reader, node: yaml.Node, address: str) -> str:
    """Refuses what is no address, with the file and the line of a node."""
    try:
        return check_address(address)
    except ParameterError as error:
        raise reader.error(node, address[:80], str(error)) from None


def read_measures(reader: Reader, node: yaml.Node) -> tuple[Measure, ...]:
    """Returns the measures that a mapping describes: a name each, and a reduction of a signal or a function.

        height: {final: lift}
        rise_time: {time_of: lift, level: 0.3}
        peak: {maximum: pressure.lift.piston_side, from: 0.5}
        own: measures.py:overshoot

    Raises:
        MachineError: an unknown reduction or option, or a function that cannot be loaded; with file and line.
    """
    return tuple(_read_measure(reader, item, name) for name, item in reader.entries(node, "measures"))


def _read_measure(reader: Reader, node: yaml.Node, name: str) -> Measure:
    if isinstance(node, yaml.ScalarNode):
        return Measure(name, function=_function(reader, node, name))
    nodes = reader.mapping(node, name, (*REDUCTIONS, *_OPTIONS))
    reductions = [key for key in nodes if key in REDUCTIONS]
    if len(reductions) != 1:
        problem = f"it has {len(reductions)} reductions; one is needed"
        raise reader.error(node, name, problem, f"give one of {', '.join(REDUCTIONS)}")
    reduction = reductions[0]
    numbers: dict[str, Any] = {}
    for key, option in (("from", "start"), ("until", "end"), ("level", "level")):
        if key in nodes:
            numbers[option] = reader.number(nodes[key], f"{name} {key}")
    if "level" in numbers and reduction not in WITH_LEVEL:
        raise reader.error(nodes["level"], name, f"{reduction} has no level", f"of {' and '.join(WITH_LEVEL)}")
    if reduction == "time_of" and "level" not in numbers:
        raise reader.error(node, name, "time_of needs a level", "add level: NUMBER")
    return Measure(name, reduction, reader.text(nodes[reduction], name), **numbers)


def _function(reader: Reader, node: yaml.ScalarNode, name: str) -> str:
    home, _, function = reader.text(node, name).rpartition(":")
    if home.endswith(".py"):
        home = str(Path(reader.file).absolute().parent / home)
    try:
        load_function(f"{home}:{function}")
    except ParameterError as error:
        raise reader.error(node, name, str(error)) from None
    return f"{home}:{function}"


def _listed(node: yaml.Node | None) -> list[yaml.Node]:
    if node is None:
        return []
    return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]
