"""Solids of boundaries as rows of numbers (`solids`)."""

import math

import numpy as np

from grouser.physics.base.checks import require_size, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.granular.bodies import Ball, Bar, Box, Hull
from grouser.physics.granular.mesh_grid import require_triangles
from grouser.physics.granular.solids import BALL, BAR, BOX, HULL

# Height of a corner above the plane of a face, by the size of the hull, up to which it has no hollow [-].
_FLAT = 1e-6


class SolidRows:
    """Solids so far.

    Attributes:
        start, kind, solid, triangle, plane: as `solid_start`, `solid_kind`, `solid`, `hull_triangle` and `hull_plane`
            of `arrays.Boundaries`.
    """

    def __init__(self) -> None:
        self.start = [0]
        self.kind: list[int] = []
        self.solid: list[np.ndarray] = []
        self.triangle: list[np.ndarray] = []
        self.plane: list[np.ndarray] = []

    def add(self, name: str, solids) -> tuple[np.ndarray, np.ndarray]:
        """Adds the solids of a shape.

        Args:
            name: for messages.
            solids: a sequence of Ball, Bar, Box and Hull.

        Returns:
            Lowest and highest corner of their box [m].

        Raises:
            ParameterError: what is none of these, or a hull with a hollow.
        """
        low, high = np.full(3, math.inf), np.full(3, -math.inf)
        for number, one in enumerate(solids):
            kind, row = self._row(f"{name}.solids[{number}]", one)
            self.kind.append(kind)
            self.solid.append(row)
            low, high = np.minimum(low, row[:3] - row[3]), np.maximum(high, row[:3] + row[3])
        return low, high

    def close(self) -> None:
        """Ends a shape, which may have no solids."""
        self.start.append(len(self.kind))

    def _row(self, name: str, one) -> tuple[int, np.ndarray]:
        if isinstance(one, Hull):
            corners = require_triangles(name, one.triangles)
            middle = 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))
            bound = float(np.linalg.norm(corners - middle, axis=2).max())
            first = sum(map(len, self.plane))
            self.plane.append(_planes(name, corners, bound))
            self.triangle.append(corners.reshape(-1, 9))
            return HULL, np.array([*middle, bound, first, first + len(corners), 0.0, *np.eye(3).ravel()])
        if not isinstance(one, Ball | Bar | Box):
            raise ParameterError(name, one, "a Ball, Bar, Box or Hull")
        centre = require_vector(f"centre of {name}", one.centre, 3, "m")
        if isinstance(one, Box):
            half = 0.5 * np.array([require_size(f"size of {name}", side) for side in one.size])
            kind, bound = BOX, float(np.linalg.norm(half))
        else:
            radius, length = require_size(f"radius of {name}", one.radius), 0.5 * one.length
            half = np.array([radius, length, 0.0])
            kind = BALL if isinstance(one, Ball) else BAR
            bound = radius + length if kind == BALL else math.hypot(radius, length)
        return kind, np.array([*centre, bound, *half, *np.asarray(one.rotation, float).ravel()])


def _planes(name: str, corners: np.ndarray, bound: float) -> np.ndarray:
    """Outward planes of the faces of a hull, (faces, 4)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    offset = np.einsum("ij,ij->i", normal, corners[:, 0])
    above = (corners.reshape(-1, 3) @ normal.T - offset).max(axis=0)
    if above.max() > _FLAT * bound:
        raise ParameterError(name, f"a corner {above.max():.3g} m before a face", "a polyhedron without hollows")
    return np.column_stack([normal, offset])
