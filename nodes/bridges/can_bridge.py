"""``can_bridge``: CAN with databases, J1939 and CANopen."""

import sys

from grouser.nodes.bridges.node import BridgeNode


class CanBridgeNode(BridgeNode):
    """Connects a CAN bus, as a mapping says."""

    program = "can_bridge"


main = CanBridgeNode.main

if __name__ == "__main__":
    sys.exit(main())
