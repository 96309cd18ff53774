"""A state in a few digits: two that differ anywhere in one bit have different ones."""

import hashlib

import numpy as np

from grouser.physics.integrators.context import State

_BYTES = 16


def state_hash(state: State) -> str:
    """BLAKE2b over name, type, shape and bytes of every array, as 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    for name, array in zip(State._fields, state, strict=True):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
