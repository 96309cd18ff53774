"""Triangle meshes: convex hulls for contact and volume integrals for mass, read with trimesh."""

import re
import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.urdf.hulls import Hull, HullError, bounded_hull

if TYPE_CHECKING:
    import trimesh

FORMATS = (".stl", ".obj", ".ply", ".off", ".dae", ".glb", ".gltf")
BYTES_MAX = 200_000_000
_COORDINATE_MAX = 1e9
_COLLADA_UNIT = re.compile(rb"""<unit\b[^>]*?\bmeter\s*=\s*["']\s*([^"']*)["']""")
_UNIT_MAX = 1e6
# Exceptions of trimesh's readers on truncated, corrupt or foreign files.
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
    NotImplementedError,
    SyntaxError,
    struct.error,
)


class MeshError(Exception):
    """A mesh file cannot be used; the text gives the reason."""


def check_file(path: Path) -> None:
    """Checks that a mesh file exists, has a known format and is not empty.

    Raises:
        MeshError: a check failed.
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


def convex_hull(path: Path, scale: Vector3) -> Hull:
    """Returns the convex hull of a scaled mesh [m]; its vertices are read-only.

    A flat mesh gives the vertices of its outline. A hull of many vertices is simplified: see `hulls`.

    Raises:
        MeshError: the file cannot be read or holds no vertex.
    """
    check_file(path)
    return _hull(str(path), path.stat().st_mtime_ns, scale)


def triangles(path: Path, scale: Vector3) -> tuple[np.ndarray, np.ndarray]:
    """Returns the vertices [m], shape (n, 3), and triangles, shape (m, 3), of a mesh.

    Raises:
        MeshError: the file is absent or holds no mesh.
    """
    check_file(path)
    mesh = _load(str(path), path.stat().st_mtime_ns)
    return np.asarray(mesh.vertices, dtype=float) * np.array(scale), np.asarray(mesh.faces)


def painted(path: Path, scale: Vector3) -> "trimesh.Scene | None":
    """Returns a scaled mesh [m] with the colours and pictures of its file; None if it has none, or they are not read.

    Raises:
        MeshError: the file is absent or of another format.
    """
    check_file(path)
    scene = _load_painted(str(path), path.stat().st_mtime_ns)
    return None if scene is None else scene.copy().apply_transform(np.diag([*scale, 1.0]))


def mass_properties(path: Path, scale: Vector3) -> tuple[float, np.ndarray, np.ndarray, bool]:
    """Returns volume, centre and inertia of a scaled mesh of unit density.

    For a mesh that is not closed, those of its convex hull.

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
    # A mesh wound inside out has negative volume and negative inertia.
    sign = 1.0 if volume > 0.0 else -1.0
    extent = float(np.ptp(solid.vertices, axis=0).max())
    if not np.isfinite(volume) or abs(volume) < 1e-12 * extent**3:
        raise MeshError(f"the mesh encloses no volume: {path}")
    centre, inertia = np.array(solid.center_mass), sign * np.array(solid.moment_inertia)
    return sign * volume, centre, inertia, closed


@lru_cache(maxsize=64)
def _load(path: str, _modified: int) -> "trimesh.Trimesh":
    import trimesh

    try:
        mesh = _read_in_metres(path, force="mesh", process=True, skip_materials=True)
    except ImportError as error:
        raise MeshError(f"the mesh needs a package that is not installed: {path} ({str(error)[:200]})") from error
    except _READING_ERRORS as error:
        raise MeshError(f"the mesh cannot be read: {path} ({type(error).__name__}: {str(error)[:200]})") from error
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.vertices) == 0:
        raise MeshError(f"the mesh holds no triangle: {path}")
    if len(mesh.faces) == 0:
        raise MeshError(f"the mesh holds no triangle: {path}")
    if not np.abs(mesh.vertices).max() <= _COORDINATE_MAX:
        raise MeshError(f"the mesh holds a coordinate that is not finite or beyond {_COORDINATE_MAX:g}: {path}")
    return mesh


@lru_cache(maxsize=64)
def _load_painted(path: str, _modified: int) -> "trimesh.Scene | None":
    try:
        scene = _read_in_metres(path, force="scene", process=False)
    except (ImportError, MeshError, *_READING_ERRORS):
        return None
    parts = scene.geometry.values()
    return scene if any(getattr(part, "visual", None) is not None and part.visual.defined for part in parts) else None


@lru_cache(maxsize=256)
def _hull(path: str, modified: int, scale: Vector3) -> Hull:
    mesh = _load(path, modified)
    vertices = np.asarray(mesh.vertices, dtype=float) * np.array(scale)
    try:
        hull = bounded_hull(np.unique(vertices, axis=0), _oriented(vertices[mesh.faces], scale))
    except HullError as error:
        raise MeshError(f"the mesh cannot be used, as {error}: {path}") from error
    hull.vertices.setflags(write=False)
    return hull


def _oriented(corners: np.ndarray, scale: Vector3) -> np.ndarray:
    """Triangles with their orientation before a scale that may mirror them."""
    return corners if np.prod(np.sign(scale)) > 0.0 else corners[:, ::-1]


def _read_in_metres(path: str, **how: Any) -> Any:
    """What trimesh loads; of a COLLADA file, as in RViz and Gazebo, the unit counts and the upward axis does not."""
    import trimesh

    if not path.lower().endswith(".dae"):
        return trimesh.load(path, **how)
    from collada.common import DaeError

    unit = _unit_of_collada(path)
    try:
        loaded = trimesh.load(path, **how)
    except DaeError as error:
        raise ValueError(error) from None
    return loaded if unit == 1.0 else loaded.apply_scale(unit)


def _unit_of_collada(path: str) -> float:
    """Unit of a COLLADA file [m]."""
    raw = Path(path).read_bytes()
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise MeshError(f"document type declarations are not read: {path}")
    written = _COLLADA_UNIT.search(raw)
    unit = 1.0 if written is None else float(written[1])
    if not 0.0 < unit <= _UNIT_MAX:
        raise MeshError(f"the mesh has the unit meter = {unit:g}; valid: above 0, at most {_UNIT_MAX:g}: {path}")
    return unit
