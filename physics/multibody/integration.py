"""Integration of positions along a velocity on the Lie group of the configuration."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import quaternion_exponential, quaternion_product, rotation_matrix, screw_displacement
from grouser.physics.model.multibody import FREE, PLANAR, SPHERICAL, MultibodyModel
from grouser.physics.multibody.elastic_link import is_link_in
from grouser.physics.multibody.spans import Span, whole


@kernel
def integrate_positions(model: MultibodyModel, q, v, step: float):
    """q <- q (+) step * v, exact for a velocity that is constant in the body frame.

    Floating joints follow the exponential map of SE(3), spherical ones that of SO(3), planar ones that of SE(2), the
    others add. A mimicking joint has no position of its own.
    """
    integrate_positions_of(model, whole(model), q, v, step)


@kernel
def integrate_positions_of(model: MultibodyModel, span: Span, q, v, step: float):
    """As `integrate_positions`, for the bodies of a span."""
    for i in range(span.body, span.body_end):
        if model.body_mimics[i]:
            continue
        at = model.body_q[i]
        rate = model.column_rate[model.column_start[i]]
        kind = model.body_kind[i]
        if kind == FREE:
            _integrate_free(q, at, v, rate, step)
        elif kind == SPHERICAL:
            _turn(q, at, step * v[rate], step * v[rate + 1], step * v[rate + 2])
        elif kind == PLANAR:
            _integrate_planar(q, at, v, rate, step)
        else:
            q[at] += step * v[rate]
    links = model.elastic
    for link in range(links.body.shape[0]):
        if is_link_in(links, link, span):
            for k in range(links.size[link]):
                q[links.q[link] + k] += step * v[links.rate[link] + k]


@kernel
def _integrate_free(q, at, v, rate, step: float):
    rx, ry, rz = step * v[rate + 3], step * v[rate + 4], step * v[rate + 5]
    tx, ty, tz = step * v[rate], step * v[rate + 1], step * v[rate + 2]
    dx, dy, dz = screw_displacement(rx, ry, rz, tx, ty, tz)
    x, y, z, w = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = rotation_matrix(x, y, z, w)
    q[at] += m00 * dx + m01 * dy + m02 * dz
    q[at + 1] += m10 * dx + m11 * dy + m12 * dz
    q[at + 2] += m20 * dx + m21 * dy + m22 * dz
    _turn(q, at + 3, rx, ry, rz)


@kernel
def _turn(q, at, rx, ry, rz):
    """Turns the unit quaternion at q[at] by a rotation vector in its own axes."""
    ex, ey, ez, ew = quaternion_exponential(rx, ry, rz)
    x, y, z, w = quaternion_product(q[at], q[at + 1], q[at + 2], q[at + 3], ex, ey, ez, ew)
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    q[at], q[at + 1], q[at + 2], q[at + 3] = x * scale, y * scale, z * scale, w * scale


@kernel
def _integrate_planar(q, at, v, rate, step: float):
    tx, ty, turn = step * v[rate], step * v[rate + 1], step * v[rate + 2]
    if abs(turn) < 1e-3:
        a = 1.0 - turn * turn / 6.0
        b = turn * (0.5 - turn * turn / 24.0)
    else:
        a = math.sin(turn) / turn
        b = 2.0 * math.sin(0.5 * turn) ** 2 / turn
    dx, dy = a * tx - b * ty, b * tx + a * ty
    sine, cosine = math.sin(q[at + 2]), math.cos(q[at + 2])
    q[at] += cosine * dx - sine * dy
    q[at + 1] += sine * dx + cosine * dy
    q[at + 2] += turn
