#!/usr/bin/env python3
"""Run the tests of SocketCAN in user-mode Linux: a kernel that is an ordinary process, with the files of this computer.

Needs Debian's package `user-mode-linux`: its program `linux.uml` and its modules. It may be unpacked elsewhere instead
(`dpkg -x`), and `--prefix` says where. The kernel has a virtual CAN interface, vcan0, and its root may take it down.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "test/unit/test_bridge_socketcan.py"
MODULES = ("net/can/can.ko", "net/can/can-raw.ko", "drivers/net/can/dev/can-dev.ko", "drivers/net/can/vcan.ko")
INTERFACE = "vcan0"
MEMORY = "1500M"
LONGEST = 600.0  # [s]
EXIT_MISSING = 2
_FINIT_MODULE = 313  # number of the system call on x86-64


def main(arguments: list[str] | None = None) -> int:
    """Boots the kernel and runs the tests in it; returns their exit status, 2 when the kernel is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", type=Path, default=Path("/"), help="folder that user-mode-linux is unpacked in")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    prefix = options.prefix.resolve()
    if options.inside is not None:
        return _run_inside(prefix, options.inside)
    kernel = prefix / "usr/bin/linux.uml"
    if not kernel.exists():
        print(f"{kernel} is missing: sudo apt install user-mode-linux", file=sys.stderr)
        return EXIT_MISSING
    with tempfile.TemporaryDirectory() as folder:
        return _boot(kernel, prefix, Path(folder))


def _boot(kernel: Path, prefix: Path, folder: Path) -> int:
    """Boots, with this program again as what runs inside."""
    status = folder / "status"
    command = [sys.executable, __file__, "--prefix", prefix, "--inside", status]
    variables = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    start = folder / "init"
    lines = ["#!/bin/sh", *exports, f"exec {shlex.join(map(str, command))}"]
    start.write_text("\n".join(lines) + "\n")
    start.chmod(0o755)
    words = [kernel, "rootfstype=hostfs", "rw", f"mem={MEMORY}", f"init={start}", "quiet", "con=null", "con0=null,fd:1"]
    process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(LONGEST)
    except subprocess.TimeoutExpired:
        print(f"the kernel did not end in {LONGEST:g} s", file=sys.stderr)
        return 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its processes are several
    if not status.exists():
        print("the kernel ended before the tests did", file=sys.stderr)
        return 1
    return int(status.read_text())


def _run_inside(prefix: Path, status: Path) -> int:
    """As the first process of the kernel: makes the interface, runs the tests, writes their status and ends."""
    try:
        result = _run_tests(prefix)
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, flush=True)
        result = 1
    status.write_text(f"{result}\n")
    os.sync()
    Path("/proc/sysrq-trigger").write_text("o")
    while True:
        os.wait()


def _run_tests(prefix: Path) -> int:
    for kind, folder in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run"), ("tmpfs", "/dev/shm")):
        Path(folder).mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", kind, kind, folder], check=True)
    library = ctypes.CDLL(None, use_errno=True)
    for module in MODULES:
        path = prefix / "usr/lib/uml/modules" / os.uname().release / "kernel" / module
        with path.open("rb") as file:
            if library.syscall(_FINIT_MODULE, file.fileno(), b"", 0) != 0:
                raise OSError(ctypes.get_errno(), f"{path}: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "link", "add", "dev", INTERFACE, "type", "vcan"], check=True)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", TESTS]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
