"""Loop joints: two frames, the blocked directions, and the deflections between the frames.

The parent frame is fixed to the parent link. Directions 0 to 2 are translations along its x, y, z, directions 3 to 5
rotations about them. Translations are those of the child frame's origin. Rotations are a rotation vector: for joints
with an axis, the swing of this axis and the angle of the twist about it; for the others the logarithm of the rotation.
Springs act along the exact gradients: with others they would do work in a closed cycle.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross, matrix, quaternion_from_matrix, quaternion_logarithm
from grouser.physics.description.data.compliance import JointFrame, LoopJoint, constrained_directions
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import AXES
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.model.blocks import bodies_between, moving_rates
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.multibody.jacobian import wrench_row
from grouser.physics.multibody.kinematics import Kinematics, update_positions

_TURNS_ABOUT_AXIS = ("revolute", "cylindrical", "planar")
# Sine of the angle below which two axes are parallel.
_STRAIGHT = 1e-8


class LoopConstraints(NamedTuple):
    """Loop joints as arrays; one row for each direction with a constraint, spring or damper.

    Attributes:
        parent_body, child_body: -1 for the world, (loops,).
        parent_rotation, child_rotation: the two frames in the body frames, (loops, 3, 3).
        parent_position, child_position: [m], (loops, 3).
        axis: number of the joint's axis, -1 for rotations by the logarithm.
        row_loop, row_direction: loop joint and direction (0 to 5) of each row.
        row_blocked: whether the joint's type blocks the direction.
        row_rigid: whether the row is rigid; otherwise it is a spring.
        row_stiffness, row_damping: of a spring [N/m or N m/rad, N s/m or N m s/rad].
        mass: of the lightest body between the two links, with the bodies that it carries [kg].
        rate_start, rate: coordinate rates of the relative motion of loop joint p are rate[rate_start[p]:
            rate_start[p + 1]].
    """

    parent_body: np.ndarray
    child_body: np.ndarray
    parent_rotation: np.ndarray
    parent_position: np.ndarray
    child_rotation: np.ndarray
    child_position: np.ndarray
    axis: np.ndarray
    row_loop: np.ndarray
    row_direction: np.ndarray
    row_blocked: np.ndarray
    row_rigid: np.ndarray
    row_stiffness: np.ndarray
    row_damping: np.ndarray
    mass: np.ndarray
    rate_start: np.ndarray
    rate: np.ndarray


class LoopMotion(NamedTuple):
    """Motion of the loop joints; filled by `measure_loops`.

    Attributes:
        axes: axes of each parent frame as rows, world axes, (loops, 3, 3).
        point: origin of each child frame, from the kinematics' origin, world axes [m], (loops, 3).
        deflection: of the child frame in the six directions [m, rad], (loops, 6).
        turning: gradients of the three rotations by the child's rotation relative to the parent, as rows, world axes,
            (loops, 3, 3); those of the translations are `axes`.
        jacobian: rates of the rows' deflections per coordinate rate, (rows, coordinates).
        relative, gradient: buffers, (3, 3).
    """

    axes: np.ndarray
    point: np.ndarray
    deflection: np.ndarray
    turning: np.ndarray
    jacobian: np.ndarray
    relative: np.ndarray
    gradient: np.ndarray


def make_loops(machine: Machine, names: Names, model: MultibodyModel) -> LoopConstraints:
    """Arrays of the machine's loop joints; empty arrays when it has none."""
    joints = machine.loop_joints
    parents = [_frame(names, joint.parent) for joint in joints]
    children = [_frame(names, joint.child) for joint in joints]
    rows = [(p, *row) for p, joint in enumerate(joints) for row in _rows(joint)]
    rates = [
        moving_rates(model.body_parent, model.column_start, model.column_rate, int(a[0]), int(b[0]))
        for a, b in zip(parents, children, strict=True)
    ]
    loops = LoopConstraints(
        parent_body=_whole([body for body, _, _ in parents]),
        child_body=_whole([body for body, _, _ in children]),
        parent_rotation=_real([rotation for _, rotation, _ in parents], (3, 3)),
        parent_position=_real([position for _, _, position in parents], (3,)),
        child_rotation=_real([rotation for _, rotation, _ in children], (3, 3)),
        child_position=_real([position for _, _, position in children], (3,)),
        axis=_whole([AXES.index(joint.axis) if joint.type in _TURNS_ABOUT_AXIS else -1 for joint in joints]),
        row_loop=_whole([row[0] for row in rows]),
        row_direction=_whole([row[1] for row in rows]),
        row_blocked=np.array([row[2] for row in rows], dtype=np.bool_),
        row_rigid=np.array([row[3] for row in rows], dtype=np.bool_),
        row_stiffness=_real([row[4] for row in rows]),
        row_damping=_real([row[5] for row in rows]),
        mass=_real([_lightest(model, int(a[0]), int(b[0])) for a, b in zip(parents, children, strict=True)]),
        rate_start=_whole(np.concatenate([[0], np.cumsum([len(r) for r in rates])])),
        rate=_whole([rate for loop_rates in rates for rate in loop_rates]),
    )
    for array in loops:
        array.flags.writeable = False
    return loops


def with_rows(loops: LoopConstraints, acting: np.ndarray) -> LoopConstraints:
    """The same loop joints with the rows that act, (rows,) of bool."""
    rows = {field: array[acting] for field, array in loops._asdict().items() if field.startswith("row_")}
    for array in rows.values():
        array.flags.writeable = False
    return loops._replace(**rows)


def make_loop_motion(loops: LoopConstraints, coordinates: int) -> LoopMotion:
    """Buffers of the right sizes."""
    count = len(loops.parent_body)
    return LoopMotion(
        np.zeros((count, 3, 3)),
        np.zeros((count, 3)),
        np.zeros((count, 6)),
        np.zeros((count, 3, 3)),
        np.zeros((len(loops.row_loop), coordinates)),
        np.zeros((3, 3)),
        np.zeros((3, 3)),
    )


def _rows(joint: LoopJoint):
    """(direction, blocked, rigid, stiffness, damping) of every direction with a constraint, spring or damper."""
    translations, rotations = constrained_directions(joint.type, joint.axis)
    blocked = (*translations, *rotations)
    for direction in range(6):
        stiffness, damping = (
            (joint.stiffness, joint.damping)
            if direction < 3
            else (joint.rotational_stiffness, joint.rotational_damping)
        )
        k = 0.0 if stiffness is None else stiffness[direction % 3]
        rigid = blocked[direction] and stiffness is None
        if rigid or k > 0.0 or damping[direction % 3] > 0.0:
            yield direction, blocked[direction], rigid, k, damping[direction % 3]


def _lightest(model: MultibodyModel, body: int, other: int) -> float:
    """Mass of the lightest body between two (-1: the world), with the bodies it carries [kg]; infinite for none."""
    parent, carried = model.body_parent, np.array(model.body_mass)
    for child in range(len(parent) - 1, -1, -1):
        if parent[child] >= 0:
            carried[parent[child]] += carried[child]
    masses = carried[list(bodies_between(parent, body, other))]
    return float(masses.min(initial=np.inf, where=masses > 0.0))


def _frame(names: Names, frame: JointFrame):
    """Body of a frame, its rotation and position in the body frame."""
    link = names.link_index(frame.link)
    rotation = names.link_rotation[link]
    return (
        names.link_body[link],
        rotation @ matrix(quaternion_from_rpy(*frame.rpy)),
        names.link_position[link] + rotation @ np.array(frame.xyz),
    )


def _whole(values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _real(values, shape=()) -> np.ndarray:
    return np.array(values, dtype=float).reshape(-1, *shape)


@kernel
def place_loops(model: MultibodyModel, loops: LoopConstraints, q, kinematics: Kinematics, motion: LoopMotion):
    """`measure_loops` for the positions q."""
    update_positions(model, q, kinematics)
    measure_loops(model, loops, kinematics, motion)


@inlined
def measure_loops(model: MultibodyModel, loops: LoopConstraints, kinematics: Kinematics, motion: LoopMotion):
    """Frames, deflections and Jacobian of every loop joint.

    Args:
        model, loops: the machine.
        kinematics: with positions filled.
        motion: result.
    """
    for p in range(loops.parent_body.shape[0]):
        _measure_frames(
            *(kinematics.origin, kinematics.rotation, kinematics.position),
            *(loops.parent_body[p], loops.parent_rotation[p], loops.parent_position[p]),
            *(loops.child_body[p], loops.child_rotation[p], loops.child_position[p]),
            *(motion.axes[p], motion.point[p], motion.deflection[p], motion.relative),
        )
        _measure_rotation(loops.axis[p], motion.relative, motion.deflection[p], motion.gradient)
        _turn_rows(motion.gradient, motion.axes[p], motion.turning[p])
    for r in range(loops.row_loop.shape[0]):
        fx, fy, fz, mx, my, mz = loop_wrench(loops, motion, r)
        p = loops.row_loop[r]
        for k in range(loops.rate_start[p], loops.rate_start[p + 1]):
            motion.jacobian[r, loops.rate[k]] = 0.0
        wrench_row(
            *(model.body_parent, model.column_start, model.column_rate, kinematics.column),
            *(loops.child_body[p], loops.parent_body[p], fx, fy, fz, mx, my, mz, motion.jacobian, r),
        )


@kernel
def loop_speed(loops: LoopConstraints, motion: LoopMotion, r, v):
    """Speed along row r at the coordinate rates v."""
    p, total = loops.row_loop[r], 0.0
    for k in range(loops.rate_start[p], loops.rate_start[p + 1]):
        d = loops.rate[k]
        total += motion.jacobian[r, d] * v[d]
    return total


@inlined
def loop_wrench(loops: LoopConstraints, motion: LoopMotion, r):
    """Unit wrench on the child along row r: force, and moment about the kinematics' origin, world axes."""
    p, direction = loops.row_loop[r], loops.row_direction[r]
    if direction >= 3:
        n = motion.turning[p, direction - 3]
        return 0.0, 0.0, 0.0, n[0], n[1], n[2]
    n, point = motion.axes[p, direction], motion.point[p]
    mx, my, mz = cross(point[0], point[1], point[2], n[0], n[1], n[2])
    return n[0], n[1], n[2], mx, my, mz


@kernel
def _measure_frames(
    origin,
    rotation,
    position,
    parent_body,
    parent_rotation,
    parent_position,
    child_body,
    child_rotation,
    child_position,
    axes,
    point,
    deflection,
    relative,
):
    """Axes of the parent frame, origin of the child frame, translations, and the child's rotation in the parent."""
    px, py, pz = _world_point(origin, rotation, position, parent_body, parent_position)
    cx, cy, cz = _world_point(origin, rotation, position, child_body, child_position)
    point[0], point[1], point[2] = cx, cy, cz
    for k in range(3):
        x, y, z = _world_direction(rotation, parent_body, parent_rotation, k)
        axes[k, 0], axes[k, 1], axes[k, 2] = x, y, z
        deflection[k] = x * (cx - px) + y * (cy - py) + z * (cz - pz)
    for m in range(3):
        x, y, z = _world_direction(rotation, child_body, child_rotation, m)
        for k in range(3):
            relative[k, m] = axes[k, 0] * x + axes[k, 1] * y + axes[k, 2] * z


@kernel
def _world_direction(rotation, body, frame, k):
    """Axis k of a frame that is given in a body's frame, world axes; the world is body -1."""
    x, y, z = frame[0, k], frame[1, k], frame[2, k]
    if body < 0:
        return x, y, z
    r = rotation[body]
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def _world_point(origin, rotation, position, body, point):
    """A point given in a body's frame, from the kinematics' origin, world axes; the world is body -1."""
    x, y, z = point[0], point[1], point[2]
    if body < 0:
        return x - origin[0], y - origin[1], z - origin[2]
    r = rotation[body]
    return (
        position[body, 0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        position[body, 1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        position[body, 2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def _measure_rotation(axis, relative, deflection, gradient):
    """Rotations of a loop joint, and their gradients as rows in the parent frame."""
    x, y, z, w = quaternion_from_matrix(relative)
    if axis < 0:
        deflection[3], deflection[4], deflection[5] = quaternion_logarithm(x, y, z, w)
        _logarithm_gradient(deflection[3], deflection[4], deflection[5], gradient)
    else:
        along = x if axis == 0 else (y if axis == 1 else z)
        deflection[3 + axis] = 2.0 * math.atan2(along, w)
        _measure_swing(axis, relative, deflection, gradient)


@kernel
def _logarithm_gradient(x, y, z, gradient):
    """Inverse of the left Jacobian of SO(3): 1 - r x / 2 + c r x r x, for the rotation vector r = (x, y, z)."""
    square = x * x + y * y + z * z
    if square < 1e-4:
        c = 1.0 / 12.0 + square / 720.0
    else:
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half / math.tan(half)) / square
    diagonal = 1.0 - c * square
    gradient[0, 0], gradient[1, 1], gradient[2, 2] = diagonal + c * x * x, diagonal + c * y * y, diagonal + c * z * z
    gradient[0, 1], gradient[1, 0] = c * x * y + 0.5 * z, c * x * y - 0.5 * z
    gradient[1, 2], gradient[2, 1] = c * y * z + 0.5 * x, c * y * z - 0.5 * x
    gradient[2, 0], gradient[0, 2] = c * z * x + 0.5 * y, c * z * x - 0.5 * y


@kernel
def _measure_swing(axis, relative, deflection, gradient):
    """Swing of an axis about the two others, b and c, and the gradients of swing and twist.

    The child's axis is a' = cos s a + sin s u, its swing the vector s a x u. For the angular velocity w, s changes by
    the component of w along a x u, and u by the azimuth's rate; the twist changes by (a + a').w / (1 + a.a').
    """
    b, c = (axis + 1) % 3, (axis + 2) % 3
    lean_b, lean_c, cosine = -relative[c, axis], relative[b, axis], relative[axis, axis]
    sine = math.sqrt(lean_b * lean_b + lean_c * lean_c)
    swing = math.atan2(sine, cosine)
    stretch = 1.0 if sine < _STRAIGHT else swing / sine
    swing_b, swing_c = stretch * lean_b, stretch * lean_c
    if sine < _STRAIGHT and cosine < 0.0:
        # inverted: the swing axis is arbitrary
        swing_b, swing_c = swing, 0.0
    curve = -1.0 / 3.0 if swing < 1e-4 else (stretch * cosine - 1.0) / (swing * swing)
    deflection[3 + b], deflection[3 + c] = swing_b, swing_c
    gradient[b, b], gradient[c, c] = 1.0 + curve * swing_c * swing_c, 1.0 + curve * swing_b * swing_b
    gradient[b, c] = gradient[c, b] = -curve * swing_b * swing_c
    gradient[b, axis], gradient[c, axis] = -swing_c, swing_b
    gradient[axis, axis] = 1.0
    both = max(1.0 + cosine, _STRAIGHT)
    gradient[axis, b], gradient[axis, c] = lean_c / both, -lean_b / both


@kernel
def _turn_rows(rows, axes, result):
    """Rotates rows from a frame to world axes; the frame's axes are the rows of `axes`."""
    for k in range(3):
        for m in range(3):
            result[k, m] = rows[k, 0] * axes[0, m] + rows[k, 1] * axes[1, m] + rows[k, 2] * axes[2, m]
