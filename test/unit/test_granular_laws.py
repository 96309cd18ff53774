"""Laws of grains: restitution, pairs of materials, time steps, shapes of boundaries and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser import ParameterError
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Cylinder, Mesh, Plane, Plate
from grouser.physics.granular.boundaries import make_boundaries
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import damping_ratio, reduced_modulus, reduced_shear_modulus, restitution_of
from grouser.physics.granular.pairs import ADHESION, FRICTION, PairSurfaces, make_pairs
from grouser.physics.granular.shapes import nearest, nearest_of_triangle
from grouser.physics.granular.size_classes import size_classes
from grouser.physics.granular.time_step import contact_time, largest_overlap, rayleigh_time

GLASS = GrainMaterial("glass", 1e7, 0.25, 2500.0)
WALL = GrainMaterial("wall", 1e8, 0.3)

# Restitution: damping ratio cut at zero force, and pulling up to zero overlap. Integrated with a tolerance of 1e-12.
RATIOS = {
    0.95: (0.01649823, 0.01632499),
    0.9: (0.03426520, 0.03351845),
    0.7: (0.12221475, 0.11280845),
    0.5: (0.25527564, 0.21545376),
    0.3: (0.49723939, 0.35785713),
    0.1: (1.24318785, 0.59115503),
}


@pytest.mark.parametrize("restitution", RATIOS)
def test_damping_ratio_of_a_restitution(restitution):
    cut, pulling = RATIOS[restitution]
    assert damping_ratio(restitution) == pytest.approx(cut, abs=6e-9)
    assert damping_ratio(restitution, "zero_overlap") == pytest.approx(pulling, abs=6e-9)


def test_pulling_ratio_cut_at_zero_force_gives_too_much():
    assert restitution_of(damping_ratio(0.7, "zero_overlap")) == pytest.approx(0.71820136, abs=1e-8)


@given(st.floats(0.002, 0.999))
def test_restitution_of_its_damping_ratio(restitution):
    assert restitution_of(damping_ratio(restitution)) == pytest.approx(restitution, rel=1e-9)


def test_reduced_moduli():
    # equal materials: E* = E/(2 (1 - nu^2)); 8 G* a by 2 E* a is 2 (1 - nu)/(2 - nu)
    modulus, shear = reduced_modulus(GLASS, GLASS), reduced_shear_modulus(GLASS, GLASS)
    assert modulus == pytest.approx(5.33333333e6, rel=1e-9)
    assert 4.0 * shear / modulus == pytest.approx(2.0 * 0.75 / 1.75, rel=1e-12)
    assert reduced_modulus(GLASS, WALL) == pytest.approx(9.72289742e6, rel=1e-9)


def test_elastic_impact_in_closed_form():
    mass = 4.0 / 3.0 * math.pi * 0.005**3 * 2500.0
    given = reduced_modulus(GLASS, GLASS), 0.0025, 0.5 * mass, 1.0
    assert largest_overlap(*given) == pytest.approx(3.5056170e-4, rel=1e-7)
    assert contact_time(*given) == pytest.approx(1.0317996e-3, rel=1e-7)
    assert rayleigh_time(GLASS, 0.005) == pytest.approx(0.4281e-3, rel=1e-4)


def test_each_pair_of_materials_has_its_surface():
    pairs = make_pairs(
        PairSurfaces([GLASS, WALL], {("wall", "glass"): Surface(friction=0.1)}, Surface(friction=0.5, adhesion=1.0))
    )
    assert pairs.constant[:, FRICTION].tolist() == [0.5, 0.1, 0.1, 0.5]
    assert pairs.constant[0, ADHESION] == pytest.approx(2.0 * math.pi)


def test_pair_without_a_surface_is_refused():
    with pytest.raises(ParameterError, match=r"surface for the pair \(glass, wall\)"):
        make_pairs(PairSurfaces([GLASS, WALL], {("glass", "glass"): Surface()}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"restitution": 0.0}, "restitution"),
        ({"friction": -0.1}, "friction"),
        ({"tangential": "sticky"}, "no_slip"),
        ({"normal": "hooke"}, "stiffness"),
    ],
)
def test_wrong_surfaces_are_refused(given, told):
    with pytest.raises(ParameterError, match=told):
        Surface(**given)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"step": 1e-3}, r"at most 0.000103 s: a contact lasts 0.00103 s"),
        ({"materials": []}, "material"),
        ({"threads": 0}, "threads"),
        ({"grains": Grains(np.zeros((2, 3)), np.array([0.001, 0.11]), "glass")}, "at most 100 times the least"),
        ({"grains": Grains(np.zeros((2, 2)), 0.01, "glass")}, "position"),
        ({"boundaries": [Boundary("floor", [Plane((0, 0, 0), (0, 0, 0), "glass")])]}, "direction of floor.shapes"),
        ({"boundaries": [Boundary("floor", [Mesh(np.zeros((1, 3, 3)), "glass")])]}, "triangles with an area"),
    ],
)
def test_wrong_beds_are_refused(change, told):
    given = {"grains": Grains(np.zeros((1, 3)), 0.005, "glass"), "materials": [GLASS], "default_surface": Surface()}
    with pytest.raises(ParameterError, match=told):
        GranularBed(**{**given, **change})


def test_more_grains_than_memory_are_refused():
    """Before anything is made: a contact with 1000 springs takes 24 kB, and a grain has room for ten."""
    many = Surface(tangential="partial_slip", springs=1000)
    with pytest.raises(ParameterError, match=r"number of grains = 1000000 .* each, with its contacts, takes 0.48. MB"):
        GranularBed(Grains(np.zeros((1_000_000, 3)), 0.005, "glass"), [GLASS], default_surface=many)


def test_size_classes_hold_radii_of_up_to_a_factor_of_two():
    radii = np.array([0.5, 1.0, 0.49, 0.1, 0.06])
    assert size_classes(radii, radii).tolist() == [0.1, 0.49, 1.0]
    # ranges: the second begins within the first class, the third is a class by itself
    assert size_classes(np.array([3.0, 1.0, 0.3]), np.array([4.0, 2.5, 0.4])).tolist() == [0.4, 2.0, 4.0]


def test_nearest_points_of_round_shapes():
    shapes = [
        Plane((0, 0, 1), (0, 0, 2), "glass"),
        Plate((0, 0, 0), (0, 0, 1), "glass", inner_radius=1.0, outer_radius=2.0),
        Cylinder((0, 0, 0), (0, 0, 1), 1.0, "glass", length=2.0),
    ]
    boundaries = make_boundaries([Boundary("all", shapes)], ["glass"], 0.1)
    found = {
        (0, (3.0, 0.0, 1.5)): (0.0, 0.0, 1.0, 0.5),
        (1, (1.5, 0.0, -0.5)): (0.0, 0.0, -1.0, 0.5),
        (1, (0.7, 0.0, 0.4)): (-0.6, 0.0, 0.8, 0.5),
        (1, (0.0, 2.6, 0.8)): (0.0, 0.6, 0.8, 1.0),
        (2, (0.5, 0.0, 0.3)): (-1.0, 0.0, 0.0, 0.5),
        (2, (0.0, 1.5, 0.3)): (0.0, 1.0, 0.0, 0.5),
        (2, (1.6, 0.0, 1.8)): (0.6, 0.0, 0.8, 1.0),
    }
    for (shape, point), expected in found.items():
        assert nearest.py_func(boundaries, shape, point) == pytest.approx(expected, abs=1e-15)


@given(st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3), st.integers(0, 99))
def test_nearest_point_of_a_triangle_is_the_least_distance(point, seed):
    """No point of a fine net of the triangle is nearer, and the one found is in it."""
    corners = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, 3))
    found = np.array(nearest_of_triangle.py_func(corners.reshape(1, 9), 0, point))
    s, r = np.meshgrid(np.linspace(0.0, 1.0, 41), np.linspace(0.0, 1.0, 41))
    inside = s + r <= 1.0
    net = corners[0] + s[inside, None] * (corners[1] - corners[0]) + r[inside, None] * (corners[2] - corners[0])
    least = np.linalg.norm(net - point, axis=1).min()
    distance = np.linalg.norm(found - point)
    assert distance <= least + 1e-12
    weights = np.linalg.lstsq(np.vstack([corners.T, np.ones(3)]), np.append(found, 1.0), rcond=None)[0]
    assert (weights >= -1e-9).all() and np.allclose(corners.T @ weights, found, atol=1e-9)
