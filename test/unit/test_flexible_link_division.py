"""Flexible links as elastic links with stations: names, places, attachments, shapes in pieces."""

from dataclasses import replace

import numpy as np
import pytest

from grouser import Member, combine
from grouser.physics.base.errors import MachineError
from grouser.physics.contact.pairs import CollisionRules
from grouser.physics.description.data.compliance import BeamSection, FlexibleLink, JointFrame, LoopJoint
from grouser.physics.description.data.contact import ContactMaterial, DisabledCollision
from grouser.physics.description.data.hydraulics import Attachment, HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link, Visual
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import DepthCamera, GnssReceiver, Imu, Lidar3d
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, PointSet, Sphere
from grouser.physics.description.elements.flexible_links.inertia import sections_inertial
from grouser.physics.description.urdf.placement import link_poses, point_on_link, subtree_masses
from grouser.physics.flexible_links.division import split_flexible_links
from grouser.physics.flexible_links.stationed import modal_beam, stations_of
from grouser.physics.model.build import build_model

LENGTH, START, RPY = 2.0, (0.1, 0.2, 0.3), (0.3, -0.4, 0.5)
AXES = matrix(quaternion_from_rpy(*RPY))
SECTIONS = (BeamSection(0.0, 2e-3, 3e-6, 2e-6, 4e-6), BeamSection(LENGTH, 1e-3, 1e-6, 1e-6, 1e-6))
FLEXIBLE = FlexibleLink(
    *("boom", "bezier", 4, START, RPY, LENGTH, 6e5, 4e5, 3.2e5, 0.01, 2e11, 8e10, 7800.0, SECTIONS),
    axial=1,
    torsion=2,
)
SOLID = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))


def on_axis(x, y=0.0, z=0.0):
    """A point given in the elastic frame, in the link frame."""
    return tuple((np.array(START) + AXES @ (x, y, z)).tolist())


def crane(flexible=FLEXIBLE, links=(), joints=(), collisions=(), visuals=(), **more):
    """A boom on a hinge."""
    boom = Link("boom", sections_inertial(flexible), collisions, visuals)
    mount = Pose((1.0, 2.0, 3.0), quaternion_from_rpy(0.7, 0.8, 0.9))
    return Machine(
        "crane",
        (Link("world"), boom, *links),
        (Joint("hinge", "continuous", "world", "boom", mount, (0.0, 1.0, 0.0)), *joints),
        "world",
        False,
        flexible_links=(flexible,),
        **more,
    )


def stations(machine):
    return [link for link in machine.links if link.name.startswith("boom.")]


def test_mass_is_on_stations_along_the_axis():
    whole = crane()
    divided = split_flexible_links(whole)
    assert divided.flexible_links == ()
    boom = next(link for link in divided.links if link.name == "boom")
    assert boom.inertial is None
    lumps = stations_of(FLEXIBLE)
    assert [link.name for link in stations(divided)] == [f"boom.{k + 1}" for k in range(len(lumps.place))]
    poses = link_poses(divided, {})
    for at, link in zip(lumps.place, stations(divided), strict=True):
        expected = point_on_link(poses["boom"], on_axis(at))
        assert np.array(poses[link.name].position) == pytest.approx(expected, abs=1e-14)
        assert poses[link.name].quaternion == pytest.approx(poses["boom"].quaternion, abs=1e-15)
    before, after = (subtree_masses(machine, link_poses(machine, {}))["boom"] for machine in (whole, divided))
    assert after.mass == pytest.approx(before.mass, rel=1e-9)
    assert after.centre == pytest.approx(before.centre, rel=1e-9)
    assert after.inertia == pytest.approx(before.inertia, rel=1e-8, abs=1e-8)


def test_coordinates_are_the_modes():
    divided = split_flexible_links(crane())
    elastic = next(link for link in divided.links if link.name == "boom").elastic
    beam = modal_beam(FLEXIBLE)
    assert [one.name for one in elastic] == [f"{mode.kind}_{mode.number}" for mode in beam.modes]
    assert [one.stiffness for one in elastic] == pytest.approx(beam.frequencies**2, rel=1e-14)
    assert [one.damping for one in elastic] == pytest.approx(0.01 * beam.frequencies**2, rel=1e-14)
    _, names = build_model(divided)
    assert names.rate_joint == ("hinge", *(f"boom.{one.name}" for one in elastic))


def test_shapes_are_those_of_the_elastic_frame_in_the_axes_of_the_link():
    divided = split_flexible_links(crane())
    beam, lumps = modal_beam(FLEXIBLE), stations_of(FLEXIBLE)
    joints = [joint for joint in divided.joints if joint.name.startswith("boom.")]
    for at, joint in zip(lumps.place, joints, strict=True):
        shape, x = joint.elastic_shape, np.array([at])
        assert np.array(shape.translation) @ AXES == pytest.approx(beam.translation(x)[0], abs=1e-14)
        assert np.array(shape.rotation) @ AXES == pytest.approx(beam.rotation(x)[0], abs=1e-14)
        assert np.array(shape.axis) == pytest.approx(AXES[:, 0], abs=1e-15)
        # trapezoidal rule with 20 000 parts: error (b - a) h2 f'' / 12
        fine = np.linspace(0.0, at, 20_001)
        slopes = [beam.values(kind, fine, 1) for kind in ("bending_z", "bending_y")]
        expected = sum(np.trapezoid(one[:, :, None] * one[:, None], fine, axis=0) for one in slopes)
        assert np.array(shape.shortening) == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


def test_attachments_stay_in_place_and_share_stations():
    """Points before, at and along the axis, and two at one place of it."""
    places = [(-0.5, 0.1), (0.0, 0.2), (0.7, 0.0), (0.7, 0.3), (1.999999, 0.0), (LENGTH, 0.1)]
    points = [on_axis(x, y, -0.2) for x, y in places]
    free = {"stiffness": None, "damping": (0.0,) * 3, "rotational_stiffness": None, "rotational_damping": (0.0,) * 3}
    turned = quaternion_from_rpy(0.1, 0.2, 0.3)
    whole = crane(
        links=[Link(f"hand{i}", SOLID) for i in range(6)],
        joints=[Joint(f"wrist{i}", "continuous", "boom", f"hand{i}", Pose(p, turned)) for i, p in enumerate(points)],
        loop_joints=tuple(
            LoopJoint(f"c{i}", "fixed", "z", **free, parent=JointFrame("boom", p, RPY), child=JointFrame("world"))
            for i, p in enumerate(points)
        ),
        cylinders=tuple(
            HydraulicCylinder(
                *(f"cylinder{i}", "valve", 0.1, 0.05, 0.5, 1.0, 1.0, 0.0, 0.0, 1e-4, 1e-4, False, 1e6),
                *(Attachment("world", (0.0, 0.0, 1.0)), Attachment("boom", point)),
            )
            for i, point in enumerate(points)
        ),
        sensors=tuple(Imu(f"imu{i}", "boom", p, RPY) for i, p in enumerate(points)),
        gnss_receivers=tuple(GnssReceiver(f"gnss{i}", "boom", p) for i, p in enumerate(points)),
    )
    divided = split_flexible_links(whole)
    count = len(stations_of(FLEXIBLE).place)
    carriers = ["boom", "boom", *(f"boom.{count + k}" for k in (1, 1, 2, 3))]
    assert len(stations(divided)) == count + 3
    assert all(link.inertial is None for link in stations(divided)[count:])
    before, after = link_poses(whole, {}), link_poses(divided, {})
    _, names = build_model(divided)
    for i, (carrier, point) in enumerate(zip(carriers, points, strict=True)):
        assert divided.joints[1 + i].parent == carrier
        assert np.array(after[f"hand{i}"].position) == pytest.approx(before[f"hand{i}"].position, abs=1e-14)
        assert after[f"hand{i}"].quaternion == pytest.approx(before[f"hand{i}"].quaternion, abs=1e-15)
        expected = point_on_link(before["boom"], point)
        for frame in (
            *(divided.loop_joints[i].parent, divided.cylinders[i].rod, divided.sensors[i], divided.gnss_receivers[i]),
        ):
            assert frame.link == carrier
            assert point_on_link(after[carrier], frame.xyz) == pytest.approx(expected, abs=1e-14)
        assert divided.loop_joints[i].parent.rpy == divided.sensors[i].rpy == RPY
        assert names.links.index(carrier) >= 0


def test_every_kind_of_sensor_has_a_station_of_its_own_place():
    kinds = {"sensors": Imu, "lidars_3d": Lidar3d, "depth_cameras": DepthCamera, "gnss_receivers": GnssReceiver}
    placed = {
        field: (kind(field, "boom", on_axis(0.3 + 0.2 * k, 0.1)),) for k, (field, kind) in enumerate(kinds.items())
    }
    whole = crane(**placed)
    divided = split_flexible_links(whole)
    before, after = link_poses(whole, {}), link_poses(divided, {})
    for field, (sensor,) in placed.items():
        (moved,) = getattr(divided, field)
        expected = point_on_link(before["boom"], sensor.xyz)
        assert moved.link != "boom"
        assert point_on_link(after[moved.link], moved.xyz) == pytest.approx(expected, abs=1e-14)


def placed_volume(shapes, machine):
    """Volume and first moment of pieces of boxes or cylinders, in the root's frame."""
    poses = link_poses(machine, {})
    total, moment = 0.0, np.zeros(3)
    for link, shape in shapes:
        one = shape.geometry
        volume = np.prod(one.size) if isinstance(one, Box) else np.pi * one.radius**2 * one.length
        total += volume
        moment += volume * np.array(compose(poses[link], shape.pose).position)
    return total, moment / total


@pytest.mark.parametrize(
    ("geometry", "turn"),
    [
        (Box((LENGTH, 0.1, 0.2)), Pose()),
        (Box((0.1, 0.2, LENGTH)), Pose(quaternion=quaternion_from_rpy(0.0, np.pi / 2, 0.0))),
        (Cylinder(0.1, 1.5), Pose(quaternion=quaternion_from_rpy(0.0, np.pi / 2, 0.0))),
    ],
)
def test_shapes_along_the_axis_are_cut_into_pieces(geometry, turn):
    frame = compose(Pose(on_axis(0.9, 0.05), quaternion_from_rpy(*RPY)), turn)
    whole = crane(collisions=(Collision("c", frame, geometry),), visuals=(Visual("v", frame, geometry),))
    divided = split_flexible_links(whole)
    expected = placed_volume([("boom", whole.links[1].visuals[0])], whole)
    for kind in ("collisions", "visuals"):
        pieces = [(link.name, shape) for link in divided.links for shape in getattr(link, kind)]
        assert len(pieces) >= len(stations_of(FLEXIBLE).place) - 1
        total, centre = placed_volume(pieces, divided)
        assert total == pytest.approx(expected[0], rel=1e-12)
        assert centre == pytest.approx(expected[1], rel=1e-12)
    # the box begins 0.1 m before the axis: this part stays on the link
    assert bool(divided.links[1].collisions) == isinstance(geometry, Box)


def test_hull_is_cut_into_pieces_that_fill_it():
    trimesh = pytest.importorskip("trimesh")
    random = np.random.default_rng(3)
    corners = np.column_stack([random.uniform(0.0, LENGTH, 40), random.uniform(-0.2, 0.2, (40, 2))])
    frame = Pose(START, quaternion_from_rpy(*RPY))
    whole = crane(collisions=(Collision("c", frame, Mesh("m", "m", hull=corners)),))
    divided = split_flexible_links(whole)
    pieces = [shape.geometry.hull for link in divided.links for shape in link.collisions]
    assert len(pieces) == len(stations_of(FLEXIBLE).place)
    volume = sum(trimesh.convex.convex_hull(piece).volume for piece in pieces)
    assert volume == pytest.approx(trimesh.convex.convex_hull(corners).volume, rel=1e-9)


def test_other_shapes_are_at_the_nearest_station():
    frame = Pose(on_axis(1.5), quaternion_from_rpy(*RPY))
    points = np.column_stack([np.linspace(-1.5, 0.5, 9), np.zeros((9, 2))])
    shapes = (*(Sphere(0.1), Box((0.3, 0.3, 0.3)), Capsule(0.1, 1.0), Mesh("m", "m"), PointSet(points, 0.05)),)
    poses = [frame, replace(frame, quaternion=quaternion_from_rpy(0.3, 0.9, 0.2)), frame, frame, frame]
    whole = crane(
        visuals=[Visual(str(k), pose, shape) for k, (pose, shape) in enumerate(zip(poses, shapes, strict=True))]
    )
    divided = split_flexible_links(whole)
    pieces = {str(k): [] for k in range(5)}
    for link in divided.links:
        for visual in link.visuals:
            pieces[visual.name].append((link.name, visual.geometry))
    places = stations_of(FLEXIBLE).place
    nearest = f"boom.{1 + int(np.abs(places - 1.5).argmin())}"
    for k in range(4):
        assert [name for name, _ in pieces[str(k)]] == [nearest]
    assert sum(len(geometry.points) for _, geometry in pieces["4"]) == 9


def test_pieces_do_not_collide_where_the_rigid_link_did_not():
    box = (Collision("box", Pose(on_axis(1.0), quaternion_from_rpy(*RPY)), Box((LENGTH, 0.1, 0.1))),)
    ball = (Collision("ball", Pose(), Sphere(0.2)),)
    whole = crane(
        collisions=box,
        links=[Link(name, SOLID, ball) for name in ("hand", "finger", "stone", "lamp")],
        joints=(
            Joint("wrist", "continuous", "boom", "hand", Pose(on_axis(LENGTH))),
            Joint("knuckle", "continuous", "hand", "finger"),
            Joint("free", "floating", "world", "stone"),
            Joint("bolts", "fixed", "boom", "lamp", Pose(on_axis(1.0))),
        ),
        disabled_collisions=(DisabledCollision("finger", "boom"),),
        contacts=(ContactMaterial("boom", friction=0.7), ContactMaterial("hand", friction=0.2)),
    )
    divided = split_flexible_links(whole)
    names = build_model(divided)[1]
    pieces = [link.name for link in divided.links if link.name.startswith("boom.") and link.collisions]
    assert len(pieces) == len(stations_of(FLEXIBLE).place)
    rules = CollisionRules(divided, names)

    def allowed(one, other):
        return bool(rules.may_touch(np.array([names.link_index(one)]), np.array([names.link_index(other)]))[0])

    for piece in pieces:
        assert not any(allowed(piece, other) for other in pieces if other != piece)
        assert [allowed(piece, other) for other in ("hand", "finger", "stone", "lamp")] == [False, False, True, False]
    assert not allowed("hand", "lamp")
    friction = {contact.link: contact.friction for contact in divided.contacts}
    assert friction == {"boom": 0.7, "hand": 0.2} | dict.fromkeys(pieces, 0.7)


def test_two_links_in_a_row_and_a_fleet():
    second = replace(FLEXIBLE, link="jib", discretisation="assumed_modes", size=2)
    one = crane(
        links=[Link("jib", sections_inertial(second)), Link("hook", SOLID)],
        joints=(
            Joint("knee", "continuous", "boom", "jib", Pose(on_axis(LENGTH))),
            Joint("pin", "fixed", "jib", "hook", Pose(on_axis(LENGTH))),
        ),
    )
    one = replace(one, flexible_links=(*one.flexible_links, second))
    fleet = combine({"a": Member(one), "b": Member(one)})
    divided, alone = split_flexible_links(fleet), split_flexible_links(one)
    expected = {f"{name}/{link.name}" for link in alone.links for name in "ab"}
    assert expected <= {link.name for link in divided.links}
    assert {joint.parent for joint in divided.joints if joint.name.endswith("knee")} == {"a/boom.6", "b/boom.6"}
    model, names = build_model(divided)
    modes = len(modal_beam(FLEXIBLE).modes) + len(modal_beam(second).modes)
    assert len(model.spring_rate) == 2 * modes and len(names.rate_joint) == 2 * (modes + 2)


def test_repeated_station_name_is_refused():
    with pytest.raises(MachineError, match=r"boom\.2'.*a link has it"):
        split_flexible_links(crane(links=[Link("boom.2")], joints=(Joint("more", "fixed", "boom", "boom.2"),)))
