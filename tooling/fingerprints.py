#!/usr/bin/env python3
"""Record the results of every machine and every experiment, to the last bit, or compare them with a record.

    fingerprints.py record FILE
    fingerprints.py compare FILE

A change of structure must not change one bit of a result: record before it, compare after each of its steps. Machines
run 2000 steps in every world, by every integrator and every scheme that they allow, under their program. A fingerprint
depends on the values alone, not on the names or the nesting of the state that holds them.
"""

import argparse
import hashlib
import itertools
import json
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy

import grouser
from grouser import catalogue, experiments
from grouser.experiments.protocol import as_json, complete_parameters
from grouser.physics.integrators.context import INTEGRATORS
from grouser.program import CommandProgram, load_program
from grouser.runtime.driving import Driver
from grouser.runtime.vehicle_parts import make_vehicle

STEPS = 2000
_INTERVAL = 20  # steps for which a command holds
_TEST_MACHINES = Path(__file__).resolve().parent.parent / "test" / "data" / "machines"
_MEASURED = ("hil_latency",)  # experiments whose results are times
_TIMINGS = (
    "compute_time",
    "real_time_factor",
    "step_time_p50",
    "step_time_p99",
    "microseconds_per_step",
    "sweep_microseconds_per_step",
)  # results that are not deterministic
_FLEET = {"demolition_robot": (0.0, 0.0, 0.0), "rover": (6.0, 0.0, 0.0), "excavator": (0.0, 8.0, 0.0)}


def main() -> int:
    """Record or compare; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="names that contain this")
    options = parser.parse_args()
    if options.action == "record":
        options.file.write_text(json.dumps(dict(fingerprints(options.only)), indent=1) + "\n")
        return 0
    differences = compare(json.loads(options.file.read_text()), fingerprints(options.only), options.only)
    print("\n".join(differences) or "all equal")
    return 1 if differences else 0


def compare(recorded: dict[str, str], found: Iterable[tuple[str, str]], only: str = "") -> list[str]:
    """Differences, one a line."""
    left = {name: value for name, value in recorded.items() if only in name}
    differences = []
    for name, value in found:
        expected = left.pop(name, "nothing")
        if value != expected:
            differences.append(f"{name}: {value} instead of {expected}")
            print(differences[-1], file=sys.stderr, flush=True)
    return differences + [f"{name}: nothing instead of {value}" for name, value in left.items()]


def fingerprints(only: str = "") -> Iterator[tuple[str, str]]:
    """Name and digest of the platform, of every machine's motion and of every experiment's result."""
    if not only:
        yield (
            "platform",
            " ".join([platform.machine(), *platform.libc_ver(), numba.__version__, np.__version__, scipy.__version__]),
        )
    machines = [*catalogue.machine_files(), *sorted(_TEST_MACHINES.glob("*.urdf"))]
    for file, world, integrator in itertools.product(machines, catalogue.world_files(), INTEGRATORS):
        name = f"{file.name.split('.')[0]} {world.stem} {integrator}"
        if only in name:
            yield name, _motion(grouser.load_machine(file), world, integrator, _program_of(file))
    members = {
        name: grouser.Member(grouser.load_machine(catalogue.machine_file(name)), grouser.Pose(place))
        for name, place in _FLEET.items()
    }
    for world in catalogue.world_files():
        name = f"fleet {world.stem}"
        if only in name:
            yield name, _motion(grouser.combine(members), world, "semi_implicit", None)
    for scheme in ("split", "semi_implicit"):
        name = f"hydraulic_lift flat scheme {scheme}"
        if only in name:
            machine = grouser.load_machine(catalogue.machine_file("hydraulic_lift"))
            yield name, _motion(machine, catalogue.world_file("flat"), "semi_implicit", None, scheme)
    for name in experiments.NAMES:
        if only in name and name not in _MEASURED:
            experiment = experiments.load(name)
            result = experiment.run(**complete_parameters(experiment, {}))
            yield name, digest_of(_numbers_of(as_json(name, {}, result)["results"]))


def digest_of(arrays: Iterable[np.ndarray]) -> str:
    """Digest of arrays, whatever their order."""
    parts = sorted(hashlib.sha256(np.ascontiguousarray(array).data).digest() for array in arrays if array.size)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def _motion(
    machine: grouser.Machine, world: Path, integrator: str, program: CommandProgram | None, scheme: str = "implicit"
) -> str:
    try:
        simulation = grouser.Simulation(
            machine, grouser.load_world(world), integrator=integrator, scheme=scheme, step=0.001
        )
        _run(simulation, program)
    except grouser.DivergenceError as error:
        return f"diverged: {error}"
    except grouser.GrouserError as error:
        return f"refused: {type(error).__name__}"
    return digest_of(_observations(simulation))


def _run(simulation: grouser.Simulation, program: CommandProgram | None) -> None:
    command, machine = simulation.command, simulation.machine
    if program is None:
        for valve in machine.valves[::2]:
            command[valve.name] = 0.3
        for drive in command.drives:
            command[drive] = command[drive] + 0.1
        simulation.step(STEPS)
        return
    vehicle = make_vehicle(machine)
    driver = None
    if vehicle is not None and vehicle.driven:
        driver = Driver(vehicle, simulation)
    interval = _INTERVAL * simulation.step_size
    for _ in range(STEPS // _INTERVAL):
        commands = program.values(simulation.time)
        if driver is not None:
            commands = driver.commands(commands, interval)
        for name, value in commands.items():
            command[name] = value
        simulation.step(_INTERVAL)


def _observations(simulation: grouser.Simulation) -> Iterator[np.ndarray]:
    """Everything that a restart needs, and all measurements."""
    yield from _leaves(simulation.snapshot().state)
    yield simulation.link_poses()
    yield np.array(_numbers_of_tuple(astuple(simulation.energy_balance())))
    for view in ("joint_effort", "joint_reaction", "contact_wrench"):
        for name, value in getattr(simulation, view).items():
            yield np.concatenate([np.frombuffer(name.encode(), np.uint8), np.atleast_1d(value)])


def _leaves(tree: Any) -> Iterator[np.ndarray]:
    if isinstance(tree, tuple):
        for part in tree:
            yield from _leaves(part)
    else:
        yield np.asarray(tree)


def _numbers_of_tuple(values: Any) -> list[float]:
    if isinstance(values, dict):
        values = tuple(values.values())
    if isinstance(values, tuple | list):
        return [number for value in values for number in _numbers_of_tuple(value)]
    return [float(values)]


def _numbers_of(results: dict[str, Any]) -> Iterator[np.ndarray]:
    for name in sorted(results.keys() - set(_TIMINGS)):
        value = results[name]
        yield np.frombuffer(f"{name} {json.dumps(value)}".encode(), np.uint8)


def _program_of(file: Path) -> CommandProgram | None:
    demonstration = catalogue.demonstration_of(file)
    return load_program(demonstration) if demonstration is not None and demonstration.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
