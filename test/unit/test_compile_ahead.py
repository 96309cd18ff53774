"""What a simulation has compiled ahead is what Python calls: with other types it would be compiled twice."""

import json
import subprocess
import sys

import pytest

_PROGRAM = """
import json
import sys

import numba
from numba.core import event


class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event)

    def on_end(self, event):
        pass


compiled = []
event.register("numba:compile", Listener())

import grouser
from grouser import catalogue
from grouser.physics.simulation.compile_ahead import jobs_of
from grouser.physics.simulation.membership import RAYS, sensors_of
from grouser.runtime.streams import rehearse

machine = grouser.load_machine(catalogue.machine_file(sys.argv[1]))
simulation = grouser.Simulation(machine, grouser.load_world(catalogue.world_file(sys.argv[2])))
rehearse(simulation)
jobs = {}
for job in jobs_of(simulation.arrays.system, any(sensors_of(machine, kind) for kind in RAYS)):
    jobs.setdefault(f"{job.module}.{job.function}", []).append(str(job.arguments))
called = {}
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("grouser.physics"):
        for value in vars(module).values():
            if isinstance(value, numba.core.dispatcher.Dispatcher) and value.overloads:
                name = f"{value.py_func.__module__}.{value.py_func.__name__}"
                called[name] = [str(types) for types in value.overloads]
print(json.dumps([jobs, called, len(compiled)]))
"""
# Kernels of some lines, called before anything is compiled ahead, or with several types.
_SMALL = {
    "grouser.physics.base.spatial.rotation_matrix",
    "grouser.physics.base.spatial.quaternions_from_matrices",
    "grouser.physics.soil.tiles._fill_table",
    "grouser.physics.soil.tiles.fill_natural_levels",
    "grouser.physics.soil.memory.shown_slip",
    "grouser.physics.base.spatial.quaternion_from_matrix",
    "grouser.physics.base.spatial.cross",
}


@pytest.mark.parametrize(("machine", "world"), [("demolition_robot", "flat"), ("rover", "sand"), ("four_bar", "flat")])
def test_kernels_called_from_python_are_compiled_ahead_with_their_types(machine, world):
    """In a process that finds all kernels in the cache, only those that Python calls are loaded."""
    command = [sys.executable, "-c", _PROGRAM, machine, world]
    for _ in range(2):  # the first may fill the cache
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        jobs, called, compiled = json.loads(done.stdout)
        if not compiled:
            break
    assert called.keys() - jobs.keys() <= _SMALL
    assert jobs.keys() <= called.keys()
    for name in called.keys() - _SMALL:
        assert sorted(called[name]) == sorted(set(jobs[name])), name
