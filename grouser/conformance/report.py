"""Results of the checks: rows, as a table or as JSON."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import Enum

_WIDTHS = (31, 27, 27)
_INDENT = "  "


class Verdict(str, Enum):
    """Result of a check."""

    PASSED = "ok"
    FAILED = "FAILED"
    ABSENT = "absent"  # not offered and not required
    SKIPPED = "skipped"  # could not be checked


@dataclass(frozen=True)
class Row:
    """One check.

    Attributes:
        group: of the checks that it belongs to.
        check: its subject.
        expected: requirement of the interface.
        seen: finding, or the reason why there is none.
        verdict: of both.
    """

    group: str
    check: str
    expected: str
    seen: str
    verdict: Verdict


@dataclass
class Report:
    """The rows of all checks, in the order of their making."""

    rows: list[Row] = field(default_factory=list)

    @property
    def failed(self) -> list[Row]:
        """Rows of failed checks."""
        return self.count(Verdict.FAILED)

    def count(self, verdict: Verdict) -> list[Row]:
        """Rows with a verdict."""
        return [row for row in self.rows if row.verdict == verdict]

    def section(self, group: str) -> "Section":
        """Makes the section for a group of checks."""
        return Section(self, group)

    def lines(self) -> Iterator[str]:
        """The table, at most 100 columns wide, and the summary."""
        group = ""
        for row in self.rows:
            if row.group != group:
                group = row.group
                yield f"{group}:"
            yield from _row_lines(row)
        counts = [f"{len(self.count(verdict))} {word}" for verdict, word in _WORDS.items()]
        yield f"{len(self.rows)} checks: {', '.join(counts)}"

    def as_dictionary(self) -> dict:
        """The report for JSON."""
        return {
            "rows": [{**asdict(row), "verdict": row.verdict.value} for row in self.rows],
            **{word: len(self.count(verdict)) for verdict, word in _WORDS.items()},
        }


_WORDS = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "failed",
    Verdict.ABSENT: "absent",
    Verdict.SKIPPED: "skipped",
}


@dataclass(frozen=True)
class Section:
    """One group of checks of a report."""

    report: Report
    group: str

    def check(self, check: str, expected: str, seen: str, passed: bool) -> None:
        """Adds the result of a check."""
        self._add(check, expected, seen, Verdict.PASSED if passed else Verdict.FAILED)

    def absent(self, check: str, expected: str, seen: str = "not offered") -> None:
        """Adds an optional part that the simulator does not offer."""
        self._add(check, expected, seen, Verdict.ABSENT)

    def skip(self, check: str, expected: str, reason: str) -> None:
        """Adds a check that could not be made."""
        self._add(check, expected, reason, Verdict.SKIPPED)

    def _add(self, check: str, expected: str, seen: str, verdict: Verdict) -> None:
        self.report.rows.append(Row(self.group, check, expected, seen, verdict))


def _row_lines(row: Row) -> Iterator[str]:
    """A row, its cells broken into as many lines as they need."""
    cells = [_wrapped(text, width) for text, width in zip((row.check, row.expected, row.seen), _WIDTHS, strict=True)]
    for number in range(max(len(cell) for cell in cells)):
        parts = [
            (cell[number] if number < len(cell) else "").ljust(width)
            for cell, width in zip(cells, _WIDTHS, strict=True)
        ]
        verdict = row.verdict.value if number == 0 else ""
        yield (_INDENT + _INDENT.join([*parts, verdict])).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this width, as far as the words allow it; types may be broken behind their package."""
    lines = [""]
    for word in re.split(r"(?<= )|(?<=\w/)", text):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]
