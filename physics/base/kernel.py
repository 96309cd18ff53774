"""The decorators of compiled functions."""

import functools
from collections.abc import Callable
from typing import Any

import numba

from grouser.physics.base.kernel_cache import KernelCache


def kernel(function: Callable, **options: Any) -> Any:
    """Compiles a function by numba when it is first called; its machine code is kept on disk.

    Arithmetic is IEEE 754's, operation by operation. Numba links a copy of each function into those that call it, and
    which copy a process uses depends on what it compiles and what it loads. Sums that may be reassociated or contracted
    would round differently in each copy, and the same inputs would give other bits in another process.
    Kernels allocate nothing and own no array, and are compiled without reference counts: these would double a step.

    Args:
        function: the function to compile.
        options: of `numba.njit`.
    """
    compiled = numba.njit(error_model="numpy", _nrt=False, no_cfunc_wrapper=True, **options)(function)
    if compiled is not function:  # they are the same where compiling is switched off
        compiled._cache = KernelCache(function)
    return compiled


# For the parts of a long function: compiled as part of it, once. A separate kernel is linked into each of its callers
# and optimised again there.
inlined = functools.partial(kernel, inline="always")


# For larger functions that are called from many places: compiled once, and inlined by LLVM.
embedded = functools.partial(kernel, forceinline=True)
