"""Momenta of a discrete motion: of each body between two poses, and of the coordinates.

A body moves from the pose R0, c0 (c its centre of mass) to R1, c1 in a step h, each of its points in a straight line.
Its action is (1/2h) sum m |x1 - x0|^2 = (1/2h) (m |c1 - c0|^2 + tr((R1 - R0) J (R1 - R0)^T)), with its second moments J
about c (Moser and Veselov, 1991). The derivative of the action by a twist of the end pose is a wrench. The one by a
twist of the start pose is its negative, as moving both poses alike does not change the action. The body's momentum is

    force m (c1 - c0) / h,  moment vee((R1 - R0) J R0^T - R0 J (R1 - R0)^T) / h + c0 x m (c1 - c0) / h,

about a fixed point. The columns of the start and end poses project it to the coordinates' momenta there.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.base.spatial import cross, momentum
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import Kinematics, joint_motion, make_kinematics
from grouser.physics.multibody.newton_euler import gather_forces


class DiscreteMotion(NamedTuple):
    """A step of the variational integrator, from the present positions to the next ones.

    Attributes:
        q: positions at the end of the step.
        ahead: kinematics there.
        momentum: of each body over the step, about the origin of the kinematics at the start, (bodies, 6).
        wrench, twist: buffers, (bodies, 6).
        target: momentum of the coordinates at the start, from the state, (coordinates,).
        force: along the coordinates, (coordinates,).
        missing: residual: `target` less the momentum of the present mean rates, whitened, (coordinates,).
        change: of the mean rates, (coordinates,).
        direction: changes of the mean rates in all rounds so far, whitened, (rounds, coordinates).
    """

    q: np.ndarray
    ahead: Kinematics
    momentum: np.ndarray
    wrench: np.ndarray
    twist: np.ndarray
    target: np.ndarray
    force: np.ndarray
    missing: np.ndarray
    change: np.ndarray
    direction: np.ndarray


def make_discrete_motion(model: MultibodyModel, rounds: int) -> DiscreteMotion:
    """Zeroed arrays for an iteration of at most `rounds` rounds."""
    bodies, coordinates = len(model.body_parent), len(model.rate_damping)
    return DiscreteMotion(
        q=np.zeros(len(model.q_initial)),
        ahead=make_kinematics(model),
        momentum=np.zeros((bodies, 6)),
        wrench=np.zeros((bodies, 6)),
        twist=np.zeros((bodies, 6)),
        target=np.zeros(coordinates),
        force=np.zeros(coordinates),
        missing=np.zeros(coordinates),
        change=np.zeros(coordinates),
        direction=np.zeros((rounds, coordinates)),
    )


@embedded
def find_momenta(model: MultibodyModel, before: Kinematics, after: Kinematics, step: float, result):
    """Momentum of every body between two poses, about the origin of the first.

    Args:
        model: the multibody system.
        before, after: kinematics with positions filled.
        step: h [s].
        result: linear, then angular, (bodies, 6) [kg m/s, kg m2/s].
    """
    # the origin moves with the first body if that floats
    ox, oy, oz = _origin_shift(before, after)
    for i in range(model.body_parent.shape[0]):
        a, b, m, s = before.inertia[i], after.inertia[i], model.body_mass[i], model.body_inertia[i]
        px, py, pz = (b[6] - a[6] + m * ox) / step, (b[7] - a[7] + m * oy) / step, (b[8] - a[8] + m * oz) / step
        lx = ly = lz = 0.0
        if m > 0.0:
            lx, ly, lz = cross(a[6] / m, a[7] / m, a[8] / m, px, py, pz)
        # second moments about the centre of mass from the inertia there
        xx, yy, zz = 0.5 * (s[3] + s[5] - s[0]), 0.5 * (s[0] + s[5] - s[3]), 0.5 * (s[0] + s[3] - s[5])
        xy, xz, yz = -s[1], -s[2], -s[4]
        r, t = before.rotation[i], after.rotation[i]
        tx, ty, tz = _moment_of_column(r, t, 0, xx, xy, xz)
        ux, uy, uz = _moment_of_column(r, t, 1, xy, yy, yz)
        vx, vy, vz = _moment_of_column(r, t, 2, xz, yz, zz)
        result[i, 0], result[i, 1], result[i, 2] = px, py, pz
        result[i, 3] = lx + (tx + ux + vx) / step
        result[i, 4] = ly + (ty + uy + vy) / step
        result[i, 5] = lz + (tz + uz + vz) / step


@inlined
def _origin_shift(before: Kinematics, after: Kinematics):
    """Vector from the origin of the first kinematics to that of the second [m]."""
    return (
        after.origin[0] - before.origin[0],
        after.origin[1] - before.origin[1],
        after.origin[2] - before.origin[2],
    )


@inlined
def _moment_of_column(r, t, k, x, y, z):
    """Column k of R0 cross column k of (R1 - R0) J; column k of J is (x, y, z)."""
    wx = (t[0, 0] - r[0, 0]) * x + (t[0, 1] - r[0, 1]) * y + (t[0, 2] - r[0, 2]) * z
    wy = (t[1, 0] - r[1, 0]) * x + (t[1, 1] - r[1, 1]) * y + (t[1, 2] - r[1, 2]) * z
    wz = (t[2, 0] - r[2, 0]) * x + (t[2, 1] - r[2, 1]) * y + (t[2, 2] - r[2, 2]) * z
    return r[1, k] * wz - r[2, k] * wy, r[2, k] * wx - r[0, k] * wz, r[0, k] * wy - r[1, k] * wx


@embedded
def momenta_at_start(model: MultibodyModel, kinematics: Kinematics, step: float, wrench, result):
    """Momenta of the coordinates at the present rates, with half a step of gravity.

    Args:
        model: the multibody system.
        kinematics: filled for q and v.
        step: h [s].
        wrench: buffer, (bodies, 6).
        result: (coordinates,).
    """
    inertia, twist = kinematics.inertia, kinematics.twist
    for i in range(model.body_parent.shape[0]):
        p0, p1, p2, l0, l1, l2 = momentum(
            inertia, i, twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5]
        )
        _write_momentum_and_weight(model, i, inertia, step, p0, p1, p2, l0, l1, l2, wrench)
    gather_forces(model, kinematics.column, wrench, result)


@embedded
def momenta_at_end(model: MultibodyModel, before: Kinematics, after: Kinematics, step: float, momenta, wrench, result):
    """Momenta of the coordinates at the end of the step, with half a step of gravity.

    Args:
        model: the multibody system.
        before, after: kinematics with positions filled.
        step: h [s].
        momenta: of the bodies over the step, about the origin of the first, (bodies, 6).
        wrench: buffer, (bodies, 6).
        result: (coordinates,).
    """
    ox, oy, oz = _origin_shift(before, after)
    for i in range(model.body_parent.shape[0]):
        p0, p1, p2 = momenta[i, 0], momenta[i, 1], momenta[i, 2]
        l0, l1, l2 = cross(ox, oy, oz, p0, p1, p2)
        l0, l1, l2 = momenta[i, 3] - l0, momenta[i, 4] - l1, momenta[i, 5] - l2
        _write_momentum_and_weight(model, i, after.inertia, step, p0, p1, p2, l0, l1, l2, wrench)
    gather_forces(model, after.column, wrench, result)


@inlined
def _write_momentum_and_weight(model: MultibodyModel, i, inertia, step: float, p0, p1, p2, l0, l1, l2, wrench):
    """Stores the momentum of body i and half a step of its weight as its wrench."""
    gx, gy, gz = 0.5 * step * model.gravity[0], 0.5 * step * model.gravity[1], 0.5 * step * model.gravity[2]
    n0, n1, n2 = cross(inertia[i, 6], inertia[i, 7], inertia[i, 8], gx, gy, gz)
    m = inertia[i, 9]
    wrench[i, 0], wrench[i, 1], wrench[i, 2] = p0 + m * gx, p1 + m * gy, p2 + m * gz
    wrench[i, 3], wrench[i, 4], wrench[i, 5] = l0 + n0, l1 + n1, l2 + n2


@embedded
def add_momenta(model: MultibodyModel, kinematics: Kinematics, rate, twist, momenta):
    """Adds the momenta that rates of the coordinates give the bodies.

    Args:
        model: the multibody system.
        kinematics: with positions filled.
        rate: of the coordinates, (coordinates,).
        twist: buffer, (bodies, 6).
        momenta: of the bodies, changed, (bodies, 6).
    """
    for i in range(model.body_parent.shape[0]):
        t0, t1, t2, t3, t4, t5 = joint_motion(model, i, kinematics.column, rate)
        parent = model.body_parent[i]
        if parent >= 0:
            t0, t1, t2 = t0 + twist[parent, 0], t1 + twist[parent, 1], t2 + twist[parent, 2]
            t3, t4, t5 = t3 + twist[parent, 3], t4 + twist[parent, 4], t5 + twist[parent, 5]
        twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5] = t0, t1, t2, t3, t4, t5
        p0, p1, p2, l0, l1, l2 = momentum(kinematics.inertia, i, t0, t1, t2, t3, t4, t5)
        momenta[i, 0], momenta[i, 1], momenta[i, 2] = momenta[i, 0] + p0, momenta[i, 1] + p1, momenta[i, 2] + p2
        momenta[i, 3], momenta[i, 4], momenta[i, 5] = momenta[i, 3] + l0, momenta[i, 4] + l1, momenta[i, 5] + l2
