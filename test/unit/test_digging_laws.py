"""Laws of digging: wedges, dead wedges, penetration, capacities; their experiments against reference numbers."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from shipped import shipped_references
from uncompiled import uncompiled

from grouser import ParameterError, experiments
from grouser.experiments.protocol import complete_parameters
from grouser.physics.digging.capacity import HOE_HEAP, LOADER_HEAP, heap_volume, profile_area
from grouser.physics.digging.crescents import side_shear
from grouser.physics.digging.mobilisation import mobilised_share
from grouser.physics.digging.penetration import bearing_factors, teeth_penetration
from grouser.physics.digging.profile_wedge import profile_wedge
from grouser.physics.digging.wedge import CutSoil, face_of, wedge_factors, wedge_force
from grouser.references.comparison import compare

LOAM = CutSoil(1700.0, math.radians(28.0), 6e3, math.radians(20.0), 1.5e3)
RAKE, GRAVITY = math.radians(45.0), 9.81
FACE = face_of(RAKE, LOAM.friction, LOAM.tool_friction)
angles = st.floats(math.radians(5.0), math.radians(80.0))


@pytest.mark.parametrize("name", ["blade_wedge", "penetration"])
def test_experiment_agrees_with_its_references(name):
    experiment = experiments.load(name)
    for case in shipped_references(name).cases:
        parameters = complete_parameters(experiment, case.parameters)
        lines = compare(case, parameters, experiment.run(**parameters))
        assert lines and [line for line in lines if not line.agrees] == [], case.name


@pytest.mark.parametrize("name", ["blade_wedge", "penetration"])
def test_experiment_draws_over_the_parameter_that_varies(name):
    experiment = experiments.load(name)
    parameters = complete_parameters(experiment, {"depth": 0.1, "cohesion": [0.0, 1e3]})
    figure = Figure()
    experiment.plot(parameters, experiment.run(**parameters), figure, ())
    assert figure.axes[-1].get_xlabel() == "cohesion [Pa]"
    assert all(panel.lines and panel.get_legend() for panel in figure.axes)


@given(angles, angles, st.floats(0.0, 0.7), st.floats(0.0, 0.5), st.floats(-0.2, 0.2))
def test_factors_are_the_statics_of_the_wedge(rake, failure, friction, tool_friction, slope):
    assume(failure > slope + 0.05 and rake > 0.05 - slope and rake + failure + friction + tool_friction < 3.0)
    factors = uncompiled(wedge_factors)(rake, failure, friction, tool_friction, slope)
    # the outline, for unit depth: where the plate meets the ground, and where the plane of failure does
    top = 1.0 / (1.0 + math.tan(slope) / math.tan(rake))
    reach = 1.0 / (math.tan(failure) - math.tan(slope))
    behind, plate, plane = top / math.tan(rake), top / math.sin(rake), reach / math.cos(failure)
    area = 0.5 * (behind + reach)
    # horizontal and vertical balance for the force on the blade and the reaction of the ground
    on_blade, on_ground = rake + tool_friction, failure + friction
    balance = np.array([[math.sin(on_blade), -math.sin(on_ground)], [math.cos(on_blade), math.cos(on_ground)]])

    def force(weight, along_plane, along_plate):
        horizontal = along_plane * math.cos(failure) - along_plate * math.cos(rake)
        vertical = weight + along_plane * math.sin(failure) + along_plate * math.sin(rake)
        return np.linalg.solve(balance, [horizontal, vertical])[0]

    near = {"rel": 1e-9, "abs": 1e-9}
    assert factors.weight == pytest.approx(force(area, 0.0, 0.0), **near)
    assert factors.surcharge == pytest.approx(force(behind + reach, 0.0, 0.0), **near)
    assert factors.cohesion == pytest.approx(force(0.0, plane, 0.0), **near)
    assert factors.adhesion == pytest.approx(force(0.0, 0.0, plate), **near)
    soil = CutSoil(1.0, friction, 1.0, tool_friction, 1.0)
    face = uncompiled(face_of)(rake, friction, tool_friction)
    sine, cosine = math.sin(failure), math.cos(failure)
    whole = uncompiled(wedge_force)(face, sine, cosine, soil, area, plane, plate, 0.0)
    assert whole == pytest.approx(factors.weight + factors.cohesion + factors.adhesion, **near)


@given(
    st.floats(1.0, 170.0), st.floats(0.0, 50.0), st.floats(0.0, 50.0), st.floats(-60.0, 60.0),
    st.sampled_from(["plane", "least"]),
)  # fmt: skip
def test_forces_are_finite_or_the_angles_are_refused(rake, friction, tool_friction, slope, steep):
    given = {"rake_deg": rake, "friction_angle_deg": friction, "tool_friction_deg": tool_friction, "slope_deg": slope}
    try:
        result = experiments.run("blade_wedge", steep=steep, **given)
    except ParameterError:
        assert rake + friction + tool_friction + max(0.0, slope) > 178.999 or not 0.0 < rake + slope < 180.0
        return
    assert all(math.isfinite(result[name][0]) for name in ("force", "draught", "vertical"))


@pytest.mark.parametrize(
    "given, words",
    [
        ({"rake_deg": 120.0, "friction_angle_deg": 40.0}, "rake_deg = 120.*at most 179 deg together, not 180"),
        ({"rake_deg": 20.0, "slope_deg": -30.0}, "slope_deg = -30.*between -20 and 160"),
        ({"width_effect": "crescents", "slope_deg": 5.0}, "slope_deg = 5.*crescents are known for level ground"),
        ({"depth": [0.1, 0.2], "cohesion": [0.0, 1.0, 2.0]}, "depth.*one number, or 3 as cohesion has"),
        ({"friction_angle_deg": 89.0}, "friction_angle_deg.*from 0 to 50"),
        ({"depth": []}, "depth.*numbers from 0.0001 to 10"),
        ({"depth": math.nan}, "depth"),
    ],
)
def test_bad_blades_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        experiments.run("blade_wedge", **given)


def test_side_plates_add_their_shear_to_the_draught():
    plain, plates = (experiments.run("blade_wedge", width_effect=word) for word in ("none", "side_plates"))
    # both plates of 0.3 m at 0.15 m depth; K_0 = 1 - sin(28 deg)
    shear = 6e3 + 0.5305284372141092 * 0.5 * 1700.0 * 9.81 * 0.15 * 0.5317094316614788
    expected = 2.0 * shear * 0.15 * 0.3
    assert plates["draught"][0] - plain["draught"][0] == pytest.approx(expected, rel=1e-9)
    assert uncompiled(side_shear)(LOAM, 0.15, 0.3, GRAVITY) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("spacing", [0.01, 0.025, 0.05])
@pytest.mark.parametrize("slope_deg", [-10.0, 0.0, 15.0])
def test_wedge_over_cells_of_plane_ground(spacing, slope_deg):
    # the plate ends at the depth, as a strip of cells has it
    depth, slope = 0.15, math.radians(slope_deg)
    heights = depth + math.tan(slope) * spacing * (0.5 + np.arange(round(2.0 / spacing)))
    exact = _least_force(depth, slope)
    level, cut = np.zeros(len(heights)), (spacing, depth, FACE, LOAM, GRAVITY, 0.0)
    first = profile_wedge(heights, level, *cut, math.nan)
    again = profile_wedge(heights, level, *cut, first.failure)
    # trial angles only: the force is flat in the angle
    assert (1.0 - 1e-8) * exact <= again.force <= (1.0 + 1e-12) * first.force <= 1.002 * exact


def _least_force(depth, slope):
    """The least of many plane wedges, a width [N/m]."""
    failure = np.linspace(math.radians(20.0), math.radians(70.0), 20001)
    reach = depth / (np.tan(failure) - math.tan(slope))
    weight = LOAM.density * GRAVITY * 0.5 * depth * (depth / math.tan(RAKE) + reach)
    pressing = weight * np.sin(failure + LOAM.friction)
    shearing = LOAM.cohesion * reach / np.cos(failure) * math.cos(LOAM.friction)
    sticking = LOAM.adhesion * depth / math.sin(RAKE) * np.cos(RAKE + failure + LOAM.friction)
    return float(np.min((pressing + shearing - sticking) / np.sin(RAKE + failure + LOAM.friction + LOAM.tool_friction)))


def test_inertia_of_the_wedge_over_cells():
    """At the plane found: momentum by its factor, mass of the triangle by the same; the plane is of the least sum."""
    depth, flux = 0.15, LOAM.density * 0.15 * 2.0**2
    heights = np.full(40, depth)
    slow = profile_wedge(heights, np.zeros(40), 0.025, depth, FACE, LOAM, GRAVITY, 0.0, math.nan)
    fast = profile_wedge(heights, np.zeros(40), 0.025, depth, FACE, LOAM, GRAVITY, flux, math.nan)
    for found in (slow, fast):
        inertia = wedge_factors(RAKE, found.failure, LOAM.friction, LOAM.tool_friction, 0.0).inertia
        area = 0.5 * depth**2 * (1.0 / math.tan(RAKE) + 1.0 / math.tan(found.failure))
        assert found.mass == pytest.approx(LOAM.density * area * inertia, rel=1e-12)
    assert fast.momentum == pytest.approx(flux * inertia, rel=1e-12)
    assert slow.momentum == 0.0
    assert slow.force < fast.force - fast.momentum < 1.1 * slow.force
    law = experiments.run("blade_wedge", depth=depth, speed=2.0)
    assert 0.6 * fast.force == pytest.approx(law["force"][0], rel=2e-3)


def test_pile_ahead_resists_and_a_trench_helps():
    def force(heights):
        return profile_wedge(heights, np.zeros(40), 0.05, 0.15, FACE, LOAM, GRAVITY, 0.0, math.nan).force

    level = np.full(40, 0.15)
    piled, trenched = level.copy(), level.copy()
    piled[1:5] += 0.1
    trenched[2:] = -0.5
    assert force(piled) > 1.2 * force(level)
    assert force(trenched) < 0.8 * force(level)


def test_wedge_over_cells_that_jams_is_said_to():
    rough = LOAM._replace(friction=math.radians(50.0), tool_friction=math.radians(40.0))
    face = face_of(math.radians(100.0), rough.friction, rough.tool_friction)
    found = profile_wedge(np.full(40, 0.15), np.zeros(40), 0.05, 0.15, face, rough, GRAVITY, 0.0, math.nan)
    assert math.isinf(found.force) and math.isnan(found.failure)


@pytest.mark.parametrize(
    "friction_deg, surcharge, cohesion, weight",
    [
        (0, 1.0, 5.141593, 0.0),
        (10, 2.471436, 8.344926, 1.224216),
        (20, 6.399394, 14.834712, 5.386318),
        (30, 18.401122, 30.139628, 22.402486),
        (35, 33.296091, 46.123599, 48.028764),
        (40, 64.195206, 75.313114, 109.410547),
    ],
)
def test_bearing_factors_of_strip_footings(friction_deg, surcharge, cohesion, weight):
    # half of the sixth digit after the point
    factors = uncompiled(bearing_factors)(math.radians(friction_deg))
    assert factors == pytest.approx((cohesion, surcharge, weight), abs=5.1e-7)


def test_teeth_in_clay_press_as_square_footings():
    clay = CutSoil(1900.0, 0.0, 2e4, 0.0, 0.0)
    found = uncompiled(teeth_penetration)(clay, 4, 0.03, 0.5, 0.1, GRAVITY)
    # N_c s_c = pi + 2 + 1 and N_q s_q = 1 without friction
    assert found.edge == pytest.approx(4 * 0.03**2 * ((math.pi + 3.0) * 2e4 + 1900.0 * GRAVITY * 0.1), rel=1e-12)
    assert found.skin == 0.0


def test_resistance_grows_over_a_fiftieth_of_the_depth():
    share = uncompiled(mobilised_share)
    assert share(0.0, 0.2) == 0.0
    assert share(0.004, 0.2) == pytest.approx(1.0 - math.exp(-1.0), rel=1e-12)


def test_capacity_of_a_bucket():
    # 0.45 m wide, an opening of 0.4 m, a profile of 0.11 m2
    profile = [(0.0, 0.0), (0.0, -0.275), (0.4, -0.275), (0.4, 0.0)]
    assert profile_area(profile) == pytest.approx(0.11, rel=1e-12)
    struck = 0.45 * profile_area(profile)
    heaped = [struck + heap_volume(0.4, 0.45, slope) for slope in (HOE_HEAP, LOADER_HEAP)]
    assert [struck, *heaped] == pytest.approx([0.0495, 0.062167, 0.055833], abs=5e-7)
    assert heap_volume(0.45, 0.4, math.tan(math.radians(32.0))) == pytest.approx(0.007915, abs=5e-7)
