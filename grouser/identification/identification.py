"""An identification: searches for the parameters, and what is known about them at the optimum."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

from grouser.identification.derivatives import Evaluate, central_jacobian
from grouser.identification.drawing import draw
from grouser.identification.measured_run import Group, MeasuredRun, groups_of
from grouser.identification.parameters import FitParameter, settings_of
from grouser.identification.searching import Search, search, search_from_all, spread_starts
from grouser.identification.simulating import Comparison, Simulations
from grouser.identification.statistics import Statistics, lag_correlation, statistics_of, widening
from grouser.physics.base.errors import ParameterError

_ROUNDS = 5  # of estimating sigmas
_SETTLED = 0.02  # change of a sigma after which there are no more
_LEAST_SIGMA = 1e-9  # of the spread of what was measured: data without noise have sigmas, too
_AT_BOUND = 1e-3  # distance of a variable
_SAME_COST = 0.01  # searches whose costs differ by less have the same optimum
_SAME_PLACE = 0.02  # and are there if no variable differs by more
_SURE = 0.999


@dataclass(frozen=True)
class Estimate:
    """A fitted parameter, in its unit.

    Attributes:
        parameter: with its bounds.
        value: at the optimum.
        lower, upper: of the 95 % interval; infinite where the data do not determine it.
        at_bound: whether it is at one of its bounds.
    """

    parameter: FitParameter
    value: float
    lower: float
    upper: float
    at_bound: bool


@dataclass(frozen=True)
class GroupFit:
    """How well the measured values of one name are met.

    Attributes:
        name: of the signal or measure.
        count: of values.
        rms: root of the mean square of the residuals, in SI.
        sigma: given, a mean of them if there are several, or estimated; in SI.
        sigma_given: which of these.
        lag_correlation: of residuals with their successors; NaN for numbers that are no samples over time.
    """

    name: str
    count: int
    rms: float
    sigma: float
    sigma_given: bool
    lag_correlation: float

    @property
    def correlated(self) -> bool:
        """Whether residuals depend on their predecessors, beyond chance."""
        return self.lag_correlation > 2.0 / np.sqrt(self.count)


@dataclass(frozen=True)
class Identified:
    """The result.

    Attributes:
        comparison: what was compared.
        estimates: of the parameters, in their order.
        statistics: of the variables.
        groups: of measured values.
        measured, simulated: all values at the optimum, (values,), in the order of the runs and their observations.
        sigmas: of each value, (values,).
        searches: from each start, in the order of the starts; their costs are of the first sigmas.
        best: which of them led to the optimum.
        runs: number of simulated runs.
        warnings: what is to be known of the result.
    """

    comparison: Comparison
    estimates: tuple[Estimate, ...]
    statistics: Statistics
    groups: tuple[GroupFit, ...]
    measured: np.ndarray
    simulated: np.ndarray
    sigmas: np.ndarray
    searches: tuple[Search, ...]
    best: int
    runs: int
    warnings: tuple[str, ...]

    @property
    def settings(self) -> dict[str, float]:
        """The identified values by address."""
        found: dict[str, float] = {}
        for one in self.estimates:
            found |= one.parameter.settings(one.value)
        return found

    @property
    def machine_values(self) -> dict[str, float]:
        """Those of the machine's description, as `Machine.replace` takes them."""
        group = "machine."
        return {name[len(group) :]: value for name, value in self.settings.items() if name.startswith(group)}

    @property
    def measured_runs(self) -> list[tuple[MeasuredRun, list[slice]]]:
        """The runs, and where the values of each of their observations are among all."""
        found, count = [], 0
        for run in self.comparison.runs:
            places = []
            for observation in run.observations:
                places.append(slice(count, count + len(observation.values)))
                count += len(observation.values)
            found.append((run, places))
        return found

    def plot(self, file: str | Path | None = None) -> Any:
        """Draws what was measured with what is simulated, and the residuals beside it in their sigmas.

        Args:
            file: to which it is written as well: png, svg or pdf.

        Returns:
            The figure of matplotlib.

        Raises:
            ParameterError: matplotlib is not installed, or the file cannot be written.
        """
        return draw(self, file)

    def same_optimum(self, number: int) -> bool:
        """Whether a search ended with the best one's cost, at its place."""
        one, best = self.searches[number], self.searches[self.best]
        cheap = one.cost <= (1.0 + _SAME_COST) * best.cost or one.cost - best.cost < 1e-9 * len(self.measured)
        return cheap and float(np.abs(one.end - best.end).max()) <= _SAME_PLACE


@dataclass(frozen=True)
class Identification:
    """What is to be identified, and how.

    Attributes:
        comparison: measured runs, the trial, and the parameters.
        starts: number of searches.
        seed: of their starts.
        most_iterations: of each search.
        processes: that simulate; 0: one for each core.
    """

    comparison: Comparison
    starts: int = 8
    seed: int = 0
    most_iterations: int = 50
    processes: int = 0

    def run(self) -> Identified:
        """Carries it out.

        Raises:
            ParameterError: what is measured does not suffice, or a parameter has no influence.
            GrouserError: the simulation is refused or fails with the values of the start.
        """
        comparison = self.comparison
        groups = groups_of(comparison.runs)
        measured = np.concatenate([one.values for run in comparison.runs for one in run.observations])
        _check_data(measured, comparison.parameters)
        sigmas = _first_sigmas(groups, measured)
        first = np.array([one.variable(float(one.start or 0.0)) for one in comparison.parameters])
        _told_by_simulations(comparison, first)  # in this process: errors keep their types, kernels are compiled
        with Simulations(comparison, self.processes) as simulations:
            evaluate = _residuals(simulations, measured, sigmas)
            _require_influence(evaluate, first, comparison.parameters)
            steps = central_jacobian(evaluate, first).steps
            starts = spread_starts(first, self.starts, self.seed)
            searches = search_from_all(evaluate, starts, steps, self.most_iterations, simulations.processes)
            best = int(np.argmin([one.cost for one in searches]))
            if not np.isfinite(searches[best].cost):
                raise ParameterError("parameters", "all starts", f"values that can be simulated: {simulations.problem}")
            found = searches[best]
            sigmas, found = self._weighted(simulations, measured, groups, sigmas, found, steps)
            evaluate = _residuals(simulations, measured, sigmas)
            jacobian = central_jacobian(evaluate, found.end)
            residuals = evaluate([found.end])[0]
            runs = simulations.runs
        statistics = statistics_of(residuals, jacobian.matrix, float(np.linalg.norm(jacobian.errors)))
        estimates = _estimates(comparison.parameters, found.end, statistics.half_widths)
        fits = tuple(_group_fit(group, residuals, sigmas) for group in groups)
        result = Identified(
            comparison, estimates, statistics, fits, measured, measured + residuals * sigmas, sigmas,
            tuple(searches), best, runs, (),
        )  # fmt: skip
        told = _told_by_simulations(comparison, found.end)
        return replace(result, warnings=(*_warnings(result, jacobian.matrix), *told))

    def _weighted(
        self,
        simulations: Simulations,
        measured: np.ndarray,
        groups: Sequence[Group],
        sigmas: np.ndarray,
        found: Search,
        steps: np.ndarray,
    ) -> tuple[np.ndarray, Search]:
        """Estimates of the sigmas that were not given, and the optimum with them, in turn."""
        unknown = [group for group in groups if group.sigma is None]
        for _ in range(_ROUNDS if unknown else 0):
            before, sigmas = sigmas, sigmas.copy()
            differences = found.residuals * before
            for group in unknown:
                rms = float(np.sqrt(np.mean(differences[group.places] ** 2)))
                sigmas[group.places] = max(rms, _LEAST_SIGMA * float(np.abs(measured[group.places]).max()))
            if len(groups) == 1 or np.abs(sigmas / before - 1.0).max() < _SETTLED:
                break
            found = search(_residuals(simulations, measured, sigmas), found.end, steps, self.most_iterations)
        return sigmas, found


def _residuals(simulations: Simulations, measured: np.ndarray, sigmas: np.ndarray) -> Evaluate:
    def evaluate(points: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [(simulated - measured) / sigmas for simulated in simulations.evaluate(points)]

    return evaluate


def _told_by_simulations(comparison: Comparison, variables: np.ndarray) -> list[str]:
    """Simulates all runs; what they warn of, each once."""
    told: dict[str, None] = {}
    for number in range(len(comparison.runs)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            comparison.simulated(number, settings_of(comparison.parameters, variables))
        told |= dict.fromkeys(str(one.message) for one in caught)
    return list(told)


def _check_data(measured: np.ndarray, parameters: Sequence[FitParameter]) -> None:
    if not parameters:
        raise ParameterError("parameters", "none", "at least one that is fitted")
    if len(measured) <= len(parameters):
        valid = f"more than the {len(parameters)} parameters: measure more, or fit fewer"
        raise ParameterError("measured values", len(measured), valid)


def _first_sigmas(groups: Sequence[Group], measured: np.ndarray) -> np.ndarray:
    """Given sigmas; otherwise the spread of what was measured."""
    sigmas = np.empty(len(measured))
    for group in groups:
        if group.sigma is not None:
            sigmas[group.places] = group.sigma
            continue
        values = measured[group.places]
        if np.ptp(values) <= 0.0:
            valid = "values that differ, or a sigma: what does not change has no scale of its own"
            raise ParameterError(f"measured {group.name}", f"always {values[0]:g}", valid)
        sigmas[group.places] = np.std(values)
    return sigmas


def _require_influence(evaluate: Evaluate, first: np.ndarray, parameters: Sequence[FitParameter]) -> None:
    """Refuses parameters that change nothing from one bound to the other."""
    points = []
    for number in range(len(parameters)):
        for bound in (0.0, 1.0):
            point = first.copy()
            point[number] = bound
            points.append(point)
    middle, *found = evaluate([first, *points])
    for number, parameter in enumerate(parameters):
        if all(np.array_equal(one, middle) for one in found[2 * number : 2 * number + 2]):
            valid = "a parameter that changes what was measured; from one of its bounds to the other nothing does"
            raise ParameterError("parameter", parameter.name, valid)


def _estimates(
    parameters: Sequence[FitParameter], variables: np.ndarray, half_widths: np.ndarray
) -> tuple[Estimate, ...]:
    return tuple(
        Estimate(
            parameter,
            parameter.value(float(variable)),
            parameter.value(float(variable - half)),
            parameter.value(float(variable + half)),
            bool(min(variable, 1.0 - variable) < _AT_BOUND),
        )
        for parameter, variable, half in zip(parameters, variables, half_widths, strict=True)
    )


def _group_fit(group: Group, residuals: np.ndarray, sigmas: np.ndarray) -> GroupFit:
    own = residuals[group.places]
    return GroupFit(
        group.name,
        len(own),
        float(np.sqrt(np.mean((own * sigmas[group.places]) ** 2))),
        float(np.sqrt(np.mean(sigmas[group.places] ** 2))),
        group.sigma is not None,
        lag_correlation(own) if group.sampled else float("nan"),
    )


def combination(names: Sequence[str], direction: np.ndarray) -> str:
    """A direction in words: its parts of at least a tenth of the largest, in shares of the parameters' ranges."""
    largest = float(direction[np.argmax(np.abs(direction))])
    parts = [
        f"{'-' if share < 0 else '+'} {abs(share):.2f} {name}"
        for name, share in zip(names, direction / largest, strict=True)
        if abs(share) >= 0.1
    ]
    return " ".join(parts).removeprefix("+ ")


def _warnings(result: Identified, jacobian: np.ndarray) -> list[str]:
    statistics, parameters = result.statistics, result.comparison.parameters
    names = [f"log({one.name})" if one.logarithmic else one.name for one in parameters]
    found = []
    for direction in statistics.directions[statistics.undetermined]:
        text = combination(names, direction)
        found.append(f"the data do not tell {text} (each in shares of its range): fix one, or measure what parts them")
    for one, column in zip(result.estimates, jacobian.T, strict=True):
        if not column.any():
            found.append(f"{one.parameter.name} has no influence at the optimum")
        if one.at_bound:
            found.append(f"{one.parameter.name} is at its bound {one.value:.6g}: its interval is not valid")
    for group in result.groups:
        if group.correlated:
            factor = widening(group.lag_correlation)
            found.append(
                f"residuals of {group.name} follow each other (correlation {group.lag_correlation:.2f}): they are no "
                f"independent noise, and intervals are too small, by about a factor of {factor:.1f}"
            )
    if all(group.sigma_given for group in result.groups):
        limit = float(chi2.ppf(_SURE, statistics.degrees)) / statistics.degrees
        if statistics.variance > limit:
            root = np.sqrt(statistics.variance)
            found.append(f"residuals are {root:.2g} times the given sigmas: the model or the sigmas are not right")
    same = sum(result.same_optimum(number) for number in range(len(result.searches)))
    if len(result.searches) > 1 and same == 1:
        found.append("only one search found this optimum: try more starts")
    others = [
        one for number, one in enumerate(result.searches)
        if one.cost <= (1.0 + _SAME_COST) * result.searches[result.best].cost and not result.same_optimum(number)
    ]  # fmt: skip
    if others:
        found.append(f"{len(others)} searches ended elsewhere with the same cost: the optimum is not unique")
    if not result.searches[result.best].converged:
        found.append("the best search ended at its limit of iterations")
    return found
