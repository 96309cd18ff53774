"""Shapes of links and obstacles in the browser."""

from pathlib import Path
from typing import Any

import numpy as np
import trimesh
import viser
from PIL import Image

from grouser.nodes.viewer.painted_mesh import painted_glb
from grouser.physics.description.data.mechanism import GREY
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.urdf.meshes import painted, triangles

Colour = tuple[float, float, float, float]  # red, green, blue, alpha; 0 to 1
POINT_RADIUS = 0.01  # [m], of a point without a radius
_ROUNDNESS = 24  # corners of a capsule's circles


def add_shape(
    scene: viser.SceneApi, name: str, geometry: Geometry, pose: Pose, rgba: Colour | None
) -> tuple[viser.SceneNodeHandle, np.ndarray]:
    """Draws a shape.

    Args:
        scene: where it is drawn.
        name: of its node.
        geometry: the shape.
        pose: in the frame of the node above it.
        rgba: its colour; None: that of the file of a mesh, else grey.

    Returns:
        Its handle, and the lowest and highest coordinates of its points in its frame [m], shape (2, 3).

    Raises:
        MeshError: its file contains no mesh.
    """
    if rgba is None and isinstance(geometry, Mesh) and (scenery := painted(Path(geometry.path), geometry.scale)):
        glb, corners = painted_glb(scenery, Path(geometry.path)), scenery.bounds
        return scene.add_glb(name, glb, wxyz=wxyz(pose), position=pose.position), corners
    red, green, blue, alpha = rgba or GREY
    look: dict[str, Any] = {
        "color": tuple(round(255 * channel) for channel in (red, green, blue)),
        "opacity": None if alpha >= 1.0 else alpha,
        "wxyz": wxyz(pose),
        "position": pose.position,
    }
    match geometry:
        case Box(size):
            return scene.add_box(name, dimensions=size, **look), _symmetric(0.5 * np.array(size))
        case Cylinder(radius, length):
            corners = _symmetric(np.array([radius, radius, 0.5 * length]))
            return scene.add_cylinder(name, radius=radius, height=length, **look), corners
        case Sphere(radius):
            return scene.add_icosphere(name, radius=radius, **look), _symmetric(np.full(3, radius))
        case Capsule(radius, length):
            body = trimesh.creation.capsule(length, radius, (_ROUNDNESS, _ROUNDNESS))
            body.apply_translation(-body.bounds.mean(axis=0))  # in some versions of trimesh it begins at the origin
            return scene.add_mesh_simple(name, body.vertices, body.faces, **look), body.bounds
        case PointSet(points, radius):
            ball = trimesh.creation.icosphere(subdivisions=2, radius=radius or POINT_RADIUS)
            look["batched_colors"] = look.pop("color")
            turns = np.tile((1.0, 0.0, 0.0, 0.0), (len(points), 1))
            handle = scene.add_batched_meshes_simple(name, ball.vertices, ball.faces, turns, points, **look)
            return handle, _corners(np.asarray(points)) + _symmetric(np.full(3, radius))
        case Mesh():
            vertices, faces = _surface(geometry)
            surface = scene.add_mesh_simple(name, vertices, faces, flat_shading=True, side="double", **look)
            return surface, _corners(vertices)


def textured_mesh(vertices: np.ndarray, faces: np.ndarray, places: np.ndarray, picture: np.ndarray) -> trimesh.Trimesh:
    """A dull surface with a picture on it.

    Args:
        vertices: [m], shape (n, 3).
        faces: triangles, shape (m, 3).
        places: of the vertices in the picture, shape (n, 2): to the right and up, a side is 1; it repeats beyond.
        picture: red, green and blue from 0 to 255, shape (rows, columns, 3), the upper row first.
    """
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=Image.fromarray(picture), metallicFactor=0.0, roughnessFactor=1.0
    )
    visual = trimesh.visual.TextureVisuals(uv=places, material=material)
    return trimesh.Trimesh(vertices, faces, visual=visual, process=False)


def _symmetric(half: np.ndarray) -> np.ndarray:
    """Corners of a box about the origin."""
    return np.stack([-half, half])


def _corners(points: np.ndarray) -> np.ndarray:
    """Lowest and highest coordinates of points."""
    return np.stack([points.min(axis=0), points.max(axis=0)])


def wxyz(pose: Pose) -> tuple[float, float, float, float]:
    """Orientation of a pose in viser's order."""
    x, y, z, w = pose.quaternion
    return (w, x, y, z)


def _surface(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m] and triangles of a mesh in its shape's frame: the hull of a collision, the file of a visual."""
    if len(mesh.hull):
        hull = trimesh.convex.convex_hull(mesh.hull)
        return hull.vertices, hull.faces
    return triangles(Path(mesh.path), mesh.scale)
