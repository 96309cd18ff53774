"""Probe of this machine: suitable Python, ROS 2, and packages that must be installed first.

Standard library only: the set-up driver imports this under the system's Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

OLDEST, NEWEST = (3, 10), (3, 13)
PREFERENCE = ("python3.12", "python3.11", "python3.13", "python3.10")
WHEEL_MACHINES = ("x86_64", "AMD64")
COMPILERS = {"CC": "gcc", "CXX": "g++"}

# Run by each interpreter in its own process. rclpy counts only where a ROS 2 installation is sourced.
_PROBE = """
import importlib.util, json, os, platform, sys, sysconfig
ros = bool(os.environ.get("AMENT_PREFIX_PATH"))
if ros:
    try:
        import rclpy
    except ImportError:
        ros = False
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "machine": platform.machine(),
    "headers": sysconfig.get_path("include"),
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    "native": ros,
}))
"""


class MissingError(Exception):
    """A package must be installed on the machine first; the message names it and the command."""


@dataclass(frozen=True)
class Probe:
    """Properties of a Python interpreter and its machine.

    Attributes:
        executable: path of the interpreter.
        version: for example `3.12.1`.
        machine: processor architecture.
        headers: folder where `Python.h` belongs.
        venv: whether it can make virtual environments with pip.
        native: whether it can import rclpy from a sourced ROS 2 installation.
    """

    executable: str
    version: str
    machine: str
    headers: Path
    venv: bool
    native: bool

    @property
    def minor_version(self) -> str:
        """For example `3.12`."""
        return ".".join(self.version.split(".")[:2])

    @property
    def supported(self) -> bool:
        """Whether the project is tested with this version."""
        major, minor = self.minor_version.split(".")
        return OLDEST <= (int(major), int(minor)) <= NEWEST

    @property
    def fingerprint(self) -> str:
        """Changes when an environment made with this interpreter could no longer be used with it."""
        return f"Python {self.minor_version}, {'ROS 2 of this machine' if self.native else 'rclpy wheels'}"


def probe_python(name: str) -> Probe | None:
    """Probe an interpreter; None when there is no such interpreter or it does not run."""
    executable = shutil.which(name)
    if executable is None:
        return None
    # A sourced ROS 2 stays visible here: finding it is the point.
    environment = clean_environment(native=True)
    result = subprocess.run([executable, "-c", _PROBE], env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None
    facts = json.loads(result.stdout.splitlines()[-1])
    facts["version"] = ".".join(str(number) for number in facts["version"])
    facts["headers"] = Path(facts["headers"])
    return Probe(**facts)


def choose_python(requested: str | None) -> Probe:
    """The interpreter to make the environment with: the given one, else the first suitable one.

    Raises:
        MissingError: none is supported.
    """
    candidates = [requested] if requested else [sys.executable, "python3", *PREFERENCE]
    seen = []
    for name in candidates:
        probe = probe_python(name)
        if probe is not None and probe.supported:
            return probe
        if probe is not None:
            seen.append(f"{name} is Python {probe.version}")
        elif requested:
            seen.append(f"{name} is not there or does not run")
    supported = f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
    raise MissingError(
        f"No suitable Python ({'; '.join(seen)}). Supported: {supported}.\n"
        "  sudo apt install python3 python3-venv python3-dev\n"
        "  or name an interpreter: PYTHON=python3.12 make test"
    )


def missing_for_environment(probe: Probe) -> list[str]:
    """Packages missing for a virtual environment, each with its remedy."""
    missing = []
    if not probe.venv:
        missing.append(
            f"{probe.executable} cannot make virtual environments: sudo apt install python{probe.minor_version}-venv"
        )
    if not probe.native and (probe.machine not in WHEEL_MACHINES or sys.platform != "linux"):
        missing.append(
            f"There are no rclpy wheels for {sys.platform} on {probe.machine} (only for linux on x86_64): "
            "install ROS 2 Jazzy, source its setup.bash and run this again"
        )
    return missing


def missing_for_build(headers: Path, version: str) -> list[str]:
    """Packages missing to compile interface packages, each with its remedy.

    Args:
        headers: folder where `Python.h` belongs.
        version: of Python, for example `3.12`.
    """
    missing = []
    absent = [name for variable, name in COMPILERS.items() if not shutil.which(os.environ.get(variable, name))]
    if absent:
        missing.append(f"No compiler ({', '.join(absent)}): sudo apt install build-essential")
    if not (headers / "Python.h").is_file():
        missing.append(f"No Python headers ({headers / 'Python.h'}): sudo apt install python{version}-dev")
    return missing


def clean_environment(native: bool) -> dict[str, str]:
    """The environment variables for a program of the virtual environment.

    The rclpy wheels restart Python once with a library path and mark that they did; inherited from another
    environment's Python, both would break this one. With the wheels, a sourced ROS 2 must not be seen either.

    Args:
        native: keep what a sourced ROS 2 installation has set.
    """
    environment = dict(os.environ)
    if "_ROS_WHEELS_BOOTSTRAP_COMPLETE" in environment:
        del environment["_ROS_WHEELS_BOOTSTRAP_COMPLETE"]
        environment.pop("LD_LIBRARY_PATH", None)
    for variable in ("VIRTUAL_ENV", "PYTHONHOME"):
        environment.pop(variable, None)
    if not native:
        for variable in ("AMENT_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
            environment.pop(variable, None)
    return environment
