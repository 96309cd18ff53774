"""Frames on elastic links: displacement, columns and velocity products of an ELASTIC body.

Its frame is displaced by d = sum q_a t_a - 1/2 q^T H q e and turned by the rotation vector r = sum q_a r_a in the axes
of its joint (`model.multibody`). A rate of coordinate a moves it at t_a - (H q)_a e, and turns it at J(r) r_a, where J
is the left Jacobian of the exponential map of SO(3).
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined
from grouser.physics.base.spatial import screw_displacement, turning_bias

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel


@inlined
def displace(model: "MultibodyModel", i, q, column):
    """Displacement and rotation vector of elastic body i, in the axes of its joint.

    Args:
        model: the multibody system.
        i: the body.
        q: positions.
        column: result: velocity and angular velocity per unit of each rate, in the axes of the joint, (columns, 6).

    Returns:
        dx, dy, dz [m], rx, ry, rz [rad].
    """
    first, end, at = model.column_start[i], model.column_start[i + 1], model.body_q[i]
    shape, count = model.column_shape, end - first
    entry = model.shortening_start[i]
    shortens = model.shortening_start[i + 1] > entry
    ex, ey, ez = model.body_axis[i, 0], model.body_axis[i, 1], model.body_axis[i, 2]
    dx = dy = dz = rx = ry = rz = 0.0
    for k in range(count):
        c, amount = first + k, q[at + k]
        slope = 0.0
        if shortens:
            for m in range(count):
                slope += model.shortening[entry + k * count + m] * q[at + m]
        dx += amount * (shape[c, 0] - 0.5 * slope * ex)
        dy += amount * (shape[c, 1] - 0.5 * slope * ey)
        dz += amount * (shape[c, 2] - 0.5 * slope * ez)
        rx, ry, rz = rx + amount * shape[c, 3], ry + amount * shape[c, 4], rz + amount * shape[c, 5]
        column[c, 0], column[c, 1], column[c, 2] = (
            shape[c, 0] - slope * ex,
            shape[c, 1] - slope * ey,
            shape[c, 2] - slope * ez,
        )
    for c in range(first, end):
        column[c, 3], column[c, 4], column[c, 5] = screw_displacement(rx, ry, rz, shape[c, 3], shape[c, 4], shape[c, 5])
    return dx, dy, dz, rx, ry, rz


@inlined
def changing_columns(model: "MultibodyModel", i, v, rx, ry, rz):
    """Accelerations of elastic body i at constant rates of its coordinates, in the axes of its joint.

    Args:
        model: the multibody system.
        i: the body.
        v: coordinate rates.
        rx, ry, rz: its rotation vector [rad].

    Returns:
        Acceleration [m/s2] and angular acceleration [rad/s2] in the joint's frame: ax, ay, az, wx, wy, wz.
    """
    first, end = model.column_start[i], model.column_start[i + 1]
    shape, count, rate = model.column_shape, end - first, model.column_rate[first]
    entry = model.shortening_start[i]
    ux = uy = uz = square = 0.0
    for k in range(count):
        c, speed = first + k, v[rate + k]
        ux, uy, uz = ux + speed * shape[c, 3], uy + speed * shape[c, 4], uz + speed * shape[c, 5]
    if model.shortening_start[i + 1] > entry:
        for k in range(count):
            for m in range(count):
                square += v[rate + k] * model.shortening[entry + k * count + m] * v[rate + m]
    wx, wy, wz = turning_bias(rx, ry, rz, ux, uy, uz)
    return -square * model.body_axis[i, 0], -square * model.body_axis[i, 1], -square * model.body_axis[i, 2], wx, wy, wz
