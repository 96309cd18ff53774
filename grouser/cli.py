"""The commands of the package. Each has a module of its own, which is imported when the command is called."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from grouser import __version__
from grouser.arguments import Parser
from grouser.commands.registry import COMMANDS
from grouser.physics.base.errors import ConvergenceError, DivergenceError, MachineError, ParameterError

# Packages of bridges, and what of `pip install "grouser[...]"` brings them.
_EXTRAS = {
    "evdev": "joystick",
    "can": "can",
    "cantools": "can",
    "canopen": "can",
    "pymodbus": "plc",
    "asyncua": "plc",
    "cryptography": "plc",
    "serial": "serial",
    "cobs": "serial",
    "fmpy": "fmi",
}
_ROS_NAMES = ("rclpy", "_msgs", "_srvs", "_interfaces", "_index_python")  # Endings of the modules of ROS 2.

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
    parser = Parser(
        prog="grouser",
        description="Simulates working machines.",
        epilog=f"commands:\n{commands}\n\n'grouser COMMAND --help' describes a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"grouser {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="what to do")
    command = parser.parse_args(arguments[:1]).command
    return _call(f"grouser {command}", COMMANDS[command][0], arguments[1:])


def simulator() -> int:
    """Runs the node of `grouser.nodes.simulator`; returns its exit status."""
    return _call("simulator", "grouser.nodes.simulator.node", None)


def viewer() -> int:
    """Runs the node of `grouser.nodes.viewer`; returns its exit status."""
    return _call("viewer", "grouser.nodes.viewer.node", None)


def attitude_controller() -> int:
    """Runs the node of `grouser.nodes.attitude.controller`; returns its exit status."""
    return _call("attitude_controller", "grouser.nodes.attitude.controller", None)


def operator() -> int:
    """Runs the node of `grouser.nodes.operator`; returns its exit status."""
    return _call("operator", "grouser.nodes.operator.node", None)


def joystick_bridge() -> int:
    """Runs the node of `grouser.nodes.bridges.joystick_bridge`; returns its exit status."""
    return _call("joystick_bridge", "grouser.nodes.bridges.joystick_bridge", None)


def can_bridge() -> int:
    """Runs the node of `grouser.nodes.bridges.can_bridge`; returns its exit status."""
    return _call("can_bridge", "grouser.nodes.bridges.can_bridge", None)


def plc_bridge() -> int:
    """Runs the node of `grouser.nodes.bridges.plc_bridge`; returns its exit status."""
    return _call("plc_bridge", "grouser.nodes.bridges.plc_bridge", None)


def serial_bridge() -> int:
    """Runs the node of `grouser.nodes.bridges.serial_bridge`; returns its exit status."""
    return _call("serial_bridge", "grouser.nodes.bridges.serial_bridge", None)


def fmu_bridge() -> int:
    """Runs the node of `grouser.nodes.bridges.fmu_bridge`; returns its exit status."""
    return _call("fmu_bridge", "grouser.nodes.bridges.fmu_bridge", None)


def composed() -> int:
    """Runs the nodes of `grouser.nodes.composed`; returns its exit status."""
    return _call("composed", "grouser.nodes.composed", None)


def world_map() -> int:
    """Runs the node of `grouser.nodes.navigation.world_map`; returns its exit status."""
    return _call("world_map", "grouser.nodes.navigation.world_map", None)


def goal_follower() -> int:
    """Runs the node of `grouser.nodes.navigation.goal_follower`; returns its exit status."""
    return _call("goal_follower", "grouser.nodes.navigation.goal_follower", None)


def _call(program: str, module: str, arguments: Sequence[str] | None) -> int:
    """Calls a module's `main`; turns an error into one message and an exit status."""
    try:
        return import_module(module).main(arguments)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "grouser":
            raise
        print(f"{program}: {_missing(package)}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except (MachineError, ParameterError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except (ConvergenceError, DivergenceError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_FAILED
    except BrokenPipeError:
        # The reader of the output (head, less) has ended; flushing the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


def _missing(package: str) -> str:
    """Message for a Python package that is not installed, with the remedy."""
    if package in _EXTRAS:
        return f'the Python package {package} is not installed: pip install "grouser[{_EXTRAS[package]}]"'
    if not package.endswith(_ROS_NAMES):
        return f"the Python package {package} is not installed: pip install -e . in grouser's source folder"
    return (
        f"the ROS 2 package {package} is not installed, or ROS 2 is not sourced.\n"
        f"  With ROS 2: source /opt/ros/$ROS_DISTRO/setup.bash "
        f"(and apt install ros-$ROS_DISTRO-{package.replace('_', '-')}).\n"
        "  Without it, in grouser's source folder: make run, which sets up its own; or into an environment of yours\n"
        "  pip install -e '.[ros]' && python tooling/build_interfaces.py"
    )


if __name__ == "__main__":
    sys.exit(main())
