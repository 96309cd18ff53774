"""The springs of servo drives in a step: in the mass matrix within their limit, in a bounded row beyond it."""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.islands import Islands, revise_island
from grouser.physics.constraints.rows import Rows, row_speed, speed_along
from grouser.physics.drives.servo import Drives, commit_drive, linearise_drive
from grouser.physics.friction.joints import HELD
from grouser.physics.multibody.mass import add_inertia

NO_DRIVE = -1
# Place of a drive's spring: the mass matrix; or a row bounded by the drive's limit, because it exceeds the limit at the
# speed at the start of the step, or did so in the mass matrix.
BUILT_IN, EXPECTED_BEYOND, FOUND_BEYOND = range(3)


@kernel
def linearise_drives(laws, drives: Drives, q, v, step: float, command, kept, mass, force, springs, place, effort, work):
    """Finds the drives' springs, and adds their explicit efforts to the force.

    Args:
        laws, drives: of the machine.
        q, v: state.
        step: [s].
        command: of the drives; on emergency stop they hold their joints by rows.
        kept: internal state of each drive, (drives, KEPT).
        mass, force: of the equations of motion without the drives; the force is changed in place.
        springs: conductance and target of each law's drive, 0 for none, and its greatest impulse, (laws, 3), result.
        place: of each spring (BUILT_IN to FOUND_BEYOND), result.
        effort: explicit effort on each coordinate [N or N m], result.
        work: buffers of the drives.
    """
    effort[:] = 0.0
    for law in range(laws.rate_index.shape[0]):
        springs[law, :] = 0.0
        place[law] = BUILT_IN
        d = laws.drive[law]
        if d == NO_DRIVE or command.emergency_stop[drives.member[d]]:
            continue
        rate, position = laws.rate_index[law], q[laws.position_index[law]]
        mobility = 1.0 / mass.diagonal[rate]
        pull = mobility * force[rate]
        g, b, limit, direct = linearise_drive(
            drives, d, position, v[rate], step, command.drive[d], mobility, pull, kept[d], work
        )
        springs[law, 0], springs[law, 1], springs[law, 2] = g, b, step * limit
        effort[rate] += direct
        force[rate] += direct
        if _overloaded(springs, law, v[rate]):
            place[law] = EXPECTED_BEYOND


@kernel
def commit_drives(laws, drives: Drives, q, end, step: float, command, springs, effort, kept, work):
    """Advances the internal states of the drives by the solved rates; braked drives are reset.

    Args:
        laws, drives: of the machine.
        q: positions at the start of the step.
        end: rates at its end.
        step: [s].
        command: as in `linearise_drives`.
        springs, effort: as in `linearise_drives`.
        kept: internal state of each drive, (drives, KEPT), changed.
        work: buffers of the drives.
    """
    for law in range(laws.rate_index.shape[0]):
        d = laws.drive[law]
        if d == NO_DRIVE:
            continue
        if command.emergency_stop[drives.member[d]]:
            kept[d, :] = 0.0
            continue
        rate, most = laws.rate_index[law], springs[law, 2]
        given = min(max(springs[law, 0] * (springs[law, 1] - end[rate]), -most), most) / step + effort[rate]
        position = q[laws.position_index[law]]
        commit_drive(drives, d, position, end[rate], step, command.drive[d], given, most / step, kept[d], work)


@kernel
def add_drive_springs(laws, v, step: float, springs, place, grip, mass, force):
    """Adds the springs of drives within their limit to mass matrix and force.

    The factorisation solves them exactly. A drive at its limit is no spring: in the matrix it would make the joint much
    too heavy for the forces on it. A joint held by friction has no row: there the drive is a limited force.

    Args:
        laws: of the machine.
        v: coordinate rates at the start of the step.
        step: [s].
        springs, place: from `linearise_drives`.
        grip: friction state of each joint (`friction.joints`).
        mass, force: of the equations of motion, changed in place.
    """
    for law in range(laws.rate_index.shape[0]):
        g = springs[law, 0]
        if g > 0.0 and place[law] == BUILT_IN:
            rate = laws.rate_index[law]
            add_inertia(mass, rate, g)
            force[rate] += g * (springs[law, 1] - v[rate]) / step
        elif grip[law] == HELD:
            force[laws.rate_index[law]] += min(max(g * springs[law, 1], -springs[law, 2]), springs[law, 2]) / step


@kernel
def move_drive_springs(laws, v, u, springs, place, rate_first, first, rows: Rows, islands: Islands):
    """Moves springs of drives to the place that fits the solution; returns whether any has moved.

    A spring leaves the mass matrix only once; one expected beyond its limit may return: at most two moves each.

    Args:
        laws: of the machine.
        v: rates at the end of the step.
        u: the same half-solved.
        springs: from `linearise_drives`.
        place: of each spring, changed in place.
        rate_first: first coordinate of the block of each coordinate.
        first: first row of a joint.
        rows: solved.
        islands: those of moved springs are marked as revised.
    """
    moved = False
    for law in range(laws.rate_index.shape[0]):
        if place[law] == BUILT_IN and _overloaded(springs, law, v[laws.rate_index[law]]):
            place[law] = FOUND_BEYOND
            revise_island(islands, rate_first[laws.rate_index[law]])
            moved = True
    for r in range(first, rows.joint_end[0]):
        law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
        if place[law] == EXPECTED_BEYOND:
            # by the row's own closed form: a stiff spring amplifies the sweeps' error in v
            speed = row_speed(rows, r, speed_along(rows, r, u) - inverse_mass * rows.impulse[r], inverse_mass)
            if not _overloaded(springs, law, speed):
                place[law] = BUILT_IN
                revise_island(islands, rows.first[r])
                moved = True
    return moved


@inlined
def _overloaded(springs, law, speed):
    """Whether a drive exceeds its limit at a speed."""
    return springs[law, 0] * abs(springs[law, 1] - speed) > springs[law, 2]
