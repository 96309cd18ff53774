"""When Python looks for garbage: never among the many objects that stay, so that its pauses are short.

A look at all that a running simulator has takes a tenth of a second, in which no thread goes on. What is there when the
physics is ready stays as long as the physics does, and is left out from then on.
"""

import gc


def leave_out_what_is_there() -> None:
    """Collects what is garbage now, and has later looks leave out what is not."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.collect()  # so that the collector measures its next look by the few objects that it still sees


def collect() -> None:
    """Collects what has become garbage since: below a millisecond, as most is left out."""
    gc.collect()
