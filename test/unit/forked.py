"""Programs in processes of their own that start at once: one that has loaded numba and the kernels forks them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_SERVER = """
import atexit, json, os, sys, tempfile, time, traceback
import numba
from grouser.physics.base import import_closure, kernel

numba.njit(lambda x: x)(1.0)  # the compiler itself is loaded by this
for line in sys.stdin:
    program, folder, environment = json.loads(line)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os.chdir(folder)
            os.environ.update(environment)
            sys.path.insert(0, folder)
            numba.core.config.reload_config()
            import_closure._STARTED = time.time()
            try:
                exec(program, {"__name__": "__main__"})
                status = 0
            except BaseException:
                traceback.print_exc()
                status = 1
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
        print(json.dumps([status, *texts]), flush=True)
"""


class Ended(NamedTuple):
    """A program that has ended: its status, and what it wrote."""

    status: int
    output: str
    errors: str


class Forks:
    """Runs programs, one after the other; used in a `with` statement."""

    def __enter__(self) -> "Forks":
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, program: str, folder: Path, **environment: str) -> Ended:
        """Runs a program in a folder, from which it can import, with additional variables of the environment."""
        assert self._server.stdin and self._server.stdout
        print(json.dumps([program, str(folder), environment]), file=self._server.stdin, flush=True)
        return Ended(*json.loads(self._server.stdout.readline()))
