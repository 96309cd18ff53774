"""IFToMM's benchmark mechanisms against equations that share nothing with the simulation (`benchmark_references`).

Second order: over a rotation at the rate w, the midpoint rule's phase is wrong by a share (w h)^2 / 12, its error on a
harmonic oscillator. The bound of an angle's error is that share, at the mechanism's largest rate, of all that the angle
turns. First order: a share w h.
"""

import json
import math
import warnings

import benchmark_references as references
import matplotlib.figure
import numpy as np
import pytest
from shipped import reference_values

from grouser import ParameterError, cli, experiments
from grouser.experiments import mechanism
from grouser.experiments.drawing import ReferenceTable

NAMES = tuple(name for name in experiments.NAMES if name.startswith("benchmark_"))
SHORT = {"benchmark_andrews": {"duration": 4e-4, "step": 2e-5}}
# Tolerance of a rigid loop joint at 1 ms [m or rad].
CLOSED = 1e-6


def run(name, **parameters):
    return experiments.run(f"benchmark_{name}", **parameters)


def rows_at(result, times):
    """Coordinates at times that are ends of steps."""
    index = np.searchsorted(result["time"], np.asarray(times) - 1e-9)
    assert result["time"][index] == pytest.approx(times, abs=1e-9)
    return result["coordinates"][index]


def error(name, times, expected, columns=slice(None), **parameters):
    """Largest error of some coordinates at some times."""
    result = run(name, duration=max(times), **parameters)
    return np.abs(rows_at(result, times)[:, columns] - expected).max()


def turned(angles):
    """What an angle turns, from its curve."""
    return float(np.abs(np.diff(angles, axis=0)).sum(axis=0).max())


def second_order_bound(result, step, columns=slice(None)):
    angles = result["coordinates"][:, columns]
    rate = np.abs(np.diff(angles, axis=0)).max() / np.diff(result["time"]).max()
    return (rate * step) ** 2 / 12.0 * turned(angles)


# --- A01 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("integrator", "order"), [("implicit_midpoint", 2), ("variational", 2), ("semi_implicit", 1)])
def test_pendulum_converges_to_its_closed_form(integrator, order):
    times = [1.6, 4.4, 8.8]
    expected = references.pendulum_angle(times)[:, None]
    coarse, fine = (error("pendulum", times, expected, integrator=integrator, step=step) for step in (4e-3, 2e-3))
    assert math.log2(coarse / fine) == pytest.approx(order, abs=0.15)


def test_pendulum_repeats_after_its_period():
    """The midpoint rule's error of the period is at most that of the small oscillation."""
    step, swings = 2.5e-3, 4
    end = step * round(swings * references.pendulum_period() / step)
    result = run("pendulum", step=step, duration=end)
    exact = references.pendulum_angle([end])[0]
    assert result["coordinates"][-1, 0] == pytest.approx(exact, abs=second_order_bound(result, step))
    assert result["verdict"] == "energy and loops kept"
    assert result["loop_error"] == 0.0


# --- A02 ----------------------------------------------------------------------------------------------------------


def four_bar_power(windows):
    """Largest power of the weight [W], from the energy at each angle."""
    moment, inertia = references.GRAVITY * (0.5 * (windows + 1) + windows), (windows + 1) / 3.0 + windows
    angle = np.linspace(0.0, math.pi, 1001)
    return float((moment * np.sin(angle) * np.sqrt(1.0 + 2.0 * moment / inertia * (1.0 - np.cos(angle)))).max())


@pytest.mark.parametrize("windows", [3, 6])
def test_four_bars_pass_their_singular_positions(windows):
    """The rods pass a line with the couplers nine times; the default integrator keeps the parallelograms there.

    Tips stay within a millimetre in steps of a millisecond, as the four-bar linkage does. The energy swings by half a
    step of the power: symplectic Euler's modified energy differs by h/2 v dV/dq.
    """
    times, step = [1.7, 4.2, 8.8], 1e-3
    result = run("n_four_bar", windows=windows, duration=8.8, step=step)
    angles = rows_at(result, times)[:, 0]
    assert result["coordinates"][-1, 0] < -8.5 * math.pi
    assert np.abs(angles - references.four_bar_angle(windows, times)).max() < 1e-3
    assert np.abs(np.diff(result["coordinates"], axis=1)).max() < 10.0 * CLOSED
    assert result["loop_error"] < CLOSED
    assert result["energy_error"] < 1.1 * 0.5 * step * four_bar_power(windows)


def test_four_bars_before_the_singular_position_are_of_second_order_by_the_midpoint_rule():
    times = [0.2, 0.48]
    expected = references.four_bar_angle(3, times)[:, None]
    coarse, fine = (
        error("n_four_bar", times, expected, windows=3, integrator="implicit_midpoint", step=step)
        for step in (8e-3, 4e-3)
    )
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.15)


def test_four_bars_never_lose_energy_in_silence():
    """Where the midpoint rule does not settle at the singular position, it says so, and so does the verdict."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run("n_four_bar", windows=3, integrator="implicit_midpoint", duration=3.0)
    kept = result["verdict"] == "energy and loops kept"
    warned = any("did not settle" in str(warning.message) for warning in caught)
    assert kept or (warned and result["verdict"].startswith("energy not kept"))


# --- A03 ----------------------------------------------------------------------------------------------------------

# Test Set for Initial Value Problem Solvers (Mazzia and Magherini, 2008), Andrews' squeezing mechanism, t = 0.03 s.
ANDREWS_PUBLISHED = np.array(list(reference_values("benchmark_andrews", "published").values()))


def test_andrews_reference_is_the_published_one():
    assert references.andrews_angles([0.03])[0] == pytest.approx(ANDREWS_PUBLISHED, abs=1e-8)


def test_andrews_mechanism_is_of_second_order_by_the_midpoint_rule():
    times = [0.0048, 0.0096]
    expected = references.andrews_angles(times)
    coarse, fine = (error("andrews", times, expected, step=step) for step in (1.6e-5, 8e-6))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)


def test_andrews_mechanism_ends_at_the_published_angles():
    result = run("andrews", step=6e-6)
    assert result["time"][-1] == pytest.approx(0.03)
    errors = np.abs(result["coordinates"][-1] - ANDREWS_PUBLISHED)
    assert errors.max() < second_order_bound(result, 6e-6)
    assert result["verdict"] == "energy and loops kept"


def test_andrews_mechanism_converges_by_the_default_integrator():
    """At least of first order: half the step leaves no more than six tenths of the error."""
    times = [0.005, 0.01]
    expected = references.andrews_angles(times)
    coarse, fine = (error("andrews", times, expected, integrator="semi_implicit", step=step) for step in (1e-5, 5e-6))
    assert fine < 0.6 * coarse
    result = run("andrews", integrator="semi_implicit", step=1e-5, duration=times[-1])
    rate = np.abs(np.diff(result["coordinates"], axis=0)).max() / 1e-5
    assert coarse < rate * 1e-5 * turned(result["coordinates"])


# --- A04 ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bricard():
    """Times and reference of Bricard's mechanism."""
    times = [0.6, 1.4, 2.6, 4.4, 6.6]
    return times, references.bricard_coordinates(times)


def test_bricard_mechanism_by_the_midpoint_rule(bricard):
    times, expected = bricard
    result = run("bricard", duration=times[-1])
    assert np.abs(rows_at(result, times) - expected).max() < second_order_bound(result, 1e-3)
    assert result["loop_error"] < CLOSED
    assert result["verdict"] == "energy and loops kept"
    # the symmetry of its motion
    angles = result["coordinates"][:, :5]
    assert np.abs(angles[:, [0, 1, 0]] + angles[:, [2, 3, 4]]).max() < CLOSED


def test_bricard_mechanism_is_of_second_order_by_the_midpoint_rule(bricard):
    times, expected = (part[:2] for part in bricard)
    coarse, fine = (error("bricard", times, expected, step=step) for step in (4e-3, 2e-3))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.2)


def test_bricard_mechanism_converges_by_the_default_integrator(bricard):
    """At least of first order, before the rods have swung through."""
    times, expected = (part[:2] for part in bricard)
    coarse, fine = (error("bricard", times, expected, integrator="semi_implicit", step=step) for step in (2e-3, 1e-3))
    assert fine < 0.6 * coarse
    result = run("bricard", integrator="semi_implicit", duration=times[-1])
    angles = result["coordinates"][:, :5]
    assert fine < np.abs(np.diff(angles, axis=0)).max() * turned(angles)
    assert result["loop_error"] < CLOSED


# --- A05 ----------------------------------------------------------------------------------------------------------

GOVERNOR = {"stiffness": 2.5e5, "damping": 6e3, "speed": 5.0}
GOVERNOR_TIMES = [0.4, 2.4]


@pytest.fixture(scope="module")
def governor():
    """Reference of the flyball governor."""
    return references.Governor(**GOVERNOR).coordinates(GOVERNOR_TIMES)


def test_flyball_governor_is_of_second_order_by_the_midpoint_rule(governor):
    coarse, fine = (error("flyball_governor", GOVERNOR_TIMES, governor, step=step, **GOVERNOR) for step in (4e-3, 2e-3))
    assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.2)


def test_flyball_governor_converges_by_the_default_integrator(governor):
    """At least of first order."""
    coarse, fine = (
        error("flyball_governor", GOVERNOR_TIMES, governor, integrator="semi_implicit", step=step, **GOVERNOR)
        for step in (2e-3, 1e-3)
    )
    assert fine < 0.6 * coarse


def test_flyball_governor_of_the_library():
    times = [0.25, 3.5, 7.5]
    result = run("flyball_governor", duration=times[-1])
    expected = references.Governor().coordinates(times)
    bound = second_order_bound(result, 1e-3, [0])
    assert np.abs(rows_at(result, times) - expected).max() < bound
    assert result["verdict"] == "energy and loops kept"
    assert result["coordinates"][:, 2] == pytest.approx(result["coordinates"][:, 3], abs=CLOSED)


# --- all ----------------------------------------------------------------------------------------------------------


def test_there_are_five_benchmarks():
    assert len(NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_reports_its_results(name):
    result = experiments.run(name, **SHORT.get(name, {"duration": 0.02}))
    points = len(result["time"])
    assert points == 21
    assert np.shape(result["coordinates"]) == (points, len(result["sweep_coordinate"]))
    assert np.shape(result["energy"]) == (points,)
    assert result["sweep_at_end"] == pytest.approx(result["coordinates"][-1])
    assert result["compute_time"] > 0.0
    assert result["energy_error"] >= 0.0
    assert isinstance(result["verdict"], str)


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_plot_shows_all_coordinates_and_the_energy(name):
    parameters = {key: one.default for key, one in experiments.load(name).PARAMETERS.items()} | {"duration": 1e-3}
    parameters["step"] = 5e-4 if name != "benchmark_andrews" else 2e-5
    result = experiments.run(name, **parameters)
    first = result["sweep_coordinate"][0]
    figure = matplotlib.figure.Figure()
    curve = {"t": result["time"], first: result["coordinates"][:, 0]}
    experiments.load(name).plot(parameters, result, figure, (ReferenceTable(curve),))
    coordinates = [name.replace("_", " ") for name in result["sweep_coordinate"]]
    assert [axes.get_ylabel() for axes in figure.axes] == [*coordinates, "change of\nenergy [J]"]
    assert [len(axes.lines) for axes in figure.axes] == [2] + [1] * (len(figure.axes) - 1)


def test_long_runs_have_fewer_points_and_the_last_step():
    result = run("pendulum", step=1e-4, duration=2.0005)
    assert len(result["time"]) == 10004
    assert result["time"][-1] == pytest.approx(2.0005)
    assert result["time"][1] == pytest.approx(2e-4)


def test_benchmark_on_the_command_line(capsys):
    arguments = ["--set", "windows=2", "--set", "duration=0.01", "--json", "-"]
    assert cli.main(["reproduce", "benchmark_n_four_bar", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parameters"]["windows"] == 2
    assert document["units"]["energy_error"] == "J"


def test_verdict():
    assert mechanism.verdict(9e-4, 10.0, 9e-6, 1.0) == "energy and loops kept"
    assert mechanism.verdict(2e-3, 10.0, 0.0, 1.0) == "energy not kept: 2.0e-04 is above 1e-04"
    both = mechanism.verdict(1.0, 10.0, 4e-5, 2.0)
    assert both == "energy not kept: 1.0e-01 is above 1e-04; loops not kept: 2.0e-05 is above 1e-05"
    # a machine that stays at rest keeps its energy
    assert mechanism.verdict(0.0, 0.0, 0.0, 1.0) == "energy and loops kept"


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("n_four_bar", "windows", 0),
        ("bricard", "integrator", "variational"),
        ("andrews", "step", 0.0),
        ("pendulum", "duration", 1e-5),
        ("flyball_governor", "stiffness", 0.0),
    ],
)
def test_bad_benchmark_parameters_are_rejected(name, parameter, value):
    with pytest.raises(ParameterError, match=parameter):
        run(name, **{parameter: value})
