"""Plots of sweeps."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grouser.physics.base.figures import make_figure, save_figure
from grouser.sweeps.parameters import Parameter
from grouser.sweeps.plan import OPTIMISATION, Plan
from grouser.sweeps.results import Run, as_text

_PANEL = (3.6, 2.8)  # Size of a panel [inches].
_PANELS_MAX = 64


def draw(plan: Plan, runs: Sequence[Run], document: Mapping[str, Any], file: str | Path | None = None) -> Any:
    """Draws what a sweep found.

    Sobol indices are bars; an optimisation is its history; a grid of two parameters is a heat map; anything else is
    a panel for each measure over each parameter.

    Args:
        plan: the sweep.
        runs: all of them.
        document: of `analysis.analyse`.
        file: to which it is written as well: png, svg or pdf.

    Returns:
        The figure of matplotlib.

    Raises:
        ParameterError: the file cannot be written, or matplotlib is not installed.
    """
    fine = [run for run in runs if not run.reason]
    if plan.method == "sobol_indices":
        figure = _bars(plan, document["indices"])
    elif plan.method == OPTIMISATION:
        figure = _history(plan, fine)
    elif plan.method == "grid" and len(plan.parameters) == 2 and all(len(one.levels()) > 1 for one in plan.parameters):
        figure = _heat_maps(plan, fine)
    else:
        figure = _scatter(plan, fine)
    if file is not None:
        save_figure(figure, file, "--plot", dpi=130)
    return figure


def _panels(rows: int, columns: int) -> tuple[Any, Any]:
    figure = make_figure(max(_PANEL[0] * columns, 6.0), max(_PANEL[1] * rows, 4.0))
    return figure, figure.subplots(rows, columns, squeeze=False)


def _bars(plan: Plan, indices: Mapping[str, Any]) -> Any:
    names = [one.name for one in plan.parameters]
    figure, panels = _panels(len(plan.measures), 1)
    places = np.arange(len(names))
    for panel, measure in zip(panels[:, 0], plan.measures, strict=True):
        panel.set_title(measure.name, loc="left", fontsize="medium")
        found = indices[measure.name]
        for shift, key, label in ((-0.2, "first", "first order"), (0.2, "total", "total")):
            if found is not None:
                values = [found[name][key] for name in names]
                errors = [found[name][f"{key}_confidence"] or 0.0 for name in names]
                panel.barh(places + shift, values, 0.38, xerr=errors, label=label, capsize=3)
        panel.set_yticks(places, names)
        panel.invert_yaxis()
        panel.set_xlabel("Sobol index [-], with its 95 % interval")
        panel.grid(alpha=0.3, axis="x")
        if found is not None:
            panel.legend(fontsize="small")
    return figure


def _history(plan: Plan, runs: list[Run]) -> Any:
    goal = plan.options["maximise"] or plan.options["minimise"]
    best = np.maximum if plan.options["maximise"] else np.minimum
    figure, panels = _panels(1, 1 + len(plan.parameters))
    numbers, values = [run.index for run in runs], np.array([run.measures[goal] for run in runs])
    first = panels[0, 0]
    first.plot(numbers, values, ".", color="0.6", label="run")
    if len(values):
        first.step(numbers, best.accumulate(values), where="post", label="best so far")
    first.set_xlabel("run")
    first.set_ylabel(goal)
    first.legend(fontsize="small")
    first.grid(alpha=0.3)
    for panel, parameter in zip(panels[0, 1:], plan.parameters, strict=True):
        _points(panel, parameter, goal, runs, numbers)
    return figure


def _scatter(plan: Plan, runs: list[Run]) -> Any:
    pairs = list(itertools.product(plan.measures, plan.parameters))[:_PANELS_MAX]
    columns = len(plan.parameters) if len(plan.parameters) * len(plan.measures) <= _PANELS_MAX else 8
    figure, panels = _panels(-(-len(pairs) // columns), columns)
    for panel, (measure, parameter) in zip(panels.flat, pairs, strict=False):
        _points(panel, parameter, measure.name, runs)
    for panel in panels.flat[len(pairs) :]:
        panel.set_visible(False)
    return figure


def _points(panel: Any, parameter: Parameter, measure: str, runs: list[Run], colors: Any = None) -> None:
    x = [run.settings[parameter.name] for run in runs]
    panel.scatter(
        x if parameter.numeric else [parameter.values.index(value) for value in x],
        [run.measures[measure] for run in runs],
        s=12 if len(runs) < 1000 else 3, c=colors, alpha=0.8, linewidths=0.0,
    )  # fmt: skip
    if not parameter.numeric:
        panel.set_xticks(range(len(parameter.values)), [as_text(value) for value in parameter.values])
    if parameter.log:
        panel.set_xscale("log")
    panel.set_xlabel(parameter.name, fontsize="small")
    panel.set_ylabel(measure, fontsize="small")
    panel.grid(alpha=0.3)


def _heat_maps(plan: Plan, runs: list[Run]) -> Any:
    across, up = plan.parameters
    levels = (across.levels(), up.levels())
    figure, panels = _panels(len(plan.measures), 1)
    for panel, measure in zip(panels[:, 0], plan.measures, strict=True):
        field = np.full((len(levels[1]), len(levels[0])), np.nan)
        for run in runs:
            # Index of a run in a grid whose last parameter changes fastest.
            column, row = divmod(run.index, len(levels[1]))
            field[row, column] = run.measures[measure.name]
        image = panel.imshow(field, origin="lower", aspect="auto")
        figure.colorbar(image, ax=panel, label=measure.name)
        for axis, parameter, own in ((panel.xaxis, across, levels[0]), (panel.yaxis, up, levels[1])):
            step = -(-len(own) // 6)
            texts = [f"{value:.3g}" if parameter.numeric else as_text(value) for value in own]
            axis.set_ticks(range(0, len(own), step), texts[::step])
            axis.set_label_text(parameter.name, fontsize="small")
    return figure
