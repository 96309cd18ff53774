"""Kernels in Python: an index out of bounds is an error there, and compiling them by themselves would take seconds."""

import functools
import types


@functools.cache
def uncompiled(kernel):
    """The function of a kernel, which calls the functions of all kernels that it names."""
    function = kernel.py_func
    copy = types.FunctionType(
        function.__code__, {**function.__globals__}, function.__name__, function.__defaults__, function.__closure__
    )
    called = [(name, function.__globals__.get(name)) for name in function.__code__.co_names]
    copy.__globals__.update((name, uncompiled(value)) for name, value in called if hasattr(value, "py_func"))
    return copy
