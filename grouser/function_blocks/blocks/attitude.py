"""ATTITUDE: roll, pitch and yaw of an orientation, as of `base_pose` or an IMU."""

import math
from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import NUMBER, Block, BlockType, Port, refuse_rest

_INPUTS = dict.fromkeys(("QX", "QY", "QZ", "QW"), NUMBER)
_OUTPUTS = dict.fromkeys(("ROLL", "PITCH", "YAW"), Port(unit="rad"))


def attitude(_: float, x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Turns about z, then y, then x (ROS REP 103) [rad]."""
    sine = min(max(2.0 * (w * y - z * x), -1.0), 1.0)
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, math.asin(sine), yaw


def _make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
    refuse_rest(parameters, tuple(_INPUTS))
    return Block("ATTITUDE", _INPUTS, _OUTPUTS, lambda: attitude)


BLOCKS = (BlockType("ATTITUDE", "roll, pitch and yaw of a quaternion", tuple(_INPUTS), _make),)
