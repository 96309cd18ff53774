"""Meshes: file names, convex hulls, and mass properties of shapes with a density."""

import contextlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.mechanism import Collision
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.data.shapes import Box, Cylinder, Mesh, Sphere
from grouser.physics.description.urdf import meshes
from grouser.physics.description.urdf.inertial import inertial_from_density

ONE = (1.0, 1.0, 1.0)


@pytest.fixture
def cube(tmp_path):
    """A cube with corners at 0 and 1, written with points inside its faces and edges as a CAD program would."""
    path = tmp_path / "cube.stl"
    trimesh.creation.box(bounds=[[0, 0, 0], [1, 1, 1]]).subdivide().export(path)
    return path


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".off", ".glb"])
def test_convex_hull_has_corners_only(tmp_path, suffix):
    path = tmp_path / f"cube{suffix}"
    trimesh.creation.box(bounds=[[0, 0, 0], [1, 1, 1]]).subdivide().export(path)
    hull = meshes.convex_hull(path, ONE).vertices
    assert {tuple(corner) for corner in hull.tolist()} == {(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)}


def test_convex_hull_scale_and_mirroring(cube):
    hull = meshes.convex_hull(cube, (2.0, -3.0, 0.5)).vertices
    assert {tuple(corner) for corner in hull.tolist()} == {(x, y, z) for x in (0, 2) for y in (0, -3) for z in (0, 0.5)}


def test_convex_hull_of_flat_meshes(tmp_path):
    path = tmp_path / "plate.stl"
    vertices = [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0.5, 0.5, 1]]
    trimesh.Trimesh(vertices, [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]).export(path)
    hull = meshes.convex_hull(path, ONE).vertices
    assert {tuple(corner) for corner in hull.tolist()} == {(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)}


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(*[st.floats(-1, 1, width=16)] * 3), min_size=3, max_size=12),
    st.sampled_from([(1.0, 1.0, 1.0), (-1.0, 2.0, 1e-3)]),
)
def test_convex_hull_contains_all_vertices(tmp_path_factory, points, scale):
    path = tmp_path_factory.mktemp("hull") / "points.obj"
    faces = [f"f {i + 1} {i + 2} {i + 3}" for i in range(len(points) - 2)]
    path.write_text("\n".join([*(f"v {x} {y} {z}" for x, y, z in points), *faces]))
    try:
        hull = meshes.convex_hull(path, scale).vertices
    except meshes.MeshError:
        return
    directions = np.random.default_rng(1).normal(size=(200, 3))
    used = np.array(trimesh.load(path, force="mesh", process=False).vertices) * scale
    assert np.all((directions @ used.T).max(axis=1) <= (directions @ hull.T).max(axis=1) + 1e-9)


@pytest.mark.parametrize(
    "content", [b"", b"solid x\nendsolid x\n", b"\x00" * 84, b"garbage", b"\x00" * 80 + b"\xff" * 4]
)
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".off", ".dae", ".glb", ".gltf"])
def test_invalid_mesh_files_are_refused(tmp_path, suffix, content):
    path = tmp_path / f"garbage{suffix}"
    path.write_bytes(content)
    with pytest.raises(meshes.MeshError, match="mesh"):
        meshes.convex_hull(path, ONE)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_damaged_mesh_files_are_read_or_refused(tmp_path_factory, data):
    suffix = data.draw(st.sampled_from([".stl", ".ply", ".obj", ".off", ".glb", ".dae"]))
    path = tmp_path_factory.mktemp("damaged") / f"cube{suffix}"
    trimesh.creation.box().export(path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    with contextlib.suppress(meshes.MeshError):
        assert np.isfinite(meshes.convex_hull(path, ONE).vertices).all()


@pytest.mark.parametrize(("meter", "edge"), [("1", 1.0), ("0.001", 0.001), ("2.54e-2", 0.0254)])
def test_unit_of_a_collada_file_counts_and_its_upward_axis_does_not(tmp_path, meter, edge):
    path = tmp_path / "box.dae"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    text = re.sub(r"<unit [^>]*/>", "", path.read_text())
    text = re.sub(r"<up_axis>.*</up_axis>", f'<unit name="u" meter="{meter}"/><up_axis>Y_UP</up_axis>', text)
    path.write_text(text)
    assert f'meter="{meter}"' in text
    vertices = meshes.convex_hull(path, ONE).vertices
    np.testing.assert_allclose(np.ptp(vertices, axis=0), edge * np.array([1.0, 2.0, 3.0]))
    assert meshes.mass_properties(path, ONE)[0] == pytest.approx(6.0 * edge**3)


def test_collada_file_with_an_invalid_unit_is_refused(tmp_path):
    path = tmp_path / "box.dae"
    trimesh.creation.box().export(path)
    for meter, words in (("0", "unit meter = 0; valid: above 0"), ("-1", "unit meter = -1"), ("x", "cannot be read")):
        path.write_text(re.sub(r"<asset>", f'<asset><unit meter="{meter}"/>', path.read_text(), count=1))
        with pytest.raises(meshes.MeshError, match=words):
            meshes.convex_hull(path, ONE)


def test_mesh_with_infinite_coordinates_is_refused(tmp_path):
    path = tmp_path / "nan.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n")
    with pytest.raises(meshes.MeshError):
        meshes.convex_hull(path, ONE)


def tensor(inertial):
    ixx, ixy, ixz, iyy, iyz, izz = inertial.inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def test_mass_properties_of_box_cylinder_and_sphere():
    inertial, _ = inertial_from_density([Collision("", Pose(), Box((1.0, 2.0, 3.0)))], 10.0)
    assert inertial.mass == pytest.approx(60.0)
    assert inertial.inertia == pytest.approx((65.0, 0, 0, 50.0, 0, 25.0))
    inertial, _ = inertial_from_density([Collision("", Pose(), Cylinder(0.5, 2.0))], 10.0)
    assert inertial.mass == pytest.approx(5.0 * math.pi)
    assert np.diag(tensor(inertial)) == pytest.approx(5.0 * math.pi * np.array([0.0625 + 1 / 3, 0.0625 + 1 / 3, 0.125]))
    inertial, _ = inertial_from_density([Collision("", Pose(), Sphere(0.5))], 10.0)
    assert inertial.mass == pytest.approx(10.0 * math.pi / 6.0)
    assert np.diag(tensor(inertial)) == pytest.approx([inertial.mass * 0.1] * 3)


def test_mass_properties_of_a_box_mesh(cube):
    """A rotated and scaled mesh of a box against the box itself."""
    turned = quaternion_from_rpy(0.4, -0.7, 1.1)
    for scale in ((2.0, 1.0, 0.5), (-2.0, 1.0, 0.5), (-2.0, -1.0, -0.5)):
        mesh = Mesh("", str(cube), scale)
        from_mesh, closed = inertial_from_density([Collision("", Pose((1.0, 2.0, 3.0), turned), mesh)], 100.0)
        box = Collision("", Pose(from_mesh.pose.position, turned), Box((2.0, 1.0, 0.5)))
        from_box, _ = inertial_from_density([box], 100.0)
        assert closed
        assert from_mesh.mass == pytest.approx(100.0)
        np.testing.assert_allclose(tensor(from_mesh), tensor(from_box), rtol=1e-9, atol=1e-9)


def test_mass_properties_of_a_box_in_two_halves():
    whole, _ = inertial_from_density([Collision("", Pose(), Box((2.0, 1.0, 1.0)))], 7.0)
    halves = [Collision("", Pose((x, 0.0, 0.0)), Box((1.0, 1.0, 1.0))) for x in (-0.5, 0.5)]
    parts, _ = inertial_from_density(halves, 7.0)
    assert parts.mass == pytest.approx(whole.mass)
    assert parts.inertia == pytest.approx(whole.inertia)
    assert parts.pose.position == pytest.approx((0.0, 0.0, 0.0))


def machine_with_mesh(tmp_path, filename):
    path = tmp_path / "robot.urdf"
    mesh = f'<geometry><mesh filename="{filename}"/></geometry>'
    path.write_text(
        f'<?xml version="1.0" encoding="utf-8"?>\n<robot name="r"><link name="a"><collision>{mesh}</collision></link>'
        '<grouser><density link="a" value="500"/></grouser></robot>'
    )
    return grouser.load_machine(path)


def test_density_of_a_link(cube):
    link = machine_with_mesh(cube.parent, "cube.stl").links[0]
    assert link.inertial.mass == pytest.approx(500.0)
    assert link.inertial.pose.position == pytest.approx((0.5, 0.5, 0.5))
    assert link.inertial.inertia == pytest.approx((500 / 6, 0, 0, 500 / 6, 0, 500 / 6))


def test_density_of_an_open_mesh_uses_its_hull_and_warns(tmp_path):
    box = trimesh.creation.box(bounds=[[0, 0, 0], [1, 1, 1]])
    box.update_faces(np.arange(len(box.faces)) > 1)
    box.export(tmp_path / "open.stl")
    machine = machine_with_mesh(tmp_path, "open.stl")
    assert machine.links[0].inertial.mass == pytest.approx(500.0)
    assert any("not closed" in warning for warning in machine.warnings)


def test_density_of_a_flat_mesh_is_refused(tmp_path):
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).export(tmp_path / "flat.stl")
    with pytest.raises(MachineError, match="encloses no volume"):
        machine_with_mesh(tmp_path, "flat.stl")


@pytest.mark.parametrize("form", ["relative", "absolute", "file", "package", "escaped"])
def test_mesh_file_names_package_file_and_relative(cube, form):
    folder = cube.parent
    (folder / "package.xml").write_text("<package><name>my_robot</name></package>")
    name = {
        "relative": "cube.stl",
        "absolute": str(cube),
        "file": f"file://{cube}",
        "package": "package://my_robot/cube.stl",
        "escaped": "package://my_robot/c%75be.stl",
    }[form]
    assert Path(machine_with_mesh(folder, name).links[0].collisions[0].geometry.path).samefile(cube)


@pytest.mark.parametrize("name", ["cube.stl", "file:cube.stl", "package://my_robot/cube.stl"])
def test_published_urdf_has_absolute_mesh_names(cube, tmp_path_factory, monkeypatch, name):
    """RViz and the viewer get the text without the path of its file."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    (cube.parent / "package.xml").write_text("<package><name>my_robot</name></package>")
    name = name.replace("file:", f"file://{cube.parent}/")
    machine = machine_with_mesh(cube.parent, name)
    assert machine.urdf.startswith("<robot")  # without XML declaration
    assert f'filename="{cube.as_uri()}"' in machine.urdf
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = parse_machine(machine.urdf, file=str(elsewhere / "robot_description"))
    assert again.links[0].inertial == machine.links[0].inertial
    np.testing.assert_array_equal(hull_of(again), hull_of(machine))


def hull_of(machine):
    return machine.links[0].collisions[0].geometry.hull
