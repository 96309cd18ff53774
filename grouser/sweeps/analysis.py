"""What a sweep found: statistics, rank correlations, Sobol indices, the best run."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from grouser.physics.base.optional import require_package
from grouser.sweeps import designs
from grouser.sweeps.plan import OPTIMISATION, Plan
from grouser.sweeps.results import Run

_SAMPLED = ("latin_hypercube", "monte_carlo")
_PERCENTILES = {"percentile_5": 5.0, "median": 50.0, "percentile_95": 95.0}
_LEAST = 3  # Runs for a correlation.


def analyse(plan: Plan, runs: Sequence[Run]) -> dict[str, Any]:
    """Returns the findings in plain types; null for what the runs do not give.

    Keys: ``method``, ``runs``, ``failed``, ``failures`` (count by reason), ``measures`` (statistics of each over the
    runs that are ok); for random samples ``rank_correlations`` (Spearman's, by measure and parameter of numbers), for
    Sobol indices ``indices`` (by measure and parameter, with the half width of the 95 % interval) and ``samples`` that
    they rest on, for an optimisation ``best``.

    Raises:
        ParameterError: the package SALib is not installed.
    """
    fine = [run for run in runs if not run.reason]
    document: dict[str, Any] = {
        "method": plan.method,
        "runs": len(runs),
        "failed": len(runs) - len(fine),
        "failures": dict(Counter(run.reason for run in runs if run.reason).most_common()),
        "measures": {one.name: _statistics([run.measures[one.name] for run in fine]) for one in plan.measures},
    }
    if plan.method in _SAMPLED:
        document["rank_correlations"] = _correlations(plan, fine)
    elif plan.method == "sobol_indices":
        document |= _sobol(plan, runs)
    elif plan.method == OPTIMISATION:
        document["best"] = _best(plan, fine)
    return document


def _statistics(values: list[float]) -> dict[str, float | None]:
    names = ("mean", "standard_deviation", "minimum", "maximum", *_PERCENTILES)
    if not values:
        return dict.fromkeys(names)
    array = np.array(values)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else 0.0
    quantiles = np.percentile(array, list(_PERCENTILES.values())).tolist()
    numbers = (float(array.mean()), deviation, float(array.min()), float(array.max()), *quantiles)
    return dict(zip(names, numbers, strict=True))


def _correlations(plan: Plan, runs: list[Run]) -> dict[str, dict[str, float | None]]:
    from scipy.stats import rankdata

    def of(measure: str, parameter: str) -> float | None:
        if len(runs) < _LEAST:
            return None
        x, y = ([source[name] for source in sources] for name, sources in (
            (parameter, [run.settings for run in runs]), (measure, [run.measures for run in runs])
        ))  # fmt: skip
        if min(np.ptp(x), np.ptp(y)) == 0.0:
            return None
        return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])

    numeric = [one.name for one in plan.parameters if one.numeric]
    return {measure.name: {name: of(measure.name, name) for name in numeric} for measure in plan.measures}


def _sobol(plan: Plan, runs: Sequence[Run]) -> dict[str, Any]:
    """Indices by SALib; a failed run takes the sample that it belongs to with it, as the estimator needs all of it."""
    analyser = require_package("SALib.analyze.sobol", "study", "Sobol indices")
    second = plan.options["second_order"]
    names = [one.name for one in plan.parameters]
    size = (2 * len(names) if second else len(names)) + 2
    whole = [block for block in (runs[at : at + size] for at in range(0, len(runs), size))
             if len(block) == size and not any(run.reason for run in block)]  # fmt: skip
    indices: dict[str, Any] = {}
    for measure in plan.measures:
        values = np.array([run.measures[measure.name] for block in whole for run in block])
        if len(whole) < 2 or np.ptp(values) == 0.0:
            indices[measure.name] = None
            continue
        found = analyser.analyze(designs.problem(plan.parameters), values, second, seed=plan.seed)
        keys = {"first": "S1", "first_confidence": "S1_conf", "total": "ST", "total_confidence": "ST_conf"}
        indices[measure.name] = {
            name: {key: _finite(found[source][place]) for key, source in keys.items()}
            for place, name in enumerate(names)
        }
        if second:
            for place, name in enumerate(names):
                indices[measure.name][name]["second"] = {
                    other: {
                        "index": _finite(found["S2"][place][at]),
                        "confidence": _finite(found["S2_conf"][place][at]),
                    }
                    for at, other in enumerate(names)
                    if at > place
                }
    return {"samples": len(whole), "indices": indices}


def _best(plan: Plan, runs: list[Run]) -> dict[str, Any] | None:
    if not runs:
        return None
    most, goal = plan.options["maximise"], plan.options["maximise"] or plan.options["minimise"]
    best = (max if most else min)(runs, key=lambda run: run.measures[goal])
    return {"index": best.index, "settings": dict(best.settings), "measures": dict(best.measures)}


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
