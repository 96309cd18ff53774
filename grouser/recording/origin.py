"""Origin of a recording: everything needed to build the same simulation again, and the versions that ran it."""

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import scipy

from grouser import __version__
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine, parse_world
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.data.world import World
from grouser.physics.simulation.capacity import StateCapacity, capacity_of, with_capacity
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.transfer import simulate
from grouser.recording.events import Joined, joined_together


@dataclass(frozen=True)
class Origin:
    """Machine, world, settings and versions of a recording.

    Attributes:
        machine_file, machine_arguments: file of the machine and its arguments; its text is in `urdf`.
        urdf: of the machine, with xacro expanded; "" of a fleet.
        machine_base, machine_packages: as of `load_machine`.
        world_file: file of the world.
        world: text of that file.
        files: meshes and maps of machine and world -> hash of their contents.
        step: [s].
        scheme, integrator, spawn, sleeping: as of `Simulation`.
        room: capacity of the state at the start (`StateCapacity`).
        system: fingerprint of the read-only arrays of a step, from a snapshot.
        versions: of grouser, Python and the numerical libraries, and the processor for which code is compiled.
        fleet: fields of `Joined` of each machine of a fleet; empty for a single machine.
    """

    machine_file: str
    machine_arguments: Mapping[str, str]
    urdf: str
    machine_base: str
    machine_packages: Mapping[str, str]
    world_file: str
    world: str
    files: Mapping[str, str]
    step: float
    scheme: str
    integrator: str
    spawn: str
    sleeping: bool
    room: Mapping[str, int]
    system: str
    versions: Mapping[str, str]
    fleet: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, simulation: Simulation, machine_arguments: Mapping[str, str]) -> "Origin":
        """Origin of a simulation; its state, unless it is at its start, is an event (`StateGiven`).

        Raises:
            MachineError: one of its files can no longer be read.
        """
        machine, world, capacity = simulation.machine, simulation.world, capacity_of(simulation.state)
        return cls(
            machine_file=machine.file if machine.members else str(Path(machine.file).absolute()),
            machine_arguments=dict(machine_arguments),
            urdf=machine.source,
            machine_base=machine.base,
            machine_packages=dict(machine.packages),
            world_file=str(Path(world.file).absolute()),
            world=world.source,
            files={file: _content_hash(file) for file in _files(machine, world)},
            step=simulation.step_size,
            scheme=simulation.scheme,
            integrator=simulation.integrator,
            spawn=simulation.spawn,
            sleeping=simulation.sleeping,
            room=capacity._asdict(),
            system=simulation.snapshot().system,
            versions=present_versions(),
            fleet=[asdict(event) for event in joined_together({one.name: one for one in machine.members}, 0)],
        )

    def members(self) -> dict[str, Member]:
        """The machines at the start, by name; a single one is ""."""
        if self.fleet:
            return {event.machine: event.member() for event in (Joined(**fields) for fields in self.fleet)}
        return {"": Member(parse_machine(self.urdf, self.machine_file, self.machine_base, self.machine_packages))}

    def simulation(self) -> Simulation:
        """The same simulation at its start.

        Raises:
            MachineError: a mesh or map is missing or has changed.
        """
        for file, recorded in self.files.items():
            if _content_hash(file) != recorded:
                raise MachineError("the file has changed since it was recorded", file=file, remedy="bring it back")
        settings = (self.step, self.scheme, self.integrator, self.spawn, self.sleeping)
        simulation = simulate(self.members(), parse_world(self.world, self.world_file), *settings)
        capacity = StateCapacity(**self.room)
        simulation.use_state(with_capacity(simulation.state, capacity))
        return simulation


def present_versions() -> dict[str, str]:
    """Versions of the numerical libraries and the processor: different ones may round differently."""
    return {
        "grouser": __version__,
        "python": platform.python_version(),
        **{module.__name__: module.__version__ for module in (numba, np, scipy)},
        "processor": f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}",
    }


def _files(machine: Machine, world: World) -> Iterable[str]:
    shapes = [collision.geometry for link in machine.links for collision in link.collisions]
    return dict.fromkeys([*(shape.path for shape in shapes if isinstance(shape, Mesh) and shape.path), *world.files])


def _content_hash(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise MachineError(f"cannot be read: {error.strerror}", file=file) from None
