"""Identifications of YAML files (docs/identify.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from grouser.identification.identification import Identification
from grouser.identification.measured_run import MeasuredRun
from grouser.identification.measurements import FileSpecification, NumberSpecification, read_runs
from grouser.identification.parameters import DELAY, FitParameter
from grouser.identification.simulating import Comparison
from grouser.loading import read_values
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.yaml_reader import Reader
from grouser.trials.measures import Measure
from grouser.trials.reading import check_node_address, read_measures, read_trial

_KEYS = ("trial", "measurements", "parameters", "measures", "starts", "seed", "iterations")
_FILE_KEYS = (
    "file", "time", "signals", "commands", "interpolation", "values", "settings", "initial", "begin", "end", "every",
)  # fmt: skip
_PARAMETER_KEYS = ("addresses", "low", "high", "start", "log")
_NUMBER_KEYS = ("column", "topic", "field", "unit", "factor")
_INTERPOLATIONS = ("hold", "linear")
_STARTS_MAX = 10_000
_VALUE_MAX = 1e30


def load_identification(task: str | Path | Mapping[str, Any], processes: int = 0) -> Identification:
    """Reads an identification, with its measured data.

    Args:
        task: path of the YAML file, or what such a file holds as a mapping (docs/identify.md).
        processes: that will simulate; 0: one for each core.

    Raises:
        MachineError: it cannot be read or is no identification; or the machine or world is refused.
        ParameterError: measured data that cannot be read, or do not fit the trial.
    """
    root, reader = read_values("identification", task)
    nodes = reader.mapping(root, "identification", _KEYS)
    need = {key: reader.required(nodes, key, root, "identification") for key in ("trial", "measurements", "parameters")}
    measures = {one.name: one for one in read_measures(reader, nodes["measures"])} if "measures" in nodes else {}
    parameters = tuple(
        _read_parameter(reader, node, name) for name, node in reader.entries(need["parameters"], "parameters")
    )
    files = [
        (_read_file(reader, node, measures), node) for node in reader.items(need["measurements"], "measurements")
    ]  # fmt: skip
    signals = [one.signal for one in measures.values() if one.signal]
    signals += [name for file, _ in files for name in file.signals]
    trial = read_trial(reader, need["trial"], tuple(dict.fromkeys(signals)))
    start = {
        address: value
        for one in parameters
        if one.name != DELAY
        for address, value in one.settings(float(one.start or 0.0)).items()
    }
    runs: list[MeasuredRun] = []
    for file, node in files:
        try:
            runs += read_runs(file, trial, start, _delay_bounds(parameters))
        except ParameterError as error:
            raise reader.error(node, file.path.name, str(error)) from None
    counts = {
        "starts": (1, _STARTS_MAX),
        "seed": (0, 2**32 - 1),
        "iterations": (1, _STARTS_MAX),
    }
    numbers = {key: int(reader.number(nodes[key], key, *limits)) for key, limits in counts.items() if key in nodes}
    if "iterations" in numbers:
        numbers["most_iterations"] = numbers.pop("iterations")
    return Identification(Comparison(trial, tuple(runs), parameters), processes=processes, **numbers)


def _delay_bounds(parameters: tuple[FitParameter, ...]) -> tuple[float, float]:
    return next(((one.lower, one.upper) for one in parameters if one.name == DELAY), (0.0, 0.0))


def _read_parameter(reader: Reader, node: yaml.Node, name: str) -> FitParameter:
    nodes = reader.mapping(node, name, _PARAMETER_KEYS)
    addresses: tuple[str, ...] = ()
    if "addresses" in nodes:
        addresses = tuple(reader.text(item, name) for item in reader.items(nodes["addresses"], f"{name} addresses"))
    for address in addresses or ((name,) if name != DELAY else ()):
        check_node_address(reader, nodes.get("addresses", node), address)
    limits = -_VALUE_MAX, _VALUE_MAX
    low, high = (
        reader.number(reader.required(nodes, key, node, name), f"{name} {key}", *limits) for key in ("low", "high")
    )
    start = reader.number(nodes["start"], f"{name} start", *limits) if "start" in nodes else None
    logarithmic = reader.boolean(nodes["log"], f"{name} log") if "log" in nodes else None
    try:
        return FitParameter(name, low, high, start, logarithmic, addresses)
    except ParameterError as error:
        raise reader.error(node, name, str(error)) from None


def _read_file(reader: Reader, node: yaml.Node, measures: dict[str, Measure]) -> FileSpecification:
    nodes = reader.mapping(node, "measurements", _FILE_KEYS)
    path = reader.path(reader.required(nodes, "file", node, "measurements"), "file")
    time = _read_number(reader, nodes["time"], "time") if "time" in nodes else NumberSpecification(column="time")
    signals, commands = (
        _read_numbers(reader, nodes[key], key, ("sigma",) if key == "signals" else ()) if key in nodes else {}
        for key in ("signals", "commands")
    )
    values = _read_numbers(reader, nodes["values"], "values", ("sigma",)) if "values" in nodes else {}
    for name in values:
        if name not in measures:
            raise reader.error(nodes["values"], name, "it is no measure", "name it in measures: of the file")
    if bool(values) == bool(signals):
        raise reader.error(node, "measurements", "either signals or values are compared", "give one of the two")
    settings: dict[str, Any] = {}
    for address, item in reader.entries(nodes["settings"], "settings") if "settings" in nodes else ():
        check_node_address(reader, item, address)
        is_column = isinstance(item, yaml.MappingNode) and any(key.value == "column" for key, _ in item.value)
        if is_column and not values:
            raise reader.error(item, address, "a column gives each line its own value", "of values, not of signals")
        settings[address] = _read_number(reader, item, address) if is_column else reader.plain(item, address)
    for key in ("begin", "end", "every"):
        if key in nodes and values:
            raise reader.error(nodes[key], key, "a file of values has no times", "remove it")
    return FileSpecification(
        path,
        time,
        signals,
        commands,
        {name: (measures[name], one) for name, one in values.items()},
        settings,
        "interpolation" in nodes
        and reader.choice(nodes["interpolation"], "interpolation", _INTERPOLATIONS) == "linear",
        "initial" in nodes and reader.choice(nodes["initial"], "initial", ("data", "machine")) == "data",
        reader.number(nodes["begin"], "begin") if "begin" in nodes else None,
        reader.number(nodes["end"], "end") if "end" in nodes else None,
        reader.number(nodes["every"], "every", 0.0) if "every" in nodes else None,
    )


def _read_numbers(
    reader: Reader, node: yaml.Node, name: str, more: tuple[str, ...] = ()
) -> dict[str, NumberSpecification]:
    """Where numbers are by name; a list of names stands for columns of these names."""
    if isinstance(node, yaml.SequenceNode):
        return {text: NumberSpecification(text) for text in (reader.text(item, name) for item in node.value)}
    return {key: _read_number(reader, item, key, more) for key, item in reader.entries(node, name)}


def _read_number(reader: Reader, node: yaml.Node, name: str, more: tuple[str, ...] = ()) -> NumberSpecification:
    if isinstance(node, yaml.ScalarNode):
        return NumberSpecification(name if reader.is_null(node) else reader.text(node, name))
    nodes = reader.mapping(node, name, (*_NUMBER_KEYS, *more))
    if "unit" in nodes and "factor" in nodes:
        raise reader.error(node, name, "it has a unit and a factor", "keep one of them")
    texts = {key: reader.text(nodes[key], key) for key in ("column", "topic", "field", "unit") if key in nodes}
    if ("topic" in texts) != ("field" in texts):
        raise reader.error(node, name, "a number of a bag has a topic and a field", "give both")
    sigma: Any = reader.plain(nodes["sigma"], "sigma") if "sigma" in nodes else None
    if isinstance(sigma, bool) or not (sigma is None or isinstance(sigma, str) or 0.0 < sigma < float("inf")):
        raise reader.error(nodes["sigma"], f"{name} sigma", f"it is {sigma!r}", "give a number above 0, or a column")
    factor = reader.number(nodes["factor"], f"{name} factor", -_VALUE_MAX, _VALUE_MAX) if "factor" in nodes else 1.0
    return NumberSpecification(texts.pop("column", name), factor=factor, sigma=sigma, **texts)
