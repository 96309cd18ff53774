"""Meshes keep the colours of their files."""

import io

import numpy as np
import pytest
import trimesh
from PIL import Image

from grouser.nodes.viewer.painted_mesh import painted_glb
from grouser.physics.description.urdf.meshes import painted

SRGB = np.array([0, 10, 128], dtype=np.uint8)
# IEC 61966-2-1: 10/255 is on the straight part, 128/255 on the curve.
LINEAR = [0, round(255 * (10 / 255 / 12.92)), round(255 * ((128 / 255 + 0.055) / 1.055) ** 2.4)]


def shown(file, scale=(1.0, 1.0, 1.0)):
    """What a browser gets of a file: its only mesh."""
    scene = trimesh.load(io.BytesIO(painted_glb(painted(file, scale), file)), file_type="glb", process=False)
    (node,) = scene.dump()
    return node


def test_colours_of_vertices_are_shown_as_in_the_file(tmp_path):
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    box.visual.vertex_colors = np.tile([*SRGB, 255], (len(box.vertices), 1))
    box.export(file := tmp_path / "box.ply")
    mesh = shown(file, (2.0, -1.0, 0.5))
    assert mesh.visual.vertex_colors[0].tolist() == [*LINEAR, 255]
    assert mesh.extents == pytest.approx([2.0, 1.0, 0.5])
    assert shown(file).visual.vertex_colors[0].tolist() == [*LINEAR, 255]  # what was read is not changed


def test_pictures_of_a_mesh_are_shown(tmp_path):
    file = tmp_path / "sheet.obj"
    Image.new("RGB", (4, 4), tuple(int(one) for one in SRGB)).save(tmp_path / "sheet.png")
    (tmp_path / "sheet.mtl").write_text("newmtl paper\nKd 1 1 1\nmap_Kd sheet.png\n")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
    file.write_text(f"mtllib sheet.mtl\nusemtl paper\n{corners}f 1/1 2/2 3/3\n")
    material = shown(file).visual.material
    assert np.asarray(material.baseColorTexture.convert("RGB"))[0, 0].tolist() == SRGB.tolist()
    assert material.metallicFactor == 0.0


def test_a_mesh_without_colours_has_none(tmp_path):
    trimesh.creation.box((1.0, 1.0, 1.0)).export(file := tmp_path / "box.stl")
    assert painted(file, (1.0, 1.0, 1.0)) is None
    (damaged := tmp_path / "damaged.dae").write_text("<COLLADA")
    assert painted(damaged, (1.0, 1.0, 1.0)) is None
