"""Flexible links as chains of rigid elements with springs between them: the rigid finite element method.

After Wittbrodt, Adamiec-Wojcik and Wojciech, "Dynamics of Flexible Multibody Systems: Rigid Finite Element Method"
(2006). The elastic axis is cut into n - 1 equal segments of length D. The bending and torsion of a segment are lumped
in a spring in its middle: E I / D about the two transverse axes, G I_p / D about the axis. Between the springs the link
is rigid, so that there are n elements; those at the ends are half as long as the others.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from grouser.physics.description.data.compliance import CompliantJoint, FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, InitialPosition, Joint, Link, Visual
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.flexible_links.attachments import with_attachments
from grouser.physics.flexible_links.cutting import Axis, cut_shape
from grouser.physics.flexible_links.names import held_apart, link_error, refuse_repeated
from grouser.physics.flexible_links.quadrature import gauss_rule

_TURNS = "zyx"
# Points of quadrature of the compliance of a segment, in each of its linear pieces.
_POINTS = 12
_NO_STIFFNESS = (0.0, 0.0, 0.0)
# Tolerance of a negative density due to rounding, as a share of the mean density.
_DENSITY_ROUND_OFF = 1e-9


def divide(machine: Machine, flexible: FlexibleLink) -> Machine:
    """Divides a flexible link into rigid elements.

    The first element keeps the link's name, frame and collision shapes (which do not bend), and the joint that carries
    the link; visuals are cut into a piece for each element.
    Element k is the link `<link>.k`; its frame is the link's frame, moved along the elastic axis
    to the spring where the element begins. Three revolute joints `<link>.k.z`, `<link>.k.y` and `<link>.k.x` join it
    to the element before it, about the axes of the elastic frame in this order; the springs are their axial
    stiffnesses, and the massless links between them have the names of the joints that move them. New links and joints
    follow those of the file. Joints, loop joints, cylinders and sensors on the link are attached to the nearest
    element. The chain starts straight, and the assembly of loops does not bend it.

    The link's mass is distributed along the axis with a parabolic density, so that mass, centre of mass and inertia of
    the straight chain are those of the link; a uniform rod gives uniform elements.

    Args:
        machine: from the description.
        flexible: the link; one with one element stays rigid.

    Raises:
        MachineError: no density along the axis gives the inertial, or a link or joint already has the name of an
            element.
    """
    return _Division(machine, flexible).divided() if flexible.size > 1 else machine


def element_names(flexible: FlexibleLink) -> list[str]:
    """Links of the elements of a flexible link, from its start; the first has the link's name."""
    return [flexible.link, *(f"{flexible.link}.{k}" for k in range(1, flexible.size))]


def spring_names(flexible: FlexibleLink) -> list[str]:
    """Joints between the elements."""
    return [f"{name}.{turn}" for name in element_names(flexible)[1:] for turn in _TURNS]


def far_end(flexible: FlexibleLink) -> np.ndarray:
    """End of the elastic axis in the last element's frame [m], (3,)."""
    along = matrix(quaternion_from_rpy(*flexible.rpy))[:, 0]
    if flexible.size == 1:
        return np.array(flexible.xyz) + flexible.length * along
    return 0.5 * flexible.length / (flexible.size - 1) * along


class _Division:
    """One flexible link and its division.

    Attributes:
        axes: unit vectors of the elastic frame in the link frame, as columns, (3, 3).
        springs: positions of the springs along the elastic axis [m], (n - 1,).
        names: of the elements.
        shifts: origins of the elements' frames in the link frame [m], (n, 3).
    """

    def __init__(self, machine: Machine, flexible: FlexibleLink):
        self.machine = machine
        self.flexible = flexible
        self.start = np.array(flexible.xyz)
        self.axes = matrix(quaternion_from_rpy(*flexible.rpy))
        self.segment = flexible.length / (flexible.size - 1)
        self.springs = self.segment * (np.arange(flexible.size - 1) + 0.5)
        self.names = element_names(flexible)
        self.shifts = np.zeros((flexible.size, 3))
        self.shifts[1:] = self.start + np.outer(self.springs, self.axes[:, 0])

    def divided(self) -> Machine:
        """The machine with this link divided."""
        machine, inertials = self.machine, self._inertials()
        whole = next(link for link in machine.links if link.name == self.flexible.link)
        visuals = self._pieces(whole.visuals)
        first = replace(whole, inertial=next(inertials), visuals=tuple(visuals.get(0, ())))
        links = [first if link is whole else link for link in machine.links]
        joints = [
            replace(joint, parent=name, pose=replace(joint.pose, position=xyz))
            for joint in machine.joints
            for name, xyz in [self._place(joint.parent, joint.pose.position)]
        ]
        compliances, straight = list(machine.compliant_joints), []
        for k, inertial in enumerate(inertials, start=1):
            for turn, joint in zip(_TURNS, self._turns(k), strict=True):
                joints.append(joint)
                element = Link(joint.child, inertial, visuals=tuple(visuals.get(k, ())))
                links.append(element if turn == "x" else Link(joint.child))
                compliances.append(self._spring(k, joint.name, turn))
                straight.append(InitialPosition(joint.name, 0.0))
        result = replace(
            machine,
            links=tuple(links),
            joints=tuple(joints),
            compliant_joints=tuple(compliances),
            disabled_collisions=(*machine.disabled_collisions, *held_apart(machine, self.flexible)),
            initial_positions=(*machine.initial_positions, *straight),
        )
        refuse_repeated(result, self.flexible)
        return with_attachments(result, self._place)

    def _pieces(self, visuals: tuple[Visual, ...]) -> dict[int, list[Visual]]:
        """Pieces of the visuals by the number of their element."""
        axis = Axis(self.start, self.axes[:, 0], self.springs)
        pieces: dict[int, list[Visual]] = {}
        for visual in visuals:
            for number, pose, geometry in cut_shape(visual.geometry, visual.pose, axis):
                moved = replace(pose, position=_vector(np.array(pose.position) - self.shifts[number]))
                pieces.setdefault(number, []).append(replace(visual, pose=moved, geometry=geometry))
        return pieces

    def _turns(self, k: int) -> Iterator[Joint]:
        """The three joints between element k - 1 and element k."""
        before = self.names[k - 1]
        at = Pose(_vector(self.shifts[k] - self.shifts[k - 1]))
        for turn in _TURNS:
            name = f"{self.names[k]}.{turn}"
            after = self.names[k] if turn == "x" else name
            yield Joint(name, "continuous", before, after, at, _vector(self.axes[:, "xyz".index(turn)]))
            before, at = after, Pose()

    def _spring(self, k: int, joint: str, turn: str) -> CompliantJoint:
        """A spring between element k - 1 and element k, with the compliance of its segment."""
        flexible = self.flexible
        modulus = {
            "x": flexible.torsional_stiffness,
            "y": flexible.bending_stiffness_y,
            "z": flexible.bending_stiffness_z,
        }[turn]
        stiffness = modulus * self._sections(k, turn) / self.segment
        none = _NO_STIFFNESS
        return CompliantJoint(
            *(joint, none, none, none, none), axial_stiffness=stiffness, axial_damping=flexible.damping * stiffness
        )

    def _sections(self, k: int, turn: str) -> float:
        """Mean of a segment's second moment, for springs in series, over that at the start of the axis."""
        flexible = self.flexible
        if len(flexible.sections) < 2:
            return 1.0
        begin, end = (k - 1) * self.segment, min(k * self.segment, flexible.length)
        pieces = flexible.smooth_pieces
        x, weight = gauss_rule(np.array([begin, *pieces[(pieces > begin) & (pieces < end)], end]), _POINTS)
        column, first = {"y": (1, "second_moment_y"), "z": (2, "second_moment_z"), "x": (3, "torsion_constant")}[turn]
        return self.segment / float(
            weight @ (getattr(flexible.sections[0], first) / flexible.sections_at(x)[:, column])
        )

    def _place(self, link: str, xyz: Vector3) -> tuple[str, Vector3]:
        """Element that carries a point of the link, and the point in its frame; points of other links are unchanged."""
        if link != self.flexible.link:
            return link, xyz
        along = (np.array(xyz) - self.start) @ self.axes[:, 0]
        k = int(np.searchsorted(self.springs, along, side="right"))
        return self.names[k], _vector(xyz - self.shifts[k])

    def _inertials(self) -> Iterator[Inertial]:
        """Mass properties of the elements, each in its frame.

        With the second moments W = tr(I) / 2 - I about the centre of mass, the mass at x along the axis is centred on
        the line c + (x - c_x) g with g = W x / W_xx, and has the second moments W - W_xx g g^T about it. All second
        moments of the link then agree, not only those along the axis, which the density gives.
        """
        whole = next(link.inertial for link in self.machine.links if link.name == self.flexible.link)
        if whole is None or whole.mass <= 0.0:
            raise link_error(
                *(self.machine, self.flexible), "has no mass to divide", "give it an <inertial> or a <density>"
            )
        along, half = self.axes[:, 0], 0.5 * self.flexible.length
        centre, moments = np.array(whole.pose.position), _second_moments(whole)
        middle = along @ (centre - self.start) - half
        variance = along @ moments @ along / whole.mass
        density = self._density(middle / half, (variance + middle**2) / half**2)
        slope = moments @ along / (whole.mass * variance)
        around = moments - whole.mass * variance * np.outer(slope, slope)
        ends = np.concatenate([[-half], self.springs - half, [half]])
        for k in range(self.flexible.size):
            share, place, spread = _span(density, ends[k] / half, ends[k + 1] / half)
            own = whole.mass * half**2 * spread * np.outer(slope, slope) + share * around
            position = centre + (place * half - middle) * slope - self.shifts[k]
            yield Inertial(Pose(_vector(position)), share * whole.mass, _inertia(own))

    def _density(self, mean: float, mean_square: float) -> tuple[float, float]:
        """Coefficients b and c of the density over its mean, 1 + b s + c (3 s2 - 1) / 2; s is -1 to 1 along the axis.

        Args:
            mean, mean_square: required means of s and its square.
        """
        b, c = 3.0 * mean, 7.5 * mean_square - 2.5
        lowest = 1.0 - abs(b) + c
        if 3.0 * c > abs(b):
            lowest = 1.0 - 0.5 * c - b * b / (6.0 * c)
        if lowest < -_DENSITY_ROUND_OFF:
            length = self.flexible.length
            centre, gyration = 0.5 * length * (1.0 + mean), 0.5 * length * max(mean_square - mean**2, 0.0) ** 0.5
            raise link_error(
                *(self.machine, self.flexible),
                f"has its mass centred at {centre:.4g} m along an elastic axis of {length:.4g} m, with a radius of "
                f"gyration of {gyration:.4g} m along it: it cannot be spread over the axis",
                "give what is concentrated a link of its own, fixed to this one",
            )
        return b, c


def _span(density: tuple[float, float], begin: float, end: float) -> tuple[float, float, float]:
    """Share of the mass between two positions, its centre, share times variance about the centre; see `_density`."""
    b, c = density
    middle, half = 0.5 * (begin + end), 0.5 * (end - begin)
    # density in powers of the distance from the middle: no cancellation in short spans
    constant, linear, square = 1.0 + b * middle + c * (1.5 * middle**2 - 0.5), b + 3.0 * c * middle, 1.5 * c
    share = half * constant + square * half**3 / 3.0
    first = linear * half**3 / 3.0
    second = constant * half**3 / 3.0 + square * half**5 / 5.0
    return share, middle + first / share, second - first**2 / share


def _second_moments(inertial: Inertial) -> np.ndarray:
    """Second moments of mass about the centre of mass, link axes [kg m2], (3, 3)."""
    xx, xy, xz, yy, yz, zz = inertial.inertia
    turn = matrix(inertial.pose.quaternion)
    inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def _inertia(moments: np.ndarray) -> tuple[float, float, float, float, float, float]:
    """Inertia tensor from second moments."""
    i = np.trace(moments) * np.eye(3) - moments
    return float(i[0, 0]), float(i[0, 1]), float(i[0, 2]), float(i[1, 1]), float(i[1, 2]), float(i[2, 2])


def _vector(array: np.ndarray) -> Vector3:
    x, y, z = array.tolist()
    return x, y, z
