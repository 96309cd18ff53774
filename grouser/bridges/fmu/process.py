"""An FMU in a process of its own, stepped in lockstep."""

import contextlib
import json
import math
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from grouser.bridges.fmu.description import FmuDescription
from grouser.bridges.fmu.wire import LONGEST, READY, Status, pack_step, unpack_result

START_LIMIT = 600.0  # [s]: longest wait for an FMU to load and initialize; a machine may have to be compiled
_END_LIMIT = 1.0  # [s]: to end and free the instance
_CANCEL_PERIOD = 0.1  # [s] between looks whether a start is cancelled


class FmuDiscardedError(Exception):
    """The FMU refused a step; its state is that before the step."""


class FmuFailedError(Exception):
    """The FMU failed, ended, gave no finite output or did not answer in time. Its process has been ended."""


def make_work(
    description: FmuDescription,
    inputs: Sequence[str],
    outputs: Sequence[str],
    parameters: Mapping[str, float],
    folder: str,
    start: float,
) -> dict[str, Any]:
    """Returns the description of the work for `worker`; the FMU is extracted into `folder`."""
    variables = description.variables
    return {
        "file": str(description.file),
        "folder": folder,
        "version": description.version,
        "token": description.token,
        "identifier": description.identifier,
        "start": start,
        "inputs": [(variables[name].type, variables[name].reference) for name in inputs],
        "outputs": [(variables[name].type, variables[name].reference) for name in outputs],
        "parameters": [(variables[name].type, variables[name].reference, one) for name, one in parameters.items()],
    }


def failure_of(status: Status, names: Sequence[str], outputs: Sequence[float]) -> str:
    """Returns why the FMU must not be stepped on; "" where it may."""
    if status is Status.FAILED:
        return "it failed in a step"
    for name, value in zip(names, outputs, strict=True):
        if not math.isfinite(value):
            return f"its output '{name}' is {value}"
    return ""


class FmuProcess:
    """Runs an FMU in another process. It is foreign machine code: whatever it does, this process goes on.

    Args:
        description: of the FMU.
        inputs, outputs: names of variables.
        parameters: values before initialization, by name.
        deadline: longest wait for a step [s].
        start: time of the first step [s].
        start_deadline: longest wait for it to be loaded and initialized [s].
        cancelled: ends that wait when it is set.

    Raises:
        FmuFailedError: it could not be loaded and initialized.
    """

    def __init__(
        self,
        description: FmuDescription,
        inputs: Sequence[str],
        outputs: Sequence[str],
        parameters: Mapping[str, float],
        deadline: float,
        start: float = 0.0,
        start_deadline: float = START_LIMIT,
        cancelled: threading.Event | None = None,
    ):
        self._outputs = tuple(outputs)
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "grouser.bridges.fmu.worker", str(theirs.fileno())]
        # a session of its own: an interrupt from the keyboard is for the bridge
        self._process = subprocess.Popen(
            command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()
        self._folder = tempfile.mkdtemp(prefix="grouser_fmu_")
        work = make_work(description, inputs, outputs, parameters, self._folder, start)
        answer = self._start(json.dumps(work).encode(), start_deadline, cancelled or threading.Event())
        if answer != READY:
            self.close()
            raise FmuFailedError(answer.decode(errors="replace"))
        self._connection.settimeout(deadline)

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    def step(self, time: float, step: float, inputs: Sequence[float]) -> tuple[float, ...]:
        """Sets the inputs, makes a step and returns the outputs.

        Args:
            time: at the start of the step [s].
            step: its length [s]; 0: get the outputs of the present state, whatever the inputs.
            inputs: in the order of the names.

        Raises:
            FmuDiscardedError: it refused the step.
            FmuFailedError: it did anything else than to make the step in time.
        """
        answer = self._exchange(pack_step(time, step, inputs), "a step")
        try:
            status, outputs = unpack_result(answer, len(self._outputs))
        except ValueError as error:
            raise self._failure(f"its process gave no answer that can be read: {error}") from None
        if status is Status.DISCARDED:
            raise FmuDiscardedError("it discarded the step")
        if reason := failure_of(status, self._outputs, outputs):
            raise self._failure(reason)
        return outputs

    def close(self) -> None:
        """Lets it end and free its instance, then ends its process and what that has started."""
        self._connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT)
        self._kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, work: bytes, deadline: float, cancelled: threading.Event) -> bytes:
        """Hands over the work and returns the answer."""
        end = time.monotonic() + deadline
        self._connection.settimeout(_CANCEL_PERIOD)
        try:
            self._connection.send(work)
            while not cancelled.is_set():
                if select.select([self._connection], (), (), _CANCEL_PERIOD)[0]:
                    return self._connection.recv(LONGEST) or b"its process ended during loading it"
                if time.monotonic() > end:
                    raise self._failure(f"loading it took longer than {deadline:g} s")
        except OSError:
            raise self._failure("its process ended during loading it") from None
        raise self._failure("its start was cancelled")

    def _exchange(self, message: bytes, what: str) -> bytes:
        try:
            self._connection.send(message)
            answer = self._connection.recv(LONGEST)
        except TimeoutError:
            raise self._failure(f"{what} took longer than {self._connection.gettimeout():g} s") from None
        except OSError:
            answer = b""
        if not answer:
            raise self._failure(f"its process ended during {what}")
        return answer

    def _failure(self, reason: str) -> FmuFailedError:
        """Ends the process at once; returns the error to raise."""
        self._kill()
        self.close()
        return FmuFailedError(reason)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it leads a group of its own
            os.killpg(self._process.pid, signal.SIGKILL)
