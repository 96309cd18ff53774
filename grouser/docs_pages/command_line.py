"""Writes docs/command_line.md from the parsers of the commands.

python -m grouser.docs_pages.command_line > docs/command_line.md
"""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import NoReturn
from unittest.mock import patch

from grouser.arguments import Parser
from grouser.commands.registry import COMMANDS

_INTRODUCTION = """# The command line

`grouser COMMAND --help` describes a command, `grouser --version` prints the version. `eval "$(grouser completion)"`
completes commands, options and names in bash. Results go to the standard output, errors and warnings to the standard
error output. The exit status is 0 for success, 1 where a simulation or a check fails, 2 for bad input.

This page is made from the parsers: `python -m grouser.docs_pages.command_line > docs/command_line.md`.
"""
_NODES = """## Nodes

The nodes are commands too, with ROS 2's arguments (`--ros-args -p NAME:=VALUE`): `simulator`, `viewer`, `operator`,
`composed` (several in one process), `world_map`, `goal_follower`, `attitude_controller`, `joystick_bridge`,
`can_bridge`, `plc_bridge`, `serial_bridge` and `fmu_bridge`. Their parameters are in
[the ROS 2 interface](ros_interface.md).
"""
# Defaults that are different at each call, and what the page says instead.
_CHANGING = {"record": "by the date"}


class _AskedError(Exception):
    """A command has made its parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def command_line_page() -> str:
    """Returns the text of docs/command_line.md."""
    return "\n".join([_INTRODUCTION, *(line for name in COMMANDS for line in _section(name)), _NODES])


def command_parser(name: str) -> argparse.ArgumentParser:
    """Returns the parser of a command, which is not run."""

    def ask(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise _AskedError(parser)

    with patch.object(Parser, "parse_known_args", ask):
        try:
            import_module(COMMANDS[name][0]).main([])
        except _AskedError as asked:
            return asked.parser
    raise AssertionError(f"the command '{name}' parses no arguments")


def _section(name: str) -> Iterator[str]:
    parser = command_parser(name)
    text = COMMANDS[name][1]
    yield f"## `grouser {name}`"
    yield ""
    yield f"{text[0].upper()}{text[1:]}."
    yield ""
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    if actions:
        yield "| argument | default | meaning |"
        yield "|---|---|---|"
        for action in actions:
            yield f"| {_written(action)} | {_default(action)} | {_meaning(action, parser)} |"
        yield ""


def _written(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{option} {value}`" if value else f"`{option}`" for option in action.option_strings)


def _value(action: argparse.Action) -> str:
    """What a user writes for the value of an argument; "" for none."""
    if action.nargs == 0:
        return ""
    word = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    name = " ".join(word) if isinstance(word, tuple) else word
    forms = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]", "...": f"[{name} ...]"}
    return forms.get(str(action.nargs), name)


def _default(action: argparse.Action) -> str:
    if action.dest in _CHANGING and action.default:
        return _CHANGING[action.dest]
    if action.required and action.nargs != "*":
        return "required"
    if action.nargs == 0 or action.default in (None, "", [], (), argparse.SUPPRESS):
        return ""
    return f"`{action.default}`"


def _meaning(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    text = action.help or ""
    if action.dest in _CHANGING and action.default:
        text = text.replace(" (%(default)s)", "")
    names = {**vars(action), "prog": parser.prog}
    choices = [] if action.choices is None else [str(choice) for choice in action.choices]
    said = " ".join((text % names).split())
    if choices and not all(choice in said for choice in choices):
        said += f"; one of {', '.join(choices)}"
    return said.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(command_line_page())
