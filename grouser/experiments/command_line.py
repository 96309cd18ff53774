"""`grouser reproduce`: lists the experiments, runs one, writes its numbers and its plot."""

import argparse
import csv
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from grouser import experiments
from grouser.experiments.protocol import Experiment, Result, as_json, complete_parameters
from grouser.physics.base.errors import ParameterError
from grouser.progress import showing_compilation
from grouser.text_table import table

_SWEEP = "sweep_"
_TABLE = "a CSV file with one line of headings and lines with as many numbers"


class _Loader(yaml.SafeLoader):
    """YAML in which 1e-3 is a number; YAML 1.1 reads it as a string, because its mantissa has no point."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[+-]?(?:[0-9]+\.?|\.[0-9]+)[eE][+-]?[0-9]+$"), list("+-.0123456789")
)


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser reproduce`.

    Args:
        arguments: what follows the word `reproduce`.

    Returns:
        The exit status.

    Raises:
        ParameterError: an unknown experiment or parameter, or a bad value.
        DivergenceError: the simulation left the finite numbers.
    """
    parser = argparse.ArgumentParser(
        prog="grouser reproduce", description="Runs a published result; without a name, lists them."
    )
    parser.add_argument("experiment", nargs="?", help="its name")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; VALUE is YAML")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write parameters, results, units; - for the screen")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the paper's axes (png, svg or pdf)")
    parser.add_argument("--reference", type=Path, metavar="FILE.csv", help="a reference curve to lay beside them")
    parser.add_argument("--parameters", action="store_true", help="list the experiment's parameters and do not run it")
    options = parser.parse_args(arguments)
    if options.experiment is None:
        _list_experiments()
        return 0
    experiment = experiments.load(options.experiment)
    if options.parameters:
        _list_parameters(experiment)
        return 0
    reference = None if options.reference is None else read_reference(options.reference)
    _check_writable(options.json, options.plot)
    parameters = complete_parameters(experiment, read_settings(options.set))
    with showing_compilation():
        result = experiment.run(**parameters)
    document = as_json(options.experiment, parameters, result)
    if options.json is not None:
        text = json.dumps(document, indent=1, allow_nan=False)
        if str(options.json) == "-":
            print(text)
        else:
            _write(options.json, text + "\n")
    if str(options.json) != "-":
        _print_results(document)
    if options.plot is not None:
        _draw(experiment, parameters, result, reference, options.plot)
    return 0


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Returns the values of ``name=value`` texts, read as YAML.

    Raises:
        ParameterError: one is not of that form, is not YAML, or names a parameter again.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ParameterError("--set", setting, "write name=value")
        if name in values:
            raise ParameterError(name, text, "it is set twice")
        try:
            values[name] = yaml.load(text, _Loader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise ParameterError(name, text, "a value in YAML, for instance 3.5 or [[0, 0], [1, 0.5]]") from None
    return values


def read_reference(path: Path) -> dict[str, np.ndarray]:
    """Returns the columns of a CSV file with one line of headings.

    Raises:
        ParameterError: it cannot be read, or a line does not hold one number per heading.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            lines = [line for line in csv.reader(stream) if line and not line[0].lstrip().startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError("--reference", str(path), f"a CSV file that can be read ({error})") from None
    if len(lines) < 2:
        raise ParameterError("--reference", str(path), _TABLE)
    try:
        numbers = np.array([[float(cell) for cell in line] for line in lines[1:]])
    except ValueError:
        raise ParameterError("--reference", str(path), _TABLE) from None
    if numbers.ndim != 2 or numbers.shape[1] != len(lines[0]):
        raise ParameterError("--reference", str(path), _TABLE)
    return {heading.strip(): numbers[:, column] for column, heading in enumerate(lines[0])}


def _list_experiments() -> None:
    width = max(24, *(len(name) + 2 for name in experiments.NAMES))
    for name in experiments.NAMES:
        print(f"{name:{width}}{experiments.load(name).DESCRIPTION}")
    print("\ngrouser reproduce NAME --parameters lists what --set NAME=VALUE can change")


def _list_parameters(experiment: Experiment) -> None:
    print(experiment.DESCRIPTION)
    for name, parameter in experiment.PARAMETERS.items():
        print(f"  {name:26}{json.dumps(parameter.default):16}  {parameter.description}; {parameter.valid()}")


def _print_results(document: Mapping[str, Any]) -> None:
    columns = []
    for name, value in document["results"].items():
        unit = "" if document["units"][name] == "-" else f" {document['units'][name]}"
        if name.startswith(_SWEEP):
            heading = name.removeprefix(_SWEEP).replace("_", " ") + (f" [{unit.strip()}]" if unit else "")
            columns.append([heading, *(f"{item:.4g}" if isinstance(item, float) else str(item) for item in value)])
        elif isinstance(value, list):
            print(f"{name:32}{len(value)} values{' in' if unit else ''}{unit}")
        else:
            print(f"{name:32}{f'{value:.9g}' if isinstance(value, float) else value}{unit}")
    if columns:
        headings, *rows = zip(*columns, strict=True)
        print("", *table(headings, rows), sep="\n")


def _check_writable(*paths: Path | None) -> None:
    """Checks before the run that a file can be written."""
    for path in paths:
        if path is not None and str(path) != "-" and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ParameterError("output file", str(path), "a file name in a directory that exists")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError("--json", str(path), f"a file that can be written ({error.strerror})") from None


def _draw(experiment: Experiment, parameters: dict, result: Result, reference: dict | None, path: Path) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("--plot", str(path), "a plot needs matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(8.0, 9.0), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    experiment.plot(parameters, result, figure, reference)
    try:
        canvas.print_figure(path, dpi=130)
    except (OSError, ValueError) as error:
        raise ParameterError("--plot", str(path), f"a png, svg or pdf file that can be written ({error})") from None
    print(f"plot written to {path}", file=sys.stderr)
