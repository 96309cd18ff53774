"""Wheels on rigid ground: how they slip, and what the ground does to them.

There is no sinkage, and no contact patch with angles and stresses: they are zero. Thrust is torque over radius.
"""

import math
from dataclasses import fields

import numpy as np

from grouser.physics.contact.terrain import surface_below
from grouser.physics.description.machine import Ground
from grouser.physics.description.soil import Wheel
from grouser.physics.measurements import WheelState
from grouser.physics.soil.memory import slip_of
from grouser.physics.spatial import cross

# Slower than this [m/s] a wheel is taken to stand: its slip fades with its speed, and is not that of rounding errors.
STANDSTILL = 1e-4


def ground_normal(ground: Ground | None, x: float, y: float) -> np.ndarray:
    """Upward unit normal of the ground at a place, (3,); straight up without one."""
    if ground is None:
        return np.array([0.0, 0.0, 1.0])
    if ground.heightfield is None:
        return np.array(ground.normal)
    field = ground.heightfield
    return np.array(surface_below(field.heights, field.cell, *field.origin, x, y)[1:])


def velocity_at(twist: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Velocity of a body's point, (3,) [m/s].

    Args:
        twist: velocity of the point at the origin and angular velocity [m/s, rad/s], (6,).
        place: of the point, from the origin [m], (3,).
    """
    return twist[:3] + _cross(twist[3:], place)


def rigid_wheel_state(
    wheel: Wheel,
    rotation: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
    wrench: np.ndarray,
    normal: np.ndarray,
) -> WheelState:
    """State of a wheel on rigid ground.

    Args:
        wheel: the wheel.
        rotation: world from its link, (3, 3).
        velocity, angular_velocity: of the link at the wheel's centre, world frame [m/s, rad/s], (3,) each.
        wrench: force and moment of all contacts at the link's origin, in its frame [N, N m], (6,).
        normal: of the ground under it, (3,).

    Returns:
        A wheel whose axis stands upright has no heading: it gets the state of one that touches nothing.
    """
    axis = rotation @ wheel.axis
    across = _cross(axis, normal)
    lying = float(np.linalg.norm(across))
    if lying < 1e-9:
        return WheelState(*[0.0] * len(fields(WheelState)))
    heading = across / lying
    left = _cross(normal, heading)
    force = rotation @ wrench[:3]
    moment = rotation @ (wrench[3:] - _cross(wheel.position, wrench[:3]))
    forward, lateral = float(velocity @ heading), float(velocity @ left)
    torque, pull = -float(moment @ axis), float(force @ heading)
    ratio, angle = slip(wheel.radius * float(angular_velocity @ axis), forward, lateral)
    return WheelState(
        sinkage=0.0,
        entry_angle=0.0,
        exit_angle=0.0,
        normal_force=float(force @ normal),
        thrust=torque / wheel.radius,
        resistance=torque / wheel.radius - pull,
        drawbar_pull=pull,
        torque=torque,
        side_force=float(force @ left),
        slip_ratio=ratio,
        slip_angle=angle,
        peak_pressure=0.0,
        peak_shear=0.0,
    )


def slip(rim_speed: float, forward_speed: float, lateral_speed: float) -> tuple[float, float]:
    """Slip ratio [-] and slip angle [rad] of a wheel; both fade where it stands.

    The angle is that from the heading to the way, positive where the wheel moves to its left, within a quarter turn: a
    wheel that rolls backwards has its heading behind it.

    Args:
        rim_speed: of the rim about the wheel's centre [m/s].
        forward_speed, lateral_speed: of the centre, along the heading and to the left of it [m/s].
    """
    fastest = max(abs(rim_speed), abs(forward_speed), abs(lateral_speed))
    known = min(fastest / STANDSTILL, 1.0)
    return known * slip_of(rim_speed, forward_speed), known * math.atan2(lateral_speed, abs(forward_speed))


def _cross(a, b):
    """a x b; numpy's takes ten times as long for one pair."""
    return np.array(cross(*a, *b))
