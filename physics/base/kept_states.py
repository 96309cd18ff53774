"""States that take long to find, kept on disk: settled beds of grains, walls in equilibrium."""

import hashlib
import io
import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from grouser.physics.base.import_closure import write_whole
from grouser.physics.base.kernel_cache import cache_home, can_keep
from grouser.physics.base.trees import leaves

# States of one kind that are kept.
_KEPT = 32
# A named tuple of arrays.
_State = TypeVar("_State", bound=Any)


def key_of(package: ModuleType, parts: Iterable[Any]) -> str:
    """Digest of all that a state depends on.

    Args:
        package: whose code finds the state.
        parts: nested tuples of arrays and numbers.
    """
    digest = hashlib.sha256()
    for file in sorted(Path(package.__path__[0]).glob("*.py")):
        digest.update(file.read_bytes())
    for part in parts:
        for leaf in leaves(part):
            digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()[:32]


def recall(kind: str, key: str, state: type[_State]) -> _State | None:
    """A state that is kept; None without one that can be read.

    Args:
        kind: of states, a folder's name.
        key: of `key_of`.
        state: named tuple of arrays.
    """
    try:
        content = np.load(_file(kind, key), allow_pickle=False)
        return state(*(content[name] for name in state._fields))
    except (OSError, ValueError, KeyError, EOFError):
        return None


def keep(kind: str, key: str, state: Any) -> None:
    """Keeps a state if the cache can be written to; the oldest ones of its kind make room. Arguments as of `recall`."""
    if not can_keep():
        return
    content = io.BytesIO()
    np.savez_compressed(content, **state._asdict())
    file = _file(kind, key)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content.getvalue())
    others = sorted(file.parent.glob("*.npz"), key=os.path.getmtime)
    for old in others[:-_KEPT]:
        old.unlink(missing_ok=True)


def _file(kind: str, key: str) -> Path:
    return cache_home() / kind / f"{key}.npz"
