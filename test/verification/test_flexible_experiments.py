"""Experiments with flexible links: the rotating beam, the double pendulum, the arm of five rods."""

import math

import elastica
import matplotlib.figure
import numpy as np
import pytest

from grouser import experiments
from grouser.experiments import five_link_arm, rotating_beam
from grouser.experiments.flexible_links import MODAL
from grouser.experiments.protocol import complete_parameters
from grouser.physics.flexible_links.modal_beam import AXIAL, BENDING_Y, BENDING_Z, TORSION
from grouser.physics.flexible_links.stationed import modal_beam
from grouser.references.comparison import compare
from grouser.references.reader import load_references

# Sizes of equal numbers of functions of bending: 8.
EQUAL = {"assumed_modes": 8, "finite_elements": 4, "bezier": 9, "b_spline": 7}


def agrees(name, case):
    """Runs a case of the references, and compares all of it."""
    references, experiment = load_references(name), experiments.load(name)
    (chosen,) = (one for one in references.cases if one.name == case)
    parameters = complete_parameters(experiment, chosen.parameters)
    result = experiment.run(**parameters)
    for row in compare(chosen, parameters, result):
        assert row.agrees, row
    return result


@pytest.mark.parametrize("case", [case.name for case in load_references("rotating_beam").cases])
def test_rotating_beam_agrees_with_the_table(case):
    assert agrees("rotating_beam", case)["max_rate_error"] < 1e-7


def test_hub_follows_the_prescribed_rotation():
    """The beam's angular momentum, at most m L2 / 3 times the rate, is what the hub lacks: a share of 1e-9."""
    result = experiments.run("rotating_beam", duration=20.0, axial=False, size=2, final_rate=9.0)
    assert result["max_rate_error"] < 9.0 * 2e-9


def test_rotating_beam_agrees_with_a_geometrically_exact_one():
    """The theory is of third order: what is left out is a share of the slope's fourth power, and of modes beyond 4."""
    result = experiments.run("rotating_beam", axial=False)
    time, tip = elastica.spin_up(functions=5)
    here = np.interp(time, result["time"], result["tip_deflection"])
    assert np.abs(here - tip).max() < 2e-3 * np.abs(tip).max()
    half = [0.5 * np.ptp(curve[time >= 15.0]) for curve in (here, tip)]
    assert half[0] == pytest.approx(half[1], rel=5e-3)


def test_discretisations_of_equal_size_agree():
    peaks = [
        experiments.run("rotating_beam", method=method, size=EQUAL[method], axial=False, duration=8.0)[
            "min_tip_deflection"
        ]
        for method in MODAL
    ]
    assert np.ptp(peaks) < 1e-3 * abs(np.mean(peaks))


@pytest.mark.parametrize("rate", [0.0, 2.0, 4.0, 20.0])
def test_first_frequencies_of_the_spinning_beam(rate):
    """Against the linear equations of the spinning beam (`elastica.spinning_frequencies`), which stand in for Wright's
    tables; the wave of 40 radians that the axial motion takes part in is left out: a share (w L / c)2 of 1e-4."""
    expected = elastica.spinning_frequencies(rate, functions=10)
    # far above the first frequency, 2.911 rad/s, the beam is a string with a boundary layer at the hub
    sizes = {"assumed_modes": 8, "finite_elements": 12, "bezier": 10, "b_spline": 12}
    for method, size in ({"finite_elements": 20, "bezier": 10} if rate > 4.0 else sizes).items():
        parameters = {"final_rate": rate, "method": method, "size": size, "axial": False}
        here = rotating_beam.spinning_frequencies(complete_parameters(rotating_beam, parameters))
        assert here[:3] == pytest.approx(expected[:3], rel=1e-3), method
    if rate == 0.0:
        roots = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613])
        closed = roots**2 * math.sqrt(elastica.MODULUS * elastica.SECOND_MOMENT / elastica.LINE_MASS)
        assert here[:3] == pytest.approx(closed / elastica.LENGTH**2, rel=1e-3)


def test_deflection_converges_with_the_step_in_second_order():
    short = {"duration": 2.0, "spin_up_time": 1.5, "final_rate": 0.5, "size": 1, "axial": False}
    ends = [experiments.run("rotating_beam", step=step, **short)["tip_deflection"][-1] for step in (2e-2, 1e-2, 5e-3)]
    assert (ends[0] - ends[1]) / (ends[1] - ends[2]) == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("integrator", ["implicit_midpoint", "variational"])
def test_double_pendulum_keeps_its_energy(integrator):
    parameters = {"method": "bezier", "size": 5, "integrator": integrator}
    result = experiments.run("double_flexible_pendulum", **parameters)
    assert result["max_energy_error"] < 1e-6 * result["max_kinetic_energy"]
    assert result["time"][-1] == pytest.approx(5.0)


@pytest.mark.parametrize("case", ["fall", "b_spline", "assumed_modes"])
def test_double_pendulum_agrees_with_cable_elements(case):
    agrees("double_flexible_pendulum", case)


def test_double_pendulum_of_rigid_elements_bends_as_much():
    """Deflections of nine segments are less by 1 / 324; the rest are vibrations, of which the chain has others."""
    chain = experiments.run("double_flexible_pendulum", method="rigid_elements", size=10, duration=1.0, step=2e-3)
    modal = experiments.run("double_flexible_pendulum", axial_stiffness=1e12, duration=1.0, step=2e-3)
    peaks = [np.abs(result["deflection_1"]).max() for result in (chain, modal)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.05)


def test_five_link_arm_of_rigid_rods_agrees_with_its_reference():
    agrees("five_link_arm", "rigid")


@pytest.mark.parametrize("method", MODAL)
def test_rods_of_the_arm_have_the_modes_that_are_asked_for(method):
    given = complete_parameters(five_link_arm, {"flexible": True, "method": method, "size": 3})
    bending = {"assumed_modes": 3, "finite_elements": 6, "bezier": 2, "b_spline": 4}[method]
    for rod in five_link_arm.five_link_arm(given).flexible_links:
        kinds = [mode.kind for mode in modal_beam(rod).modes]
        assert [kinds.count(kind) for kind in (AXIAL, BENDING_Z, BENDING_Y, TORSION)] == [1, bending, bending, 1]


def test_stiff_rods_move_as_rigid_ones():
    """Deflections go with the inverse of the stiffness: 1e6 times that of the flexible arm, whose tip is 0.3 m away."""
    parameters = {"duration": 0.3, "integrator": "semi_implicit", "step": 2e-3, "size": 1}
    rigid = experiments.run("five_link_arm", **parameters)
    stiffness = {"bending_stiffness": 62.83e6, "torsion_stiffness": 50.27e6}
    stiff = experiments.run("five_link_arm", flexible=True, **stiffness, **parameters)
    assert np.abs(stiff["tip"] - rigid["tip"]).max() < 1e-6


def test_elastic_loop_of_modes_and_of_rigid_elements_agree():
    result = agrees("flexible_loop", "pulse")
    assert result["peaks"].max() > 1e-3
    assert result["crank_angle"] == pytest.approx(result["crank_angle_of_elements"], abs=1e-5)


def test_rigid_elements_of_the_loop_converge_to_the_modes():
    """Half as long elements, a quarter of the difference; a short pulse, after which the rods vibrate."""
    pulse = {"torque_time": 0.02, "duration": 0.03, "torque": 4.0, "step": 2e-4}
    coarse, fine = (experiments.run("flexible_loop", elements=elements, **pulse) for elements in (9, 17))
    assert coarse["differences"] / fine["differences"] == pytest.approx(np.full(4, 4.0), rel=0.2)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("rotating_beam", {"duration": 0.5, "spin_up_time": 0.2, "size": 2, "final_rate": 0.1}),
        ("double_flexible_pendulum", {"duration": 0.05, "size": 2}),
        ("five_link_arm", {"duration": 0.05}),
        ("flexible_loop", {"duration": 0.01, "elements": 3}),
    ],
)
def test_plots(name, parameters):
    experiment = experiments.load(name)
    given = complete_parameters(experiment, parameters)
    figure = matplotlib.figure.Figure()
    experiment.plot(given, experiment.run(**given), figure, ())
    assert len(figure.axes) >= 2
