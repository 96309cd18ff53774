"""Motion of a tool's tip in the vertical plane of its arm, and of the cylinders that make it.

Coordinates are the positions of the joints below a link of the machine, the frame. Loop joints let some of their
motions through (for example the four-bar linkage of a bucket), and so do cylinders that stand: N is a basis of the null
space of their Jacobian, without motions that move no cylinder (a load that hangs from the tip). With the Jacobian J of
the tip and S of the cylinders' lengths, the rates q' = N (J N)^+ v give the tip the velocity v, and the cylinders the
speeds S q'. Where the arm is almost straight, the inverse is damped (Nakamura and Hanafusa, Inverse Kinematic Solutions
with Singularity Robustness for Robot Manipulator Control, 1986): the tip becomes slower than asked.

With more cylinders than directions of v, the rates q' + Z z give the tip the same velocity, Z a basis of the null space
of J N in N: z makes the weighted speeds of the cylinders, |W S (q' + Z z)|, least.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data import rotation
from grouser.physics.description.data.compliance import JointFrame, LoopJoint
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.data.pose import Pose, Vector3

_AXES = {"x": 0, "y": 1, "z": 2}
# Of each loop joint: whether its axis and whether the other two axes are constrained, in translation and in rotation.
_CONSTRAINED = {
    "spherical": ((True, True), (False, False)),
    "revolute": ((True, True), (False, True)),
    "prismatic": ((False, True), (True, True)),
    "cylindrical": ((False, True), (False, True)),
    "planar": ((True, False), (False, True)),
    "fixed": ((True, True), (True, True)),
}
_TURNING, _SLIDING = ("revolute", "continuous"), ("prismatic",)
# Smallest singular value of J N without damping [m/rad], and the greatest damping [m/rad].
_REGULAR, _DAMPING = 0.15, 0.15
_RANK_TOLERANCE = 1e-6


class ArmMotion(NamedTuple):
    """How an arm moves at one position, per unit of its joints' rates.

    Attributes:
        tip: reach [m], height [m] and attitude [rad]; shape (3, joints).
        closure: relative motions in the loops, which are zero; shape (n, joints).
        lengths: of the cylinders [m].
        cylinders: their speeds; shape (cylinders, joints).
        turning: whether each joint turns.
    """

    tip: np.ndarray
    closure: np.ndarray
    lengths: np.ndarray
    cylinders: np.ndarray
    turning: np.ndarray

    @property
    def levers(self) -> np.ndarray:
        """Lever of each cylinder: its speed per unit rate of the joint that it turns fastest, while the others stand.

        At a dead point it is zero, and no force of the cylinder holds the arm. Infinite for one that turns nothing by
        itself; shape (cylinders,) [m/rad].
        """
        levers = np.full(len(self.cylinders), np.inf)
        for index, speed in enumerate(self.cylinders):
            others = np.delete(self.cylinders, index, axis=0)
            free = _null_space(np.vstack([self.closure, others]))
            along = speed @ free  # the motion that moves the cylinder, and no other one
            fastest = np.max(np.abs(free @ along)[self.turning], initial=0.0)
            if fastest > 0.0:
                levers[index] = along @ along / fastest
        return levers

    def rates(
        self, directions: Sequence[int], wanted: np.ndarray, standing: np.ndarray, fastest: np.ndarray
    ) -> np.ndarray:
        """Rates of the joints that move the tip.

        Args:
            directions: rows of `tip` that are wanted; the others are left free.
            wanted: velocity in each of them [m/s or rad/s].
            standing: whether each cylinder must not move.
            fastest: speeds of the cylinders [m/s]: shares of them are kept small where there is a choice.

        Returns:
            Shape (joints,) [rad/s or m/s].
        """
        free = _null_space(np.vstack([self.closure, self.cylinders[standing]]))
        free = free @ _row_space(self.cylinders @ free)
        if free.shape[1] == 0 or len(directions) == 0:
            return np.zeros(len(free))
        tip = self.tip[list(directions)] @ free
        rates = free @ (_damped_inverse(tip) @ wanted)
        unseen = free @ _null_space(tip)
        shares = self.cylinders / fastest[:, np.newaxis]
        return rates - unseen @ np.linalg.lstsq(shares @ unseen, shares @ rates, rcond=None)[0]


class TipKinematics:
    """Kinematics of an arm.

    Args:
        machine: whose arm it is.
        frame: link whose x-z plane the tip moves in.
        link: that carries the tip.
        point: tip, in the frame of `link` [m].
        cylinders: names of the cylinders.

    Attributes:
        joints: names of the joints below the frame that can move.

    Raises:
        MachineError: a name is unknown, `link` is not below `frame`, or a joint between them is of another type than
            revolute, continuous or prismatic.
    """

    def __init__(self, machine: Machine, frame: str, link: str, point: Vector3, cylinders: Sequence[str]) -> None:
        self._frame, self._link, self._point = frame, link, point
        self._tree = _below(machine, frame)
        moving = [joint for joint in self._tree if joint.type != "fixed"]
        for joint in moving:
            if joint.type not in (*_TURNING, *_SLIDING):
                raise MachineError(
                    f"joint {joint.name!r} below link {frame!r} is {joint.type}",
                    remedy="the joints of an arm are revolute, continuous or prismatic",
                )
        self.joints = tuple(joint.name for joint in moving)
        self._turning = np.array([joint.type in _TURNING for joint in moving])
        links = {frame, *(joint.child for joint in self._tree)}
        if link not in links:
            raise MachineError(f"no link {link!r} below link {frame!r}", remedy=f"one of {', '.join(sorted(links))}")
        known = {cylinder.name: cylinder for cylinder in machine.cylinders}
        for name in cylinders:
            if name not in known or not {known[name].barrel.link, known[name].rod.link} <= links:
                there = [one.name for one in machine.cylinders if {one.barrel.link, one.rod.link} <= links]
                raise MachineError(f"no cylinder {name!r} below link {frame!r}", remedy=f"one of {', '.join(there)}")
        self._cylinders = [known[name] for name in cylinders]
        self._loops = [loop for loop in machine.loop_joints if {loop.parent.link, loop.child.link} <= links]

    def motion(self, positions: Mapping[str, float]) -> ArmMotion:
        """Motion at a position.

        Args:
            positions: of all `joints` [rad or m].
        """
        place = _Place(self._frame, self._tree, positions, len(self.joints))
        turning, moving = place.twist(self._link, place.point(self._link, self._point))
        tip = np.vstack([moving[0], moving[2], -turning[1]])
        lengths, cylinders = [], []
        for cylinder in self._cylinders:
            barrel, rod = (place.point(end.link, end.xyz) for end in (cylinder.barrel, cylinder.rod))
            between = rod - barrel
            lengths.append(float(np.linalg.norm(between)))
            relative = place.twist(cylinder.rod.link, rod)[1] - place.twist(cylinder.barrel.link, barrel)[1]
            cylinders.append(between @ relative / lengths[-1])
        closure = np.vstack([np.zeros((1, len(self.joints))), *(_closure(place, one) for one in self._loops)])
        return ArmMotion(tip, closure, np.array(lengths), np.array(cylinders), self._turning)


class _Place:
    """Poses and Jacobians of the links at one position, in the frame of the topmost link."""

    def __init__(self, frame: str, tree: Sequence[Joint], positions: Mapping[str, float], count: int) -> None:
        self._pose = {frame: Pose()}
        self._above: dict[str, tuple[int, ...]] = {frame: ()}
        self._origin, self._axis, self._slides = [], [], []
        self._count = count
        for joint in tree:
            at = rotation.compose(self._pose[joint.parent], joint.pose)
            path = self._above[joint.parent]
            if joint.type != "fixed":
                value = float(positions[joint.name])
                self._slides.append(joint.type in _SLIDING)
                self._origin.append(np.array(at.position))
                self._axis.append(np.array(rotation.rotate(at.quaternion, joint.axis)))
                x, y, z = joint.axis
                moved = (
                    Pose((x * value, y * value, z * value))
                    if self._slides[-1]
                    else Pose(quaternion=rotation.quaternion_about(joint.axis, value))
                )
                at = rotation.compose(at, moved)
                path = (*path, len(self._axis) - 1)
            self._pose[joint.child], self._above[joint.child] = at, path

    def point(self, link: str, point: Vector3) -> np.ndarray:
        """A point of a link [m], shape (3,)."""
        return np.array(rotation.compose(self._pose[link], Pose(point)).position)

    def axes(self, at: JointFrame) -> np.ndarray:
        """Axes of a frame on a link, as columns, shape (3, 3)."""
        turned = rotation.product(self._pose[at.link].quaternion, rotation.quaternion_from_rpy(*at.rpy))
        return rotation.matrix(turned)

    def twist(self, link: str, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocity of a link, and velocity of its point, per unit of the joints' rates; shapes (3, joints)."""
        turning, moving = np.zeros((3, self._count)), np.zeros((3, self._count))
        for index in self._above[link]:
            axis = self._axis[index]
            if self._slides[index]:
                moving[:, index] = axis
            else:
                turning[:, index] = axis
                moving[:, index] = np.cross(axis, point - self._origin[index])
        return turning, moving


def _below(machine: Machine, frame: str) -> list[Joint]:
    """Joints below a link, each after those above it.

    Raises:
        MachineError: there is no such link.
    """
    if frame not in {link.name for link in machine.links}:
        raise MachineError(f"no link {frame!r}", remedy="name the link whose x-z plane the tip moves in")
    found: list[Joint] = []
    links = [frame]
    for link in links:
        below = [joint for joint in machine.joints if joint.parent == link]
        found += below
        links += [joint.child for joint in below]
    return found


def _closure(place: _Place, loop: LoopJoint) -> np.ndarray:
    """Relative velocities that a loop joint does not allow, per unit of the joints' rates; shape (n, joints)."""
    at = place.point(loop.parent.link, loop.parent.xyz)
    turning, moving = (
        child - parent
        for parent, child in zip(
            place.twist(loop.parent.link, at),
            place.twist(loop.child.link, place.point(loop.child.link, loop.child.xyz)),
            strict=True,
        )
    )
    axes = place.axes(loop.parent).T
    own = _AXES[loop.axis]
    rows = []
    for velocity, (along, across) in zip((moving, turning), _CONSTRAINED[loop.type], strict=True):
        rows += [axes[axis] @ velocity for axis in range(3) if (along if axis == own else across)]
    return np.array(rows)


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the null space, as columns."""
    rank, rows = _rank_and_rows(matrix)
    return rows[rank:].T


def _row_space(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the row space, as columns."""
    rank, rows = _rank_and_rows(matrix)
    return rows[:rank].T


def _rank_and_rows(matrix: np.ndarray) -> tuple[int, np.ndarray]:
    """Rank, and an orthonormal basis whose first rows are that of the row space."""
    _, sizes, rows = np.linalg.svd(matrix)
    return int(np.sum(sizes > _RANK_TOLERANCE * max(float(sizes.max(initial=0.0)), 1.0))), rows


def _damped_inverse(matrix: np.ndarray) -> np.ndarray:
    """Pseudo-inverse, with damping that begins where the least singular value falls below that of a regular place."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    least = float(sizes[-1])
    damping = _DAMPING**2 * max(1.0 - (least / _REGULAR) ** 2, 0.0)
    return (right.T * (sizes / (sizes**2 + damping))) @ left.T
