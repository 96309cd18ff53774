"""The same machine in Pinocchio, and the way from our coordinates to its own.

Pinocchio reads the machine's URDF by itself. Four things are then brought into line, none of them by code of ours:

- Pinocchio's URDF reader puts every planar joint into the x-y plane of its frame; its frame is turned here so that z
  lies along the URDF's axis, by the smallest turn.
- URDF has no spherical joint: the floating joint that it stands for gives way to Pinocchio's own.
- A mimicking joint is a joint of its own there. With pv = G v, where G is constant, M = G^T M_pin G and
  forces = G^T forces_pin.
- A link whose mass properties come from a density has none in the URDF: they are taken from the description.
"""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.multibody import MultibodyModel, Names

FREE_BASE = "root_joint"
_SPHERICAL = pin.JointModelSpherical().shortname()


class PinocchioTwin:
    """A machine as Pinocchio sees it.

    Args:
        machine: the machine.
        model, names: what `build_model` made of it: only the meaning of its coordinates is used.

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
        assert self.rate_map.any(axis=1).all(), "a joint of Pinocchio's is moved by none of ours"

    @property
    def has_mimics(self) -> bool:
        """Whether a joint follows another one."""
        return any(joint.mimic for joint in self._joints.values())

    def joint(self, name: str):
        """Pinocchio's joint of a name of ours (that of the free base included)."""
        known = self.model.existJointName(name)
        return self.model.joints[self.model.getJointId(name if known else FREE_BASE)]

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q of ours: angles without bounds become cosine and sine."""
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
        """Number of the frame of a link."""
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
        """The joint that another one follows in the end, with the multiplier and offset of the whole chain."""
        multiplier, offset = 1.0, 0.0
        joint = self._joints.get(name)
        while joint is not None and joint.mimic is not None:
            offset += multiplier * joint.mimic.offset
            multiplier *= joint.mimic.multiplier
            name = joint.mimic.joint
            joint = self._joints[name]
        return name, multiplier, offset

    def _turn_frame(self, joint: int, turn: np.ndarray) -> None:
        """Turns the frame of a joint, and leaves in place all that is fixed to it."""
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
    """A pose of the description as Pinocchio's."""
    return pin.XYZQUATToSE3(np.array([*pose.position, *pose.quaternion]))


def _with_spherical_joints(model: pin.Model, names: list[str]) -> pin.Model:
    """The same model with spherical joints in the place of some of its floating ones."""
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
    """The URDF, with the description's mass properties where it gives none."""
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
