#!/usr/bin/env python3
"""Make or update the project's virtual environment.

Runs under the system's Python with nothing but the standard library. `make run` and `make test` call it every time:
when the environment is complete it returns at once, otherwise it makes the missing stages:

1. a virtual environment (with the system's packages where a ROS 2 installation is sourced);
2. the packages of setup.py, with the rclpy wheels where there is no ROS 2;
3. the interface packages that no wheel provides (tooling/build_interfaces.py);
4. a trial import of everything.

A state file inside the environment records each finished stage, with a fingerprint of its input files. An interrupted
stage is done again.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ament_package import register_package
from preflight import (
    MissingError,
    Probe,
    choose_python,
    clean_environment,
    missing_for_build,
    missing_for_environment,
)

ROOT = Path(__file__).resolve().parent.parent
STATE_FILE = "grouser_setup.json"
PACKAGE_SOURCES = ("setup.py", "setup.cfg", "resource/grouser", "tooling/ament_package.py")
BUILDER_SOURCES = ("tooling/build_interfaces.py", "tooling/interface_sources.py", "tooling/interface_package.py")
EXTRAS = {"run": (), "docs": ("docs",), "test": ("docs", "envs", "hil", "study", "test")}
TRIAL = (
    "import grouser, numba, rclpy, builtin_interfaces.msg, tf2_msgs.msg, control_msgs.action, control_msgs.msg, "
    "simulation_interfaces.srv"
)


class StageError(Exception):
    """A stage failed; the message has its name and the end of its output."""


class State:
    """Finished stages of an environment; each change is written to disk before the next stage starts.

    Args:
        folder: the virtual environment.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / STATE_FILE
        try:
            self._finished = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):
            self._finished = {}

    def get(self, name: str) -> str | None:
        """Fingerprint under which a stage was finished, or None."""
        return self._finished.get(name)

    def set(self, name: str, fingerprint: str | None) -> None:
        """Record a stage as finished, or (None) as not finished."""
        self._finished[name] = fingerprint
        temporary = self._file.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(self._finished, indent=1, sort_keys=True) + "\n")
        temporary.replace(self._file)


class PipProgress:
    """Filters pip's output: at most one line every few seconds.

    Args:
        interval: shortest time between two lines [s].
    """

    def __init__(self, interval: float = 4.0) -> None:
        self._interval = interval
        self._shown_at = time.monotonic()
        self._count = 0

    def __call__(self, line: str) -> str | None:
        """Take one line of pip's output; return what to show, or None."""
        if line.startswith("Installing collected packages"):
            return f"unpacking {line.count(',') + 1} packages"
        if not line.startswith("Collecting "):
            return None
        self._count += 1
        if time.monotonic() - self._shown_at < self._interval:
            return None
        self._shown_at = time.monotonic()
        return f"{self._count} packages found, now {line.split()[1]}"


class Setup:
    """The stages, for one environment.

    Args:
        folder: the virtual environment.
        purpose: `run`, or `test` for the tools of `make test` as well.
        python: the interpreter the user asked for, or None to take a suitable one.
    """

    def __init__(self, folder: Path, purpose: str, python: str | None) -> None:
        self.folder = folder
        self.purpose = purpose
        self.python = python
        self.state = State(folder)
        self.lock_descriptor = -1

    def finished_fingerprints(self) -> dict[str, str]:
        """State of each stage when it is finished with the present files."""
        packages, interfaces = _fingerprint(PACKAGE_SOURCES), _fingerprint(_interface_sources())
        return {
            f"packages for {self.purpose}": packages,
            "interfaces": interfaces,
            "trial": f"{packages} {interfaces}",
        }

    def is_complete(self) -> bool:
        """Whether the state file shows that all stages are finished."""
        return (
            self.state.get("python") is not None
            and (self.python is None or self.state.get("requested") == self.python)
            and self.state.get("installing") is None
            and not self._due_stages()
        )

    def _due_stages(self) -> set[str]:
        return {name for name, value in self.finished_fingerprints().items() if self.state.get(name) != value}

    def require_sourced_ros(self) -> None:
        """Check that the ROS 2 installation under an environment can be seen.

        Raises:
            MissingError: its setup.bash has not been sourced in this shell.
        """
        if self.state.get("native") and not os.environ.get("AMENT_PREFIX_PATH"):
            raise MissingError(
                f"{_shown(self.folder)} rests on the ROS 2 of this machine, which is not sourced in this shell.\n"
                "  source /opt/ros/<distribution>/setup.bash\n"
                f"  or delete {_shown(self.folder)} to make one with the rclpy wheels"
            )

    def run(self) -> None:
        """Do every stage that is not finished.

        Raises:
            MissingError: something must be installed on the machine first.
            StageError: a stage failed.
        """
        with self._lock():
            self.state = State(self.folder)  # The process that held the lock may have finished the work.
            if self.is_complete():
                return
            start = time.monotonic()
            probe = choose_python(self.python)
            reason = self.reason_for_new_environment(probe)
            self._check_machine(probe, new=reason is not None)
            if reason is not None:
                self._make_environment(probe, reason)
            self.state.set("requested", self.python)
            self._install_packages()
            self._build_interfaces()
            self._try_imports()
            seconds = f"{time.monotonic() - start:.0f}"
            if reason is not None:
                self.state.set("seconds", seconds)  # Duration of a set-up from nothing on this machine.
            _say(f"Ready after {seconds} s: {_shown(self.folder)}")

    @contextlib.contextmanager
    def _lock(self):
        """Let one set-up at a time work on an environment.

        Child processes inherit the lock, so a set-up that was killed keeps it until its last child has ended.
        """
        path = self.folder.with_name(self.folder.name + ".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _say(f"Another set-up is at work on {_shown(self.folder)}: waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
            self.lock_descriptor = file.fileno()
            yield

    def reason_for_new_environment(self, probe: Probe) -> str | None:
        """Why the environment must be made from nothing; None when the one that is there can be used."""
        made_for = self.state.get("python")
        if made_for is None:
            return "was not finished" if self.folder.exists() else ""
        if self.state.get("installing"):
            # pip writes packages in place: one that was cut short can look installed.
            return "was interrupted while packages were being installed"
        if self.python is not None and made_for != probe.fingerprint:
            return f"was made for {made_for}"
        return None

    def _check_machine(self, probe: Probe, new: bool) -> None:
        """Check for all missing packages before the first download."""
        missing = missing_for_environment(probe) if new else []
        if not probe.native and (new or "interfaces" in self._due_stages()):
            missing += missing_for_build(probe.headers, probe.minor_version)
        if missing:
            raise MissingError("\n".join(missing))

    def _make_environment(self, probe: Probe, reason: str) -> None:
        """Stage 1: an empty virtual environment."""
        if self.folder.exists():
            if any(self.folder.iterdir()) and not (self.folder / "pyvenv.cfg").exists():
                raise StageError(f"{self.folder} is not a virtual environment: move it away, or choose another VENV")
            _say(f"{_shown(self.folder)} {reason}: making it anew")
            shutil.rmtree(self.folder)
        source = "the ROS 2 of this machine" if probe.native else "rclpy wheels"
        with _timed(f"[1/4] Making {_shown(self.folder)} (Python {probe.version}, {source})"):
            options = ["--system-site-packages"] if probe.native else []
            self._call([probe.executable, "-m", "venv", *options, str(self.folder)])
        self.state = State(self.folder)
        self.state.set("native", "yes" if probe.native else None)
        self.state.set("python", probe.fingerprint)

    def _install_packages(self) -> None:
        """Stage 2: the packages of setup.py, with pip."""
        if f"packages for {self.purpose}" not in self._due_stages():
            return
        ros = () if self.state.get("native") else ("ros",)
        extras = sorted({*EXTRAS[self.purpose], *ros, *self._extras_already_there()})
        target = f".[{','.join(extras)}]" if extras else "."
        self.state.set("installing", target)
        pip = [str(self._own_python()), "-m", "pip", "install", "--no-input", "--progress-bar=off"]
        with _timed(f"[2/4] Installing packages: pip install --editable {target}"):
            # The pip of older distributions searches for minutes where a newer one finds the versions at once.
            self._call([*pip, "--upgrade", "pip"])
            self._call([*pip, "--editable", target], progress=PipProgress())
        register_package(self.folder, ROOT)
        for purpose in EXTRAS:
            if set(EXTRAS[purpose]) <= set(extras):
                self.state.set(f"packages for {purpose}", _fingerprint(PACKAGE_SOURCES))
        self.state.set("installing", None)

    def _extras_already_there(self) -> tuple[str, ...]:
        """Extras of earlier set-ups: an environment for tests stays one."""
        return tuple(
            extra
            for purpose, extras in EXTRAS.items()
            for extra in extras
            if self.state.get(f"packages for {purpose}") is not None
        )

    def _build_interfaces(self) -> None:
        """Stage 3: interface packages that cannot be imported yet."""
        if "interfaces" not in self._due_stages():
            return
        if self.state.get("native"):
            missing = self._missing_interfaces()
            if missing:
                distribution = os.environ.get("ROS_DISTRO", "jazzy")
                packages = " ".join(f"ros-{distribution}-{name.replace('_', '-')}" for name in missing)
                raise StageError(f"This ROS 2 lacks {', '.join(missing)}: sudo apt install {packages}")
        else:
            with _timed("[3/4] Building interface packages that no wheel provides"):
                self._call(
                    [str(self._own_python()), str(ROOT / "tooling" / "build_interfaces.py")], progress=lambda line: line
                )
        self.state.set("interfaces", self.finished_fingerprints()["interfaces"])

    def _missing_interfaces(self) -> list[str]:
        """Names of the interface packages that a ROS 2 installation does not have."""
        names = sorted(path.name for path in (ROOT / "tooling" / "interfaces").iterdir() if path.is_dir())
        environment = clean_environment(native=True)
        return [
            name
            for name in names
            if subprocess.run(
                [str(self._own_python()), "-c", f"import {name}.msg"], env=environment, capture_output=True, check=False
            ).returncode
            != 0
        ]

    def _try_imports(self) -> None:
        """Stage 4: import everything once, so that a broken environment fails here and not during a run."""
        with _timed("[4/4] Trying the imports"):
            self._call([str(self._own_python()), "-c", TRIAL])
        self.state.set("trial", self.finished_fingerprints()["trial"])

    def _own_python(self) -> Path:
        return self.folder / "bin" / "python"

    def _call(self, command: list[str], progress=None) -> None:
        """Run one program with its output in the log file; show the end of it when the program fails.

        Args:
            command: program and arguments.
            progress: takes a line of output and returns what to show of it, or None.
        """
        log = self.folder.with_name(self.folder.name + ".log")
        with log.open("a") as file:
            file.write(f"$ {' '.join(command)}\n")
            file.flush()
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=clean_environment(native=bool(self.state.get("native"))),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                pass_fds=(self.lock_descriptor,),
            )
            assert process.stdout is not None  # Popen was given a pipe.
            lines = []
            for line in process.stdout:
                file.write(line)
                lines.append(line.rstrip())
                shown = progress(lines[-1]) if progress else None
                if shown:
                    _say(f"      {shown}")
            if process.wait() != 0:
                end = "\n".join(f"  | {line}" for line in lines[-25:])
                raise StageError(f"{' '.join(command[:4])} … failed (all output: {_shown(log)}):\n{end}")


def _interface_sources() -> tuple[str, ...]:
    """Files that decide what the interface stage makes."""
    lists = sorted(path for path in (ROOT / "tooling" / "interfaces").rglob("*") if path.is_file())
    return (*BUILDER_SOURCES, *(str(path.relative_to(ROOT)) for path in lists))


def _fingerprint(names: tuple[str, ...]) -> str:
    """Digest of the names and contents of files of the project."""
    content = hashlib.sha256()
    for name in names:
        content.update(name.encode() + b"\0" + (ROOT / name).read_bytes() + b"\0")
    return content.hexdigest()[:16]


def _shown(path: Path) -> str:
    """The shortest form of a path."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _say(text: str) -> None:
    print(text, flush=True)


@contextlib.contextmanager
def _timed(title: str):
    """Print the name of a stage, and its duration."""
    _say(title)
    start = time.monotonic()
    yield
    _say(f"      {time.monotonic() - start:.1f} s")


def main() -> int:
    """Set up; returns the exit status (1: a stage failed, 2: something is missing on this machine)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="the environment's folder")
    parser.add_argument("--python", default=None, help="interpreter to make it with (default: a suitable one)")
    parser.add_argument("--purpose", choices=sorted(EXTRAS), default="run", help="what the environment is for")
    arguments = parser.parse_args()

    setup = Setup(arguments.venv.absolute(), arguments.purpose, arguments.python or None)
    try:
        setup.require_sourced_ros()
        if not setup.is_complete():
            setup.run()
    except MissingError as error:
        print(f"\nSet-up cannot go on:\n{error}", file=sys.stderr)
        return 2
    except StageError as error:
        print(f"\nSet-up failed.\n{error}\nRun the same command again to go on from here.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
