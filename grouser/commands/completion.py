"""`grouser completion`: a script with which bash completes commands, their options and the names that they take.

    eval "$(grouser completion)"

The script asks `grouser completion --words` for the words that may come next.
"""

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from importlib import import_module

from grouser.arguments import LISTS_OPTIONS, Parser
from grouser.commands.listing import KINDS
from grouser.commands.registry import COMMANDS

_SCRIPT = """_grouser() {
    local begun="${COMP_WORDS[COMP_CWORD]}" before=("${COMP_WORDS[@]:1:COMP_CWORD-1}") words
    mapfile -t words < <(grouser completion --words "${before[@]}" -- "$begun" 2> /dev/null)
    mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$begun")
}
complete -o default -F _grouser grouser
"""
# Kind of the names that follow a command, and an option.
_AFTER_COMMAND = {
    "inspect": "machines",
    "diagram": "programs",
    "bode": "machines",
    "fmu": "machines",
    "map": "worlds",
    "reproduce": "experiments",
}
_AFTER_OPTION = {"--machine": "machines", "--world": "worlds", "--program": "programs"}


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser completion`.

    Args:
        arguments: what follows the word `completion`.

    Returns:
        The exit status.
    """
    if arguments[:1] == ["--words"]:
        *words, _, begun = arguments[1:]
        commands = {name: module for name, (module, _) in COMMANDS.items()}
        print(*next_words(words, begun, commands), sep="\n")
        return 0
    parser = Parser(prog="grouser completion", description='Prints a script for bash: eval "$(grouser completion)"')
    parser.parse_args(arguments)
    print(_SCRIPT, end="")
    return 0


def next_words(words: Sequence[str], begun: str, commands: Mapping[str, str]) -> list[str]:
    """Words that may come next on the command line.

    Args:
        words: complete ones after `grouser`.
        begun: the beginning of the next one.
        commands: the module of each command.
    """
    if not words:
        return [*commands, "--help", "--version"]
    command, last = words[0], words[-1]
    if last in _AFTER_OPTION:
        return KINDS[_AFTER_OPTION[last]]()
    if begun.startswith("-"):
        return _options(commands[command]) if command in commands else []
    if command == "list":
        return list(KINDS)
    return KINDS[_AFTER_COMMAND[command]]() if command in _AFTER_COMMAND and len(words) == 1 else []


def _options(module: str) -> list[str]:
    """The options of a command, by its parser."""
    printed, os.environ[LISTS_OPTIONS] = io.StringIO(), "1"
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            import_module(module).main([])
    finally:
        del os.environ[LISTS_OPTIONS]
    return printed.getvalue().split()
