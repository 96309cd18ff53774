"""Elimination order of the unknowns of a circuit's part, and the sparsity pattern with its fill.

A circuit is almost a tree: most lines join two or three others. Eliminating the line of least cost first (Markowitz,
The elimination form of the inverse, Management Science 3, 1957) proceeds from the leaves and causes hardly any fill.
"""

from collections.abc import Collection, Iterable


class SparsityPattern:
    """Nonzero entries of a matrix off its diagonal.

    Args:
        unknowns: its rows and columns.
    """

    def __init__(self, unknowns: Iterable[int]):
        self._columns: dict[int, set[int]] = {unknown: set() for unknown in unknowns}
        self._rows: dict[int, set[int]] = {unknown: set() for unknown in self._columns}

    def couple(self, rows: Iterable[int], columns: Collection[int]) -> None:
        """Adds an entry in each of the rows and columns given."""
        for row in rows:
            for column in columns:
                if row != column:
                    self._columns[row].add(column)
                    self._rows[column].add(row)

    def eliminate(
        self, first: Collection[int], last: Iterable[int]
    ) -> tuple[list[int], list[list[int]], list[list[int]]]:
        """Eliminates all unknowns: `first` by least cost, then `last` as given; empties the pattern.

        Returns:
            The order; of each unknown, the remaining rows with an entry in its column, fill included; the remaining
            columns with an entry in its row.
        """
        order: list[int] = []
        rows, columns = [], []
        left = set(first)
        after = iter(last)
        while self._rows:
            if left:
                chosen = min(left, key=lambda one: (len(self._rows[one]) * len(self._columns[one]), one))
                left.remove(chosen)
            else:
                chosen = next(after)
            order.append(chosen)
            below, beside = self._take(chosen)
            rows.append(sorted(below))
            columns.append(sorted(beside))
        return order, rows, columns

    def _take(self, unknown: int) -> tuple[set[int], set[int]]:
        rows, columns = self._rows.pop(unknown), self._columns.pop(unknown)
        for row in rows:
            self._columns[row].discard(unknown)
        for column in columns:
            self._rows[column].discard(unknown)
        self.couple(rows, columns)
        return rows, columns
