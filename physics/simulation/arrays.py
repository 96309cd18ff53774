"""The arrays behind a simulation, for compiled functions and checks."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.integrators.context import System
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.membership import Elements


class Arrays:
    """The arrays behind a simulation.

    Args:
        engine: of the simulation.

    Attributes:
        system: read-only arrays of a step.
        model, names: the arrays of the multibody system and their names.
        lines: names of the hydraulic lines.
        shape_names: link or obstacle of each collision shape, the ground last.
        membership: number of the member that each element belongs to, -1 for none.
    """

    def __init__(self, engine: Engine):
        setup = engine.setup
        self._engine = engine
        self.system: System = setup.system
        self.model: MultibodyModel = setup.system.multibody
        self.names: Names = setup.names
        self.lines: tuple[str, ...] = setup.lines
        self.shape_names: tuple[str, ...] = setup.shape_names
        self.membership: Elements[np.ndarray] = setup.membership

    @property
    def context(self) -> Packed:
        """System, state, command and workspace, packed for compiled functions."""
        return self._engine.context
