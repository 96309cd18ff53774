"""``serial_bridge``: frames on a serial line or in UDP datagrams."""

import sys

from grouser.nodes.bridges.node import BridgeNode


class SerialBridgeNode(BridgeNode):
    """Connects a serial line or UDP, as a mapping says."""

    program = "serial_bridge"


main = SerialBridgeNode.main

if __name__ == "__main__":
    sys.exit(main())
