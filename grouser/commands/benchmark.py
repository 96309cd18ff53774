"""`grouser bench`: measures speed and prints a table; peers are measured in the same run."""

import argparse
import sys
from collections.abc import Sequence

from grouser import benchmarks
from grouser.arguments import Parser
from grouser.benchmarks.figure import Figure, SkippedError, as_json
from grouser.json_output import SCREEN, add_json, check_json_file, write_json

_COLUMNS = f"{'':38}{'grouser':>12}  {'peer':>12}  {'ratio':>7}"


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser bench`.

    Args:
        arguments: what follows the word `bench`.

    Returns:
        The exit status.

    Raises:
        ParameterError: an unknown benchmark, or a file that cannot be written.
    """
    described = "\n".join(f"  {name:18}{benchmarks.load(name).DESCRIPTION}" for name in benchmarks.NAMES)
    parser = Parser(
        prog="grouser bench",
        description="Measures speed. Medians of processor time; the ratio is grouser's by the peer's.",
        epilog=f"benchmarks:\n{described}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all by default")
    add_json(parser)
    parser.add_argument("--details", action="store_true", help="print conditions and checks below each figure")
    options = parser.parse_args(arguments)
    check_json_file(options.json)
    chosen = {name: benchmarks.load(name) for name in options.names or benchmarks.NAMES}
    table = sys.stderr if options.json == SCREEN else sys.stdout
    print(_COLUMNS, file=table)
    figures, skipped = [], {}
    for name, benchmark in chosen.items():
        try:
            for figure in benchmark.run():
                figures.append(figure)
                print(figure_text(figure, options.details), file=table, flush=True)
        except SkippedError as error:
            skipped[name] = str(error)
            print(f"{name}: skipped: {error}", file=table, flush=True)
    if options.json is not None:
        write_json(options.json, as_json(figures, skipped))
    return 0


def figure_text(figure: Figure, with_details: bool) -> str:
    """A figure as a line of the table, with its missed targets, and a line for each detail and target if wanted."""
    line = f"{figure.name:38}{'-' if figure.value is None else _quantity(figure.value, figure.unit):>12}"
    if figure.peer_value is not None:
        ratio = "-" if figure.ratio is None else f"{figure.ratio:.2f}"
        line += f"  {_quantity(figure.peer_value, figure.unit):>12}  {ratio:>7}  {figure.peer}"
    notes = [f"    not possible: {figure.reason}"] if figure.value is None else []
    notes += [f"    missed: {target.text}" for target in figure.targets if not target.met]
    if with_details:
        notes += [f"    met: {target.text}" for target in figure.targets if target.met]
        notes += [f"    {name}: {_rounded(value)}" for name, value in figure.details.items()]
    return "\n".join([line, *notes])


def _quantity(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}" if value < 100.0 else f"{value:.0f} {unit}"


def _rounded(value: float | int | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
