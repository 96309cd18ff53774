"""Packed trees: nested named tuples of arrays and numbers, passed to compiled code as one address.

Numba expands a named tuple into an argument for each array's address, lengths and strides: thousands of them for a
whole simulation, on each call from Python and between compiled functions. A packed tree keeps them as words in memory,
in the order of the fields; compiled code reads those that it needs, and uses the tree like the named tuple itself.
"""

import hashlib
import struct
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.core.typing.templates import AttributeTemplate
from numba.np.arrayobj import make_array, populate_array

_WORD = 8  # [bytes]


class PackedType(types.Type):
    """Numba's type of a packed tree.

    Attributes:
        fields: name -> position among the words, and type.
        size: number of words.
    """

    def __init__(self, tree: types.BaseNamedTuple):
        self.fields: dict[str, tuple[int, types.Type]] = {}
        self.size = 0
        for name, part in zip(tree.fields, tree.types, strict=True):
            if isinstance(part, types.BaseNamedTuple):
                part = PackedType(part)
                size = part.size
            else:
                size = 1 + 2 * part.ndim if isinstance(part, types.Array) else 1
            self.fields[name] = self.size, part
            self.size += size
        # The names of all functions that take a tree contain this name: numba's own would be pages long. It tells trees
        # with the same types apart by their class and their fields.
        kind = tree.instance_class
        parts = [f"{name} {part}" for name, (_, part) in self.fields.items()]
        digest = hashlib.sha256("\n".join([kind.__module__, *parts]).encode()).hexdigest()[:16]
        super().__init__(f"Packed_{kind.__name__}_{digest}")


class Packed:
    """A tree as compiled functions take it; its fields are those of the tree, with named tuples packed in turn.

    The arrays are those of the tree, not copies. The tree's fields must not be replaced afterwards.
    """

    def __init__(self, tree):
        self._hold(tree, _packed_type(tree), np.array(_words(tree), dtype=np.int64), 0)

    def _hold(self, tree, numba_type, words, place):
        self._tree, self._words, self._place, self._numba_type_ = tree, words, place, numba_type
        self.address: int = words.ctypes.data + _WORD * place

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        part = getattr(self._tree, name)
        if not hasattr(part, "_fields"):
            return part
        place, numba_type = self._numba_type_.fields[name]
        packed = Packed.__new__(Packed)
        packed._hold(part, numba_type, self._words, self._place + place)
        return packed


# Numba takes milliseconds for the type of a large tree, of which there are few: types of the trees seen so far.
_types: dict[Any, PackedType] = {}


def _packed_type(tree) -> PackedType:
    """The type of a tree."""
    structure = _structure(tree)
    if structure not in _types:
        _types[structure] = PackedType(_numba_type(tree))
    return _types[structure]


def _numba_type(part) -> types.Type:
    """Numba's type of a tree or a part; numba's dispatch searches half a millisecond for each class of named tuples."""
    if hasattr(part, "_fields"):
        return types.BaseTuple.from_types([_numba_type(one) for one in part], type(part))
    return typeof(part)


def _structure(tree):
    """What numba's type of a tree depends on: its class, and the kinds of its parts."""
    return (type(tree), *map(_kind, tree))


def _kind(part):
    if isinstance(part, np.ndarray):
        return part.dtype, part.ndim, part.flags.num
    if hasattr(part, "_fields"):
        return _structure(part)
    return type(part) if type(part) in (bool, int, float) else typeof(part)


def _words(tree):
    """All words of a tree: a number itself; of an array its address, lengths and strides."""
    words = []
    for part in tree:
        if hasattr(part, "_fields"):
            words.extend(_words(part))
        elif isinstance(part, np.ndarray):
            words.extend([part.ctypes.data, *part.shape, *part.strides])
        else:
            words.append(struct.unpack("=q", struct.pack("=d", part))[0] if isinstance(part, float) else int(part))
    return words


register_model(PackedType)(models.OpaqueModel)


@unbox(PackedType)
def _unbox(packed_type, value, context):
    address = context.pyapi.object_getattr_string(value, "address")
    pointer = context.pyapi.long_as_voidptr(address)
    context.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_not_null(context.builder, context.pyapi.err_occurred()))


@infer_getattr
class _PackedFields(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, packed, name):
        return packed.fields[name][1] if name in packed.fields else None


@lower_getattr_generic(PackedType)
def _read_field(context, builder, packed, pointer, name):
    place, field = packed.fields[name]
    if isinstance(field, PackedType):
        return cgutils.pointer_add(builder, pointer, _WORD * place)

    def word(number, kind):
        address = cgutils.pointer_add(builder, pointer, _WORD * (place + number), kind.as_pointer())
        value = builder.load(address)
        # words never change: one read of each is enough, whatever is written meanwhile
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if not isinstance(field, types.Array):
        if isinstance(field, types.Boolean):
            return builder.trunc(word(0, ir.IntType(64)), ir.IntType(1))
        return word(0, context.get_value_type(field))
    array = make_array(field)(context, builder)
    intp = context.get_value_type(types.intp)
    shape = [word(1 + axis, intp) for axis in range(field.ndim)]
    strides = [word(1 + field.ndim + axis, intp) for axis in range(field.ndim)]
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(field.dtype)))
    data = word(0, context.get_data_type(field.dtype).as_pointer())
    populate_array(array, data, cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides), item, None)
    return array._getvalue()


def _packed_at(context, like, address):
    """The packed tree of the same type at another address."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[1], context.get_value_type(signature.return_type))

    return like(like, address), generate


packed_at: Any = intrinsic(_packed_at)
