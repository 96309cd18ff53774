"""What a bridge and the process of an FMU say to each other, over a socket that keeps messages apart.

First the bridge sends a description of the work as JSON, and the process answers "ready" or a reason why not. Then each
step is a time, a step [s] and the inputs, answered by a status and the outputs, all as doubles.
"""

import struct
from collections.abc import Sequence
from enum import Enum

LONGEST = 1 << 16  # bytes of a message
READY = b"ready"


class Status(Enum):
    """How a step ended."""

    DONE = 0
    DISCARDED = 1
    FAILED = 2


def pack_step(time: float, step: float, inputs: Sequence[float]) -> bytes:
    """Returns the message that asks for a step."""
    return struct.pack(f"={2 + len(inputs)}d", time, step, *inputs)


def unpack_step(message: bytes, inputs: int) -> tuple[float, float, tuple[float, ...]]:
    """Returns time, step and inputs."""
    time, step, *values = struct.unpack(f"={2 + inputs}d", message)
    return time, step, tuple(values)


def pack_result(status: Status, outputs: Sequence[float]) -> bytes:
    """Returns the answer to a step."""
    return struct.pack(f"=B{len(outputs)}d", status.value, *outputs)


def unpack_result(message: bytes, outputs: int) -> tuple[Status, tuple[float, ...]]:
    """Returns status and outputs.

    Raises:
        ValueError: not such an answer.
    """
    try:
        status, *values = struct.unpack(f"=B{outputs}d", message)
    except struct.error as error:
        raise ValueError(str(error)) from None
    return Status(status), tuple(values)
