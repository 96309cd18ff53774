"""`grouser sweep`: many runs of a trial on all cores or a cluster, resumable."""

import sys
from collections.abc import Sequence
from pathlib import Path

from grouser.arguments import Parser
from grouser.json_output import SCREEN, add_json, check_json_file, write_json
from grouser.physics.base.errors import ParameterError
from grouser.progress import CountedWork

PLOT = "plot.png"
_EXIT_FAILED = 1


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser sweep`.

    Args:
        arguments: what follows the word `sweep`.

    Returns:
        The exit status: 1 if no run succeeded, or the scheduler has gone.

    Raises:
        MachineError, ParameterError: the sweep cannot be read or made, or its folder has another plan.
    """
    parser = Parser(
        prog="grouser sweep",
        description="Makes the runs that a file plans, and tells what they found. It can be killed and called again.",
        epilog="Exit status: 0, 1 if no run succeeded or the scheduler has gone, 2 for bad input.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="the sweep, as docs/sweep.md describes")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="default: the file's name with _results")
    parser.add_argument("--workers", type=int, metavar="COUNT", help="processes here; default: one for each core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of dask, such as tcp://host:8786, in their place")
    parser.add_argument("--plot", type=Path, metavar="FILE", help=f"png, svg or pdf; default: {PLOT} in the folder")
    add_json(parser)
    options = parser.parse_args(arguments)
    if options.workers is not None and (options.workers < 1 or options.scheduler is not None):
        valid = "1 or more" if options.scheduler is None else "not with --scheduler, which has its own workers"
        raise ParameterError("--workers", options.workers, valid)
    check_json_file(options.json)

    # These import the simulation and its compiler.
    from grouser.sweeps.analysis import analyse
    from grouser.sweeps.plots import draw
    from grouser.sweeps.reading import load_sweep
    from grouser.sweeps.report import report_lines
    from grouser.sweeps.results import TABLE
    from grouser.sweeps.running import run_sweep
    from grouser.sweeps.workers import WorkersError

    plan = load_sweep(options.file)
    folder = options.results or Path(f"{options.file.stem}_results")
    try:
        with CountedWork("runs") as work:
            runs = run_sweep(plan, folder, options.scheduler, options.workers, work.show)
    except WorkersError as error:
        print(f"grouser sweep: {error}; the same command goes on with what is in {folder}", file=sys.stderr)
        return _EXIT_FAILED
    document = analyse(plan, runs)
    plot = options.plot or folder / PLOT
    draw(plan, runs, document, plot)
    if options.json is not None:
        write_json(options.json, {"table": str(folder / TABLE), "plot": str(plot), **document})
    if options.json != SCREEN:
        print(*report_lines(document), f"table: {folder / TABLE}, plot: {plot}", sep="\n")
    return _EXIT_FAILED if runs and document["failed"] == len(runs) else 0
