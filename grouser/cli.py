"""The `grouser` command. Each sub-command lives in its own module, loaded only when it is called."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from grouser import __version__
from grouser.physics.errors import DivergenceError, MachineError, ParameterError

# Name: (module whose main(arguments) returns the exit status, help).
COMMANDS = {
    "run": ("grouser.run", "simulate a machine on ROS 2 in real time"),
    "inspect": ("grouser.inspection", "show what a URDF or xacro file describes"),
    "reproduce": ("grouser.experiments.command_line", "run a published result"),
    "bench": ("grouser.benchmark", "measure speed, beside other simulators"),
}
EXIT_BAD_INPUT = 2
EXIT_FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the `grouser` command.

    Args:
        arguments: without the program's name; None: those of the process.

    Returns:
        The exit status: 0 for success, 1 when a simulation fails, 2 for bad input.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    commands = "\n".join(f"  {name:12}{text}" for name, (_, text) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="grouser",
        description="Simulates working machines.",
        epilog=f"commands:\n{commands}\n\n'grouser COMMAND --help' tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"grouser {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="what to do")
    command = parser.parse_args(arguments[:1]).command
    try:
        return import_module(COMMANDS[command][0]).main(arguments[1:])
    except (MachineError, ParameterError) as error:
        print(f"grouser {command}: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except DivergenceError as error:
        print(f"grouser {command}: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_FAILED
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; what is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
