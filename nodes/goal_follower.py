"""Old name of `grouser.nodes.navigation.goal_follower`, for ``python -m``."""

import sys

from grouser.nodes.navigation.goal_follower import main

if __name__ == "__main__":
    print("grouser.nodes.goal_follower is now grouser.nodes.navigation.goal_follower", file=sys.stderr)
    sys.exit(main())
