"""Contacts in the sequential impulses: slip on the friction cone, Newton steps, and the converged solution."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_island import one_island

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.impulses import _project_to_cone, solve_rows, warm_start
from grouser.physics.constraints.rows import make_rows
from grouser.physics.constraints.subspace import _share_within_cone, make_subspace, subspace_newton_step
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
    frame, before = np.eye(3), jacobian.copy()
    inverse = (jacobian**2).sum(axis=0)
    _align_tangents(5, frame, jacobian, inverse)
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
        _align_tangents(coordinates, rows.frame[c], rows.whitened_jacobian[c], rows.inverse_mass[c])
    u = random.normal(size=coordinates)
    return rows, u


def solve(rows, u, tolerance=1e-10, most_sweeps=10_000):
    none = Packed(make_rows(0, len(u)))
    warm_start(none, rows, u)
    subspace = Packed(make_subspace(0, len(rows.size), len(u)))
    return solve_rows(none, rows, *one_island(none, rows, len(u)), subspace, u, tolerance, most_sweeps)


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


@pytest.mark.parametrize("seed", range(10))
def test_subspace_newton_step_solves_sticking_contacts(seed):
    rows, u = problem(seed, contacts=3, coordinates=12, friction=1e6)
    u += rows.whitened_jacobian[:, :, 0].sum(axis=0) * -5.0
    rows.impulse[:] = (1.0, 0.0, 0.0)
    warm_start(Packed(make_rows(0, 12)), rows, u)
    before = np.abs(speeds(rows, u)).max()
    none = Packed(make_rows(0, len(u)))
    subspace_newton_step(none, rows, *one_island(none, rows, 12), Packed(make_subspace(0, 3, 12)), u)
    assert (rows.impulse[:, 0] > 0.0).all()
    # the equations' stiffness is 1e7 times the effective mass, and a tenth of that where three rows nearly agree
    assert np.abs(speeds(rows, u)).max() < 1e-6 * before


def test_subspace_newton_step_stops_at_the_cone_boundary():
    rows, u = problem(3, contacts=2, coordinates=8, friction=0.5)
    rows.impulse[:] = (1.0, 0.0, 0.0)
    u[:] = 0.0
    u -= 50.0 * rows.whitened_jacobian[0, :, 1]  # the first contact would need more friction than its limit
    warm_start(Packed(make_rows(0, 8)), rows, u)
    none = Packed(make_rows(0, len(u)))
    subspace_newton_step(none, rows, *one_island(none, rows, 8), Packed(make_subspace(0, 2, 8)), u)
    size, most = np.hypot(*rows.impulse[:, 1:].T), rows.friction * rows.impulse[:, 0]
    assert (size <= most * (1.0 + 1e-12)).all()
    assert (size > most * (1.0 - 1e-6)).sum() == 1


impulses = st.tuples(st.floats(1e-6, 1e3), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
changes = st.tuples(*[st.one_of(st.just(0.0), st.floats(-1e4, 1e4))] * 3)


@pytest.mark.parametrize("share_within", [_share_within_cone, _share_within_cone.py_func], ids=["compiled", "plain"])
@given(impulse=impulses, change=changes, friction=st.floats(0.01, 2.0), on_boundary=st.booleans())
@settings(max_examples=500, deadline=None)
def test_share_within_cone_ends_on_the_boundary_or_inside(share_within, impulse, change, friction, on_boundary):
    normal, *direction = impulse
    size = math.hypot(*direction)
    scale = friction * normal / max(size, 1e-300) if on_boundary and size > 0.0 else friction * normal * 0.7
    impulse = np.array([normal, scale * direction[0], scale * direction[1]])
    share = share_within(impulse, np.array(change), friction, False)
    assert 0.0 <= share <= 1.0
    end = impulse + share * np.array(change)
    reach = normal + np.abs(change).max() * share
    assert end[0] >= -1e-12 * reach
    assert math.hypot(*end[1:]) <= friction * end[0] + 1e-7 * (1.0 + friction) * reach


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
