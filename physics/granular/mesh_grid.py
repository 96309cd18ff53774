"""Triangles of boundaries, with a grid over each mesh whose cells list the triangles near them."""

import numpy as np

from grouser.physics.base.errors import ParameterError

# Cells of the grid of a mesh, at most.
_MOST_CELLS = 2_000_000
# Least area of a triangle by the square of its longest side [-].
_THINNEST = 1e-9


class MeshGrids:
    """Meshes so far.

    Args:
        widest: largest radius of a grain [m].

    Attributes:
        triangle, grid, grid_size, cell_count, cell_triangle: of each mesh, as of `arrays.Boundaries`.
        cells, triangles: their numbers.
    """

    def __init__(self, widest: float):
        self.widest = widest
        self.triangle: list[np.ndarray] = []
        self.grid: list[list[float]] = []
        self.grid_size: list[list[int]] = []
        self.cell_count: list[np.ndarray] = []
        self.cell_triangle: list[np.ndarray] = []
        self.cells = self.triangles = 0

    def add(self, name: str, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Adds a mesh; its cells list all triangles that a grain with its centre there may touch.

        Args:
            name: for messages.
            corners: (triangles, 3, 3) [m].

        Returns:
            Lowest and highest corner of its box [m].

        Raises:
            ParameterError: no triangles, or one without an area.
        """
        corners = require_triangles(name, corners)
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        origin, extent = low - 1.01 * self.widest, high - low + 2.02 * self.widest
        side = max(2.0 * self.widest, float((extent.prod() / _MOST_CELLS) ** (1.0 / 3.0)))
        size = np.floor(extent / side).astype(np.int64) + 1
        first = np.floor((corners.min(axis=1) - self.widest - origin) / side).astype(np.int64).clip(0)
        last = np.minimum(np.floor((corners.max(axis=1) + self.widest - origin) / side).astype(np.int64), size - 1)
        across = last - first + 1
        counts = across.prod(axis=1)
        owner = np.repeat(np.arange(len(corners)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        x = first[owner, 0] + within % across[owner, 0]
        y = first[owner, 1] + within // across[owner, 0] % across[owner, 1]
        z = first[owner, 2] + within // (across[owner, 0] * across[owner, 1])
        cell = (z * size[1] + y) * size[0] + x
        self.cell_count.append(np.bincount(cell, minlength=int(size.prod())))
        self.cell_triangle.append(owner[np.argsort(cell, kind="stable")] + self.triangles)
        self.grid.append([*origin, side])
        self.grid_size.append([*size, self.cells])
        self.triangle.append(corners.reshape(-1, 9))
        self.cells += int(size.prod())
        self.triangles += len(corners)
        return low, high


def require_triangles(name: str, corners: np.ndarray) -> np.ndarray:
    """Refuses what are no triangles with an area; arguments and errors as of `MeshGrids.add`."""
    corners = np.array(corners, float)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners) or not np.isfinite(corners).all():
        raise ParameterError(f"triangles of {name}", corners.shape, "(triangles, 3, 3), finite")
    sides = corners - np.roll(corners, 1, axis=1)
    longest = (sides**2).sum(axis=2).max(axis=1)
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    thin = np.flatnonzero(area <= _THINNEST * longest)
    if len(thin):
        raise ParameterError(f"triangles of {name}", corners[thin[0]].tolist(), "triangles with an area")
    return corners
