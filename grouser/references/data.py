"""Reference values of an experiment as frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from its reference: by the larger of a share of the reference and a fixed amount."""

    relative: float = 0.0
    absolute: float = 0.0

    def around(self, value: Any) -> Any:
        """The width to either side of a number or an array."""
        return np.maximum(self.relative * np.abs(value), self.absolute)


@dataclass(frozen=True)
class Value:
    """One number, word, truth or list.

    Attributes:
        address: of the result: its name, and `[k]` for an item of a list or array.
        expected: the reference; words, truths and lists have to be the same.
        tolerance: of a number.
        factor: what the result is multiplied with before it is compared, for another unit.
        unit: that unit, where it is not the result's.
    """

    address: str
    expected: Any
    tolerance: Tolerance
    factor: float = 1.0
    unit: str = ""


@dataclass(frozen=True)
class Trend:
    """A list that only falls or only rises.

    Attributes:
        address: of the result: its name, and `[k]` for a list of lists.
        direction: "falls" or "rises".
    """

    address: str
    direction: str


@dataclass(frozen=True)
class Column:
    """A column of a table: results over one that increases, or the steps of a parameter.

    Attributes:
        address: of the result: its name, and `[k]` for a column of an array.
        values: the reference.
        tolerance: of each of them.
        factor, unit: as of a `Value`.
    """

    address: str
    values: np.ndarray
    tolerance: Tolerance
    factor: float = 1.0
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Columns over a first one; rows at which there is no result are not compared."""

    across: Column
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Case:
    """References at certain parameters.

    Attributes:
        name: of the case.
        parameters: those that differ from the defaults.
        values: single values.
        tables: tables and curves.
        trends: lists of which a publication says only how they go.
    """

    name: str
    parameters: Mapping[str, Any]
    values: tuple[Value, ...]
    tables: tuple[Table, ...]
    trends: tuple[Trend, ...]


@dataclass(frozen=True)
class References:
    """What is known of an experiment.

    Attributes:
        heading: "published" where the publication gives the values, else "reference".
        source: where they come from.
        standing: why another reference stands in for the publication's own figure, or an empty text.
        free: parameters of the method and of the extent, which the values do not depend on beyond their tolerance.
        cases: the first is that of the defaults.
    """

    heading: str
    source: str
    standing: str
    free: tuple[str, ...]
    cases: tuple[Case, ...]
