"""Motion of the root links of all machines in a simulation, read at once."""

import numpy as np

from grouser.physics.readings.frames import link_poses
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.placing import member_bases


class Roots:
    """The root links of all members, in their order; of a machine by itself, its own one.

    Args:
        engine: of the simulation.
    """

    def __init__(self, engine: Engine):
        machine, names = engine.setup.machine, engine.setup.names
        roots = [f"{member.prefix}{member.machine.root}" for member in machine.members] or [machine.root]
        number = {link: index for index, link in enumerate(names.links)}
        first = np.array([base.v for base in member_bases(engine.setup)], dtype=np.int64)
        self._engine = engine
        self._links = np.array([number[root] for root in roots], dtype=np.int64)
        self._floating = np.flatnonzero(first >= 0)
        self._rates = first[self._floating, np.newaxis] + np.arange(6)

    def poses(self) -> np.ndarray:
        """Position [m] and quaternion (x, y, z, w) of each root link in the world now, (members, 7)."""
        return link_poses(self._engine.setup.names, self._engine.update_kinematics(), self._links)

    def twists(self) -> np.ndarray:
        """Linear [m/s] and angular [rad/s] velocity of each in its own frame, (members, 6); zero for a fixed base."""
        twists = np.zeros((len(self._links), 6))
        twists[self._floating] = self._engine.state.v[self._rates]
        return twists
