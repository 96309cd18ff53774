"""Hulls of large and odd meshes, convex parts of hollow ones, and what is told of implausible shapes."""

import re
import sys
import types

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.contact import shapes as contact_shapes
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.urdf import convex_parts, meshes
from grouser.physics.description.urdf.hulls import MOST_VERTICES, TOLERANCE, bounded_hull

INERTIAL = '<inertial><mass value="{mass}"/><inertia ixx="{i}" iyy="{i}" izz="{i}"/></inertial>'


def hull_of(mesh, turn=None):
    if turn is not None:
        mesh = mesh.copy()
        mesh.apply_transform(turn)
    return mesh, bounded_hull(np.unique(mesh.vertices, axis=0), mesh.triangles)


def scaled(mesh, *factors):
    return mesh.copy().apply_scale(factors)


TURN = trimesh.transformations.euler_matrix(0.7, -0.4, 2.1)
SHAPES = {
    "ball": trimesh.creation.icosphere(subdivisions=5),
    "needle": scaled(trimesh.creation.icosphere(subdivisions=5), 7.0, 0.03, 0.02),
    "plate": scaled(trimesh.creation.icosphere(subdivisions=5), 2.0, 3.0, 1e-4),
    "cone": trimesh.creation.cone(0.7, 1.3, sections=5000),
    "prism": trimesh.creation.cylinder(0.6, 0.9, sections=3000),
    "torus": trimesh.creation.torus(1.0, 0.4, major_sections=120, minor_sections=90),
}


@pytest.mark.parametrize("name", SHAPES)
def test_simplified_hulls_keep_volume_and_extents_to_a_measured_error(name):
    mesh, hull = hull_of(SHAPES[name], TURN)
    whole, kept = mesh.convex_hull, trimesh.convex.convex_hull(hull.vertices)
    assert len(hull.vertices) <= MOST_VERTICES < len(whole.vertices)
    assert {tuple(v) for v in hull.vertices.tolist()} <= {tuple(v) for v in mesh.vertices.tolist()}
    np.testing.assert_array_equal(np.ptp(hull.vertices, axis=0), np.ptp(mesh.vertices, axis=0))
    # A ball loses 3.3 percent with so many points; a flattened one 4.6, as its poles count as flat faces.
    assert 0.95 < kept.volume / whole.volume <= 1.0 + 1e-9
    # The distance to the hull is the largest difference of the supports over all directions.
    directions = np.random.default_rng(4).normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    gap = ((whole.vertices @ directions.T).max(axis=0) - (hull.vertices @ directions.T).max(axis=0)).max()
    assert 0.3 * hull.error < gap <= hull.error * (1.0 + 1e-9)
    assert hull.error < 0.02 * np.ptp(mesh.vertices, axis=0).max()


def test_a_round_part_is_simplified_to_the_tolerance():
    mesh, hull = hull_of(SHAPES["cone"])
    assert len(hull.vertices) < MOST_VERTICES
    assert 0.0 < hull.error <= TOLERANCE * np.ptp(mesh.vertices, axis=0).max()


def test_flat_face_of_a_round_body_is_kept():
    """A ball with a small flat sole stands on it."""
    ball = trimesh.creation.icosphere(subdivisions=5)
    vertices = np.column_stack([ball.vertices[:, :2], np.maximum(ball.vertices[:, 2], -0.99)])
    mesh, hull = hull_of(trimesh.Trimesh(vertices, ball.faces), TURN)
    area = []
    for points in (mesh.vertices, hull.vertices):
        local = points @ TURN[:3, :3]
        area.append(ConvexHull(local[np.abs(local[:, 2] + 0.99) < 1e-9, :2]).volume)
    assert area[1] > 0.97 * area[0] > 0.0


def test_flat_outlines_are_simplified():
    rim = np.array([[np.cos(a), 2.0 * np.sin(a), 0.0] for a in np.linspace(0.0, 6.28, 3000)])
    hull = bounded_hull(rim @ TURN[:3, :3].T)
    assert 20 < len(hull.vertices) <= MOST_VERTICES
    assert 0.0 < hull.error < 1e-3 * 4.0


def test_small_hulls_are_exact():
    mesh, hull = hull_of(trimesh.creation.icosphere(subdivisions=2).subdivide(), TURN)
    assert hull.error == 0.0
    assert {tuple(v) for v in hull.vertices.tolist()} == {tuple(v) for v in mesh.convex_hull.vertices.tolist()}


def test_hull_of_very_many_points_is_not_found_exactly_first(monkeypatch):
    """The path of more points than an exact hull may have, with a smaller limit."""
    monkeypatch.setattr("grouser.physics.description.urdf.hulls._EXACT_POINTS", 1000)
    monkeypatch.setattr("grouser.physics.description.urdf.hulls._MOST_CANDIDATES", 2000)
    points = np.random.default_rng(8).uniform(-1.0, 1.0, size=(30000, 3))
    box = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    hull = bounded_hull(np.concatenate([points, 1.25 * box]))
    assert {tuple(v) for v in hull.vertices.tolist()} == {tuple(v) for v in (1.25 * box).tolist()}
    assert hull.error <= 1e-12


@pytest.mark.parametrize(
    "points", [np.zeros((1, 3)), np.array([[0.0, 0, 0], [1, 2, 3]]), np.outer(np.linspace(0, 1, 500), [1, 2, 3])]
)
def test_points_and_lines_have_their_ends(points):
    hull = bounded_hull(points)
    assert hull.vertices.tolist() == points[np.unique([0, len(points) - 1])].tolist()


def load(tmp_path, body, extension="", base=None):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="trunk">{body}</link><grouser>{extension}</grouser></robot>')
    return grouser.load_machine(path, base=base)


def shape(kind, file, more=""):
    return f'<{kind}><geometry><mesh filename="{file}" {more}/></geometry></{kind}>'


def test_mesh_of_several_links_is_told_once(tmp_path):
    trimesh.creation.icosphere(subdivisions=5, radius=0.4).export(tmp_path / "ball.stl")
    parts = ""
    for name in ("left", "right"):
        parts += f'<link name="{name}">{shape("collision", "ball.stl")}</link><joint name="{name}" type="fixed">'
        parts += f'<parent link="trunk"/><child link="{name}"/></joint>'
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="trunk">{INERTIAL.format(mass=3, i=0.1)}</link>{parts}</robot>')
    (warning,) = grouser.load_machine(path).warnings
    assert warning.startswith("link 'left': the hull of mesh 'ball.stl'")
    assert warning.endswith("(likewise link 'right')")


@pytest.mark.parametrize("suffix", ["stl", "ply", "ascii.stl"])
def test_machine_with_a_large_mesh_is_told_and_simulated(tmp_path, suffix):
    kind = "stl_ascii" if suffix == "ascii.stl" else suffix
    trimesh.creation.icosphere(subdivisions=5, radius=0.4).export(tmp_path / f"ball.{suffix}", file_type=kind)
    machine = load(tmp_path, INERTIAL.format(mass=3, i=0.1) + shape("collision", f"ball.{suffix}"))
    (warning,) = machine.warnings
    assert "link 'trunk'" in warning and f"ball.{suffix}" in warning and "simplified" in warning
    built = contact_shapes._solid(machine.links[0].collisions[0].geometry, "")
    assert len(built.vertices) <= MOST_VERTICES


def test_hull_that_was_not_simplified_is_refused_by_name(tmp_path):
    machine = load(tmp_path, "")
    points = np.random.default_rng(3).normal(size=(300, 3))
    with pytest.raises(MachineError, match="300 vertices.*valid: 1 to"):
        contact_shapes._solid(Mesh("own.stl", "own.stl", hull=points), machine.links[0].name)


@pytest.mark.parametrize("content", ["", "v 0 0 0\n", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", None])
def test_unusable_collision_mesh_names_link_and_file(tmp_path, content):
    if content is not None:
        (tmp_path / "odd.obj").write_text(content)
    with pytest.raises(MachineError, match=r"link 'trunk'.*odd\.obj.*"):
        load(tmp_path, shape("collision", "odd.obj"))


def test_missing_visual_meshes_are_told_once(tmp_path):
    visuals = "".join(shape("visual", f"skin{number}.dae") for number in range(7))
    machine = load(tmp_path, visuals + shape("visual", "package://unknown_robot/a.stl"), base="fixed")
    (warning,) = machine.warnings
    assert re.search(
        r"\.urdf:\d+: <mesh>: visual mesh 'skin0\.dae' of link 'trunk' cannot be used and is not shown", warning
    )
    assert f"mesh not found: {tmp_path / 'skin0.dae'}" in warning
    assert "likewise visual mesh 'skin1.dae' of link 'trunk'," in warning and "and 2 more" in warning
    assert machine.links[0].visuals == ()


@pytest.mark.parametrize(
    ("mass", "inertia", "scale", "told"),
    [
        (4.0, 0.02, "", True),
        (4.0, 0.02, 'scale="0.001 0.001 0.001"', False),
        (2e6, 9e8, "", False),
        (0.0, 0.0, "", True),
    ],
)
def test_mesh_in_millimetres_is_told_with_the_remedy(tmp_path, mass, inertia, scale, told):
    trimesh.creation.box((250.0, 120.0, 80.0)).export(tmp_path / "arm.stl")
    body = INERTIAL.format(mass=mass, i=inertia) + shape("collision", "arm.stl", scale)
    found = [text for text in load(tmp_path, body, base="fixed").warnings if "millimetres" in text]
    assert len(found) == told
    assert all("link 'trunk'" in text and 'scale="0.001 0.001 0.001"' in text for text in found)


def test_floating_machine_without_collision_shape_is_told(tmp_path):
    body = INERTIAL.format(mass=2, i=1)
    assert any("touches nothing" in text for text in load(tmp_path, body).warnings)
    assert load(tmp_path, body, base="fixed").warnings == ()
    ball = '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    assert load(tmp_path, body + ball).warnings == ()


@pytest.mark.parametrize(("radius", "told"), [(0.31, False), (0.2, False), (31.0, True), (0.0031, True)])
@pytest.mark.parametrize("kind", ["cylinder", "mesh"])
def test_wheel_of_another_radius_than_its_shape_is_told(tmp_path, kind, radius, told):
    body = INERTIAL.format(mass=2, i=1)
    trimesh.creation.cylinder(0.3, 0.1, sections=30).export(tmp_path / "wheel.stl")
    geometry = '<mesh filename="wheel.stl"/>' if kind == "mesh" else '<cylinder radius="0.3" length="0.1"/>'
    rim = f'<collision><origin rpy="1.5707963 0 0"/><geometry>{geometry}</geometry></collision>'
    path = tmp_path / "cart.urdf"
    path.write_text(
        f'<robot name="cart"><link name="frame">{body}</link><link name="wheel">{body}{rim}</link>'
        '<joint name="hub" type="continuous"><parent link="frame"/><child link="wheel"/><axis xyz="0 1 0"/></joint>'
        f'<grouser><wheel link="wheel" radius="{radius}" width="0.1"/></grouser></robot>'
    )
    found = [text for text in grouser.load_machine(path).warnings if "wheel 'wheel'" in text]
    assert len(found) == told


@pytest.mark.parametrize(("radius", "told"), [(0.3, False), (0.02, False), (300.0, True), (0.0003, True)])
def test_wheel_without_shape_of_an_absurd_radius_is_told(tmp_path, radius, told):
    path = tmp_path / "cart.urdf"
    path.write_text(
        f'<robot name="cart"><link name="frame">{INERTIAL.format(mass=2, i=1)}</link>'
        f'<link name="wheel">{INERTIAL.format(mass=2, i=1)}</link>'
        '<joint name="hub" type="continuous"><parent link="frame"/><child link="wheel"/><axis xyz="0 1 0"/></joint>'
        f'<grouser><wheel link="wheel" radius="{radius}" width="{0.5 * radius}"/></grouser></robot>'
    )
    found = [text for text in grouser.load_machine(path).warnings if "wheel 'wheel': its radius is" in text]
    assert len(found) == told


def test_small_part_in_millimetres_is_told(tmp_path):
    trimesh.creation.box((15.0, 9.0, 4.0)).export(tmp_path / "finger.stl")
    body = INERTIAL.format(mass=0.02, i=1e-6) + shape("collision", "finger.stl")
    assert any("finger.stl' is 15 m large" in text for text in load(tmp_path, body, base="fixed").warnings)


@pytest.fixture
def ring(tmp_path):
    trimesh.creation.annulus(0.5, 1.0, 0.4, sections=24).export(tmp_path / "ring.stl")
    return tmp_path / "ring.stl"


@pytest.fixture
def halves(monkeypatch, tmp_path):
    """Stands for coacd, which is optional: cuts a mesh at x = 0. Counts its calls."""
    calls = []

    def run(mesh, **_settings):
        calls.append(len(mesh.faces))
        return [(mesh.vertices[side * mesh.vertices[:, 0] >= 0.0], None) for side in (-1.0, 1.0)]

    def make_mesh(vertices, faces):
        return types.SimpleNamespace(vertices=vertices, faces=faces)

    library = types.SimpleNamespace(run_coacd=run, Mesh=make_mesh, set_log_level=lambda _level: None)
    monkeypatch.setitem(sys.modules, "coacd", library)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    convex_parts._parts.cache_clear()
    yield calls
    convex_parts._parts.cache_clear()


ASKED = '<contact link="trunk" decomposition="convex"/>'


def test_convex_parts_replace_the_hull_and_are_kept_on_disk(ring, halves, monkeypatch):
    body = shape("collision", "ring.stl") + '<collision><geometry><sphere radius="2"/></geometry></collision>'
    density = '<density link="trunk" value="100"/>'
    whole = load(ring.parent, body, density)
    parts = load(ring.parent, body, ASKED + density)
    *hulls, _ = (collision.geometry.hull for collision in parts.links[0].collisions[:2]), None
    first, second = hulls[0]
    assert first[:, 0].max() <= 1e-12 and second[:, 0].min() >= -1e-12
    assert len(parts.links[0].collisions) == 3
    assert parts.links[0].inertial == whole.links[0].inertial
    # Another process finds the file, also without the library; a damaged file is made again.
    convex_parts._parts.cache_clear()
    monkeypatch.setitem(sys.modules, "coacd", None)
    again = load(ring.parent, body, ASKED)
    np.testing.assert_array_equal(again.links[0].collisions[0].geometry.hull, first)
    assert len(halves) == 1
    (stored,) = (ring.parent / "cache" / "convex-parts").iterdir()
    stored.write_bytes(stored.read_bytes()[:50])
    convex_parts._parts.cache_clear()
    with pytest.raises(MachineError, match=r"ring\.stl.*needs the package coacd: pip install"):
        load(ring.parent, body, ASKED)


def test_decomposition_of_a_link_without_mesh_is_refused(tmp_path):
    with pytest.raises(MachineError, match="decomposition is given, and link 'trunk' has no collision mesh"):
        load(tmp_path, '<collision><geometry><sphere radius="2"/></geometry></collision>', ASKED)


def test_convex_parts_of_a_ring(ring, monkeypatch, tmp_path):
    pytest.importorskip("coacd", reason="coacd is optional")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    hulls = convex_parts.convex_parts(ring, (1.0, 1.0, 2.0))
    volume = sum(trimesh.convex.convex_hull(hull.vertices).volume for hull in hulls)
    mesh = trimesh.load(ring)
    assert len(hulls) > 3
    assert volume == pytest.approx(2.0 * mesh.volume, rel=0.1)
    assert meshes.convex_hull(ring, (1.0, 1.0, 2.0)).error == 0.0
