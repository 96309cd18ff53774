"""Integration of positions along a velocity: against matrix exponentials, and where it is exact."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from uncompiled import uncompiled

import grouser
from grouser.physics.base import spatial
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, JointLimit, Link, Mimic
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.build import build_model
from grouser.physics.model.multibody import FREE, SPHERICAL
from grouser.physics.multibody.integration import integrate_positions

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, uncompiled], ids=["compiled", "python"])
ALL_JOINTS = Path(__file__).parents[1] / "data" / "machines" / "all_joints.urdf"

BODY = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
speeds = st.floats(-3.0, 3.0)
# from far below to far above the limit of the series
scale = st.floats(-9.0, 0.3).map(lambda power: 10.0**power)


def chain(*joints):
    """A machine on a fixed base with all joints attached to it."""
    links = (Link("ground"), *(Link(joint.child, BODY) for joint in joints))
    return Packed(build_model(Machine("chain", links, joints, "ground", floating_base=False))[0])


def joint(name, kind, mimic=None):
    return Joint(name, kind, "ground", f"{name}_link", axis=(0.0, 0.0, 1.0), limit=JointLimit(), mimic=mimic)


FREE_BODY = chain(joint("free", "floating"))
PUCK = chain(joint("puck", "planar"))
BALL = chain(joint("ball", "spherical"))


def pose(q):
    """The 4 x 4 matrix of a floating joint's positions."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = spatial.matrix(q[3:7]), q[:3]
    return result


@BOTH
@settings(deadline=None)
@given(v=st.lists(speeds, min_size=6, max_size=6).map(np.array), h=scale)
def test_floating_joint_integrates_by_the_exponential_map_of_se3(of, v, h):
    q = np.array([0.0, 0.0, 0.0, 0.5, -0.5, 0.1, 0.7])
    q[3:] /= np.linalg.norm(q[3:])
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = spatial.skew(v[3:]), v[:3]
    moved = q.copy()

    of(integrate_positions)(FREE_BODY, moved, v, h)

    assert np.linalg.norm(moved[3:]) == pytest.approx(1.0, abs=4e-16)
    end = pose(q) @ expm(h * twist)
    # the reference loses three digits by its repeated squaring
    np.testing.assert_allclose(pose(moved)[:3, :3], end[:3, :3], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(moved[:3], end[:3, 3], rtol=0.0, atol=1e-12 * h * max(np.abs(v[:3]).max(), 1e-9))


@BOTH
@settings(deadline=None)
@given(v=st.lists(speeds, min_size=3, max_size=3).map(np.array), h=scale)
def test_spherical_joint_integrates_by_the_exponential_map_of_so3(of, v, h):
    q = np.array([0.5, -0.5, 0.1, 0.7])
    q /= np.linalg.norm(q)
    moved = q.copy()

    of(integrate_positions)(BALL, moved, v, h)

    assert np.linalg.norm(moved) == pytest.approx(1.0, abs=4e-16)
    # the reference loses three digits by its repeated squaring
    end = spatial.matrix(q) @ expm(h * spatial.skew(v))
    np.testing.assert_allclose(spatial.matrix(moved), end, rtol=0.0, atol=1e-12)


@BOTH
@settings(deadline=None)
@given(v=st.lists(speeds, min_size=3, max_size=3).map(np.array), h=scale)
def test_planar_joint_integrates_by_the_exponential_map_of_se2(of, v, h):
    q = np.array([0.3, -0.2, 0.7])
    twist = h * np.array([[0.0, -v[2], v[0]], [v[2], 0.0, v[1]], [0.0, 0.0, 0.0]])
    cosine, sine = np.cos(q[2]), np.sin(q[2])
    start = np.array([[cosine, -sine, q[0]], [sine, cosine, q[1]], [0.0, 0.0, 1.0]])
    end = start @ expm(twist)
    moved = q.copy()

    of(integrate_positions)(PUCK, moved, v, h)

    # round-off of the reference's repeated squaring, relative to the distance travelled
    np.testing.assert_allclose(moved[:2], end[:2, 2], rtol=0.0, atol=2e-14 * (1.0 + h * np.abs(v).max()))
    assert moved[2] == q[2] + h * v[2]  # an unbounded angle


@BOTH
@pytest.mark.parametrize("turn", [1e-3 * (1.0 - 1e-9), 1e-3 * (1.0 + 1e-9)])
def test_planar_integration_is_continuous_at_its_series(of, turn):
    """A quarter of an arc of unit speed: chord and sagitta in closed form."""
    for model, q, v in (
        (PUCK, np.zeros(3), np.array([1.0, 0.0, turn])),
        (FREE_BODY, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0, 0.0, turn])),
    ):
        of(integrate_positions)(model, q, v, 1.0)
        assert q[0] == pytest.approx(np.sin(turn) / turn, rel=1e-14)
        assert q[1] == pytest.approx(2.0 * np.sin(turn / 2) ** 2 / turn, rel=1e-12)


@BOTH
def test_integration_of_a_constant_velocity_is_exact(of):
    """One large step ends where many small ones do, for all kinds of joints together."""
    model = Packed(build_model(grouser.load_machine(ALL_JOINTS))[0])
    random = np.random.default_rng(3)
    v = random.normal(size=len(model.rate_damping))
    once, often = np.array(model.q_initial), np.array(model.q_initial)

    of(integrate_positions)(model, once, v, 0.5)
    for _ in range(64):
        of(integrate_positions)(model, often, v, 0.5 / 64)

    for at, kind in zip(model.body_q, model.body_kind, strict=True):
        last = {FREE: at + 6, SPHERICAL: at + 3}.get(kind)
        if last is not None and once[last] * often[last] < 0.0:
            often[last - 3 : last + 1] *= -1.0
    np.testing.assert_allclose(once, often, rtol=0.0, atol=1e-13)


@BOTH
def test_one_coordinate_joints_add_and_mimicking_joints_have_no_position(of):
    model = chain(
        joint("follower", "revolute", Mimic("leader", 3.0, 1.0)),
        joint("leader", "revolute"),
        joint("rail", "prismatic"),
        joint("axle", "continuous"),
    )
    q = np.array([0.1, 0.2, 6.0])

    of(integrate_positions)(model, q, np.array([1.0, -2.0, 5.0]), 0.5)

    assert q.tolist() == [0.6, -0.8, 8.5]
