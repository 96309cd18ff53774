"""Lie-group variational integrator of the rigid body (Lee, Leok and McClamroch, 2005): no angles.

The action of a step is tr((1 - F) J_d) / h, less h times the mean potential energy at both ends, with F the rotation in
the step. Its discrete Hamiltonian form, with the angular momentum p about the pivot in *world* axes, is

    p+ = p + h/2 (R rho x m g + R torque),    h R^T p+ = sin(a) J n + (1 - cos(a)) n x J n,
    R' = R F,    p' = p+ + h/2 (R' rho x m g + R' torque),

F being the rotation by a about n. In world axes gravity leaves the vertical component of p alone, to the bit; R is
kept as a quaternion, whose product is brought to unit length as it is formed. So neither drifts.

The torque, in body axes, is constant over the step and acts by half at each end (discrete Lagrange-d'Alembert).
"""

import math

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.base.spatial import cross, quaternion_product, rotated, rotated_back, rotation_matrix

# Most Newton iterations; relative change after which the result is exact; and the change allowed where the
# rounding of a slender body's moments keeps it above that.
_ROUNDS, _SETTLED, _SLENDER = 30, 1e-9, 1e-6


@embedded
def solve_turn(inertia, cx, cy, cz, x, y, z):
    """The rotation by an angle a about n that the momentum c / h makes in a step h.

    With v = n tan(a/2), the equation c = sin(a) J n + (1 - cos(a)) n x J n is 2 (J v + v x J v) = (1 + v.v) c. Newton's
    method solves it to round-off. Of its solutions the one is wanted that comes from v = 0: it turns by less than a
    right angle, and the derivative's determinant is positive.

    Args:
        inertia: J, (3, 3).
        cx, cy, cz: c [kg m2].
        x, y, z: guess of v.

    Returns:
        v, the rounds made, less than zero where there is no solution, and the last change of v.
    """
    before = math.inf
    change = math.inf
    for rounds in range(1, _ROUNDS + 1):
        hx, hy, hz = rotated(inertia, x, y, z)
        half = 0.5 * (1.0 + x * x + y * y + z * z)
        gx = hx + y * hz - z * hy - half * cx
        gy = hy + z * hx - x * hz - half * cy
        gz = hz + x * hy - y * hx - half * cz
        # columns of the derivative: J e + v x J e - J v x e - c (v.e)
        ax, ay, az = _column(inertia, 0, x, y, z)
        bx, by, bz = _column(inertia, 1, x, y, z)
        dx, dy, dz = _column(inertia, 2, x, y, z)
        ax, ay, az = ax - cx * x, ay - hz - cy * x, az + hy - cz * x
        bx, by, bz = bx + hz - cx * y, by - cy * y, bz - hx - cz * y
        dx, dy, dz = dx - hy - cx * z, dy + hx - cy * z, dz - cz * z
        ux, uy, uz = cross(bx, by, bz, dx, dy, dz)
        vx, vy, vz = cross(dx, dy, dz, ax, ay, az)
        wx, wy, wz = cross(ax, ay, az, bx, by, bz)
        determinant = ax * ux + ay * uy + az * uz
        inverse = 1.0 / determinant
        sx = inverse * (gx * ux + gy * uy + gz * uz)
        sy = inverse * (gx * vx + gy * vy + gz * vz)
        sz = inverse * (gx * wx + gy * wy + gz * wz)
        x, y, z = x - sx, y - sy, z - sz
        size = x * x + y * y + z * z
        change = math.sqrt(sx * sx + sy * sy + sz * sz)
        scale = math.sqrt(size)
        if change <= _SETTLED * scale or (change >= before and change <= _SLENDER * scale):
            return x, y, z, rounds if determinant > 0.0 and size < 1.0 else -rounds, change
        before = change
    return x, y, z, -_ROUNDS, change


@inlined
def _column(inertia, i, x, y, z):
    """J e + v x J e, of axis i."""
    jx, jy, jz = inertia[0, i], inertia[1, i], inertia[2, i]
    return jx + y * jz - z * jy, jy + z * jx - x * jz, jz + x * jy - y * jx


@embedded
def turn(state, x, y, z):
    """Rotates the body by the rotation whose axis times the tangent of half its angle is (x, y, z), in body axes."""
    q, r = state.quaternion, state.rotation
    ax, ay, az, aw = quaternion_product(q[0], q[1], q[2], q[3], x, y, z, 1.0)
    scale = 1.0 / math.sqrt(ax * ax + ay * ay + az * az + aw * aw)
    q[0], q[1], q[2], q[3] = scale * ax, scale * ay, scale * az, scale * aw
    m = rotation_matrix(q[0], q[1], q[2], q[3])
    r[0, 0], r[0, 1], r[0, 2] = m[0], m[1], m[2]
    r[1, 0], r[1, 1], r[1, 2] = m[3], m[4], m[5]
    r[2, 0], r[2, 1], r[2, 2] = m[6], m[7], m[8]


@embedded
def set_rate(body, state):
    """The angular velocity that the momentum makes."""
    r, p, w = state.rotation, state.momentum, state.rate
    hx, hy, hz = rotated_back(r, p[0], p[1], p[2])
    w[0], w[1], w[2] = rotated(body.inverse, hx, hy, hz)


@embedded
def push(body, state, time, tx, ty, tz):
    """Adds to the momentum the impulse of the weight and of a torque in body axes."""
    r, p, g = state.rotation, state.momentum, body.weight
    ax, ay, az = rotated(r, body.offset[0], body.offset[1], body.offset[2])
    mx, my, mz = cross(ax, ay, az, g[0], g[1], g[2])
    ux, uy, uz = rotated(r, tx, ty, tz)
    p[0] += time * (mx + ux)
    p[1] += time * (my + uy)
    p[2] += time * (mz + uz)


@embedded
def lie_group_step(body, state, step, tx, ty, tz):
    """Makes a step of a body.

    Args:
        body: see `BodyNumbers`.
        state: its quaternion and momentum are moved on, and the rest set; rotation and quaternion must agree.
        step: [s].
        tx, ty, tz: torque in body axes [N m].

    Returns:
        Newton's rounds, less than zero where there is no solution (attitude and rate are then left as they were), and
        the last change of n tan(a/2).
    """
    p = state.momentum
    push(body, state, 0.5 * step, tx, ty, tz)
    cx, cy, cz = rotated_back(state.rotation, step * p[0], step * p[1], step * p[2])
    x, y, z = rotated(body.inverse, 0.5 * cx, 0.5 * cy, 0.5 * cz)
    x, y, z, rounds, change = solve_turn(body.inertia, cx, cy, cz, x, y, z)
    if rounds < 0:
        return rounds, change
    turn(state, x, y, z)
    push(body, state, 0.5 * step, tx, ty, tz)
    set_rate(body, state)
    return rounds, change
