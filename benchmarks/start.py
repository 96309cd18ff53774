"""From nothing to the first step of the demolition robot: with an empty compile cache, and with a full one."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grouser import catalogue
from grouser.benchmarks.figure import Figure

DESCRIPTION = "start of Python to first step of the demolition robot: nothing compiled yet, and all in the cache"

_PROGRAM = """
import json, sys, time
began = time.perf_counter()
import grouser
machine = grouser.load_machine(sys.argv[1])
loaded = time.perf_counter()
simulation = grouser.Simulation(machine)
built = time.perf_counter()
simulation.step()
stepped = time.perf_counter()
print(json.dumps({"import and load [s]": loaded - began, "Simulation [s]": built - loaded,
                  "first step [s]": stepped - built, "processor time [s]": time.process_time()}))
"""


def run() -> list[Figure]:
    """Starts Python twice on the same fresh cache."""
    machine = catalogue.machine_file("demolition_robot")
    with tempfile.TemporaryDirectory() as cache:
        return [_start(f"{kind} start", machine, cache) for kind in ("cold", "warm")]


def _start(name: str, machine: Path, cache: str) -> Figure:
    """Wall time of one start."""
    command = [sys.executable, "-c", _PROGRAM, str(machine)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    began = time.perf_counter()
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Figure(name, time.perf_counter() - began, "s", details=json.loads(result.stdout))
