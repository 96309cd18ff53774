"""``plc_bridge``: Modbus and OPC UA, as server or as client."""

import sys
from collections.abc import Sequence

from rclpy.parameter import Parameter

from grouser.nodes.bridges.node import DECLARATIONS, BridgeNode
from grouser.nodes.shared.process import run_node

__all__ = ["DECLARATIONS", "PlcBridgeNode", "main"]

_PROGRAM = "plc_bridge"


class PlcBridgeNode(BridgeNode):
    """Connects a controller by Modbus or OPC UA, as a mapping says."""

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__(_PROGRAM, "", overrides)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter or mapping."""
    return run_node(_PROGRAM, PlcBridgeNode, PlcBridgeNode.finish, arguments)


if __name__ == "__main__":
    sys.exit(main())
