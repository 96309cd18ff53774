"""`grouser identify`: fits parameters of a machine or world to measurements."""

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from grouser.arguments import Parser
from grouser.identification.drawing import check_plot_file
from grouser.identification.reading import load_identification
from grouser.identification.report import document_of, grouped_settings, text_of
from grouser.json_output import SCREEN, add_json, check_json_file, write_json
from grouser.physics.base.errors import ParameterError
from grouser.progress import showing_work


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser identify`.

    Args:
        arguments: what follows the word `identify`.

    Returns:
        The exit status.

    Raises:
        GrouserError: the file, its data or the machine cannot be used, or the simulation fails.
    """
    parser = Parser(
        prog="grouser identify",
        description="Fits parameters of a machine or world to measurements by nonlinear least squares.",
    )
    parser.add_argument("file", type=Path, help="YAML file (docs/identify.md)", metavar="FILE.yaml")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw fit and residuals (png, svg or pdf)")
    parser.add_argument("--output", type=Path, metavar="VALUES.yaml", help="write the identified values")
    parser.add_argument("--processes", type=int, default=0, help="that simulate; default: one for each core")
    add_json(parser)
    options = parser.parse_args(arguments)
    if options.processes < 0:
        parser.error("--processes is at least 0")
    if options.plot is not None:
        check_plot_file(options.plot)
    if options.output is not None and not options.output.absolute().parent.is_dir():
        raise ParameterError("--output", str(options.output), "a file name in a directory that exists")
    check_json_file(options.json)
    with showing_work(f"identification of {options.file.name}"):
        result = load_identification(options.file, options.processes).run()
    if options.output is not None:
        _write(options.output, yaml.safe_dump(grouped_settings(result), sort_keys=False))
    if options.plot is not None:
        result.plot(options.plot)
    if options.json is not None:
        write_json(options.json, document_of(result))
    if options.json != SCREEN:
        print(*text_of(result), sep="\n")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError("--output", str(path), f"a file that can be written ({error.strerror})") from None
    print(f"identified values written to {path}", file=sys.stderr)
