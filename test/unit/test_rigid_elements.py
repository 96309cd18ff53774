"""Flexible links divided into rigid elements: mass properties, attachments, deflections and vibrations."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import eigh

from grouser.physics.base.errors import MachineError
from grouser.physics.contact.pairs import CollisionRules
from grouser.physics.description.data.compliance import BeamSection, CompliantJoint, FlexibleLink, JointFrame, LoopJoint
from grouser.physics.description.data.contact import DisabledCollision
from grouser.physics.description.data.hydraulics import Attachment, HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, matrix, quaternion_from_rpy, rotate
from grouser.physics.description.data.sensors import Imu
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.urdf.placement import initial_positions, link_poses, point_on_link, subtree_masses
from grouser.physics.flexible_links.division import split_flexible_links
from grouser.physics.model.build import build_model

LENGTH, MASS, BENDING_Y, BENDING_Z, TORSION = 2.0, 3.0, 50.0, 20.0, 8.0
SLENDER = 1e-9 * MASS * LENGTH**2  # inertia about the axis, without effect on bending
EVEN = MASS * LENGTH**2 / 12.0
ROD = Inertial(Pose((LENGTH / 2, 0.0, 0.0)), MASS, (SLENDER, 0.0, 0.0, EVEN + SLENDER / 2, 0.0, EVEN + SLENDER / 2))
FLEXIBLE = FlexibleLink(
    *("rod", "rigid_elements", 5, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), LENGTH, BENDING_Y, BENDING_Z, TORSION, 0.01)
)


def clamped(flexible=FLEXIBLE, inertial=ROD, pose=Pose(), links=(), joints=(), **more):
    """A rod fixed to the world, with its attachments."""
    rod = Link("rod", inertial, collisions=more.pop("collisions", ()))
    return Machine(
        "cantilever",
        (Link("world"), rod, *links),
        (Joint("clamp", "fixed", "world", "rod", pose), *joints),
        "world",
        False,
        flexible_links=(flexible,),
        **more,
    )


def test_element_names_order_and_springs():
    divided = split_flexible_links(
        clamped(links=(Link("hand", ROD),), joints=(Joint("wrist", "continuous", "rod", "hand"),))
    )
    chain = [f"rod.{k}{turn}" for k in range(1, 5) for turn in (".z", ".y", "")]
    assert [link.name for link in divided.links] == ["world", "rod", "hand", *chain]
    turns = [f"rod.{k}.{turn}" for k in range(1, 5) for turn in "zyx"]
    assert [joint.name for joint in divided.joints] == ["clamp", "wrist", *turns]
    assert [(joint.parent, joint.child) for joint in divided.joints[2:]] == list(
        zip(["rod", *chain], chain, strict=False)
    )
    springs = {law.joint: law for law in divided.compliant_joints}
    assert list(springs) == turns
    segment = LENGTH / 4
    for name, stiffness in (("rod.3.z", BENDING_Z), ("rod.3.y", BENDING_Y), ("rod.3.x", TORSION)):
        none = (0.0, 0.0, 0.0)
        assert springs[name] == CompliantJoint(
            *(name, none, none, none, none),
            axial_stiffness=stiffness / segment,
            axial_damping=0.01 * stiffness / segment,
        )
    assert divided.flexible_links == ()
    assert [start.joint for start in divided.initial_positions] == turns
    assert not any(start.position for start in divided.initial_positions)
    # the core takes it: a coordinate a spring
    _, names = build_model(divided)
    assert list(names.joints) == ["wrist", *turns]


def test_springs_of_a_tapered_link_have_the_compliance_of_their_segments():
    """The second moments fall linearly to a half: the integral of dx / I over a segment is a logarithm."""
    sections = (BeamSection(0.0, 1e-3, 2e-6, 4e-6, 6e-6), BeamSection(LENGTH, 1e-3, 1e-6, 2e-6, 3e-6))
    elastic = 1e7
    stiffnesses = [elastic * moment for moment in (2e-6, 4e-6, 6e-6)]
    tapered = FlexibleLink(
        *("rod", "rigid_elements", 5, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), LENGTH, *stiffnesses, 0.01),
        *(elastic, elastic, 1.0, sections),
    )
    springs = {law.joint: law.axial_stiffness for law in split_flexible_links(clamped(tapered)).compliant_joints}
    for k in range(1, 5):
        begin, end = 1.0 - (k - 1) / 8, 1.0 - k / 8
        for turn, stiffness in zip("yzx", stiffnesses, strict=True):
            expected = stiffness / (2.0 * LENGTH * math.log(begin / end))
            assert springs[f"rod.{k}.{turn}"] == pytest.approx(expected, rel=1e-12)


def test_elements_of_a_rod_are_rods():
    """Lengths L/8, L/4, L/4, L/4, L/8, each with the inertia of a solid round rod of that length."""
    radius = 0.03
    across = MASS * (3.0 * radius**2 + LENGTH**2) / 12.0
    solid = replace(ROD, inertia=(MASS * radius**2 / 2, 0.0, 0.0, across, 0.0, across))
    divided = split_flexible_links(clamped(inertial=solid))
    links, poses = {link.name: link for link in divided.links}, link_poses(divided, {})
    begin = 0.0
    for name, part in (("rod", 1 / 8), ("rod.1", 1 / 4), ("rod.2", 1 / 4), ("rod.3", 1 / 4), ("rod.4", 1 / 8)):
        mass, length = part * MASS, part * LENGTH
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        inertial = links[name].inertial
        assert inertial.mass == pytest.approx(mass, rel=1e-14)
        assert inertial.inertia == pytest.approx((mass * radius**2 / 2, 0, 0, across, 0, across), rel=1e-12, abs=1e-16)
        assert poses[name].position == pytest.approx((begin, 0.0, 0.0), abs=1e-15)
        assert point_on_link(poses[name], inertial.pose.position) == pytest.approx(
            (begin + length / 2, 0, 0), abs=1e-14
        )
        begin += length


@pytest.mark.parametrize("size", [2, 3, 17])
@pytest.mark.parametrize("seed", range(5))
def test_mass_centre_and_inertia_of_the_elements_are_those_of_the_link(size, seed):
    """Mass scattered about a line inclined to the elastic axis: all products of inertia are nonzero."""
    random = np.random.default_rng(seed)
    rpy, start = tuple(random.uniform(-1.5, 1.5, 3)), tuple(random.uniform(-1.0, 1.0, 3))
    along = (np.arange(40) + random.uniform(-2.0, 2.0, 40)) / 40 * LENGTH
    across = along[:, None] * random.uniform(-0.2, 0.2, 2) + random.uniform(-0.1, 0.1, (40, 2))
    points = np.column_stack([along, across]) @ matrix(quaternion_from_rpy(*rpy)).T + start
    weights = random.uniform(0.5, 1.5, 40)
    centre = weights @ points / weights.sum()
    moments = (points - centre).T @ np.diag(weights) @ (points - centre)
    turn = quaternion_from_rpy(*random.uniform(-1.5, 1.5, 3))
    inertia = matrix(turn).T @ (np.trace(moments) * np.eye(3) - moments) @ matrix(turn)
    packed = tuple(float(inertia[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    inertial = Inertial(Pose(tuple(centre.tolist()), turn), float(weights.sum()), packed)
    whole = clamped(replace(FLEXIBLE, size=size, xyz=start, rpy=rpy), inertial)
    divided = split_flexible_links(whole)
    before, after = (subtree_masses(machine, link_poses(machine, {}))["rod"] for machine in (whole, divided))
    assert after.mass == pytest.approx(before.mass, rel=1e-14)
    assert after.centre == pytest.approx(before.centre, abs=1e-13)
    assert after.inertia == pytest.approx(before.inertia, rel=1e-12, abs=1e-12)
    for link in divided.links:
        if link.inertial is not None:
            assert link.inertial.mass > 0.0
            xx, xy, xz, yy, yz, zz = link.inertial.inertia
            principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            # positive, and no moment above the sum of the two others
            assert principal[0] > 0.0 and principal[2] <= principal[:2].sum() * (1.0 + 1e-12)


def along_axis(mean, mean_square):
    """An inertial with this mean and mean square of positions along the axis, -1 to 1."""
    half = LENGTH / 2
    spread = MASS * half**2 * (mean_square - mean**2)
    return Inertial(Pose((half * (1.0 + mean), 0.0, 0.0)), MASS, (0.0, 0.0, 0.0, spread, 0.0, spread))


@pytest.mark.parametrize(
    ("mean", "mean_square"),
    # densities that reach zero: at one end (1 + s), at both (1 - s2), in the middle (s2), beside it ((s + 1/2)2)
    [(1 / 3, 1 / 3), (-1 / 3, 1 / 3), (0.0, 1 / 5), (0.0, 3 / 5), (4 / 7, 17 / 35)],
)
def test_negative_density_is_refused(mean, mean_square):
    divided = split_flexible_links(clamped(inertial=along_axis(mean, mean_square)))
    assert all(link.inertial.mass > 0.0 for link in divided.links if link.inertial is not None)
    # further from an even density in the same direction
    beyond = along_axis(1.01 * mean, 1 / 3 + 1.01 * (mean_square - 1 / 3))
    with pytest.raises(MachineError, match=r'flexible_link link="rod".*cannot be spread.*link of its own'):
        split_flexible_links(clamped(inertial=beyond))


def test_mass_without_extent_along_the_axis_is_refused():
    for inertial in (along_axis(0.0, 0.0), along_axis(1.0, 1.0), along_axis(1.5, 2.25 + 1 / 3)):
        with pytest.raises(MachineError, match="cannot be spread"):
            split_flexible_links(clamped(inertial=inertial))
    with pytest.raises(MachineError, match="no mass"):
        split_flexible_links(clamped(inertial=replace(ROD, mass=0.0)))


def test_one_element_is_a_rigid_link():
    whole = clamped(replace(FLEXIBLE, size=1))
    assert split_flexible_links(whole) == replace(whole, flexible_links=())


def test_repeated_element_name_is_refused():
    with pytest.raises(MachineError, match=r"rod\.2'.*a link has it"):
        split_flexible_links(
            clamped(links=(Link("rod.2"),), joints=(Joint("further", "fixed", "rod", "rod.2"),)),
        )
    with pytest.raises(MachineError, match=r"rod\.2\.x'.*a joint has it"):
        split_flexible_links(clamped(links=(Link("hand"),), joints=(Joint("rod.2.x", "fixed", "rod", "hand"),)))


def test_attachments_of_a_flexible_link_stay_in_place():
    """Points before, along and beyond the axis, which starts inside the link and is inclined."""
    rpy, start = (0.3, -0.4, 0.5), (0.1, 0.2, 0.3)
    places = [(-0.5, 0), (0.2, 0), (0.3, 1), (0.7, 1), (0.8, 2), (1.2, 2), (1.3, 3), (1.8, 4), (2.5, 4)]
    axes = matrix(quaternion_from_rpy(*rpy))
    points = [tuple((np.array(start) + axes @ (x, 0.1, -0.2)).tolist()) for x, _ in places]
    elements = ["rod" if k == 0 else f"rod.{k}" for _, k in places]
    turned = quaternion_from_rpy(0.1, 0.2, 0.3)
    hands = [Link(f"hand{i}") for i in range(len(places))]
    wrists = [Joint(f"wrist{i}", "fixed", "rod", f"hand{i}", Pose(point, turned)) for i, point in enumerate(points)]
    rigid = {"stiffness": None, "damping": (0.0,) * 3, "rotational_stiffness": None, "rotational_damping": (0.0,) * 3}
    loops = [
        LoopJoint(
            f"c{i}", "fixed", "z", **rigid, parent=JointFrame("rod", point, (1.0, 2.0, 3.0)), child=JointFrame("world")
        )
        for i, point in enumerate(points)
    ]
    cylinders = [
        HydraulicCylinder(
            *(f"cylinder{i}", "valve", 0.1, 0.05, 0.5, 1.0, 1.0, 0.0, 0.0, 1e-4, 1e-4, False, 1e6),
            *(Attachment("world", (0.0, 0.0, 1.0)), Attachment("rod", point)),
        )
        for i, point in enumerate(points)
    ]
    whole = clamped(
        replace(FLEXIBLE, xyz=start, rpy=rpy),
        replace(ROD, pose=Pose(tuple((np.array(start) + axes[:, 0] * LENGTH / 2).tolist()), quaternion_from_rpy(*rpy))),
        Pose((1.0, 2.0, 3.0), quaternion_from_rpy(0.7, 0.8, 0.9)),
        hands,
        wrists,
        loop_joints=tuple(loops),
        cylinders=tuple(cylinders),
        sensors=tuple(Imu(f"imu{i}", "rod", point) for i, point in enumerate(points)),
    )
    divided = split_flexible_links(whole)
    before, after = link_poses(whole, {}), link_poses(divided, {})
    for i, (element, point) in enumerate(zip(elements, points, strict=True)):
        expected = point_on_link(before["rod"], point)
        assert divided.joints[1 + i].parent == element
        assert np.array(after[f"hand{i}"].position) == pytest.approx(expected, abs=1e-14)
        assert after[f"hand{i}"].quaternion == pytest.approx(before[f"hand{i}"].quaternion, abs=1e-15)
        frame, other = divided.loop_joints[i].parent, divided.loop_joints[i].child
        assert (frame.link, frame.rpy, other) == (element, (1.0, 2.0, 3.0), JointFrame("world"))
        assert point_on_link(after[element], frame.xyz) == pytest.approx(expected, abs=1e-14)
        # the frames of all elements are parallel to the link's
        assert after[element].quaternion == pytest.approx(before["rod"].quaternion, abs=1e-15)
        barrel, rod = divided.cylinders[i].barrel, divided.cylinders[i].rod
        assert (barrel.link, rod.link) == ("world", element)
        imu = divided.sensors[i]
        assert (imu.link, imu.xyz) == (element, rod.xyz)
        assert point_on_link(after[element], rod.xyz) == pytest.approx(expected, abs=1e-14)


def test_collision_pairs_of_a_flexible_link_are_unchanged():
    """A rigid link touches neither links fixed to it nor links on its joints; its elements do not either."""
    shape = (Collision("box", Pose(), Box((1.0, 1.0, 1.0))),)
    solid = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    tip = Pose((LENGTH, 0.0, 0.0))
    whole = clamped(
        collisions=shape,
        links=[Link(name, solid, shape) for name in ("flange", "lamp", "hand", "finger", "ball")],
        joints=(
            Joint("bolts", "fixed", "rod", "flange", tip),
            Joint("socket", "fixed", "flange", "lamp"),
            Joint("wrist", "continuous", "flange", "hand"),
            Joint("knuckle", "continuous", "hand", "finger"),
            Joint("free", "floating", "rod", "ball"),
        ),
        disabled_collisions=(DisabledCollision("lamp", "finger"),),
    )
    divided = split_flexible_links(whole)
    pairs = np.array(list(combinations(["rod", "flange", "lamp", "hand", "finger", "ball"], 2)))

    def allowed(machine):
        names = build_model(machine)[1]
        one, other = np.vectorize(names.link_index)(pairs).T
        return CollisionRules(machine, names).may_touch(one, other).tolist()

    assert set(allowed(whole)) == {True, False}
    assert allowed(divided) == allowed(whole)


class Chain:
    """A divided machine at its start, by plain formulas: Jacobians, mass matrix and springs."""

    def __init__(self, machine):
        self.machine = machine
        positions = initial_positions(machine)
        self.poses = link_poses(machine, positions)
        self.above = {joint.child: joint for joint in machine.joints}
        self.coordinates = list(positions)
        stiffness = {law.joint: law.axial_stiffness for law in machine.compliant_joints}
        self.stiffness = np.diag([stiffness[name] for name in self.coordinates])
        self.mass = np.zeros_like(self.stiffness)
        for link in machine.links:
            if link.inertial is not None:
                frame = compose(self.poses[link.name], link.inertial.pose)
                xx, xy, xz, yy, yz, zz = link.inertial.inertia
                turn = matrix(frame.quaternion)
                inertia = turn @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ turn.T
                linear, angular = self.jacobian(link.name, np.array(frame.position))
                self.mass += link.inertial.mass * linear.T @ linear + angular.T @ inertia @ angular

    def jacobian(self, link, point):
        """Velocity of a link's point and angular velocity per coordinate rate."""
        linear, angular = np.zeros((3, len(self.coordinates))), np.zeros((3, len(self.coordinates)))
        while link in self.above:
            joint = self.above[link]
            if joint.name in self.coordinates:
                frame = compose(self.poses[joint.parent], joint.pose)
                axis, k = np.array(rotate(frame.quaternion, joint.axis)), self.coordinates.index(joint.name)
                linear[:, k], angular[:, k] = np.cross(axis, point - frame.position), axis
            link = joint.parent
        return linear, angular

    def natural_frequencies(self):
        """Ascending [rad/s]."""
        return np.sqrt(eigh(self.stiffness, self.mass, eigvals_only=True))


@pytest.mark.parametrize("size", [2, 5, 40])
def test_deflections_under_end_loads(size):
    """End moments give the beam's own angles; an end force its deflection by the midpoint rule over the segments.

    The bending moment F (L - x) over E I, integrated with the lever L - x: F (L3 / 3 - D2 L / 12) / E I.
    """
    chain = Chain(split_flexible_links(clamped(replace(FLEXIBLE, size=size))))
    linear, angular = chain.jacobian(f"rod.{size - 1}", np.array([LENGTH, 0.0, 0.0]))
    compliance = np.linalg.inv(chain.stiffness)
    angles = angular @ compliance @ angular.T
    assert angles == pytest.approx(np.diag([LENGTH / TORSION, LENGTH / BENDING_Y, LENGTH / BENDING_Z]), abs=1e-13)
    segment = LENGTH / (size - 1)
    lever = LENGTH**3 / 3 - segment**2 * LENGTH / 12
    # a force along y bends about z
    assert linear @ compliance @ linear.T == pytest.approx(
        np.diag([0.0, lever / BENDING_Z, lever / BENDING_Y]), abs=1e-13
    )


# Roots of cos(b) cosh(b) = -1.
ROOTS = np.array([1.8751040687119611, 4.694091132974174, 7.854757438237613])


def test_cantilever_frequencies_converge_with_second_order():
    """Closed form b2 sqrt(E I / (m L3)); halving the segments quarters the error, and extrapolation removes it."""
    frequencies = {}
    for size in (17, 33, 65):
        chain = Chain(split_flexible_links(clamped(replace(FLEXIBLE, size=size))))
        bending = [k for k, name in enumerate(chain.coordinates) if name.endswith("z")]
        chain.mass, chain.stiffness = chain.mass[np.ix_(bending, bending)], chain.stiffness[np.ix_(bending, bending)]
        frequencies[size] = chain.natural_frequencies()[:3]
    exact = ROOTS**2 * math.sqrt(BENDING_Z / (MASS * LENGTH**3))
    coarse, middle, fine = (frequencies[size] / exact - 1.0 for size in (17, 33, 65))
    order = np.log2(np.abs(coarse / middle)), np.log2(np.abs(middle / fine))
    assert order[0] == pytest.approx(2.0, abs=0.05)
    assert order[1] == pytest.approx(2.0, abs=0.05)
    # the next term of the error is of the fourth order, a sixteenth of the coarse grid's error squared
    assert np.abs((4.0 * fine - middle) / 3.0) == pytest.approx(0.0, abs=np.abs(middle).max() ** 2)


def test_bending_in_both_planes_and_torsion_are_independent():
    """The three sets of closed forms, each with its own stiffness, in one spectrum."""
    about_axis = 1e-6 * MASS * LENGTH**2
    across = EVEN + about_axis / 2
    size = 101
    inertial = replace(ROD, inertia=(about_axis, 0.0, 0.0, across, 0.0, across))
    found = Chain(split_flexible_links(clamped(replace(FLEXIBLE, size=size), inertial))).natural_frequencies()
    # a torsional wave on a lattice is slow by (wave number times D)2 / 24, bending less; a tenth for higher orders
    tolerance = 1.1 * (2.5 * math.pi / (size - 1)) ** 2 / 24
    for mode in range(3):
        torsion = (mode + 0.5) * math.pi * math.sqrt(TORSION / (about_axis * LENGTH))
        bending = [ROOTS[mode] ** 2 * math.sqrt(stiffness / (MASS * LENGTH**3)) for stiffness in (BENDING_Y, BENDING_Z)]
        for frequency in (torsion, *bending):
            assert np.abs(found / frequency - 1.0).min() < tolerance
