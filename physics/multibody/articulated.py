"""Articulated body algorithm: accelerations from forces in linear time (Featherstone 2008, table 7.1).

A joint with several coordinates is eliminated one column at a time, as a chain of joints without masses between them:
no small matrix is inverted. Coordinates that move more than one body (mimicking joints) are outside this algorithm;
factorise the mass matrix for them.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.kernel import inlined, kernel
from grouser.physics.model import Model
from grouser.physics.spatial import cross_force, momentum


class ArticulatedWorkspace(NamedTuple):
    """Buffers of the algorithm.

    Attributes:
        inertia: articulated inertias, lower triangles, (bodies, 6, 6).
        bias: articulated bias wrenches, (bodies, 6).
        motion: spatial accelerations, (bodies, 6).
        reaction: articulated inertia times column, (columns, 6).
        drive: force left for each column and the inverse of its inertia, (columns, 2).
    """

    inertia: np.ndarray
    bias: np.ndarray
    motion: np.ndarray
    reaction: np.ndarray
    drive: np.ndarray


def make_articulated_workspace(model: Model) -> ArticulatedWorkspace:
    """Buffers of the right sizes."""
    bodies, columns = len(model.body_parent), len(model.column_rate)
    return ArticulatedWorkspace(
        np.zeros((bodies, 6, 6)),
        np.zeros((bodies, 6)),
        np.zeros((bodies, 6)),
        np.zeros((columns, 6)),
        np.zeros((columns, 2)),
    )


@kernel
def forward_dynamics(model, kinematics, force, workspace, acceleration):
    """Coordinate accelerations that generalised forces and gravity give.

    Args:
        model: the multibody system, without mimicking joints.
        kinematics: filled for q and v.
        force: generalised forces, (coordinates,).
        workspace: from `make_articulated_workspace`.
        acceleration: result dv/dt, (coordinates,).
    """
    column = kinematics.column
    _rigid_parts(model, kinematics, workspace)
    for i in range(model.body_parent.shape[0] - 1, -1, -1):
        _eliminate_body(model, i, column, kinematics.bias, force, workspace)
    a, reaction, drive = workspace.motion, workspace.reaction, workspace.drive
    for i in range(model.body_parent.shape[0]):
        parent = model.body_parent[i]
        for k in range(6):
            a[i, k] = a[parent, k] if parent >= 0 else (-model.gravity[k] if k < 3 else 0.0)
        for c in range(model.column_start[i], model.column_start[i + 1]):
            missing = drive[c, 0]
            for k in range(6):
                missing -= reaction[c, k] * a[i, k]
            rate = missing * drive[c, 1]
            acceleration[model.column_rate[c]] = rate
            for k in range(6):
                a[i, k] += column[c, k] * rate
        for k in range(6):
            a[i, k] += kinematics.bias[i, k]


@inlined
def _rigid_parts(model, kinematics, workspace):
    """Starts the articulated inertias and biases with the bodies' own."""
    twist, inertia = kinematics.twist, kinematics.inertia
    for i in range(model.body_parent.shape[0]):
        vx, vy, vz = twist[i, 0], twist[i, 1], twist[i, 2]
        wx, wy, wz = twist[i, 3], twist[i, 4], twist[i, 5]
        m0, m1, m2, m3, m4, m5 = momentum(inertia, i, vx, vy, vz, wx, wy, wz)
        c0, c1, c2, c3, c4, c5 = cross_force(vx, vy, vz, wx, wy, wz, m0, m1, m2, m3, m4, m5)
        bias = workspace.bias
        bias[i, 0], bias[i, 1], bias[i, 2] = c0, c1, c2
        bias[i, 3], bias[i, 4], bias[i, 5] = c3, c4, c5
        a = workspace.inertia[i]
        hx, hy, hz, m = inertia[i, 6], inertia[i, 7], inertia[i, 8], inertia[i, 9]
        a[0, 0], a[1, 1], a[2, 2] = m, m, m
        a[1, 0], a[2, 0], a[2, 1] = 0.0, 0.0, 0.0
        a[3, 0], a[3, 1], a[3, 2] = 0.0, -hz, hy
        a[4, 0], a[4, 1], a[4, 2] = hz, 0.0, -hx
        a[5, 0], a[5, 1], a[5, 2] = -hy, hx, 0.0
        a[3, 3], a[4, 3], a[5, 3] = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        a[4, 4], a[5, 4], a[5, 5] = inertia[i, 3], inertia[i, 4], inertia[i, 5]


@inlined
def _eliminate_body(model, i, column, velocity_bias, force, workspace):
    """Takes the columns of body i out of its articulated inertia and hands the rest to its parent."""
    a, p, reaction, drive = workspace.inertia[i], workspace.bias, workspace.reaction, workspace.drive
    for k in range(6):
        total = 0.0
        for m in range(6):
            total += (a[k, m] if m <= k else a[m, k]) * velocity_bias[i, m]
        p[i, k] += total
    for c in range(model.column_start[i + 1] - 1, model.column_start[i] - 1, -1):
        inertia_along = 0.0
        missing = force[model.column_rate[c]]
        for k in range(6):
            total = 0.0
            for m in range(6):
                total += (a[k, m] if m <= k else a[m, k]) * column[c, m]
            reaction[c, k] = total
            inertia_along += total * column[c, k]
            missing -= column[c, k] * p[i, k]
        inverse = 1.0 / inertia_along
        drive[c, 0], drive[c, 1] = missing, inverse
        for k in range(6):
            share = reaction[c, k] * inverse
            p[i, k] += share * missing
            for m in range(k + 1):
                a[k, m] -= share * reaction[c, m]
    parent = model.body_parent[i]
    if parent >= 0:
        b = workspace.inertia[parent]
        for k in range(6):
            p[parent, k] += p[i, k]
            for m in range(k + 1):
                b[k, m] += a[k, m]
