"""Old name of `grouser.nodes.attitude.controller`, for ``python -m``."""

import sys

from grouser.nodes.attitude.controller import main

if __name__ == "__main__":
    print("grouser.nodes.attitude_controller is now grouser.nodes.attitude.controller", file=sys.stderr)
    sys.exit(main())
