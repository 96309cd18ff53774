"""Profiles of buckets from collision meshes: sheets and walls, against the corners that they are made of."""

import math
import re

import numpy as np
import pytest
import trimesh
from shipped import shipped_machine

from grouser import MachineError
from grouser.physics.description import parse_machine

EXCAVATOR = shipped_machine("excavator").shovels[0]
WALL = 0.015


def outwards(corners):
    """Corners of a polyline moved out by the thickness of a wall, mitred; the ends along their own pieces' normals."""
    along = np.diff(corners, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, np.newaxis]
    normals = np.column_stack([-along[:, 1], along[:, 0]])
    mean = np.vstack([normals[:1], normals[1:] + normals[:-1], normals[-1:]])
    near = np.vstack([normals, normals[-1:]])
    return corners + WALL * mean / (mean * near).sum(axis=1)[:, np.newaxis]


def extruded(outline, closed, half=0.22):
    """A sheet along a line of (place, depth), or the wall inside a closed one, as wide as a bucket, without caps."""
    count = len(outline)
    x, z = outline[:, 1], outline[:, 0]
    vertices = np.vstack([np.column_stack([-x, np.full(count, side), z]) for side in (-half, half)])
    pieces = range(count if closed else count - 1)
    quads = [(k, (k + 1) % count, (k + 1) % count + count, k + count) for k in pieces]
    return trimesh.Trimesh(vertices, [tri for a, b, c, d in quads for tri in ((a, b, c), (a, c, d))])


def bucket_of(tmp_path, mesh, opening=EXCAVATOR.opening, more='side_plates="true"', placed=""):
    """The shovel of a link whose collision shape is a mesh, with its plate along z."""
    path = tmp_path / "bucket.stl"
    mesh.export(path)
    return parse_machine(
        f"""<robot name="r"><link name="base">
        <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision>{placed}<geometry><mesh filename="{path}"/></geometry></collision></link>
        <grouser><shovel name="bucket" link="base" cutting_edge="0 -0.22 0  0 0.22 0"
          top_edge="0 -0.22 {opening}  0 0.22 {opening}" cutting_direction="0 0 -1" {more}/></grouser></robot>""",
        "r.urdf",
    ).shovels[0]


def corners_of(shovel):
    return [*sum(shovel.profile, ())]


INNER = np.array(EXCAVATOR.profile)


@pytest.mark.parametrize("turned", [False, True])
def test_section_of_a_sheet_is_the_profile_of_the_excavators_bucket(tmp_path, turned):
    found = bucket_of(tmp_path, extruded(INNER[::-1] if turned else INNER, closed=False))
    assert corners_of(found) == pytest.approx([*INNER.ravel()], abs=1e-6)  # of single precision in the file


def test_inner_side_of_a_wall_counts(tmp_path):
    fine = extruded(LOOP, closed=True).subdivide().subdivide()  # points on straight lines are left out again
    assert corners_of(bucket_of(tmp_path, fine)) == pytest.approx([*INNER.ravel()], abs=1e-6)


def test_a_round_back_is_within_a_millimetre_of_its_area(tmp_path):
    angle = np.linspace(0.0, math.pi, 181)
    half_circle = np.column_stack([0.2 - 0.2 * np.cos(angle), 0.2 * np.sin(angle)])
    found = np.array(bucket_of(tmp_path, extruded(half_circle, closed=False), opening=0.4).profile)
    assert len(found) < 30
    place, depth = found.T
    area = 0.5 * abs(place @ np.roll(depth, -1) - depth @ np.roll(place, -1))
    assert 0.0 < 0.5 * math.pi * 0.2**2 - area < 1e-3 * math.pi * 0.2


def test_the_pose_of_the_mesh_counts(tmp_path):
    mesh = extruded(INNER, closed=False)
    mesh.apply_transform(trimesh.transformations.rotation_matrix(-0.5, (0, 0, 1)))
    mesh.apply_translation((0.0, 0.0, -0.3))
    found = bucket_of(tmp_path, mesh, placed='<origin xyz="0 0 0.3" rpy="0 0 0.5"/>')
    assert corners_of(found) == pytest.approx([*INNER.ravel()], abs=1e-6)


def test_blades_have_no_profile_of_their_mesh(tmp_path):
    assert bucket_of(tmp_path, extruded(INNER, closed=False), more="").profile == ()


BOX = trimesh.creation.box((0.1, 0.44, EXCAVATOR.opening)).apply_translation((-0.05, 0.0, 0.5 * EXCAVATOR.opening))
BESIDE = extruded(INNER + 1.0, closed=False)
SHORT = INNER[:-1]
LOOP = np.vstack([INNER, outwards(INNER)[::-1]])
LACKING = math.dist(SHORT[-1], INNER[-1])
BAD = {
    "two pieces": (trimesh.util.concatenate([extruded(INNER, closed=False), BESIDE]), "has 2 lines, not one"),
    "open before the top edge": (extruded(SHORT, closed=False), f"ends {LACKING:.4g} m from top_edge"),
    "a wall elsewhere": (extruded(LOOP + 0.1, closed=True), "passes 0.1.* m from cutting_edge"),
    "solid": (BOX, "solid up to the plate"),
}


@pytest.mark.parametrize("mesh, words", BAD.values(), ids=BAD)
def test_sections_that_are_no_profile_are_refused(tmp_path, mesh, words):
    with pytest.raises(
        MachineError, match=re.compile(f"collision mesh of 'base'.*{words}.*give the profile", re.DOTALL)
    ):
        bucket_of(tmp_path, mesh)
