"""Convex parts of a mesh, by the library coacd, and their files in the user's cache.

Wei, Liu, Ling, Su: Approximate convex decomposition for 3D meshes with collision-aware concavity and tree search, ACM
Transactions on Graphics 41 (4), 2022. It takes seconds to minutes: the parts are stored under the digest of the mesh.
"""

import contextlib
import hashlib
import os
import tempfile
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.urdf.hulls import Hull, HullError, bounded_hull
from grouser.physics.description.urdf.meshes import MeshError, triangles

# Largest concavity of a part, as a share of the size of the mesh; most parts. The names of the files depend on them.
_SETTINGS = {"threshold": 0.05, "max_convex_hull": 64, "seed": 1}
# Larger meshes take many minutes.
_TRIANGLES_MAX = 200_000


def convex_parts(path: Path, scale: Vector3) -> tuple[Hull, ...]:
    """Returns the hulls of the convex parts of a scaled mesh [m]; their vertices are read-only.

    Raises:
        MeshError: the file cannot be read or is too large, coacd is not installed, or finds no part.
    """
    vertices, faces = triangles(path, scale)
    if len(faces) > _TRIANGLES_MAX:
        raise MeshError(f"it has {len(faces)} triangles; decomposed are at most {_TRIANGLES_MAX}: simplify it first")
    parts = []
    for part in _parts(vertices.tobytes(), faces.astype(np.int64).tobytes()):
        with contextlib.suppress(HullError):
            hull = bounded_hull(np.unique(part, axis=0))
            hull.vertices.setflags(write=False)
            parts.append(hull)
    if not parts:
        raise MeshError(f"no convex part was found: {path}")
    return tuple(parts)


@lru_cache(maxsize=32)
def _parts(vertices: bytes, faces: bytes) -> tuple[np.ndarray, ...]:
    """Vertices of each part, from the cache if they are there."""
    digest = hashlib.sha256(b"|".join([repr(_SETTINGS).encode(), vertices, faces])).hexdigest()[:32]
    file = _folder() / f"{digest}.npz"
    with contextlib.suppress(OSError, ValueError, EOFError, KeyError, BadZipFile), np.load(file) as stored:
        return tuple(stored[name] for name in sorted(stored.files))
    parts = _decompose(np.frombuffer(vertices).reshape(-1, 3), np.frombuffer(faces, dtype=np.int64).reshape(-1, 3))
    with contextlib.suppress(OSError):
        _store(file, parts)
    return parts


def _folder() -> Path:
    # Imported here: it needs numba, and readers of descriptions run without.
    return import_module("grouser.physics.base.kernel_cache").cache_home() / "convex-parts"


def _store(file: Path, parts: tuple[np.ndarray, ...]) -> None:
    """Writes a file that is whole when it has its name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    named: dict[str, Any] = {f"{index:03d}": part for index, part in enumerate(parts)}
    number, name = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(number, "wb") as stream:
        np.savez(stream, **named)
    Path(name).replace(file)


def _decompose(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, ...]:
    coacd = _library()
    coacd.set_log_level("error")
    try:
        found = coacd.run_coacd(coacd.Mesh(vertices, faces), **_SETTINGS)
    except (RuntimeError, ValueError) as error:
        raise MeshError(f"it cannot be decomposed: {error}") from error
    return tuple(np.asarray(part, dtype=float) for part, _ in found)


def _library() -> Any:
    try:
        return import_module("coacd")
    except ImportError:
        raise MeshError('its decomposition needs the package coacd: pip install "grouser[decomposition]"') from None
