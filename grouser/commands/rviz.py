"""`grouser rviz`: RViz with the displays of a machine."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from grouser.arguments import Parser, require_new_file
from grouser.catalogue import machine_file, machine_files
from grouser.commands.machine_options import read_arguments
from grouser.layouts.rviz import rviz_config
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.resources import share_path

EXIT_NOT_INSTALLED = 2


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser rviz`.

    Args:
        arguments: what follows the word `rviz`.

    Returns:
        The exit status: that of RViz, or 2 if it is not installed.

    Raises:
        MachineError: the machine cannot be loaded.
        ParameterError: the file exists, or cannot be written.
    """
    parser = Parser(prog="grouser rviz", description="Opens RViz with displays of what a machine publishes.")
    parser.add_argument("machine", help="name of a machine that comes with grouser, or a URDF or xacro file")
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="arguments of the xacro file")
    parser.add_argument("--output", type=Path, help="write the configuration there, .rviz, and do not open RViz")
    parser.add_argument("--overwrite", action="store_true", help="write over a file that exists")
    options = parser.parse_args(arguments)
    file = machine_file(options.machine)
    if options.output is not None:
        require_new_file(options.output, "--output", options.overwrite)
        text = rviz_config(load_machine(file, read_arguments(options.arguments)))
        try:
            options.output.write_text(text, encoding="utf-8")
        except OSError as error:
            wanted = f"a file that can be written ({error.strerror})"
            raise ParameterError("--output", str(options.output), wanted) from None
        print(f"configuration written to {options.output}")
        return 0
    config = _shipped(file)
    program = shutil.which("rviz2")
    if program is None:
        print(
            f"grouser rviz: rviz2 is not installed, or ROS 2 is not sourced (sudo apt install ros-$ROS_DISTRO-rviz2, "
            f"source /opt/ros/$ROS_DISTRO/setup.bash); elsewhere: rviz2 -d {config}",
            file=sys.stderr,
        )
        return EXIT_NOT_INSTALLED
    return subprocess.run(
        [program, "-d", str(config), "--ros-args", "-p", "use_sim_time:=true"], check=False
    ).returncode


def _shipped(file: Path) -> Path:
    """The configuration of a machine that comes with grouser."""
    if file not in machine_files():
        raise ParameterError("machine", str(file), "a machine that comes with grouser, or --output FILE.rviz")
    return share_path("config", "rviz", f"{file.name.partition('.')[0]}.rviz")
