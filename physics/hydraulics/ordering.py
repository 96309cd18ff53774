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
        self, unknowns: Collection[int], last: Iterable[int]
    ) -> tuple[list[int], list[list[int]], list[list[int]]]:
        """Eliminates some of the unknowns by least cost; the pattern of the others gets its fill.

        Args:
            unknowns: to eliminate.
            last: the others.

        Returns:
            The order; of each unknown, the remaining rows with an entry in its column, fill included; the remaining
            columns with an entry in its row. Both are in the order of elimination, then as `last`.
        """
        order: list[int] = []
        rows, columns = [], []
        left = set(unknowns)
        while left:
            chosen = min(left, key=lambda one: (len(self._rows[one]) * len(self._columns[one]), one))
            left.remove(chosen)
            order.append(chosen)
            below, beside = self._take(chosen)
            rows.append(below)
            columns.append(beside)
        place = {unknown: k for k, unknown in enumerate([*order, *last])}
        in_order = place.__getitem__
        return order, [sorted(each, key=in_order) for each in rows], [sorted(each, key=in_order) for each in columns]

    def _take(self, unknown: int) -> tuple[set[int], set[int]]:
        rows, columns = self._rows.pop(unknown), self._columns.pop(unknown)
        for row in rows:
            self._columns[row].discard(unknown)
        for column in columns:
            self._rows[column].discard(unknown)
        self.couple(rows, columns)
        return rows, columns


class MatrixLayout:
    """Places of a matrix's entries in memory: for each eliminated unknown its diagonal, its row and its column.

    The block of the unknowns that are left follows row by row, dense. Entry 0 belongs to no unknown.

    Args:
        order, rows, columns: from `SparsityPattern.eliminate`.
        last: the unknowns that are left.

    Attributes:
        place: index of each unknown.
        pivots: entry of the diagonal of each eliminated unknown; those of its row and of its column follow.
        targets: of each eliminated unknown, the entry of each row below it in each column beside it.
        closing: first entry of the last block.
        size: number of entries.
    """

    def __init__(self, order: list[int], rows: list[list[int]], columns: list[list[int]], last: list[int]):
        self.place = {unknown: k for k, unknown in enumerate([*order, *last])}
        self.pivots: list[int] = []
        self._entry: dict[tuple[int, int], int] = {}
        self.size = 1
        for unknown, below, beside in zip(order, rows, columns, strict=True):
            self.pivots.append(self.size)
            pairs = [(unknown, unknown), *((unknown, one) for one in beside), *((one, unknown) for one in below)]
            self._add(pairs)
        self.closing = self.size
        self._add([(row, column) for row in last for column in last])
        self.targets = [
            [self._entry[row, column] for row in below for column in beside]
            for below, beside in zip(rows, columns, strict=True)
        ]

    def _add(self, pairs: list[tuple[int, int]]) -> None:
        for pair in pairs:
            self._entry[pair] = self.size
            self.size += 1

    def entries(self, rows: Iterable[int], columns: Collection[int]) -> list[list[int]]:
        """Entries of the rows given in the columns given; 0 where there is none."""
        return [[self._entry.get((row, column), 0) for column in columns] for row in rows]
