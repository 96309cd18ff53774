"""Garbage collection with short pauses: objects that live as long as the physics are excluded from it.

A full collection over all objects of a running simulator stops every thread for a tenth of a second.
"""

import gc


def freeze_present_objects() -> None:
    """Collects present garbage and excludes all other present objects from later collections."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.collect()  # so that the collector schedules by the few objects that remain
