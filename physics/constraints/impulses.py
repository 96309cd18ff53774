"""Sequential impulses: Gauss-Seidel over all rows and contacts, in the half-solved velocity u = L v."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import IMMOVABLE, add_scaled, dot, row_speed, spring_impulse
from grouser.physics.constraints.subspace import MOST_COORDINATES, subspace_newton_step

# A leap costs about as much as so many sweeps: it is made where more are to come.
_SWEEPS_OF_A_LEAP = 6
# Sweeps before the first leap; they double from leap to leap, so that in the end sweeps have the last word.
_FIRST_SWEEPS = 3
# A sweep that changes hardly less than the one before, or more, is taken to change so much of it.
_SLOWEST = 0.99
# Newton's rounds that a slipping contact takes at most: four where the mobilities differ a hundredfold.
_RIM_ROUNDS = 20


@kernel
def warm_start(rows, contact_rows, u):
    """Gives u the impulses that the rows begin with."""
    for r in range(rows.count[0]):
        add_scaled(u, rows.whitened_jacobian[r], rows.impulse[r])
    for c in range(contact_rows.count[0]):
        x, y, z = contact_rows.impulse[c, 0], contact_rows.impulse[c, 1], contact_rows.impulse[c, 2]
        add_packed(u, contact_rows.whitened_jacobian[c], contact_rows.index[c], contact_rows.size[c], x, y, z)
        if contact_rows.spinning[c] > 0.0 or contact_rows.rolling[c] > 0.0:
            x, y, z = contact_rows.moment[c, 0], contact_rows.moment[c, 1], contact_rows.moment[c, 2]
            add_packed(u, contact_rows.turning[c], contact_rows.index[c], contact_rows.size[c], x, y, z)


@kernel
def add_packed(u, half, index, size, x, y, z):
    """u <- u + the three packed rows times x, y, z."""
    for k in range(size):
        u[index[k]] += half[k, 0] * x + half[k, 1] * y + half[k, 2] * z


@kernel
def solve_rows(rows, contact_rows, subspace, u, tolerance, most_sweeps):
    """Sweeps until no row would change its own speed by more than the tolerance any more.

    Args:
        rows: with impulses already in u.
        contact_rows: the same.
        subspace: buffers of the leaps that follow sweeps.
        u: half-solved velocity, changed in place.
        tolerance: largest change of speed of a row, in the last sweep and in all that would follow it, that counts as
            converged [m/s or rad/s].
        most_sweeps: limit.

    Returns:
        Number of sweeps, and the largest change in the last one.
    """
    sweeps, due = 0, _FIRST_SWEEPS
    change = before = math.inf
    leaps = contact_rows.count[0] > 0 and u.shape[0] <= MOST_COORDINATES
    while sweeps < most_sweeps:
        sweeps += 1
        change = max(_sweep_rows(rows, u), _sweep_contacts(contact_rows, u))
        # each sweep to come is taken to change as much less as this one did; the first after a leap knows no better
        rate = min(change / before, _SLOWEST)
        to_come = max(change, change * rate / (1.0 - rate))
        before = change
        if to_come <= tolerance:
            break
        if leaps and due <= sweeps <= most_sweeps // 2 and to_come > tolerance * rate**-_SWEEPS_OF_A_LEAP:
            subspace_newton_step(rows, contact_rows, subspace, u)
            due = 2 * sweeps
            before = math.inf
    return sweeps, change


@inlined
def _sweep_rows(rows, u):
    """One Gauss-Seidel pass over the rows; the largest change of a row's own speed."""
    largest = 0.0
    for r in range(rows.count[0]):
        inverse_mass = rows.inverse_mass[r]
        half = rows.whitened_jacobian[r]
        if inverse_mass < IMMOVABLE:
            impulse = _push_at_rest(rows, r)
            add_scaled(u, half, impulse - rows.impulse[r])
            rows.impulse[r] = impulse
            continue
        speed = dot(half, u) - inverse_mass * rows.impulse[r]
        impulse = (row_speed(rows, r, speed, inverse_mass) - speed) / inverse_mass
        step = impulse - rows.impulse[r]
        if step != 0.0:
            rows.impulse[r] = impulse
            add_scaled(u, half, step)
            largest = max(largest, abs(step) * inverse_mass)
    return largest


@inlined
def _push_at_rest(rows, r):
    """Impulse of row r on what cannot move along it: what its hold and its stops leave of its spring."""
    push, hold = spring_impulse(rows, r, 0.0), rows.hold_bound[r]
    push -= min(max(push, -hold), hold)
    if rows.fastest[r] <= 0.0:
        push = min(push, 0.0)
    if rows.slowest[r] >= 0.0:
        push = max(push, 0.0)
    return push


@inlined
def _sweep_contacts(rows, u):
    """One pass over the contacts: each normal, then its two tangents inside the friction cone, then its moments."""
    largest = 0.0
    for c in range(rows.count[0]):
        half, index, size, impulse = rows.whitened_jacobian[c], rows.index[c], rows.size[c], rows.impulse[c]
        mobility, mobility_x, mobility_y = rows.inverse_mass[c, 0], rows.inverse_mass[c, 1], rows.inverse_mass[c, 2]
        if mobility < IMMOVABLE:
            # between what stands as it is, a contact need not press
            _let_go(rows, c, u)
            continue
        speed = 0.0
        for k in range(size):
            speed += half[k, 0] * u[index[k]]
        compliance = rows.compliance[c]
        before = impulse[0]
        after = max(before + (rows.target[c] - speed - compliance * before) / (mobility + compliance), 0.0)
        impulse[0] = after
        step = after - before
        largest = max(largest, abs(step) * (mobility + compliance))
        speed_x = speed_y = 0.0
        for k in range(size):
            moved = u[index[k]] + half[k, 0] * step
            u[index[k]] = moved
            speed_x += half[k, 1] * moved
            speed_y += half[k, 2] * moved
        # the tangents hardly move each other: `contact_rows` has aligned them; one may be immovable
        x = impulse[1] - speed_x / mobility_x if mobility_x >= IMMOVABLE else 0.0
        y = impulse[2] - speed_y / mobility_y if mobility_y >= IMMOVABLE else 0.0
        most = rows.friction[c] * after
        if x * x + y * y > most * most:
            x, y = _project_to_cone(x, y, max(mobility_x, IMMOVABLE), max(mobility_y, IMMOVABLE), most)
        dx, dy = x - impulse[1], y - impulse[2]
        impulse[1], impulse[2] = x, y
        for k in range(size):
            u[index[k]] += half[k, 1] * dx + half[k, 2] * dy
        largest = max(largest, mobility_x * abs(dx), mobility_y * abs(dy))
        if rows.spinning[c] > 0.0 or rows.rolling[c] > 0.0:
            change = _resist_turning(
                *(rows.turning[c], index, size, rows.turning_inverse[c], rows.moment[c]),
                *(rows.spinning[c] * after, rows.rolling[c] * after, u),
            )
            # as the speed of a point at the radius of gyration
            largest = max(largest, change * math.sqrt(mobility / max(rows.turning_inverse[c, 1], IMMOVABLE)))
    return largest


@kernel
def _let_go(rows, c, u):
    """Takes the impulses of contact c back."""
    impulse, moment = rows.impulse[c], rows.moment[c]
    add_packed(u, rows.whitened_jacobian[c], rows.index[c], rows.size[c], -impulse[0], -impulse[1], -impulse[2])
    if rows.spinning[c] > 0.0 or rows.rolling[c] > 0.0:
        add_packed(u, rows.turning[c], rows.index[c], rows.size[c], -moment[0], -moment[1], -moment[2])
    impulse[:] = 0.0
    moment[:] = 0.0


@kernel
def _project_to_cone(x, y, mobility_x, mobility_y, radius):
    """The friction of a contact that slips: within the disk of the radius, that which leaves the least energy.

    It is found where its pull, K (p0 - p) with the diagonal mobility K and the impulse p0 that would stop the contact,
    points along p: p = K p0 / (K + s). Newton's method on 1 / |p(s)|, which is nearly straight and bent one way.

    Args:
        x, y: p0, outside of the disk [N s].
        mobility_x, mobility_y: K [1/kg].
        radius: greatest friction [N s].
    """
    if radius <= 0.0:
        return 0.0, 0.0
    pull_x, pull_y = mobility_x * x, mobility_y * y
    shift = max(math.sqrt(pull_x * pull_x + pull_y * pull_y) / radius - max(mobility_x, mobility_y), 0.0)
    for _ in range(_RIM_ROUNDS):
        x, y = pull_x / (mobility_x + shift), pull_y / (mobility_y + shift)
        square = x * x + y * y
        size = math.sqrt(square)
        if size <= radius * (1.0 + 1e-12):
            break
        shift += (size / radius - 1.0) * square / (x * x / (mobility_x + shift) + y * y / (mobility_y + shift))
    return x * radius / size, y * radius / size


@kernel
def _in_disk(x, y, radius):
    """The point of a disk about zero that is nearest to (x, y)."""
    size = math.sqrt(x * x + y * y)
    if size > radius:
        return x * radius / size, y * radius / size
    return x, y


@kernel
def _resist_turning(turning, index, size, inverse, moment, most_spinning, most_rolling, u):
    """Moments about the normal and the tangents, each as far as it goes; the largest change of angular speed."""
    spin = roll_x = roll_y = 0.0
    for k in range(size):
        spin += turning[k, 0] * u[index[k]]
        roll_x += turning[k, 1] * u[index[k]]
        roll_y += turning[k, 2] * u[index[k]]
    # one step of all three, none longer than any two of them allow together
    slack = inverse[0] + inverse[1] + inverse[2]
    if slack < IMMOVABLE:
        return 0.0
    about = min(max(moment[0] - spin / slack, -most_spinning), most_spinning)
    x, y = _in_disk(moment[1] - roll_x / slack, moment[2] - roll_y / slack, most_rolling)
    dn, dx, dy = about - moment[0], x - moment[1], y - moment[2]
    moment[0], moment[1], moment[2] = about, x, y
    for k in range(size):
        u[index[k]] += turning[k, 0] * dn + turning[k, 1] * dx + turning[k, 2] * dy
    return slack * max(abs(dn), abs(dx), abs(dy))


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
            wanted = row_impulse[r] + (rows.shift[r] - dot(rows.whitened_jacobian[r], u)) / inverse_mass
            wanted = min(max(wanted, lower), upper)
            step = wanted - row_impulse[r]
            row_impulse[r] = wanted
            add_scaled(u, rows.whitened_jacobian[r], step)
            largest = max(largest, abs(step) * inverse_mass)
        for c in range(contact_rows.count[0]):
            half, index, size = contact_rows.whitened_jacobian[c], contact_rows.index[c], contact_rows.size[c]
            mobility = contact_rows.inverse_mass[c, 0]
            if mobility < IMMOVABLE:
                continue
            speed = 0.0
            for k in range(size):
                speed += half[k, 0] * u[index[k]]
            wanted = max(contact_impulse[c] + (contact_rows.shift[c] - speed) / mobility, 0.0)
            step = wanted - contact_impulse[c]
            if step != 0.0:
                contact_impulse[c] = wanted
                for k in range(size):
                    u[index[k]] += half[k, 0] * step
                largest = max(largest, abs(step) * mobility)
        if largest <= tolerance:
            break
