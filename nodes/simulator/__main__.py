"""``python -m grouser.nodes.simulator``."""

import sys

from grouser.nodes.simulator.node import main

sys.exit(main())
