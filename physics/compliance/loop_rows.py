"""Loop joints in the mass matrix: M + sum g J^T J, right side + sum g b J^T.

A spring k with damper d and deflection phi acts with its force at the end of the step: g = h (h k + d), b = -k phi / (h
k + d). A rigid row is a damper so strong that it yields by a millionth of the motion of the free machine, towards the
speed b = 0. In the blocked directions, by springs or rigidly, b is reduced by h/2 dJ/dt v, which rotates the direction
with the machine: position errors are of third order, energy errors of second order. The position pass corrects the
errors of rigid rows.

The factorisation solves all loop joints at once and exactly, however many loops share links; redundant loop joints
share the load.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross
from grouser.physics.compliance.loops import LoopConstraints, LoopMotion, loop_speed, make_loop_motion, measure_loops
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import Kinematics, body_acceleration, body_twist

# Conductance of a rigid row, as a multiple of its effective mass.
_RIGID = 1e6
# A coordinate that moves a loop joint by less than this per unit does not count for its effective mass [squared].
_LEAST_MOTION = 1e-12


class LoopRows(NamedTuple):
    """One row for each direction in which a loop joint acts, shape (rows,) unless stated otherwise.

    Attributes:
        motion: frames, deflections and Jacobian.
        conductance, target: g and b.
        impulse: in the last step, on the child [N s or N m s].
    """

    motion: LoopMotion
    conductance: np.ndarray
    target: np.ndarray
    impulse: np.ndarray


def make_loop_rows(loops: LoopConstraints, coordinates: int) -> LoopRows:
    """Buffers of the right sizes."""
    rows = len(loops.row_loop)
    return LoopRows(make_loop_motion(loops, coordinates), np.zeros(rows), np.zeros(rows), np.zeros(rows))


@kernel
def apply_loop_forces(
    model: MultibodyModel,
    loops: LoopConstraints,
    kinematics: Kinematics,
    acceleration,
    v,
    step: float,
    rows: LoopRows,
    mass,
    force,
):
    """Measures and adds all loop joints for an implicit Euler step: see `linearise_loops` and `add_loop_rows`."""
    measure_loops(model, loops, kinematics, rows.motion)
    linearise_loops(model, loops, kinematics, acceleration, mass, step, rows)
    add_loop_rows(model, loops, v, step, rows, mass, force)


@inlined
def linearise_loops(
    model: MultibodyModel,
    loops: LoopConstraints,
    kinematics: Kinematics,
    acceleration,
    mass,
    step: float,
    rows: LoopRows,
):
    """Conductance and target of every row for an implicit Euler step.

    Args:
        model, loops: the machine.
        kinematics: filled for the current state.
        acceleration: spatial accelerations of the bodies while no coordinate accelerates, (bodies, 6).
        mass: mass matrix.
        step: h [s].
        rows: result, its motion filled.
    """
    motion = rows.motion
    for r in range(loops.row_loop.shape[0]):
        if loops.row_rigid[r]:
            rows.conductance[r], rows.target[r] = _rigid_conductance(model, loops, kinematics, mass, motion, r), 0.0
        else:
            deflection = motion.deflection[loops.row_loop[r], loops.row_direction[r]]
            rows.conductance[r], rows.target[r] = _elastic_row(loops, r, deflection, step)
        if loops.row_blocked[r]:
            rows.target[r] -= 0.5 * step * row_acceleration(model, loops, kinematics, acceleration, motion, r)


@inlined
def linearise_loops_at_middle(
    model: MultibodyModel,
    loops: LoopConstraints,
    kinematics: Kinematics,
    start_deflection,
    mass,
    v,
    step: float,
    rows: LoopRows,
):
    """Conductance and target of every row for an implicit midpoint step, as an implicit half step to its middle.

    Args:
        model, loops: the machine.
        kinematics: filled for the middle of the step.
        start_deflection: of all loop joints at the start of the step, (loops, 6) [m, rad].
        mass: mass matrix in the middle of the step.
        v: rates in the middle of the step that the motion in `rows` was measured with.
        step: length of the half step [s].
        rows: result, its motion filled for the middle of the step.
    """
    motion = rows.motion
    for r in range(loops.row_loop.shape[0]):
        p, direction = loops.row_loop[r], loops.row_direction[r]
        if loops.row_rigid[r]:
            # the whole step closes what was open at its start
            rows.conductance[r] = _rigid_conductance(model, loops, kinematics, mass, motion, r)
            rows.target[r] = -0.5 * start_deflection[p, direction] / step
        else:
            # the deflection from which this Jacobian leads to that in the middle: the deflection at the start would
            # also be of second order, but does not conserve energy
            deflection = motion.deflection[p, direction] - step * loop_speed(loops, motion, r, v)
            rows.conductance[r], rows.target[r] = _elastic_row(loops, r, deflection, step)


@inlined
def _rigid_conductance(
    model: MultibodyModel, loops: LoopConstraints, kinematics: Kinematics, mass, motion: LoopMotion, r
):
    """Conductance of a row that yields by a millionth."""
    p = loops.row_loop[r]
    return _RIGID * _effective_mass(
        *(model.body_parent, model.column_start, model.column_rate, kinematics.column, mass.diagonal),
        *(loops.child_body[p], loops.parent_body[p], motion.point[p], loops.mass[p], loops.row_direction[r] >= 3),
    )


@inlined
def _elastic_row(loops: LoopConstraints, r, deflection, step: float):
    """Conductance and target of a spring with a damper."""
    resistance = step * loops.row_stiffness[r] + loops.row_damping[r]
    return step * resistance, -loops.row_stiffness[r] * deflection / resistance


@inlined
def add_loop_rows(model: MultibodyModel, loops: LoopConstraints, v, step: float, rows: LoopRows, mass, force):
    """Adds all loop joints to the mass matrix, and their impulses at the rates v to the force.

    Args:
        model, loops: the machine.
        v: coordinate rates at the start of the step.
        step: h [s].
        rows: linearised.
        mass, force: of the equations of motion, changed in place.
    """
    for r in range(loops.row_loop.shape[0]):
        p, jacobian = loops.row_loop[r], rows.motion.jacobian[r]
        pull = rows.conductance[r] * (rows.target[r] - loop_speed(loops, rows.motion, r, v)) / step
        _add_row(
            *(model.rate_first, loops.rate, loops.rate_start[p], loops.rate_start[p + 1]),
            *(jacobian, rows.conductance[r], pull, mass, force),
        )


@inlined
def project_loop_velocity(
    model: MultibodyModel, loops: LoopConstraints, kinematics: Kinematics, mass, v, rows: LoopRows, force
):
    """Adds the rigid rows so that the solution removes their speeds at the rates v; the impulses go to `force`.

    Args:
        model, loops: the machine.
        kinematics: with positions filled.
        mass: mass matrix, changed in place.
        v: coordinate rates.
        rows: its motion filled; conductance and target are changed; those of springs are set to 0.
        force: generalised impulses, changed in place.
    """
    for r in range(loops.row_loop.shape[0]):
        rows.target[r] = 0.0
        rows.conductance[r] = 0.0
        if loops.row_rigid[r]:
            rows.conductance[r] = _rigid_conductance(model, loops, kinematics, mass, rows.motion, r)
    add_loop_rows(model, loops, v, 1.0, rows, mass, force)


@kernel
def _effective_mass(parent, column_start, column_rate, column, inertia, body, other, point, most, turns):
    """Upper bound of the effective mass (`turns`: inertia) of a loop joint, with all coordinates but one held.

    Motion in any direction counts: the effective mass along a single row of redundant, slightly misaligned loop joints
    can be huge, and would make the row too stiff.
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
                least = min(least, inertia[d] / square)
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]
    return least if least < np.inf else 0.0


@kernel
def _add_row(rate_first, rate, first, last, jacobian, conductance, pull, mass, force):
    """Adds one row to the mass matrix and to the force."""
    for a in range(first, last):
        i = rate[a]
        scaled = conductance * jacobian[i]
        force[i] += pull * jacobian[i]
        for b in range(first, a):
            mass.lower[i, rate[b] - rate_first[i]] += scaled * jacobian[rate[b]]
        mass.diagonal[i] += scaled * jacobian[i]


@kernel
def row_acceleration(
    model: MultibodyModel, loops: LoopConstraints, kinematics: Kinematics, acceleration, motion: LoopMotion, r
):
    """dJ/dt v of a row: rate of its speed while no coordinate accelerates [m/s2 or rad/s2]."""
    p, direction = loops.row_loop[r], loops.row_direction[r]
    n, c = motion.axes[p, direction % 3], motion.point[p]
    child, parent = loops.child_body[p], loops.parent_body[p]
    cv0, cv1, cv2, cw0, cw1, cw2 = body_twist(kinematics.twist, child)
    pv0, pv1, pv2, pw0, pw1, pw2 = body_twist(kinematics.twist, parent)
    # all accelerations are relative to gravity, also that of the world
    ca0, ca1, ca2, cb0, cb1, cb2 = body_acceleration(acceleration, child, model.gravity)
    pa0, pa1, pa2, pb0, pb1, pb2 = body_acceleration(acceleration, parent, model.gravity)
    t0, t1, t2 = cross(pw0, pw1, pw2, n[0], n[1], n[2])
    w0, w1, w2 = cw0 - pw0, cw1 - pw1, cw2 - pw2
    b0, b1, b2 = cb0 - pb0, cb1 - pb1, cb2 - pb2
    if direction >= 3:
        return n[0] * b0 + n[1] * b1 + n[2] * b2 + t0 * w0 + t1 * w1 + t2 * w2
    # rate of the relative velocity at the child's point, and its convective term by the point's own motion
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
def commit_loop_impulses(loops: LoopConstraints, v, scale, rows: LoopRows):
    """Adds `scale` times the impulses of the step that ended with the rates v to those of the rows."""
    for r in range(rows.conductance.shape[0]):
        rows.impulse[r] += scale * rows.conductance[r] * (rows.target[r] - loop_speed(loops, rows.motion, r, v))


@kernel
def correct_loop_positions(loops: LoopConstraints, rows: LoopRows, step: float, force):
    """Adds the impulses of the position pass to `force`: rigid rows close their gaps within the step."""
    for r in range(loops.row_loop.shape[0]):
        if loops.row_rigid[r]:
            p = loops.row_loop[r]
            pull = rows.conductance[r] * rows.motion.deflection[p, loops.row_direction[r]] / step
            for k in range(loops.rate_start[p], loops.rate_start[p + 1]):
                force[loops.rate[k]] -= pull * rows.motion.jacobian[r, loops.rate[k]]
