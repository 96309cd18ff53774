"""Columns of CSV files. The first line has their names; an empty cell is a number that was not measured then."""

import csv
import math
from pathlib import Path

import numpy as np

from grouser.identification.series import Series
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest


class CsvFile:
    """The columns of a file.

    Args:
        path: of the file.

    Raises:
        ParameterError: it cannot be read, or has no lines of numbers.
    """

    def __init__(self, path: Path):
        self._path = path
        try:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                lines = [line for line in csv.reader(stream, skipinitialspace=True) if any(map(str.strip, line))]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ParameterError("file", str(path), f"a CSV file that can be read ({error})") from None
        if len(lines) < 2:
            raise ParameterError("file", str(path), "a CSV file with a line of names and lines of numbers")
        self.names = tuple(name.strip() for name in lines[0])
        self._lines = lines[1:]

    def __len__(self) -> int:
        return len(self._lines)

    def numbers(self, column: str) -> np.ndarray:
        """Numbers of a column, NaN for empty cells, (lines,).

        Raises:
            ParameterError: there is no such column, or something in it is no number.
        """
        if column not in self.names:
            raise ParameterError(f"column of {self._path.name}", column, closest(column, self.names))
        place = self.names.index(column)
        return np.array([self._number(line, place, number) for number, line in enumerate(self._lines)])

    def series(self, time_column: str, time_size: float, column: str, size: float) -> Series:
        """The samples of a column.

        Args:
            time_column: of the times.
            time_size: their unit [s].
            column: of the values.
            size: their unit.

        Raises:
            ParameterError: as of `numbers` and `Series`.
        """
        time, values = self.numbers(time_column) * time_size, self.numbers(column) * size
        there = ~np.isnan(values)
        return Series(f"{column} in {self._path.name}", time[there], values[there])

    def _number(self, line: list[str], place: int, number: int) -> float:
        text = line[place].strip() if place < len(line) else ""
        if not text:
            return math.nan
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            where = f"column {self.names[place]} in line {number + 2} of {self._path.name}"
            raise ParameterError(where, text, "a finite number, or nothing where none was measured")
        return value
