"""``python -m grouser.nodes.operator``."""

import sys

from grouser.nodes.operator.node import main

sys.exit(main())
