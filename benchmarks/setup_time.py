"""Set-up time of the present environment."""

import json
import sys
from pathlib import Path

from grouser.benchmarks.figure import Figure, SkippedError

DESCRIPTION = "time that make took to set up this environment, when it last made it from nothing"

_RECORD = "grouser_setup.json"


def run() -> list[Figure]:
    """Reads the time that the set-up recorded.

    Raises:
        SkippedError: it recorded none.
    """
    record = Path(sys.prefix) / _RECORD
    if not record.is_file():
        raise SkippedError("this Python's environment was not made by make")
    seconds = json.loads(record.read_text()).get("seconds")
    if seconds is None:
        raise SkippedError(f"{record.parent.name} was not made in one go, so that its set-up noted no time")
    return [Figure("set-up", float(seconds), "s")]
