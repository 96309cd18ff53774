"""The deformable blocks of a simulation, read by their names."""

from functools import cached_property

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import matrix
from grouser.physics.base.trees import copied
from grouser.physics.blocks.building import make_workspace, triangles_of
from grouser.physics.blocks.energy import Energy, read_energy
from grouser.physics.blocks.masonry import block_names
from grouser.physics.blocks.modes import elasticity, strain_operator
from grouser.physics.blocks.motion import advance
from grouser.physics.blocks.system import State
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.exchanged import mean_impulse


class BlocksView:
    """Blocks now. Arrays are in the order of `names`.

    Args:
        engine: of the simulation.

    Attributes:
        names: of the blocks: `<wall>_<x>_<y>_<z>`, and those of loose ones.
    """

    def __init__(self, engine: Engine):
        self._engine = engine
        self.names = block_names(engine.setup.world.blocks)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<{len(self)} blocks, {self.mass.sum():.4g} kg, {100.0 * self.broken:.0f} % of their bonds broken>"

    @property
    def mass(self) -> np.ndarray:
        """Masses [kg], (blocks,)."""
        return self._system.bodies.mass[: len(self)]

    @property
    def position(self) -> np.ndarray:
        """Centres of mass, world frame [m], (blocks, 3)."""
        return self._system.bodies.start[: len(self)] + self._state.displacement[: len(self)]

    @property
    def quaternion(self) -> np.ndarray:
        """Orientations against those at the start, x y z w, (blocks, 4)."""
        return self._state.quaternion[: len(self)].copy()

    @property
    def velocity(self) -> np.ndarray:
        """Velocities of the centres, half a step of the blocks before the positions, world frame [m/s], (blocks, 3)."""
        return self._state.velocity[: len(self)].copy()

    @property
    def angular_velocity(self) -> np.ndarray:
        """As `velocity` [rad/s], (blocks, 3)."""
        return self._state.angular_velocity[: len(self)].copy()

    @property
    def stress(self) -> np.ndarray:
        """Mean stress of each block in its axes, xx yy zz yz xz xy [Pa], (blocks, 6); none in rigid rubble."""
        blocks, bodies = self._engine.setup.world.blocks, self._system.bodies
        if blocks is None:
            return np.zeros((0, 6))
        law, centre = elasticity(blocks.material), np.zeros((1, 3))
        strains = [
            strain_operator(part, centre)[0] @ q for part, q in zip(bodies.coefficients, self._state.q, strict=True)
        ]
        return np.array(strains[: len(self)]) @ law.T

    @property
    def broken(self) -> float:
        """Share of the bonded area that is broken, 0 without bonds."""
        area = self._system.joints.area
        return float(area[~self._state.bonded].sum() / area.sum()) if len(area) else 0.0

    @property
    def pieces(self) -> np.ndarray:
        """Number of the piece that each block belongs to: blocks that bonds hold together, (blocks,).

        Those bonded to ground or obstacles are pieces, too.
        """
        piece = np.arange(len(self))
        for first, second in self._system.joints.blocks[self._state.live].tolist():
            if max(first, second) < len(self):
                piece[piece == piece[second]] = piece[first]
        return np.unique(piece, return_inverse=True)[1]

    @property
    def sleeping(self) -> np.ndarray:
        """Whether each block sleeps, (blocks,)."""
        rest_steps = self._engine.setup.system.blocks.rest_steps
        return (self._engine.state.blocks.still >= rest_steps) & (rest_steps > 0)

    @property
    def asleep(self) -> bool:
        """Whether all blocks sleep."""
        return len(self) > 0 and bool(self.sleeping.all())

    @property
    def block_step(self) -> float:
        """Step of the blocks now [s]."""
        system = self._engine.setup.system.blocks
        return self._engine.step_size / (system.steps if self._state.live.any() else system.rubble_steps)

    def energy(self) -> Energy:
        """Energies at the present positions, and losses since the start [J]; zero without blocks."""
        if not self.names:
            return Energy(*[0.0] * len(Energy._fields))
        after, work = copied(self._state), make_workspace(self._system, self._state)
        advance(self._engine.packed.blocks.blocks, Packed(after), Packed(work), self.block_step, 1)
        return read_energy(self._system, self._state, after, float(work.spring_energy[0]), 0.0)

    def force(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean force of the blocks on the body of a link in the last step, and moment about the body's origin.

        Args:
            link: its name; links joined by fixed joints are one body.

        Returns:
            Force [N] and moment [N m], world axes; zero for a link that blocks cannot touch.

        Raises:
            ParameterError: there is no such link.
        """
        mean = mean_impulse(
            self._engine, link, self._engine.setup.system.blocks.body, self._engine.workspace.blocks.impulse
        )
        return mean[:3], mean[3:]

    @property
    def grain_force(self) -> np.ndarray:
        """Mean force of the grains on each block in the last step, world axes [N], (blocks, 3)."""
        return self._engine.workspace.blocks.blocks.load[: len(self), :3].copy()

    def momentum(self) -> np.ndarray:
        """Linear momentum, and angular momentum about the world's origin [N s, N m s], (6,)."""
        momenta = self.mass[:, np.newaxis] * self.velocity
        own = self._state.angular_momentum[: len(self)]
        return np.concatenate([momenta.sum(axis=0), (own + np.cross(self.position, momenta)).sum(axis=0)])

    def corners(self, block: str) -> np.ndarray:
        """Corners of a deformed block, world frame [m], (corners, 3).

        Raises:
            ParameterError: there is no such block.
        """
        if block not in self.names:
            raise ParameterError("block", block, "one of " + ", ".join(self.names[:20]))
        number, shapes, state = self.names.index(block), self._system.shapes, self._state
        own = slice(*shapes.vertex_start[number : number + 2])
        material = shapes.vertex[own] + shapes.phi[own] @ state.q[number]
        return self.position[number] + material @ matrix(state.quaternion[number]).T

    @cached_property
    def triangles(self) -> tuple[np.ndarray, ...]:
        """Triangles of the undeformed surface of each block, from its centre in its axes, (k, 3, 3) each [m]."""
        return tuple(triangles_of(self._system.shapes, number) for number in range(len(self)))

    @property
    def _state(self) -> State:
        return self._engine.state.blocks.blocks

    @property
    def _system(self):
        return self._engine.setup.system.blocks.blocks
