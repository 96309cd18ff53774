"""Vertices of a convex mesh along a direction, by walks along its edges.

A vertex of a convex polyhedron without a higher neighbour is the highest one, and the vertices above any level are
connected by edges. The highest vertex is therefore found by climbing, from a vertex that is tabulated for directions
like the given one, and the *cap* of vertices above a level grows from it. Both take as long as what they find is large,
and do not depend on the last step.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel

if TYPE_CHECKING:
    from grouser.physics.contact.shapes import Shapes

# A hull with at most so many vertices is scanned.
_FEW_VERTICES = 20
# Cells along the edge of each face of the cube of directions.
_CELLS = 6
_ALL_CELLS = 6 * _CELLS * _CELLS


class HullGraph(NamedTuple):
    """Edges and faces at the vertices of convex meshes; indices are those of all shapes' vertices and faces.

    Attributes:
        start: the neighbours of vertex v are start[v] to start[v + 1], (vertices + 1,).
        neighbour: vertices.
        face_start: the faces at vertex v are face_start[v] to face_start[v + 1], (vertices + 1,).
        face: triangles.
        row: row of each shape in the table, -1 for one that has none, (shapes,).
        first: the highest vertex along the middle of each cell of directions, (rows, cells).
    """

    start: np.ndarray
    neighbour: np.ndarray
    face_start: np.ndarray
    face: np.ndarray
    row: np.ndarray
    first: np.ndarray


class Cap(NamedTuple):
    """The vertices of a hull above a level, and the faces at these.

    Attributes:
        vertex, face: their indices; the numbers of them are results of `find_cap`.
        seen_vertex, seen_face: buffers, all False between uses.
    """

    vertex: np.ndarray
    face: np.ndarray
    seen_vertex: np.ndarray
    seen_face: np.ndarray


def make_hull_graph(vertex: np.ndarray, face_corner: np.ndarray, part: np.ndarray) -> HullGraph:
    """The graph of all shapes.

    Args:
        vertex: of all shapes, (vertices, 3).
        face_corner: vertices of each triangle of a hull, -1 for the faces of other shapes, (faces, 3).
        part: first and end of each shape's vertices, then of its faces, (shapes, 4).
    """
    triangle = np.flatnonzero(face_corner[:, 0] >= 0)
    corner = face_corner[triangle]
    edges = np.unique(corner[:, [0, 1, 1, 2, 2, 0, 1, 0, 2, 1, 0, 2]].reshape(-1, 2), axis=0)
    at = np.column_stack([corner.ravel(), np.repeat(triangle, 3)])
    at = at[np.lexsort(at.T[::-1])]
    every = np.arange(len(vertex) + 1)
    rows, directions = [], _cell_directions()
    row = np.full(len(part), -1, dtype=np.int64)
    for s, (begin, end, first_face, end_face) in enumerate(part.tolist()):
        if end - begin <= _FEW_VERTICES:
            continue
        corners = np.unique(face_corner[first_face:end_face])
        if len(corners) > 0 and corners[0] >= 0:
            row[s] = len(rows)
            rows.append(corners[np.argmax(directions @ vertex[corners].T, axis=1)])
    return HullGraph(
        start=np.searchsorted(edges[:, 0], every).astype(np.int64),
        neighbour=edges[:, 1].astype(np.int64),
        face_start=np.searchsorted(at[:, 0], every).astype(np.int64),
        face=at[:, 1].astype(np.int64),
        row=row,
        first=np.array(rows, dtype=np.int64).reshape(-1, _ALL_CELLS),
    )


def make_cap(vertices: int, faces: int) -> Cap:
    """Buffers for hulls of all shapes, which have so many vertices and faces together."""
    return Cap(
        vertex=np.zeros(vertices, dtype=np.int64),
        face=np.zeros(faces, dtype=np.int64),
        seen_vertex=np.zeros(vertices, dtype=np.bool_),
        seen_face=np.zeros(faces, dtype=np.bool_),
    )


def _cell_directions() -> np.ndarray:
    """The middle of each cell, in the order of `_cell`, (cells, 3)."""
    middle = (2.0 * np.arange(_CELLS) + 1.0) / _CELLS - 1.0
    directions = np.zeros((3, 2, _CELLS, _CELLS, 3))
    for axis in range(3):
        for side, sign in enumerate((-1.0, 1.0)):
            directions[axis, side, ..., axis] = sign
            directions[axis, side, ..., (axis + 1) % 3] = middle[:, None]
            directions[axis, side, ..., (axis + 2) % 3] = middle
    return directions.reshape(-1, 3)


@kernel
def _cell(x, y, z):
    """Cell of a direction, not zero, on the cube around the origin."""
    width, height, depth = abs(x), abs(y), abs(z)
    if width >= height and width >= depth:
        axis, along, one, other = 0, x, y, z
    elif height >= depth:
        axis, along, one, other = 1, y, z, x
    else:
        axis, along, one, other = 2, z, x, y
    scale = 0.5 * _CELLS / abs(along)
    i = min(int(0.5 * _CELLS + scale * one), _CELLS - 1)
    j = min(int(0.5 * _CELLS + scale * other), _CELLS - 1)
    return ((2 * axis + (1 if along > 0.0 else 0)) * _CELLS + i) * _CELLS + j


@kernel
def highest_vertex(shapes: "Shapes", s, x, y, z):
    """The highest vertex of a mesh along x, y, z in its own frame; the first one found of several."""
    vertex, graph = shapes.vertex, shapes.graph
    row, square = graph.row[s], x * x + y * y + z * z
    # also without a direction
    if row < 0 or not 0.0 < square < math.inf:
        best, far = -math.inf, np.uintp(shapes.part[s, 0])
        for v in range(np.uintp(shapes.part[s, 0]), np.uintp(shapes.part[s, 1])):
            along = vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z
            if along > best:
                best, far = along, v
        return far
    start, neighbour = graph.start, graph.neighbour
    far = np.uintp(graph.first[row, _cell(x, y, z)])
    best = vertex[far, 0] * x + vertex[far, 1] * y + vertex[far, 2] * z
    climbs = True
    while climbs:
        climbs = False
        for k in range(np.uintp(start[far]), np.uintp(start[far + np.uintp(1)])):
            v = np.uintp(neighbour[k])
            along = vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z
            if along > best:
                best, far, climbs = along, v, True
    return far


@kernel
def find_cap(shapes: "Shapes", s, x, y, z, level, cap: Cap):
    """Lists the vertices of a mesh that are at least as high as a level along x, y, z, and all faces at these.

    Args:
        shapes, s: the mesh.
        x, y, z: direction in its own frame.
        level: along it [m].
        cap: result; `clear_cap` must follow.

    Returns:
        Numbers of vertices and faces, 0 if the highest vertex is below the level.
    """
    vertex, graph = shapes.vertex, shapes.graph
    far = highest_vertex(shapes, s, x, y, z)
    if vertex[far, 0] * x + vertex[far, 1] * y + vertex[far, 2] * z < level:
        return 0, 0
    cap.vertex[0], cap.seen_vertex[far] = far, True
    listed, vertices, faces = 0, 1, 0
    while listed < vertices:
        at = cap.vertex[listed]
        listed += 1
        for k in range(graph.start[at], graph.start[at + 1]):
            v = graph.neighbour[k]
            if not cap.seen_vertex[v] and vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z >= level:
                cap.vertex[vertices], cap.seen_vertex[v] = v, True
                vertices += 1
        for k in range(graph.face_start[at], graph.face_start[at + 1]):
            f = graph.face[k]
            if not cap.seen_face[f]:
                cap.face[faces], cap.seen_face[f] = f, True
                faces += 1
    return vertices, faces


@kernel
def clear_cap(cap: Cap, vertices, faces):
    """Makes a cap ready for its next use, given the numbers of its vertices and faces."""
    for k in range(vertices):
        cap.seen_vertex[cap.vertex[k]] = False
    for k in range(faces):
        cap.seen_face[cap.face[k]] = False
