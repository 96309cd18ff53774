"""Variational integrator in unit quaternions (after Xu and Zhong, 2014): midpoint action, |q| = 1 at the grid points.

The action of a step is h L at the mean (q + q')/2 of both ends, which is shorter than 1, and at the velocity
(q' - q)/h. A Lagrange multiplier keeps q' at unit length. It is eliminated here: with q' = q (v, 1) / sqrt(1 + v.v)
there is no other q', and v solves

    2 (J v + v x J v) / (1 + v.v) = h (R^T p + h/2 torque) + h^2/4 D,

as in the Lie-group integrator, whose kinetic part is the same: (q' - q)/h has the angular velocity 2/h sin(a/2) n, with
a and n of the rotation in the step. Only the weight's part differs. D is the derivative of m g . S rho by the vector
part of the mean quaternion (u, t), seen from q,

    D = 2 (t rho x k - (k.rho) u + (rho.u) k + (k.u) rho),    k = R^T m g,

and S, the quaternion's matrix, is no rotation but one times its length squared. Over the step the momentum in world
axes changes by h (S rho) x m g, the vertical component not at all.
"""

import math

from grouser.physics.base.kernel import embedded
from grouser.physics.base.spatial import cross, rotated, rotated_back
from grouser.studies.attitude.lie_group import set_rate, solve_turn, turn

# Rounds about the weight's part, which converge by h^2 m g |rho| / J each; otherwise as Newton's.
_ROUNDS, _SETTLED, _SLENDER = 50, 1e-15, 1e-9


@embedded
def quaternion_step(body, state, step, tx, ty, tz):
    """Makes a step of a body; arguments and results as of `lie_group_step`."""
    p, o = state.momentum, body.offset
    kx, ky, kz = rotated_back(state.rotation, body.weight[0], body.weight[1], body.weight[2])
    mx, my, mz = cross(o[0], o[1], o[2], kx, ky, kz)
    along = kx * o[0] + ky * o[1] + kz * o[2]
    ux, uy, uz = rotated(state.rotation, 0.5 * step * tx, 0.5 * step * ty, 0.5 * step * tz)
    p[0] += ux
    p[1] += uy
    p[2] += uz
    cx, cy, cz = rotated_back(state.rotation, step * p[0], step * p[1], step * p[2])
    x, y, z = rotated(body.inverse, 0.5 * cx, 0.5 * cy, 0.5 * cz)
    settled, total, before, change = False, 0, math.inf, math.inf
    for _ in range(_ROUNDS):
        ux, uy, uz, t = _mean(x, y, z)
        share = 0.5 * step * step
        with_offset = o[0] * ux + o[1] * uy + o[2] * uz
        with_weight = kx * ux + ky * uy + kz * uz
        vx, vy, vz, rounds, change = solve_turn(
            body.inertia,
            cx + share * (t * mx - along * ux + with_offset * kx + with_weight * o[0]),
            cy + share * (t * my - along * uy + with_offset * ky + with_weight * o[1]),
            cz + share * (t * mz - along * uz + with_offset * kz + with_weight * o[2]),
            *(x, y, z),
        )
        total += abs(rounds)
        if rounds < 0:
            break
        change = math.sqrt((vx - x) ** 2 + (vy - y) ** 2 + (vz - z) ** 2)
        x, y, z = vx, vy, vz
        scale = math.sqrt(x * x + y * y + z * z)
        settled = change <= _SETTLED * scale or (change >= before and change <= _SLENDER * scale)
        if settled:
            break
        before = change
    if not settled:
        return -total, change
    ux, uy, uz, t = _mean(x, y, z)
    # S rho, in body axes at the start
    cx, cy, cz = cross(ux, uy, uz, o[0], o[1], o[2])
    real, with_offset = t * t - ux * ux - uy * uy - uz * uz, 2.0 * (o[0] * ux + o[1] * uy + o[2] * uz)
    ax, ay, az = rotated(
        state.rotation,
        real * o[0] + with_offset * ux + 2.0 * t * cx,
        real * o[1] + with_offset * uy + 2.0 * t * cy,
        real * o[2] + with_offset * uz + 2.0 * t * cz,
    )
    turn(state, x, y, z)
    mx, my, mz = cross(ax, ay, az, body.weight[0], body.weight[1], body.weight[2])
    ux, uy, uz = rotated(state.rotation, 0.5 * tx, 0.5 * ty, 0.5 * tz)
    p[0] += step * (mx + ux)
    p[1] += step * (my + uy)
    p[2] += step * (mz + uz)
    set_rate(body, state)
    return total, change


@embedded
def _mean(x, y, z):
    """Mean of the unit quaternions 1 and (x, y, z, 1) / sqrt(1 + x^2 + y^2 + z^2)."""
    scale = 0.5 / math.sqrt(1.0 + x * x + y * y + z * z)
    return scale * x, scale * y, scale * z, 0.5 + scale
