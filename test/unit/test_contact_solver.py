"""Contacts in the sequential impulses: slip on the friction cone, and the converged solution."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_island import solve_as_one_island

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.impulses import _project_to_cone, warm_start
from grouser.physics.constraints.rows import make_rows
from grouser.physics.contact.rows import _align_tangents, make_contact_rows

angles = st.floats(0.0, 2.0 * math.pi)
powers = st.floats(-4.0, 2.0).map(lambda power: 10.0**power)


@pytest.mark.parametrize("project", [_project_to_cone, _project_to_cone.py_func], ids=["compiled", "interpreted"])
@given(angle=angles, mobility_x=powers, mobility_y=powers, excess=st.floats(1e-3, 1e4))
@settings(max_examples=300, deadline=None)
def test_project_to_cone_maximises_the_dissipation(project, angle, mobility_x, mobility_y, excess):
    radius = 0.3
    stopping = (1.0 + excess) * radius * np.array([math.cos(angle), math.sin(angle)])
    friction = np.array(project(*stopping, mobility_x, mobility_y, radius))
    assert math.hypot(*friction) == pytest.approx(radius, rel=1e-14)
    # the remaining slip opposes the friction: 1e-12 of the radius by the search, as the pull's slope there
    slip = np.array([mobility_x, mobility_y]) * (friction - stopping)
    largest = max(mobility_x, mobility_y)
    assert slip @ friction < 0.0
    assert abs(slip[0] * friction[1] - slip[1] * friction[0]) < 1e-10 * (largest * radius + math.hypot(*slip)) * radius


def test_project_to_cone_is_zero_without_normal_force():
    assert _project_to_cone(3.0, -2.0, 1.0, 2.0, 0.0) == (0.0, 0.0)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_aligned_tangents_are_decoupled(seed):
    jacobian = np.random.default_rng(seed).normal(size=(5, 3))
    jacobian[3] *= 30.0
    before = jacobian.copy()
    rows = Packed(make_contact_rows(1, 5))
    rows.size[0], rows.frame[0], rows.whitened_jacobian[0] = 5, np.eye(3), jacobian
    rows.inverse_mass[0] = (jacobian**2).sum(axis=0)
    _align_tangents(rows, 0)
    frame, jacobian, inverse = rows.frame[0], rows.whitened_jacobian[0], rows.inverse_mass[0]
    assert (jacobian[:, 1] @ jacobian[:, 2]) ** 2 <= 1e-2 * inverse[1] * inverse[2] * (1.0 + 1e-12)
    assert inverse == pytest.approx((jacobian**2).sum(axis=0), rel=1e-12)
    # the tangents rotated about the normal keep the frame's orientation
    assert before @ frame.T == pytest.approx(jacobian, rel=1e-12, abs=1e-12)
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(frame) == pytest.approx(1.0)


def problem(seed, contacts, coordinates, friction=0.6):
    """Random contacts that share only the coordinates, and a velocity that makes them approach."""
    random = np.random.default_rng(seed)
    rows = Packed(make_contact_rows(contacts, coordinates))
    rows.count[0] = contacts
    rows.size[:] = coordinates
    rows.index[:] = np.arange(coordinates)
    rows.whitened_jacobian[:] = random.normal(size=rows.whitened_jacobian.shape)
    # tangents with very different mobilities, as those of a driven wheel
    rows.whitened_jacobian[:, :, 1] *= 0.1
    rows.friction[:] = friction
    for c in range(contacts):
        rows.inverse_mass[c] = (rows.whitened_jacobian[c] ** 2).sum(axis=0)
        _align_tangents(rows, c)
    u = random.normal(size=coordinates)
    return rows, u


def solve(rows, u, tolerance=1e-10, most_sweeps=10_000):
    none = Packed(make_rows(0, len(u)))
    warm_start(none, rows, u)
    return solve_as_one_island(none, rows, u, tolerance, most_sweeps)


def speeds(rows, u):
    return np.einsum("ckr,k->cr", rows.whitened_jacobian, u)


@pytest.mark.parametrize("seed", range(40))
def test_solved_contacts_satisfy_coulombs_law(seed):
    rows, u = problem(seed, contacts=4, coordinates=14)
    start = u.copy()
    _, left = solve(rows, u)
    assert left <= 1e-10
    speed, impulse = speeds(rows, u), rows.impulse
    # a hundred times the sweeps' residual: a contact's speed also changes by those swept after it
    assert speed[:, 0].min() > -1e-8
    assert np.abs(speed[:, 0] * impulse[:, 0]).max() < 1e-8
    size, most = np.hypot(*impulse[:, 1:].T), rows.friction * impulse[:, 0]
    assert (size <= most * (1.0 + 1e-12)).all()
    slip = np.hypot(*speed[:, 1:].T)
    assert slip[size < most * (1.0 - 1e-6)].max(initial=0.0) < 1e-8
    # slip dissipates the most: friction is opposite to it
    against = (speed[:, 1:] * impulse[:, 1:]).sum(axis=1) + slip * size
    assert np.abs(against).max() < 1e-8
    assert u - start == pytest.approx(np.einsum("ckr,cr->k", rows.whitened_jacobian, impulse), abs=1e-12)


def test_redundant_contacts_share_the_load_with_bounded_impulses():
    rows, u = problem(5, contacts=1, coordinates=6)
    many = Packed(make_contact_rows(6, 6))
    for name in ("size", "index", "frame", "whitened_jacobian", "inverse_mass", "friction"):
        getattr(many, name)[:] = getattr(rows, name)
    many.count[0] = 6
    u -= 3.0 * rows.whitened_jacobian[0, :, 0]
    alone, together = u.copy(), u.copy()
    solve(rows, alone)
    sweeps, _ = solve(many, together)
    assert together == pytest.approx(alone, abs=1e-8)
    assert many.impulse.sum(axis=0) == pytest.approx(rows.impulse[0], rel=1e-6)
    assert sweeps < 30
