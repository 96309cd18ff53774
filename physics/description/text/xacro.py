"""Expansion of xacro files to URDF text."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.declarations import refuse_declarations
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.packages import Packages
from grouser.physics.description.text.xml_tree import BYTES_MAX

SECONDS_MAX = 20  # of processor time, so that a busy machine does not count
_WAIT_MAX = 300.0  # [s]: for a worker that does not compute
_WORKER = "grouser.physics.description.text.xacro_worker"


def is_xacro(path: Path) -> bool:
    """Returns whether a file name is that of a xacro file."""
    return path.suffix.lower() == ".xacro"


class Expansion(NamedTuple):
    """What a xacro file expands to.

    Attributes:
        text: the URDF.
        defaults: its arguments, those of included files too -> default; None for one whose value was given, or that
            is used and not declared.
        unknown: names of given arguments that no file declares or uses.
    """

    text: str
    defaults: Mapping[str, str | None]
    unknown: tuple[str, ...]


def expand_xacro(path: Path, arguments: Mapping[str, str], packages: Packages) -> Expansion:
    """Expands a xacro file.

    Args:
        path: the xacro file.
        arguments: values of its ``<xacro:arg>`` elements.
        packages: of the file.

    Raises:
        MachineError: the file cannot be read or expanded, or takes longer than SECONDS_MAX.
    """
    text = read_text(path, BYTES_MAX, "xacro")
    refuse_declarations(text.encode("utf-8"), str(path))
    request = json.dumps(
        {
            "file": str(path),
            "arguments": {name: str(value) for name, value in arguments.items()},
            "near": str(packages.file),
            "packages": {name: str(folder) for name, folder in packages.given.items()},
            "seconds": SECONDS_MAX,
        }
    )
    try:
        done = subprocess.run(
            [sys.executable, "-m", _WORKER],
            input=request.encode("utf-8"),
            capture_output=True,
            timeout=_WAIT_MAX,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(f"xacro has not ended after {_WAIT_MAX:g} s", file=path) from None
    except OSError as error:
        raise MachineError(f"xacro cannot be started: {error.strerror}", file=path) from None
    if done.returncode == -signal.SIGXCPU:
        raise MachineError(
            f"xacro has not ended after {SECONDS_MAX} s of processor time",
            file=path,
            remedy="does a macro or an include call itself?",
        )
    if done.returncode != 0:
        raise MachineError(f"xacro: {_reason(done)}", file=path)
    if len(done.stdout) > BYTES_MAX:
        raise MachineError(f"it expands to more than {BYTES_MAX} bytes", file=path)
    answer = json.loads(done.stdout)
    known = answer["defaults"] | dict.fromkeys(name for name in answer["used"] if name not in answer["defaults"])
    return Expansion(answer["text"], known, tuple(name for name in arguments if name not in known))


def _environment() -> dict[str, str]:
    # The directory of this grouser package: the worker must import the same one.
    root = str(Path(__file__).parents[4])
    inherited = os.environ.get("PYTHONPATH")
    search = root + os.pathsep + inherited if inherited else root
    return {**os.environ, "PYTHONPATH": search}


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return f"it ended with status {done.returncode}"
    if lines[0].startswith("Traceback"):
        return lines[-1][:400]
    # After the problem xacro prints the stack of macros and files, which may be very long.
    return "; ".join(lines[:5])[:900]
