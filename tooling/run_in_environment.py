#!/usr/bin/env python3
"""Replace this process by a program of the virtual environment, with the variables that suit it.

    run_in_environment.py FOLDER PROGRAM [ARGUMENT ...]

An environment with the rclpy wheels must not see a sourced ROS 2 nor another environment's library path; one that rests
on the machine's ROS 2 needs what that has set. PROGRAM is looked up in FOLDER/bin.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from preflight import clean_environment
from setup_environment import State


def main() -> None:
    """Start the program in place of this process."""
    folder = Path(sys.argv[1]).absolute()
    native = bool(State(folder).get("native"))
    environment = clean_environment(native)
    environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{environment['PATH']}"
    prefixes = [str(folder), *([environment["AMENT_PREFIX_PATH"]] if native else [])]
    environment["AMENT_PREFIX_PATH"] = os.pathsep.join(prefixes)
    program = folder / "bin" / sys.argv[2]
    os.execve(program, [str(program), *sys.argv[3:]], environment)


if __name__ == "__main__":
    main()
