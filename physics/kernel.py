"""The decorators of compiled functions."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import event

from grouser.physics.kernel_cache import KernelCache


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


class _CompilationListener(event.Listener):
    """Counts functions that are compiled, not those that come from the cache."""

    def __init__(self, report):
        self._report = report
        self._done = 0
        self._begun = []

    def on_start(self, event):
        """Numba begins a function, perhaps in the middle of one that calls it."""
        self._begun.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        """Numba has finished a function, and goes on with the one around it."""
        name = self._begun.pop()
        self._done += 1
        self._report(self._done, self._begun[-1] if self._begun else name)


@contextmanager
def reporting_compilation(report: Callable[[int, str], None]) -> Iterator[None]:
    """Tells what is compiled meanwhile.

    Args:
        report: told, by the thread that compiles, after each function how many are done and which one is compiled now:
            the one around it, or itself when it was the outermost.
    """
    with event.install_listener("numba:compile", _CompilationListener(report)):
        yield
