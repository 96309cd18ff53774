"""Small vibrations of a simulation about its present positions."""

import numpy as np

from grouser.physics.compliance.vibration import Mode, vibration_modes
from grouser.physics.readings.measurements import NumericalDamping
from grouser.physics.readings.vibration import damping_warnings, numerical_damping, unresolved_warnings
from grouser.physics.simulation.engine import Engine


class VibrationView:
    """Small vibrations about the present positions.

    Elastic joints, flexible links and loop joints make them; gravity, contacts, drives and hydraulics do not count, and
    motions without a spring are left out.

    Args:
        engine: of the simulation.
    """

    def __init__(self, engine: Engine):
        self._engine = engine

    def modes(self) -> tuple[Mode, ...]:
        """Undamped vibrations at rest, by ascending frequency."""
        setup = self._engine.setup
        system, loops = setup.system, list(setup.elements.loop_joint)
        arrays = (system.multibody, system.loops, system.springs)
        return vibration_modes(*arrays, self._engine.state.q, loops, setup.names.rate_joint)

    def natural_frequencies(self) -> np.ndarray:
        """Frequencies of `modes` [Hz]."""
        return np.array([mode.frequency for mode in self.modes()])

    def numerical_damping(self) -> tuple[NumericalDamping, ...]:
        """Numerical damping of the slowest vibration of each elastic part; only `semi_implicit` adds any."""
        setup = self._engine.setup
        return numerical_damping(setup.machine, self.modes(), setup.integrator, self._engine.step_size)

    def warnings(self) -> list[str]:
        """What the step does to vibrations."""
        setup, step = self._engine.setup, self._engine.step_size
        settings = self.modes(), setup.integrator, step
        damped = damping_warnings(numerical_damping(setup.machine, *settings), step)
        return [*damped, *unresolved_warnings(setup.machine, *settings)]
