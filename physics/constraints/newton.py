"""Newton's method for the impulses of all rows and contacts of an island at once.

Sweeps are slow where feet push against each other or bodies are stacked. There the island's laws are solved as one
equation for the whitened velocity u,

    u - u_free - sum W^T p(W u) = 0,

where p(y) is the impulse of a row or contact at the speed y. Hard laws jump at zero speed. They are given a slight
compliance about an impulse a: a contact that presses has p_n = a_n + G (b - y_n), one that sticks p_t = a_t - G y_t,
within Coulomb's cone, |p_t| <= mu p_n (Alart and Curnier, A mixed formulation for frictional contact problems prone to
Newton like solution methods, 1991). G is a multiple of the effective mass, the *stiffness*. Newton's method solves
this equation, which is smooth but for the borders between the laws' branches, by steps of full length: at a border a
step may lengthen the residual, and the next one, on the other side, is right.

The solution becomes the new a, and the next *stage* is stiffer (a proximal point method: Rockafellar, Monotone
operators and the proximal point algorithm, 1976). The first stages are bold: so stiff that one or two suffice where the
branches are known. A stage whose iterations go back and forth between branches is repeated at a low stiffness, and from
then on iterations that do not shorten the residual are halved. What contacts give in a stage, |p - a| / G, is their
violation of the hard law, friction cone included: it certifies the solution, and the search ends when it is below the
tolerance.

A stage starts from *foretold branches*: each law keeps the branch - pressing or open, sticking or slipping - that it
has after the last stage, in the first one after the sweeps. With fixed branches the equation is linear but for the
turning of slips, and mostly its solution is that of the stage. The speeds at the start would tell the branches badly:
impulses follow from them by the stiffness, which has just grown. Near the solution, where the residual is small, they
tell them well.

The first a is the impulse of the last step. Where loads are statically indeterminate, the solution is therefore near
the one that changes the last step's impulses least, and does not depend on the order of the rows.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.compliant_contact import evaluate_contact
from grouser.physics.constraints.island_matrix import IslandMatrix, clear_island, eliminate_island, make_island_matrix
from grouser.physics.constraints.packed import add_contact, resists_turning
from grouser.physics.constraints.rows import IMMOVABLE, Rows, push_along, row_slope, row_speed, speed_along

if TYPE_CHECKING:
    from grouser.physics.constraints.islands import Islands

# Stiffness of the first stage, as a multiple of the effective mass; at the second one, nearly every start converges.
_FIRST_STIFFNESS, _CAREFUL_STIFFNESS = 1e4, 30.0
# Factor from a stage to the next one: if it took one iteration or two, if it took few, else.
_MUCH_STIFFER, _STIFFER, _SLIGHTLY_STIFFER = 100.0, 10.0, 2.0
_FEWEST_ITERATIONS, _FEW_ITERATIONS = 2, 5
# The first two after a failure, and the divisor of the stiffness.
_MUCH_AFTER_FAILURE, _AFTER_FAILURE = 4.0, 2.0
_SOFTER = 8.0
_LEAST_STIFFNESS = 0.5
# Share of the wanted error below which a solution is exact.
_EXACT = 0.1
# Rounding of a speed [m/s]: times the stiffness, it is the smallest residual; stiffness that is allowed all the same.
_ROUNDING = 1e-15
_LEAST_STIFFEST = 100.0
# Limits of the iterations of a stage, and of those among them that do not bring the residual below a share of the least
# one before: in a bold stage, in one after a failure; this share.
_MOST_IN_STAGE = 10
_MOST_IN_VAIN, _MOST_IN_VAIN_CAREFULLY = 2, 3
_GAIN = 0.9
# Limit of the lengths that are tried in an iteration after a failure, and share by which the full one must shorten the
# residual.
_MOST_LENGTHS, _DESCENT = 8, 0.1
# With a residual of less than this multiple of the wanted one, the speeds at the start tell the branches well.
_NEAR = 1e5
# Share of the tolerance to which an island is solved: the errors of steps at rest add up.
NEWTON_SHARE = 0.3
# A smaller pivot means that friction jams; without slip every pivot is at least one.
_LEAST_PIVOT = 1e-9


class Newton(NamedTuple):
    """Buffers of Newton's method.

    Attributes:
        matrix: of the island.
        right: right side of the linear system, by places, then its solution.
        stage, start, trial: whitened velocity at the start of a stage, of an iteration, and after it, (coordinates,).
        free: whitened velocity without the impulses of the island, (coordinates,).
        residual: of the equation, (coordinates,).
        row_anchor, row_impulse, row_speed, row_slope: a, p, the speed at which the law alone gives p, and -dp/dy of
            each row.
        row_foretold: impulse and speed of each row that tell its branch at the start of a stage, (rows, 2).
        anchor, impulse: a and p of each contact: normal, tangents, then moments about these, (contacts, 6).
        foretold: impulses of each contact that tell its branches at the start of a stage, (contacts, 6).
        slope: -dp/dy of normal and tangents, (contacts, 3, 3) [kg].
        turning_slope: the same of the moments, and in its first column by the normal speed, (contacts, 3, 4).
        pull, places: buffers for a contact's entries, (coordinates, 6), and places, (coordinates,).
        used, used_before: of each coordinate: whether this method solved its island exactly in this step, in the
            last one.
    """

    matrix: IslandMatrix
    right: np.ndarray
    stage: np.ndarray
    start: np.ndarray
    trial: np.ndarray
    free: np.ndarray
    residual: np.ndarray
    row_anchor: np.ndarray
    row_impulse: np.ndarray
    row_speed: np.ndarray
    row_slope: np.ndarray
    row_foretold: np.ndarray
    anchor: np.ndarray
    impulse: np.ndarray
    foretold: np.ndarray
    slope: np.ndarray
    turning_slope: np.ndarray
    pull: np.ndarray
    places: np.ndarray
    used: np.ndarray
    used_before: np.ndarray


def make_newton(rows: int, contacts: int, coordinates: int) -> Newton:
    """Buffers of the right sizes."""
    rates, laws = Newton._fields[1:7], Newton._fields[7:11]
    return Newton(
        matrix=make_island_matrix(coordinates),
        row_foretold=np.zeros((rows, 2)),
        anchor=np.zeros((contacts, 6)),
        impulse=np.zeros((contacts, 6)),
        foretold=np.zeros((contacts, 6)),
        slope=np.zeros((contacts, 3, 3)),
        turning_slope=np.zeros((contacts, 3, 4)),
        pull=np.zeros((coordinates, 6)),
        places=np.zeros(coordinates, dtype=np.uintp),
        used=np.zeros(coordinates, dtype=np.bool_),
        used_before=np.zeros(coordinates, dtype=np.bool_),
        **{name: np.zeros(coordinates) for name in rates},
        **{name: np.zeros(rows) for name in laws},
    )


@kernel
def remember_impulses(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton):
    """Stores the impulses of an island for the first stage."""
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        newton.row_anchor[r] = rows.impulse[r]
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        for m in range(3):
            newton.anchor[c, m] = contact_rows.impulse[c, m]
            newton.anchor[c, 3 + m] = contact_rows.moment[c, m]


@kernel
def solve_by_newton(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, u, tolerance: float, most):
    """Solves the rows and contacts of an island; changes their impulses and u, if it finds a solution.

    Args:
        rows, contact_rows: with impulses already in u.
        islands, island: the island, ordered (`order_island`).
        newton: with the last step's impulses (`remember_impulses`).
        u: whitened velocity.
        tolerance: largest error of a row's speed [m/s or rad/s].
        most: limit of the iterations.

    Returns:
        Number of iterations, and the largest error of a row's speed; infinite if nothing has changed.
    """
    fastest = _start(rows, contact_rows, islands, island, newton, u)
    wanted = NEWTON_SHARE * tolerance
    within = wanted / math.sqrt(fastest)
    much, more, lengths = _MUCH_STIFFER, _STIFFER, 1
    stiffest = max(tolerance / _ROUNDING, _LEAST_STIFFEST)
    iterations, stiffness, found = 0, min(_FIRST_STIFFNESS, stiffest), math.inf
    while iterations < most and found > wanted and stiffness >= _LEAST_STIFFNESS:
        _copy_rates(islands, island, newton.start, newton.stage)
        left = most - iterations
        used, size = _iterate(rows, contact_rows, islands, island, newton, stiffness, within, lengths, left)
        iterations += used
        if size <= within:
            found = _take_over(rows, contact_rows, islands, island, newton, stiffness)
            if used <= _FEWEST_ITERATIONS:
                stiffness *= much
            else:
                stiffness *= more if used <= _FEW_ITERATIONS else _SLIGHTLY_STIFFER
            stiffness = min(stiffness, stiffest)
        else:
            _copy_rates(islands, island, newton.stage, newton.start)
            stiffness = stiffness / _SOFTER if lengths > 1 else min(stiffness / _SOFTER, _CAREFUL_STIFFNESS)
            much, more, lengths = _MUCH_AFTER_FAILURE, _AFTER_FAILURE, _MOST_LENGTHS
    if found > tolerance:
        # soft stages may be far from the laws
        return iterations, math.inf
    _finish(rows, contact_rows, islands, island, newton, found <= _EXACT * wanted, u)
    return iterations, found


@inlined
def _copy_rates(islands: "Islands", island, values, result):
    """Copies the values of an island's coordinates."""
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        result[d] = values[d]


@kernel
def _start(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, u):
    """Sets the free velocity, the start and what foretells the branches; returns the largest inverse mass."""
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        newton.free[d] = newton.start[d] = u[d]
    fastest = IMMOVABLE
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if rows.inverse_mass[r] >= IMMOVABLE:
            inverse_mass = rows.inverse_mass[r]
            fastest = max(fastest, inverse_mass)
            speed = speed_along(rows, r, u) - inverse_mass * rows.impulse[r]
            after = row_speed(rows, r, speed, inverse_mass)
            newton.row_foretold[r, 0], newton.row_foretold[r, 1] = (after - speed) / inverse_mass, after
            push_along(rows, r, -rows.impulse[r], newton.free)
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if contact_rows.inverse_mass[c, 0] >= IMMOVABLE:
            for m in range(3):
                fastest = max(fastest, contact_rows.inverse_mass[c, m])
                newton.foretold[c, m], newton.foretold[c, 3 + m] = contact_rows.impulse[c, m], contact_rows.moment[c, m]
            add_contact(contact_rows, c, -1.0, newton.free)
    return fastest


@kernel
def _iterate(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, stiffness, within, lengths, most):
    """Newton's iterations of a stage, from `newton.start` on, each of the first length that shortens the residual.

    Returns:
        Number of iterations, and the length of the residual, at most `within` if they converged.
    """
    begin, end = islands.rate_start[island], islands.rate_start[island + 1]
    size, iterations = _evaluate(rows, contact_rows, islands, island, newton, stiffness, newton.start, False), 0
    if size > _NEAR * within:
        _evaluate(rows, contact_rows, islands, island, newton, stiffness, newton.start, True)
        _assemble(rows, contact_rows, islands, island, newton)
        if eliminate_island(newton.matrix, newton.right, _LEAST_PIVOT):
            for k in range(begin, end):
                d = islands.rate[k]
                newton.start[d] += newton.right[newton.matrix.place[d]]
        size = _evaluate(rows, contact_rows, islands, island, newton, stiffness, newton.start, False)
        iterations = 1
    least, in_vain, most_in_vain = size, 0, _MOST_IN_VAIN if lengths == 1 else _MOST_IN_VAIN_CAREFULLY
    while size > within and iterations < min(_MOST_IN_STAGE, most) and in_vain < most_in_vain:
        iterations += 1
        _assemble(rows, contact_rows, islands, island, newton)
        if not eliminate_island(newton.matrix, newton.right, _LEAST_PIVOT):
            break
        share, before = 1.0, size
        for _ in range(lengths):
            for k in range(begin, end):
                d = islands.rate[k]
                newton.trial[d] = newton.start[d] + share * newton.right[newton.matrix.place[d]]
            size = _evaluate(rows, contact_rows, islands, island, newton, stiffness, newton.trial, False)
            if size <= (1.0 - _DESCENT * share) * before:
                break
            share *= 0.5
        _copy_rates(islands, island, newton.trial, newton.start)
        if size > _GAIN * least:
            in_vain += 1
        least = min(least, size)
    return iterations, size


@kernel
def _evaluate(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, stiffness, u, foretold):
    """Impulses and slopes of all rows and contacts at the velocity u, and the residual; returns its length.

    Args:
        rows, contact_rows, islands, island, newton: of `solve_by_newton`.
        stiffness: of the stage.
        u: whitened velocity.
        foretold: whether each law keeps the branch that is foretold, or has that of its speed.
    """
    residual = newton.residual
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        residual[d] = u[d] - newton.free[d]
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if rows.inverse_mass[r] >= IMMOVABLE:
            give = rows.inverse_mass[r] / stiffness
            speed = speed_along(rows, r, u) - give * newton.row_anchor[r]
            if foretold:
                impulse, after = newton.row_foretold[r, 0], newton.row_foretold[r, 1]
                slope = row_slope(rows, r, after, give)
                after += slope * (speed - (after - give * impulse))
            else:
                after = row_speed(rows, r, speed, give)
                slope = row_slope(rows, r, after, give)
            newton.row_speed[r] = after
            newton.row_impulse[r] = (after - speed) / give
            newton.row_slope[r] = (1.0 - slope) / give
            push_along(rows, r, -newton.row_impulse[r], residual)
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if contact_rows.inverse_mass[c, 0] >= IMMOVABLE:
            evaluate_contact(contact_rows, c, newton, stiffness, u, foretold)
    square = 0.0
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        value = residual[islands.rate[k]]
        square += value * value
    return math.sqrt(square)


@kernel
def _assemble(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton):
    """The linear system of an iteration: I + sum W^T (-dp/dy) W, and the negative residual."""
    matrix, place = newton.matrix, newton.matrix.place
    clear_island(matrix)
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        newton.right[place[d]] = -newton.residual[d]
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if rows.inverse_mass[r] >= IMMOVABLE and newton.row_slope[r] != 0.0:
            _assemble_row(rows, r, newton)
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if contact_rows.inverse_mass[c, 0] >= IMMOVABLE and newton.slope[c, 0, 0] > 0.0:
            _assemble_contact(contact_rows, c, newton)


@inlined
def _assemble_row(rows: Rows, r, newton: Newton):
    """Adds row r."""
    matrix, pull, places, count = newton.matrix, newton.pull, newton.places, 0
    row, slope = rows.whitened_jacobian[r], newton.row_slope[r]
    for i in range(rows.first[r], rows.last[r]):
        if row[i] != 0.0:
            places[count], pull[count, 0] = matrix.place[i], row[i]
            count += 1
    for a in range(np.uintp(count)):
        line, value = places[a] * matrix.size[0], slope * pull[a, 0]
        for b in range(np.uintp(count)):
            matrix.entry[line + places[b]] += value * pull[b, 0]


@inlined
def _assemble_contact(contact_rows, c, newton: Newton):
    """Adds contact c, which presses."""
    jacobian, index, size = contact_rows.whitened_jacobian[c], contact_rows.index[c], np.uintp(contact_rows.size[c])
    slope, pull, places, matrix = newton.slope[c], newton.pull, newton.places, newton.matrix
    for a in range(size):
        x, y, z = jacobian[a, 0], jacobian[a, 1], jacobian[a, 2]
        places[a] = matrix.place[index[a]]
        pull[a, 0] = x * slope[0, 0] + y * slope[1, 0] + z * slope[2, 0]
        pull[a, 1] = y * slope[1, 1] + z * slope[2, 1]
        pull[a, 2] = y * slope[1, 2] + z * slope[2, 2]
    resists = resists_turning(contact_rows, c)
    if resists:
        turning, slope = contact_rows.turning[c], newton.turning_slope[c]
        for a in range(size):
            x, y, z = turning[a, 0], turning[a, 1], turning[a, 2]
            pull[a, 0] += x * slope[0, 0] + y * slope[1, 0] + z * slope[2, 0]
            pull[a, 3] = x * slope[0, 1]
            pull[a, 4] = y * slope[1, 2] + z * slope[2, 2]
            pull[a, 5] = y * slope[1, 3] + z * slope[2, 3]
    for a in range(size):
        row = places[a] * matrix.size[0]
        x, y, z = pull[a, 0], pull[a, 1], pull[a, 2]
        for b in range(size):
            matrix.entry[row + places[b]] += x * jacobian[b, 0] + y * jacobian[b, 1] + z * jacobian[b, 2]
        if resists:
            turning = contact_rows.turning[c]
            x, y, z = pull[a, 3], pull[a, 4], pull[a, 5]
            for b in range(size):
                matrix.entry[row + places[b]] += x * turning[b, 0] + y * turning[b, 1] + z * turning[b, 2]


@kernel
def _take_over(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, stiffness):
    """Makes the impulses found the anchors of the next stage; returns the largest speed by which laws gave."""
    given = 0.0
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if rows.inverse_mass[r] >= IMMOVABLE:
            change = abs(newton.row_impulse[r] - newton.row_anchor[r])
            given = max(given, change * rows.inverse_mass[r])
            newton.row_anchor[r] = newton.row_foretold[r, 0] = newton.row_impulse[r]
            newton.row_foretold[r, 1] = newton.row_speed[r]
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if contact_rows.inverse_mass[c, 0] >= IMMOVABLE:
            inverse = contact_rows.inverse_mass[c]
            across = max(inverse[1], inverse[2])
            for m in range(3):
                change = abs(newton.impulse[c, m] - newton.anchor[c, m])
                given = max(given, change * (inverse[0] if m == 0 else across))
            if resists_turning(contact_rows, c):
                turning = contact_rows.turning_inverse[c]
                for m in range(3):
                    change = abs(newton.impulse[c, 3 + m] - newton.anchor[c, 3 + m])
                    # as the speed of a point at the radius of gyration
                    given = max(given, change * math.sqrt(turning[m] * inverse[0]))
            for m in range(6):
                newton.anchor[c, m] = newton.foretold[c, m] = newton.impulse[c, m]
    return given / stiffness


@kernel
def _finish(rows: Rows, contact_rows, islands: "Islands", island, newton: Newton, exact, u):
    """Takes the impulses found for those of the island, and the velocity with them; notes whether they are exact."""
    for k in range(islands.rate_start[island], islands.rate_start[island + 1]):
        d = islands.rate[k]
        u[d] = newton.free[d]
        newton.used[d] = exact
    for k in range(islands.row_start[island], islands.row_start[island + 1]):
        r = islands.row[k]
        if rows.inverse_mass[r] >= IMMOVABLE:
            rows.impulse[r] = newton.row_anchor[r]
            push_along(rows, r, rows.impulse[r], u)
    for k in range(islands.contact_start[island], islands.contact_start[island + 1]):
        c = islands.contact[k]
        if contact_rows.inverse_mass[c, 0] >= IMMOVABLE:
            for m in range(3):
                contact_rows.impulse[c, m] = newton.anchor[c, m]
                contact_rows.moment[c, m] = newton.anchor[c, 3 + m]
            add_contact(contact_rows, c, 1.0, u)
