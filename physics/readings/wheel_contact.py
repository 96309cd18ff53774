"""Slip and forces of wheels on rigid ground.

There is no sinkage, and no contact patch with angles and stresses: they are zero. Thrust is torque over radius.
"""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import cross_product, velocity_at
from grouser.physics.contact.terrain import ground_surface
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.data.world import Ground
from grouser.physics.model.names import Names
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.readings.measurements import WheelState
from grouser.physics.soil.memory import shown_slip


def rigid_wheel_states(
    wheels: Sequence[Wheel],
    names: Names,
    kinematics: Kinematics | Packed,
    frames: tuple[np.ndarray, np.ndarray],
    wrenches: np.ndarray,
    ground: Ground | None,
) -> list[WheelState]:
    """States of a machine's wheels on rigid ground.

    Args:
        wheels: the wheels.
        names: where the machine's links are.
        kinematics: of its bodies now.
        frames: rotations (links, 3, 3) and positions (links, 3) [m] of all link frames in the world.
        wrenches: of the contacts of every link, see `rigid_wheel_state`, (links, 6).
        ground: that is under them.
    """
    states = []
    for wheel in wheels:
        link = names.link_index(wheel.link)
        rotation, twist = frames[0][link], kinematics.twist[names.link_body[link]]
        centre = frames[1][link] + rotation @ wheel.position
        velocity = velocity_at(twist, centre - kinematics.origin)
        normal = np.array(ground_surface(ground, centre[0], centre[1])[1:])
        states.append(rigid_wheel_state(wheel, rotation, velocity, twist[3:], wrenches[link], normal))
    return states


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
        A wheel with a vertical axis has no heading: its state is that of a wheel without contact.
    """
    axis = rotation @ wheel.axis
    across = cross_product(axis, normal)
    lying = float(np.linalg.norm(across))
    if lying < 1e-9:
        return WheelState(*[0.0] * len(fields(WheelState)))
    heading = across / lying
    left = cross_product(normal, heading)
    force = rotation @ wrench[:3]
    moment = rotation @ (wrench[3:] - cross_product(wheel.position, wrench[:3]))
    forward, lateral = float(velocity @ heading), float(velocity @ left)
    torque, pull = -float(moment @ axis), float(force @ heading)
    ratio, angle = shown_slip(wheel.radius * float(angular_velocity @ axis), forward, lateral)
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
