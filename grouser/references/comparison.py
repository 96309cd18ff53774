"""Comparison of results with their references."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.experiments.protocol import Experiment, Result, complete_parameters
from grouser.references.data import Case, Column, References, Table, Trend, Value

_GIVEN = "parameters."  # Before the name of a parameter that has a result of the same name.
_ADDRESS = re.compile(r"(?P<name>[^\[\]]+)(?:\[(?P<item>-?\d+)\])?$")
_SAME = 1e-7  # Of the column that a table is over: nearer rows are one, as steps add up with rounding.
_EACH = 8  # Up to this number of rows each is compared on its own, of more the worst is named.


@dataclass(frozen=True)
class Comparison:
    """One line of the comparison.

    Attributes:
        quantity: name of the result, with the place in a table.
        expected: the reference.
        found: the result; None where there was none.
        difference: result less reference; None for what is no number.
        tolerance: the largest difference that agrees; None for what has to be the same.
        count: number of values that were compared; this is the worst of them.
    """

    quantity: str
    expected: Any
    found: Any
    difference: float | None
    tolerance: float | None
    count: int = 1

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        if self.difference is None or self.tolerance is None:
            return bool(self.found == self.expected)
        return abs(self.difference) <= self.tolerance

    @property
    def share(self) -> float:
        """The difference as a share of its tolerance: 0 for the same, infinite for another word or no result."""
        if self.difference is None or not self.tolerance:
            return 0.0 if self.agrees else math.inf
        return self.difference / self.tolerance


def fitting_cases(experiment: Experiment, references: References, parameters: Mapping[str, Any]) -> Iterator[Case]:
    """Yields the cases whose parameters are those of a run, but for free ones and those that tables are over."""
    for case in references.cases:
        expected = complete_parameters(experiment, case.parameters)
        free = {*references.free, *(table.across.address.removeprefix(_GIVEN) for table in case.tables)}
        if all(_same(parameters[name], value) for name, value in expected.items() if name not in free):
            yield case


def compare(case: Case, parameters: Mapping[str, Any], result: Result) -> list[Comparison]:
    """Compares the results of a run with a case's references.

    Args:
        case: fitting to the parameters.
        parameters: what the experiment got.
        result: what it gave.
    """
    lines = [compare_value(value, result) for value in case.values]
    for table in case.tables:
        lines += _compare_table(table, parameters, result)
    return lines + [_compare_trend(trend, result) for trend in case.trends]


def compare_value(value: Value, result: Result) -> Comparison:
    """Compares one value."""
    found = _find(value.address, {}, result, item_of_rows=False)
    if isinstance(found, np.generic):
        found = found.item()
    if isinstance(found, (np.ndarray, tuple)):
        found = list(found)
    numbers = [isinstance(item, (int, float)) and not isinstance(item, bool) for item in (found, value.expected)]
    if not all(numbers):
        return Comparison(value.address, value.expected, found, None, None)
    found = value.factor * found
    width = float(value.tolerance.around(value.expected))
    quantity = _with_unit(value.address, value.unit)
    return Comparison(quantity, value.expected, found, found - value.expected, width)


def _compare_trend(trend: Trend, result: Result) -> Comparison:
    found = _find(trend.address, {}, result, item_of_rows=False)
    changes = np.diff(np.asarray(found, dtype=float))
    way = "falls" if (changes < 0.0).all() else "rises" if (changes > 0.0).all() else "neither"
    return Comparison(trend.address, trend.direction, way, None, None)


def _compare_table(table: Table, parameters: Mapping[str, Any], result: Result) -> Iterator[Comparison]:
    here, there = rows_in_common(table, parameters, result)
    for column in table.columns:
        found = _find(column.address, parameters, result, item_of_rows=True)
        if found is None:
            yield Comparison(column.address, column.values.tolist(), None, None, None)
            continue
        found = column.factor * np.asarray(found, dtype=float)[here]
        expected = column.values[there]
        width = column.tolerance.around(expected)
        places = table.across.values[there]
        shares = np.abs(found - expected) / np.maximum(width, np.finfo(float).tiny)
        chosen: Sequence[int] = range(len(shares)) if len(shares) <= _EACH else [int(np.argmax(shares))]
        for k in chosen:
            yield Comparison(
                f"{_with_unit(column.address, column.unit)} at {table.across.address} {places[k]:.6g}",
                float(expected[k]), float(found[k]), float(found[k] - expected[k]), float(width[k]),
                1 if len(shares) <= _EACH else len(shares),
            )  # fmt: skip


def rows_in_common(table: Table, parameters: Mapping[str, Any], result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the rows of a result and of a table that belong together."""
    own = _find(table.across.address, parameters, result, item_of_rows=True)
    if own is None:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
    own = table.across.factor * np.atleast_1d(np.asarray(own, dtype=float))
    order = np.argsort(own, kind="stable")
    wanted = table.across.values
    after = np.clip(np.searchsorted(own[order], wanted), 0, len(own) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(own[order][before] - wanted) < np.abs(own[order][after] - wanted)
    nearest = order[np.where(nearer, before, after)]
    same = np.abs(own[nearest] - wanted) <= _SAME * np.maximum(np.abs(wanted).max(), _SAME)
    return nearest[same], np.flatnonzero(same)


def bands(column: Column) -> np.ndarray:
    """Half the width of the tolerance around each value of a column."""
    return np.asarray(column.tolerance.around(column.values), dtype=float)


def _find(address: str, parameters: Mapping[str, Any], result: Result, item_of_rows: bool) -> Any:
    """A result, or a parameter that has no result of its name; None where there is none."""
    match = _ADDRESS.match(address)
    assert match is not None
    name, item = match["name"], match["item"]
    found = None if name.startswith(_GIVEN) else result.results.get(name)
    if found is None:
        found = parameters.get(name.removeprefix(_GIVEN))
    if found is None or item is None:
        return found
    return np.asarray(found)[:, int(item)] if item_of_rows else found[int(item)]


def _with_unit(address: str, unit: str) -> str:
    return f"{address} ({unit})" if unit else address


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, (list, tuple, np.ndarray)) or isinstance(second, (list, tuple, np.ndarray)):
        one, other = np.asarray(first), np.asarray(second)
        return one.shape == other.shape and bool((one == other).all())
    return bool(first == second)
