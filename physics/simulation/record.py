"""Signals over time as arrays, tables and plots."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.figures import make_figure, save_figure
from grouser.physics.base.optional import require_package
from grouser.physics.description.text.names import closest

TIME = "time"
_ENDINGS = (".parquet", ".csv")
_COLUMNS = 2  # of the panels of a plot, from five signals on
_PANEL = (5.0, 2.2)  # size of a panel [inches]


class Record:
    """Signals over time. It holds arrays only, and can be sent to other processes.

    Args:
        time: of the samples [s], (samples,).
        values: a column for each signal, (samples, signals).
        units: of each signal by its name, SI, "-" for none; in the order of the columns.

    Attributes:
        names: of the columns: the signals as they were asked for.
        units: of each name; that of the time is "s".
    """

    def __init__(self, time: np.ndarray, values: np.ndarray, units: Mapping[str, str]):
        self._time, self._values = time, values
        self._name(units)

    def _name(self, units: Mapping[str, str]) -> None:
        self.names = tuple(units)
        self.units = {TIME: "s"} | dict(units)

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s], (samples,)."""
        return self._time

    @property
    def values(self) -> np.ndarray:
        """All samples, (samples, signals)."""
        return self._values

    def __getitem__(self, name: str) -> np.ndarray:
        """Samples of a signal, or the times, (samples,); ParameterError for what was not recorded."""
        if name == TIME:
            return self.time
        if name not in self.names:
            raise ParameterError("recorded signal", name, closest(str(name), (TIME, *self.names)))
        return self.values[:, self.names.index(name)]

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "nothing yet"
        return f"<{type(self).__name__} of {', '.join(self.names)}: {len(self)} samples, {span}>"

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
        count = len(self.names)
        columns = 1 if count <= 2 * _COLUMNS else _COLUMNS
        rows = -(-count // columns)
        figure = make_figure(_PANEL[0] * columns + 1.0, _PANEL[1] * rows + 0.6)
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
            save_figure(figure, file, "file")
        return figure
