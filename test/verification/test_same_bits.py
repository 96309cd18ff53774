"""The same inputs give the same bits, in the process that compiles the kernels and in one that loads them."""

import os
import subprocess
import sys

import pytest

_MACHINES = {"demolition_robot": "flat", "rover": "sand"}
_PROGRAM = """
import hashlib
import sys

import grouser
from grouser import catalogue
from grouser.physics.base.trees import leaves

for name, world in zip(sys.argv[1::2], sys.argv[2::2]):
    machine = grouser.load_machine(catalogue.machine_file(name))
    simulation = grouser.Simulation(machine, grouser.load_world(catalogue.world_file(world)))
    for valve in machine.valves[::2]:
        simulation.command[valve.name] = 0.3
    for drive in machine.drives:
        simulation.command[drive.joint] = 0.1
    simulation.step(1000)
    digest = hashlib.sha256()
    for array in leaves(simulation.state):
        digest.update(array.tobytes())
    print(name, digest.hexdigest())
"""


@pytest.mark.soak  # of two minutes: everything is compiled anew
def test_same_bits_with_and_without_compiling(tmp_path):
    """Numba links copies of functions into others: the two processes run different copies."""
    arguments = [word for pair in _MACHINES.items() for word in pair]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert len(first.splitlines()) == len(_MACHINES)
    assert first == second
