"""Right sides of systems that are functions: called by address, so that the steps are compiled once for all of them."""

from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core.extending import intrinsic

from grouser.physics.base.entry import code_address, generate_call

_VECTOR = types.Array(types.float64, 1, "C")
_ARGUMENTS = (types.float64, _VECTOR, _VECTOR, _VECTOR)


class RightSide:
    """The machine code of a right side.

    Args:
        function: `f(t, y, u, out)`, compiled by numba, that writes f into `out`; what it returns is ignored.
    """

    def __init__(self, function: Callable[..., Any]):
        def call(t, y, u, out):
            function(t, y, u, out)

        self._compiled = numba.njit(call)

    @property
    def address(self) -> int:
        """For `evaluate`, in this process and as long as this object lives."""
        return code_address(self._compiled, *_ARGUMENTS)


def _evaluate(typing_context, address, t, y, u, out):
    def generate(target, builder, signature, arguments):
        return generate_call(target, builder, types.none, _ARGUMENTS, arguments)

    return types.none(types.int64, *_ARGUMENTS), generate


# `evaluate(address, t, y, u, out)` in compiled code.
evaluate: Any = intrinsic(_evaluate)
