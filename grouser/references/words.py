"""Comparisons in words: the cells of the table that a command prints and a report shows."""

from collections.abc import Sequence
from typing import Any

from grouser.references.comparison import Comparison

AGREES, DISAGREES = "agrees", "DISAGREES"


def headings(heading: str) -> list[str]:
    """Headings of the table of comparisons; `heading` is that of the references."""
    return ["quantity", heading, "here", "difference", "tolerance", "verdict"]


def cells(comparison: Comparison) -> list[str]:
    """The cells of one comparison."""
    quantity = comparison.quantity.replace("parameters.", "")
    if comparison.count > 1:
        quantity += f" (worst of {comparison.count})"
    difference = "-" if comparison.difference is None else f"{comparison.difference:+.2g}"
    tolerance = "the same" if not comparison.tolerance else f"{comparison.tolerance:.2g}"
    verdict = AGREES if comparison.agrees else DISAGREES
    return [quantity, _text(comparison.expected), _text(comparison.found), difference, tolerance, verdict]


def summary(comparisons: Sequence[Comparison]) -> str:
    """One line on all of them."""
    wrong = sum(not item.agrees for item in comparisons)
    if not comparisons:
        return "nothing to compare: no row of the references has these parameters"
    if wrong:
        return f"{wrong} of {len(comparisons)} values DISAGREE with their reference"
    return f"all {len(comparisons)} values agree with their references"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value[:8]) + (", ..." if len(value) > 8 else "")
    return str(value)
