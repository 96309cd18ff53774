"""Nested named tuples of arrays: copying, stacking, elements."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def leaves(tree: Any) -> Iterator[Any]:
    """All leaves of nested tuples, in order."""
    if not isinstance(tree, tuple):
        yield tree
    else:
        for part in tree:
            yield from leaves(part)


def stacked(trees: Sequence[Any]) -> Any:
    """The arrays of several trees of the same shape, stacked along a new first axis."""
    first = trees[0]
    if isinstance(first, np.ndarray):
        return np.stack(trees)
    return type(first)(*[stacked(parts) for parts in zip(*trees, strict=True)])


def element(tree: Any, i: int) -> Any:
    """Element i of every array in nested tuples, along the first axis; views of the arrays."""
    if isinstance(tree, np.ndarray):
        return tree[i]
    return type(tree)(*[element(part, i) for part in tree])


def copied(tree: Any) -> Any:
    """The same tree with copies of its arrays."""
    if isinstance(tree, np.ndarray):
        return np.array(tree)
    return type(tree)(*[copied(part) for part in tree])


def copy_into(source: Any, target: Any) -> None:
    """Copies every array of a tree into its counterpart."""
    for one, other in zip(leaves(source), leaves(target), strict=True):
        other[...] = one
