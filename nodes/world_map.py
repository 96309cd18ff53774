"""Old name of `grouser.nodes.navigation.world_map`, for ``python -m``."""

import sys

from grouser.nodes.navigation.world_map import main

if __name__ == "__main__":
    print("grouser.nodes.world_map is now grouser.nodes.navigation.world_map", file=sys.stderr)
    sys.exit(main())
