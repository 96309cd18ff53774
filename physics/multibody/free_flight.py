"""Machines in free flight: their centre of mass moves straight on, or falls, exactly.

The integration of a tree keeps its momentum to the order of the step only. While nothing outside touches a floating
tree, its base is moved so that the centre of mass has moved by the step times its velocity, and the base's velocity is
changed so that the linear momentum is that before the step, with the impulse of gravity. Both are motions of the tree
as a whole: forces and motions within it do not change. `free_body` does more for bodies that carry no other.
"""

from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import momentum, rotated_back
from grouser.physics.model.multibody import FREE
from grouser.physics.multibody.elastic_link import elastic_momentum
from grouser.physics.multibody.kinematics import joint_motion, update_kinematics_of
from grouser.physics.multibody.spans import whole

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.room import Workspace
    from grouser.physics.multibody.spans import Span


@kernel
def mark_bridge(model: "MultibodyModel", one, other, touched):
    """Marks two bodies, -1 for the world, that act on each other, as touched from outside if their trees differ."""
    if _root_of(model, one) != _root_of(model, other):
        if one >= 0:
            touched[one] = True
        if other >= 0:
            touched[other] = True


@inlined
def _root_of(model: "MultibodyModel", body):
    """First body of the tree of a body; -1 for the world."""
    return model.body_root[body] if body >= 0 else body


@kernel
def keep_centre_of_mass(model: "MultibodyModel", span: "Span", work: "Workspace", step: float, q, v):
    """Corrects position and velocity of the base of every tree in free flight.

    Args:
        model: the multibody system.
        span: the bodies.
        work: of the step, with kinematics and composite inertias of its start, and the bodies touched from outside.
        step: [s].
        q, v: positions and rates after the step; those of the bases are changed.
    """
    bodies, updated = np.int64(span.body_end), False
    first = np.int64(span.body)
    while first < bodies:
        last = first + 1
        while last < bodies and model.body_parent[last] >= 0:
            last += 1
        if last > first + 1 and model.body_kind[first] == FREE and _is_free(model, first, last, work.touched):
            if not updated:
                update_kinematics_of(model, whole(model), q, v, work.discrete.ahead)
                updated = True
            _correct_base(model, first, last, work, step, q, v)
        first = last


@inlined
def _is_free(model: "MultibodyModel", first, last, touched):
    """Whether nothing outside acts on the tree of the bodies from `first` to `last`."""
    for i in range(first, last):
        if touched[i]:
            return False
    for c in range(model.column_start[first], model.column_start[first + 1]):
        if model.rate_damping[model.column_rate[c]] != 0.0:
            return False
    return True


@inlined
def _correct_base(model: "MultibodyModel", first, last, work: "Workspace", step: float, q, v):
    """Corrects position and velocity of the base of one tree."""
    start, ahead = work.kinematics, work.discrete.ahead
    mass = x = y = z = px = py = pz = nx = ny = nz = 0.0
    for i in range(first, last):
        # the momentum of all bodies that the joint of body i moves
        j0, j1, j2, j3, j4, j5 = joint_motion(model, i, start.column, work.velocity_start)
        f0, f1, f2, _, _, _ = momentum(work.composite, i, j0, j1, j2, j3, j4, j5)
        px, py, pz = px + f0, py + f1, pz + f2
        t = ahead.twist[i]
        f0, f1, f2, _, _, _ = momentum(ahead.inertia, i, t[0], t[1], t[2], t[3], t[4], t[5])
        nx, ny, nz = nx + f0, ny + f1, nz + f2
        mass += ahead.inertia[i, 9]
        x += ahead.inertia[i, 6] - start.inertia[i, 6]
        y += ahead.inertia[i, 7] - start.inertia[i, 7]
        z += ahead.inertia[i, 8] - start.inertia[i, 8]
    for link in range(model.elastic.body.shape[0]):
        if _root_of(model, model.elastic.body[link]) == first:
            f0, f1, f2 = elastic_momentum(model.elastic, link, work.velocity_start, start.elastic)
            px, py, pz = px + f0, py + f1, pz + f2
            f0, f1, f2 = elastic_momentum(model.elastic, link, v, ahead.elastic)
            nx, ny, nz = nx + f0, ny + f1, nz + f2
            t = ahead.twist[model.elastic.body[link]]
            f0, f1, f2, _, _, _ = momentum(ahead.elastic.inertia, link, t[0], t[1], t[2], t[3], t[4], t[5])
            nx, ny, nz = nx + f0, ny + f1, nz + f2
            mass += ahead.elastic.inertia[link, 9]
            x += ahead.elastic.inertia[link, 6] - start.elastic.inertia[link, 6]
            y += ahead.elastic.inertia[link, 7] - start.elastic.inertia[link, 7]
            z += ahead.elastic.inertia[link, 8] - start.elastic.inertia[link, 8]
    ux = px / mass + step * model.gravity[0]
    uy = py / mass + step * model.gravity[1]
    uz = pz / mass + step * model.gravity[2]
    rate, at, turn, base = (
        model.column_rate[model.column_start[first]],
        model.body_q[first],
        ahead.rotation[first],
        model.body_rotation[first],
    )
    dx, dy, dz = rotated_back(turn, ux - nx / mass, uy - ny / mass, uz - nz / mass)
    v[rate] += dx
    v[rate + 1] += dy
    v[rate + 2] += dz
    dx, dy, dz = rotated_back(
        base,
        step * ux - x / mass - (ahead.origin[0] - start.origin[0]),
        step * uy - y / mass - (ahead.origin[1] - start.origin[1]),
        step * uz - z / mass - (ahead.origin[2] - start.origin[2]),
    )
    q[at] += dx
    q[at + 1] += dy
    q[at + 2] += dz
