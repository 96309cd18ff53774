"""Mass matrix and its branch-sparse factors on random trees, with coordinates that move several bodies."""

import numpy as np
import pytest
from elastic_shapes import random_shape
from hypothesis import given, settings
from hypothesis import strategies as st
from uncompiled import uncompiled

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ElasticCoordinate, Inertial, Joint, Link, Mimic
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import (
    factorise,
    multiply,
    solve,
    solve_transposed,
    solve_transposed_row,
)
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, uncompiled], ids=["compiled", "python"])
ROUND_OFF = 1e-11  # for matrices with a largest entry of one

ONE = ("revolute", "continuous", "prismatic")
KINDS = (*ONE, "planar", "floating", "spherical", "fixed")


@st.composite
def random_models(draw):
    """A tree of up to nine joints of any kind on random parents, with elastic links and mimicking joints."""
    count = draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(count)]
    parents = [draw(st.integers(0, i)) for i in range(count)]
    # a free body on an elastic link would have redundant coordinates
    stiff = {parent for parent, kind in zip(parents, kinds, strict=True) if kind == "floating"}
    elastic = [0 if i in stiff else draw(st.sampled_from((0, 0, 1, 2))) for i in range(count + 1)]
    leaders = [i for i, kind in enumerate(kinds) if kind in ONE and draw(st.booleans())]
    links = tuple(
        Link(f"link{i}", _inertial(random), elastic=(ElasticCoordinate("bending", 1.0),) * number)
        for i, number in enumerate(elastic)
    )
    joints = []
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        mimic = None
        if kind in ONE and leaders and i not in leaders and draw(st.booleans()):
            mimic = Mimic(f"joint{draw(st.sampled_from(leaders))}", random.uniform(-2.0, 2.0), 0.3)
        shape = random_shape(random, elastic[parent])
        pose = Pose(tuple(random.uniform(-1.0, 1.0, 3)), _unit(random, 4))
        names = f"joint{i}", kind, f"link{parent}", f"link{i + 1}"
        joints.append(Joint(*names, pose, _unit(random, 3), mimic=mimic, elastic_shape=shape))
    floating = draw(st.booleans()) or all(kind == "fixed" for kind in kinds)
    model, _ = build_model(
        Machine("tree", links, tuple(joints), "link0", floating_base=floating), longest_with_entries=99
    )
    model, q = Packed(model), np.array(model.q_initial)
    integrate_positions(model, q, random.normal(size=len(model.rate_damping)), 1.0)
    return model, q


def _unit(random, size):
    vector = random.normal(size=size)
    return tuple(vector / np.linalg.norm(vector))


def _inertial(random):
    pose = Pose(tuple(random.uniform(-0.3, 0.3, 3)), _unit(random, 4))
    return Inertial(pose, random.uniform(0.5, 5.0), (*(1.0, 0.1, 0.0), *(1.2, 0.05), 0.9))


def own_mass_matrix(of, model, q):
    """Ours, and the whole matrix as the sum of J^T I J over the bodies."""
    kinematics = Packed(make_kinematics(model))
    size, bodies = len(model.rate_damping), len(model.body_parent)
    update_kinematics(model, q, np.zeros(size), kinematics)
    found = Packed(make_mass_matrix(model))
    found.lower[:] = found.diagonal[:] = 7.0
    of(mass_matrix)(model, kinematics, np.zeros((bodies, 10)), found)
    reference = np.zeros((size, size))
    for body in range(bodies):
        jacobian = np.zeros((6, size))
        above = body
        while above >= 0:
            for c in range(model.column_start[above], model.column_start[above + 1]):
                jacobian[:, model.column_rate[c]] += kinematics.column[c]
            above = model.body_parent[above]
        xx, xy, xz, yy, yz, zz, hx, hy, hz, mass = kinematics.inertia[body]
        first = np.array([[0.0, -hz, hy], [hz, 0.0, -hx], [-hy, hx, 0.0]])
        inertia = np.block([[mass * np.eye(3), -first], [first, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]])
        reference += jacobian.T @ inertia @ jacobian
    return found, reference


def expanded(model, factor):
    """L with its diagonal; `factorise` stores the inverse of the diagonal."""
    lower = np.tril(full_matrix(model, factor))
    np.fill_diagonal(lower, 1.0 / factor.diagonal)
    return lower


@BOTH
@settings(deadline=None)
@given(case=random_models())
def test_mass_matrix_is_the_sum_over_bodies(of, case):
    mass, reference = own_mass_matrix(of, *case)

    full = full_matrix(case[0], mass)
    np.testing.assert_allclose(full, reference, rtol=0.0, atol=ROUND_OFF * np.abs(reference).max())


@BOTH
@settings(deadline=None)
@given(case=random_models())
def test_factorise_and_elimination_pattern(of, case):
    """M = L^T L, and L has no entries outside the pattern, fill-in included."""
    model, q = case
    mass, reference = own_mass_matrix(lambda leaf: leaf, model, q)
    assert of(factorise)(model, make_kinematics(model), mass) == -1
    factor = expanded(model, mass)

    np.testing.assert_allclose(factor.T @ factor, reference, rtol=0.0, atol=ROUND_OFF * np.abs(reference).max())
    allowed = np.eye(len(factor), dtype=bool)
    for k in range(len(factor)):
        columns = model.rate_first[k] + model.pattern[model.pattern_start[k] : model.pattern_start[k + 1]]
        assert (np.diff(columns) > 0).all() and (columns < k).all()
        allowed[k, columns] = True
    assert not factor[~allowed].any()


@BOTH
@settings(deadline=None)
@given(case=random_models(), seed=st.integers(0, 1000))
def test_triangular_solves_and_products(of, case, seed):
    model, q = case
    factored, reference = own_mass_matrix(lambda leaf: leaf, model, q)
    factorise(model, make_kinematics(model), factored)
    factor = expanded(model, factored)
    x = np.random.default_rng(seed).normal(size=len(factor))
    product, half, forward, whole = np.empty_like(x), x.copy(), x.copy(), x.copy()
    rows = np.full((3, len(x)), np.nan)
    rows[1] = x

    of(multiply)(model, factored, x, product)
    of(solve_transposed)(model, factored, half)
    square = of(solve_transposed_row)(model, factored, rows, 1, 0, len(x))
    of(solve)(model, factored, forward)
    of(solve_transposed)(model, factored, whole)
    of(solve)(model, factored, whole)

    conditioning = np.linalg.cond(reference) * 1e-14
    tolerance = {"rtol": 0.0, "atol": ROUND_OFF + conditioning * np.abs(x).max()}
    np.testing.assert_allclose(product, factor @ x, **tolerance)
    np.testing.assert_allclose(factor.T @ half, x, **tolerance)
    np.testing.assert_allclose(rows[1], half, **tolerance)
    assert square == pytest.approx(half @ half, rel=1e-12)
    assert np.isnan(rows[[0, 2]]).all()
    np.testing.assert_allclose(factor @ forward, x, **tolerance)
    np.testing.assert_allclose(reference @ whole, x, rtol=0.0, atol=tolerance["atol"] * np.abs(reference).max())


def two_blocks():
    """One joint from the world, and two in a row."""
    joints = [("base", "a"), ("base", "b"), ("b", "c")]
    links = ("base", *(child for _, child in joints))
    random = np.random.default_rng(3)
    return build_model(
        Machine(
            "trees",
            tuple(Link(name, _inertial(random)) for name in links),
            tuple(Joint(f"to_{child}", "continuous", parent, child) for parent, child in joints),
            "base",
            floating_base=False,
        )
    )


def test_blocks_share_the_columns_of_the_matrix():
    model, _ = two_blocks()

    assert model.rate_first.tolist() == [0, 1, 1]
    assert make_mass_matrix(model).lower.shape == (3, 2)
    assert (model.pattern_start.tolist(), model.pattern.tolist()) == ([0, 0, 0, 1], [0])


@BOTH
def test_multiply_in_place(of):
    model, _ = two_blocks()
    model, factor = Packed(model), Packed(make_mass_matrix(model))
    factor.diagonal[:] = 0.5, 0.25, 0.125  # L = [[2, 0, 0], [0, 4, 0], [0, 3, 8]]
    factor.lower[2, 0] = 3.0
    x = np.array([10.0, 1.0, 2.0])

    of(multiply)(model, factor, x, x)

    assert x.tolist() == [20.0, 4.0, 19.0]


@BOTH
@pytest.mark.parametrize("pivot", [0.0, -1.0, np.nan])
def test_factorise_returns_the_coordinate_of_a_bad_pivot(of, pivot):
    model, _ = two_blocks()
    model, matrix = Packed(model), Packed(make_mass_matrix(model))
    matrix.diagonal[:] = 1.0, pivot, 1.0

    assert of(factorise)(model, Packed(make_kinematics(model)), matrix) == 1
