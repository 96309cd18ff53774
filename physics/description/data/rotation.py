"""Rotations in plain Python: loading a description must not start the compiler.

Quaternions are in the order x y z w.
"""

import math

import numpy as np

from grouser.physics.description.data.pose import Pose, Quaternion, Vector3

# Sine of a pitch that counts as a right angle: it leaves roll and yaw undetermined.
_UPRIGHT = 1.0 - 1e-12


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Returns the unit quaternion of URDF's roll, pitch, yaw [rad]: about the fixed axes x, then y, then z."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def quaternion_about(axis: Vector3, angle: float) -> Quaternion:
    """Returns the unit quaternion of a turn by `angle` [rad] about the unit vector `axis`."""
    sine = math.sin(0.5 * angle)
    return (axis[0] * sine, axis[1] * sine, axis[2] * sine, math.cos(0.5 * angle))


def product(first: Quaternion, second: Quaternion) -> Quaternion:
    """Returns the quaternion that turns by `second`, then by `first`."""
    ax, ay, az, aw = first
    bx, by, bz, bw = second
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(quaternion: Quaternion, vector: Vector3) -> Vector3:
    """Returns `vector` turned by the unit `quaternion`: v + 2 w (u x v) + 2 u x (u x v)."""
    x, y, z, w = quaternion
    a, b, c = vector
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx)


def matrix(quaternion: Quaternion) -> np.ndarray:
    """Returns the rotation matrix of a unit quaternion, shape (3, 3)."""
    return np.array([rotate(quaternion, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]).T


def compose(outer: Pose, inner: Pose) -> Pose:
    """Returns the pose in the frame of `outer` of a frame whose pose in that of `outer`'s frame is `inner`."""
    return Pose(*composed(outer, inner))


def composed(outer: Pose, inner: Pose) -> tuple[Vector3, Quaternion]:
    """Position and quaternion of `compose`, not checked."""
    (a, b, c), (x, y, z) = outer.position, rotate(outer.quaternion, inner.position)
    return (a + x, b + y, c + z), product(outer.quaternion, inner.quaternion)


def rpy_from_quaternion(quaternion: Quaternion) -> Vector3:
    """Roll, pitch and yaw [rad] of a rotation; where the pitch is a right angle, a roll of zero."""
    turn = matrix(quaternion)
    sine = -float(turn[2, 0])
    if abs(sine) > _UPRIGHT:
        return 0.0, math.copysign(0.5 * math.pi, sine), math.atan2(-turn[0, 1], turn[1, 1])
    return math.atan2(turn[2, 1], turn[2, 2]), math.asin(sine), math.atan2(turn[1, 0], turn[0, 0])
