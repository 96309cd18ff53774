"""Sweeps of YAML files."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from grouser.loading import read_values
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.yaml_reader import Reader
from grouser.sweeps.optimising import SAMPLERS
from grouser.sweeps.parameters import Parameter
from grouser.sweeps.plan import METHODS, OPTIMISATION, Plan
from grouser.sweeps.results import RESERVED
from grouser.trials.reading import check_node_address, read_measures, read_trial

KEYS = ("trial", "parameters", "measures", "method", "seed")
_RANGE = ("low", "high", "log", "count")
_RUNS_MAX = 10**8
_COUNTS = {"samples": (1, _RUNS_MAX), "runs": (1, _RUNS_MAX), "batch": (1, 10_000)}


def load_sweep(sweep: str | Path | Mapping[str, Any]) -> Plan:
    """Reads a sweep (docs/sweep.md).

    Args:
        sweep: path of the YAML file, or what such a file holds as a mapping.

    Raises:
        MachineError: it cannot be read or is no sweep; the message has the file and the line.
        ParameterError: what is given is none of these.
    """
    root, reader = read_values("sweep", sweep)
    nodes = reader.mapping(root, "sweep", KEYS)
    need = {key: reader.required(nodes, key, root, "sweep") for key in ("trial", "parameters", "measures", "method")}
    measures = read_measures(reader, need["measures"])
    trial = read_trial(reader, need["trial"], tuple(one.signal for one in measures if one.signal))
    parameters = tuple(
        _read_parameter(reader, node, name) for name, node in reader.entries(need["parameters"], "parameters")
    )
    _check_names(reader, root, [*(one.name for one in parameters), *(one.name for one in measures)])
    method, options = _read_method(reader, need["method"], [one.name for one in measures])
    if method == OPTIMISATION and any(one.distribution for one in parameters):
        raise reader.error(need["parameters"], "parameters", "an optimisation has ranges or values, no distributions")
    seed = int(reader.number(nodes["seed"], "seed", 0, 2**32 - 1)) if "seed" in nodes else 0
    return Plan(trial, parameters, measures, method, options, seed)


def _check_names(reader: Reader, root: yaml.Node, names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in RESERVED or name in names[:number]:
            taken = "a column of every result" if name in RESERVED else "the name of a parameter or measure already"
            raise reader.error(root, name[:80], f"this name is {taken}", "rename the measure, or the parameter")


def _read_parameter(reader: Reader, node: yaml.Node, name: str) -> Parameter:
    if isinstance(node, yaml.SequenceNode):
        return Parameter(check_node_address(reader, node, name), (name,), values=_values(reader, node, name))
    valid = ("addresses", "values", *_RANGE, "distribution")
    given = dict(reader.entries(node, name))
    # The arguments of a distribution are its own: SciPy knows their names.
    own = {key: given[key] for key in given if key not in valid} if "distribution" in given else {}
    for key in given:
        if key not in valid and key not in own:
            raise reader.error(given[key], name, f"unknown key {key!r}", closest(key, valid))
    kinds = [key for key in ("values", "low", "distribution") if key in given]
    if len(kinds) != 1:
        remedy = "give values, or low and high, or a distribution"
        raise reader.error(node, name, "it has no values" if not kinds else f"it has {' and '.join(kinds)}", remedy)
    addresses: tuple[str, ...] = (name,)
    if "addresses" in given:
        addresses = tuple(reader.text(item, name) for item in reader.items(given["addresses"], f"{name} addresses"))
    for address in addresses:
        check_node_address(reader, given.get("addresses", node), address)
    values: dict[str, Any] = {}
    if kinds == ["values"]:
        values["values"] = _values(reader, given["values"], name)
    elif kinds == ["low"]:
        values["low"] = _number(reader, given["low"], f"{name} low")
        values["high"] = _number(reader, reader.required(given, "high", node, name), f"{name} high")
        if "log" in given:
            values["log"] = reader.boolean(given["log"], f"{name} log")
        if "count" in given:
            values["count"] = int(reader.number(given["count"], f"{name} count", 1, _RUNS_MAX))
    else:
        values["distribution"] = reader.text(given["distribution"], f"{name} distribution")
        values["arguments"] = {key: _number(reader, item, f"{name} {key}") for key, item in own.items()}
    try:
        return Parameter(name, addresses, **values)
    except ParameterError as error:
        raise reader.error(node, name, str(error)) from None


def _number(reader: Reader, node: yaml.Node, name: str) -> float:
    """Any finite number: what it is given to has a range of its own."""
    return reader.number(node, name, -sys.float_info.max, sys.float_info.max)


def _values(reader: Reader, node: yaml.Node, name: str) -> tuple[Any, ...]:
    values = tuple(reader.plain(item, name) for item in reader.items(node, name))
    if not values:
        raise reader.error(node, name, "its list of values is empty")
    return values


def _read_method(reader: Reader, node: yaml.Node, measures: list[str]) -> tuple[str, dict[str, Any]]:
    if isinstance(node, yaml.ScalarNode):
        name = reader.choice(node, "method", tuple(METHODS))
        nodes: dict[str, yaml.Node] = {}
    else:
        found = reader.mapping(node, "method", tuple(METHODS))
        if len(found) != 1:
            raise reader.error(node, "method", f"it names {len(found)} methods", "give one")
        name, inner = next(iter(found.items()))
        nodes = reader.mapping(inner, name, tuple(METHODS[name]))
    options = dict(METHODS[name])
    for key, value in nodes.items():
        if key in _COUNTS:
            options[key] = int(reader.number(value, f"{name} {key}", *_COUNTS[key]))
        elif key == "second_order":
            options[key] = reader.boolean(value, f"{name} {key}")
        else:
            options[key] = reader.choice(value, f"{name} {key}", SAMPLERS if key == "sampler" else tuple(measures))
    missing = [key for key, value in options.items() if value is None]
    if missing:
        raise reader.error(node, name, f"key '{missing[0]}' is missing", f"write {name}: {{{missing[0]}: NUMBER}}")
    if name == OPTIMISATION and bool(options["minimise"]) == bool(options["maximise"]):
        raise reader.error(node, name, "one goal is needed", "give minimise: MEASURE or maximise: MEASURE")
    return name, options
