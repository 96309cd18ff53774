"""``fmu_bridge``: a functional mock-up unit, in a process of its own."""

import sys

from grouser.nodes.bridges.node import BridgeNode


class FmuBridgeNode(BridgeNode):
    """Steps a functional mock-up unit, as a mapping says."""

    program = "fmu_bridge"


main = FmuBridgeNode.main

if __name__ == "__main__":
    sys.exit(main())
