"""Joints: positions, velocities and efforts."""

from typing import NamedTuple

import numpy as np

from grouser.physics.drives.springs import BUILT_IN
from grouser.physics.integrators.context import State, System, Workspace
from grouser.physics.model.names import JointCoordinate, Names
from grouser.physics.readings.measurements import SphericalJointState


class JointCoordinates(NamedTuple):
    """Indices and mimic laws of joints with one coordinate, (joints,) each.

    Attributes:
        q, v: index in q and in v.
        multiplier, offset: of a joint that mimics another one.
    """

    q: np.ndarray
    v: np.ndarray
    multiplier: np.ndarray
    offset: np.ndarray


def make_joint_coordinates(names: Names, joints: np.ndarray) -> JointCoordinates:
    """The coordinates of some of the joints, by their numbers."""
    every = list(names.joints.values())
    chosen = [every[joint] for joint in joints.tolist()]
    return JointCoordinates(
        np.array([joint.q for joint in chosen], dtype=np.int64),
        np.array([joint.v for joint in chosen], dtype=np.int64),
        np.array([joint.multiplier for joint in chosen], dtype=float),
        np.array([joint.offset for joint in chosen], dtype=float),
    )


def joint_positions(joints: JointCoordinates, state: State) -> np.ndarray:
    """Positions now [rad or m], (joints,)."""
    return joints.multiplier * state.q[joints.q] + joints.offset


def joint_velocities(joints: JointCoordinates, state: State) -> np.ndarray:
    """Velocities now [rad/s or m/s], (joints,)."""
    return joints.multiplier * state.v[joints.v]


def joint_efforts(joints: JointCoordinates, system: System, workspace: Workspace) -> np.ndarray:
    """Efforts of drives, dry friction, limits and cylinders in the last step [N m or N], (joints,)."""
    rows = workspace.constraints.rows
    count, rates = rows.joint_end[0], np.arange(rows.jacobian.shape[1])
    # outside their range the Jacobians are not set
    inside = (rows.first[:count, None] <= rates) & (rates < rows.last[:count, None])
    impulse = np.where(inside, rows.impulse[:count, None] * rows.jacobian[:count], 0.0).sum(axis=0)
    rate = system.joints.laws.rate_index
    conductance, target, _ = workspace.joints.drive_spring.T
    # Drives at their limit act in the rows.
    built_in = workspace.joints.drive_place == BUILT_IN
    impulse[rate] += np.where(built_in, conductance * (target - workspace.multibody.velocity[rate]), 0.0)
    impulse[rate] += workspace.joints.frictions.impulse
    return (workspace.joints.effort + impulse / system.settings.step)[joints.v]


def spherical_joint_state(first: JointCoordinate, state: State, workspace: Workspace) -> SphericalJointState:
    """A spherical joint, by the coordinate of its first axis."""
    own = slice(first.v, first.v + 3)
    orientation = np.array(state.q[first.q : first.q + 4])
    return SphericalJointState(orientation, np.array(state.v[own]), np.array(workspace.joints.effort[own]))
