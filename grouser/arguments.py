"""Arguments of commands: errors in one line that name the argument, the value, what is valid and the remedy."""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from grouser.json_output import with_json_target
from grouser.physics.base.errors import ParameterError

LISTS_OPTIONS = "GROUSER_LIST_OPTIONS"  # Environment variable with which a command prints its options, for completion.

_UNKNOWN = re.compile(r"unrecognized arguments: (?P<words>.+)$")
_MISSING = re.compile(r"the following arguments are required: (?P<words>.+)$")
_VALUE = re.compile(r"argument (?P<name>[^:]+): invalid (?P<kind>\w+) value: (?P<value>.+)$")
_CHOICE = re.compile(r"argument (?P<name>[^:]+): invalid choice: (?P<value>.+?) \(choose from (?P<choices>.+)\)$")
_EXPECTED = re.compile(r"argument (?P<name>[^:]+): expected (?P<count>.+)$")
_KINDS = {"float": "a number", "int": "a whole number", "_positive": "a number above 0"}
EXIT_BAD_INPUT = 2


def require_new_file(path: Path, name: str, overwrite: bool) -> None:
    """Checks that a file does not exist yet, unless it may be overwritten.

    Raises:
        ParameterError: it exists.
    """
    if path.exists() and not overwrite:
        raise ParameterError(name, str(path), "a file that does not exist yet; --overwrite replaces it")


class Parser(argparse.ArgumentParser):
    """A parser of a command's arguments whose errors are one line."""

    def parse_known_args(self, args=None, namespace=None):
        """As its base; where options are asked for, prints them instead and ends the process."""
        if os.environ.get(LISTS_OPTIONS):
            print(*self._options(), sep="\n")
            sys.exit(0)
        words = sys.argv[1:] if args is None else args
        if "--json" in self._options():
            words = with_json_target(words)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Prints an error of the arguments in one line, and ends the process with status 2."""
        print(f"{self.prog}: {self._explained(message)}; '{self.prog} --help' describes all", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)

    def _options(self) -> Iterator[str]:
        for action in self._actions:
            yield from (option for option in action.option_strings if option.startswith("--"))

    def _explained(self, message: str) -> str:
        if match := _UNKNOWN.match(message):
            word = match["words"].split()[0]
            close = difflib.get_close_matches(word.partition("=")[0], list(self._options()), n=1)
            hint = f"did you mean {close[0]}?" if close else "leave it out"
            return f"{word} is not known here: {hint}"
        if match := _MISSING.match(message):
            return f"{match['words']} is missing"
        if match := _VALUE.match(message):
            return f"{match['name']} = {match['value']} is not valid: {_KINDS.get(match['kind'], match['kind'])}"
        if match := _CHOICE.match(message):
            choices = match["choices"].replace("'", "").split(", ")
            value = match["value"].strip("'")
            close = difflib.get_close_matches(value, choices, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            return f"{match['name']} = {value} is not valid: one of {', '.join(choices)}{hint}"
        if match := _EXPECTED.match(message):
            return f"{match['name']} needs {match['count'].replace('argument', 'value')}"
        return message
