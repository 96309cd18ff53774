"""Tracking of a moving attitude, on the rotation group itself (Lee, Leok and McClamroch, 2010).

With the attitude R, the wanted one R_d with its angular velocity omega_d and acceleration alpha_d, and Q = R_d^T R, the
errors are e_R = (Q - Q^T)^v / 2, sine of the angle times the axis, and e = omega - Q^T omega_d. The torque

    u = -k e_R - c e - J omega x omega - m g rho x Gamma + J (Q^T alpha_d - omega x Q^T omega_d)

leaves J e' = -k e_R - c e, and V = e · J e / 2 + k (1 - cos(angle)) falls by V' = -c |e|², from wherever but the
attitudes half a turn away that turn with the wanted one.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.spatial import cross_product, matrix
from grouser.studies.attitude.pivoted_body import PivotedBody, gravity_torque, gyroscopic_torque


class Reference(NamedTuple):
    """The reference at one time.

    Attributes:
        attitude: quaternion x y z w of the wanted frame in the inertial one, whose z axis is down, shape (4,).
        angular_velocity: in the wanted frame [rad/s], shape (3,).
        angular_acceleration: its derivative there [rad/s2], shape (3,).
    """

    attitude: np.ndarray
    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray


def errors(reference: Reference, attitude: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """e_R and e [rad/s] in the body's frame, shape (3,) each; arguments as of `control_torque`."""
    deviation = matrix(reference.attitude).T @ matrix(attitude)
    skewed = 0.5 * (deviation - deviation.T)
    return np.array([skewed[2, 1], skewed[0, 2], skewed[1, 0]]), omega - deviation.T @ reference.angular_velocity


def control_torque(
    body: PivotedBody,
    stiffness: float,
    damping: float,
    reference: Reference,
    attitude: np.ndarray,
    omega: np.ndarray,
) -> np.ndarray:
    """The torque in the body's frame [N m], shape (3,).

    Args:
        body: the controlled body.
        stiffness: k [N m], above zero.
        damping: c [N m s], above zero.
        reference: at this time.
        attitude: quaternion x y z w of the body in the inertial frame, whose z axis is down, shape (4,).
        omega: angular velocity in the body's frame [rad/s], shape (3,).
    """
    turn = matrix(attitude)
    error, rate_error = errors(reference, attitude, omega)
    back = turn.T @ matrix(reference.attitude)
    carried = back @ reference.angular_acceleration - cross_product(omega, back @ reference.angular_velocity)
    known = np.add(gyroscopic_torque(body, tuple(omega)), gravity_torque(body, tuple(turn[2])))
    return np.array(body.inertia) * carried - known - stiffness * error - damping * rate_error
