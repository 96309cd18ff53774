"""``joystick_bridge``: joysticks of this computer as `joy`, or as commands of a machine."""

import sys

from grouser.nodes.bridges.node import BridgeNode


class JoystickBridgeNode(BridgeNode):
    """Connects the joysticks of this computer, as a mapping says; without one, a gamepad to `joy`."""

    program = "joystick_bridge"
    default = "gamepad"


main = JoystickBridgeNode.main

if __name__ == "__main__":
    sys.exit(main())
