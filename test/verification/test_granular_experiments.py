"""Experiments with grains at small sizes: against their references where these hold, and their plots."""

import math

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from grouser import ParameterError, cli, experiments
from grouser.experiments.protocol import complete_parameters

matplotlib.use("Agg")

# Small enough for a second.
SMALL = {
    "sphere_collision": {},
    "oblique_impact": {"steps_per_contact": 200},
    "sphere_column": {"duration": 1.0},
    "sphere_rolling": {"duration": 0.3},
    "sphere_bed": {"count": 700, "side": 0.08, "duration": 0.35},
    "vibrating_floor": {"youngs_modulus": 1e7, "gamma": [1.2, 1.3], "steps_per_contact": 100},
    "vibrating_trough": {"gamma": [3.0], "friction": 0.5, "angle_deg": 45.0, "periods": 20},
    "vibrating_container": {"count": 150, "size": [0.1, 0.1, 0.1], "settling": 0.1, "duration": 0.2},
    "hopper_discharge": {"count": 500, "side": 0.08, "diameter": [0.05], "until": 0.45, "rolling_friction": 0.0},
    "repose_heap": {
        "count": 400, "friction": [0.5], "rolling_friction": [0.1], "method": "lift", "tube": 0.07,
        "lifting_speed": 0.2,
    },
}  # fmt: skip
_FOUND: dict = {}


def small(name):
    """Result of the small run of an experiment, made once."""
    if name not in _FOUND:
        _FOUND[name] = experiments.run(name, **SMALL[name])
    return _FOUND[name]


@pytest.mark.parametrize("name", SMALL)
def test_each_experiment_draws_its_results(name):
    experiment, figure = experiments.load(name), Figure()
    parameters = complete_parameters(experiment, SMALL[name])
    experiment.plot(parameters, small(name), figure, ())
    figure.canvas.draw()
    assert figure._suptitle.get_text()
    for panel in figure.axes:
        assert panel.get_ylabel() and panel.get_legend() is not None
    assert figure.axes[-1].get_xlabel()


@pytest.mark.parametrize("name", SMALL)
def test_each_experiment_gives_its_balance(name):
    found = small(name)
    assert found["simulated_time"] > 0.0 and found["compute_time"] > 0.0
    if found["energy_error"] is not None:
        # closed within what its springs leave at twenty steps in a contact
        assert abs(found["energy_error"]) < 0.01
    if found["momentum_error"] is not None:
        assert abs(found["momentum_error"]) < 1e-12


def test_column_floor_and_trough_agree_with_their_references(capsys):
    assert cli.main(["reproduce", "sphere_column", "--case", "ten"]) == 0
    assert cli.main(["reproduce", "vibrating_floor", "--case", "soft"]) == 0
    assert cli.main(["reproduce", "vibrating_trough", "--case", "steep"]) == 0


def test_packing_is_that_of_rough_spheres():
    """Of a small box, whose walls reach far into it: between the loosest and the densest random packing."""
    found = small("sphere_bed")
    assert 0.54 < found["solid_fraction"] < 0.64
    assert 3.5 < found["coordination"] < 6.0


def test_work_of_the_container_is_lost_in_contacts():
    """Once it moves as ever, what its walls do is what the contacts take."""
    found = small("vibrating_container")
    assert found["work_per_second"] > 0.0
    assert found["loss_per_second"] == pytest.approx(found["work_per_second"], rel=0.1)


def test_discharge_is_steady():
    assert small("hopper_discharge")["rate_scatter"][0] < 0.25
    assert small("hopper_discharge")["rate"][0] > 0.1


def test_lifted_heap_has_a_slope():
    found = small("repose_heap")
    assert 10.0 < math.degrees(found["angle"][0]) < 45.0
    assert found["height"][0] > 0.02


def test_bounce_of_a_rigid_contact_doubles_where_its_map_does():
    """The exact map of the bounce, 0.5 % below the threshold and above."""
    threshold = experiments.load("vibrating_floor").rigid_threshold
    for e, periods in ((0.3, 1), (0.5, 1), (0.5, 2), (0.8, 1)):
        # multipliers of the map: product e^2, sum 1 + e^2 - (1 + e)^2 Gamma sin p; -1 is one of them at the threshold
        gamma = threshold(e, periods)
        phase = math.acos(periods * math.pi * (1.0 - e) / ((1.0 + e) * gamma))
        roots = np.roots([1.0, -(1.0 + e**2 - (1.0 + e) ** 2 * gamma * math.sin(phase)), e**2])
        assert np.abs(roots + 1.0).min() < 1e-6


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("hopper_discharge", {"diameter": [0.2]}, "diameter"),
        ("vibrating_container", {"direction": [0.0, 0.0, 0.0]}, "direction"),
        ("vibrating_container", {"count": 20_000}, "lid"),
        ("sphere_collision", {"radius": [0.005]}, "2 numbers"),
        ("sphere_bed", {"count": 100}, "core"),
    ],
)
def test_wrong_parameters_are_refused(name, given, told):
    with pytest.raises(ParameterError, match=told):
        experiments.run(name, **{**SMALL[name], **given})
