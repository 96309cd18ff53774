"""Profile of a wheel from its mesh: radius by angle about the axis and position along it."""

import math
from pathlib import Path

import numpy as np

from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.urdf.meshes import triangles

# Steps of the profile about the axis and along it.
ANGLES, PLACES = 1440, 24
# Largest edge of a subdivided mesh, as a share of a step.
_FINENESS = 0.7


def mark_of(axis: Vector3) -> np.ndarray:
    """Returns the reference direction of angles about `axis`: the least parallel frame axis, projected normal to it."""
    along = np.array(axis)
    mark = np.eye(3)[np.argmin(np.abs(along))]
    mark = mark - along * (along @ mark)
    return mark / np.linalg.norm(mark)


def mesh_profile(link: Link, position: Vector3, axis: Vector3, width: float) -> np.ndarray | None:
    """Returns the largest radius at each step about the axis and along it [m], shape (ANGLES, PLACES).

    Args:
        link: its collision meshes are the wheel.
        position: centre of the wheel in the link frame [m].
        axis: unit axis of the wheel in the link frame.
        width: of the wheel [m]; parts of the meshes beyond it are ignored.

    Returns:
        None if the link has no collision mesh, or none within the width.

    Raises:
        MeshError: a mesh cannot be read.
    """
    import trimesh

    mark = mark_of(axis)
    across = np.cross(axis, mark)
    profile = np.zeros((ANGLES, PLACES))
    # The convex parts of a mesh have one file.
    meshes = dict.fromkeys(
        (collision.geometry.path, collision.geometry.scale, collision.pose)
        for collision in link.collisions
        if isinstance(collision.geometry, Mesh)
    )
    for path, scale, pose in meshes:
        vertices, faces = triangles(Path(path), scale)
        placed = vertices @ matrix(pose.quaternion).T + pose.position - np.array(position)
        radius = float(np.linalg.norm(np.cross(placed, axis), axis=1).max())
        step = _FINENESS * min(2.0 * math.pi * radius / ANGLES, width / PLACES)
        points, _ = trimesh.remesh.subdivide_to_size(placed, faces, max_edge=step, max_iter=30)
        along = np.floor((points @ np.array(axis) / width + 0.5) * PLACES).astype(int)
        inside = (along >= 0) & (along < PLACES)
        x, y = points[inside] @ mark, points[inside] @ across
        turn = np.floor(np.arctan2(y, x) / (2.0 * math.pi) * ANGLES).astype(int) % ANGLES
        np.maximum.at(profile, (turn, along[inside]), np.hypot(x, y))
    if not profile.any():
        return None
    profile.flags.writeable = False
    return profile
