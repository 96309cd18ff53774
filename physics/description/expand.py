"""xacro to URDF text."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import BYTES_MAX, refuse_declarations

SECONDS_MAX = 20.0
_WORKER = "grouser.physics.description.text.xacro_worker"
_ARGUMENT = re.compile(r"<xacro:arg\b[^>]*?\bname\s*=\s*[\"']([^\"']*)[\"']")


def is_xacro(path: Path) -> bool:
    """Tells a xacro file by its name."""
    return path.suffix.lower() == ".xacro"


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Returns the URDF text that a xacro file expands to.

    Args:
        path: the xacro file.
        arguments: values of its ``<xacro:arg>`` elements.

    Raises:
        MachineError: the file cannot be read or expanded, takes longer than SECONDS_MAX, or has no such argument.
    """
    text = read_text(path, BYTES_MAX, "xacro")
    refuse_declarations(text.encode("utf-8"), str(path))
    # Included files may declare arguments too, so an unknown one can be told only in a file without includes.
    if "xacro:include" not in text:
        declared = _ARGUMENT.findall(text)
        for name in arguments:
            if name not in declared:
                raise MachineError(f"it has no xacro argument '{name}'", file=path, remedy=closest(name, declared))
    request = json.dumps({"file": str(path), "arguments": {name: str(value) for name, value in arguments.items()}})
    try:
        done = subprocess.run(
            [sys.executable, "-m", _WORKER],
            input=request.encode("utf-8"),
            capture_output=True,
            timeout=SECONDS_MAX,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(
            f"xacro has not ended after {SECONDS_MAX:g} s", file=path, remedy="does a macro or an include call itself?"
        ) from None
    except OSError as error:
        raise MachineError(f"xacro cannot be started: {error.strerror}", file=path) from None
    if done.returncode != 0:
        raise MachineError(f"xacro: {_reason(done)}", file=path)
    if len(done.stdout) > BYTES_MAX:
        raise MachineError(f"it expands to more than {BYTES_MAX} bytes", file=path)
    return done.stdout.decode("utf-8")


def _environment() -> dict[str, str]:
    # The directory that holds the grouser package: the worker must find the same one.
    root = str(Path(__file__).parents[3])
    inherited = os.environ.get("PYTHONPATH")
    search = root + os.pathsep + inherited if inherited else root
    # numpy's threads would each reserve address space, of which the worker has little and needs none.
    return {**os.environ, "PYTHONPATH": search, "OPENBLAS_NUM_THREADS": "1"}


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return f"it ended with status {done.returncode}"
    if lines[0].startswith("Traceback"):
        return lines[-1][:400]
    # Behind the problem stands the chain of macros and files that led to it, which may be endless.
    return "; ".join(lines[:5])[:600]
