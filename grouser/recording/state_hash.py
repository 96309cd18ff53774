"""Hash of a state: states that differ in any bit have different hashes."""

import hashlib
from typing import Any

import numpy as np

from grouser.physics.integrators.context import State

_BYTES = 16


def state_hash(state: State) -> str:
    """BLAKE2b over path, type, shape and bytes of every array, as 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    _add(digest, "", state)
    return digest.hexdigest()


def _add(digest: Any, path: str, tree: Any) -> None:
    """Adds all arrays in nested tuples."""
    if isinstance(tree, np.ndarray):
        digest.update(f"{path} {tree.dtype.str} {tree.shape} ".encode())
        digest.update(np.ascontiguousarray(tree).data)
        return
    for name, part in zip(tree._fields, tree, strict=True):
        _add(digest, f"{path}/{name}", part)
