"""Description -> arrays: bodies, joints and coordinates as a struct of arrays, and the names of their indices.

Links joined by fixed joints are lumped into one *body*. A body's own frame has its origin at its joint and its z axis
along the joint's axis: a revolute joint is a rotation about z, a prismatic one a translation along z. The pose of each
link in its body undoes the difference. Bodies are numbered depth first, parents before children; -1 is the world.

Coordinates follow Pinocchio: a floating joint has q = (x, y, z, quaternion x y z w) and v = (linear, angular) in the
body frame, a spherical one only the quaternion and the angular velocity; a planar one q = (x, y, angle) in its plane
and v = (vx, vy, angular) in the body frame; the others are one number. A continuous joint is one unbounded angle. Each
coordinate rate of a body's joint is a *column*: the twist that it gives the body. A mimicking joint has its own columns
and shares the coordinate of the joint that it follows.

A link may carry elastic coordinates. Each joint on such a link is attached through a chain of *twist* bodies, one for
each coordinate: a displacement by the exponential of coordinate times shape. The chains of one link share its
coordinates as mimicking joints do, and the masses that they carry make its modal mass matrix. A compliant joint is
attached through such a chain of its own, with a spring in each direction that it blocks elastically.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, axis_name
from grouser.physics.description.data.pose import AXES, Pose
from grouser.physics.description.urdf.placement import initial_poses, initial_positions

REVOLUTE, PRISMATIC, PLANAR, FREE, TWIST, SPHERICAL = range(6)
_KIND = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
    "planar": PLANAR,
    "floating": FREE,
    "spherical": SPHERICAL,
}
# Numbers in q and in v of each kind of body.
POSITIONS = {REVOLUTE: 1, PRISMATIC: 1, PLANAR: 3, FREE: 7, TWIST: 1, SPHERICAL: 4}
_RATES = {REVOLUTE: 1, PRISMATIC: 1, PLANAR: 3, FREE: 6, TWIST: 1, SPHERICAL: 3}
# A tree that costs more to factorise by entries than a chain of so many coordinates is factorised by recursion, unless
# something couples its coordinates. Chains of hinges take the same time both ways at 15 coordinates, and at 50 with a
# contact on each link.
_LONGEST_WITH_ENTRIES = 32
# Most entries of the mass matrix: coordinates times those of the widest block. Two of this size take 1 GiB.
_MOST_ENTRIES = 2**26
# Number of links and joints whose inertias and rotations are kept, for other machines that have the same.
_KEPT = 4096
_IDENTITY = np.eye(3)
_IDENTITY.flags.writeable = False


class MultibodyModel(NamedTuple):
    """The multibody system as arrays.

    Attributes:
        body_parent: parent body, -1 for the world, shape (bodies,).
        body_kind: REVOLUTE, PRISMATIC, PLANAR, FREE, TWIST or SPHERICAL.
        body_twist: of a TWIST body, per unit of its coordinate, linear then angular in the joint's axes, (bodies, 6).
        body_rotation, body_position: joint frame in the parent body's frame, (bodies, 3, 3) and (bodies, 3) [m].
        body_root: first body of its tree.
        body_q: first index of the joint's position in q.
        body_alone: whether the body floats in the world and carries no other; loop joints may hold it.
        body_mimics: whether the joint follows another one's coordinate.
        body_multiplier, body_offset: a joint's position is multiplier * q + offset; 1 and 0 unless it mimics.
        body_mass: [kg].
        body_com: centre of mass in the body frame [m], (bodies, 3).
        body_inertia: xx xy xz yy yz zz about the centre of mass in body axes [kg m2], (bodies, 6).
        column_start: columns of body i are column_start[i] to column_start[i + 1].
        column_rate: index in v of the column's coordinate rate.
        rate_inertia: of rotors geared to each coordinate, reduced to it [kg m2 or kg], (coordinates,).
        rate_damping: viscous damping of each coordinate [N m s/rad or N s/m], (coordinates,).
        spring_position, spring_rate, spring_stiffness: elastic coordinates: index in q and in v, stiffness.
        rate_first, rate_last: the mass matrix couples a coordinate with those in range(rate_first, rate_last) only, its
            block: of its tree, and of trees that loops or shared coordinates couple with it.
        rate_entries: number of entries that each row of the mass matrix has left of its diagonal, from column
            rate_first on: all of the block, or 0 if the factor is found by recursion.
        rate_run: run of each coordinate.
        run_start: coordinates of run r are run_start[r] to run_start[r + 1]: of one tree whose factor is found by
            recursion (`multibody.articulated_factor`), or of blocks with entries. No runs if all have entries.
        run_tree: first and last (exclusive) body of that tree, (runs, 2); 0 and 0 of a run with entries.
        pattern_start, pattern: row k of the factor has entries left of the diagonal in the columns rate_first[k] +
            pattern[pattern_start[k]:pattern_start[k + 1]], ascending.
        q_initial: positions at the start, in the order of q.
        gravity: [m/s2], world frame.
    """

    body_parent: np.ndarray
    body_kind: np.ndarray
    body_twist: np.ndarray
    body_rotation: np.ndarray
    body_position: np.ndarray
    body_root: np.ndarray
    body_q: np.ndarray
    body_alone: np.ndarray
    body_mimics: np.ndarray
    body_multiplier: np.ndarray
    body_offset: np.ndarray
    body_mass: np.ndarray
    body_com: np.ndarray
    body_inertia: np.ndarray
    column_start: np.ndarray
    column_rate: np.ndarray
    rate_inertia: np.ndarray
    rate_damping: np.ndarray
    spring_position: np.ndarray
    spring_rate: np.ndarray
    spring_stiffness: np.ndarray
    rate_first: np.ndarray
    rate_last: np.ndarray
    rate_entries: np.ndarray
    rate_run: np.ndarray
    run_start: np.ndarray
    run_tree: np.ndarray
    pattern_start: np.ndarray
    pattern: np.ndarray
    q_initial: np.ndarray
    gravity: np.ndarray


@dataclass(frozen=True)
class JointCoordinate:
    """A joint with one coordinate: its body, its index in q and in v, and its relation to them."""

    body: int
    q: int
    v: int
    multiplier: float
    offset: float


class FrameOfJoint(NamedTuple):
    """A joint's frame, z along the axis, in the frame of body `parent` (-1: the world), and the body that it moves."""

    body: int
    parent: int
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, eq=False)
class Names:
    """Names of the indices of a MultibodyModel.

    Attributes:
        joints: joints with one coordinate (mimicking ones too) -> JointCoordinate, in the order of the file.
        axes: axis of a spherical joint, "joint/x" and so on -> JointCoordinate; its q is the first of the joint's
            quaternion.
        compliance: compliant joint -> elastic direction (0 to 2 translation along, 3 to 5 rotation about x, y, z) ->
            index in q and in v of its coordinate.
        frames: joint with a body of its own, or with compliance -> its frame.
        links: link names in the order of the file.
        link_body: body of each link (-1: the world).
        link_rotation, link_position: link frame in its body's frame, (links, 3, 3) and (links, 3) [m].
        body_joint: name of the joint that moves each body.
        rate_joint: name of the joint that each coordinate rate belongs to.
    """

    joints: dict[str, JointCoordinate]
    axes: dict[str, JointCoordinate]
    compliance: dict[str, dict[int, tuple[int, int]]]
    frames: dict[str, "FrameOfJoint"]
    links: tuple[str, ...]
    link_body: np.ndarray
    link_rotation: np.ndarray
    link_position: np.ndarray
    body_joint: tuple[str, ...]
    rate_joint: tuple[str, ...]

    def link_index(self, name: str) -> int:
        """Index of a link by its name."""
        return self.links.index(name)


def build_model(
    machine: Machine,
    spawn: Pose = Pose(),
    gravity=(0.0, 0.0, -9.81),
    longest_with_entries: int = _LONGEST_WITH_ENTRIES,
) -> tuple[MultibodyModel, Names]:
    """Arrays and names of a machine.

    Args:
        machine: the validated description.
        spawn: initial pose of the root link in the world; it is permanent when the base is fixed. Members of a fleet
            have their own poses in the description.
        gravity: acceleration in the world frame [m/s2].
        longest_with_entries: coordinates of the longest chain whose mass matrix has entries. So have trees that cost no
            more, and those in which something couples coordinates.

    Raises:
        MachineError: a moving body has no mass beyond it, or its mass matrix is too large.
    """
    tree = _Tree(machine, Pose() if machine.members else spawn)
    tree.grow()
    tree.check_masses()
    column_start, column_rate = tree.columns()
    loops = [moving_rates(tree.parent, column_start, column_rate, body, other) for body, other in tree.looped_bodies()]
    loops += tree.running_gears(column_start, column_rate)
    rate_first, rate_last = _blocks(tree.parent, column_start, column_rate, tree.rate_count, loops)
    trees = _long_trees(
        *(tree.parent, column_start, column_rate, rate_first, rate_last, tree.coupled_bodies(), longest_with_entries)
    )
    rate_run, run_start, run_tree = _runs(trees, column_start, column_rate, tree.rate_count)
    with_entries = run_tree[rate_run, 1] == 0 if trees else np.ones(tree.rate_count, dtype=np.bool_)
    rate_entries = np.where(with_entries, np.arange(tree.rate_count) - rate_first, 0)
    tree.check_size(rate_entries)
    pattern_start, pattern = _elimination_pattern(tree.parent, column_start, column_rate, with_entries, loops)
    model = MultibodyModel(
        body_parent=np.array(tree.parent, dtype=np.int64),
        body_kind=np.array(tree.kind, dtype=np.int64),
        body_twist=np.array(tree.twist, dtype=float).reshape(-1, 6),
        body_rotation=np.array(tree.rotation).reshape(-1, 3, 3),
        body_position=np.array(tree.position).reshape(-1, 3),
        body_root=tree.roots(),
        body_q=np.array(tree.q_start, dtype=np.int64),
        body_alone=np.array(tree.alone(), dtype=np.bool_),
        body_mimics=np.array(tree.mimics, dtype=np.bool_),
        body_multiplier=np.array(tree.multiplier, dtype=float),
        body_offset=np.array(tree.offset, dtype=float),
        body_mass=np.array([inertia.mass for inertia in tree.inertia], dtype=float),
        body_com=np.array([inertia.com for inertia in tree.inertia]).reshape(-1, 3),
        body_inertia=np.array([inertia.packed() for inertia in tree.inertia]).reshape(-1, 6),
        column_start=column_start,
        column_rate=column_rate,
        rate_inertia=tree.rotors(),
        rate_damping=np.array(tree.damping, dtype=float),
        spring_position=np.array([spring[0] for spring in tree.springs], dtype=np.int64),
        spring_rate=np.array([spring[1] for spring in tree.springs], dtype=np.int64),
        spring_stiffness=np.array([spring[2] for spring in tree.springs], dtype=float),
        rate_first=rate_first,
        rate_last=rate_last,
        rate_entries=rate_entries,
        rate_run=rate_run,
        run_start=run_start,
        run_tree=run_tree,
        pattern_start=pattern_start,
        pattern=pattern - np.repeat(rate_first, np.diff(pattern_start)),
        q_initial=np.array(tree.q_initial, dtype=float),
        gravity=np.array(gravity, dtype=float),
    )
    for array in model:
        array.flags.writeable = False
    return model, tree.names()


def with_initial_positions(model: MultibodyModel, q: np.ndarray) -> MultibodyModel:
    """The same model with other initial positions."""
    q = np.array(q)
    q.flags.writeable = False
    return model._replace(q_initial=q)


class _LumpedInertia:
    """Mass, centre of mass and inertia of all links of a body, in the body frame."""

    def __init__(self):
        self.mass = 0.0
        self.com = np.zeros(3)
        self.about_com = np.zeros((3, 3))

    def add(self, inertial: Inertial, rotation: np.ndarray, position: np.ndarray):
        """Adds a link's inertial; rotation and position give the link frame in the body frame."""
        if inertial.mass == 0.0 and not any(inertial.inertia):
            return
        if self.mass == 0.0 and not self.about_com.any():
            first = _first_of_body(inertial, rotation.tobytes(), position.tobytes())
            self.mass, self.com, self.about_com = first.mass, first.com, first.about_com
        else:
            self._add(inertial, rotation, position)

    def _add(self, inertial: Inertial, rotation: np.ndarray, position: np.ndarray):
        axes = rotation @ spatial.matrix(inertial.pose.quaternion)
        com = position + rotation @ np.array(inertial.pose.position)
        xx, xy, xz, yy, yz, zz = inertial.inertia
        about = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
        total = self.mass + inertial.mass
        middle = self.com if total == 0.0 else (self.mass * self.com + inertial.mass * com) / total
        self.about_com = _shifted(self.about_com, self.mass, self.com - middle) + _shifted(
            about, inertial.mass, com - middle
        )
        self.mass, self.com = total, middle

    def packed(self):
        i = self.about_com
        return [i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2]]


@lru_cache(maxsize=_KEPT)
def _first_of_body(inertial: Inertial, rotation: bytes, position: bytes) -> _LumpedInertia:
    """The inertia of a body with one link; rotation and position as of `_LumpedInertia.add`."""
    lump = _LumpedInertia()
    lump._add(inertial, np.frombuffer(rotation).reshape(3, 3), np.frombuffer(position))
    return lump


def _shifted(about_com, mass, offset):
    """Inertia about a point at -offset from the centre of mass (Steiner)."""
    return about_com + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


@lru_cache(maxsize=_KEPT)
def _rotation_of(quaternion) -> np.ndarray:
    """The rotation matrix of a unit quaternion, read-only."""
    rotation = spatial.matrix(quaternion)
    rotation.flags.writeable = False
    return rotation


@lru_cache(maxsize=_KEPT)
def _axis_frame(axis):
    """The rotation matrix with the z axis `axis` that is nearest to the identity."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    turn = spatial.skew((-y, x, 0.0))
    return np.eye(3) + turn + turn @ turn / (1.0 + z)


class _Tree:
    """The bodies as lists, filled by walking the machine's joints from the root."""

    def __init__(self, machine: Machine, spawn: Pose):
        self.machine = machine
        self.spawn = spawn
        self.parent, self.kind, self.twist, self.rotation, self.position = [], [], [], [], []
        self.q_start, self.v_start, self.mimics, self.multiplier, self.offset = [], [], [], [], []
        self.inertia, self.body_joint, self.damping, self.q_initial, self.rate_joint = [], [], [], [], []
        self.springs = []  # (index in q, index in v, stiffness)
        self.elastic = {}  # (link, number of its elastic coordinate) -> (index in q, index in v)
        self.compliant = {compliance.joint: compliance for compliance in machine.compliant_joints}
        self.measured = {sensor.joint for sensor in machine.force_torque_sensors}
        self.locked = []  # bodies beyond measured fixed joints
        self.frames = {}  # joint -> FrameOfJoint
        self.compliance = {}  # compliant joint -> direction -> (index in q, index in v)
        self.pose = {}  # link -> (body, rotation, position)
        self.initial, self.placed = initial_positions(machine), initial_poses(machine)
        self.links = {link.name: link for link in machine.links}
        self.children = {link.name: [] for link in machine.links}
        for joint in machine.joints:
            self.children[joint.parent].append(joint)
        self.joint_body = {}

    @property
    def rate_count(self):
        return len(self.damping)

    def grow(self):
        """Walks the joints depth first in the order of the file, then binds the mimicking joints."""
        rotation, position = spatial.matrix(self.spawn.quaternion), np.array(self.spawn.position)
        root = self.machine.root
        if self.machine.floating_base:
            base = Joint(f"{root}_free", "floating", "world", root)
            self._add_body(base, -1, np.eye(3), np.zeros(3))
            self.q_initial[:] = [*self.spawn.position, *self.spawn.quaternion]
            self._place(root, 0, np.eye(3), np.zeros(3))
        else:
            self._place(root, -1, rotation, position)
        waiting = list(reversed(self.children[root]))
        while waiting:
            joint = waiting.pop()
            self._add_joint(joint)
            waiting.extend(reversed(self.children[joint.child]))
        for joint in self.machine.joints:
            if joint.mimic is not None:
                body, followed = self.joint_body[joint.name], self.joint_body[joint.mimic.joint]
                self.q_start[body], self.v_start[body] = self.q_start[followed], self.v_start[followed]
                self.multiplier[body], self.offset[body] = joint.mimic.multiplier, joint.mimic.offset
                self.damping[self.v_start[body]] += joint.mimic.multiplier**2 * self._viscous(joint)
        for body in self.locked:
            if self.parent[body] >= 0:
                self.q_start[body] = self.q_start[self.parent[body]]
                self.v_start[body] = self.v_start[self.parent[body]]

    def _place(self, name, body, rotation, position):
        self.pose[name] = (body, rotation, position)
        inertial = self.links[name].inertial
        if body >= 0 and inertial is not None:
            self.inertia[body].add(inertial, rotation, position)

    def _add_joint(self, joint: Joint):
        parent, rotation, position = self.pose[joint.parent]
        at = position + rotation @ np.array(joint.pose.position)
        frame = rotation @ _rotation_of(joint.pose.quaternion)
        if self.links[joint.parent].elastic:
            parent = self._add_twists(joint, parent, frame, at)
            frame, at = np.eye(3), np.zeros(3)
        turn = _IDENTITY if joint.type in ("fixed", "floating", "spherical") else _axis_frame(joint.axis)
        axes = frame @ turn
        stand = parent, axes, at
        if joint.name in self.compliant:
            parent, axes, at = self._add_compliance(joint, parent, axes, at)
        if joint.type == "fixed":
            if joint.name in self.measured:
                parent, axes, at = self._add_locked_body(joint, parent, axes, at)
            self._place(joint.child, parent, axes, at)
            if joint.name in self.compliant:
                self.frames[joint.name] = FrameOfJoint(parent, *stand)
            return
        self._add_body(joint, parent, axes, at)
        self.frames[joint.name] = FrameOfJoint(len(self.parent) - 1, *stand)
        self._place(joint.child, len(self.parent) - 1, turn.T, np.zeros(3))

    def _add_twists(self, joint: Joint, parent, rotation, position):
        """Chain of bodies that carries a joint's frame along with the deformation of its parent link; its last body."""
        coordinates = self.links[joint.parent].elastic
        if len(joint.elastic_shape) != len(coordinates):
            raise MachineError(
                f"has {len(joint.elastic_shape)} elastic shapes on a link with {len(coordinates)} elastic coordinates",
                file=self.machine.file,
                element=f'<joint name="{joint.name}">',
            )
        for number, (coordinate, shape) in enumerate(zip(coordinates, joint.elastic_shape, strict=True)):
            place = self.elastic.get((joint.parent, number))
            self._append(joint.name, TWIST, shape, parent, rotation, position, mimics=place is not None)
            if place is None:
                self.elastic[joint.parent, number] = (self.q_start[-1], self.v_start[-1])
                self.springs.append((self.q_start[-1], self.v_start[-1], coordinate.stiffness))
                self._add_coordinate([0.0], coordinate.damping, f"{joint.parent}.{coordinate.name}")
            else:
                self.q_start[-1], self.v_start[-1] = place
            parent, rotation, position = len(self.parent) - 1, np.eye(3), np.zeros(3)
        return parent

    def _add_compliance(self, joint: Joint, parent, rotation, position):
        """Chain of bodies, one for each elastic direction of a compliant joint; returns the pose at its end."""
        law = self.compliant[joint.name]
        stiffness, damping = (*law.stiffness, *law.rotational_stiffness), (*law.damping, *law.rotational_damping)
        places = self.compliance[joint.name] = {}
        for direction in range(6):
            if stiffness[direction] > 0.0:
                self._append(joint.name, TWIST, np.eye(6)[direction], parent, rotation, position, mimics=False)
                places[direction] = (self.q_start[-1], self.v_start[-1])
                self.springs.append((*places[direction], stiffness[direction]))
                self._add_coordinate([0.0], damping[direction], joint.name)
                parent, rotation, position = len(self.parent) - 1, np.eye(3), np.zeros(3)
        return parent, rotation, position

    def _add_locked_body(self, joint: Joint, parent, rotation, position):
        """A body of its own beyond a fixed joint, so that the joint's reaction is known; its pose.

        It moves by nothing per unit of a coordinate of its chain: of the body that carries it or, on the world, of the
        next body beyond it.
        """
        if parent < 0 and not self._moves_beyond(joint.child):
            raise MachineError(
                "has a force-torque sensor, and nothing moves before or beyond it",
                file=self.machine.file,
                element=self.machine.joint_label(joint.name),
                remedy="put it in a joint of a part that moves",
            )
        self._append(joint.name, TWIST, [0.0] * 6, parent, rotation, position, mimics=True)
        self.locked.append(len(self.parent) - 1)
        return self.locked[-1], np.eye(3), np.zeros(3)

    def _moves_beyond(self, link: str) -> bool:
        """Whether a joint beyond a link has a coordinate of its own."""
        return any(
            (joint.type != "fixed" and joint.mimic is None) or self._moves_beyond(joint.child)
            for joint in self.children[link]
        )

    def _add_body(self, joint: Joint, parent, rotation, position):
        kind = _KIND[joint.type]
        self.joint_body[joint.name] = len(self.parent)
        self._append(joint.name, kind, [0.0] * 6, parent, rotation, position, mimics=joint.mimic is not None)
        if joint.mimic is None:
            start = [0.0] * POSITIONS[kind]
            if kind in (FREE, SPHERICAL):
                pose = self.placed.get(joint.name, Pose())
                start = [*pose.position, *pose.quaternion][-POSITIONS[kind] :]
            else:
                start[-1] = self.initial.get(joint.name, 0.0)
            self._add_coordinate(start, self._viscous(joint), joint.name, _RATES[kind])

    def _viscous(self, joint: Joint):
        """Viscous coefficient of a joint."""
        return joint.damping + sum(law.viscous for law in self.machine.frictions if law.joint == joint.name)

    def _append(self, name, kind, twist, parent, rotation, position, mimics):
        """Adds a body; its coordinate is the next new one unless it is set otherwise."""
        self.parent.append(parent)
        self.kind.append(kind)
        self.twist.append(twist)
        self.rotation.append(rotation)
        self.position.append(position)
        self.mimics.append(mimics)
        self.multiplier.append(1.0)
        self.offset.append(0.0)
        self.inertia.append(_LumpedInertia())
        self.body_joint.append(name)
        self.q_start.append(len(self.q_initial))
        self.v_start.append(self.rate_count)

    def _add_coordinate(self, start, damping, name, rates=1):
        """Adds a coordinate: its initial positions, and its rates' damping and name."""
        self.q_initial.extend(start)
        self.damping.extend([damping] * rates)
        self.rate_joint.extend([name] * rates)

    def check_masses(self):
        """Rejects a coordinate that moves no mass: its acceleration is undefined."""
        heavy = [inertia.mass > 0.0 or np.any(inertia.about_com) for inertia in self.inertia]
        moved = set()
        for body in range(len(self.parent) - 1, -1, -1):
            if heavy[body]:
                moved.add(self.v_start[body])
                if self.parent[body] >= 0:
                    heavy[self.parent[body]] = True
        for body, rate in enumerate(self.v_start):
            if rate not in moved:
                raise MachineError(
                    "moves a part that has no mass, nor has anything beyond it",
                    file=self.machine.file,
                    element=self.machine.joint_label(self.body_joint[body]),
                    remedy="give its link an <inertial>, or make the joint or the base fixed",
                )

    def check_size(self, entries):
        """Rejects a mass matrix that is too large; `entries` are those of each row left of the diagonal."""
        widest = int(max(entries, default=0)) + 1
        if self.rate_count * widest > _MOST_ENTRIES:
            raise MachineError(
                f"the machine has {self.rate_count} coordinates, of which {widest} are coupled: its mass matrix would "
                f"have {self.rate_count * widest} entries, more than {_MOST_ENTRIES}",
                file=self.machine.file,
                remedy="join links by fixed joints where they do not move",
            )

    def alone(self):
        """Whether each body floats in the world and carries no other."""
        carriers = set(self.parent)
        return [
            kind == FREE and parent < 0 and body not in carriers
            for body, (kind, parent) in enumerate(zip(self.kind, self.parent, strict=True))
        ]

    def roots(self):
        """First body of the tree of each body."""
        roots = np.arange(len(self.parent))
        for body, parent in enumerate(self.parent):
            if parent >= 0:
                roots[body] = roots[parent]
        return roots

    def looped_bodies(self):
        """The two bodies of every loop joint."""
        return [(self.pose[loop.parent.link][0], self.pose[loop.child.link][0]) for loop in self.machine.loop_joints]

    def running_gears(self, column_start, column_rate):
        """Coordinates that move the sprocket and the wheels' axles of each track on the body that carries it."""
        above = {joint.child: joint for joint in self.machine.joints}
        gears = []
        for track in self.machine.tracks:
            sprocket = self.joint_body[track.sprocket]
            carrier = self.parent[sprocket]
            held = [self.pose[above[w.link].parent][0] for w in self.machine.track_wheels if w.track == track.name]
            moved = [moving_rates(self.parent, column_start, column_rate, body, carrier) for body in {sprocket, *held}]
            gears.append(sorted({rate for rates in moved for rate in rates}))
        return gears

    def coupled_bodies(self):
        """Bodies on which forces act that couple several coordinates: of loop joints, of wheels on soil and tracks."""
        wheels = [self.pose[wheel.link][0] for wheel in self.machine.wheels]
        wheels += [self.pose[wheel.link][0] for wheel in self.machine.track_wheels]
        sprockets = [self.joint_body[track.sprocket] for track in self.machine.tracks]
        return {*wheels, *sprockets, *(body for bodies in self.looped_bodies() for body in bodies)}

    def rotors(self):
        """Inertia of rotors geared to each coordinate rate, and of belts."""
        inertia, joints = np.zeros(self.rate_count), self.names().joints
        for drive in self.machine.drives:
            if drive.rotor_inertia > 0.0:
                inertia[joints[drive.joint].v] += drive.rotor_inertia
        for track in self.machine.tracks:
            inertia[joints[track.sprocket].v] += track.mass * track.radius**2
        return inertia

    def columns(self):
        """First column of each body, and the coordinate rate of each column."""
        counts = [_RATES[kind] for kind in self.kind]
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        rate = [first + k for first, count in zip(self.v_start, counts, strict=True) for k in range(count)]
        return start, np.array(rate, dtype=np.int64)

    def names(self) -> Names:
        joints, axes = {}, {}
        for joint in self.machine.joints:
            body = self.joint_body.get(joint.name)
            if body is not None and self.kind[body] == SPHERICAL:
                for k, axis in enumerate(AXES):
                    place = JointCoordinate(body, self.q_start[body], self.v_start[body] + k, 1.0, 0.0)
                    axes[axis_name(joint.name, axis)] = place
            if body is not None and self.kind[body] in (REVOLUTE, PRISMATIC):
                joints[joint.name] = JointCoordinate(
                    body, self.q_start[body], self.v_start[body], self.multiplier[body], self.offset[body]
                )
        links = tuple(link.name for link in self.machine.links)
        return Names(
            joints=joints,
            axes=axes,
            compliance=self.compliance,
            frames=self.frames,
            links=links,
            link_body=np.array([self.pose[name][0] for name in links], dtype=np.int64),
            link_rotation=np.array([self.pose[name][1] for name in links]),
            link_position=np.array([self.pose[name][2] for name in links]),
            body_joint=tuple(self.body_joint),
            rate_joint=tuple(self.rate_joint),
        )


def bodies_between(parent, body: int, other: int) -> Iterator[int]:
    """The bodies with joints that move two bodies (-1: the world) relative to each other, deepest first."""
    while body != other:
        # the later body is the deeper one, or on another branch: climb from it
        climbing = int(max(body, other))
        yield climbing
        body, other = min(body, other), parent[climbing]


def moving_rates(parent, column_start, column_rate, body: int, other: int) -> list[int]:
    """Coordinate rates that move two bodies (-1: the world) relative to each other, ascending."""
    return sorted(
        {
            int(rate)
            for between in bodies_between(parent, body, other)
            for rate in column_rate[column_start[between] : column_start[between + 1]]
        }
    )


def _elimination_pattern(parent, column_start, column_rate, with_entries, loops):
    """Off-diagonal pattern of L in L^T L = M, row by row, with the fill-in of the elimination.

    A coordinate is coupled with those of its own body and of every body between it and the world (Featherstone 2008,
    section 6.5); a coordinate that moves several bodies couples all of their chains, which elimination from the last
    coordinate to the first then fills in. A loop couples all coordinates between its two bodies, `loops`. Coordinates
    for which `with_entries` is false have no rows.
    """
    rows = [set() for _ in with_entries]
    rates, starts = column_rate.tolist(), column_start.tolist()
    for body in range(len(parent)):
        own = rates[starts[body] : starts[body + 1]]
        if not with_entries[own[0]]:
            continue
        chain, above = list(own), parent[body]
        while above >= 0:
            chain += rates[starts[above] : starts[above + 1]]
            above = parent[above]
        for a in own:
            rows[a].update(b for b in chain if b < a)
            for b in chain:
                if b > a:
                    rows[b].add(a)
    for between in loops:
        for k in between:
            rows[k].update(i for i in between if i < k)
    for row in reversed(rows):
        if row:
            # what couples with the last of them couples with the others as well when that is eliminated
            nearest = max(row)
            rows[nearest].update(row - {nearest})
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    return start, np.array([j for row in rows for j in sorted(row)], dtype=np.int64)


def _blocks(parent, column_start, column_rate, count, loops):
    """First and last (exclusive) coordinate of the block of the mass matrix that each coordinate belongs to.

    Blocks are ranges: those of trees whose coordinates alternate are one. `loops` lists the coordinates between the
    bodies of each loop joint.
    """
    reach = np.arange(count) + 1
    coupled = [between for between in loops if between]
    for body, above in enumerate(parent):
        own = list(column_rate[column_start[body] : column_start[body + 1]])
        coupled.append(own if above < 0 else [*own, column_rate[column_start[above]]])
    for rates in coupled:
        reach[min(rates)] = max(reach[min(rates)], max(rates) + 1)
    first, last = np.zeros((2, count), dtype=np.int64)
    begin = 0
    while begin < count:
        end, d = reach[begin], begin
        while d < end:
            end = max(end, reach[d])
            d += 1
        first[begin:end], last[begin:end] = begin, end
        begin = end
    return first, last


def _long_trees(parent, column_start, column_rate, rate_first, rate_last, coupled, most):
    """First and last (exclusive) body of each tree that costs more than a chain of `most` coordinates.

    Nothing but inertia couples its coordinates: its bodies share none with one another or with those of other trees,
    nor is one of them in `coupled`. The cost is that of the factor with entries, the sum of the squares of the numbers
    of coordinates from each one to the root. A walking machine of 40 coordinates costs as much as a chain of 25.
    """
    depth = _depths(parent, column_start)
    uses, roots = np.bincount(column_rate), [body for body, above in enumerate(parent) if above < 0]
    trees = []
    for first, last in pairwise([*roots, len(parent)]):
        rates = column_rate[column_start[first] : column_start[last]]
        block = rate_first[rates[0]], rate_last[rates[0]]
        own = block == (rates[0], rates[0] + len(rates)) and (uses[rates] == 1).all()
        cost = int((depth[column_start[first] : column_start[last]] ** 2).sum())
        if own and cost > most * (most + 1) * (2 * most + 1) // 6 and coupled.isdisjoint(range(first, last)):
            trees.append((first, last))
    return trees


def _depths(parent, column_start):
    """Number of the columns from each column to the root, itself included, (columns,)."""
    depth, above = np.zeros(column_start[-1], dtype=np.int64), [0] * len(parent)
    for body, one in enumerate(parent):
        below = above[one] if one >= 0 else 0
        first, last = column_start[body], column_start[body + 1]
        depth[first:last] = below + 1 + np.arange(last - first)
        above[body] = below + int(last - first)
    return depth


def _runs(trees, column_start, column_rate, count):
    """Run of each coordinate, starts and trees of the runs: those of the trees, and those between them."""
    if not trees:
        return np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    start, bodies = [0], []
    for first, last in trees:
        begin = int(column_rate[column_start[first]])
        if begin > start[-1]:
            start.append(begin)
            bodies.append((0, 0))
        start.append(begin + int(column_start[last] - column_start[first]))
        bodies.append((first, last))
    if start[-1] < count:
        start.append(count)
        bodies.append((0, 0))
    return np.repeat(np.arange(len(bodies)), np.diff(start)), np.array(start), np.array(bodies)


def with_entries(model: MultibodyModel) -> MultibodyModel:
    """The same model with entries in all blocks of the mass matrix and its factor, whatever their size."""
    count = len(model.rate_first)
    known = [
        [*(model.rate_first[k] + model.pattern[model.pattern_start[k] : model.pattern_start[k + 1]]), k]
        for k in range(count)
    ]
    rate_run, run_start, run_tree = _runs([], model.column_start, model.column_rate, count)
    pattern_start, pattern = _elimination_pattern(
        model.body_parent, model.column_start, model.column_rate, np.ones(count, dtype=np.bool_), known
    )
    changed = {
        "rate_entries": np.arange(count) - model.rate_first,
        "rate_run": rate_run,
        "run_start": run_start,
        "run_tree": run_tree,
        "pattern_start": pattern_start,
        "pattern": pattern - np.repeat(model.rate_first, np.diff(pattern_start)),
    }
    for array in changed.values():
        array.flags.writeable = False
    return model._replace(**changed)
