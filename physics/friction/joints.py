"""Dry friction of joints within a step: who stands, who slides, and at which level.

A joint that stands is not solved for. It is given an inertia beside which nothing else counts, so that the
factorisation takes it for a part of what carries it, whatever else moves, and what it takes to hold it is that inertia
times the speed that is left, to the last digit. Its speed is then zero: it cannot creep, and no sweep can be wrong
about it. Where that takes more than the static level, it breaks away, and the step sets out anew with a row that slides
(`joint_rows`).

A joint that slides has a row with a hold at the level of its speed. One that would come out of a step the other way
round stands, if the static level can hold it. So each friction changes from rest to sliding at most once a step, and
back at most once, and the search ends; all change at a time, so that their order does not matter. Mikhailova (2004)
changes states in the same way.

Bristles (LuGre) are springs in the mass matrix, linearised about a speed that is found by Newton's iteration.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import IMMOVABLE, dot, row_speed
from grouser.physics.friction.laws import deflection_after, deflection_slope, settled_level, sliding_level

# What a joint does in a step: it is held by its inertia; held by its row, as at a stop; it slides, and may come to
# rest; it slides for the rest of the step.
HELD, RESTS, SLIDES, BREAKS = range(4)
# Inertia of a joint that stands [kg or kg m2]. Its root is a power of two as well: nothing is rounded.
_HELD_INERTIA = 2.0**100
# A joint has come to rest when its row holds it and the sweeps leave less than this multiple of their tolerance.
_SLIDING = 10.0
# A joint that has a smaller share than this of its mobility left is held by others.
_WEDGED = 1e-3
# Share of the sweeps' tolerance to which a level is known: what is missing has one sign, step after step.
_LEVEL_ERROR = 1e-3
# Bristles are settled when the force is known to this share of the static level; rounds for them, and for levels.
_SETTLED, _MOST_ROUNDS = 1e-9, 50


class JointFrictions(NamedTuple):
    """Dry friction of a step, of each joint law.

    Attributes:
        grip: HELD, RESTS, SLIDES or BREAKS.
        level: present level [N or N m].
        brake: what a braked drive holds with in addition [N or N m].
        inertia: along the coordinate, all others held [kg or kg m2].
        impulse: of those that are held, and of bristles [N s or N m s]; rows know their own.
        point: speed about which bristles are linearised [m/s or rad/s].
        gain, offset: their impulse is offset - gain * speed.
        rounds: of the search for levels and bristles, (1,).
        unsettled: law whose search ended unsettled, -1 for none, (1,).
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
    unsettled: np.ndarray


def make_joint_frictions(laws: int) -> JointFrictions:
    """Buffers for so many joint laws."""
    level, brake, inertia, impulse, point, gain, offset = np.zeros((7, laws))
    rounds, unsettled = np.zeros((2, 1), dtype=np.int64)
    return JointFrictions(np.full(laws, SLIDES), level, brake, inertia, impulse, point, gain, offset, rounds, unsettled)


@kernel
def begin_frictions(laws, drives, q, v, emergency_stop, mass, frictions):
    """What the joints do as the step begins: those without speed stand.

    Args:
        laws: of the joints (`joint_rows.JointLaws`).
        drives: of the joints.
        q, v: state.
        emergency_stop: of each machine; its drives hold their joints.
        mass: of the equations of motion, before loops are in it.
        frictions: result.
    """
    frictions.rounds[0] = 0
    frictions.unsettled[0] = -1
    for law in range(laws.rate_index.shape[0]):
        position, speed = q[laws.position_index[law]], v[laws.rate_index[law]]
        frictions.impulse[law] = 0.0
        frictions.inertia[law] = mass[laws.rate_index[law], laws.rate_index[law]]
        frictions.point[law] = speed
        frictions.grip[law] = SLIDES
        frictions.level[law] = laws.static[law]
        drive = laws.drive[law]
        braked = drive >= 0 and emergency_stop[drives.member[drive]]
        frictions.brake[law] = drives.effort_limit[drive] if braked else 0.0
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
def hold_impulse(laws, law, level, frictions, step):
    """Impulse with which dry friction of a level, and the brake of a drive, hold a joint; that of bristles apart."""
    return step * (frictions.brake[law] + (0.0 if laws.bristle_stiffness[law] > 0.0 else level))


@kernel
def add_frictions(laws, v, bristle, step, frictions, mass, force):
    """Puts the bristles, and the inertia of the joints that are held, into mass matrix and force.

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
            mass[rate, rate] += gain
            force[rate] += (frictions.offset[law] - gain * v[rate]) / step
        if frictions.grip[law] == HELD:
            mass[rate, rate] = _HELD_INERTIA


@kernel
def _bristle_force(laws, law, deflection, speed, step):
    """Force of the bristles of a law against the speed that a step ends with [N or N m]."""
    stiffness = laws.bristle_stiffness[law]
    level = _level_at(laws, law, speed)
    after = deflection_after(stiffness, level, deflection, speed, step)
    return stiffness * after + laws.bristle_damping[law] * (after - deflection) / step


@kernel
def release_frictions(laws, bristle, velocity, step, frictions):
    """Lets go what is held by more than it can bear, and moves the bristles on; returns whether there is any.

    Args:
        laws: of the joints.
        bristle: deflections at the start of the step [m or rad].
        velocity: rates found.
        step: [s].
        frictions: changed in place.
    """
    moved = False
    for law in range(laws.rate_index.shape[0]):
        speed, impulse = velocity[laws.rate_index[law]], 0.0
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
                if frictions.rounds[0] < _MOST_ROUNDS:
                    # at zero the force bends the way that makes the iteration settle from any side
                    frictions.point[law] = 0.0 if frictions.point[law] * speed < 0.0 else speed
                    moved = True
                else:
                    frictions.unsettled[0] = law
        frictions.impulse[law] = impulse
    frictions.rounds[0] += 1
    return moved


@kernel
def switch_frictions(laws, start, velocity, u, step, tolerance, first, frictions, rows):
    """Gives the rows of joints the levels that go with what they do; returns whether any has changed.

    Args:
        laws: of the joints.
        start, velocity: rates at the start of the step, and those found.
        u: the latter half-solved.
        step: [s].
        tolerance: of a speed [m/s or rad/s].
        first: first row of a joint.
        frictions: changed in place.
        rows: solved; the bounds of their holds are changed.
    """
    changed = False
    for r in range(first, rows.count[0]):
        law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
        static, kinetic = laws.static[law], laws.kinetic[law]
        if static == 0.0 or laws.bristle_stiffness[law] > 0.0 or inverse_mass < IMMOVABLE:
            continue
        grip, level, speed = frictions.grip[law], frictions.level[law], velocity[laws.rate_index[law]]
        held = _is_held(rows, r, u)
        if grip == RESTS and not held:
            frictions.grip[law] = BREAKS
            frictions.level[law] = _level_at(laws, law, 0.0)
        elif grip == SLIDES and not held and speed * start[laws.rate_index[law]] < 0.0:
            frictions.grip[law] = RESTS
            frictions.level[law] = static
        elif laws.stribeck_speed[law] > 0.0 and grip != RESTS and not held:
            mobility = step * inverse_mass
            settled = settled_level(static, kinetic, laws.stribeck_speed[law], abs(speed), level, mobility)
            if mobility * abs(settled - level) > _LEVEL_ERROR * tolerance:
                if frictions.rounds[0] < _MOST_ROUNDS:
                    frictions.level[law] = settled
                else:
                    frictions.unsettled[0] = law
        if frictions.level[law] != level:
            rows.hold_bound[r] = hold_impulse(laws, law, frictions.level[law], frictions, step)
            changed = True
    frictions.rounds[0] += 1
    return changed


@inlined
def _is_held(rows, r, u):
    """Whether row r is held, by its own answer: sweeps leave an error in the speed."""
    inverse_mass = rows.inverse_mass[r]
    speed = row_speed(rows, r, dot(rows.whitened_jacobian[r], u) - inverse_mass * rows.impulse[r], inverse_mass)
    return speed == rows.hold_speed[r]


@kernel
def commit_frictions(laws, u, step, tolerance, first, frictions, rows, velocity, bristle):
    """Brings to rest what is held, and moves the bristles on; returns whether a row left a speed to what it holds.

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
    for r in range(first, rows.count[0]):
        law, inverse_mass = rows.slot[r], rows.inverse_mass[r]
        rate = laws.rate_index[law]
        if rows.hold_bound[r] == 0.0 or not 0.0 < abs(velocity[rate]) <= _SLIDING * tolerance:
            continue
        # by others that stand, through rigid loops, which give way a little
        wedged = inverse_mass * frictions.inertia[law] < _WEDGED
        if wedged or (inverse_mass >= IMMOVABLE and _is_held(rows, r, u)):
            velocity[rate] = 0.0
            changed = True
    return changed


def bristle_energy(stiffness: np.ndarray, bristle: np.ndarray) -> np.ndarray:
    """Energy in the bristles of each joint law [J]."""
    return 0.5 * stiffness * bristle**2
