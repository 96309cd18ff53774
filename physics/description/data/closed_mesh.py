"""Volumes that closed triangle meshes bound."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import VALUE_MAX, require_type
from grouser.physics.base.errors import ParameterError

_VERTICES, _FACES = f"an array (n, 3) of numbers up to {VALUE_MAX:g} m", "an array (m, 3) of numbers of vertices"


@dataclass(frozen=True, eq=False)
class ClosedMesh:
    """The inside of a triangle mesh without holes; which way its faces are wound does not matter.

    Attributes:
        vertices: [m], (vertices, 3).
        faces: numbers of the vertices of each triangle, (faces, 3), neighbours wound alike.
    """

    vertices: np.ndarray
    faces: np.ndarray

    def __post_init__(self):
        vertices = require_type("vertices of a mesh", self.vertices, np.ndarray, _VERTICES)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or vertices.dtype.kind != "f":
            raise ParameterError("vertices of a mesh", f"an array of {vertices.shape} and {vertices.dtype}", _VERTICES)
        if not (np.abs(vertices) <= VALUE_MAX).all():
            raise ParameterError("vertices of a mesh", float(np.abs(vertices).max()), _VERTICES)
        faces = require_type("faces of a mesh", self.faces, np.ndarray, _FACES)
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
            raise ParameterError("faces of a mesh", f"an array of {faces.shape} and {faces.dtype}", _FACES)
        if not faces.size or faces.min() < 0 or faces.max() >= len(vertices):
            raise ParameterError("faces of a mesh", f"{len(faces)} faces", f"one at least, of {len(vertices)} vertices")
        if unmatched := _unmatched_edges(faces):
            valid = "none: each edge belongs to two faces that are wound alike; close its holes"
            raise ParameterError("open edges of a mesh", unmatched, valid)

    @property
    def triangles(self) -> np.ndarray:
        """Corners of the triangles that have an area [m], (triangles, 9)."""
        corners = self.vertices[self.faces]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return corners[np.any(across != 0.0, axis=1)].reshape(-1, 9)


def _unmatched_edges(faces: np.ndarray) -> int:
    """Number of edges that are not run through once in each direction."""
    runs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    edges, which = np.unique(np.sort(runs, axis=1), axis=0, return_inverse=True)
    forward = runs[:, 0] < runs[:, 1]
    counts = [np.bincount(which[way], minlength=len(edges)) for way in (forward, ~forward)]
    return int(np.sum((counts[0] != 1) | (counts[1] != 1)))
