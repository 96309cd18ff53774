"""Lone free bodies: the integration keeps their momentum exactly and needs no gyroscopic force.

If the pose moved by the exponential map of SE(3) and the velocity stayed in the body frame, each step would turn the
momentum a little. For a body that carries no other, the centre of mass moves straight on, the linear and angular
momentum in the world are kept, and the velocity follows from them in the new pose.

The body turns about the axis and at the rate that it has in the middle of the step, I w = exp(-h w/2) L with the
angular momentum L in the body's axes at the start: a rule of second order, symmetric in time. It keeps the nutation of
a symmetric body exactly, and the energy of any body without drift, where the rate at the start would feed energy in. A
body that a loop joint holds turns at the rate at the start.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import (
    cross,
    cross_force,
    momentum,
    quaternion_exponential,
    rotated,
    rotated_back,
    rotation_matrix,
)

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics
    from grouser.physics.multibody.spans import Span

# Rounds of Newton's method for the mean rate; three are enough for a radian per step.
_MOST_ROUNDS = 20
# Below this angle between angular momentum and rate, times the angle turned in a step, the rate is constant.
_STEADY = 1e-12


@kernel
def release_gyroscopic_force(model: "MultibodyModel", span: "Span", kinematics: "Kinematics", acceleration, force):
    """Removes the velocity-product force of the lone bodies from a bias force; `carry_momentum` replaces it.

    Args:
        model: the multibody system.
        span: the bodies.
        kinematics: filled for the current state.
        acceleration: spatial accelerations of the bodies at zero coordinate acceleration, (bodies, 6); those of lone
            bodies become the accelerations of straight motion at a constant rotation rate.
        force: generalised bias force with the velocity products, changed in place.
    """
    twist, column = kinematics.twist, kinematics.column
    for i in range(span.body, span.body_end):
        if model.body_alone[i]:
            v0, v1, v2, w0, w1, w2 = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
            p0, p1, p2, l0, l1, l2 = momentum(kinematics.inertia, i, v0, v1, v2, w0, w1, w2)
            f0, f1, f2, n0, n1, n2 = cross_force(v0, v1, v2, w0, w1, w2, p0, p1, p2, l0, l1, l2)
            # the acceleration of the body's point at the origin is -w x v
            a0, a1, a2 = cross(p0, p1, p2, w0, w1, w2)
            for k, a in ((0, a0), (1, a1), (2, a2)):
                acceleration[i, k] = a / model.body_mass[i] - model.gravity[k]
            for c in range(model.column_start[i], model.column_start[i + np.uintp(1)]):
                force[model.column_rate[c]] -= (
                    column[c, 0] * f0
                    + column[c, 1] * f1
                    + column[c, 2] * f2
                    + column[c, 3] * n0
                    + column[c, 4] * n1
                    + column[c, 5] * n2
                )


@kernel
def measure_precession(model: "MultibodyModel", span: "Span", velocity, step: float, precession):
    """Rates in the middle of the step of lone bodies, less those at its start.

    Args:
        model: the multibody system.
        span: the bodies.
        velocity: rates after the step's impulses, in the poses before.
        step: [s].
        precession: result, 0 for all other coordinates.

    Returns:
        Whether there is any.
    """
    found = False
    for i in range(span.body, span.body_end):
        if model.body_alone[i]:
            rate, com = model.column_rate[model.column_start[i]], model.body_com[i]
            x, y, z = mean_rate(model.body_inertia[i], velocity[rate + 3], velocity[rate + 4], velocity[rate + 5], step)
            x, y, z = x - velocity[rate + 3], y - velocity[rate + 4], z - velocity[rate + 5]
            found = found or x != 0.0 or y != 0.0 or z != 0.0
            tx, ty, tz = cross(x, y, z, com[0], com[1], com[2])
            # the centre of mass moves as without precession
            precession[rate], precession[rate + 1], precession[rate + 2] = -tx, -ty, -tz
            precession[rate + 3], precession[rate + 4], precession[rate + 5] = x, y, z
    return found


@kernel
def hold_precession(model: "MultibodyModel", body, precession):
    """Sets the precession of a lone body to zero; -1 is the world."""
    if body >= 0 and model.body_alone[body]:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            precession[model.column_rate[c]] = 0.0


@kernel
def mean_rate(s, wx, wy, wz, step: float):
    """Rate w of a free rotation in the middle of a step, I w = exp(-h w/2) L, in its axes at the start.

    Args:
        s: inertia about the centre of mass: xx xy xz yy yz zz.
        wx, wy, wz: rate at the start, L = I w.
        step: h [s].
    """
    lx, ly, lz = (
        s[0] * wx + s[1] * wy + s[2] * wz,
        s[1] * wx + s[3] * wy + s[4] * wz,
        s[2] * wx + s[4] * wy + s[5] * wz,
    )
    half = 0.5 * step
    fx, fy, fz = cross(lx, ly, lz, wx, wy, wz)
    size = (lx * lx + ly * ly + lz * lz) * (wx * wx + wy * wy + wz * wz)
    if step * step * (fx * fx + fy * fy + fz * fz) * (wx * wx + wy * wy + wz * wz) <= _STEADY * _STEADY * size:
        return wx, wy, wz
    x, y, z = wx, wy, wz
    for _ in range(_MOST_ROUNDS):
        n00, n01, n02, n10, n11, n12, n20, n21, n22 = rotation_matrix(
            *quaternion_exponential(-half * x, -half * y, -half * z)
        )
        px, py, pz = (
            n00 * lx + n01 * ly + n02 * lz,
            n10 * lx + n11 * ly + n12 * lz,
            n20 * lx + n21 * ly + n22 * lz,
        )
        rx = px - (s[0] * x + s[1] * y + s[2] * z)
        ry = py - (s[1] * x + s[3] * y + s[4] * z)
        rz = pz - (s[2] * x + s[4] * y + s[5] * z)
        # derivative of I w - exp(-h w/2) L: I - h/2 [p]x, to the first order in the angle
        dx, dy, dz = _solve_three(
            *(s[0], s[1] + half * pz, s[2] - half * py),
            *(s[1] - half * pz, s[3], s[4] + half * px),
            *(s[2] + half * py, s[4] - half * px, s[5]),
            *(rx, ry, rz),
        )
        x, y, z = x + dx, y + dy, z + dz
        if dx * dx + dy * dy + dz * dz <= 1e-30 * (x * x + y * y + z * z):
            break
    if not math.isfinite(x + y + z):
        return wx, wy, wz
    return x, y, z


@kernel
def _solve_three(a00, a01, a02, a10, a11, a12, a20, a21, a22, x, y, z):
    """Solution of a 3 x 3 system by cofactors."""
    c00, c01, c02 = a11 * a22 - a12 * a21, a12 * a20 - a10 * a22, a10 * a21 - a11 * a20
    c10, c11, c12 = a02 * a21 - a01 * a22, a00 * a22 - a02 * a20, a01 * a20 - a00 * a21
    c20, c21, c22 = a01 * a12 - a02 * a11, a02 * a10 - a00 * a12, a00 * a11 - a01 * a10
    scale = 1.0 / (a00 * c00 + a01 * c01 + a02 * c02)
    return (
        scale * (c00 * x + c10 * y + c20 * z),
        scale * (c01 * x + c11 * y + c21 * z),
        scale * (c02 * x + c12 * y + c22 * z),
    )


@kernel
def carry_momentum(model: "MultibodyModel", span: "Span", kinematics: "Kinematics", displacement, step: float, q, v):
    """Straightens the path of every lone body, and computes its velocity from its momentum in the new pose.

    Args:
        model: the multibody system.
        span: the bodies.
        kinematics: filled for the poses before the positions moved.
        displacement: rates that moved the positions, in the old poses.
        step: [s].
        q: positions after; those of lone bodies are corrected.
        v: rates, in the old poses on entry, in the new ones on return.
    """
    for i in range(span.body, span.body_end):
        if model.body_alone[i]:
            _straighten(model, kinematics, i, displacement, step, q)
            _carry(model, kinematics, i, q, v)


@kernel
def _straighten(model: "MultibodyModel", kinematics: "Kinematics", i, displacement, step: float, q):
    """Moves body i so that its centre of mass has moved by the step times its velocity."""
    at, rate = model.body_q[i], model.column_rate[model.column_start[i]]
    place, old, com = model.body_rotation[i], kinematics.rotation[i], model.body_com[i]
    tx, ty, tz = cross(displacement[rate + 3], displacement[rate + 4], displacement[rate + 5], com[0], com[1], com[2])
    # from the joint frame's origin to the old body frame's, and to the new centre of mass, world axes
    wx, wy, wz = rotated(
        old,
        step * (displacement[rate] + tx) + com[0],
        step * (displacement[rate + 1] + ty) + com[1],
        step * (displacement[rate + 2] + tz) + com[2],
    )
    origin, position, base = kinematics.origin, kinematics.position, model.body_position
    x, y, z = rotated_back(
        place,
        wx + origin[0] + position[i, 0] - base[i, 0],
        wy + origin[1] + position[i, 1] - base[i, 1],
        wz + origin[2] + position[i, 2] - base[i, 2],
    )
    n00, n01, n02, n10, n11, n12, n20, n21, n22 = rotation_matrix(q[at + 3], q[at + 4], q[at + 5], q[at + 6])
    q[at] = x - (n00 * com[0] + n01 * com[1] + n02 * com[2])
    q[at + 1] = y - (n10 * com[0] + n11 * com[1] + n12 * com[2])
    q[at + 2] = z - (n20 * com[0] + n21 * com[1] + n22 * com[2])


@kernel
def _carry(model: "MultibodyModel", kinematics: "Kinematics", i, q, v):
    """Expresses the momentum of body i, constant in the world, in its new axes."""
    at, rate = model.body_q[i], model.column_rate[model.column_start[i]]
    com, m, s = model.body_com[i], model.body_mass[i], model.body_inertia[i]
    wx, wy, wz = v[rate + 3], v[rate + 4], v[rate + 5]
    # momentum about the centre of mass, old body axes; the body's motion does not change it
    tx, ty, tz = cross(wx, wy, wz, com[0], com[1], com[2])
    px, py, pz = _to_new_axes(
        model, kinematics, i, q, at, m * (v[rate] + tx), m * (v[rate + 1] + ty), m * (v[rate + 2] + tz)
    )
    lx, ly, lz = _to_new_axes(
        model,
        kinematics,
        i,
        q,
        at,
        s[0] * wx + s[1] * wy + s[2] * wz,
        s[1] * wx + s[3] * wy + s[4] * wz,
        s[2] * wx + s[4] * wy + s[5] * wz,
    )
    wx, wy, wz = _solve_symmetric(s, lx, ly, lz)
    tx, ty, tz = cross(wx, wy, wz, com[0], com[1], com[2])
    v[rate], v[rate + 1], v[rate + 2] = px / m - tx, py / m - ty, pz / m - tz
    v[rate + 3], v[rate + 4], v[rate + 5] = wx, wy, wz


@kernel
def _to_new_axes(model: "MultibodyModel", kinematics: "Kinematics", i, q, at, x, y, z):
    """Old body axes -> world -> joint frame -> new body axes."""
    x, y, z = rotated(kinematics.rotation[i], x, y, z)
    x, y, z = rotated_back(model.body_rotation[i], x, y, z)
    n00, n01, n02, n10, n11, n12, n20, n21, n22 = rotation_matrix(q[at + 3], q[at + 4], q[at + 5], q[at + 6])
    return n00 * x + n10 * y + n20 * z, n01 * x + n11 * y + n21 * z, n02 * x + n12 * y + n22 * z


@kernel
def _solve_symmetric(s, x, y, z):
    """Solution of the symmetric 3 x 3 system s w = (x, y, z), by cofactors; s is xx xy xz yy yz zz."""
    c00, c01, c02 = s[3] * s[5] - s[4] * s[4], s[2] * s[4] - s[1] * s[5], s[1] * s[4] - s[2] * s[3]
    c11, c12, c22 = s[0] * s[5] - s[2] * s[2], s[1] * s[2] - s[0] * s[4], s[0] * s[3] - s[1] * s[1]
    scale = 1.0 / (s[0] * c00 + s[1] * c01 + s[2] * c02)
    return (
        scale * (c00 * x + c01 * y + c02 * z),
        scale * (c01 * x + c11 * y + c12 * z),
        scale * (c02 * x + c12 * y + c22 * z),
    )
