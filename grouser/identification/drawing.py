"""Plots of fits and their residuals."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grouser.identification.measured_run import MeasuredNumber, SampledSignal
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.figures import make_figure, save_figure
from grouser.physics.base.optional import require_package

if TYPE_CHECKING:
    from grouser.identification.identification import Identified

ENDINGS = ("png", "svg", "pdf")
_ROWS = 12  # of panels: more could not be read
_PANEL = (5.0, 2.0)  # size of one [inches]


def check_plot_file(file: Path) -> None:
    """Refuses the name of a plot that cannot be written, before the work; ParameterError."""
    require_package("matplotlib", "study", "a plot")
    if file.suffix.lower().removeprefix(".") not in ENDINGS or not file.absolute().parent.is_dir():
        raise ParameterError("--plot", str(file), f"a file of {', '.join(ENDINGS)} in a folder that exists")


def draw(result: "Identified", file: str | Path | None = None) -> Any:
    """Draws what was measured with what is simulated, and the residuals beside it in their sigmas.

    Args:
        result: of an identification.
        file: to which it is written as well: png, svg or pdf.

    Returns:
        The figure of matplotlib.

    Raises:
        ParameterError: matplotlib is not installed, or the file cannot be written.
    """
    rows = [*_signals(result), *_numbers(result)][:_ROWS]
    figure = make_figure(2.0 * _PANEL[0], _PANEL[1] * len(rows) + 0.6)
    panels = figure.subplots(len(rows), 2, squeeze=False)
    residuals = (result.simulated - result.measured) / result.sigmas
    for (fit, rest), (title, along, across, places, joined) in zip(panels, rows, strict=True):
        fit.plot(across, result.measured[places], "o", markersize=3, color="0.55", label="measured")
        fit.plot(across, result.simulated[places], "-" if joined else "x", color="C0", label="simulated")
        fit.set_title(title, fontsize="medium", loc="left")
        fit.legend(fontsize="small")
        rest.plot(across, residuals[places], "o", markersize=3, color="C0")
        rest.axhspan(-2.0, 2.0, color="0.9")
        rest.set_title("residual / sigma", fontsize="medium", loc="left")
        for panel in (fit, rest):
            panel.grid(alpha=0.3)
            panel.set_xlabel(along)
            panel.xaxis.get_major_locator().set_params(integer=not joined)
    if file is not None:
        save_figure(figure, file, "--plot")
    return figure


def _signals(result: "Identified") -> list[tuple[str, str, np.ndarray, Any, bool]]:
    """A row for each signal of each run: title, label and numbers along x, places of its values, joined or not."""
    several = len(result.comparison.runs) > 1
    return [
        (f"{one.name} ({run.name})" if several else one.name, "time [s]", one.series.time, place, True)
        for run, places in result.measured_runs
        for one, place in zip(run.observations, places, strict=True)
        if isinstance(one, SampledSignal)
    ]


def _numbers(result: "Identified") -> list[tuple[str, str, np.ndarray, Any, bool]]:
    """A row for each measure, through all runs."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for number, (run, places) in enumerate(result.measured_runs):
        for one, place in zip(run.observations, places, strict=True):
            if isinstance(one, MeasuredNumber):
                runs, where = found.setdefault(one.name, ([], []))
                runs.append(number + 1)
                where.append(place.start)
    return [(name, "run", np.array(runs), np.array(where), False) for name, (runs, where) in found.items()]
