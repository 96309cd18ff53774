"""Recursive Newton-Euler: forces that give an acceleration (Featherstone 2008, table 5.1)."""

from grouser.physics.kernel import kernel
from grouser.physics.spatial import cross_force, momentum


@kernel
def inverse_dynamics(model, kinematics, acceleration, wrench, spatial_acceleration, force):
    """Generalised forces that give the coordinates an acceleration, gravity included.

    Damping and constraints are not part of it: force = M a + C(q, v) + G(q).

    Args:
        model: the multibody system.
        kinematics: filled for q and v.
        acceleration: dv/dt of the coordinates, (coordinates,).
        wrench: workspace, (bodies, 6).
        spatial_acceleration: workspace, (bodies, 6).
        force: result, (coordinates,).
    """
    column, twist, bias, inertia = kinematics.column, kinematics.twist, kinematics.bias, kinematics.inertia
    a = spatial_acceleration
    for i in range(model.body_parent.shape[0]):
        parent = model.body_parent[i]
        for k in range(6):
            above = a[parent, k] if parent >= 0 else (-model.gravity[k] if k < 3 else 0.0)
            a[i, k] = above + bias[i, k]
        for c in range(model.column_start[i], model.column_start[i + 1]):
            for k in range(6):
                a[i, k] += column[c, k] * acceleration[model.column_rate[c]]
        vx, vy, vz = twist[i, 0], twist[i, 1], twist[i, 2]
        wx, wy, wz = twist[i, 3], twist[i, 4], twist[i, 5]
        m0, m1, m2, m3, m4, m5 = momentum(inertia, i, vx, vy, vz, wx, wy, wz)
        c0, c1, c2, c3, c4, c5 = cross_force(vx, vy, vz, wx, wy, wz, m0, m1, m2, m3, m4, m5)
        f0, f1, f2, f3, f4, f5 = momentum(inertia, i, a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])
        wrench[i, 0], wrench[i, 1], wrench[i, 2] = f0 + c0, f1 + c1, f2 + c2
        wrench[i, 3], wrench[i, 4], wrench[i, 5] = f3 + c3, f4 + c4, f5 + c5
    for d in range(force.shape[0]):
        force[d] = 0.0
    for i in range(model.body_parent.shape[0] - 1, -1, -1):
        for c in range(model.column_start[i], model.column_start[i + 1]):
            total = 0.0
            for k in range(6):
                total += column[c, k] * wrench[i, k]
            force[model.column_rate[c]] += total
        parent = model.body_parent[i]
        if parent >= 0:
            for k in range(6):
                wrench[parent, k] += wrench[i, k]
