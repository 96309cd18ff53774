"""Signals over time: recorded while a simulation steps, as arrays, tables and plots."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.optional import require_package
from grouser.physics.description.text.names import closest
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.signals import Signal, values_of

TIME = "time"
_ENDINGS = (".parquet", ".csv")
_COLUMNS = 2  # of the panels of a plot, from five signals on
_PANEL = (5.0, 2.2)  # size of a panel [inches]


class SignalRecord:
    """Signals of a simulation, sampled while it steps; `Simulation.record` makes it.

    The first sample is that of the time at which it begins. After a reset, or the restoring of an earlier state, the
    samples of later times are dropped: a record has one value for each time.

    Args:
        engine: of the simulation.
        signals: what is sampled.
        interval: of the samples [steps].
        stopped: called by `stop`.

    Attributes:
        names: of the columns: the signals as they were asked for.
        units: of each name; that of the time is "s".
    """

    def __init__(self, engine: Engine, signals: Sequence[Signal], interval: int, stopped: Callable[[Any], None]):
        self._engine, self._signals, self._interval, self._stopped = engine, signals, interval, stopped
        self.names = tuple(signal.name for signal in signals)
        self.units = {TIME: "s"} | {signal.name: signal.unit for signal in signals}
        self._steps: list[int] = []
        self._rows: list[list[float]] = []
        self._begin = engine.step_count
        self.sample()

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s], (samples,)."""
        return np.array(self._steps, dtype=float) * self._engine.step_size

    @property
    def values(self) -> np.ndarray:
        """All samples, (samples, signals)."""
        return np.array(self._rows, dtype=float).reshape(len(self._rows), len(self.names))

    def __getitem__(self, name: str) -> np.ndarray:
        """Samples of a signal, or the times, (samples,); ParameterError for what was not recorded."""
        if name == TIME:
            return self.time
        if name not in self.names:
            raise ParameterError("recorded signal", name, closest(str(name), (TIME, *self.names)))
        return self.values[:, self.names.index(name)]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if self._rows else "nothing yet"
        every = f"every {self._interval * self._engine.step_size:g} s"
        return f"<SignalRecord of {', '.join(self.names)}: {len(self)} samples, {span}, {every}>"

    def to_arrow(self) -> Any:
        """The samples as a table of Arrow, a column each, `time` first; units are in the fields' metadata.

        Raises:
            ParameterError: the package pyarrow is not installed.
        """
        arrow = require_package("pyarrow", "study", "a table")
        columns = {name: self[name] for name in (TIME, *self.names)}
        fields = [arrow.field(name, arrow.float64(), metadata={"unit": self.units[name]}) for name in columns]
        return arrow.table([arrow.array(values) for values in columns.values()], schema=arrow.schema(fields))

    def save(self, file: str | Path) -> None:
        """Writes the samples to a file, .parquet or .csv.

        Raises:
            ParameterError: another ending, a file that cannot be written, or pyarrow is not installed.
        """
        path = Path(file)
        if path.suffix not in _ENDINGS:
            raise ParameterError("file", str(file), f"a name that ends in {' or '.join(_ENDINGS)}")
        try:
            if path.suffix == ".csv":
                names = ",".join((TIME, *self.names))
                data = np.column_stack([self.time, self.values])
                np.savetxt(path, data, delimiter=",", header=names, comments="", fmt="%.17g")
            else:
                require_package("pyarrow.parquet", "study", "a table").write_table(self.to_arrow(), path)
        except OSError as error:
            raise ParameterError("file", str(file), f"one that can be written ({error.strerror})") from None

    def plot(self, file: str | Path | None = None) -> Any:
        """Draws the signals over time, a panel each, and returns the figure of matplotlib.

        Args:
            file: to which it is written as well: png, svg or pdf.

        Raises:
            ParameterError: the package matplotlib is not installed, or the file cannot be written.
        """
        figure_type = require_package("matplotlib.figure", "study", "a plot").Figure
        count = len(self.names)
        columns = 1 if count <= 2 * _COLUMNS else _COLUMNS
        rows = -(-count // columns)
        figure = figure_type(figsize=(_PANEL[0] * columns + 1.0, _PANEL[1] * rows + 0.6), layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for panel, name in zip(panels.flat, self.names, strict=False):
            panel.plot(self.time, self[name], linewidth=1.2, marker="o" if len(self) == 1 else "")
            panel.set_ylabel(f"[{self.units[name]}]")
            panel.set_title(name, fontsize="medium", loc="left")
            panel.grid(alpha=0.3)
        for panel in panels.flat[count:]:
            panel.set_visible(False)
        for panel in panels[-1]:
            panel.set_xlabel("time [s]")
        if file is not None:
            try:
                figure.savefig(file, dpi=150)
            except (OSError, ValueError) as error:
                raise ParameterError("file", str(file), f"a file name of png, svg or pdf ({error})") from None
        return figure

    def stop(self) -> None:
        """Ends the recording; the samples stay."""
        self._stopped(self)

    # --- called by the engine ---------------------------------------------------------------------------------------

    def steps_to_sample(self) -> int:
        """Steps to the next sample."""
        return self._interval - (self._engine.step_count - self._begin) % self._interval

    def sample(self) -> None:
        """Takes a sample if the present step is one of its steps."""
        step = self._engine.step_count
        if (step - self._begin) % self._interval == 0 and (not self._steps or step > self._steps[-1]):
            self._rows.append(values_of(self._signals))
            self._steps.append(step)

    def rewind(self) -> None:
        """Drops the samples of times after the present."""
        while self._steps and self._steps[-1] > self._engine.step_count:
            self._steps.pop()
            self._rows.pop()
        if not self._steps:
            self._begin = self._engine.step_count
            self.sample()
