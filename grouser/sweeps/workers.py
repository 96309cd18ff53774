"""Worker processes: all cores of this computer, or those of a dask scheduler."""

import itertools
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.base.optional import require_package
from grouser.sweeps.results import Run
from grouser.trials.measures import Measure
from grouser.trials.trial import Trial

_SPARE = 2  # Runs that wait for each worker: it never waits for the scheduler.
_KILLED = "its worker process ended four times, by a crash or for want of memory"
_PATIENCE = 60.0  # For the first worker of a scheduler [s].


class WorkersError(GrouserError):
    """The scheduler or its workers are no longer there, or cannot run grouser."""


@contextmanager
def started_workers(scheduler: str | None, count: int | None, needed: int) -> Iterator[Any]:
    """The client of a scheduler, local processes ended afterwards.

    Args:
        scheduler: address such as ``tcp://host:8786``; None: worker processes on this computer.
        count: of these; None: one for each core.
        needed: of these at most, as there are no more runs.

    Raises:
        ParameterError: nothing answers at the address, it has no workers, or the package is not installed.
    """
    distributed = require_package("distributed", "study", "a sweep")
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=10.0, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            valid = f"the address of a dask scheduler, such as tcp://host:8786 ({type(error).__name__})"
            raise ParameterError("--scheduler", scheduler, valid) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError:
                raise ParameterError("--scheduler", scheduler, "one with workers: start dask worker") from None
            yield client
        return
    # A run that ends its process takes no other one with it: none waits there.
    with require_package("dask", "study", "a sweep").config.set({"distributed.scheduler.worker-saturation": 1.0}):
        cluster = distributed.LocalCluster(
            n_workers=min(count or len(os.sched_getaffinity(0)), needed),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def outcomes(
    client: Any,
    trial: Trial,
    measures: tuple[Measure, ...],
    runs: Iterable[tuple[int, Mapping[str, Any], Mapping[str, Any]]],
) -> Iterator[list[Run]]:
    """Runs trials on the workers; yields the runs that have ended, in any order, as soon as there are some.

    A run whose worker process has ended is made again by another one, and fails when this happens four times.

    Args:
        client: of dask.
        trial, measures: of all runs.
        runs: index, settings by parameter, and by address.

    Raises:
        WorkersError: the scheduler has gone, or its workers cannot run grouser.
    """
    distributed = require_package("distributed", "study", "a sweep")
    # Names of runs must not meet those of another sweep, or of an earlier one, at the same scheduler.
    session = f"grouser-{os.getpid()}-{time.time_ns()}"
    waiting, pending = iter(runs), {}
    ended = distributed.as_completed(loop=client.loop)

    def submit(count: int) -> None:
        for index, settings, addresses in itertools.islice(waiting, count):
            key = f"{session}-{index}"
            future = client.submit(make_run, trial, measures, index, settings, addresses, key=key, pure=False)
            pending[future.key] = (index, settings)
            ended.add(future)

    submit(_window(client))
    while pending:
        try:
            batch = list(ended.next_batch(block=True))
        except (StopIteration, OSError) as error:
            raise WorkersError(f"the scheduler has gone: {len(pending)} runs wait ({error})") from None
        runs_ended, broken = [], ""
        for future in batch:
            index, settings = pending.pop(future.key)
            failure = future.exception() if future.status == "error" else None
            if future.status == "finished":
                runs_ended.append(future.result())
            elif isinstance(failure, distributed.scheduler.KilledWorker):
                runs_ended.append(Run(index, settings, {}, _KILLED, 0.0))
            else:
                broken = f"run {index} cannot be made: {future.status}: {failure}"
        yield runs_ended
        if broken:
            raise WorkersError(broken)
        submit(max(0, _window(client) - len(pending)))


def make_run(
    trial: Trial,
    measures: tuple[Measure, ...],
    index: int,
    settings: Mapping[str, Any],
    addresses: Mapping[str, Any],
) -> Run:
    """Makes a run, in a worker process.

    Args:
        trial: with its own settings.
        measures: of its record.
        index, settings: of the run.
        addresses: its settings by address.

    Returns:
        What it gave, or why it failed.
    """
    begin = time.perf_counter()
    values: dict[str, float] = {}
    try:
        record = trial.run(addresses)
        values = {measure.name: measure(record) for measure in measures}
        reason = ""
    except Exception as error:  # noqa: BLE001 - a run that fails in any way is a result, and a sweep goes on
        values, reason = {}, f"{type(error).__name__}: {error}"
    return Run(index, settings, values, reason, time.perf_counter() - begin)


def _window(client: Any) -> int:
    """Runs that the scheduler has at one time."""
    return max(1, sum(client.nthreads().values())) * (1 + _SPARE)
