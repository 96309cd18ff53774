"""`grouser reproduce`: lists the experiments, runs one or all, and compares them with their references."""

import argparse
import datetime
import io
import json
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from grouser import __version__, experiments
from grouser.arguments import Parser
from grouser.experiments.drawing import Reference, ReferenceTable
from grouser.experiments.protocol import Experiment, Result, as_json, complete_parameters
from grouser.json_output import SCREEN, add_json, check_json_file, write_json
from grouser.physics.base.errors import ConvergenceError, DivergenceError, MachineError, ParameterError
from grouser.physics.description.text.yaml_reader import PlainLoader
from grouser.progress import showing_work
from grouser.references.comparison import Comparison, compare, fitting_cases
from grouser.references.data import Case, References
from grouser.references.plots import check_plot_file, curves_of, draw
from grouser.references.reader import load_references, read_columns
from grouser.references.report import Section, report_page
from grouser.references.words import cells, headings, summary
from grouser.text_table import table

_SWEEP = "sweep_"
_TABLE_ROWS = 30  # Lists up to this length are printed, longer ones counted.
_WIDTH = 110  # Of running text [characters].
_EXIT_DISAGREES = 1


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser reproduce`.

    Args:
        arguments: what follows the word `reproduce`.

    Returns:
        The exit status: 1 where a result disagrees with its reference.

    Raises:
        ParameterError: an unknown experiment or parameter, or a bad value.
        DivergenceError: the simulation left the finite numbers.
    """
    parser = argument_parser()
    options = parser.parse_args(arguments)
    if options.all:
        if options.experiment is not None or options.set or options.json or options.plot or options.reference:
            raise ParameterError("--all", True, "alone or with --report: it runs every experiment as it is")
        return _reproduce_all(options.report or Path("reproduced.html"))
    if options.report is not None:
        raise ParameterError("--report", str(options.report), "with --all; one experiment is drawn by --plot")
    if options.experiment is None:
        _list_experiments(options.json)
        return 0
    experiment = experiments.load(options.experiment)
    references = _references(options.experiment)
    if options.parameters:
        _list_parameters(experiment, references, options.json)
        return 0
    check_plot_file(options.plot)
    own = () if options.reference is None else (read_reference(options.reference, experiment),)
    check_json_file(options.json)
    _check_writable(options.plot)
    case = None if options.case is None else _case_named(references, options.case)
    settings = (dict(case.parameters) if case else {}) | read_settings(options.set)
    parameters = complete_parameters(experiment, settings)
    with showing_work(options.experiment):
        result = experiment.run(**parameters)
    cases = [] if references is None else list(fitting_cases(experiment, references, parameters))
    comparisons = [item for fitting in cases for item in compare(fitting, parameters, result)]
    document = as_json(options.experiment, parameters, result)
    on_screen = options.json == SCREEN
    if options.json is not None:
        shown = document | {"comparisons": [_comparison_document(item) for item in comparisons]}
        write_json(options.json, shown)
    if not on_screen:
        _print_results(document)
        _print_comparisons(references, comparisons)
    if options.plot is not None:
        reference = own or curves_of(experiment, cases)
        _draw_to_file(experiment, parameters, result, reference, comparisons, options.plot)
    return 0 if all(item.agrees for item in comparisons) else _EXIT_DISAGREES


def argument_parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    parser = Parser(
        prog="grouser reproduce",
        description="Runs a published result and compares it with its reference; without a name, lists them.",
        epilog="Exit status: 0 where all agrees, 1 where a value disagrees with its reference, 2 for bad input.",
    )
    parser.add_argument("experiment", nargs="?", help="its name", metavar="experiment")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; VALUE is YAML")
    parser.add_argument("--case", metavar="NAME", help="the parameters of one of the cases of its references")
    add_json(parser)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the paper's axes (png, svg or pdf)")
    parser.add_argument("--reference", type=Path, metavar="FILE.csv", help="a reference curve to draw instead of ours")
    parser.add_argument("--parameters", action="store_true", help="list the experiment's parameters and do not run it")
    parser.add_argument("--all", action="store_true", help="run all cases of all experiments, and write a report")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="of --all; reproduced.html by default")
    return parser


def read_reference(path: Path, experiment: Experiment) -> ReferenceTable:
    """Returns the columns of a CSV file that an experiment can draw.

    Raises:
        ParameterError: it cannot be read, or has no column that the experiment draws over another one.
    """
    columns = read_columns(path)
    drawn = list(experiment.REFERENCE)
    if not drawn:
        raise ParameterError("--reference", str(path), "nothing: this experiment draws no reference curve")
    if drawn[0] not in columns or not set(drawn[1:]) & set(columns):
        valid = f"a CSV file with the column {drawn[0]} and some of {', '.join(drawn[1:])}; it has {', '.join(columns)}"
        raise ParameterError("--reference", str(path), valid)
    return ReferenceTable(columns)


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
            values[name] = yaml.load(text, PlainLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise ParameterError(name, text, "a value in YAML, for instance 3.5 or [[0, 0], [1, 0.5]]") from None
    return values


def _reproduce_all(report: Path) -> int:
    _check_writable(report)
    check_plot_file(Path("plot.png"))
    sections = []
    for name in experiments.NAMES:
        references = _references(name)
        for case in references.cases if references else (Case("", {}, (), (), ()),):
            section = _run_section(name, references, case)
            print(f"{name}, {case.name}: {section.verdict} ({section.seconds:.1f} s)", flush=True)
            sections.append(section)
    day = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    _write(report, report_page(sections, f"grouser {__version__}, {day}"), "--report")
    wrong = sum(not section.agrees for section in sections)
    print(f"{len(sections) - wrong} of {len(sections)} runs agree with their references; report written to {report}")
    return _EXIT_DISAGREES if wrong else 0


def _run_section(name: str, references: References | None, case: Case) -> Section:
    experiment = experiments.load(name)
    begin, picture, comparisons, failure = time.perf_counter(), io.BytesIO(), [], ""
    try:
        parameters = complete_parameters(experiment, case.parameters)
        with showing_work(f"{name}, {case.name}"):
            result = experiment.run(**parameters)
        comparisons = compare(case, parameters, result)
        draw(experiment, parameters, result, curves_of(experiment, [case]), comparisons, picture)
    except (MachineError, ParameterError, ConvergenceError, DivergenceError, ModuleNotFoundError) as error:
        failure = str(error)
    return Section(
        name, experiment.DESCRIPTION, case.name, case.parameters, references, comparisons,
        picture.getvalue(), time.perf_counter() - begin, failure,
    )  # fmt: skip


def _references(name: str) -> References | None:
    try:
        return load_references(name)
    except FileNotFoundError:
        return None


def _case_named(references: References | None, name: str) -> Case:
    cases = {} if references is None else {case.name: case for case in references.cases}
    if name not in cases:
        raise ParameterError("--case", name, "one of " + ", ".join(cases) if cases else "no cases are known")
    return cases[name]


def _comparison_document(item: Comparison) -> dict[str, Any]:
    return {
        "quantity": item.quantity,
        "reference": item.expected,
        "here": item.found,
        "difference": item.difference,
        "tolerance": item.tolerance,
        "agrees": item.agrees,
    }


def _print_comparisons(references: References | None, comparisons: Sequence[Comparison]) -> None:
    if references is None:
        return
    print()
    for text in (f"{references.heading.capitalize()}: {references.source}", references.standing):
        print(*textwrap.wrap(text, _WIDTH), sep="\n", end="\n" if text else "")
    if not comparisons:
        names = ", ".join(f"--case {case.name}" for case in references.cases)
        print(f"not compared: the references have other parameters ({names})")
        return
    print(*table(headings(references.heading), [cells(item) for item in comparisons]), sep="\n")
    print(summary(comparisons))


def _list_experiments(json_target: str | None) -> None:
    if json_target is not None:
        write_json(json_target, {name: experiments.load(name).DESCRIPTION for name in experiments.NAMES})
    if json_target == SCREEN:
        return
    width = max(24, *(len(name) + 2 for name in experiments.NAMES))
    for name in experiments.NAMES:
        print(f"{name:{width}}{experiments.load(name).DESCRIPTION}")
    print("\ngrouser reproduce NAME --parameters lists what --set NAME=VALUE can change")


def _list_parameters(experiment: Experiment, references: References | None, json_target: str | None) -> None:
    if json_target is not None:
        parameters = {
            name: {"default": parameter.default, "description": parameter.description, "valid": parameter.valid()}
            for name, parameter in experiment.PARAMETERS.items()
        }
        cases = {case.name: dict(case.parameters) for case in references.cases} if references is not None else {}
        write_json(json_target, {"parameters": parameters, "cases": cases})
    if json_target == SCREEN:
        return
    print(experiment.DESCRIPTION)
    for name, parameter in experiment.PARAMETERS.items():
        print(f"  {name:26}{json.dumps(parameter.default):16}  {parameter.description}; {parameter.valid()}")
    if references is not None:
        print("cases of its references, for --case:")
        for case in references.cases:
            given = ", ".join(f"{name}={value}" for name, value in case.parameters.items())
            print(f"  {case.name:26}{given or 'the defaults'}")


def _print_results(document: Mapping[str, Any]) -> None:
    """Numbers one by one, short lists of one length as a table."""
    tables: dict[int, list[list[str]]] = {}
    for name, value in document["results"].items():
        unit = "" if document["units"][name] == "-" else f" {document['units'][name]}"
        swept = name.startswith(_SWEEP)
        if isinstance(value, list) and value and (swept or len(value) <= _TABLE_ROWS) and not _has_parts(value):
            heading = name.removeprefix(_SWEEP).replace("_", " ") + (f" [{unit.strip()}]" if unit else "")
            tables.setdefault(len(value), []).append([heading, *(_cell(item) for item in value)])
        elif isinstance(value, list):
            print(f"{name:32}{_sizes(value)}{unit}")
        elif isinstance(value, dict):
            print(f"{name:32}" + ", ".join(f"{key} {_cell(item)}" for key, item in value.items()) + unit)
        else:
            print(f"{name:32}{f'{value:.9g}' if isinstance(value, float) else value}{unit}")
    for columns in tables.values():
        headings_, *rows = zip(*columns, strict=True)
        print("", *table(headings_, rows), sep="\n")


def _has_parts(values: list) -> bool:
    return any(isinstance(item, (list, dict)) for item in values)


def _sizes(values: list) -> str:
    """What is in a list that is too long, or too deep, to be printed."""
    if 0 < len(values) <= _TABLE_ROWS and all(isinstance(item, list) and len(item) <= _TABLE_ROWS for item in values):
        return "; ".join(", ".join(_cell(item) for item in row) for row in values)
    return f"{len(values)} values, in --json,"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _check_writable(*paths: Path | None) -> None:
    """Checks before the run that a file can be written."""
    for path in paths:
        if path is not None and str(path) != "-" and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ParameterError("output file", str(path), "a file name in a directory that exists")


def _write(path: Path, text: str, name: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(name, str(path), f"a file that can be written ({error.strerror})") from None


def _draw_to_file(
    experiment: Experiment,
    parameters: Mapping[str, Any],
    result: Result,
    reference: Reference,
    comparisons: Sequence[Comparison],
    path: Path,
) -> None:
    try:
        draw(experiment, parameters, result, reference, comparisons, path, path.suffix.lower().removeprefix("."))
    except OSError as error:
        raise ParameterError("--plot", str(path), f"a file that can be written ({error.strerror})") from None
    print(f"plot written to {path}", file=sys.stderr)
