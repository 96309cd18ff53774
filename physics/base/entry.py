"""Entries: compiled functions that are called by their address.

A function that calls an entry contains none of its code: entries are compiled separately, in any order and by several
processes, and only those that a machine needs. A call costs as much as one through a pointer, 1 to 2 ns.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.core.extending import intrinsic

from grouser.physics.base.kernel import inlined
from grouser.physics.base.packed import Packed


class Context(Protocol):
    """Argument of a step's entries: everything, each part nested by room (`integrators.context.StepContext`)."""

    system: Any
    state: Any
    command: Any
    workspace: Any
    schedule: Any


class Schedule(NamedTuple):
    """The entries of a step that a machine needs, phase by phase.

    Attributes:
        start: first entry of each phase, and the end of the last, (phases + 1,).
        entry: address of the machine code of each entry.
    """

    start: np.ndarray
    entry: np.ndarray


def address_of(function: Any, context: Packed) -> int:
    """Address of a kernel's machine code for a packed tree; compiles it if it is not in the cache."""
    return code_address(function, typeof(context))


def code_address(function: Any, *arguments: types.Type) -> int:
    """Address of a compiled function's machine code for arguments of these types."""
    function.compile(arguments)
    compiled = function.overloads[arguments]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def generate_call(target: Any, builder: Any, result: types.Type, arguments: tuple[types.Type, ...], values: Any) -> Any:
    """Generates the call of a function at an address, in an intrinsic; an exception in it goes on to the caller.

    Args:
        target, builder: of the intrinsic.
        result, arguments: types of the function.
        values: the address, and the values of the arguments.

    Returns:
        The value of the result.
    """
    convention = target.call_conv
    pointer = builder.inttoptr(values[0], convention.get_function_type(result, arguments).as_pointer())
    status, value = convention.call_function(builder, pointer, result, arguments, values[1:])
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def _make_caller(result: types.Type) -> Any:
    """Makes the function that calls entries that return `result`."""

    def call(typing_context, address, context):
        def generate(target, builder, signature, arguments):
            return generate_call(target, builder, result, (context,), arguments)

        return result(types.int64, context), generate

    return intrinsic(call)


# Call the entry at an address with a packed tree; the first returns nothing, the second an integer.
call_entry: Any = _make_caller(types.none)
call_entry_for_result: Any = _make_caller(types.int64)


@inlined
def run_phase(context: Context, phase: int):
    """Calls the entries of a phase, room by room."""
    for k in range(context.schedule.start[phase], context.schedule.start[phase + 1]):
        call_entry(context.schedule.entry[k], context)


@inlined
def any_in_phase(context: Context, phase: int):
    """Calls the entries of a phase; returns whether one of them changed something."""
    changed = False
    for k in range(context.schedule.start[phase], context.schedule.start[phase + 1]):
        changed = call_entry_for_result(context.schedule.entry[k], context) != 0 or changed
    return changed
