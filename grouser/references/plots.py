"""Plots of an experiment with its references: curves in contrast, and all differences beside their tolerance."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, ReferenceTable
from grouser.experiments.protocol import Experiment, Result
from grouser.physics.base.errors import ParameterError
from grouser.references.comparison import Comparison, bands
from grouser.references.data import Case, Column

FILE_TYPES = ("png", "svg", "pdf")
_ROW, _READABLE = 0.16, 60  # height of a difference [inch], and how many have that.
_SHOWN = 3.0  # Differences beyond so many tolerances are drawn at the edge.


def check_plot_file(path: Path | None) -> None:
    """Checks before the computation that a plot can be written.

    Raises:
        ParameterError: another type of file, or no matplotlib.
    """
    if path is None:
        return
    if path.suffix.lower().removeprefix(".") not in FILE_TYPES:
        valid = "a file name that ends in " + ", ".join(f".{name}" for name in FILE_TYPES)
        raise ParameterError("--plot", str(path), valid)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ParameterError("--plot", str(path), "a plot needs matplotlib: pip install matplotlib") from None


def curves_of(experiment: Experiment, cases: Sequence[Case]) -> Reference:
    """The tables of cases as what an experiment's plot draws."""
    names = {address: name for name, address in reversed(list(experiment.REFERENCE.items()))}

    def name_of(column: Column) -> str:
        address = column.address.removeprefix("parameters.")
        return names.get(address, address)

    tables = []
    for table in (table for case in cases for table in case.tables):
        columns = {name_of(column): column.values for column in (table.across, *table.columns)}
        tables.append(ReferenceTable(columns, {name_of(column): bands(column) for column in table.columns}))
    return tuple(tables)


def draw(
    experiment: Experiment,
    parameters: Mapping[str, Any],
    result: Result,
    reference: Reference,
    comparisons: Sequence[Comparison],
    target: Any,
    file_type: str = "png",
) -> None:
    """Draws an experiment, and below it all differences as shares of their tolerances.

    Args:
        experiment: its module.
        parameters: what it got.
        result: what it gave.
        reference: curves and points to draw beside it.
        comparisons: with the references, or none.
        target: path or stream that is written to.
        file_type: one of `FILE_TYPES`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import ScalarFormatter

    strip = 0.9 + _ROW * min(len(comparisons), _READABLE) if comparisons else 0.0
    figure = Figure(figsize=(8.0, 9.0 + strip), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    if comparisons:
        parts: Any = figure.subfigures(2, 1, height_ratios=(9.0, strip))
        upper, lower = parts
        experiment.plot(parameters, result, upper, reference)
        _draw_differences(lower.subplots(), comparisons)
    else:
        experiment.plot(parameters, result, figure, reference)
    for axis in (axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            formatter.set_useOffset(False)
    canvas.print_figure(target, format=file_type, dpi=130)


def _draw_differences(panel: Any, comparisons: Sequence[Comparison]) -> None:
    shares = np.array([item.share for item in comparisons])
    places = np.arange(len(shares))[::-1]
    panel.axvspan(-1.0, 1.0, color="tab:green", alpha=0.15, label="tolerance")
    panel.axvline(0.0, color="black", linewidth=0.8)
    for agrees, color, text in ((True, "tab:green", "agrees"), (False, "tab:red", "disagrees")):
        chosen = np.array([item.agrees is agrees for item in comparisons])
        if chosen.any():
            x = np.clip(np.nan_to_num(shares[chosen], nan=_SHOWN, posinf=_SHOWN), -_SHOWN, _SHOWN)
            panel.plot(x, places[chosen], "o", color=color, markersize=4, label=text)
    panel.set_xlim(-1.1 * _SHOWN, 1.1 * _SHOWN)
    panel.set_ylim(-0.7, len(shares) - 0.3)
    size = "x-small" if len(shares) <= _READABLE else 4
    panel.set_yticks(places, [item.quantity.replace("parameters.", "") for item in comparisons], fontsize=size)
    panel.set_xlabel("difference to the reference, by its tolerance [-]")
    panel.grid(alpha=0.3, axis="x")
    panel.legend(fontsize="x-small", loc="upper right")
