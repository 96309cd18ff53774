"""A row of track shoes that pulls on soil: closed forms, repetitive loading, convergence, and invalid input."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad

from grouser import ParameterError, cli, experiments
from grouser.physics.description.data.soil import Soil
from grouser.physics.soil.laws import make_soils
from grouser.studies.tracks import shoe_row

# k_c, k_phi, n, c, phi, K. Dry sand is that of the example; clay, snow and the second sand are those of Wong's tables,
# in order of the exponent.
SOILS = {
    "dry_sand": (990.0, 1528430.0, 1.1, 1040.0, 28.0, 0.01),
    "clay": (13190.0, 692150.0, 0.5, 4140.0, 13.0, 0.006),
    "hard_sand": (102000.0, 5301000.0, 0.793, 1300.0, 31.1, 0.012),
    "snow": (4370.0, 196720.0, 1.6, 1030.0, 19.7, 0.04),
}
NAMES = (
    "cohesive_modulus", "frictional_modulus", "exponent", "cohesion", "friction_angle_deg", "shear_displacement_modulus"
)  # fmt: skip
SLIPS = [0.01, 0.03, 0.1, 0.3, 0.6, 0.9]
# Between two shoes the steps sum up by the midpoint rule; with one shoe in contact that is most of the error.
STEPS = 1e-3


def soil_named(name):
    return dict(zip(NAMES, SOILS[name], strict=True))


def pull(**parameters):
    return experiments.run("track_drawbar_pull", **parameters)


def bekker(soil, weight, length, width, slip):
    """Thrust, resistance, sinkage: Bekker's form for uniform pressure."""
    k_c, k_phi, n, c, phi, k = SOILS[soil]
    stiffness = k_c / width + k_phi
    sinkage = (weight / (length * width) / stiffness) ** (1.0 / n)
    share = 1.0 - k / (slip * length) * (1.0 - math.exp(-slip * length / k))
    thrust = (width * length * c + weight * math.tan(math.radians(phi))) * share
    return thrust, width * stiffness * sinkage ** (n + 1.0) / (n + 1.0), sinkage


def test_example_of_uniform_pressure():
    """10 kN on 1.5 m by 0.25 m of dry sand: the numbers of the reference, rounded as there."""
    result = pull(slip=[0.1])
    assert result["sinkage"][0] == pytest.approx(25.15e-3, abs=5e-6)
    assert result["resistance"][0] == pytest.approx(79.8, abs=0.05)
    assert result["drawbar_pull"][0] == pytest.approx(result["thrust"][0] - result["resistance"][0])


TRACKS = ((10e3, 1.5, 0.25), (60e3, 3.2, 0.5), (800.0, 0.4, 0.12))  # weight, length, width
# Each number of shoes on each soil with one of the tracks, and with the others in `make soak`.
ROWS_ON_SOILS = [
    pytest.param(soil, shoes, track, marks=() if (i + j + k) % len(TRACKS) == 0 else pytest.mark.soak)
    for i, soil in enumerate(SOILS)
    for j, shoes in enumerate((1, 4, 12, 40))
    for k, track in enumerate(TRACKS)
]


@pytest.mark.parametrize("soil, shoes, track", ROWS_ON_SOILS)
def test_uniform_pressure_agrees_with_the_closed_form(soil, shoes, track):
    weight, length, width = track
    given = {"weight": weight, "contact_length": length, "width": width, "shoes_in_contact": shoes}
    result = pull(**given, **soil_named(soil), slip=SLIPS)
    thrust, resistance, sinkage = np.array([bekker(soil, weight, length, width, slip) for slip in SLIPS]).T
    assert result["thrust"] == pytest.approx(thrust, rel=STEPS)
    assert result["resistance"] == pytest.approx(resistance, rel=1e-9)
    assert result["sinkage"] == pytest.approx(sinkage, rel=1e-9)


def test_no_slip_gives_no_thrust_and_the_same_resistance():
    rest, slipping = pull(slip=[0.0]), pull(slip=[0.9])
    assert rest["thrust"] == [0.0]
    assert rest["resistance"] == pytest.approx(slipping["resistance"])
    assert rest["drawbar_pull"][0] == -rest["resistance"][0]


def pressure_under(x, amplitude=0.8, wheels=5, length=1.5):
    return 10e3 / (length * 0.25) * (1.0 - amplitude * math.cos(2.0 * math.pi * wheels * x / length))


def test_shear_under_road_wheels_agrees_with_its_integral():
    """The thrust is the integral of (c + p tan phi)(1 - exp(-i x/K)) over the contact."""
    result = pull(pressure="road_wheels", slip=SLIPS)
    _, _, _, c, phi, k = SOILS["dry_sand"]

    def thrust(slip):
        def shear(x):
            strength = c + pressure_under(x) * math.tan(math.radians(phi))
            return 0.25 * strength * (1.0 - math.exp(-slip * x / k))

        return quad(shear, 0.0, 1.5, limit=500, points=[0.01, 0.1])[0]

    assert result["thrust"] == pytest.approx([thrust(slip) for slip in SLIPS], rel=STEPS)


@pytest.mark.parametrize("soil", SOILS)
def test_ground_under_road_wheels_is_compacted_by_the_highest_peak_only(soil):
    """To the work of that pressure, p^(1 + 1/n): repeated peaks load and unload the ground elastically."""
    slip = [0.0, 0.2, 0.9]
    uniform = pull(**soil_named(soil), slip=slip)
    exponent = SOILS[soil][2]
    for amplitude, wheels in ((0.8, 1), (0.8, 5), (0.3, 3)):
        result = pull(
            pressure="road_wheels", pressure_amplitude=amplitude, road_wheel_count=wheels, slip=slip, **soil_named(soil)
        )
        ratio = (1.0 + amplitude) ** (1.0 + 1.0 / exponent)
        # steps meet the peak to a 32nd of a pitch and rigid shoes level it over their ground
        assert result["resistance"] == pytest.approx(ratio * np.array(uniform["resistance"]), rel=5e-3)


def test_sinkage_under_road_wheels_follows_loading_and_unloading():
    """Without slip a shoe stays on its ground: down along the curve to the first peak, then along the line k_0."""
    result = pull(pressure="road_wheels", slip=[0.0], unloading_stiffness=4e6)
    stiffness, exponent = 990.0 / 0.25 + 1528430.0, 1.1
    peak = 1.8 * 10e3 / (1.5 * 0.25)
    deepest, unloading = (peak / stiffness) ** (1.0 / exponent), 4e6
    # steeper than the curve at the peak by so much at least
    unloading = max(unloading, 10.0 * exponent * peak / deepest)
    first = quad(lambda x: (pressure_under(x) / stiffness) ** (1.0 / exponent), 0.0, 0.15)[0]
    then = quad(lambda x: deepest - (peak - pressure_under(x)) / unloading, 0.15, 1.5, limit=200)[0]
    assert result["sinkage"][0] == pytest.approx((first + then) / 1.5, rel=STEPS)


def test_stiff_unloading_keeps_the_rut_of_the_peaks():
    soft, stiff = (pull(pressure="road_wheels", slip=[0.1], unloading_stiffness=k)["sinkage"][0] for k in (1e7, 1e9))
    by_slope = pull(pressure="road_wheels", slip=[0.1], unloading_stiffness=1e7, unloading_slope=1e9)["sinkage"][0]
    uniform = pull(slip=[0.1])["sinkage"][0]
    assert uniform < soft < by_slope < stiff < 1.8 ** (1.0 / 1.1) * uniform


def test_peaks_without_amplitude_are_uniform_pressure():
    flat, uniform = pull(pressure="road_wheels", pressure_amplitude=0.0), pull()
    for name in ("thrust", "resistance", "sinkage"):
        assert flat[name] == pytest.approx(uniform[name], rel=1e-12)


def test_shoes_are_converged_over_steps_and_cells(monkeypatch):
    given = {"pressure": "road_wheels", "slip": [0.05, 0.4, 0.9]}
    ours = pull(**given)
    monkeypatch.setattr(shoe_row, "_STEPS", (160, 1000))
    monkeypatch.setattr(shoe_row, "_CELLS", 80)
    finer = pull(**given)
    for name in ("thrust", "resistance", "sinkage"):
        assert ours[name] == pytest.approx(finer[name], rel=3e-3)


def test_shoe_sinks_until_its_cells_carry_it():
    """On ground of different ruts; cells by Bekker's curve and Wong's line, written out."""
    rng = np.random.default_rng(3)
    ruts = np.where(rng.random(30) < 0.4, 0.0, rng.uniform(0.01, 0.04, 30))
    stiffness, exponent, unloading = 1.5e6, 1.1, 4e7
    ground = np.array([ruts, stiffness * ruts**exponent])
    soil = Soil("soil", "here", 1.5e6, exponent, 0.0, 0.5, 0.01, 1600.0, 0.5)
    for pressure in (1e3, 26e3, 90e3):
        for guess in (0.0, 0.02, 1.0):
            depth = shoe_row._depth_under(stiffness, make_soils((soil,)), unloading, ground, 3, 27, pressure, guess)
            line = ground[1] - unloading * (ruts - depth)
            carried = np.where(depth >= ruts, stiffness * depth**exponent, np.maximum(line, 0.0))
            # untouched ground is elastic before it yields
            carried = np.minimum(carried, np.where(ruts == 0.0, unloading * depth, np.inf))
            assert carried[3:27].mean() == pytest.approx(pressure, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"slip": [1.0]}, "slip"),
        ({"slip": [-0.1]}, "slip"),
        ({"slip": []}, "slip"),
        ({"shoes_in_contact": 0}, "shoes_in_contact"),
        ({"shoes_in_contact": 2.5}, "shoes_in_contact"),
        ({"pressure": "peaks"}, "pressure"),
        ({"frictional_modulus": 0.0, "cohesive_modulus": -10.0}, "frictional_modulus"),
        ({"weight": 1e6}, "weight"),
        ({"pressure": "road_wheels", "road_wheel_count": 7}, "road_wheel_count"),
        ({"pressure_amplitude": 1.2}, "pressure_amplitude"),
    ],
)
def test_invalid_rows_are_refused_by_name(settings, name):
    with pytest.raises(ParameterError, match=name):
        pull(**settings)


@pytest.mark.parametrize("pressure", ["uniform", "road_wheels"])
def test_pull_is_drawn(tmp_path, pressure):
    (tmp_path / "reference.csv").write_text("slip,thrust_N,R_N\n0.1,5300,80\n0.5,5600,80\n")
    arguments = ["reproduce", "track_drawbar_pull", "--set", f"pressure={pressure}"]
    arguments += ["--json", str(tmp_path / "pull.json"), "--plot", str(tmp_path / "pull.png")]
    assert cli.main([*arguments, "--reference", str(tmp_path / "reference.csv")]) == 0
    assert (tmp_path / "pull.png").stat().st_size > 10_000
    document = json.loads((tmp_path / "pull.json").read_text())
    assert document["units"]["drawbar_pull"] == "N"
    assert len(document["results"]["sinkage"]) == len(document["parameters"]["slip"]) == 9
