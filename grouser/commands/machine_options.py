"""Options of the commands that load a machine."""

import argparse
from collections.abc import Sequence

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.machine_file.loader import BASES


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the option --argument, which may be repeated."""
    parser.add_argument(
        "--argument", action="append", default=[], metavar="NAME:=VALUE", help="argument of the machine's xacro file"
    )


def add_base(parser: argparse.ArgumentParser) -> None:
    """Adds the option --base."""
    parser.add_argument(
        "--base", choices=BASES, help="of the root link; default: fixed if it is named world, else floating"
    )


def add_packages(parser: argparse.ArgumentParser) -> None:
    """Adds the option --package, which may be repeated."""
    parser.add_argument(
        "--package",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="folder of a ROS package, for package:// and $(find NAME); others are found by the ament index, "
        "in ROS_PACKAGE_PATH and around the file",
    )


def read_arguments(texts: Sequence[str]) -> dict[str, str]:
    """Returns the xacro arguments of ``name:=value`` texts.

    Raises:
        ParameterError: a text is not of that form.
    """
    arguments = {}
    for text in texts:
        name, assigned, value = text.partition(":=")
        if not assigned or not name:
            raise ParameterError("xacro argument", text, "write name:=value")
        arguments[name] = value
    return arguments
