"""The decorators of compiled functions."""

import functools
from collections.abc import Callable
from typing import Any

import numba

from grouser.physics.base.kernel_cache import KernelCache


def kernel(function: Callable, **options: Any) -> Any:
    """A function that numba compiles when it is first called; its machine code is kept on disk.

    Arithmetic is IEEE 754's, operation by operation. Numba links a copy of each function into those that call it, and
    which copy serves a process depends on what it compiles and what it loads: with sums that may be reassociated or
    contracted, each is rounded in its own way, and the same inputs would not give the same bits in every process.
    Kernels allocate nothing and own no array, so that they need no reference counts: those would take half of a step.

    Args:
        function: to be compiled.
        options: of `numba.njit`.
    """
    compiled = numba.njit(error_model="numpy", _nrt=False, no_cfunc_wrapper=True, **options)(function)
    if compiled is not function:  # which it is where compiling is switched off
        compiled._cache = KernelCache(function)
    return compiled


# For the parts of a long function: compiled within it, once. Each kernel of its own is linked into those that call it
# and optimised with them anew.
inlined = functools.partial(kernel, inline="always")


# For functions of some size that are called from many places: compiled once, and inlined by LLVM.
embedded = functools.partial(kernel, forceinline=True)
