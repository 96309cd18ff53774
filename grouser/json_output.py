"""The option `--json` of commands: their result for other programs, on the screen or in a file."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grouser.physics.base.errors import ParameterError

SCREEN = "-"


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds the option to a parser: None without it, `SCREEN`, or the name of a file."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=SCREEN,
        metavar="FILE.json",
        help="write JSON to a file, or without FILE.json to the screen instead of the text",
    )


def with_json_target(arguments: Sequence[str]) -> list[str]:
    """Returns arguments in which `--json` has its value: the next word only if that ends in .json or is `-`."""
    words = list(arguments)
    for number, word in enumerate(words):
        following = words[number + 1] if number + 1 < len(words) else ""
        if word == "--json" and following != SCREEN and not following.endswith(".json"):
            words[number] = f"--json={SCREEN}"
    return words


def check_json_file(target: str | None) -> None:
    """Checks before a long computation that its file can be written.

    Raises:
        ParameterError: its folder does not exist.
    """
    if target not in (None, SCREEN) and not Path(str(target)).absolute().parent.is_dir():
        raise ParameterError("--json", str(target), "a file name in a directory that exists")


def write_json(target: str, document: Any) -> None:
    """Writes a result.

    Args:
        target: `SCREEN` or the name of a file.
        document: of plain types with finite numbers.

    Raises:
        ParameterError: the file cannot be written.
    """
    text = json.dumps(document, indent=1, allow_nan=False)
    if target == SCREEN:
        print(text)
        return
    try:
        Path(target).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise ParameterError("--json", target, f"a file that can be written ({error.strerror})") from None
