"""Rotations and spatial vectors, compiled and interpreted, against scipy and plain matrices."""

import math

import numpy as np
import pytest
from hypothesis import given as given_within_deadline
from hypothesis import settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from grouser.physics.base import spatial

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, lambda leaf: leaf.py_func], ids=["compiled", "python"])
ROUND_OFF = 1e-13


def given(**strategies):
    """Random arguments, without a deadline: the first call may compile."""
    return lambda test: settings(deadline=None)(given_within_deadline(**strategies)(test))


number = st.floats(-10.0, 10.0)
vector = st.lists(number, min_size=3, max_size=3).map(np.array)
twist = st.lists(number, min_size=6, max_size=6).map(np.array)
# rotations up to half a circle, tiny ones as likely as large ones
turn = st.builds(
    lambda axis, log_angle: (axis, 10.0**log_angle),
    vector.filter(lambda axis: np.linalg.norm(axis) > 0.1),
    st.floats(-12.0, math.log10(3.1)),
).map(lambda pair: pair[0] / np.linalg.norm(pair[0]) * pair[1])
quaternion = st.lists(number, min_size=4, max_size=4).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1)
unit_quaternion = quaternion.map(lambda q: q / np.linalg.norm(q))


def close(value, expected, tolerance=ROUND_OFF):
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def crossed(v):
    """The 6 x 6 matrix of the twist v's cross product with twists."""
    linear, angular = spatial.skew(v[:3]), spatial.skew(v[3:])
    return np.block([[angular, linear], [np.zeros((3, 3)), angular]])


@BOTH
@given(a=vector, b=vector)
def test_cross(of, a, b):
    close(of(spatial.cross)(*a, *b), np.cross(a, b), tolerance=1e-12)


@given(a=vector, b=vector)
def test_skew_is_the_cross_product(a, b):
    close(spatial.skew(a) @ b, np.cross(a, b), tolerance=1e-12)


@BOTH
@given(a=unit_quaternion, b=unit_quaternion)
def test_quaternion_product_is_composition(of, a, b):
    product = np.array(of(spatial.quaternion_product)(*a, *b))

    close(np.linalg.norm(product), 1.0)
    close(spatial.matrix(product), spatial.matrix(a) @ spatial.matrix(b))
    close(spatial.matrix(product), (Rotation.from_quat(a) * Rotation.from_quat(b)).as_matrix())


@BOTH
@given(a=unit_quaternion)
def test_quaternion_conjugate_is_the_inverse(of, a):
    close(of(spatial.quaternion_product)(*a, *(-a[:3]), a[3]), (0.0, 0.0, 0.0, 1.0))


@BOTH
@given(r=turn)
def test_quaternion_exponential(of, r):
    q = np.array(of(spatial.quaternion_exponential)(*r))

    close(np.linalg.norm(q), 1.0)
    assert q[3] >= 0.0  # up to half a circle
    # relative, so that tiny rotations keep their digits
    np.testing.assert_allclose(q[:3], Rotation.from_rotvec(r).as_quat()[:3], rtol=1e-12, atol=0.0)
    close(spatial.matrix(q), expm(spatial.skew(r)), tolerance=1e-12)


@BOTH
def test_quaternion_exponential_of_zero(of):
    assert of(spatial.quaternion_exponential)(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0, 1.0)


@BOTH
@pytest.mark.parametrize("angle", [1e-3 * (1.0 - 1e-9), 1e-3 * (1.0 + 1e-9)])
def test_quaternion_exponential_is_continuous_at_its_series(of, angle):
    _, _, z, w = of(spatial.quaternion_exponential)(0.0, 0.0, angle)

    assert z == pytest.approx(math.sin(angle / 2), rel=4e-16)
    assert w == pytest.approx(math.cos(angle / 2), rel=4e-16)


@BOTH
@given(r=turn)
def test_quaternion_logarithm_inverts_the_exponential(of, r):
    found = of(spatial.quaternion_logarithm)(*spatial.quaternion_exponential(*r))

    np.testing.assert_allclose(found, r, rtol=1e-12, atol=1e-12 * np.linalg.norm(r))


@BOTH
@given(q=unit_quaternion)
def test_quaternion_logarithm_is_at_most_pi(of, q):
    found = np.array(of(spatial.quaternion_logarithm)(*q))

    assert np.linalg.norm(found) <= math.pi + ROUND_OFF
    close(spatial.matrix(spatial.quaternion_exponential(*found)), spatial.matrix(q), tolerance=1e-12)
    if abs(q[3]) > 1e-12:
        close(of(spatial.quaternion_logarithm)(*(-q)), found)


@BOTH
@pytest.mark.parametrize("sine", [1e-4 * (1.0 - 1e-9), 1e-4 * (1.0 + 1e-9)])
def test_quaternion_logarithm_is_continuous_at_its_series(of, sine):
    found = of(spatial.quaternion_logarithm)(sine, 0.0, 0.0, math.sqrt(1.0 - sine * sine))

    # the series' next term is sine^4 / 5
    assert found[0] == pytest.approx(2.0 * math.asin(sine), rel=3e-16 + sine**4)


@BOTH
@given(q=unit_quaternion)
def test_rotation_matrix(of, q):
    rotation = np.reshape(of(spatial.rotation_matrix)(*q), (3, 3))

    close(rotation, Rotation.from_quat(q).as_matrix())
    close(rotation @ rotation.T, np.eye(3))
    close(np.linalg.det(rotation), 1.0)
    close(spatial.matrix(q), rotation)


@BOTH
@given(r=turn, t=vector)
def test_screw_displacement(of, r, t):
    """The translation of the exponential of the twist's 4 x 4 matrix."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = spatial.skew(r), t

    close(of(spatial.screw_displacement)(*r, *t), expm(matrix)[:3, 3], tolerance=1e-11)


HALF_TURNS = [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.6, 0.8, 0.0, 0.0)]


@BOTH
@given(q=st.one_of(unit_quaternion, st.sampled_from(HALF_TURNS).map(np.array)))
def test_quaternion_from_matrix(of, q):
    found = np.array(of(spatial.quaternion_from_matrix)(spatial.matrix(q)))

    assert found[3] >= 0.0
    assert min(np.abs(found - q).max(), np.abs(found + q).max()) < 1e-12


@BOTH
@given(quaternions=st.lists(unit_quaternion, max_size=4))
def test_quaternions_from_matrices(of, quaternions):
    matrices = np.array([spatial.matrix(q) for q in quaternions]).reshape(-1, 3, 3)
    found = np.full((len(matrices), 4), np.nan)
    of(spatial.quaternions_from_matrices)(matrices, found)

    assert found.tolist() == [list(spatial.quaternion_from_matrix(matrix)) for matrix in matrices]


@BOTH
@given(v=twist, com=vector, mass=st.floats(0.1, 100.0), entries=st.lists(number, min_size=6, max_size=6))
def test_momentum(of, v, com, mass, entries):
    """Against the 6 x 6 matrix of a body: m 1, first moments, and the inertia about the origin."""
    xx, xy, xz, yy, yz, zz = entries
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    rows = np.zeros((2, 10))
    rows[1] = [*entries, *(mass * com), mass]
    moment = mass * spatial.skew(com)
    matrix = np.block([[mass * np.eye(3), -moment], [moment, about_origin]])

    close(of(spatial.momentum)(rows, 1, *v), matrix @ v, tolerance=1e-11)


@BOTH
@given(v=twist, a=twist)
def test_cross_motion(of, v, a):
    close(of(spatial.cross_motion)(*v, *a), crossed(v) @ a, tolerance=1e-12)


@BOTH
@given(v=twist, f=twist)
def test_cross_force_is_the_dual(of, v, f):
    close(of(spatial.cross_force)(*v, *f), -crossed(v).T @ f, tolerance=1e-12)


@BOTH
@given(v=twist)
def test_cross_motion_of_a_twist_with_itself_is_zero(of, v):
    close(of(spatial.cross_motion)(*v, *v), np.zeros(6), tolerance=1e-12)
