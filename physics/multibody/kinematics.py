"""Positions, velocities and inertias of all bodies, in world axes about the origin."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import embedded, inlined, kernel
from grouser.physics.base.spatial import (
    cross,
    cross_motion,
    quaternion_exponential,
    rotated,
    rotation_matrix,
    screw_displacement,
)
from grouser.physics.model.multibody import ELASTIC, FREE, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL, TWIST, MultibodyModel
from grouser.physics.multibody.elastic_body import changing_columns, displace
from grouser.physics.multibody.elastic_link import (
    ElasticMotion,
    is_link_in,
    make_elastic_motion,
    move_elastic_link,
    place_elastic_link,
)
from grouser.physics.multibody.spans import Span, Spans, carried_bodies, whole


class Kinematics(NamedTuple):
    """Kinematics of all bodies; allocated once, filled at every step.

    Attributes:
        origin: the inertial reference point, world frame [m], (3,).
        rotation: world from body, (bodies, 3, 3).
        position: origin of the body frame, from `origin`, world axes [m], (bodies, 3).
        bending: of each ELASTIC body, in the axes of its joint: rotation vector [rad], d [m], (bodies, 6).
        slope: H q of the columns of ELASTIC bodies, (columns,).
        column: twist per unit of coordinate rate, (columns, 6).
        twist: of each body, (bodies, 6).
        bias: spatial acceleration at zero coordinate acceleration, without that of the parent, (bodies, 6).
        inertia: about `origin` in world axes, (bodies, 10), in the order of `spatial`.
        elastic: motion of the elastic links.
    """

    origin: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    bending: np.ndarray
    slope: np.ndarray
    column: np.ndarray
    twist: np.ndarray
    bias: np.ndarray
    inertia: np.ndarray
    elastic: ElasticMotion


def make_kinematics(model: MultibodyModel) -> Kinematics:
    """Zeroed arrays of the right sizes."""
    bodies, columns = len(model.body_parent), len(model.column_rate)
    return Kinematics(
        np.zeros(3),
        np.zeros((bodies, 3, 3)),
        np.zeros((bodies, 3)),
        np.zeros((bodies, 6)),
        np.zeros(columns),
        np.zeros((columns, 6)),
        np.zeros((bodies, 6)),
        np.zeros((bodies, 6)),
        np.zeros((bodies, 10)),
        make_elastic_motion(model.elastic),
    )


@embedded
def update_kinematics(model: MultibodyModel, q, v, kinematics: Kinematics):
    """Fills `kinematics` for the positions q and rates v, also that of the carried bodies."""
    update_kinematics_of(model, whole(model), q, v, kinematics)
    update_kinematics_of(model, carried_bodies(model), q, v, kinematics)


@embedded
def update_kinematics_of(model: MultibodyModel, span: Span, q, v, kinematics: Kinematics):
    """As `update_kinematics`, for the bodies of a span; the origin moves in any case."""
    update_positions_of(model, span, q, kinematics)
    update_velocities_of(model, span, v, kinematics)


@inlined
def follow_origin(model: MultibodyModel, awake: Spans, q, kinematics: Kinematics):
    """Places the lone free bodies between the spans from the origin, if it moves: where the first body is awake."""
    if awake.number[0] == 0 or awake.bound[0, 0] > 0 or model.body_kind[0] != FREE:
        return
    origin, position, offset, m = kinematics.origin, kinematics.position, model.body_position, model.body_rotation
    for k in range(awake.number[0]):
        end = awake.bound[k + 1, 0] if k + 1 < awake.number[0] else model.elastic.carried[0]
        for i in range(awake.bound[k, 1], end):
            at = model.body_q[i]
            for a in range(3):
                turned = m[i, a, 0] * q[at] + m[i, a, 1] * q[at + 1] + m[i, a, 2] * q[at + 2]
                position[i, a] = offset[i, a] - origin[a] + turned


@inlined
def update_positions(model: MultibodyModel, q, kinematics: Kinematics):
    """Origin, rotations, positions, columns and inertias for the positions q."""
    update_positions_of(model, whole(model), q, kinematics)
    update_positions_of(model, carried_bodies(model), q, kinematics)


@inlined
def update_positions_of(model: MultibodyModel, span: Span, q, kinematics: Kinematics):
    """As `update_positions`, for the bodies of a span."""
    origin, rotation, position = kinematics.origin, kinematics.rotation, kinematics.position
    floating = model.body_parent.shape[0] > 0 and model.body_kind[0] == FREE
    for k in range(3):
        origin[k] = 0.0
        if floating:
            origin[k] = model.body_position[0, k]
            for m in range(3):
                origin[k] += model.body_rotation[0, k, m] * q[model.body_q[0] + m]
    for i in range(span.body, span.body_end):
        _place_body(model, i, q, kinematics)
        _inertia_in_world(model, i, rotation, position, kinematics.inertia)
    place_links_of(model, span, q, kinematics)


@inlined
def place_links_of(model: MultibodyModel, span: Span, q, kinematics: Kinematics):
    """Places the elastic links of a span, whose bodies are up to date."""
    for link in range(model.elastic.body.shape[0]):
        if is_link_in(model.elastic, link, span):
            _place_link(model, link, kinematics)
            place_elastic_link(model.elastic, link, q, kinematics.elastic)


@kernel
def _place_link(model: MultibodyModel, link, kinematics: Kinematics):
    """Frame of an elastic link."""
    links, motion, body = model.elastic, kinematics.elastic, model.elastic.body[link]
    offset, placement, turn, place = (
        links.position[link],
        links.rotation[link],
        motion.rotation[link],
        motion.position[link],
    )
    for k in range(3):
        if body < 0:
            place[k] = offset[k] - kinematics.origin[k]
            for m in range(3):
                turn[k, m] = placement[k, m]
        else:
            a = kinematics.rotation[body]
            place[k] = kinematics.position[body, k] + a[k, 0] * offset[0] + a[k, 1] * offset[1] + a[k, 2] * offset[2]
            for m in range(3):
                turn[k, m] = a[k, 0] * placement[0, m] + a[k, 1] * placement[1, m] + a[k, 2] * placement[2, m]


@inlined
def _place_body(model: MultibodyModel, i, q, kinematics: Kinematics):
    """Pose of body i and the columns of its joint."""
    origin, rotation, position, column = (
        kinematics.origin,
        kinematics.rotation,
        kinematics.position,
        kinematics.column,
    )
    parent = model.body_parent[i]
    placement = model.body_rotation[i]
    offset = model.body_position[i]
    # m: rotation of the joint's frame; p: its origin
    if parent < 0:
        m00, m01, m02 = placement[0, 0], placement[0, 1], placement[0, 2]
        m10, m11, m12 = placement[1, 0], placement[1, 1], placement[1, 2]
        m20, m21, m22 = placement[2, 0], placement[2, 1], placement[2, 2]
        px, py, pz = offset[0] - origin[0], offset[1] - origin[1], offset[2] - origin[2]
    else:
        a = rotation[parent]
        m00 = a[0, 0] * placement[0, 0] + a[0, 1] * placement[1, 0] + a[0, 2] * placement[2, 0]
        m01 = a[0, 0] * placement[0, 1] + a[0, 1] * placement[1, 1] + a[0, 2] * placement[2, 1]
        m02 = a[0, 0] * placement[0, 2] + a[0, 1] * placement[1, 2] + a[0, 2] * placement[2, 2]
        m10 = a[1, 0] * placement[0, 0] + a[1, 1] * placement[1, 0] + a[1, 2] * placement[2, 0]
        m11 = a[1, 0] * placement[0, 1] + a[1, 1] * placement[1, 1] + a[1, 2] * placement[2, 1]
        m12 = a[1, 0] * placement[0, 2] + a[1, 1] * placement[1, 2] + a[1, 2] * placement[2, 2]
        m20 = a[2, 0] * placement[0, 0] + a[2, 1] * placement[1, 0] + a[2, 2] * placement[2, 0]
        m21 = a[2, 0] * placement[0, 1] + a[2, 1] * placement[1, 1] + a[2, 2] * placement[2, 1]
        m22 = a[2, 0] * placement[0, 2] + a[2, 1] * placement[1, 2] + a[2, 2] * placement[2, 2]
        px = position[parent, 0] + a[0, 0] * offset[0] + a[0, 1] * offset[1] + a[0, 2] * offset[2]
        py = position[parent, 1] + a[1, 0] * offset[0] + a[1, 1] * offset[1] + a[1, 2] * offset[2]
        pz = position[parent, 2] + a[2, 0] * offset[0] + a[2, 1] * offset[1] + a[2, 2] * offset[2]
    first = model.column_start[i]
    kind = model.body_kind[i]
    at = model.body_q[i]
    if kind == FREE:
        # The position is in the joint frame's axes; the quaternion turns the body in them.
        x, y, z = q[at], q[at + 1], q[at + 2]
        if parent < 0 and i == 0:
            px, py, pz = 0.0, 0.0, 0.0
        else:
            px += m00 * x + m01 * y + m02 * z
            py += m10 * x + m11 * y + m12 * z
            pz += m20 * x + m21 * y + m22 * z
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = _turned(
            *(m00, m01, m02, m10, m11, m12, m20, m21, m22), *(q[at + 3], q[at + 4], q[at + 5], q[at + 6])
        )
        _linear_column(column, first, r00, r10, r20, 1.0)
        _linear_column(column, first + 1, r01, r11, r21, 1.0)
        _linear_column(column, first + 2, r02, r12, r22, 1.0)
        _angular_column(column, first + 3, px, py, pz, r00, r10, r20, 1.0)
        _angular_column(column, first + 4, px, py, pz, r01, r11, r21, 1.0)
        _angular_column(column, first + 5, px, py, pz, r02, r12, r22, 1.0)
    elif kind == TWIST:
        amount = model.body_multiplier[i] * q[at] + model.body_offset[i]
        twist = model.column_shape[first]
        t0, t1, t2, w0, w1, w2 = twist[0], twist[1], twist[2], twist[3], twist[4], twist[5]
        ax, ay, az = m00 * w0 + m01 * w1 + m02 * w2, m10 * w0 + m11 * w1 + m12 * w2, m20 * w0 + m21 * w1 + m22 * w2
        _angular_column(column, first, px, py, pz, ax, ay, az, model.body_multiplier[i])
        scale = model.body_multiplier[i]
        column[first, 0] += scale * (m00 * t0 + m01 * t1 + m02 * t2)
        column[first, 1] += scale * (m10 * t0 + m11 * t1 + m12 * t2)
        column[first, 2] += scale * (m20 * t0 + m21 * t1 + m22 * t2)
        dx, dy, dz = screw_displacement(amount * w0, amount * w1, amount * w2, amount * t0, amount * t1, amount * t2)
        px += m00 * dx + m01 * dy + m02 * dz
        py += m10 * dx + m11 * dy + m12 * dz
        pz += m20 * dx + m21 * dy + m22 * dz
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = _turned(
            *(m00, m01, m02, m10, m11, m12, m20, m21, m22),
            *quaternion_exponential(amount * w0, amount * w1, amount * w2),
        )
    elif kind == SPHERICAL:
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = _turned(
            *(m00, m01, m02, m10, m11, m12, m20, m21, m22), *(q[at], q[at + 1], q[at + 2], q[at + 3])
        )
        _angular_column(column, first, px, py, pz, r00, r10, r20, 1.0)
        _angular_column(column, first + 1, px, py, pz, r01, r11, r21, 1.0)
        _angular_column(column, first + 2, px, py, pz, r02, r12, r22, 1.0)
    elif kind == ELASTIC:
        dx, dy, dz, wx, wy, wz = displace(model, i, q, kinematics.bending, kinematics.slope, column)
        px += m00 * dx + m01 * dy + m02 * dz
        py += m10 * dx + m11 * dy + m12 * dz
        pz += m20 * dx + m21 * dy + m22 * dz
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = _turned(
            *(m00, m01, m02, m10, m11, m12, m20, m21, m22), *quaternion_exponential(wx, wy, wz)
        )
        for c in range(first, model.column_start[i + 1]):
            tx, ty, tz, ux, uy, uz = column[c, 0], column[c, 1], column[c, 2], column[c, 3], column[c, 4], column[c, 5]
            ax, ay, az = m00 * ux + m01 * uy + m02 * uz, m10 * ux + m11 * uy + m12 * uz, m20 * ux + m21 * uy + m22 * uz
            _angular_column(column, c, px, py, pz, ax, ay, az, 1.0)
            column[c, 0] += m00 * tx + m01 * ty + m02 * tz
            column[c, 1] += m10 * tx + m11 * ty + m12 * tz
            column[c, 2] += m20 * tx + m21 * ty + m22 * tz
    elif kind == PRISMATIC:
        shift = model.body_multiplier[i] * q[at] + model.body_offset[i]
        px += m02 * shift
        py += m12 * shift
        pz += m22 * shift
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = m00, m01, m02, m10, m11, m12, m20, m21, m22
        _linear_column(column, first, r02, r12, r22, model.body_multiplier[i])
    else:
        if kind == PLANAR:
            angle = q[at + 2]
            px += m00 * q[at] + m01 * q[at + 1]
            py += m10 * q[at] + m11 * q[at + 1]
            pz += m20 * q[at] + m21 * q[at + 1]
        else:
            angle = model.body_multiplier[i] * q[at] + model.body_offset[i]
        sine, cosine = math.sin(angle), math.cos(angle)
        r00, r01, r02 = m00 * cosine + m01 * sine, m01 * cosine - m00 * sine, m02
        r10, r11, r12 = m10 * cosine + m11 * sine, m11 * cosine - m10 * sine, m12
        r20, r21, r22 = m20 * cosine + m21 * sine, m21 * cosine - m20 * sine, m22
        if kind == REVOLUTE:
            _angular_column(column, first, px, py, pz, r02, r12, r22, model.body_multiplier[i])
        else:
            _linear_column(column, first, r00, r10, r20, 1.0)
            _linear_column(column, first + 1, r01, r11, r21, 1.0)
            _angular_column(column, first + 2, px, py, pz, r02, r12, r22, 1.0)
    b = rotation[i]
    b[0, 0], b[0, 1], b[0, 2] = r00, r01, r02
    b[1, 0], b[1, 1], b[1, 2] = r10, r11, r12
    b[2, 0], b[2, 1], b[2, 2] = r20, r21, r22
    position[i, 0], position[i, 1], position[i, 2] = px, py, pz


@kernel
def _turned(m00, m01, m02, m10, m11, m12, m20, m21, m22, x, y, z, w):
    """The rotation matrix m followed, in its own axes, by the rotation of a unit quaternion."""
    j00, j01, j02, j10, j11, j12, j20, j21, j22 = rotation_matrix(x, y, z, w)
    return (
        m00 * j00 + m01 * j10 + m02 * j20,
        m00 * j01 + m01 * j11 + m02 * j21,
        m00 * j02 + m01 * j12 + m02 * j22,
        m10 * j00 + m11 * j10 + m12 * j20,
        m10 * j01 + m11 * j11 + m12 * j21,
        m10 * j02 + m11 * j12 + m12 * j22,
        m20 * j00 + m21 * j10 + m22 * j20,
        m20 * j01 + m21 * j11 + m22 * j21,
        m20 * j02 + m21 * j12 + m22 * j22,
    )


@kernel
def _linear_column(column, c, x, y, z, scale):
    """Column c: translation along (x, y, z)."""
    column[c, 0], column[c, 1], column[c, 2] = scale * x, scale * y, scale * z
    column[c, 3], column[c, 4], column[c, 5] = 0.0, 0.0, 0.0


@kernel
def _angular_column(column, c, px, py, pz, x, y, z, scale):
    """Column c: rotation about the axis (x, y, z) through the point p."""
    column[c, 0] = scale * (py * z - pz * y)
    column[c, 1] = scale * (pz * x - px * z)
    column[c, 2] = scale * (px * y - py * x)
    column[c, 3], column[c, 4], column[c, 5] = scale * x, scale * y, scale * z


@inlined
def _inertia_in_world(model: MultibodyModel, i, rotation, position, inertia):
    """Inertia of body i about the origin: R I R^T with the parallel-axis term."""
    r = rotation[i]
    m = model.body_mass[i]
    c = model.body_com[i]
    cx = position[i, 0] + r[0, 0] * c[0] + r[0, 1] * c[1] + r[0, 2] * c[2]
    cy = position[i, 1] + r[1, 0] * c[0] + r[1, 1] * c[1] + r[1, 2] * c[2]
    cz = position[i, 2] + r[2, 0] * c[0] + r[2, 1] * c[1] + r[2, 2] * c[2]
    s = model.body_inertia[i]
    a0 = r[0, 0] * s[0] + r[0, 1] * s[1] + r[0, 2] * s[2]
    a1 = r[0, 0] * s[1] + r[0, 1] * s[3] + r[0, 2] * s[4]
    a2 = r[0, 0] * s[2] + r[0, 1] * s[4] + r[0, 2] * s[5]
    b0 = r[1, 0] * s[0] + r[1, 1] * s[1] + r[1, 2] * s[2]
    b1 = r[1, 0] * s[1] + r[1, 1] * s[3] + r[1, 2] * s[4]
    b2 = r[1, 0] * s[2] + r[1, 1] * s[4] + r[1, 2] * s[5]
    c0 = r[2, 0] * s[0] + r[2, 1] * s[1] + r[2, 2] * s[2]
    c1 = r[2, 0] * s[1] + r[2, 1] * s[3] + r[2, 2] * s[4]
    c2 = r[2, 0] * s[2] + r[2, 1] * s[4] + r[2, 2] * s[5]
    inertia[i, 0] = a0 * r[0, 0] + a1 * r[0, 1] + a2 * r[0, 2] + m * (cy * cy + cz * cz)
    inertia[i, 1] = a0 * r[1, 0] + a1 * r[1, 1] + a2 * r[1, 2] - m * cx * cy
    inertia[i, 2] = a0 * r[2, 0] + a1 * r[2, 1] + a2 * r[2, 2] - m * cx * cz
    inertia[i, 3] = b0 * r[1, 0] + b1 * r[1, 1] + b2 * r[1, 2] + m * (cx * cx + cz * cz)
    inertia[i, 4] = b0 * r[2, 0] + b1 * r[2, 1] + b2 * r[2, 2] - m * cy * cz
    inertia[i, 5] = c0 * r[2, 0] + c1 * r[2, 1] + c2 * r[2, 2] + m * (cx * cx + cy * cy)
    inertia[i, 6] = m * cx
    inertia[i, 7] = m * cy
    inertia[i, 8] = m * cz
    inertia[i, 9] = m


@inlined
def update_velocities(model: MultibodyModel, v, kinematics: Kinematics):
    """Twists and bias accelerations for the rates v; positions must be up to date.

    A joint's columns are constant in the body or in its parent, so that the bias is V_parent x V_joint; but those of an
    ELASTIC body change in its parent as well.
    """
    update_velocities_of(model, whole(model), v, kinematics)
    update_velocities_of(model, carried_bodies(model), v, kinematics)


@inlined
def update_velocities_of(model: MultibodyModel, span: Span, v, kinematics: Kinematics):
    """As `update_velocities`, for the bodies of a span."""
    column, twist, bias = kinematics.column, kinematics.twist, kinematics.bias
    for i in range(span.body, span.body_end):
        j0, j1, j2, j3, j4, j5 = joint_motion(model, i, column, v)
        parent = model.body_parent[i]
        if parent < 0:
            p0 = p1 = p2 = p3 = p4 = p5 = 0.0
        else:
            p0, p1, p2 = twist[parent, 0], twist[parent, 1], twist[parent, 2]
            p3, p4, p5 = twist[parent, 3], twist[parent, 4], twist[parent, 5]
        twist[i, 0], twist[i, 1], twist[i, 2] = p0 + j0, p1 + j1, p2 + j2
        twist[i, 3], twist[i, 4], twist[i, 5] = p3 + j3, p4 + j4, p5 + j5
        b0, b1, b2, b3, b4, b5 = cross_motion(p0, p1, p2, p3, p4, p5, j0, j1, j2, j3, j4, j5)
        if model.body_kind[i] == ELASTIC:
            c0, c1, c2, c3, c4, c5 = _elastic_bias(model, i, v, kinematics, j0, j1, j2, j3, j4, j5)
            b0, b1, b2, b3, b4, b5 = b0 + c0, b1 + c1, b2 + c2, b3 + c3, b4 + c4, b5 + c5
        bias[i, 0], bias[i, 1], bias[i, 2] = b0, b1, b2
        bias[i, 3], bias[i, 4], bias[i, 5] = b3, b4, b5
    for link in range(model.elastic.body.shape[0]):
        if is_link_in(model.elastic, link, span):
            move_elastic_link(model.elastic, link, v, kinematics.elastic)


@kernel
def _elastic_bias(model: MultibodyModel, i, v, kinematics: Kinematics, v0, v1, v2, w0, w1, w2):
    """Bias of ELASTIC body i by the change of its columns in its parent; (v0, ..., w2) is its twist relative to it."""
    m, parent = model.body_rotation[i], model.body_parent[i]
    x, y, z = kinematics.position[i, 0], kinematics.position[i, 1], kinematics.position[i, 2]
    ax, ay, az, dx, dy, dz = changing_columns(model, i, v, kinematics.bending, kinematics.slope)
    ax, ay, az = rotated(m, ax, ay, az)
    dx, dy, dz = rotated(m, dx, dy, dz)
    if parent >= 0:
        ax, ay, az = rotated(kinematics.rotation[parent], ax, ay, az)
        dx, dy, dz = rotated(kinematics.rotation[parent], dx, dy, dz)
    # the velocity at the origin is that of the frame, u, and p x w: its derivative is du/dt + u x w + p x dw/dt
    sx, sy, sz = cross(w0, w1, w2, x, y, z)
    ux, uy, uz = v0 + sx, v1 + sy, v2 + sz
    gx, gy, gz = cross(ux, uy, uz, w0, w1, w2)
    hx, hy, hz = cross(x, y, z, dx, dy, dz)
    return ax + gx + hx, ay + gy + hy, az + gz + hz, dx, dy, dz


@inlined
def joint_motion(model: MultibodyModel, i, column, rate):
    """Sum of the columns of body i, each times its coordinate's rate (or acceleration)."""
    # The first column is outside the loop: most joints have only one, and a vectorised loop is slower for one.
    c = model.column_start[i]
    amount = rate[model.column_rate[c]]
    x0, x1, x2 = column[c, 0] * amount, column[c, 1] * amount, column[c, 2] * amount
    x3, x4, x5 = column[c, 3] * amount, column[c, 4] * amount, column[c, 5] * amount
    for c in range(model.column_start[i] + 1, model.column_start[i + np.uintp(1)]):
        amount = rate[model.column_rate[c]]
        x0, x1, x2 = x0 + column[c, 0] * amount, x1 + column[c, 1] * amount, x2 + column[c, 2] * amount
        x3, x4, x5 = x3 + column[c, 3] * amount, x4 + column[c, 4] * amount, x5 + column[c, 5] * amount
    return x0, x1, x2, x3, x4, x5


@kernel
def force_along(column, c, fx, fy, fz, nx, ny, nz):
    """Generalised force of a wrench (f, n) along column c."""
    linear = column[c, 0] * fx + column[c, 1] * fy + column[c, 2] * fz
    return linear + column[c, 3] * nx + column[c, 4] * ny + column[c, 5] * nz


@kernel
def body_twist(twist, body):
    """Twist of a body, (6,); zeros for the world, -1."""
    if body < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    t = twist[body]
    return t[0], t[1], t[2], t[3], t[4], t[5]


@kernel
def body_acceleration(acceleration, body, gravity):
    """Spatial acceleration of a body minus that of gravity."""
    if body < 0:
        return -gravity[0], -gravity[1], -gravity[2], 0.0, 0.0, 0.0
    a = acceleration[body]
    return a[0], a[1], a[2], a[3], a[4], a[5]
