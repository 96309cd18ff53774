"""Frames on elastic links: displacement, columns and velocity products of an ELASTIC body.

With d = sum q_a t_a and s = q^T H q, its frame is displaced by (1 - c s) d - 1/2 s e and turned by the rotation vector
r = sum q_a r_a in the axes of its joint (`model.multibody`). A rate of coordinate a moves it at
(1 - c s) t_a - (H q)_a (e + 2 c d), and turns it at J(r) r_a, where J is the left Jacobian of the exponential map of
SO(3).
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined
from grouser.physics.base.spatial import cross_polynomial, turning_bias, turning_coefficients

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel


@inlined
def displace(model: "MultibodyModel", i, q, bending, slope, column):
    """Displacement and rotation vector of elastic body i, in the axes of its joint.

    Args:
        model: the multibody system.
        i: the body.
        q: positions.
        bending: result: its rotation vector [rad] and d [m], (bodies, 6).
        slope: result: H q, (columns,).
        column: result: velocity and angular velocity per unit of each rate, in the axes of the joint, (columns, 6).

    Returns:
        dx, dy, dz [m], rx, ry, rz [rad].
    """
    first, end, at = model.column_start[i], model.column_start[i + 1], model.body_q[i]
    shape, count = model.column_shape, end - first
    entry = model.shortening_start[i]
    shortens = model.shortening_start[i + 1] > entry
    ex, ey, ez = model.body_axis[i, 0], model.body_axis[i, 1], model.body_axis[i, 2]
    dx = dy = dz = rx = ry = rz = square = 0.0
    for k in range(count):
        c, amount = first + k, q[at + k]
        dx, dy, dz = dx + amount * shape[c, 0], dy + amount * shape[c, 1], dz + amount * shape[c, 2]
        rx, ry, rz = rx + amount * shape[c, 3], ry + amount * shape[c, 4], rz + amount * shape[c, 5]
        total = 0.0
        if shortens:
            for m in range(count):
                total += model.shortening[entry + k * count + m] * q[at + m]
            square += amount * total
        slope[c] = total
    lost = model.body_contraction[i]
    kept = 1.0 - lost * square
    gx, gy, gz = ex + 2.0 * lost * dx, ey + 2.0 * lost * dy, ez + 2.0 * lost * dz
    t00, t01, t02, t10, t11, t12, t20, t21, t22 = cross_polynomial(
        rx, ry, rz, *turning_coefficients(rx * rx + ry * ry + rz * rz)
    )
    for c in range(first, end):
        ux, uy, uz = shape[c, 3], shape[c, 4], shape[c, 5]
        column[c, 0] = kept * shape[c, 0] - slope[c] * gx
        column[c, 1] = kept * shape[c, 1] - slope[c] * gy
        column[c, 2] = kept * shape[c, 2] - slope[c] * gz
        column[c, 3] = t00 * ux + t01 * uy + t02 * uz
        column[c, 4] = t10 * ux + t11 * uy + t12 * uz
        column[c, 5] = t20 * ux + t21 * uy + t22 * uz
    bending[i, 0], bending[i, 1], bending[i, 2] = rx, ry, rz
    bending[i, 3], bending[i, 4], bending[i, 5] = dx, dy, dz
    half = 0.5 * square
    return kept * dx - half * ex, kept * dy - half * ey, kept * dz - half * ez, rx, ry, rz


@inlined
def changing_columns(model: "MultibodyModel", i, v, bending, slope):
    """Accelerations of elastic body i at constant rates of its coordinates, in the axes of its joint.

    Args:
        model: the multibody system.
        i: the body.
        v: coordinate rates.
        bending, slope: from `displace`.

    Returns:
        Acceleration [m/s2] and angular acceleration [rad/s2] in the joint's frame: ax, ay, az, wx, wy, wz.
    """
    first, end = model.column_start[i], model.column_start[i + 1]
    shape, count, rate = model.column_shape, end - first, model.column_rate[first]
    entry = model.shortening_start[i]
    tx = ty = tz = ux = uy = uz = square = sliding = 0.0
    for k in range(count):
        c, speed = first + k, v[rate + k]
        tx, ty, tz = tx + speed * shape[c, 0], ty + speed * shape[c, 1], tz + speed * shape[c, 2]
        ux, uy, uz = ux + speed * shape[c, 3], uy + speed * shape[c, 4], uz + speed * shape[c, 5]
    if model.shortening_start[i + 1] > entry:
        for k in range(count):
            sliding += v[rate + k] * slope[first + k]
            total = 0.0
            for m in range(count):
                total += model.shortening[entry + k * count + m] * v[rate + m]
            square += v[rate + k] * total
    wx, wy, wz = turning_bias(bending[i, 0], bending[i, 1], bending[i, 2], ux, uy, uz)
    lost, across = 2.0 * model.body_contraction[i], 4.0 * model.body_contraction[i] * sliding
    ax = -square * (model.body_axis[i, 0] + lost * bending[i, 3]) - across * tx
    ay = -square * (model.body_axis[i, 1] + lost * bending[i, 4]) - across * ty
    az = -square * (model.body_axis[i, 2] + lost * bending[i, 5]) - across * tz
    return ax, ay, az, wx, wy, wz
