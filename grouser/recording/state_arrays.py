"""The arrays of a state in a recording, bit for bit: by path, with type, shape and bytes in base 64."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from grouser.physics.base.errors import ParameterError

_Tree = TypeVar("_Tree")


def written(tree: Any) -> dict[str, dict[str, Any]]:
    """All arrays of nested named tuples, for JSON."""
    return {
        path: {
            "type": array.dtype.str,
            "shape": list(array.shape),
            "data": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode(),
        }
        for path, array in _arrays("", tree)
    }


def read(name: str, arrays: Mapping[str, Mapping[str, Any]], like: _Tree) -> _Tree:
    """Nested named tuples with the recorded arrays.

    Args:
        name: of the whole, for errors.
        arrays: from `written`.
        like: the same tuples with arrays of the same types; shapes may differ.

    Raises:
        ParameterError: an array is missing, unknown, or of another type or number of dimensions.
    """
    paths = dict(_arrays("", like))
    for path in paths.keys() ^ arrays.keys():
        raise ParameterError(name, path, "arrays of a simulation of the same machine and world")
    return _filled(name, "", arrays, like)


def _filled(name: str, path: str, arrays: Mapping[str, Mapping[str, Any]], like: Any) -> Any:
    if not isinstance(like, np.ndarray):
        parts = zip(like._fields, like, strict=True)
        return type(like)(*[_filled(name, f"{path}/{field}", arrays, part) for field, part in parts])
    entry = arrays[path]
    try:
        if entry["type"] != like.dtype.str or len(entry["shape"]) != like.ndim:
            raise ParameterError(name, path, f"an array of {like.dtype} with {like.ndim} dimensions")
        data = base64.b64decode(entry["data"], validate=True)
        return np.frombuffer(data, like.dtype).reshape(entry["shape"]).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError(name, path, f"an array with type, shape and data ({error})") from None


def _arrays(path: str, tree: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(tree, np.ndarray):
        yield path, tree
        return
    for name, part in zip(tree._fields, tree, strict=True):
        yield from _arrays(f"{path}/{name}", part)
