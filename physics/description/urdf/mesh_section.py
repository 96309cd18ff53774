"""Section of a link's collision meshes by a plane, as lines."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.rotation import matrix
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.urdf.meshes import triangles


class SectionLine(NamedTuple):
    """A line of a section.

    Attributes:
        points: in the link's frame [m], (points, 3).
        closed: whether its last point is followed by its first.
    """

    points: np.ndarray
    closed: bool


def mesh_section(link: Link, origin: np.ndarray, normal: np.ndarray) -> list[SectionLine]:
    """Lines in which a plane cuts the collision meshes of a link; none without meshes.

    Args:
        link: of the meshes.
        origin, normal: a point of the plane [m], and its unit normal, in the link's frame.

    Raises:
        MeshError: a mesh cannot be read.
    """
    # The convex parts of a mesh have one file.
    meshes = dict.fromkeys(
        (one.geometry.path, one.geometry.scale, one.pose)
        for one in link.collisions
        if isinstance(one.geometry, Mesh) and one.geometry.path
    )
    lines = []
    for path, scale, pose in meshes:
        vertices, faces = triangles(Path(path), scale)
        lines += _lines_of(vertices @ matrix(pose.quaternion).T + pose.position, faces, origin, normal)
    return lines


def _lines_of(vertices: np.ndarray, faces: np.ndarray, origin: np.ndarray, normal: np.ndarray) -> list[SectionLine]:
    """Lines of one mesh: each triangle that the plane crosses joins two of its edges."""
    distance = (vertices - origin) @ normal
    beyond = distance >= 0.0
    joined: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for face in faces[beyond[faces].any(axis=1) & ~beyond[faces].all(axis=1)].tolist():
        pairs = zip(face, face[1:] + face[:1], strict=True)
        one, other = ((min(pair), max(pair)) for pair in pairs if beyond[pair[0]] != beyond[pair[1]])
        joined.setdefault(one, []).append(other)
        joined.setdefault(other, []).append(one)
    lines = []
    # from the ends first: what is left then are loops
    for start in sorted(joined, key=lambda edge: len(joined[edge])):
        if joined[start]:
            chain = _chain(start, joined)
            closed = len(chain) > 2 and chain[0] == chain[-1]
            low, high = np.array(chain[:-1] if closed else chain).T
            share = (distance[low] / (distance[low] - distance[high]))[:, np.newaxis]
            lines.append(SectionLine(vertices[low] + share * (vertices[high] - vertices[low]), closed))
    return lines


def _chain(start: tuple[int, int], joined: dict[tuple[int, int], list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Edges one after the other from one on; takes them out of those that are joined."""
    chain = [start]
    while joined[chain[-1]]:
        after = joined[chain[-1]].pop()
        joined[after].remove(chain[-1])
        chain.append(after)
    return chain
