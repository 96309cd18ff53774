"""The same machine in Pinocchio, and the map from our coordinates to Pinocchio's.

Pinocchio reads the machine's URDF itself. Four differences are then removed, without the code under test:

- Pinocchio's URDF reader puts every planar joint into the x-y plane of its frame; its frame is turned here by the
  smallest rotation so that z is along the URDF's axis.
- URDF has no spherical joint: Pinocchio's own replaces the floating joint that describes it.
- A mimicking joint is an independent joint in Pinocchio. With pv = G v, where G is constant, M = G^T M_pin G and
  forces = G^T forces_pin.
- A link with mass properties from a density has none in the URDF: they are taken from the description.
"""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names

FREE_BASE = "root_joint"
_SPHERICAL = pin.JointModelSpherical().shortname()


class PinocchioTwin:
    """A machine in Pinocchio.

    Args:
        machine: the machine.
        model, names: from `build_model`; only the meaning of its coordinates is used.

    Attributes:
        model, data: Pinocchio's.
        rate_map: G of pv = G v, (rates of Pinocchio, our rates).
    """

    def __init__(self, machine: Machine, model: MultibodyModel, names: Names):
        self._joints = {joint.name: joint for joint in machine.joints}
        root = (pin.JointModelFreeFlyer(),) if machine.floating_base else ()
        self.model = pin.buildModelFromXML(_with_every_inertia(machine), *root)
        self.model = _with_spherical_joints(self.model, [j.name for j in machine.joints if j.type == "spherical"])
        self.model.gravity.linear = np.array(model.gravity)
        for joint in machine.joints:
            if joint.type == "planar":
                z = np.array([0.0, 0.0, 1.0])
                turn = pin.Quaternion.FromTwoVectors(z, np.array(joint.axis)).matrix()
                self._turn_frame(self.model.getJointId(joint.name), turn)
        self.data = self.model.createData()
        self._own_q = {name: int(model.body_q[body]) for body, name in enumerate(names.body_joint)}
        self.rate_map = np.zeros((self.model.nv, len(model.rate_damping)))
        for name in names.body_joint:
            joint = self.joint(name)
            followed, multiplier, _ = self._followed(name)
            source = names.body_joint.index(followed)
            for k in range(joint.nv):
                rate = model.column_rate[model.column_start[source]] + k
                self.rate_map[joint.idx_v + k, rate] = multiplier
        assert self.rate_map.any(axis=1).all(), "no joint of ours moves one of Pinocchio's"

    @property
    def has_mimics(self) -> bool:
        """Whether the machine has mimicking joints."""
        return any(joint.mimic for joint in self._joints.values())

    def joint(self, name: str):
        """Pinocchio's joint with our name (that of the free base included)."""
        known = self.model.existJointName(name)
        return self.model.joints[self.model.getJointId(name if known else FREE_BASE)]

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q for our q: unbounded angles become cosine and sine."""
        result = np.zeros(self.model.nq)
        for name in self._own_q:
            joint = self.joint(name)
            followed, multiplier, offset = self._followed(name)
            own = q[self._own_q[followed] :]
            at = joint.idx_q
            if joint.nv == 6:
                result[at : at + 7] = own[:7]
            elif joint.shortname() == _SPHERICAL:
                result[at : at + 4] = own[:4]
            elif joint.nv == 3:
                result[at : at + 4] = own[0], own[1], np.cos(own[2]), np.sin(own[2])
            elif joint.nq == 2:
                angle = multiplier * own[0] + offset
                result[at : at + 2] = np.cos(angle), np.sin(angle)
            else:
                result[at] = multiplier * own[0] + offset
        return result

    def frame(self, link: str) -> int:
        """Index of the frame of a link."""
        number = self.model.getFrameId(link, pin.FrameType.BODY)
        assert number < self.model.nframes, f"no link {link}"
        return number

    def link_placements(self, pq: np.ndarray, pv: np.ndarray, links: tuple[str, ...]):
        """World rotations (n, 3, 3), positions (n, 3), and velocities of the frames' origins, world axes (n, 6)."""
        pin.forwardKinematics(self.model, self.data, pq, pv)
        pin.updateFramePlacements(self.model, self.data)
        frames = [self.frame(link) for link in links]
        places = [self.data.oMf[frame] for frame in frames]
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        twists = [pin.getFrameVelocity(self.model, self.data, frame, world).vector for frame in frames]
        return np.array([p.rotation for p in places]), np.array([p.translation for p in places]), np.array(twists)

    def mass_matrix(self, pq: np.ndarray) -> np.ndarray:
        """M over our coordinates."""
        upper = np.triu(pin.crba(self.model, self.data, pq))
        return self.rate_map.T @ (upper + np.triu(upper, 1).T) @ self.rate_map

    def forces(self, pq: np.ndarray, v: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Inverse dynamics over our coordinates."""
        g = self.rate_map
        return g.T @ pin.rnea(self.model, self.data, pq, g @ v, g @ acceleration)

    def point_jacobian(self, pq: np.ndarray, link: str, point_world: np.ndarray) -> np.ndarray:
        """Velocity of a point fixed to a link per coordinate rate, world axes, (3, our rates)."""
        frame = self.frame(link)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        full = pin.computeFrameJacobian(self.model, self.data, pq, frame, world).reshape(6, -1)
        pin.updateFramePlacement(self.model, self.data, frame)
        arm = point_world - self.data.oMf[frame].translation
        return (full[:3] - pin.skew(arm) @ full[3:]) @ self.rate_map

    def _followed(self, name: str) -> tuple[str, float, float]:
        """The independent joint that a mimicking one follows, with the multiplier and offset of the whole chain."""
        multiplier, offset = 1.0, 0.0
        joint = self._joints.get(name)
        while joint is not None and joint.mimic is not None:
            offset += multiplier * joint.mimic.offset
            multiplier *= joint.mimic.multiplier
            name = joint.mimic.joint
            joint = self._joints[name]
        return name, multiplier, offset

    def _turn_frame(self, joint: int, turn: np.ndarray) -> None:
        """Turns the frame of a joint; the poses of everything fixed to it stay the same."""
        there, back = pin.SE3(turn, np.zeros(3)), pin.SE3(turn.T, np.zeros(3))
        model = self.model
        model.jointPlacements[joint] = model.jointPlacements[joint] * there
        model.inertias[joint] = back.act(model.inertias[joint])
        for child in range(1, model.njoints):
            if model.parents[child] == joint:
                model.jointPlacements[child] = back * model.jointPlacements[child]
        for frame in model.frames:
            if frame.parentJoint == joint:
                frame.placement = back * frame.placement


def placement(pose: Pose) -> pin.SE3:
    """A pose of the description in Pinocchio."""
    return pin.XYZQUATToSE3(np.array([*pose.position, *pose.quaternion]))


def _with_spherical_joints(model: pin.Model, names: list[str]) -> pin.Model:
    """The model with spherical joints instead of the named floating ones."""
    if not names:
        return model
    result = pin.Model()
    for number in range(1, model.njoints):
        name = model.names[number]
        joint = pin.JointModelSpherical() if name in names else model.joints[number]
        result.addJoint(model.parents[number], joint, model.jointPlacements[number], name)
        result.appendBodyToJoint(number, model.inertias[number], pin.SE3.Identity())
    for frame in list(model.frames)[1:]:
        result.addFrame(frame, False)
    return result


def _with_every_inertia(machine: Machine) -> str:
    """The URDF, with the description's mass properties where it has none."""
    root = ElementTree.fromstring(machine.urdf)
    for link in machine.links:
        element = root.find(f"link[@name='{link.name}']")
        if link.inertial is None or element.find("inertial") is not None:
            continue
        pose = placement(link.inertial.pose)
        inertial = ElementTree.SubElement(element, "inertial")
        ElementTree.SubElement(
            inertial, "origin", xyz=_numbers(pose.translation), rpy=_numbers(pin.rpy.matrixToRpy(pose.rotation))
        )
        ElementTree.SubElement(inertial, "mass", value=repr(link.inertial.mass))
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        ElementTree.SubElement(inertial, "inertia", dict(zip(names, map(repr, link.inertial.inertia), strict=True)))
    return ElementTree.tostring(root, encoding="unicode")


def _numbers(values) -> str:
    return " ".join(repr(float(value)) for value in values)
