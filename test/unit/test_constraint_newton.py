"""Newton's method for rows and contacts: its derivatives, its solutions against the laws, and shared loads."""

import numpy as np
import pytest
from one_island import constant, one_block, one_island

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.impulses import warm_start
from grouser.physics.constraints.island_matrix import clear_island, eliminate_island, order_island
from grouser.physics.constraints.islands import find_islands, make_islands
from grouser.physics.constraints.newton import (
    _assemble,
    _evaluate,
    _start,
    make_newton,
    remember_impulses,
    solve_by_newton,
)
from grouser.physics.constraints.rows import make_rows, row_speed
from grouser.physics.contact.rows import make_contact_rows


def random_contacts(random, contacts, coordinates, friction=0.7, resistance=0.0):
    """Contacts over all coordinates, with tangents of different mobility."""
    rows = Packed(make_contact_rows(contacts, coordinates))
    rows.count[0] = contacts
    rows.size[:], rows.index[:] = coordinates, np.arange(coordinates)
    rows.whitened_jacobian[:] = random.normal(size=rows.whitened_jacobian.shape) * (1.0, 0.3, 1.0)
    rows.turning[:] = random.normal(size=rows.turning.shape)
    rows.inverse_mass[:] = (rows.whitened_jacobian**2).sum(axis=1)
    rows.turning_inverse[:] = (rows.turning**2).sum(axis=1)
    rows.friction[:] = friction
    rows.spinning[:], rows.rolling[:] = resistance, 0.5 * resistance
    return rows


def random_rows(random, coordinates):
    """A spring, a bounded spring, a hold, a stop, and all of them on one row."""
    rows = Packed(make_rows(5, coordinates))
    rows.count[0] = 5
    rows.last[:] = coordinates
    rows.whitened_jacobian[:] = random.normal(size=(5, coordinates))
    rows.inverse_mass[:] = (rows.whitened_jacobian**2).sum(axis=1)
    rows.slowest[:], rows.fastest[:] = -np.inf, np.inf
    rows.spring_lower[:], rows.spring_upper[:] = -np.inf, np.inf
    rows.conductance[[0, 1, 4]] = 0.4, 3.0, 0.2
    rows.target[[0, 1, 4]] = 0.5, 2.0, -0.3
    rows.spring_lower[1], rows.spring_upper[1] = -0.1, 0.1
    rows.hold_bound[[2, 4]] = 0.2, 0.05
    rows.slowest[[3, 4]] = 0.1, -0.2
    return rows


def solver_for(rows, contacts, coordinates):
    newton = Packed(make_newton(len(rows.slot), len(contacts.size), coordinates))
    islands, island = one_island(rows, contacts, coordinates)
    order_island(*one_block(coordinates), rows, contacts, islands, island, newton.matrix)
    remember_impulses(rows, contacts, islands, island, newton)
    return newton, islands, island


@pytest.mark.parametrize("seed", range(12))
def test_assembled_matrix_is_the_derivative_of_the_residual(seed):
    random = np.random.default_rng(seed)
    rows, contacts = random_rows(random, 9), random_contacts(random, 3, 9, resistance=0.2)
    contacts.compliance[1] = 0.3
    newton, islands, island = solver_for(rows, contacts, 9)
    u = random.normal(size=9)
    newton.anchor[:] = random.normal(size=newton.anchor.shape)
    newton.row_anchor[:] = random.normal(size=5)
    _start(rows, contacts, islands, island, newton, u)
    parts = (rows, contacts, islands, island, newton)
    _evaluate(*parts, 7.0, u, False)
    _assemble(*parts)
    assert newton.right[newton.matrix.place] == pytest.approx(-newton.residual)
    place = newton.matrix.place.astype(int)
    found = newton.matrix.entry[:81].reshape(9, 9)[np.ix_(place, place)]
    expected = np.zeros((9, 9))
    for d in range(9):
        ends = []
        for way in (1e-6, -1e-6):
            moved = u.copy()
            moved[d] += way
            _evaluate(*parts, 7.0, moved, False)
            ends.append(newton.residual.copy())
        expected[:, d] = (ends[0] - ends[1]) / 2e-6
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_laws_on_foretold_branches_are_the_laws_where_the_branches_come_from(seed):
    random = np.random.default_rng(seed)
    rows, contacts = random_rows(random, 9), random_contacts(random, 3, 9, resistance=0.2)
    newton, islands, island = solver_for(rows, contacts, 9)
    u = random.normal(size=9)
    newton.anchor[:, 0] = random.normal(size=3)
    newton.row_anchor[:] = random.normal(size=5)
    _start(rows, contacts, islands, island, newton, u)
    parts = (rows, contacts, islands, island, newton)
    _evaluate(*parts, 7.0, u, False)
    residual, impulse = newton.residual.copy(), newton.impulse.copy()
    newton.foretold[:] = impulse
    newton.row_foretold[:] = np.transpose([newton.row_impulse, newton.row_speed])
    _evaluate(*parts, 7.0, u, True)
    assert newton.impulse == pytest.approx(impulse, abs=1e-12)
    assert newton.residual == pytest.approx(residual, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_solution_satisfies_all_hard_laws(seed):
    """Rows, contacts and their moments, with more laws than coordinates in every other case."""
    random = np.random.default_rng(seed)
    coordinates = 8 if seed % 2 else 14
    rows, contacts = random_rows(random, coordinates), random_contacts(random, 4, coordinates, resistance=0.1)
    u = random.normal(size=coordinates)
    u -= 2.0 * contacts.whitened_jacobian[:, :, 0].sum(axis=0)
    free = u.copy()
    newton, islands, island = solver_for(rows, contacts, coordinates)
    iterations, error = solve_by_newton(rows, contacts, islands, island, newton, u, 1e-9, 150)
    assert error <= 1e-9 and iterations < 150
    pushed = np.einsum("ckr,cr->k", contacts.whitened_jacobian, contacts.impulse)
    pushed += np.einsum("ckr,cr->k", contacts.turning, contacts.moment) + rows.whitened_jacobian.T @ rows.impulse
    assert u == pytest.approx(free + pushed, abs=1e-12)
    for r in range(5):
        speed, inverse = rows.whitened_jacobian[r] @ u, rows.inverse_mass[r]
        assert row_speed(rows, r, speed - inverse * rows.impulse[r], inverse) == pytest.approx(speed, abs=1e-8)
    speed = np.einsum("ckr,k->cr", contacts.whitened_jacobian, u)
    normal, tangents = contacts.impulse[:, 0], contacts.impulse[:, 1:]
    assert speed[:, 0].min() > -1e-8 and normal.min() >= 0.0
    assert np.abs(speed[:, 0] * normal).max() < 1e-8
    check_disk(speed[:, 1:], tangents, 0.7 * normal)
    turning = np.einsum("ckr,k->cr", contacts.turning, u)
    check_disk(turning[:, :1], contacts.moment[:, :1], 0.1 * normal)
    check_disk(turning[:, 1:], contacts.moment[:, 1:], 0.05 * normal)


def check_disk(speed, impulse, limit):
    """An impulse within its limit at zero speed, or at its limit against the speed."""
    size, fast = np.linalg.norm(impulse, axis=1), np.linalg.norm(speed, axis=1)
    assert (size <= limit * (1.0 + 1e-9) + 1e-12).all()
    assert fast[size < limit * (1.0 - 1e-5)].max(initial=0.0) < 1e-7
    assert np.abs((speed * impulse).sum(axis=1) + fast * size).max() < 1e-7


def feet(random, count, order):
    """A plate of 3 kg on feet on a circle, heave and two tilts, as contacts without friction, in an order."""
    angles = 2.0 * np.pi * np.arange(count) / count
    contacts = random_contacts(random, count, 3, friction=0.0)
    rows = np.stack([np.full(count, 1.0 / np.sqrt(3.0)), np.sin(angles) / 0.7, -np.cos(angles) / 0.7], axis=1)
    contacts.whitened_jacobian[:] = 0.0
    contacts.whitened_jacobian[:, :, 0] = rows[order]
    contacts.inverse_mass[:] = (contacts.whitened_jacobian**2).sum(axis=1)
    return contacts


@pytest.mark.parametrize("count", [4, 7, 16])
def test_feet_share_a_load_evenly_in_any_order(count):
    random = np.random.default_rng(count)
    for order in (np.arange(count), random.permutation(count)):
        contacts, none = feet(random, count, order), Packed(make_rows(0, 3))
        u = np.array([-np.sqrt(3.0) * 0.2, 0.0, 0.0])
        newton, islands, island = solver_for(none, contacts, 3)
        _, error = solve_by_newton(none, contacts, islands, island, newton, u, 1e-8, 150)
        assert error <= 1e-8
        assert contacts.impulse[:, 0] == pytest.approx(3.0 * 0.2 / count, rel=1e-6)


def test_prestress_of_the_last_step_stays():
    """Four feet that squeeze each other: only what the load requires is added."""
    random = np.random.default_rng(3)
    contacts, none = feet(random, 4, np.arange(4)), Packed(make_rows(0, 3))
    # opposite feet carry more: the sum and both moments of this pattern vanish
    contacts.impulse[:, 0] = 0.1 + np.array([0.04, -0.04, 0.04, -0.04])
    u = np.array([-np.sqrt(3.0) * 0.2, 0.0, 0.0])
    warm_start(none, contacts, u)
    newton, islands, island = solver_for(none, contacts, 3)
    solve_by_newton(none, contacts, islands, island, newton, u, 1e-8, 150)
    assert contacts.impulse[:, 0] == pytest.approx(0.15 + np.array([0.04, -0.04, 0.04, -0.04]), rel=1e-6)


def chain_of_blocks(random, sizes, links):
    """Blocks connected by contacts between pairs of them."""
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    last = first + np.repeat(sizes, sizes)
    starts, coordinates = np.cumsum([0, *sizes]), sum(sizes)
    contacts = Packed(make_contact_rows(len(links), coordinates))
    contacts.count[0] = len(links)
    for c, (one, other) in enumerate(links):
        index = sorted({*range(starts[one], starts[one + 1]), *range(starts[other], starts[other + 1])})
        contacts.size[c] = len(index)
        contacts.index[c, : len(index)] = index
    return constant(first), constant(last), contacts, coordinates


@pytest.mark.parametrize(
    "sizes, links",
    [
        ([4], [(0, 0)]),
        ([6, 2, 3], [(0, 1), (1, 2)]),
        ([6] * 5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]),
        ([3, 1, 6, 2, 5, 4], [(0, 2), (0, 3), (2, 5), (4, 5), (1, 3), (1, 5), (3, 4)]),
    ],
)
def test_elimination_by_blocks_against_numpy(sizes, links):
    random = np.random.default_rng(len(sizes))
    first, last, contacts, coordinates = chain_of_blocks(random, sizes, links)
    none = Packed(make_rows(0, coordinates))
    islands = Packed(make_islands(0, len(links), coordinates))
    find_islands(first, last, none, contacts, islands)
    assert islands.count[0] == 1
    matrix = Packed(make_newton(0, len(links), coordinates)).matrix
    order_island(first, last, none, contacts, islands, 0, matrix)
    assert sorted(matrix.place) == list(range(coordinates))
    clear_island(matrix)
    system = np.eye(coordinates)
    for c in range(len(links)):
        index = contacts.index[c, : contacts.size[c]].astype(int)
        part = random.normal(size=(len(index), len(index)))
        system[np.ix_(index, index)] += part + 3.0 * part @ part.T
    place = matrix.place.astype(int)
    entry = matrix.entry[: coordinates**2].reshape(coordinates, coordinates)
    values = np.zeros_like(system)
    values[np.ix_(place, place)] = system
    # entries outside the blocks and their fill-in are never read
    known = np.zeros_like(values, dtype=bool)
    for k in range(len(sizes)):
        own = places(matrix, k)
        beside = [places(matrix, j) for j in later(matrix, k)]
        for other in (own, *beside):
            known[np.ix_(own, other)] = known[np.ix_(other, own)] = True
    assert (values[~known] == 0.0).all()
    entry[:] = np.where(known, values, np.nan)
    right = random.normal(size=coordinates)
    solution = np.zeros(coordinates)
    solution[place] = right
    assert eliminate_island(matrix, solution, 1e-9)
    assert solution[place] == pytest.approx(np.linalg.solve(system, right), rel=1e-9, abs=1e-9)


def places(matrix, k):
    """Places of the coordinates of block k."""
    return np.arange(int(matrix.block_start[k]), int(matrix.block_start[k + 1]))


def later(matrix, k):
    """Blocks after block k that its elimination changes."""
    return matrix.later[int(matrix.later_start[k]) : int(matrix.later_start[k + 1])].astype(int)


def test_a_star_of_blocks_is_eliminated_without_fill_in():
    """The hub, although it comes first, is eliminated last."""
    random = np.random.default_rng(0)
    first, last, contacts, coordinates = chain_of_blocks(random, [6] * 9, [(0, k) for k in range(1, 9)])
    none, islands = Packed(make_rows(0, coordinates)), Packed(make_islands(0, 8, coordinates))
    find_islands(first, last, none, contacts, islands)
    matrix = Packed(make_newton(0, 8, coordinates)).matrix
    order_island(first, last, none, contacts, islands, 0, matrix)
    assert [len(later(matrix, k)) for k in range(9)] == [1] * 8 + [0]
