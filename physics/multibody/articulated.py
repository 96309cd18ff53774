"""Articulated body algorithm: accelerations from forces in linear time (Featherstone 2008, table 7.1).

A joint with several coordinates is eliminated one column at a time, as a chain of joints without masses between them:
no small matrix is inverted. The wrenches that velocities and gravity require are added to the bodies' own beforehand,
so that they need not pass through the articulated inertias. Coordinates that move more than one body (mimicking joints)
are outside this algorithm; factorise the mass matrix for them.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import embedded, inlined, kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.multibody.newton_euler import acceleration_above, required_wrench


class ArticulatedWorkspace(NamedTuple):
    """Buffers of the algorithm.

    Attributes:
        inertia: articulated inertias, lower triangles row by row, (bodies, 21).
        bias: articulated bias wrenches, (bodies, 6).
        motion: spatial accelerations: first those at zero coordinate acceleration, then the total, (bodies, 6).
        reaction: articulated inertia times column, (columns, 6).
        drive: remaining force of each column and the inverse of its inertia, (columns, 2).
    """

    inertia: np.ndarray
    bias: np.ndarray
    motion: np.ndarray
    reaction: np.ndarray
    drive: np.ndarray


def make_articulated_workspace(model: MultibodyModel) -> ArticulatedWorkspace:
    """Buffers of the right sizes."""
    bodies, columns = len(model.body_parent), len(model.column_rate)
    return ArticulatedWorkspace(
        np.zeros((bodies, 21)),
        np.zeros((bodies, 6)),
        np.zeros((bodies, 6)),
        np.zeros((columns, 6)),
        np.zeros((columns, 2)),
    )


@embedded
def forward_dynamics(
    model: MultibodyModel, kinematics: Kinematics, force, workspace: ArticulatedWorkspace, acceleration
):
    """Coordinate accelerations from generalised forces and gravity.

    Args:
        model: the multibody system, without mimicking joints.
        kinematics: filled for q and v.
        force: generalised forces, (coordinates,).
        workspace: from `make_articulated_workspace`.
        acceleration: result dv/dt, (coordinates,).
    """
    for i in range(model.body_parent.shape[0]):
        _start_body(model, i, kinematics, workspace)
    for i in range(model.body_parent.shape[0] - 1, -1, -1):
        _eliminate_body(model, i, kinematics.column, force, workspace)
    for i in range(model.body_parent.shape[0]):
        _accelerate_body(model, i, kinematics.column, workspace, acceleration)


@inlined
def _start_body(model: MultibodyModel, i, kinematics: Kinematics, workspace: ArticulatedWorkspace):
    """Starts the articulated inertia and bias of body i with its rigid ones."""
    motion, bias, inertia, joint = workspace.motion, workspace.bias, kinematics.inertia, kinematics.bias
    a0, a1, a2, a3, a4, a5 = acceleration_above(model, i, motion)
    a0, a1, a2 = a0 + joint[i, 0], a1 + joint[i, 1], a2 + joint[i, 2]
    a3, a4, a5 = a3 + joint[i, 3], a4 + joint[i, 4], a5 + joint[i, 5]
    motion[i, 0], motion[i, 1], motion[i, 2] = a0, a1, a2
    motion[i, 3], motion[i, 4], motion[i, 5] = a3, a4, a5
    p0, p1, p2, p3, p4, p5 = required_wrench(inertia, kinematics.twist, i, a0, a1, a2, a3, a4, a5)
    bias[i, 0], bias[i, 1], bias[i, 2] = p0, p1, p2
    bias[i, 3], bias[i, 4], bias[i, 5] = p3, p4, p5
    rigid_inertia(inertia[i], workspace.inertia[i])


@inlined
def _eliminate_body(model: MultibodyModel, i, column, force, workspace: ArticulatedWorkspace):
    """Eliminates the columns of body i from its articulated inertia and adds the rest to its parent."""
    a, bias, reaction, drive = workspace.inertia[i], workspace.bias, workspace.reaction, workspace.drive
    p0, p1, p2, p3, p4, p5 = bias[i, 0], bias[i, 1], bias[i, 2], bias[i, 3], bias[i, 4], bias[i, 5]
    for c in range(model.column_start[i + 1] - 1, model.column_start[i] - 1, -1):
        s0, s1, s2, s3, s4, s5 = column[c, 0], column[c, 1], column[c, 2], column[c, 3], column[c, 4], column[c, 5]
        r0, r1, r2, r3, r4, r5 = symmetric_times(a, s0, s1, s2, s3, s4, s5)
        reaction[c, 0], reaction[c, 1], reaction[c, 2] = r0, r1, r2
        reaction[c, 3], reaction[c, 4], reaction[c, 5] = r3, r4, r5
        missing = force[model.column_rate[c]] - (s0 * p0 + s1 * p1 + s2 * p2 + s3 * p3 + s4 * p4 + s5 * p5)
        inverse = 1.0 / (s0 * r0 + s1 * r1 + s2 * r2 + s3 * r3 + s4 * r4 + s5 * r5)
        drive[c, 0], drive[c, 1] = missing, inverse
        rate = missing * inverse
        p0, p1, p2 = p0 + r0 * rate, p1 + r1 * rate, p2 + r2 * rate
        p3, p4, p5 = p3 + r3 * rate, p4 + r4 * rate, p5 + r5 * rate
        subtract_square(a, inverse, r0, r1, r2, r3, r4, r5)
    parent = model.body_parent[i]
    if parent >= 0:
        above = workspace.inertia[parent]
        for k in range(21):
            above[k] += a[k]
        bias[parent, 0] += p0
        bias[parent, 1] += p1
        bias[parent, 2] += p2
        bias[parent, 3] += p3
        bias[parent, 4] += p4
        bias[parent, 5] += p5


@inlined
def _accelerate_body(model: MultibodyModel, i, column, workspace: ArticulatedWorkspace, acceleration):
    """Accelerations of the coordinates of body i, added to its spatial acceleration."""
    motion, reaction, drive = workspace.motion, workspace.reaction, workspace.drive
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    parent = model.body_parent[i]
    if parent >= 0:
        a0, a1, a2 = motion[parent, 0], motion[parent, 1], motion[parent, 2]
        a3, a4, a5 = motion[parent, 3], motion[parent, 4], motion[parent, 5]
    for c in range(model.column_start[i], model.column_start[i + 1]):
        r0, r1, r2 = reaction[c, 0], reaction[c, 1], reaction[c, 2]
        r3, r4, r5 = reaction[c, 3], reaction[c, 4], reaction[c, 5]
        missing = drive[c, 0] - (r0 * a0 + r1 * a1 + r2 * a2 + r3 * a3 + r4 * a4 + r5 * a5)
        rate = missing * drive[c, 1]
        acceleration[model.column_rate[c]] = rate
        a0, a1, a2 = a0 + column[c, 0] * rate, a1 + column[c, 1] * rate, a2 + column[c, 2] * rate
        a3, a4, a5 = a3 + column[c, 3] * rate, a4 + column[c, 4] * rate, a5 + column[c, 5] * rate
    motion[i, 0], motion[i, 1], motion[i, 2] = a0, a1, a2
    motion[i, 3], motion[i, 4], motion[i, 5] = a3, a4, a5


@kernel
def rigid_inertia(inertia, a):
    """Writes the inertia of a body (`Kinematics.inertia`) as a symmetric 6 x 6 matrix, lower triangle row by row."""
    hx, hy, hz, m = inertia[6], inertia[7], inertia[8], inertia[9]
    a[0] = m
    a[1], a[2] = 0.0, m
    a[3], a[4], a[5] = 0.0, 0.0, m
    a[6], a[7], a[8], a[9] = 0.0, -hz, hy, inertia[0]
    a[10], a[11], a[12], a[13], a[14] = hz, 0.0, -hx, inertia[1], inertia[3]
    a[15], a[16], a[17], a[18], a[19], a[20] = -hy, hx, 0.0, inertia[2], inertia[4], inertia[5]


@kernel
def symmetric_times(a, x0, x1, x2, x3, x4, x5):
    """The symmetric 6 x 6 matrix, stored as its lower triangle a, row by row, times the vector x."""
    return (
        a[0] * x0 + a[1] * x1 + a[3] * x2 + a[6] * x3 + a[10] * x4 + a[15] * x5,
        a[1] * x0 + a[2] * x1 + a[4] * x2 + a[7] * x3 + a[11] * x4 + a[16] * x5,
        a[3] * x0 + a[4] * x1 + a[5] * x2 + a[8] * x3 + a[12] * x4 + a[17] * x5,
        a[6] * x0 + a[7] * x1 + a[8] * x2 + a[9] * x3 + a[13] * x4 + a[18] * x5,
        a[10] * x0 + a[11] * x1 + a[12] * x2 + a[13] * x3 + a[14] * x4 + a[19] * x5,
        a[15] * x0 + a[16] * x1 + a[17] * x2 + a[18] * x3 + a[19] * x4 + a[20] * x5,
    )


@kernel
def subtract_square(a, scale, x0, x1, x2, x3, x4, x5):
    """Subtracts scale x x^T from the symmetric 6 x 6 matrix, stored as its lower triangle a, row by row."""
    y0, y1, y2, y3, y4, y5 = scale * x0, scale * x1, scale * x2, scale * x3, scale * x4, scale * x5
    a[0] -= y0 * x0
    a[1] -= y1 * x0
    a[2] -= y1 * x1
    a[3] -= y2 * x0
    a[4] -= y2 * x1
    a[5] -= y2 * x2
    a[6] -= y3 * x0
    a[7] -= y3 * x1
    a[8] -= y3 * x2
    a[9] -= y3 * x3
    a[10] -= y4 * x0
    a[11] -= y4 * x1
    a[12] -= y4 * x2
    a[13] -= y4 * x3
    a[14] -= y4 * x4
    a[15] -= y5 * x0
    a[16] -= y5 * x1
    a[17] -= y5 * x2
    a[18] -= y5 * x3
    a[19] -= y5 * x4
    a[20] -= y5 * x5
