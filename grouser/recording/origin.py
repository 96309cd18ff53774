"""What was recorded: enough to build the same simulation again, and to say where it ran."""

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import coal
import llvmlite.binding
import numba
import numpy as np
import scipy

from grouser import __version__
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine, parse_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.soil.tiles import with_capacity


@dataclass(frozen=True)
class Origin:
    """What was simulated, and by what.

    Attributes:
        machine_file, machine_arguments: where the machine came from; its text is in `urdf`.
        urdf: of the machine, with xacro expanded.
        world_file: where the world came from.
        world: text of that file.
        files: meshes and maps that machine and world refer to -> hash of what was in them.
        step: [s].
        scheme, integrator: as of `Simulation`.
        tile_room: for how many tiles of soft ground there was room at the start.
        system: fingerprint of all that a step reads, from a snapshot.
        versions: of grouser, Python and what computes, and the processor that code is compiled for.
    """

    machine_file: str
    machine_arguments: Mapping[str, str]
    urdf: str
    world_file: str
    world: str
    files: Mapping[str, str]
    step: float
    scheme: str
    integrator: str
    tile_room: int
    system: str
    versions: Mapping[str, str]

    @classmethod
    def of(cls, simulation: Simulation, machine_arguments: Mapping[str, str]) -> "Origin":
        """That of a simulation at its start.

        Raises:
            MachineError: a file that it was made from can no longer be read.
        """
        machine, world = simulation.machine, simulation.world
        return cls(
            machine_file=str(Path(machine.file).absolute()),
            machine_arguments=dict(machine_arguments),
            urdf=machine.source,
            world_file=str(Path(world.file).absolute()),
            world=world.source,
            files={file: _content_hash(file) for file in _files(machine, world)},
            step=simulation.step_size,
            scheme=simulation.scheme,
            integrator=simulation.integrator,
            tile_room=len(simulation.state.tile_place),
            system=simulation.snapshot().system,
            versions=present_versions(),
        )

    def simulation(self) -> Simulation:
        """The same simulation at its start.

        Raises:
            MachineError: a mesh or map is no longer there, or no longer what it was.
        """
        for file, recorded in self.files.items():
            if _content_hash(file) != recorded:
                raise MachineError("the file has changed since it was recorded", file=file, remedy="bring it back")
        machine, world = parse_machine(self.urdf, self.machine_file), parse_world(self.world, self.world_file)
        simulation = Simulation(machine, world, step=self.step, scheme=self.scheme, integrator=self.integrator)
        if self.tile_room != len(simulation.state.tile_place):
            simulation.use_state(with_capacity(simulation.state, self.tile_room))
        return simulation


def present_versions() -> dict[str, str]:
    """What computes here: two that differ in any of it may round differently."""
    return {
        "grouser": __version__,
        "python": platform.python_version(),
        **{module.__name__: module.__version__ for module in (numba, np, scipy, coal)},
        "processor": f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}",
    }


def _files(machine: Machine, world: World) -> Iterable[str]:
    shapes = [collision.geometry for link in machine.links for collision in link.collisions]
    return dict.fromkeys([*(shape.path for shape in shapes if isinstance(shape, Mesh)), *world.files])


def _content_hash(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise MachineError(f"cannot be read: {error.strerror}", file=file) from None
