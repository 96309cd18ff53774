"""Kinematic pairs in the mass matrix: M + sum g J^T J, right side + sum g b J^T.

A spring k with damper d and deflection phi acts with its force at the end of the step: g = h (h k + d),
b = -k phi / (h k + d). What is rigid is a damper so strong that it gives way by a millionth of what the free machine
would, towards the speed b = 0. In the directions that a pair blocks, by springs or rigidly, b is lower by h/2 dJ/dt v,
which turns the pair's direction with the machine: to second order no position error arises, and to first order no
energy is won or lost. What error a rigid pair has, the position pass takes away.

The factorisation then solves all pairs at once and exactly, however many loops share links, and whether or not they say
the same twice: redundant pairs share the load.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross
from grouser.physics.compliance.loops import PairMotion, Pairs, make_pair_motion, measure_pairs
from grouser.physics.constraints.rows import dot

# Conductance of a rigid row, as a multiple of the mass that it feels.
_RIGID = 1e6
# A coordinate that moves a pair less than this per unit says nothing of the mass that the pair feels [squared].
_LEAST_MOTION = 1e-12


class PairRows(NamedTuple):
    """One row for each direction in which a pair acts, shape (rows,) unless said otherwise.

    Attributes:
        motion: frames, deflections and Jacobian.
        conductance, target: g and b.
        impulse: in the last step, on the child [N s or N m s].
    """

    motion: PairMotion
    conductance: np.ndarray
    target: np.ndarray
    impulse: np.ndarray


def make_pair_rows(pairs: Pairs, coordinates: int) -> PairRows:
    """Buffers of the right sizes."""
    rows = len(pairs.row_pair)
    return PairRows(make_pair_motion(pairs, coordinates), np.zeros(rows), np.zeros(rows), np.zeros(rows))


@kernel
def engage_pairs(model, pairs, kinematics, acceleration, v, step, rows, mass, force):
    """Measures all pairs and couples them for an implicit Euler step: see `aim_pairs` and `couple_pairs`."""
    measure_pairs(model, pairs, kinematics, rows.motion)
    aim_pairs(model, pairs, kinematics, acceleration, mass, step, rows)
    couple_pairs(pairs, v, step, rows, mass, force)


@inlined
def aim_pairs(model, pairs, kinematics, acceleration, mass, step, rows):
    """Conductance and target of every row for an implicit Euler step.

    Args:
        model, pairs: the machine.
        kinematics: filled for the current state.
        acceleration: spatial accelerations of the bodies while no coordinate accelerates, (bodies, 6).
        mass: mass matrix.
        step: h [s].
        rows: result, its motion filled.
    """
    motion = rows.motion
    for r in range(pairs.row_pair.shape[0]):
        if pairs.row_rigid[r]:
            rows.conductance[r], rows.target[r] = _rigid_conductance(model, pairs, kinematics, mass, motion, r), 0.0
        else:
            deflection = motion.deflection[pairs.row_pair[r], pairs.row_direction[r]]
            rows.conductance[r], rows.target[r] = _elastic_row(pairs, r, deflection, step)
        if pairs.row_blocked[r]:
            rows.target[r] -= 0.5 * step * row_acceleration(model, pairs, kinematics, acceleration, motion, r)


@inlined
def aim_pairs_at_middle(model, pairs, kinematics, start_deflection, mass, v, step, rows):
    """Conductance and target of every row for an implicit midpoint step, seen as an implicit half step to its middle.

    Args:
        model, pairs: the machine.
        kinematics: filled for the middle of the step.
        start_deflection: of all pairs at the start of the step, (pairs, 6) [m, rad].
        mass: mass matrix in the middle of the step.
        v: rates in the middle of the step that the motion in `rows` was measured with.
        step: length of the half step [s].
        rows: result, its motion filled for the middle of the step.
    """
    motion = rows.motion
    for r in range(pairs.row_pair.shape[0]):
        p, direction = pairs.row_pair[r], pairs.row_direction[r]
        if pairs.row_rigid[r]:
            # the whole step closes what was open at its start
            rows.conductance[r] = _rigid_conductance(model, pairs, kinematics, mass, motion, r)
            rows.target[r] = -0.5 * start_deflection[p, direction] / step
        else:
            # the deflection from which this Jacobian leads to that in the middle; that of the start would be as good a
            # second order, but does not keep the energy
            deflection = motion.deflection[p, direction] - step * dot(motion.jacobian[r], v)
            rows.conductance[r], rows.target[r] = _elastic_row(pairs, r, deflection, step)


@inlined
def _rigid_conductance(model, pairs, kinematics, mass, motion, r):
    """Conductance of a row that gives way by a millionth."""
    p = pairs.row_pair[r]
    return _RIGID * _felt_mass(
        *(model.body_parent, model.column_start, model.column_rate, kinematics.column, mass),
        *(pairs.child_body[p], pairs.parent_body[p], motion.point[p], pairs.mass[p], pairs.row_direction[r] >= 3),
    )


@inlined
def _elastic_row(pairs, r, deflection, step):
    """Conductance and target of a spring with a damper."""
    resistance = step * pairs.row_stiffness[r] + pairs.row_damping[r]
    return step * resistance, -pairs.row_stiffness[r] * deflection / resistance


@inlined
def couple_pairs(pairs, v, step, rows, mass, force):
    """Adds all pairs to the mass matrix, and their impulses at the rates v to the force.

    Args:
        pairs: the machine's.
        v: coordinate rates at the start of the step.
        step: h [s].
        rows: aimed.
        mass, force: of the equations of motion, changed in place.
    """
    for r in range(pairs.row_pair.shape[0]):
        p, jacobian = pairs.row_pair[r], rows.motion.jacobian[r]
        pull = rows.conductance[r] * (rows.target[r] - dot(jacobian, v)) / step
        _add_row(
            *(pairs.rate, pairs.rate_start[p], pairs.rate_start[p + 1]),
            *(jacobian, rows.conductance[r], pull, mass, force),
        )


@inlined
def still_pairs(model, pairs, kinematics, mass, v, rows, force):
    """Couples the rigid pairs so that they take their speeds at the rates v away; the impulses go to `force`.

    Args:
        model, pairs: the machine.
        kinematics: with positions filled.
        mass: mass matrix, changed in place.
        v: coordinate rates.
        rows: its motion filled; conductance and target are changed, those of springs to none.
        force: generalised impulses, changed in place.
    """
    for r in range(pairs.row_pair.shape[0]):
        rows.target[r] = 0.0
        rows.conductance[r] = 0.0
        if pairs.row_rigid[r]:
            rows.conductance[r] = _rigid_conductance(model, pairs, kinematics, mass, rows.motion, r)
    couple_pairs(pairs, v, 1.0, rows, mass, force)


@kernel
def _felt_mass(parent, column_start, column_rate, column, mass, body, other, point, most, turns):
    """A bound of the mass (`turns`: inertia) that a pair feels, seldom much too high: all coordinates but one held.

    Whatever direction the coordinate moves the pair in counts: of redundant pairs that are not quite aligned, some rows
    hardly feel the motion that the machine has, and must not be all the stronger for it.
    """
    least = np.inf if turns else most
    while body != other:
        climbing = max(body, other)
        for c in range(column_start[climbing], column_start[climbing + 1]):
            d, wx, wy, wz = column_rate[c], column[c, 3], column[c, 4], column[c, 5]
            if turns:
                square = wx * wx + wy * wy + wz * wz
            else:
                x, y, z = cross(wx, wy, wz, point[0], point[1], point[2])
                x, y, z = column[c, 0] + x, column[c, 1] + y, column[c, 2] + z
                square = x * x + y * y + z * z
            if square > _LEAST_MOTION:
                least = min(least, mass[d, d] / square)
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]
    return least if least < np.inf else 0.0


@kernel
def _add_row(rate, first, last, jacobian, conductance, pull, mass, force):
    """One row's share in the mass matrix (lower triangle) and in the force."""
    for a in range(first, last):
        i = rate[a]
        scaled = conductance * jacobian[i]
        force[i] += pull * jacobian[i]
        for b in range(first, a + 1):
            mass[i, rate[b]] += scaled * jacobian[rate[b]]


@kernel
def row_acceleration(model, pairs, kinematics, acceleration, motion, r):
    """dJ/dt v of a row: rate of its speed while no coordinate accelerates [m/s2 or rad/s2]."""
    p, direction = pairs.row_pair[r], pairs.row_direction[r]
    n, c = motion.axes[p, direction % 3], motion.point[p]
    child, parent = pairs.child_body[p], pairs.parent_body[p]
    cv0, cv1, cv2, cw0, cw1, cw2 = body_twist(kinematics.twist, child)
    pv0, pv1, pv2, pw0, pw1, pw2 = body_twist(kinematics.twist, parent)
    # all accelerations have that of gravity taken off, the world's too
    ca0, ca1, ca2, cb0, cb1, cb2 = body_acceleration(acceleration, child, model.gravity)
    pa0, pa1, pa2, pb0, pb1, pb2 = body_acceleration(acceleration, parent, model.gravity)
    t0, t1, t2 = cross(pw0, pw1, pw2, n[0], n[1], n[2])
    w0, w1, w2 = cw0 - pw0, cw1 - pw1, cw2 - pw2
    b0, b1, b2 = cb0 - pb0, cb1 - pb1, cb2 - pb2
    if direction >= 3:
        return n[0] * b0 + n[1] * b1 + n[2] * b2 + t0 * w0 + t1 * w1 + t2 * w2
    # relative velocity at the child's point, its rate there, and the point's own way through that field
    x0, x1, x2 = cross(w0, w1, w2, c[0], c[1], c[2])
    y0, y1, y2 = cross(b0, b1, b2, c[0], c[1], c[2])
    m0, m1, m2 = cross(cw0, cw1, cw2, c[0], c[1], c[2])
    z0, z1, z2 = cross(w0, w1, w2, cv0 + m0, cv1 + m1, cv2 + m2)
    return (
        n[0] * (ca0 - pa0 + y0 + z0)
        + n[1] * (ca1 - pa1 + y1 + z1)
        + n[2] * (ca2 - pa2 + y2 + z2)
        + t0 * (cv0 - pv0 + x0)
        + t1 * (cv1 - pv1 + x1)
        + t2 * (cv2 - pv2 + x2)
    )


@kernel
def body_twist(twist, body):
    """Six numbers of a body; zeros for the world, -1."""
    if body < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    t = twist[body]
    return t[0], t[1], t[2], t[3], t[4], t[5]


@kernel
def body_acceleration(acceleration, body, gravity):
    """Spatial acceleration of a body less that of gravity."""
    if body < 0:
        return -gravity[0], -gravity[1], -gravity[2], 0.0, 0.0, 0.0
    a = acceleration[body]
    return a[0], a[1], a[2], a[3], a[4], a[5]


@kernel
def settle_pairs(v, scale, rows):
    """Adds to the rows' impulses, times `scale`, what they gave in the step that ended with the rates v."""
    for r in range(rows.conductance.shape[0]):
        rows.impulse[r] += scale * rows.conductance[r] * (rows.target[r] - dot(rows.motion.jacobian[r], v))


@kernel
def pull_pairs_together(pairs, rows, step, force):
    """Adds the impulses of the position pass to `force`: rigid pairs move by what they are apart within the step."""
    for r in range(pairs.row_pair.shape[0]):
        if pairs.row_rigid[r]:
            pull = rows.conductance[r] * rows.motion.deflection[pairs.row_pair[r], pairs.row_direction[r]] / step
            for d in range(force.shape[0]):
                force[d] -= pull * rows.motion.jacobian[r, d]
