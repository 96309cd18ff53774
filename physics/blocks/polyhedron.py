"""Convex polyhedra: checked when they are made, and integrated exactly over their volume."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from grouser.physics.base.errors import ParameterError

# Share of the extent by which vertices may be off the plane of their face.
FLATNESS = 1e-9
# Decimals to which the planes of triangles of one face agree.
_PLANES = 9
# Nodes of the quadrature along each direction: exact up to the degree 2 * 3 - 1.
_NODES = 3


class Polyhedron(NamedTuple):
    """A convex polyhedron.

    Attributes:
        vertices: (v, 3) [m].
        faces: vertices of each, counter-clockwise seen from outside.
        normals: outward, of each face, (f, 3).
    """

    vertices: np.ndarray
    faces: tuple[tuple[int, ...], ...]
    normals: np.ndarray

    def outline(self, face: int) -> np.ndarray:
        """Vertices of a face, (k, 3)."""
        return self.vertices[list(self.faces[face])]


def make_polyhedron(name: str, vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> Polyhedron:
    """Checks a polyhedron.

    Args:
        name: of what has the shape, for messages.
        vertices: (v, 3) [m].
        faces: vertices of each, counter-clockwise seen from outside.

    Raises:
        ParameterError: faces that are not flat, not closed or wound the other way, or a shape that is not convex.
    """
    vertices = np.array(vertices, dtype=float)
    loops = tuple(tuple(int(vertex) for vertex in face) for face in faces)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise ParameterError(f"vertices of block '{name}'", vertices.tolist(), "finite numbers, three for each vertex")
    for number, face in enumerate(loops):
        if len(face) < 3 or len(set(face)) < len(face) or not all(0 <= vertex < len(vertices) for vertex in face):
            raise ParameterError(
                f"face {number} of block '{name}'", face, f"at least three vertices from 0 to {len(vertices) - 1}"
            )
    _require_closed(name, loops)
    extent = float(np.ptp(vertices, axis=0).max())
    normals = np.array([_normal(vertices[list(face)]) for face in loops])
    for number, (face, normal) in enumerate(zip(loops, normals, strict=True)):
        what = f"face {number} of block '{name}'"
        if not normal.any():
            raise ParameterError(what, face, "an area above zero")
        heights = (vertices - vertices[face[0]]) @ normal
        if np.abs(heights[list(face)]).max() > FLATNESS * extent:
            raise ParameterError(what, face, "vertices in one plane")
        beyond = int(np.argmax(heights))
        if heights[beyond] > FLATNESS * extent:
            raise ParameterError(
                what,
                face,
                f"a convex block, its faces counter-clockwise from outside; vertex {beyond} lies "
                f"{heights[beyond]:.3g} m outside of this face: divide the block into convex ones",
            )
    return Polyhedron(vertices, loops, normals)


def make_box(name: str, lower: Sequence[float], upper: Sequence[float]) -> Polyhedron:
    """A box along the axes.

    Args:
        name: of what has the shape, for messages.
        lower, upper: opposite corners [m].
    """
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    return make_prism(name, [(x0, z0), (x1, z0), (x1, z1), (x0, z1)], y0, y1)


def make_prism(name: str, outline: Sequence[Sequence[float]], near: float, far: float) -> Polyhedron:
    """A prism along y.

    Args:
        name: of what has the shape, for messages.
        outline: corners (x, z), counter-clockwise seen against y [m].
        near, far: its ends along y [m].
    """
    count = len(outline)
    vertices = [(x, y, z) for y in (near, far) for x, z in outline]
    sides = [((i + 1) % count, i, i + count, (i + 1) % count + count) for i in range(count)]
    return make_polyhedron(name, np.array(vertices), [range(count), range(2 * count - 1, count - 1, -1), *sides])


def make_hull(name: str, points: np.ndarray) -> Polyhedron:
    """The convex hull of points, its triangles in one plane joined to faces.

    Args:
        name: of what has the shape, for messages.
        points: (n, 3), not all in one plane [m].

    Raises:
        ParameterError: points in one plane, or that are no numbers.
    """
    points = np.array(points, dtype=float)
    try:
        hull = scipy.spatial.ConvexHull(points)
    except (scipy.spatial.QhullError, ValueError):
        valid = "finite points that are not in one plane"
        raise ParameterError(f"points of block '{name}'", points.tolist(), valid) from None
    planes, members = np.unique(hull.equations.round(_PLANES), axis=0, return_inverse=True)
    faces = []
    for number, plane in enumerate(planes):
        corners = np.unique(hull.simplices[members.ravel() == number])
        first = points[corners] - points[corners].mean(axis=0)
        across = np.cross(plane[:3], first[0])
        faces.append(corners[np.argsort(np.arctan2(first @ across, first @ first[0]))])
    used, numbers = np.unique(np.concatenate(faces), return_inverse=True)
    starts = np.cumsum([len(face) for face in faces])[:-1]
    return make_polyhedron(name, points[used], [face.tolist() for face in np.split(numbers.ravel(), starts)])


def edges(polyhedron: Polyhedron) -> list[tuple[int, int, int, int]]:
    """First and last vertex of each edge, and the faces on its left and right seen from outside."""
    left = {edge: number for number, face in enumerate(polyhedron.faces) for edge in _sides(face)}
    return [(*edge, face, left[edge[::-1]]) for edge, face in left.items() if edge[0] < edge[1]]


def volume_points(polyhedron: Polyhedron) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and weights (n,) [m3] whose sums are volume integrals, exact for polynomials of degree 5."""
    middle = polyhedron.vertices.mean(axis=0)
    shares, weights = _tetrahedron_points()
    points, sizes = [], []
    for face in range(len(polyhedron.faces)):
        first, *others = polyhedron.outline(face) - middle
        for second, third in pairwise(others):
            corners = np.array([first, second, third])
            points.append(middle + shares @ corners)
            sizes.append(np.linalg.det(corners) * weights)
    return np.concatenate(points), np.concatenate(sizes)


def _tetrahedron_points() -> tuple[np.ndarray, np.ndarray]:
    """Conical product of Gauss and Jacobi: shares of three corners of a tetrahedron, and weights that sum to 1/6."""
    (u, wu), (v, wv), (w, ww) = (_unit_nodes(power) for power in (2, 1, 0))
    u, v, w = (grid.ravel() for grid in np.meshgrid(u, v, w, indexing="ij"))
    shares = np.column_stack([u, v * (1.0 - u), w * (1.0 - u) * (1.0 - v)])
    return shares, np.einsum("i,j,k->ijk", wu, wv, ww).ravel()


def _unit_nodes(power: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral of (1 - u)^power f(u) from 0 to 1."""
    nodes, weights = scipy.special.roots_jacobi(_NODES, power, 0)
    return 0.5 * (nodes + 1.0), weights / 2.0 ** (power + 1)


def _normal(outline: np.ndarray) -> np.ndarray:
    """Unit normal of a polygon by Newell's sum; zeros without an area."""
    area = np.cross(outline, np.roll(outline, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(area)
    return area / length if length > 0.0 else area


def _sides(face: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return zip(face, face[1:] + face[:1], strict=True)


def _require_closed(name: str, faces: tuple[tuple[int, ...], ...]) -> None:
    seen = {edge for face in faces for edge in _sides(face)}
    for number, face in enumerate(faces):
        for edge in _sides(face):
            if edge[::-1] not in seen:
                raise ParameterError(
                    f"face {number} of block '{name}'",
                    face,
                    f"faces that close the block; at the edge {edge[0]} to {edge[1]} there is no other face, or it is "
                    "wound the other way",
                )
