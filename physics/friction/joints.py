"""Dry friction of joints within a step: which joints stick or slide, and their friction levels.

A joint that sticks is no unknown. It gets an inertia so large that all others are negligible: the factorisation treats
the joint as rigid, and the holding impulse is that inertia times the remaining speed, exactly. The speed is then set to
zero: the joint cannot creep, and sweeps add no error. Where the holding impulse exceeds the static level, the joint
breaks away, and the step restarts from the factorisation with a sliding row (`joints.rows`).

A joint that slides has a row with a hold at the level of its speed. A joint whose speed would change sign in a step
sticks if the static level holds it. Each joint changes from sticking to sliding at most once per step, and back at most
once, so the search ends; all joints change at once, so their order does not matter. Mikhailova (2004) changes states in
the same way. Where the step restarts because of another island, a joint starts again from the state and level that it
had at the start of the last attempt.

Bristles (LuGre) are springs in the mass matrix, linearised at a speed that Newton's iteration finds.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.islands import Islands, is_revised, revise_island
from grouser.physics.constraints.rows import IMMOVABLE, Rows, row_speed, speed_along
from grouser.physics.friction.laws import consistent_level, deflection_after, deflection_slope, sliding_level
from grouser.physics.multibody.mass import add_inertia, set_inertia

# States of a joint within a step: held by its inertia; held by its row, as at a stop; sliding, and may come to rest;
# sliding for the rest of the step.
HELD, RESTS, SLIDES, BREAKS = range(4)
# Inertia of a joint that sticks [kg or kg m2]. Its square root is a power of two as well: no rounding.
_HELD_INERTIA = 2.0**100
# A joint is at rest when its row holds it and its speed is below this multiple of the sweeps' tolerance.
_SLIDING = 10.0
# A joint is held by others if its mobility is below this share of that of its own inertia.
_WEDGED = 1e-3
# Tolerance of a level, as a share of the sweeps' tolerance: its error has the same sign in every step.
_LEVEL_ERROR = 1e-3
# Tolerance of a bristle's force, as a share of the static level; most rounds for bristles and levels.
_SETTLED, _MOST_ROUNDS = 1e-9, 50


class JointFrictions(NamedTuple):
    """Dry friction of each joint law in a step.

    Attributes:
        grip: HELD, RESTS, SLIDES or BREAKS.
        level: current level [N or N m].
        brake: additional holding effort of a braked drive and of its holding brake [N or N m].
        inertia: along the coordinate, all others held [kg or kg m2].
        impulse: of held joints and of bristles [N s or N m s]; the others' are in their rows.
        point: speed at which bristles are linearised [m/s or rad/s].
        gain, offset: their impulse is offset - gain * speed.
        rounds: of the search for the level or the bristle of each law.
        first_grip, first_level, first_rounds: at the start of the attempt.
        rested: whether the joint came to rest at the end of the step with a remaining speed.
        unsettled: law whose search did not converge, -1 for none, (1,).
    """

    grip: np.ndarray
    level: np.ndarray
    brake: np.ndarray
    inertia: np.ndarray
    impulse: np.ndarray
    point: np.ndarray
    gain: np.ndarray
    offset: np.ndarray
    rounds: np.ndarray
    first_grip: np.ndarray
    first_level: np.ndarray
    first_rounds: np.ndarray
    rested: np.ndarray
    unsettled: np.ndarray


def make_joint_frictions(laws: int) -> JointFrictions:
    """Buffers for this number of joint laws."""
    level, brake, inertia, impulse, point, gain, offset, first_level = np.zeros((8, laws))
    rounds, first_grip, first_rounds = np.zeros((3, laws), dtype=np.int64)
    return JointFrictions(
        *(np.full(laws, SLIDES), level, brake, inertia, impulse, point, gain, offset),
        *(rounds, first_grip, first_level, first_rounds),
        rested=np.zeros(laws, dtype=np.bool_),
        unsettled=np.zeros(1, dtype=np.int64),
    )


@kernel
def begin_frictions(laws, q, v, mass, frictions: JointFrictions):
    """Sets the state of each joint at the start of a step: joints without speed stick.

    Args:
        laws: of the joints (`joints.laws.JointLaws`).
        q, v: state.
        mass: of the equations of motion, before loop joints are added.
        frictions: result, but for the brakes, which are given.
    """
    frictions.unsettled[0] = -1
    for law in range(laws.rate_index.shape[0]):
        position, speed = q[laws.position_index[law]], v[laws.rate_index[law]]
        frictions.rounds[law] = 0
        frictions.rested[law] = False
        frictions.impulse[law] = 0.0
        frictions.inertia[law] = mass.diagonal[laws.rate_index[law]]
        frictions.point[law] = speed
        frictions.grip[law] = SLIDES
        frictions.level[law] = laws.static[law]
        if hold_impulse(laws, law, laws.static[law], frictions, 1.0) == 0.0:
            continue
        if speed != 0.0:
            frictions.level[law] = _level_at(laws, law, speed)
        elif laws.lower[law] < position < laws.upper[law]:
            frictions.grip[law] = HELD
        else:
            frictions.grip[law] = RESTS


@inlined
def _level_at(laws, law, speed):
    """Level of a law while it slides at a speed [N or N m]."""
    return sliding_level(laws.static[law], laws.kinetic[law], laws.stribeck_speed[law], speed)


@inlined
def hold_impulse(laws, law, level, frictions: JointFrictions, step: float):
    """Greatest holding impulse of dry friction at a level, and of a drive's brake; without bristles."""
    return step * (frictions.brake[law] + (0.0 if laws.bristle_stiffness[law] > 0.0 else level))


@inlined
def begin_attempt(laws, rate_first, islands: Islands, frictions: JointFrictions):
    """Sets the joints of islands that are not revised to their state at the start of the last attempt.

    Args:
        laws: of the joints.
        rate_first: first coordinate of the block of each coordinate.
        islands: of the last attempt.
        frictions: changed in place.
    """
    for law in range(laws.rate_index.shape[0]):
        if is_revised(islands, rate_first[laws.rate_index[law]]):
            frictions.first_grip[law], frictions.first_level[law] = frictions.grip[law], frictions.level[law]
            frictions.first_rounds[law] = frictions.rounds[law]
        else:
            frictions.grip[law], frictions.level[law] = frictions.first_grip[law], frictions.first_level[law]
            frictions.rounds[law] = frictions.first_rounds[law]


@kernel
def add_frictions(laws, v, bristle, step: float, frictions: JointFrictions, mass, force):
    """Adds the bristles, and the inertia of the held joints, to mass matrix and force.

    Args:
        laws: of the joints.
        v: coordinate rates at the start of the step.
        bristle: deflections z at its start [m or rad].
        step: [s].
        frictions: of the step.
        mass, force: of the equations of motion, changed in place.
    """
    for law in range(laws.rate_index.shape[0]):
        rate, stiffness = laws.rate_index[law], laws.bristle_stiffness[law]
        if stiffness > 0.0:
            point, z = frictions.point[law], bristle[law]
            level = _level_at(laws, law, point)
            gain = step * stiffness + laws.bristle_damping[law]
            gain *= deflection_slope(stiffness, level, z, point, step)
            frictions.gain[law] = gain
            frictions.offset[law] = gain * point - step * _bristle_force(laws, law, z, point, step)
            add_inertia(mass, rate, gain)
            force[rate] += (frictions.offset[law] - gain * v[rate]) / step
        if frictions.grip[law] == HELD:
            set_inertia(mass, rate, _HELD_INERTIA)


@kernel
def _bristle_force(laws, law, deflection, speed, step: float):
    """Force of a law's bristles against the speed at the end of a step [N or N m]."""
    stiffness = laws.bristle_stiffness[law]
    level = _level_at(laws, law, speed)
    after = deflection_after(stiffness, level, deflection, speed, step)
    return stiffness * after + laws.bristle_damping[law] * (after - deflection) / step


@kernel
def release_frictions(laws, bristle, velocity, step: float, rate_first, islands: Islands, frictions: JointFrictions):
    """Releases joints held beyond their static friction, and updates the bristles' linearisation.

    Returns whether anything has changed.

    Args:
        laws: of the joints.
        bristle: deflections at the start of the step [m or rad].
        velocity: solved rates.
        step: [s].
        rate_first: first coordinate of the block of each coordinate.
        islands: those of changed joints are marked as revised.
        frictions: changed in place.
    """
    changed = False
    for law in range(laws.rate_index.shape[0]):
        speed, impulse, moved = velocity[laws.rate_index[law]], 0.0, False
        if frictions.grip[law] == HELD:
            impulse = -_HELD_INERTIA * speed
            if abs(impulse) > hold_impulse(laws, law, laws.static[law], frictions, step):
                frictions.grip[law] = BREAKS
                frictions.level[law] = _level_at(laws, law, 0.0)
                moved = True
        if laws.bristle_stiffness[law] > 0.0:
            given = frictions.offset[law] - frictions.gain[law] * speed
            impulse += given
            error = given + step * _bristle_force(laws, law, bristle[law], speed, step)
            if abs(error) > _SETTLED * step * laws.static[law]:
                if frictions.rounds[law] < _MOST_ROUNDS:
                    # linearised at zero speed, the iteration converges from either side
                    frictions.point[law] = 0.0 if frictions.point[law] * speed < 0.0 else speed
                    moved = True
                else:
                    frictions.unsettled[0] = law
            frictions.rounds[law] += 1
        frictions.impulse[law] = impulse
        if moved:
            revise_island(islands, rate_first[laws.rate_index[law]])
            changed = True
    return changed


@kernel
def update_friction_levels(
    laws,
    start,
    velocity,
    u,
    step: float,
    tolerance,
    first,
    frictions: JointFrictions,
    rows: Rows,
    islands: Islands,
):
    """Updates the friction levels of the joints' rows in the islands that were due.

    Args:
        laws: of the joints.
        start, velocity: rates at the start of the step, and solved rates.
        u: the latter, half-solved.
        step: [s].
        tolerance: of a speed [m/s or rad/s].
        first: first row of a joint.
        frictions: changed in place.
        rows: solved; the bounds of their holds are changed.
        islands: those with changed rows are marked as changed.
    """
    for island in range(islands.count[0]):
        if not islands.due[island]:
            continue
        for k in range(islands.row_start[island], islands.row_start[island + 1]):
            r = islands.row[k]
            if not first <= r < rows.joint_end[0]:
                continue
            law = rows.slot[r]
            level, rate = frictions.level[law], laws.rate_index[law]
            _update_level(laws, start[rate], velocity[rate], u, step, tolerance, frictions, rows, r)
            if frictions.level[law] != level:
                rows.hold_bound[r] = hold_impulse(laws, law, frictions.level[law], frictions, step)
                islands.changed[island] = True


@inlined
def _update_level(
    laws, start: float, speed: float, u, step: float, tolerance, frictions: JointFrictions, rows: Rows, r
):
    """Updates state and level of the joint of row r, given its speeds at the start and at the end of the step."""
    law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
    static, kinetic = laws.static[law], laws.kinetic[law]
    if static == 0.0 or laws.bristle_stiffness[law] > 0.0 or inverse_mass < IMMOVABLE:
        return
    grip, level = frictions.grip[law], frictions.level[law]
    held = _is_held(rows, r, u)
    if grip == RESTS and not held:
        frictions.grip[law] = BREAKS
        frictions.level[law] = _level_at(laws, law, 0.0)
    elif grip == SLIDES and not held and speed * start < 0.0:
        frictions.grip[law] = RESTS
        frictions.level[law] = static
    elif laws.stribeck_speed[law] > 0.0 and grip != RESTS and not held:
        mobility = step * inverse_mass
        settled = consistent_level(static, kinetic, laws.stribeck_speed[law], abs(speed), level, mobility)
        if mobility * abs(settled - level) > _LEVEL_ERROR * tolerance:
            if frictions.rounds[law] < _MOST_ROUNDS:
                frictions.level[law] = settled
            else:
                frictions.unsettled[0] = law
    frictions.rounds[law] += 1


@inlined
def _is_held(rows: Rows, r, u):
    """Whether row r is held, by its own closed form: the speed has an error of the sweeps."""
    inverse_mass = rows.inverse_mass[r]
    speed = row_speed(rows, r, speed_along(rows, r, u) - inverse_mass * rows.impulse[r], inverse_mass)
    return speed == rows.hold_speed[r]


@kernel
def commit_frictions(laws, u, step: float, tolerance, first, frictions: JointFrictions, rows: Rows, velocity, bristle):
    """Sets held joints to rest, and advances the bristles; returns whether a held row had a remaining speed.

    Args:
        laws: of the joints.
        u: half-solved velocity.
        step: [s].
        tolerance: of the sweeps [m/s or rad/s].
        first: first row of a joint.
        frictions: changed in place.
        rows: solved.
        velocity: rates at the end of the step, changed in place.
        bristle: deflections, changed in place [m or rad].
    """
    changed = False
    for law in range(laws.rate_index.shape[0]):
        rate = laws.rate_index[law]
        if frictions.grip[law] == HELD:
            velocity[rate] = 0.0
        if laws.bristle_stiffness[law] > 0.0:
            speed = velocity[rate]
            level = _level_at(laws, law, speed)
            bristle[law] = deflection_after(laws.bristle_stiffness[law], level, bristle[law], speed, step)
    for r in range(first, rows.joint_end[0]):
        law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
        rate = laws.rate_index[law]
        if rows.hold_bound[r] == 0.0 or not 0.0 < abs(velocity[rate]) <= _SLIDING * tolerance:
            continue
        # held by stuck joints through rigid loops, which yield a little
        wedged = inverse_mass * frictions.inertia[law] < _WEDGED
        if wedged or (inverse_mass >= IMMOVABLE and _is_held(rows, r, u)):
            velocity[rate] = 0.0
            frictions.rested[law] = changed = True
    return changed


def bristle_energy(stiffness: np.ndarray, bristle: np.ndarray) -> np.ndarray:
    """Energy in the bristles of each joint law [J]."""
    return 0.5 * stiffness * bristle**2
