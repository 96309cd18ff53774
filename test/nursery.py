"""Python modules as processes that start at once: they are forks of a process that has imported and compiled all.

A program that is to load kernels itself, or reads the environment as it is imported, needs an interpreter of its own.
"""

import atexit
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_WARM = "nursery_stock"


class Child:
    """A process of the nursery, used as a `subprocess.Popen` whose errors go with its output, as text."""

    def __init__(self, module: str, *arguments: str) -> None:
        receiving, sending = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_become, args=(module, arguments, dict(os.environ), sending))
        self._process.start()
        sending.close()
        self.stdout = os.fdopen(os.dup(receiving.fileno()), encoding="utf-8")
        receiving.close()
        self.pid = self._process.pid
        assert self.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    poll = returncode.fget

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Waits for its end; returns the rest of its output."""
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(self.stdout.read()), daemon=True)
        reader.start()
        reader.join(timeout)
        if not said:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        self.wait(timeout)
        return said[0], None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def open_nursery() -> None:
    """Starts the process that is forked; it ends with this one."""
    from multiprocessing import forkserver

    _CONTEXT.set_forkserver_preload([_WARM])
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [before])])
    forkserver.ensure_running()
    os.environ["PYTHONPATH"] = before


def _become(module: str, arguments: tuple[str, ...], environment: Mapping[str, str], output: Connection) -> None:
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    for number in (1, 2):
        os.dup2(output.fileno(), number)
    output.close()
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    sys.argv[1:] = arguments
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()


def _end_with_the_tests() -> None:
    """Ends this process with that of the tests, whose ROS domain then is another's."""
    tests = multiprocessing.parent_process()
    assert tests
    tests.join()
    os.kill(os.getpid(), signal.SIGKILL)
