"""Triangle meshes: convex hulls for contact and volume integrals for mass, read with trimesh."""

import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.description.data.pose import Vector3

if TYPE_CHECKING:
    import trimesh

FORMATS = (".stl", ".obj", ".ply", ".off", ".dae", ".glb", ".gltf")
BYTES_MAX = 200_000_000
# A principal extent below this share of the largest one is flat: the hull is then found in the plane or line.
_FLATNESS = 1e-9
_COORDINATE_MAX = 1e9
# What trimesh's readers raise on files that are cut short, garbled or of another format.
_READING_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    OSError,
    EOFError,
    MemoryError,
    RecursionError,
    ImportError,
    NotImplementedError,
    SyntaxError,
    struct.error,
)


class MeshError(Exception):
    """A mesh file that cannot be used; the text says why."""


def check_file(path: Path) -> None:
    """Checks that a mesh file is there, of a known format and not empty.

    Raises:
        MeshError: it is not.
    """
    if path.suffix.lower() not in FORMATS:
        raise MeshError(f"format '{path.suffix}' is not read; valid: {', '.join(FORMATS)}")
    try:
        if not path.is_file():
            raise MeshError(f"mesh not found: {path}")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise MeshError(f"mesh not found: {error}") from None
    if size == 0:
        raise MeshError(f"the mesh file is empty: {path}")
    if size > BYTES_MAX:
        raise MeshError(f"the mesh file is larger than {BYTES_MAX} bytes: {path}")


def convex_hull(path: Path, scale: Vector3) -> np.ndarray:
    """Returns the corners of the convex hull of a scaled mesh [m], shape (n, 3), read-only.

    Only true corners are kept; a flat mesh gives the corners of its outline.

    Raises:
        MeshError: the file cannot be read or holds no vertex.
    """
    check_file(path)
    return _hull(str(path), path.stat().st_mtime_ns, scale)


def triangles(path: Path, scale: Vector3) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m], shape (n, 3), and triangles, shape (m, 3), of a mesh, for those who draw it.

    Raises:
        MeshError: the file is absent or holds no mesh.
    """
    check_file(path)
    mesh = _load(str(path), path.stat().st_mtime_ns)
    return np.asarray(mesh.vertices, dtype=float) * np.array(scale), np.asarray(mesh.faces)


def mass_properties(path: Path, scale: Vector3) -> tuple[float, np.ndarray, np.ndarray, bool]:
    """Integrates a scaled mesh of unit density.

    A mesh that is not closed has no volume of its own; its convex hull's is taken.

    Returns:
        Volume [m3]; centre of volume [m], shape (3,); inertia about it [m5], shape (3, 3); whether the mesh is closed.

    Raises:
        MeshError: the file cannot be read, or encloses no volume.
    """
    check_file(path)
    solid = _load(str(path), path.stat().st_mtime_ns).copy()
    solid.apply_transform(np.diag([*scale, 1.0]))
    closed = bool(solid.is_watertight and solid.is_winding_consistent)
    if not closed:
        from scipy.spatial import QhullError

        try:
            solid = solid.convex_hull
        except (QhullError, *_READING_ERRORS) as error:
            raise MeshError(f"the mesh encloses no volume: {path}") from error
    volume = float(solid.volume)
    # A mesh wound inside out has a negative volume, and with it a negative inertia: the ratio is right all the same.
    sign = 1.0 if volume > 0.0 else -1.0
    extent = float(np.ptp(solid.vertices, axis=0).max())
    if not np.isfinite(volume) or abs(volume) < 1e-12 * extent**3:
        raise MeshError(f"the mesh encloses no volume: {path}")
    centre, inertia = np.array(solid.center_mass), sign * np.array(solid.moment_inertia)
    return sign * volume, centre, inertia, closed


@lru_cache(maxsize=64)
def _load(path: str, _modified: int) -> "trimesh.Trimesh":
    import trimesh

    if path.lower().endswith(".dae"):
        _refuse_declarations(Path(path))
    try:
        mesh = trimesh.load(path, force="mesh", process=True, skip_materials=True)
    except _READING_ERRORS as error:
        raise MeshError(f"the mesh cannot be read: {path} ({type(error).__name__}: {str(error)[:200]})") from error
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.vertices) == 0:
        raise MeshError(f"the mesh holds no triangle: {path}")
    if len(mesh.faces) == 0:
        raise MeshError(f"the mesh holds no triangle: {path}")
    if not np.abs(mesh.vertices).max() <= _COORDINATE_MAX:
        raise MeshError(f"the mesh holds a coordinate that is not finite or beyond {_COORDINATE_MAX:g}: {path}")
    return mesh


@lru_cache(maxsize=256)
def _hull(path: str, modified: int, scale: Vector3) -> np.ndarray:
    points = np.unique(np.asarray(_load(path, modified).vertices, dtype=float) * np.array(scale), axis=0)
    corners = points[np.sort(_corner_indices(points))]
    corners.setflags(write=False)
    return corners


def _corner_indices(points: np.ndarray) -> np.ndarray:
    """Indices of the corners of the convex hull of points in space, in a plane, on a line or in one place."""
    from scipy.spatial import ConvexHull, QhullError

    centred = points - points.mean(axis=0)
    _, extents, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(extents > _FLATNESS * max(extents[0], 1e-300)))
    coordinates = centred @ axes.T
    if rank == 0:
        return np.array([0])
    if rank == 1:
        return np.array([coordinates[:, 0].argmin(), coordinates[:, 0].argmax()])
    try:
        return ConvexHull(coordinates[:, :rank]).vertices
    except QhullError as error:
        raise MeshError(f"the mesh has no convex hull: {str(error).splitlines()[0]}") from error


def _refuse_declarations(path: Path) -> None:
    raw = path.read_bytes()
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise MeshError(f"document type declarations are not read: {path}")
