"""Plain objects: machines in which nothing moves, measures or obeys, such as boxes, stones and walls."""

from collections.abc import Collection

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS
from grouser.physics.simulation.simulation import Simulation
from grouser.runtime.sampling import ObjectPoses


def is_plain(machine: Machine) -> bool:
    """Whether a machine is a plain object: rigid, without moving joints, drives, hydraulics, wheels, shovels or
    sensors.
    """
    parts = (
        *machine.shovels,
        *(machine.drives, machine.wheels, machine.tracks, machine.every_sensor, machine.spherical_joints),
        *(machine.loop_joints, machine.compliant_joints, machine.flexible_links, machine.others),
        *(getattr(machine, field) for field in PORTS),
    )
    return not any(parts) and all(joint.type == "fixed" for joint in machine.joints)


class PlainObjects:
    """The plain objects in a simulation, which are sampled together.

    Args:
        simulation: to read from.
        names: of its members that are plain objects.

    Attributes:
        names: of those, in the order of the simulation.
    """

    def __init__(self, simulation: Simulation, names: Collection[str]) -> None:
        self._roots = simulation.roots
        chosen = [(number, one.name) for number, one in enumerate(simulation.machine.members) if one.name in names]
        self._numbers = np.array([number for number, _ in chosen], dtype=np.intp)
        self.names = tuple(name for _, name in chosen)

    def sample(self) -> ObjectPoses:
        """Their poses now."""
        return ObjectPoses(self.names, self._roots.poses()[self._numbers])
