"""Splits a command line into a program's own arguments and those for ROS."""

from collections.abc import Sequence

_FIRST = "--ros-args"


def split_ros_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before ``--ros-args``, and the rest."""
    words = list(arguments)
    at = words.index(_FIRST) if _FIRST in words else len(words)
    return words[:at], words[at:]
