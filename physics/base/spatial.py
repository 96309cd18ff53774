"""Rotations and spatial vectors: compiled functions on plain numbers.

Conventions, fixed here once: quaternions are (x, y, z, w); spatial vectors are linear first, then angular (Pinocchio's
order). A twist is (velocity of the point at the origin, angular velocity), a wrench is (force, moment about the
origin).
An inertia is ten numbers: Ixx Ixy Ixz Iyy Iyz Izz about the origin, first moment hx hy hz = m c, mass m.
"""

import math

import numpy as np

from grouser.physics.base.kernel import kernel


@kernel
def cross(ax, ay, az, bx, by, bz):
    """a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def rotated(r, x, y, z):
    """R (x, y, z)."""
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def rotated_back(r, x, y, z):
    """R^T (x, y, z)."""
    return (
        r[0, 0] * x + r[1, 0] * y + r[2, 0] * z,
        r[0, 1] * x + r[1, 1] * y + r[2, 1] * z,
        r[0, 2] * x + r[1, 2] * y + r[2, 2] * z,
    )


@kernel
def quaternion_product(ax, ay, az, aw, bx, by, bz, bw):
    """Hamilton product a b: the rotation b followed by the rotation a."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@kernel
def quaternion_exponential(rx, ry, rz):
    """Unit quaternion of the rotation vector r [rad] (exponential map of SO(3))."""
    square = rx * rx + ry * ry + rz * rz
    if square < 1e-6:
        # Taylor series of sin(a/2)/a and cos(a/2), exact to 1e-17 for |r| < 1e-3
        scale = 0.5 - square * (1.0 / 48.0 - square / 3840.0)
        real = 1.0 - square * (0.125 - square / 384.0)
    else:
        angle = math.sqrt(square)
        scale = math.sin(0.5 * angle) / angle
        real = math.cos(0.5 * angle)
    return scale * rx, scale * ry, scale * rz, real


@kernel
def quaternion_logarithm(x, y, z, w):
    """Rotation vector [rad], of length at most pi, of the unit quaternion (logarithm map of SO(3))."""
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 / w * (1.0 - sine * sine / (3.0 * w * w)) if sine < 1e-4 else 2.0 * math.atan2(sine, w) / sine
    return scale * x, scale * y, scale * z


@kernel
def screw_displacement(rx, ry, rz, tx, ty, tz):
    """Translation of the exponential map of SE(3): t + b r x t + c r x (r x t), for the twist (t, r)."""
    square = rx * rx + ry * ry + rz * rz
    if square < 1e-6:
        b = 0.5 - square * (1.0 / 24.0 - square / 720.0)
        c = 1.0 / 6.0 - square * (1.0 / 120.0 - square / 5040.0)
    else:
        angle = math.sqrt(square)
        half = math.sin(0.5 * angle)
        b = 2.0 * half * half / square
        c = (angle - math.sin(angle)) / (square * angle)
    ux, uy, uz = cross(rx, ry, rz, tx, ty, tz)
    wx, wy, wz = cross(rx, ry, rz, ux, uy, uz)
    return tx + b * ux + c * wx, ty + b * uy + c * wy, tz + b * uz + c * wz


@kernel
def turning_coefficients(square):
    """The coefficients b and c of `screw_displacement` for the square of an angle, by their series for small ones.

    With the rotation vector r, 1 + (1 - c r.r) r x + b r x r x is its rotation, and 1 + b r x + c r x r x is J(r): the
    angular velocity is J dr/dt.
    """
    if square < 0.25:
        b = square * (1.0 / 479001600.0 - square / 87178291200.0)
        b = 0.5 - square * (
            1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0 - square * (1.0 / 3628800.0 - b)))
        )
        c = square * (1.0 / 6227020800.0 - square / 1307674368000.0)
        c = square * (1.0 / 362880.0 - square * (1.0 / 39916800.0 - c))
        c = 1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - c))
    else:
        angle = math.sqrt(square)
        half = math.sin(0.5 * angle)
        b = 2.0 * half * half / square
        c = (angle - math.sin(angle)) / (square * angle)
    return b, c


@kernel
def cross_polynomial(rx, ry, rz, b, c):
    """Nine elements, row by row, of the matrix 1 + b r x + c r x r x."""
    xx, yy, zz = c * rx * rx, c * ry * ry, c * rz * rz
    xy, xz, yz = c * rx * ry, c * rx * rz, c * ry * rz
    x, y, z = b * rx, b * ry, b * rz
    return 1.0 - yy - zz, xy - z, xz + y, xy + z, 1.0 - xx - zz, yz - x, xz - y, yz + x, 1.0 - xx - yy


@kernel
def turning_bias(rx, ry, rz, ux, uy, uz):
    """Angular acceleration of a body whose rotation vector r [rad] changes at the constant rate u [rad/s].

    The angular velocity is u + b r x u + c r x (r x u), with b and c of `screw_displacement`; the result is its
    derivative in time, with those of b and c.
    """
    square = rx * rx + ry * ry + rz * rz
    if square < 0.02:
        c = 1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square / 362880.0))
        b_slope = -1.0 / 24.0 + square * (1.0 / 360.0 - square * (1.0 / 13440.0 - square / 907200.0))
        c_slope = -1.0 / 120.0 + square * (1.0 / 2520.0 - square * (1.0 / 120960.0 - square / 9979200.0))
    else:
        angle = math.sqrt(square)
        half = math.sin(0.5 * angle)
        b = 2.0 * half * half / square
        c = (angle - math.sin(angle)) / (square * angle)
        b_slope = 0.5 * (1.0 - c * square - 2.0 * b) / square
        c_slope = 0.5 * (b - 3.0 * c) / square
    grows = 2.0 * (rx * ux + ry * uy + rz * uz)
    sx, sy, sz = cross(rx, ry, rz, ux, uy, uz)
    tx, ty, tz = cross(rx, ry, rz, sx, sy, sz)
    wx, wy, wz = cross(ux, uy, uz, sx, sy, sz)
    return (
        grows * (b_slope * sx + c_slope * tx) + c * wx,
        grows * (b_slope * sy + c_slope * ty) + c * wy,
        grows * (b_slope * sz + c_slope * tz) + c * wz,
    )


@kernel
def rotation_matrix(x, y, z, w):
    """Nine elements, row by row, of the rotation matrix of the unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - z * w),
        2.0 * (x * z + y * w),
        2.0 * (x * y + z * w),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - x * w),
        2.0 * (x * z - y * w),
        2.0 * (y * z + x * w),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def quaternion_from_matrix(m):
    """Unit quaternion, w >= 0, of the rotation matrix m (3 x 3); Shepperd's method by the largest element."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace >= m[0, 0] and trace >= m[1, 1] and trace >= m[2, 2]:
        w = 1.0 + trace
        x = m[2, 1] - m[1, 2]
        y = m[0, 2] - m[2, 0]
        z = m[1, 0] - m[0, 1]
    elif m[0, 0] >= m[1, 1] and m[0, 0] >= m[2, 2]:
        x = 1.0 + 2.0 * m[0, 0] - trace
        y = m[0, 1] + m[1, 0]
        z = m[0, 2] + m[2, 0]
        w = m[2, 1] - m[1, 2]
    elif m[1, 1] >= m[2, 2]:
        y = 1.0 + 2.0 * m[1, 1] - trace
        x = m[0, 1] + m[1, 0]
        z = m[1, 2] + m[2, 1]
        w = m[0, 2] - m[2, 0]
    else:
        z = 1.0 + 2.0 * m[2, 2] - trace
        x = m[0, 2] + m[2, 0]
        y = m[1, 2] + m[2, 1]
        w = m[1, 0] - m[0, 1]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z, scale * w


@kernel
def quaternions_from_matrices(matrices, quaternions):
    """Fills `quaternions` (n, 4) with those of the rotation matrices (n, 3, 3): see `quaternion_from_matrix`."""
    for i in range(matrices.shape[0]):
        x, y, z, w = quaternion_from_matrix(matrices[i])
        quaternions[i, 0] = x
        quaternions[i, 1] = y
        quaternions[i, 2] = z
        quaternions[i, 3] = w


@kernel
def momentum(inertia, i, vx, vy, vz, wx, wy, wz):
    """Wrench I V: linear and angular momentum about the origin of inertia row i at the twist (v, w)."""
    hx = inertia[i, 6]
    hy = inertia[i, 7]
    hz = inertia[i, 8]
    m = inertia[i, 9]
    return (
        m * vx + wy * hz - wz * hy,
        m * vy + wz * hx - wx * hz,
        m * vz + wx * hy - wy * hx,
        inertia[i, 0] * wx + inertia[i, 1] * wy + inertia[i, 2] * wz + hy * vz - hz * vy,
        inertia[i, 1] * wx + inertia[i, 3] * wy + inertia[i, 4] * wz + hz * vx - hx * vz,
        inertia[i, 2] * wx + inertia[i, 4] * wy + inertia[i, 5] * wz + hx * vy - hy * vx,
    )


@kernel
def cross_motion(vx, vy, vz, wx, wy, wz, ax, ay, az, bx, by, bz):
    """Rate of a twist (a, b) fixed to a body with the twist (v, w) (Featherstone's crm)."""
    return (
        wy * az - wz * ay + vy * bz - vz * by,
        wz * ax - wx * az + vz * bx - vx * bz,
        wx * ay - wy * ax + vx * by - vy * bx,
        wy * bz - wz * by,
        wz * bx - wx * bz,
        wx * by - wy * bx,
    )


@kernel
def cross_force(vx, vy, vz, wx, wy, wz, fx, fy, fz, nx, ny, nz):
    """Rate of a wrench (f, n) fixed to a body with the twist (v, w) (Featherstone's crf)."""
    return (
        wy * fz - wz * fy,
        wz * fx - wx * fz,
        wx * fy - wy * fx,
        wy * nz - wz * ny + vy * fz - vz * fy,
        wz * nx - wx * nz + vz * fx - vx * fz,
        wx * ny - wy * nx + vx * fy - vy * fx,
    )


def matrix(quaternion):
    """Rotation matrix (3 x 3) of a unit quaternion (x, y, z, w)."""
    return np.array(rotation_matrix(*[float(c) for c in quaternion])).reshape(3, 3)


def cross_product(a, b):
    """a x b, (3,); numpy's own is ten times slower for a single product."""
    return np.array(cross(*a, *b))


def cross_products(a, b):
    """a x b of each pair of rows, (n, 3)."""
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


def velocity_at(twist, place):
    """Velocity of a body's point at `place`, (3,), from its twist about the origin, (6,)."""
    return twist[:3] + cross_product(twist[3:], place)


def skew(vector):
    """Matrix (3 x 3) of the cross product with `vector`."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
