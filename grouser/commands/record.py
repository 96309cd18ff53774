"""`grouser record`: `grouser run` with a recording for `grouser replay`, and with a ROS 2 bag beside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn

from grouser.commands.run import make_parser, run
from grouser.recording.recorder import DATED_FILE


def main(arguments: Sequence[str]) -> NoReturn:
    """Runs `grouser record`, then ends the process; as `grouser run`, with status 1 for a recording with gaps too.

    Args:
        arguments: what follows the word `record`.
    """
    parser = make_parser("grouser record", __doc__)
    parser.add_argument(
        "record",
        nargs="?",
        default=f"{datetime.now():{DATED_FILE}}",
        metavar="FILE",
        help="new file, in the MCAP format (%(default)s)",
    )
    parser.add_argument(
        "--bag",
        action="store_true",
        help="write what is published into a ROS 2 bag, too: a folder beside FILE, run_bag for run.mcap",
    )
    parser.set_defaults(simulated_duration=True)
    run(parser, arguments)
