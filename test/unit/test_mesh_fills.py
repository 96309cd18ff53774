"""Fills of grains inside of closed meshes."""

import numpy as np
import pytest
import trimesh

import grouser
from grouser.physics.description.world.reader import parse_world
from grouser.physics.granular.filling import fill_volume
from grouser.physics.granular.mesh_volume import measure_depths

WORLD = """
granular:
  materials: {gravel: {youngs_modulus: 1.0e6}}
  fills:
    pile: {material: gravel, radius: 0.02, MESH}
"""


def closed(mesh: trimesh.Trimesh) -> grouser.ClosedMesh:
    return grouser.ClosedMesh(np.array(mesh.vertices), np.array(mesh.faces))


def angle() -> trimesh.Trimesh:
    """A prism with the section of an L: a cube of 1 m without the quarter x, y > 0.5."""
    outline = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (0.5, 0.5), (0.5, 1.0), (0.0, 1.0)]
    vertices = [(x, y, z) for z in (0.0, 1.0) for x, y in outline]
    ends = [(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = [(a, c, b) for a, b, c in ends] + [(a + 6, b + 6, c + 6) for a, b, c in ends]
    for a in range(6):
        b = (a + 1) % 6
        faces += [(a, b, b + 6), (a, b + 6, a + 6)]
    return trimesh.Trimesh(vertices, faces, process=False)


@pytest.mark.parametrize("inverted", [False, True])
def test_a_cuboid_as_a_mesh_is_filled_as_a_box(inverted):
    sides = (0.5, 0.4, 0.3)
    mesh = trimesh.creation.box(sides)
    if inverted:
        mesh.invert()
    pose = grouser.Pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8))
    fills = [
        grouser.GrainFill("pile", "gravel", shape, pose, (0.02, 0.025)) for shape in (grouser.Box(sides), closed(mesh))
    ]
    (box, widths), (inside, radii) = (fill_volume(fill, 2500.0) for fill in fills)
    assert np.array_equal(inside, box)
    assert np.array_equal(radii, widths)


def test_depths_in_a_hollow_mesh():
    points = np.random.default_rng(1).uniform(-0.2, 1.2, (500, 3))
    depth = np.zeros(500)
    measure_depths(closed(angle()).triangles, points, depth)
    in_cube = np.minimum(points, 1.0 - points).min(axis=1)
    from_quarter = np.linalg.norm(np.maximum(0.5 - points[:, :2], 0.0), axis=1)
    expected = np.minimum(in_cube, from_quarter)
    inside = expected > 0.0
    assert np.array_equal(depth > 0.0, inside)
    assert depth[inside] == pytest.approx(expected[inside], abs=1e-12)


def test_world_files_have_meshes_of_other_units(tmp_path):
    mesh = angle()
    mesh.apply_scale(1000.0)
    mesh.export(tmp_path / "angle.stl")
    world = parse_world(WORLD.replace("MESH", "mesh: {file: angle.stl, scale: 0.001}"), str(tmp_path / "w.yaml"))
    assert world.files == (str(tmp_path / "angle.stl"),)
    places, radii = fill_volume(world.granular.fills[0], 2500.0)
    # on the lattice of the cube, 22 places wide, the quarter begins after the first half
    assert len(places) == 22 * (22**2 - 11**2)
    assert (np.minimum(places, 1.0 - places).min(axis=1) >= radii).all()
    assert (np.linalg.norm(np.maximum(0.5 - places[:, :2], 0.0), axis=1) >= radii).all()


def test_bad_meshes_are_refused(tmp_path):
    mesh = angle()
    open_mesh = trimesh.Trimesh(mesh.vertices, mesh.faces[1:])
    open_mesh.export(tmp_path / "open.stl")
    mesh.apply_scale(1000.0)
    mesh.export(tmp_path / "large.stl")
    (tmp_path / "text.stl").write_text("solid\n")
    wrong = {
        "mesh: {file: open.stl}": "open edges of a mesh is 3; valid: none",
        "mesh: {file: absent.stl}": "mesh not found",
        "mesh: {file: text.stl}": "text.stl",
        "mesh: {file: open.step}": "format '.step' is not read",
        "mesh: {scale: 2.0}": "file",
        "mesh: {file: large.stl, scale: 0.0}": "scale",
        "mesh: {file: large.stl}, box: [1, 1, 1]": "2 volumes",
    }
    for text, message in wrong.items():
        with pytest.raises(grouser.MachineError, match=message) as caught:
            parse_world(WORLD.replace("MESH", text), str(tmp_path / "w.yaml"))
        assert caught.value.line == 5
    world = parse_world(WORLD.replace("MESH", "mesh: {file: large.stl}"), str(tmp_path / "w.yaml"))
    with pytest.raises(grouser.ParameterError, match=r"longest side of fill 'pile' \[m\] = 1000"):
        fill_volume(world.granular.fills[0], 2500.0)
    vertices, faces = np.array(mesh.vertices), np.array(mesh.faces)
    for one, other in (([], faces), (vertices[:5], faces), (vertices * np.nan, faces), (vertices, faces[:, :2])):
        with pytest.raises(grouser.ParameterError, match="of a mesh"):
            grouser.ClosedMesh(one, other)
