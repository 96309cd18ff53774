"""``python -m grouser.nodes.viewer``."""

import sys

from grouser.nodes.viewer.node import main

sys.exit(main())
