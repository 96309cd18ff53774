"""What a sweep found, as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from grouser.sweeps.results import as_text
from grouser.text_table import table

_REASONS = 5  # That are printed.
_WIDTH = 100  # Of a reason [characters].


def report_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of a report of `analysis.analyse`."""
    yield f"{document['runs']} runs, {document['failed']} failed"
    for number, (reason, count) in enumerate(document["failures"].items()):
        if number == _REASONS:
            yield f"  and {len(document['failures']) - _REASONS} other reasons; all are in the table"
            break
        yield f"  {count} x {reason if len(reason) <= _WIDTH else reason[: _WIDTH - 3] + '...'}"
    statistics = {name: values for name, values in document["measures"].items() if values["mean"] is not None}
    if statistics:
        keys = list(next(iter(statistics.values())))
        headings = ["measure", *(key.replace("_", " ") for key in keys)]
        yield ""
        yield from table(headings, [[name, *map(_number, values.values())] for name, values in statistics.items()])
    for measure, by_parameter in document.get("rank_correlations", {}).items():
        if by_parameter:
            yield ""
            rows = [[name, _number(value)] for name, value in by_parameter.items()]
            yield from table([f"rank correlation with {measure}", ""], rows)
    for measure, indices in document.get("indices", {}).items():
        yield ""
        if indices is None:
            yield f"  no Sobol indices of {measure}: it does not vary, or too many runs failed"
            continue
        rows = [
            [name, *(f"{_number(one[key])} ± {_number(one[f'{key}_confidence'])}" for key in ("first", "total"))]
            for name, one in indices.items()
        ]
        yield from table([f"Sobol indices of {measure}", "first order", "total"], rows)
    if document.get("best"):
        best = document["best"]
        yield ""
        rows = [[name, _number(value)] for name, value in {**best["settings"], **best["measures"]}.items()]
        yield from table([f"best run: {best['index']}", ""], rows)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, int | float) and not isinstance(value, bool) else as_text(value)
