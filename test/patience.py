"""How tests wait: for events, and all with one deadline."""

import time
from collections.abc import Callable

# [s] of wall time, after which what a test waits for is taken to be never coming. It is long:
# a busy computer may be twenty times slower than an idle one, and a first run compiles.
DEADLINE = 300.0
_LOOK = 0.01  # [s] after which a condition is looked at again


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Waits for a condition that nobody announces."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never came true: {what}"
        time.sleep(_LOOK)
