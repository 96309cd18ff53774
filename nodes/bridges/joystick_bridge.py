"""``joystick_bridge``: joysticks of this computer as `joy`, or as commands of a machine."""

import sys
from collections.abc import Sequence

from rclpy.parameter import Parameter

from grouser.nodes.bridges.node import DECLARATIONS, BridgeNode
from grouser.nodes.shared.process import run_node

__all__ = ["DECLARATIONS", "JoystickBridgeNode", "main"]

_PROGRAM = "joystick_bridge"
_DEFAULT = "gamepad"


class JoystickBridgeNode(BridgeNode):
    """Connects the joysticks of this computer, as a mapping says; without one, a gamepad to `joy`."""

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__(_PROGRAM, _DEFAULT, overrides)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or mapping."""
    return run_node(_PROGRAM, JoystickBridgeNode, JoystickBridgeNode.finish, arguments)


if __name__ == "__main__":
    sys.exit(main())
