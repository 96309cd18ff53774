"""Sequential impulses: Gauss-Seidel over all rows and contacts, in the half-solved velocity u = L v."""

import math

from grouser.physics.constraints.rows import IMMOVABLE, row_speed
from grouser.physics.kernel import kernel


@kernel
def dot(a, b):
    """Sum of products of two vectors of one length."""
    total = 0.0
    for d in range(a.shape[0]):
        total += a[d] * b[d]
    return total


@kernel
def add_scaled(u, row, scale):
    """u <- u + scale * row."""
    for d in range(u.shape[0]):
        u[d] += scale * row[d]


@kernel
def warm_start(rows, contact_rows, u):
    """Gives u the impulses that the rows begin with."""
    for r in range(rows.count[0]):
        add_scaled(u, rows.half[r], rows.impulse[r])
    for r in range(3 * contact_rows.count[0]):
        add_scaled(u, contact_rows.half[r], contact_rows.impulse[r])


@kernel
def solve_rows(rows, contact_rows, u, tolerance, most_sweeps):
    """Sweeps until no row changes its own speed by more than the tolerance.

    Args:
        rows: with impulses already in u.
        contact_rows: the same.
        u: half-solved velocity, changed in place.
        tolerance: largest change of speed of a row in a sweep that counts as converged [m/s or rad/s].
        most_sweeps: limit.

    Returns:
        Number of sweeps, and the largest change in the last one.
    """
    sweeps = 0
    change = 0.0
    while sweeps < most_sweeps:
        sweeps += 1
        change = max(_sweep_rows(rows, u), _sweep_contacts(contact_rows, u))
        if change <= tolerance:
            break
    return sweeps, change


@kernel
def _sweep_rows(rows, u):
    """One Gauss-Seidel pass over the rows; the largest change of a row's own speed."""
    largest = 0.0
    for r in range(rows.count[0]):
        inverse_mass = rows.inverse_mass[r]
        if inverse_mass < IMMOVABLE:
            continue
        half = rows.half[r]
        speed = dot(half, u) - inverse_mass * rows.impulse[r]
        impulse = (row_speed(rows, r, speed, inverse_mass) - speed) / inverse_mass
        step = impulse - rows.impulse[r]
        rows.impulse[r] = impulse
        add_scaled(u, half, step)
        largest = max(largest, abs(step) * inverse_mass)
    return largest


@kernel
def _sweep_contacts(contact_rows, u):
    """One pass over the contacts: each normal, then its two tangents inside the friction cone."""
    half, impulse, inverse_mass = contact_rows.half, contact_rows.impulse, contact_rows.inverse_mass
    largest = 0.0
    for c in range(contact_rows.count[0]):
        n = 3 * c
        compliance = contact_rows.compliance[c]
        slack = max(inverse_mass[n + 1], inverse_mass[n + 2])
        if inverse_mass[n] < IMMOVABLE:
            continue
        mass = 1.0 / (inverse_mass[n] + compliance)
        before = impulse[n]
        wanted = before + mass * (contact_rows.target[c] - dot(half[n], u) - compliance * before)
        impulse[n] = max(wanted, 0.0)
        step = impulse[n] - before
        add_scaled(u, half[n], step)
        largest = max(largest, abs(step) / mass)
        if slack < IMMOVABLE:
            continue
        # a common step along both tangents keeps the cone round
        first, second = impulse[n + 1], impulse[n + 2]
        x = first - dot(half[n + 1], u) / slack
        y = second - dot(half[n + 2], u) / slack
        most = contact_rows.friction[c] * impulse[n]
        size = math.sqrt(x * x + y * y)
        if size > most:
            x *= most / size
            y *= most / size
        impulse[n + 1], impulse[n + 2] = x, y
        add_scaled(u, half[n + 1], x - first)
        add_scaled(u, half[n + 2], y - second)
        largest = max(largest, slack * max(abs(x - first), abs(y - second)))
    return largest


@kernel
def solve_positions(rows, contact_rows, u, tolerance, most_sweeps, row_impulse, contact_impulse):
    """The velocity that positions are moved with: split impulses take position errors away without touching the
    momentum.

    Args:
        rows: with shift and its bounds.
        contact_rows: with shift.
        u: a copy of the half-solved velocity, on return the one that moves the positions.
        tolerance: as in `solve_rows`.
        most_sweeps: limit.
        row_impulse, contact_impulse: workspace, at least as long as the rows and the contacts.
    """
    for r in range(rows.count[0]):
        row_impulse[r] = 0.0
    for c in range(contact_rows.count[0]):
        contact_impulse[c] = 0.0
    for _ in range(most_sweeps):
        largest = 0.0
        for r in range(rows.count[0]):
            inverse_mass = rows.inverse_mass[r]
            lower, upper = rows.shift_lower[r], rows.shift_upper[r]
            if inverse_mass < IMMOVABLE or (lower == 0.0 and upper == 0.0):
                continue
            wanted = row_impulse[r] + (rows.shift[r] - dot(rows.half[r], u)) / inverse_mass
            wanted = min(max(wanted, lower), upper)
            step = wanted - row_impulse[r]
            row_impulse[r] = wanted
            add_scaled(u, rows.half[r], step)
            largest = max(largest, abs(step) * inverse_mass)
        for c in range(contact_rows.count[0]):
            n = 3 * c
            inverse_mass = contact_rows.inverse_mass[n]
            if inverse_mass < IMMOVABLE:
                continue
            wanted = contact_impulse[c] + (contact_rows.shift[c] - dot(contact_rows.half[n], u)) / inverse_mass
            wanted = max(wanted, 0.0)
            step = wanted - contact_impulse[c]
            contact_impulse[c] = wanted
            add_scaled(u, contact_rows.half[n], step)
            largest = max(largest, abs(step) * inverse_mass)
        if largest <= tolerance:
            break
