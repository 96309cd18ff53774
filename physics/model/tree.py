"""The bodies of a machine: its joints, walked from the root.

Links joined by fixed joints are lumped into one *body*. A body's own frame has its origin at its joint and its z axis
along the joint's axis. The pose of each link in its body undoes the difference. Bodies are numbered depth first,
parents before children; -1 is the world.
"""

from functools import lru_cache

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint, axis_name
from grouser.physics.description.data.pose import AXES, Pose
from grouser.physics.description.urdf.placement import initial_poses, initial_positions
from grouser.physics.model.blocks import moving_rates
from grouser.physics.model.elastic_links import ElasticLinks, LinkCoordinates, carried_joints, elastic_links
from grouser.physics.model.lumped_inertia import LumpedInertia
from grouser.physics.model.multibody import ELASTIC, FREE, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL, TWIST
from grouser.physics.model.names import FrameOfJoint, JointCoordinate, Names

_KIND = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
    "planar": PLANAR,
    "floating": FREE,
    "spherical": SPHERICAL,
}
# Numbers in q and in v of joints that are not elastic.
_POSITIONS = {REVOLUTE: 1, PRISMATIC: 1, PLANAR: 3, FREE: 7, SPHERICAL: 4}
_RATES = {REVOLUTE: 1, PRISMATIC: 1, PLANAR: 3, FREE: 6, SPHERICAL: 3}
# Most entries of the mass matrix: coordinates times those of the widest block. Two of this size take 1 GiB.
_MOST_ENTRIES = 2**26
# Number of joints whose rotations are kept, for other machines that have the same.
_KEPT = 4096
_IDENTITY = np.eye(3)
_IDENTITY.flags.writeable = False


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


class Tree:
    """The bodies as lists, filled by walking the machine's joints from the root."""

    def __init__(self, machine: Machine, spawn: Pose):
        self.machine = machine
        self.spawn = spawn
        self.parent, self.kind, self.rotation, self.position = [], [], [], []
        self.shape = []  # of each body, the shapes of its columns, (columns, 6)
        self.shortening, self.axis, self.contraction = [], [], []
        self.q_start, self.v_start, self.mimics, self.multiplier, self.offset = [], [], [], [], []
        self.inertia, self.body_joint, self.damping, self.q_initial, self.rate_joint = [], [], [], [], []
        self.position_joint = []
        self.springs = []  # (index in q, index in v, stiffness)
        self.elastic = {}  # elastic link -> LinkCoordinates
        self.carried, self.carried_names = [], carried_joints(machine)  # joints of bodies that come last
        self.first_carried = 0
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
        self._walk(self.children[root])
        self.first_carried, self.carried_names = len(self.parent), set()
        self._walk(self.carried)
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

    def _walk(self, joints):
        """Adds joints and all beyond them, depth first; those that are carried are put off."""
        waiting = list(reversed(joints))
        while waiting:
            joint = waiting.pop()
            if self.links[joint.parent].elastic:
                self._open_elastic(joint.parent)
            if joint.name in self.carried_names:
                self.carried.append(joint)
            else:
                self._add_joint(joint)
                waiting.extend(reversed(self.children[joint.child]))

    def _open_elastic(self, name):
        """Adds the coordinates of an elastic link, if it has none yet."""
        if name in self.elastic:
            return
        coordinates = self.links[name].elastic
        self.elastic[name] = LinkCoordinates(len(self.q_initial), self.rate_count, len(coordinates))
        for coordinate in coordinates:
            self.springs.append((len(self.q_initial), self.rate_count, coordinate.stiffness))
            self._add_coordinate([0.0], coordinate.damping, f"{name}.{coordinate.name}")

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
            parent = self._add_elastic_body(joint, parent, frame, at)
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

    def _add_elastic_body(self, joint: Joint, parent, rotation, position):
        """A body that carries a joint's frame along with the deformation of its parent link."""
        coordinates, shape = self.links[joint.parent].elastic, joint.elastic_shape
        if shape is None or len(shape.translation) != len(coordinates) or len(shape.rotation) != len(coordinates):
            raise MachineError(
                f"has {0 if shape is None else len(shape.translation)} elastic shapes on a link with "
                f"{len(coordinates)} elastic coordinates",
                file=self.machine.file,
                element=f'<joint name="{joint.name}">',
            )
        place = self.elastic[joint.parent]
        shapes = np.hstack([shape.translation, shape.rotation])
        self._append(joint.name, ELASTIC, shapes, parent, rotation, position, mimics=True)
        self.shortening[-1], self.axis[-1] = np.array(shape.shortening, dtype=float).ravel(), shape.axis
        self.contraction[-1] = shape.contraction
        self.q_start[-1], self.v_start[-1] = place.q, place.rate
        return len(self.parent) - 1

    def _add_compliance(self, joint: Joint, parent, rotation, position):
        """Chain of bodies, one for each elastic direction of a compliant joint; returns the pose at its end."""
        law = self.compliant[joint.name]
        stiffness, damping = (*law.stiffness, *law.rotational_stiffness), (*law.damping, *law.rotational_damping)
        places = self.compliance[joint.name] = {}
        for direction in range(6):
            if stiffness[direction] > 0.0:
                self._append(joint.name, TWIST, np.eye(6)[[direction]], parent, rotation, position, mimics=False)
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
        self._append(joint.name, TWIST, np.zeros((1, 6)), parent, rotation, position, mimics=True)
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
        shapes = np.zeros((_RATES[kind], 6))
        self._append(joint.name, kind, shapes, parent, rotation, position, mimics=joint.mimic is not None)
        if joint.mimic is None:
            start = [0.0] * _POSITIONS[kind]
            if kind in (FREE, SPHERICAL):
                pose = self.placed.get(joint.name, Pose())
                start = [*pose.position, *pose.quaternion][-_POSITIONS[kind] :]
            else:
                start[-1] = self.initial.get(joint.name, 0.0)
            self._add_coordinate(start, self._viscous(joint), joint.name, _RATES[kind])

    def _viscous(self, joint: Joint):
        """Viscous coefficient of a joint."""
        return joint.damping + sum(law.viscous for law in self.machine.frictions if law.joint == joint.name)

    def _append(self, name, kind, shapes, parent, rotation, position, mimics):
        """Adds a body; its coordinate is the next new one unless it is set otherwise."""
        self.parent.append(parent)
        self.kind.append(kind)
        self.shape.append(shapes)
        self.shortening.append(np.zeros(0))
        self.axis.append(np.zeros(3))
        self.contraction.append(0.0)
        self.rotation.append(rotation)
        self.position.append(position)
        self.mimics.append(mimics)
        self.multiplier.append(1.0)
        self.offset.append(0.0)
        self.inertia.append(LumpedInertia())
        self.body_joint.append(name)
        self.q_start.append(len(self.q_initial))
        self.v_start.append(self.rate_count)

    def _add_coordinate(self, start, damping, name, rates=1):
        """Adds a coordinate: its initial positions, and its rates' damping and name."""
        self.q_initial.extend(start)
        self.position_joint.extend([name] * len(start))
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

    def elastic_links(self) -> ElasticLinks:
        """The elastic links as a whole."""
        return elastic_links(self.machine, self.carried, self.elastic, self.pose, self.first_carried)

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
        """Bodies on which forces act that couple several coordinates: of loop joints, of wheels on soil and tracks; and
        those with elastic links."""
        wheels = [self.pose[wheel.link][0] for wheel in self.machine.wheels]
        wheels += [self.pose[wheel.link][0] for wheel in self.machine.track_wheels]
        sprockets = [self.joint_body[track.sprocket] for track in self.machine.tracks]
        looped = [body for bodies in self.looped_bodies() for body in bodies]
        bending = [self.pose[name][0] for name in self.elastic]
        return {*wheels, *sprockets, *looped, *bending, *range(self.first_carried, len(self.parent))}

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
        counts = [len(shapes) for shapes in self.shape]
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
            position_joint=tuple(self.position_joint),
            rate_joint=tuple(self.rate_joint),
        )
