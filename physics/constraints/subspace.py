"""Subspace Newton steps: solve the impulses of all rows, and of all contacts that press, at once.

Sweeps quickly find which contacts press and which slip, but are slow to distribute the load between them. Between
sweeps these states are therefore kept, and the remaining equations are solved by a step of Newton's method (compare
Silcowitz, Niebe and Erleben, Projected Gauss-Seidel Subspace Minimization Method for Interactive Rigid Body Dynamics,
2010, and Alart and Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods,
1991):

- a contact that presses has its normal speed, J_n v = b;
- one that sticks does not slide, J_t v = 0;
- one that slips has the friction mu p_n d, with the direction d against its slip: the slip speed gives the direction e
  across d a compliance, J_e v + |J_d v| / (mu p_n) dp_e = 0;
- a row that is held or stopped has that speed, and one on its spring obeys its law.

The equations may be redundant. Each one is met by a very stiff spring, dp = G (b - J v) with a small matrix G for each
contact, so that the system is as large as the island's number of coordinates, (I + W^T G W) u' = u + W^T G b. A step
ends at the first contact that reaches its cone boundary; that contact then slips, or no longer presses, and another
round follows without it. Then the sweeps continue.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.constraints.islands import Islands
from grouser.physics.constraints.rows import IMMOVABLE, Rows, push_along, row_speed, speed_along, spring_impulse
from grouser.physics.multibody.elimination import eliminate

# Stiffness of an equation, as a multiple of the effective mass of its row.
_WEIGHT = 1e7
# A contact sticks while its friction is below this share of its limit.
_STICKING = 1.0 - 1e-9
# A contact no longer presses when its impulse falls below this share.
_LIFTED = 1e-12
# Limit of the rounds: each takes one contact to its cone boundary, or one row to its bound.
_MOST_ROUNDS = 8
# Without slip every pivot is at least one; a smaller one than this means that friction jams.
_LEAST_PIVOT = 1e-3
# Islands with more coordinates use sweeps alone: the matrix is dense.
MOST_COORDINATES = 200


class Subspace(NamedTuple):
    """Buffers of a Newton step.

    Attributes:
        matrix: I + W^T G W, (coordinates, coordinates).
        right: right side of the system, then its solution, in the order of the island, (coordinates,).
        u: whitened velocity after the step, (coordinates,).
        slips: whether a contact slips.
        gain: G of each contact, (contacts, 3, 3) [kg].
        wanted: b of each contact's normal [m/s].
        change: dp of each contact, (contacts, 3) [N s].
        row_acts: whether a row takes part in the step.
        row_gain, row_wanted, row_change: G, b and dp of each row.
        row_lower, row_upper: bounds of a row's impulse while it is held or stopped [N s].
    """

    matrix: np.ndarray
    right: np.ndarray
    u: np.ndarray
    slips: np.ndarray
    gain: np.ndarray
    wanted: np.ndarray
    change: np.ndarray
    row_acts: np.ndarray
    row_gain: np.ndarray
    row_wanted: np.ndarray
    row_change: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray


def make_subspace(rows: int, contacts: int, coordinates: int) -> Subspace:
    """Buffers of the right sizes."""
    return Subspace(
        np.zeros((coordinates, coordinates)),
        np.zeros(coordinates),
        np.zeros(coordinates),
        np.zeros(contacts, dtype=np.bool_),
        np.zeros((contacts, 3, 3)),
        np.zeros(contacts),
        np.zeros((contacts, 3)),
        np.zeros(rows, dtype=np.bool_),
        *[np.zeros(rows) for _ in range(5)],
    )


@kernel
def subspace_newton_step(rows: Rows, contact_rows, islands: Islands, island, subspace: Subspace, u):
    """Solves the rows of an island and those of its contacts that press; changes their impulses and u.

    Args:
        rows, contact_rows: with impulses already in u.
        islands, island: the island.
        subspace: buffers.
        u: whitened velocity.
    """
    slips = subspace.slips
    size = islands.rate_start[island + 1] - islands.rate_start[island]
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        subspace.row_acts[r] = rows.inverse_mass[r] >= IMMOVABLE
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        impulse = contact_rows.impulse[c]
        slips[c] = math.sqrt(impulse[1] ** 2 + impulse[2] ** 2) >= _STICKING * contact_rows.friction[c] * impulse[0]
    for _ in range(_MOST_ROUNDS):
        _start_system(islands, island, subspace, u)
        _collect_rows(rows, islands, island, subspace, u)
        _collect_contacts(contact_rows, islands, island, subspace, u)
        if not eliminate(subspace.matrix, subspace.right, size, _LEAST_PIVOT):
            return
        for k in range(size):
            subspace.u[islands.rate[islands.rate_start[island] + k]] = subspace.right[k]
        share, first = _find_contact_changes(contact_rows, islands, island, subspace)
        row_share, first_row = _find_row_changes(rows, islands, island, subspace)
        share = min(share, row_share)
        _move_rows(rows, islands, island, subspace, share, u)
        for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
            c = islands.contact[k]
            if contact_rows.impulse[c, 0] > 0.0:
                _move_contact(contact_rows, c, share, subspace.change[c], u)
        if share == 1.0:
            return
        if share == row_share:
            subspace.row_acts[first_row] = False
        else:
            slips[first] = True


@kernel
def _start_system(islands: Islands, island, subspace: Subspace, u):
    """Initialises the matrix by I and the right side by u."""
    matrix, right, first = subspace.matrix, subspace.right, islands.rate_start[island]
    size = islands.rate_start[island + 1] - first
    for i in range(size):
        for j in range(size):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
        right[i] = u[islands.rate[first + i]]


@kernel
def _collect_rows(rows: Rows, islands: Islands, island, subspace: Subspace, u):
    """Adds the equations of the rows."""
    local = islands.local
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        subspace.row_gain[r] = 0.0
        if subspace.row_acts[r]:
            _find_row_gain(rows, r, subspace, u)
        gain = subspace.row_gain[r]
        if gain > 0.0:
            jacobian = rows.whitened_jacobian[r]
            for i in range(rows.first[r], rows.last[r]):
                pull = gain * jacobian[i]
                if pull != 0.0:
                    subspace.right[local[i]] += pull * subspace.row_wanted[r]
                    for j in range(rows.first[r], rows.last[r]):
                        subspace.matrix[local[i], local[j]] += pull * jacobian[j]


@kernel
def _find_row_gain(rows: Rows, r, subspace: Subspace, u):
    """G and b of row r, and the bounds of its impulse."""
    inverse, impulse, conductance = rows.inverse_mass[r], rows.impulse[r], rows.conductance[r]
    speed = speed_along(rows, r, u) - inverse * impulse
    wanted = row_speed(rows, r, speed, inverse)
    subspace.row_lower[r], subspace.row_upper[r] = -math.inf, math.inf
    held = rows.hold_bound[r] > 0.0 and wanted == rows.hold_speed[r]
    if held or wanted == rows.slowest[r] or wanted == rows.fastest[r]:
        spring = spring_impulse(rows, r, wanted)
        if held or wanted == rows.slowest[r]:
            subspace.row_lower[r] = spring - rows.hold_bound[r]
        if held or wanted == rows.fastest[r]:
            subspace.row_upper[r] = spring + rows.hold_bound[r]
        subspace.row_gain[r], subspace.row_wanted[r] = _stiffness(inverse, 0.0), wanted
    elif conductance > 0.0 and conductance * abs(rows.target[r] - wanted) <= rows.spring_bound[r]:
        subspace.row_gain[r] = _stiffness(inverse, 1.0 / conductance)
        subspace.row_wanted[r] = wanted + ((wanted - speed) / inverse - impulse) / conductance


@kernel
def _find_row_changes(rows: Rows, islands: Islands, island, subspace: Subspace):
    """Changes of the rows' impulses; share of them within all bounds, and the first row that reaches its bound."""
    share, first = 1.0, -1
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if subspace.row_gain[r] > 0.0:
            change = subspace.row_gain[r] * (subspace.row_wanted[r] - speed_along(rows, r, subspace.u))
            subspace.row_change[r] = change
            bound = subspace.row_upper[r] if change > 0.0 else subspace.row_lower[r]
            room = (bound - rows.impulse[r]) * (1.0 if change > 0.0 else -1.0)
            if abs(change) > room:
                within = max(room, 0.0) / abs(change)
                if within < share:
                    share, first = within, r
    return share, first


@kernel
def _move_rows(rows: Rows, islands: Islands, island, subspace: Subspace, share, u):
    """Changes the rows' impulses by a share of the step."""
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if subspace.row_gain[r] > 0.0:
            step = share * subspace.row_change[r]
            rows.impulse[r] += step
            push_along(rows, r, step, u)


@kernel
def _find_contact_changes(rows, islands: Islands, island, subspace: Subspace):
    """Changes of the contacts' impulses; share within all cones, and the first contact that reaches its boundary."""
    share, first = 1.0, -1
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if rows.impulse[c, 0] > 0.0:
            change = subspace.change[c]
            _find_change(rows, c, subspace.gain[c], subspace.wanted[c], subspace.u, change)
            within = _share_within_cone(rows.impulse[c], change, rows.friction[c], subspace.slips[c])
            if within < share:
                share, first = within, c
    return share, first


@kernel
def _collect_contacts(rows, islands: Islands, island, subspace: Subspace, u):
    """Adds the equations of the contacts."""
    matrix, right, local = subspace.matrix, subspace.right, islands.local
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        impulse = rows.impulse[c]
        if impulse[0] <= 0.0:
            continue
        jacobian, index, gain = rows.whitened_jacobian[c], rows.index[c], subspace.gain[c]
        wanted = rows.target[c] - rows.compliance[c] * impulse[0]
        subspace.wanted[c] = wanted
        _find_gain(rows, c, subspace.slips[c], u, gain)
        for a in range(rows.size[c]):
            i = local[index[a]]
            x, y, z = jacobian[a, 0], jacobian[a, 1], jacobian[a, 2]
            n = x * gain[0, 0] + y * gain[1, 0] + z * gain[2, 0]
            x, y, z = (
                n,
                x * gain[0, 1] + y * gain[1, 1] + z * gain[2, 1],
                x * gain[0, 2] + y * gain[1, 2] + z * gain[2, 2],
            )
            right[i] += n * wanted
            for b in range(rows.size[c]):
                matrix[i, local[index[b]]] += x * jacobian[b, 0] + y * jacobian[b, 1] + z * jacobian[b, 2]


@kernel
def _find_gain(rows, c, slips, u, gain):
    """G of contact c, which presses."""
    impulse, inverse = rows.impulse[c], rows.inverse_mass[c]
    for i in range(3):
        for j in range(3):
            gain[i, j] = 0.0
    gain[0, 0] = _stiffness(inverse[0], rows.compliance[c])
    friction = math.sqrt(impulse[1] * impulse[1] + impulse[2] * impulse[2])
    if not slips:
        gain[1, 1], gain[2, 2] = _stiffness(inverse[1], 0.0), _stiffness(inverse[2], 0.0)
    elif friction > 0.0:
        jacobian, index = rows.whitened_jacobian[c], rows.index[c]
        x, y = impulse[1] / friction, impulse[2] / friction
        slip = 0.0
        for k in range(rows.size[c]):
            slip -= (jacobian[k, 1] * x + jacobian[k, 2] * y) * u[index[k]]
        across = _stiffness(inverse[1] * y * y + inverse[2] * x * x, max(slip, 0.0) / friction)
        gain[1, 0], gain[2, 0] = rows.friction[c] * x * gain[0, 0], rows.friction[c] * y * gain[0, 0]
        gain[1, 1], gain[1, 2] = across * y * y, -across * x * y
        gain[2, 1], gain[2, 2] = gain[1, 2], across * x * x


@kernel
def _stiffness(inverse_mass, compliance):
    """Stiffness of an equation; zero for an immovable row."""
    if inverse_mass < IMMOVABLE:
        return 0.0
    return 1.0 / (inverse_mass / _WEIGHT + compliance)


@kernel
def _find_change(rows, c, gain, wanted, u, change):
    """dp of contact c from the velocity after the step."""
    jacobian, index = rows.whitened_jacobian[c], rows.index[c]
    x, y, z = wanted, 0.0, 0.0
    for k in range(rows.size[c]):
        d = index[k]
        x -= jacobian[k, 0] * u[d]
        y -= jacobian[k, 1] * u[d]
        z -= jacobian[k, 2] * u[d]
    for i in range(3):
        change[i] = gain[i, 0] * x + gain[i, 1] * y + gain[i, 2] * z


@kernel
def _share_within_cone(impulse, change, friction, slips):
    """Share of a change within which a contact still presses and, if it sticks, still sticks."""
    share = 1.0
    if impulse[0] + change[0] < 0.0:
        share = -impulse[0] / change[0]
    if not slips:
        # along the step, friction^2 - limit^2 is a s^2 + 2 b s + c
        most, growth = friction * impulse[0], friction * change[0]
        a = change[1] * change[1] + change[2] * change[2] - growth * growth
        b = impulse[1] * change[1] + impulse[2] * change[2] - most * growth
        # several contacts may reach their boundary at once: rounding must not put one outside
        c = min(impulse[1] * impulse[1] + impulse[2] * impulse[2] - most * most, 0.0)
        if (a * share + 2.0 * b) * share + c > 0.0:
            root = math.sqrt(max(b * b - a * c, 0.0))
            share = min(share, -c / (b + root) if b > 0.0 else (root - b) / a)
    return share


@kernel
def _move_contact(rows, c, share, change, u):
    """Changes the impulses of contact c by a share of the step; limits its friction."""
    impulse, jacobian, index = rows.impulse[c], rows.whitened_jacobian[c], rows.index[c]
    normal = impulse[0] + share * change[0]
    if normal < _LIFTED * impulse[0]:
        normal = 0.0
    x, y = impulse[1] + share * change[1], impulse[2] + share * change[2]
    size, most = math.sqrt(x * x + y * y), rows.friction[c] * normal
    if size > most:
        x, y = x * most / size, y * most / size
    dn, dx, dy = normal - impulse[0], x - impulse[1], y - impulse[2]
    impulse[0], impulse[1], impulse[2] = normal, x, y
    for k in range(rows.size[c]):
        u[index[k]] += jacobian[k, 0] * dn + jacobian[k, 1] * dx + jacobian[k, 2] * dy
