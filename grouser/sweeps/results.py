"""The folder of a sweep's results: its plan, and a table of runs that survives a kill at any moment.

`results.parquet` holds the runs in the order of their indices; newer ones are in `parts/`, a file for each write. Each
file is written under another name and renamed when it is complete.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.optional import require_package
from grouser.sweeps.plan import Plan, differences, settings_hash
from grouser.trials.trial import settings_text

OK, FAILED = "ok", "failed"
RESERVED = ("index", "hash", "status", "reason", "seconds")
TABLE = "results.parquet"
_PLAN, _PARTS, _LOCK = "plan.json", "parts", "lock"
_PARTS_MAX = 200  # Files after which they are joined.


@dataclass(frozen=True)
class Run:
    """A run that has ended.

    Attributes:
        index: in the plan.
        settings: by parameter.
        measures: by name; empty for one that failed.
        reason: why it failed; "" otherwise.
        seconds: that it took [s].
    """

    index: int
    settings: Mapping[str, Any]
    measures: Mapping[str, float]
    reason: str
    seconds: float

    @property
    def status(self) -> str:
        """Whether it is ok or failed."""
        return FAILED if self.reason else OK


class Results:
    """The results of a plan in a folder; used in a `with` statement, by one process at a time.

    Args:
        folder: made if there is none.
        plan: that of the folder, if that has one.

    Attributes:
        runs: that have ended, by index.

    Raises:
        ParameterError: the folder holds the results of another plan (the differences are listed), another process
            writes to it, its files are damaged, or the package pyarrow is not installed.
    """

    def __init__(self, folder: str | Path, plan: Plan) -> None:
        self._arrow = require_package("pyarrow", "study", "a table")
        self._parquet = require_package("pyarrow.parquet", "study", "a table")
        self.folder = Path(folder)
        self._plan = plan
        self._schema = self._columns()
        self.runs: dict[int, Run] = {}

    def __enter__(self) -> "Results":
        parts = self.folder / _PARTS
        try:
            parts.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / _LOCK).open("w")
        except OSError as error:
            raise ParameterError(
                "results", str(self.folder), f"a folder that can be written ({error.strerror})"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise ParameterError("results", str(self.folder), "a folder that no other sweep writes to now") from None
        try:
            for unfinished in (*self.folder.glob(".*.tmp"), *parts.glob(".*.tmp")):
                unfinished.unlink()
            self._take_plan()
            for file in self._files():
                self._take(file)
        except BaseException:
            self._lock.close()
            raise
        self._next = 1 + max((int(file.stem) for file in parts.glob("*.parquet")), default=0)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def write(self, runs: Iterable[Run]) -> None:
        """Adds runs that have ended; after the return they are on the disk."""
        new = [run for run in runs if run.index not in self.runs]
        if not new:
            return
        self._save(self.folder / _PARTS / f"{self._next:08d}.parquet", self._table(new))
        self._next += 1
        self.runs |= {run.index: run for run in new}
        if len(self._files()) > _PARTS_MAX:
            self.join()

    def join(self) -> None:
        """Joins all runs in one table, in the order of their indices."""
        parts = [file for file in self._files() if file.name != TABLE]
        if parts or not (self.folder / TABLE).exists():
            tables = [self._parquet.read_table(file, schema=self._schema) for file in self._files()]
            joined = self._arrow.concat_tables([self._schema.empty_table(), *tables])
            _, first = np.unique(joined["index"].to_numpy(), return_index=True)
            self._save(self.folder / TABLE, joined.take(first))
        # A kill before this leaves runs in two files; they are the same, and counted once.
        for file in parts:
            file.unlink()

    def _files(self) -> list[Path]:
        table = self.folder / TABLE
        return [*([table] if table.exists() else []), *sorted((self.folder / _PARTS).glob("*.parquet"))]

    def _take_plan(self) -> None:
        document, file = self._plan.document(), self.folder / _PLAN
        if not file.exists():
            if self._files():
                raise ParameterError("results", str(self.folder), f"a folder with {_PLAN}, or an empty one")
            _write(file, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
            return
        try:
            old = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise ParameterError("results", str(self.folder), f"a folder whose {_PLAN} is whole") from None
        # What JSON makes of the document, for instance of numbers as keys, is in the file.
        changed = differences(old, json.loads(json.dumps(document)))
        if changed:
            listed = "\n  ".join(changed[:20])
            raise ParameterError(
                "results", str(self.folder), f"a folder for this plan; it has another one:\n  {listed}\n"
                "give another folder by --results, or remove this one"
            )  # fmt: skip

    def _columns(self) -> Any:
        arrow = self._arrow
        kinds = [("index", arrow.int64()), ("hash", arrow.string()), ("status", arrow.string())]
        kinds += [("reason", arrow.string()), ("seconds", arrow.float64())]
        kinds += [(one.name, arrow.float64() if one.numeric else arrow.string()) for one in self._plan.parameters]
        kinds += [(one.name, arrow.float64()) for one in self._plan.measures]
        return arrow.schema(kinds)

    def _table(self, runs: list[Run]) -> Any:
        rows = [self._row(run) for run in runs]
        columns = {name: [row[name] for row in rows] for name in self._schema.names}
        return self._arrow.table(columns, schema=self._schema)

    def _save(self, file: Path, table: Any) -> None:
        sink = self._arrow.BufferOutputStream()
        self._parquet.write_table(table, sink)
        _write(file, sink.getvalue().to_pybytes())

    def _row(self, run: Run) -> dict[str, Any]:
        settings = {
            one.name: float(run.settings[one.name]) if one.numeric else as_text(run.settings[one.name])
            for one in self._plan.parameters
        }
        measures = {one.name: run.measures.get(one.name) for one in self._plan.measures}
        own = (run.index, settings_hash(run.settings), run.status, run.reason, run.seconds)
        return {**dict(zip(RESERVED, own, strict=True)), **settings, **measures}

    def _take(self, file: Path) -> None:
        try:
            rows = self._parquet.read_table(file, schema=self._schema).to_pylist()
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).splitlines()[0]
            raise ParameterError("results", str(file), f"a table of this sweep ({reason}); remove it") from None
        for row in rows:
            settings = {one.name: _from_row(one, row[one.name]) for one in self._plan.parameters}
            if settings_hash(settings) != row["hash"]:
                raise ParameterError("results", str(file), f"whole; run {row['index']} does not fit its hash")
            names = [one.name for one in self._plan.measures]
            measures = {name: row[name] for name in names if row[name] is not None}
            self.runs.setdefault(
                row["index"], Run(row["index"], settings, measures, row["reason"], row["seconds"])
            )  # fmt: skip


def as_text(value: Any) -> str:
    """A category as the results have it: a name itself, anything else as JSON."""
    return value if isinstance(value, str) else settings_text(value)


def _from_row(parameter: Any, value: Any) -> Any:
    """The value of a parameter that a row shows."""
    if parameter.values:
        shown = float if parameter.numeric else as_text
        return next((one for one in parameter.values if shown(one) == value), value)
    return value


def _write(file: Path, content: bytes) -> None:
    """Writes a file that is there as a whole or not at all, after a loss of power, too."""
    temporary = file.with_name(f".{file.name}.tmp")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
