"""Packed trees: compiled functions read the contents of the named tuples."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from grouser.physics.base.packed import Packed, packed_at


class Leaf(NamedTuple):
    """Arrays and numbers of every kind."""

    matrix: np.ndarray
    flags: np.ndarray
    count: int
    length: float
    on: bool


class Tree(NamedTuple):
    """Leaves within a tree."""

    first: Leaf
    numbers: np.ndarray
    second: Leaf


def tree():
    numbers = np.arange(24.0).reshape(2, 3, 4)
    first = Leaf(np.arange(6.0).reshape(2, 3), np.array([True, False]), -7, -0.125, True)
    # every other row in reverse order: strides differ from those of a contiguous array
    second = Leaf(np.arange(12.0).reshape(4, 3)[::-2], np.zeros(0, dtype=np.bool_), 2**40, 1e300, False)
    return Tree(first, numbers, second)


@numba.njit
def read(tree, i, j):
    """Every kind of field, at both depths."""
    first, second = tree.first, tree.second
    numbers = (first.count, first.length, first.on, second.count, second.length, second.on)
    shapes = (first.matrix.shape, second.matrix.shape, tree.numbers.shape, second.flags.shape)
    return numbers, shapes, first.matrix[i, j], second.matrix[i, j], first.flags[i], tree.numbers[i, j, -1]


@numba.njit
def write(tree, value):
    """Writes to an array of a leaf."""
    tree.second.matrix[0, 1] = value


@numba.njit
def read_at(tree, address):
    """Reads the same field at another address."""
    return packed_at(tree, address).first.length


def test_trees_of_the_same_kinds_have_one_type_and_others_their_own():
    given, other = tree(), tree()
    assert numba.typeof(Packed(given)) is numba.typeof(Packed(other._replace(numbers=given.numbers + 1.0)))
    locked = given.numbers.copy()
    locked.setflags(write=False)
    changed = [
        *(
            given._replace(numbers=numbers)
            for numbers in (given.numbers[:, ::2], locked, given.numbers.astype(np.float32))
        ),
        given._replace(numbers=given.numbers[0]),
        given._replace(first=given.first._replace(count=True)),
        given._replace(first=given.first._replace(count=np.float32(1.0))),
    ]
    found = {numba.typeof(Packed(one)) for one in (given, *changed)}
    assert len(found) == 1 + len(changed)


def test_compiled_code_reads_packed_fields():
    given = tree()
    assert read(Packed(given), 1, 2) == read.py_func(given, 1, 2)


def test_packed_arrays_are_those_of_the_tree():
    given = tree()
    write(Packed(given), 5.5)
    assert given.second.matrix[0, 1] == 5.5


def test_packed_subtrees_and_leaves():
    given = tree()
    packed = Packed(given)
    assert packed.numbers is given.numbers
    assert packed.second.matrix is given.second.matrix
    assert read_at(packed, packed.address) == -0.125
    with pytest.raises(AttributeError, match="third"):
        getattr(packed, "third")  # noqa: B009


def test_packed_trees_of_one_type_are_read_by_address():
    packed = [Packed(tree()._replace(first=tree().first._replace(length=length))) for length in (1.0, 2.0)]
    assert [read_at(packed[0], other.address) for other in packed] == [1.0, 2.0]
    assert packed[0]._numba_type_ == packed[1]._numba_type_


def test_unknown_packed_field_is_a_compile_error():
    with pytest.raises(numba.TypingError, match="third"):
        numba.njit(lambda tree: tree.third)(Packed(tree()))
