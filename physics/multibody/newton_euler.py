"""Recursive Newton-Euler: forces from an acceleration (Featherstone 2008, table 5.1)."""

import numpy as np

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.base.spatial import cross_force, momentum
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.elastic_link import add_elastic_forces, is_link_in
from grouser.physics.multibody.kinematics import (
    Kinematics,
    body_acceleration,
    body_twist,
    force_along,
    joint_motion,
)
from grouser.physics.multibody.spans import Span, every_body, whole


@embedded
def inverse_dynamics(model: MultibodyModel, kinematics: Kinematics, acceleration, wrench, spatial_acceleration, force):
    """Generalised forces for an acceleration of the coordinates, gravity included.

    Damping and constraints are not included: force = M a + C(q, v) + G(q).

    Args:
        model: the multibody system.
        kinematics: filled for q and v.
        acceleration: dv/dt of the coordinates, (coordinates,).
        wrench: workspace, (bodies, 6).
        spatial_acceleration: workspace, (bodies, 6).
        force: result, (coordinates,).
    """
    inverse_dynamics_of(model, whole(model), kinematics, acceleration, wrench, spatial_acceleration, force)


@embedded
def inverse_dynamics_of(
    model: MultibodyModel, span: Span, kinematics: Kinematics, acceleration, wrench, spatial_acceleration, force
):
    """As `inverse_dynamics`, for the bodies of a span."""
    column, bias, motion = kinematics.column, kinematics.bias, spatial_acceleration
    for i in range(span.body, span.body_end):
        a0, a1, a2, a3, a4, a5 = acceleration_above(model, i, motion)
        j0, j1, j2, j3, j4, j5 = joint_motion(model, i, column, acceleration)
        a0, a1, a2 = a0 + bias[i, 0] + j0, a1 + bias[i, 1] + j1, a2 + bias[i, 2] + j2
        a3, a4, a5 = a3 + bias[i, 3] + j3, a4 + bias[i, 4] + j4, a5 + bias[i, 5] + j5
        motion[i, 0], motion[i, 1], motion[i, 2] = a0, a1, a2
        motion[i, 3], motion[i, 4], motion[i, 5] = a3, a4, a5
        f0, f1, f2, f3, f4, f5 = required_wrench(kinematics.inertia, kinematics.twist, i, a0, a1, a2, a3, a4, a5)
        wrench[i, 0], wrench[i, 1], wrench[i, 2] = f0, f1, f2
        wrench[i, 3], wrench[i, 4], wrench[i, 5] = f3, f4, f5
    for d in range(span.rate, span.rate_end):
        force[d] = 0.0
    for link in range(model.elastic.body.shape[0]):
        if is_link_in(model.elastic, link, span):
            _add_link_forces(model, link, kinematics, motion, acceleration, wrench, force)
    _gather_forces_of(model, span, column, wrench, force)


@inlined
def _add_link_forces(model: MultibodyModel, link, kinematics: Kinematics, motion, acceleration, wrench, force):
    """Adds the forces that an elastic link needs, and its wrench to that of the body that carries it."""
    body = model.elastic.body[link]
    f0, f1, f2, f3, f4, f5 = add_elastic_forces(
        model.elastic,
        link,
        body_twist(kinematics.twist, body),
        body_acceleration(motion, body, model.gravity),
        acceleration,
        kinematics.elastic,
        force,
    )
    if body >= 0:
        wrench[body, 0] += f0
        wrench[body, 1] += f1
        wrench[body, 2] += f2
        wrench[body, 3] += f3
        wrench[body, 4] += f4
        wrench[body, 5] += f5


@inlined
def gather_forces(model: MultibodyModel, column, wrench, force):
    """Generalised forces of wrenches on the bodies.

    Args:
        model: the multibody system.
        column: of its kinematics.
        wrench: on each body, carried ones included; on return, that on all bodies beyond its joint, (bodies, 6).
        force: result, (coordinates,).
    """
    for d in range(force.shape[0]):
        force[d] = 0.0
    _gather_forces_of(model, every_body(model), column, wrench, force)


@inlined
def _gather_forces_of(model: MultibodyModel, span: Span, column, wrench, force):
    """Adds the forces of the wrenches on the bodies of a span."""
    for m in range(span.body_end - span.body):
        i = span.body_end - np.uintp(1) - m
        f0, f1, f2, f3, f4, f5 = wrench[i, 0], wrench[i, 1], wrench[i, 2], wrench[i, 3], wrench[i, 4], wrench[i, 5]
        for c in range(model.column_start[i], model.column_start[i + np.uintp(1)]):
            force[model.column_rate[c]] += force_along(column, c, f0, f1, f2, f3, f4, f5)
        parent = model.body_parent[i]
        if parent >= 0:
            wrench[parent, 0] += f0
            wrench[parent, 1] += f1
            wrench[parent, 2] += f2
            wrench[parent, 3] += f3
            wrench[parent, 4] += f4
            wrench[parent, 5] += f5


@inlined
def acceleration_above(model: MultibodyModel, i, motion):
    """Spatial acceleration of the parent of body i; that of the world opposes gravity."""
    a0, a1, a2, a3, a4, a5 = -model.gravity[0], -model.gravity[1], -model.gravity[2], 0.0, 0.0, 0.0
    parent = model.body_parent[i]
    if parent >= 0:
        a0, a1, a2 = motion[parent, 0], motion[parent, 1], motion[parent, 2]
        a3, a4, a5 = motion[parent, 3], motion[parent, 4], motion[parent, 5]
    return a0, a1, a2, a3, a4, a5


@inlined
def required_wrench(inertia, twist, i, a0, a1, a2, a3, a4, a5):
    """Wrench I a + V x* I V that gives body i the acceleration a."""
    vx, vy, vz, wx, wy, wz = twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
    m0, m1, m2, m3, m4, m5 = momentum(inertia, i, vx, vy, vz, wx, wy, wz)
    c0, c1, c2, c3, c4, c5 = cross_force(vx, vy, vz, wx, wy, wz, m0, m1, m2, m3, m4, m5)
    f0, f1, f2, f3, f4, f5 = momentum(inertia, i, a0, a1, a2, a3, a4, a5)
    return f0 + c0, f1 + c1, f2 + c2, f3 + c3, f4 + c4, f5 + c5
