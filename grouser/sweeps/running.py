"""Running a sweep: what its folder does not have yet."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grouser.physics.base.errors import ParameterError
from grouser.sweeps.optimising import Optimiser
from grouser.sweeps.plan import OPTIMISATION, Plan, settings_hash
from grouser.sweeps.results import Results, Run
from grouser.sweeps.workers import outcomes, started_workers

Progress = Callable[[int, int, int], None]


def run_sweep(
    plan: Plan,
    folder: str | Path,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: Progress = lambda done, failed, total: None,
) -> list[Run]:
    """Makes the runs that a folder does not have yet, and joins its table.

    It may be killed at any moment, and be called again: runs that are in the folder are not made again.

    Args:
        plan: the sweep.
        folder: of the results; see `Results`.
        scheduler: address of a dask scheduler; None: processes on this computer.
        workers: count of these processes; None: one for each core.
        progress: called with the counts of runs that have ended, of failures among them, and of all.

    Returns:
        All runs by their index.

    Raises:
        ParameterError: a setting that nothing has, another plan in the folder, or a missing package.
        MachineError: a machine, world or program that cannot be loaded.
        WorkersError: the scheduler has gone; what has ended is in the folder.
    """
    design = plan.design()
    total = plan.options["runs"] if plan.method == OPTIMISATION else len(design)
    plan.check()
    with Results(folder, plan) as results:

        def tell() -> None:
            progress(len(results.runs), sum(bool(run.reason) for run in results.runs.values()), total)

        tell()
        if len(results.runs) < total:
            with started_workers(scheduler, workers, total - len(results.runs)) as client:
                if plan.method == OPTIMISATION:
                    _optimise(plan, results, client, total, tell)
                else:
                    make_missing(plan, results, client, design, 0, tell)
        results.join()
        return [results.runs[index] for index in sorted(results.runs)]


def _optimise(plan: Plan, results: Results, client: Any, total: int, tell: Callable[[], None]) -> None:
    """Asks for a batch, and tells what it gave; batches that are in the folder are told without running them."""
    goal = plan.options["maximise"] or plan.options["minimise"]
    optimiser = Optimiser(plan.parameters, plan.options["sampler"], bool(plan.options["maximise"]), plan.seed)
    for first in range(0, total, plan.options["batch"]):
        settings = optimiser.ask(min(plan.options["batch"], total - first))
        make_missing(plan, results, client, settings, first, tell)
        numbers = range(first, first + len(settings))
        optimiser.tell([results.runs[index].measures.get(goal, math.nan) for index in numbers])


def make_missing(
    plan: Plan, results: Results, client: Any, design: Sequence[dict[str, Any]], first: int, tell: Callable[[], None]
) -> None:
    """Makes the runs of a design that the results do not have.

    Args:
        plan, results: of the sweep.
        client: of dask.
        design: settings of runs by parameter.
        first: index of the first one.
        tell: called after each write.

    Raises:
        ParameterError: a run in the results has other settings than the design.
        WorkersError: the scheduler has gone.
    """
    for index, settings in enumerate(design, first):
        if index in results.runs and settings_hash(results.runs[index].settings) != settings_hash(settings):
            valid = f"one of this design: run {index} has other settings there; other versions of packages made them"
            raise ParameterError("results", str(results.folder), valid)
    missing = (
        (index, settings, plan.at_addresses(settings))
        for index, settings in enumerate(design, first)
        if index not in results.runs
    )
    for runs in outcomes(client, plan.trial, plan.measures, missing):
        results.write(runs)
        tell()
