"""``plc_bridge``: Modbus and OPC UA, as server or as client."""

import sys

from grouser.nodes.bridges.node import BridgeNode


class PlcBridgeNode(BridgeNode):
    """Connects a controller by Modbus or OPC UA, as a mapping says."""

    program = "plc_bridge"


main = PlcBridgeNode.main

if __name__ == "__main__":
    sys.exit(main())
