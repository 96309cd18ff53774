"""Sequential impulses: Gauss-Seidel over all rows and contacts, for the whitened velocity u = L v."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.island_matrix import MOST_COORDINATES, order_island
from grouser.physics.constraints.islands import Islands
from grouser.physics.constraints.newton import NEWTON_SHARE, Newton, remember_impulses, solve_by_newton
from grouser.physics.constraints.packed import add_contact, resists_turning
from grouser.physics.constraints.rows import IMMOVABLE, Rows, push_along, row_speed, speed_along, spring_impulse

# Cost of Newton's method, in sweeps: it solves an island where more sweeps are expected.
_NEWTON_COST = 6
# Sweeps before Newton's method; if it fails, the number doubles before the next attempt.
_FIRST_SWEEPS = 3
# Share of the usual error after a step that Newton's method solved: its impulses have also stopped a motion, and would
# begin the opposite one. Sweeps that tolerate it let it grow until it must be stopped again.
_FOLLOWING_SHARE = 0.1
# Sweeps that are left in case Newton's method finds no solution; with less than twice as many it is not tried.
_LAST_SWEEPS = 10
# Largest rate of convergence that is assumed for a sweep.
_LARGEST_RATE = 0.99
# Limit of Newton's rounds for a slipping contact: it takes four where the mobilities differ a hundredfold.
_CONE_ROUNDS = 20


@kernel
def warm_start(rows: Rows, contact_rows, u):
    """Adds the initial impulses of the rows to u."""
    for r in range(rows.count[0]):
        push_along(rows, r, rows.impulse[r], u)
    for c in range(contact_rows.count[0]):
        add_contact(contact_rows, c, 1.0, u)


@kernel
def solve_rows(
    rate_first,
    rate_last,
    rows: Rows,
    contact_rows,
    islands: Islands,
    island,
    newton: Newton,
    u,
    tolerance: float,
    most_sweeps: int,
):
    """Sweeps over an island until none of its rows would change its own speed by more than the tolerance.

    Where contacts would need many sweeps, Newton's method solves the island.

    Args:
        rate_first, rate_last: range of the block of each coordinate.
        rows: with impulses already in u.
        contact_rows: the same.
        islands, island: the island.
        newton: buffers of Newton's method.
        u: whitened velocity, changed in place.
        tolerance: converged when the largest change of a row's speed, in the last sweep and in all sweeps that would
            follow, is below this [m/s or rad/s].
        most_sweeps: limit of sweeps and Newton's iterations.

    Returns:
        Number of sweeps and of Newton's iterations, and the largest error of a row's speed at the end.
    """
    sweeps, iterations, due = 0, 0, most_sweeps
    change = before = math.inf
    enough = tolerance
    contacts = islands.contact_start[island + 1] - islands.contact_start[island]
    newton_helps = contacts > 0 and islands.rate_start[island + 1] - islands.rate_start[island] <= MOST_COORDINATES
    if newton_helps:
        due = _FIRST_SWEEPS
        remember_impulses(rows, contact_rows, islands, island, newton)
    while sweeps + iterations < most_sweeps:
        sweeps += 1
        change = max(_sweep_rows(rows, islands, island, u), _sweep_contacts(contact_rows, islands, island, u))
        # geometric extrapolation from the last two sweeps
        rate = min(change / before, _LARGEST_RATE)
        remaining = max(change, change * rate / (1.0 - rate))
        before = change
        if newton_helps and sweeps == 1 and _is_redundant(contact_rows, islands, island):
            # sweeps would share the load by the order of the rows
            due, rate, enough = 1, 1.0, NEWTON_SHARE * tolerance
            if _follows_newton(islands, island, newton):
                enough *= _FOLLOWING_SHARE
        if remaining <= enough:
            break
        most_iterations = most_sweeps - sweeps - iterations - _LAST_SWEEPS
        if sweeps >= due and remaining * rate**_NEWTON_COST > enough and most_iterations >= _LAST_SWEEPS:
            order_island(rate_first, rate_last, rows, contact_rows, islands, island, newton.matrix)
            used, error = solve_by_newton(rows, contact_rows, islands, island, newton, u, tolerance, most_iterations)
            iterations += used
            if error <= tolerance:
                # rows at their bounds get them to the last digit
                change = max(error, _sweep_rows(rows, islands, island, u))
                break
            before, due = math.inf, 2 * sweeps
    return sweeps + iterations, change


@inlined
def _is_redundant(contact_rows, islands: Islands, island):
    """Whether an island has more laws of pressing contacts than coordinates, so that many loads are in balance."""
    laws = 0
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        if contact_rows.impulse[islands.contact[k], 0] > 0.0:
            laws += 3
    return laws > islands.rate_start[island + 1] - islands.rate_start[island]


@inlined
def _follows_newton(islands: Islands, island, newton: Newton):
    """Whether Newton's method solved a part of an island in the last step."""
    found = False
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        found = found or newton.used_before[islands.rate[k]]
    return found


@inlined
def _sweep_rows(rows: Rows, islands: Islands, island, u):
    """One Gauss-Seidel pass over the rows of an island; returns the largest change of a row's own speed."""
    largest = 0.0
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        inverse_mass = rows.inverse_mass[r]
        if inverse_mass < IMMOVABLE:
            impulse = _impulse_at_rest(rows, r)
            push_along(rows, r, impulse - rows.impulse[r], u)
            rows.impulse[r] = impulse
            continue
        speed = speed_along(rows, r, u) - inverse_mass * rows.impulse[r]
        impulse = (row_speed(rows, r, speed, inverse_mass) - speed) / inverse_mass
        step = impulse - rows.impulse[r]
        if step != 0.0:
            rows.impulse[r] = impulse
            push_along(rows, r, step, u)
            largest = max(largest, abs(step) * inverse_mass)
    return largest


@inlined
def _impulse_at_rest(rows: Rows, r):
    """Impulse of row r on immovable coordinates: the spring's part that the hold and the stops do not carry."""
    push, hold = spring_impulse(rows, r, 0.0), rows.hold_bound[r]
    push -= min(max(push, -hold), hold)
    if rows.fastest[r] <= 0.0:
        push = min(push, 0.0)
    if rows.slowest[r] >= 0.0:
        push = max(push, 0.0)
    return push


@inlined
def _sweep_contacts(rows, islands: Islands, island, u):
    """One pass over an island's contacts: each normal, its two tangents inside the friction cone, and its moments."""
    largest = 0.0
    for j in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[j]
        jacobian, index, size, impulse = rows.whitened_jacobian[c], rows.index[c], rows.size[c], rows.impulse[c]
        mobility, mobility_x, mobility_y = rows.inverse_mass[c, 0], rows.inverse_mass[c, 1], rows.inverse_mass[c, 2]
        if mobility < IMMOVABLE:
            # between immovable bodies a contact carries no load
            _release_contact(rows, c, u)
            continue
        speed = 0.0
        for k in range(size):
            speed += jacobian[k, 0] * u[index[k]]
        compliance = rows.compliance[c]
        before = impulse[0]
        after = max(before + (rows.target[c] - speed - compliance * before) / (mobility + compliance), 0.0)
        impulse[0] = after
        step = after - before
        largest = max(largest, abs(step) * (mobility + compliance))
        speed_x = speed_y = 0.0
        for k in range(size):
            moved = u[index[k]] + jacobian[k, 0] * step
            u[index[k]] = moved
            speed_x += jacobian[k, 1] * moved
            speed_y += jacobian[k, 2] * moved
        # the tangents are nearly decoupled: `contact_rows` has aligned them; one may be immovable
        x = impulse[1] - speed_x / mobility_x if mobility_x >= IMMOVABLE else 0.0
        y = impulse[2] - speed_y / mobility_y if mobility_y >= IMMOVABLE else 0.0
        most = rows.friction[c] * after
        if x * x + y * y > most * most:
            x, y = _project_to_cone(x, y, max(mobility_x, IMMOVABLE), max(mobility_y, IMMOVABLE), most)
        dx, dy = x - impulse[1], y - impulse[2]
        impulse[1], impulse[2] = x, y
        for k in range(size):
            u[index[k]] += jacobian[k, 1] * dx + jacobian[k, 2] * dy
        largest = max(largest, mobility_x * abs(dx), mobility_y * abs(dy))
        if resists_turning(rows, c):
            change = _resist_turning(
                *(rows.turning[c], index, size, rows.turning_inverse[c], rows.moment[c]),
                *(rows.spinning[c] * after, rows.rolling[c] * after, u),
            )
            # converted to the speed of a point at the radius of gyration
            largest = max(largest, change * math.sqrt(mobility / max(rows.turning_inverse[c, 1], IMMOVABLE)))
    return largest


@kernel
def _release_contact(rows, c, u):
    """Removes the impulses of contact c."""
    add_contact(rows, c, -1.0, u)
    rows.impulse[c, :] = 0.0
    rows.moment[c, :] = 0.0


@kernel
def _project_to_cone(x, y, mobility_x, mobility_y, radius):
    """Friction impulse of a slipping contact: the one on the cone boundary that leaves the least energy.

    There K (p0 - p), with the diagonal mobility K and the impulse p0 that would stop the contact, is parallel to p:
    p = K p0 / (K + s). Newton's method finds s from 1 / |p(s)|, which is nearly straight and has no inflection.

    Args:
        x, y: p0, outside the boundary [N s].
        mobility_x, mobility_y: K [1/kg].
        radius: largest friction impulse [N s].
    """
    if radius <= 0.0:
        return 0.0, 0.0
    pull_x, pull_y = mobility_x * x, mobility_y * y
    shift = max(math.sqrt(pull_x * pull_x + pull_y * pull_y) / radius - max(mobility_x, mobility_y), 0.0)
    for _ in range(_CONE_ROUNDS):
        x, y = pull_x / (mobility_x + shift), pull_y / (mobility_y + shift)
        square = x * x + y * y
        size = math.sqrt(square)
        if size <= radius * (1.0 + 1e-12):
            break
        shift += (size / radius - 1.0) * square / (x * x / (mobility_x + shift) + y * y / (mobility_y + shift))
    return x * radius / size, y * radius / size


@kernel
def _in_disk(x, y, radius):
    """The point of a disk about zero nearest to (x, y)."""
    size = math.sqrt(x * x + y * y)
    if size > radius:
        return x * radius / size, y * radius / size
    return x, y


@kernel
def _resist_turning(turning, index, size, inverse, moment, most_spinning, most_rolling, u):
    """Moments about the normal and the tangents, within their limits; returns the largest change of angular speed."""
    spin = roll_x = roll_y = 0.0
    for k in range(size):
        spin += turning[k, 0] * u[index[k]]
        roll_x += turning[k, 1] * u[index[k]]
        roll_y += turning[k, 2] * u[index[k]]
    # one common step length, safe for all three coupled directions
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
def solve_positions(
    rows: Rows,
    contact_rows,
    islands: Islands,
    island,
    u,
    tolerance: float,
    most_sweeps: int,
    row_impulse,
    contact_impulse,
):
    """The velocity that moves the positions of an island: split impulses remove position errors.

    They do not change the momentum.

    Args:
        rows: with shift and its bounds.
        contact_rows: with shift.
        islands, island: the island.
        u: a copy of the whitened velocity, on return the one that moves the positions.
        tolerance: as in `solve_rows`.
        most_sweeps: limit.
        row_impulse, contact_impulse: workspace, at least as long as the rows and the contacts.
    """
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        row_impulse[islands.row[k]] = 0.0
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        contact_impulse[islands.contact[k]] = 0.0
    for _ in range(most_sweeps):
        largest = 0.0
        for a in range(islands.row_start[island], islands.row_start[island + 1]):
            r = islands.row[a]
            inverse_mass = rows.inverse_mass[r]
            lower, upper = rows.shift_lower[r], rows.shift_upper[r]
            if inverse_mass < IMMOVABLE or (lower == 0.0 and upper == 0.0):
                continue
            wanted = row_impulse[r] + (rows.shift[r] - speed_along(rows, r, u)) / inverse_mass
            wanted = min(max(wanted, lower), upper)
            step = wanted - row_impulse[r]
            row_impulse[r] = wanted
            push_along(rows, r, step, u)
            largest = max(largest, abs(step) * inverse_mass)
        for a in range(islands.contact_start[island], islands.contact_start[island + 1]):
            c = islands.contact[a]
            jacobian, index, size = contact_rows.whitened_jacobian[c], contact_rows.index[c], contact_rows.size[c]
            mobility = contact_rows.inverse_mass[c, 0]
            if mobility < IMMOVABLE:
                continue
            speed = 0.0
            for k in range(size):
                speed += jacobian[k, 0] * u[index[k]]
            wanted = max(contact_impulse[c] + (contact_rows.shift[c] - speed) / mobility, 0.0)
            step = wanted - contact_impulse[c]
            if step != 0.0:
                contact_impulse[c] = wanted
                for k in range(size):
                    u[index[k]] += jacobian[k, 0] * step
                largest = max(largest, abs(step) * mobility)
        if largest <= tolerance:
            break
