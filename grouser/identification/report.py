"""What was identified, as text and as plain data."""

import math
from collections.abc import Iterator
from typing import Any

from grouser.identification.identification import Identified, combination
from grouser.text_table import table


def text_of(result: Identified) -> Iterator[str]:
    """Yields the lines of a report."""
    rows = [
        [
            one.parameter.name,
            f"{one.value:.6g}",
            f"{one.lower:.6g} to {one.upper:.6g}",
            f"{one.parameter.lower:g} to {one.parameter.upper:g}",
        ]
        for one in result.estimates
    ]
    yield from table(["parameter", "value", "95 % interval", "bounds"], rows)
    yield ""
    fits = [
        [one.name, str(one.count), f"{one.rms:.4g}", f"{one.sigma:.4g} {'given' if one.sigma_given else 'estimated'}",
         "-" if math.isnan(one.lag_correlation) else f"{one.lag_correlation:.2f}"]
        for one in result.groups
    ]  # fmt: skip
    yield from table(["measured", "values", "rms of residuals", "sigma", "correlation with the next"], fits)
    yield ""
    names = [one.parameter.name for one in result.estimates]
    numbers = [f"{number + 1}" for number in range(len(names))]
    matrix = result.statistics.correlation
    rows = [
        [number, *(_signed(value) for value in row[: place + 1]), *[""] * (len(names) - place - 1), name]
        for place, (number, row, name) in enumerate(zip(numbers, matrix, names, strict=True))
    ]
    yield from table(["correlation", *numbers, ""], rows)
    yield ""
    directions = zip(
        result.statistics.singular_values,
        result.statistics.direction_half_widths,
        result.statistics.directions,
        strict=True,
    )
    rows = [[f"{value:.3g}", f"{half:.2g}", combination(names, direction)] for value, half, direction in directions]
    yield from table(["singular value", "half width", "combination, in shares of the bounds"], rows)
    yield ""
    ends = [
        [
            str(number + 1),
            f"{one.cost:.6g}" if math.isfinite(one.cost) else "failed",
            str(one.evaluations),
            "the same" if result.same_optimum(number) else "",
            *(f"{value:.4g}" for value in _values(result, one.end)),
        ]
        for number, one in enumerate(result.searches)
    ]
    yield from table(["start", "sum of squares", "iterations", "optimum", *numbers], ends)
    same = sum(result.same_optimum(number) for number in range(len(result.searches)))
    yield f"{same} of {len(result.searches)} searches found the optimum, with {result.runs} simulated runs"
    for warning in result.warnings:
        yield f"warning: {warning}"


def document_of(result: Identified) -> dict[str, Any]:
    """The report in plain types; None for what is not finite."""
    statistics = result.statistics
    return {
        "parameters": {
            one.parameter.name: {
                "value": one.value,
                "interval": [_finite(one.lower), _finite(one.upper)],
                "bounds": [one.parameter.lower, one.parameter.upper],
                "logarithmic": bool(one.parameter.logarithmic),
                "at_bound": one.at_bound,
            }
            for one in result.estimates
        },
        "settings": result.settings,
        "machine": result.machine_values,
        "measured": {
            one.name: {
                "values": one.count,
                "rms": one.rms,
                "sigma": one.sigma,
                "sigma_given": one.sigma_given,
                "lag_correlation": _finite(one.lag_correlation),
            }
            for one in result.groups
        },
        "variance": statistics.variance,
        "degrees_of_freedom": statistics.degrees,
        "correlation": [[_finite(value) for value in row] for row in statistics.correlation.tolist()],
        "singular_values": statistics.singular_values.tolist(),
        "directions": statistics.directions.tolist(),
        "direction_half_widths": [_finite(value) for value in statistics.direction_half_widths.tolist()],
        "undetermined": statistics.undetermined.tolist(),
        "searches": [
            {
                "start": _values(result, one.start),
                "end": _values(result, one.end),
                "cost": _finite(one.cost),
                "iterations": one.evaluations,
                "converged": one.converged,
                "same_optimum": result.same_optimum(number),
            }
            for number, one in enumerate(result.searches)
        ],
        "runs": result.runs,
        "warnings": list(result.warnings),
    }


def grouped_settings(result: Identified) -> dict[str, dict[str, float]]:
    """The identified values by the group of their addresses: ``machine`` is what `Machine.replace` takes."""
    found: dict[str, dict[str, float]] = {}
    for address, value in result.settings.items():
        group, _, path = address.partition(".")
        found.setdefault(group if path else "settings", {})[path or address] = value
    return found


def _values(result: Identified, variables: Any) -> list[float]:
    pairs = zip(result.estimates, variables, strict=True)
    return [one.parameter.value(float(variable)) for one, variable in pairs]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.2f}"
