"""The grains of a simulation, by their numbers."""

from collections.abc import Sequence

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.granular.arrays import State
from grouser.physics.granular.clumps import Clumps, clumps_of, momentum_of
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.loads import find_loads
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.exchanged import mean_impulse
from grouser.physics.simulation.grain_changes import add_grains, remove_grains


class GrainsView:
    """Grains now. Arrays are in the order of `ident`, the numbers that grains got at the start.

    Spheres of clumps are grains of their own; `clump` says whose they are.

    Args:
        engine: of the simulation.
    """

    def __init__(self, engine: Engine):
        self._engine = engine

    def __len__(self) -> int:
        return int(np.count_nonzero(self._present))

    def __repr__(self) -> str:
        return f"<{len(self)} grains, {self.mass.sum():.4g} kg>"

    @property
    def ident(self) -> np.ndarray:
        """Numbers of the grains, ascending, (grains,)."""
        return np.sort(self._state.ident[self._present])

    @property
    def position(self) -> np.ndarray:
        """Centres, world frame [m], (grains, 3)."""
        return self._ordered(self._state.position)[:, :3]

    @property
    def radius(self) -> np.ndarray:
        """Radii [m], (grains,)."""
        return self._ordered(self._state.position)[:, 3]

    @property
    def clump(self) -> np.ndarray:
        """Row in `clumps` of the clump that each grain is a sphere of, -1 for others, (grains,)."""
        return self._ordered(self._state.clump)

    @property
    def clumps(self) -> Clumps:
        """The clumps now."""
        return clumps_of(self._state)

    @property
    def mass(self) -> np.ndarray:
        """Masses [kg], (grains,); spheres of a clump share its mass by their volumes."""
        return 1.0 / self._ordered(self._state.velocity)[:, 3]

    @property
    def velocity(self) -> np.ndarray:
        """Velocities, half a step of the contacts before the positions, world frame [m/s], (grains, 3)."""
        return self._ordered(self._state.velocity)[:, :3]

    @property
    def spin(self) -> np.ndarray:
        """Angular velocities, as `velocity` [rad/s], (grains, 3)."""
        return self._ordered(self._state.spin)[:, :3]

    @property
    def material(self) -> tuple[str, ...]:
        """Material of each grain."""
        media = self._engine.setup.world.grains
        names = [material.name for material in media.materials] if media else []
        return tuple(names[number] for number in self._ordered(self._state.material))

    @property
    def asleep(self) -> np.ndarray:
        """Whether each grain sleeps (`granular.sleeping`), (grains,)."""
        return self._ordered(self._state.asleep)

    @property
    def load(self) -> np.ndarray:
        """Sum of the elastic normal forces on each grain [N], (grains,)."""
        return self._ordered(self._loads())

    @property
    def contact_step(self) -> float:
        """Step of the contacts [s]."""
        return self._engine.step_size / self._engine.setup.system.granular.steps

    def columns(self) -> dict[str, np.ndarray]:
        """Of each grain: x, y, z [m], radius [m], speed [m/s], number of its material, load [N], `ident`."""
        state, rows = self._state, self._present
        place, velocity = state.position[rows].T, state.velocity[rows, :3]
        columns = dict(zip(("x", "y", "z", "radius"), place, strict=True))
        speed = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        force = self._loads()[rows]
        return {**columns, "speed": speed, "material": state.material[rows], "force": force, "ident": state.ident[rows]}

    def force(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean force of the grains on the body of a link in the last step, and moment about the body's origin.

        Args:
            link: its name; links joined by fixed joints are one body.

        Returns:
            Force [N] and moment [N m], world axes; zero for a link that grains cannot touch.

        Raises:
            ParameterError: there is no such link.
        """
        body, impulse = self._engine.setup.system.granular.body, self._engine.workspace.granular.grains.impulse
        mean = mean_impulse(self._engine, link, body, impulse)
        return mean[:3], mean[3:]

    def add(self, grains: Grains | Sequence[Grains]) -> np.ndarray:
        """Adds grains between two steps, where they touch nothing; the others keep their contacts.

        Args:
            grains: of the world's materials, at most as large as the largest grain that its fills and emitters make.

        Returns:
            Their numbers, above all that there have been, (grains,); spheres of clumps count each.

        Raises:
            ParameterError: a place that is not free, a radius that lists, step or soft ground do not allow, or a world
                without `granular`; nothing is added.
            BusyError: another thread steps this simulation.
        """
        with self._engine.exclusive:
            return add_grains(self._engine, grains)

    def remove(self, numbers: np.ndarray | Sequence[int]) -> float:
        """Removes grains between two steps, and clumps of which a sphere is removed; those that touch them wake.

        Args:
            numbers: of the grains, of `ident`.

        Returns:
            Mass of what is removed [kg].

        Raises:
            ParameterError: there is no such grain; nothing is removed.
            BusyError: another thread steps this simulation.
        """
        with self._engine.exclusive:
            return remove_grains(self._engine, numbers)

    def momentum(self) -> np.ndarray:
        """Linear momentum, and angular momentum about the world's origin [N s, N m s], (6,)."""
        return momentum_of(self._state, self.contact_step)

    def _loads(self) -> np.ndarray:
        """Load of each row."""
        load = np.zeros(len(self._state.position))
        if len(load):
            find_loads(self._engine.packed.granular.grains, Packed(self._state), load)
        return load

    @property
    def _state(self) -> State:
        return self._engine.state.granular.grains

    @property
    def _present(self) -> np.ndarray:
        """Rows of grains; one that was taken away has its row until the next step."""
        rows = np.arange(len(self._state.ident))
        return (rows < self._state.number[0]) & (self._state.ident >= 0)

    def _ordered(self, rows: np.ndarray) -> np.ndarray:
        present = self._present
        return rows[present][np.argsort(self._state.ident[present], kind="stable")]
