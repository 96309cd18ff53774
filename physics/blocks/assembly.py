"""An assembly of blocks: loads, steps in time, relaxation, and what can be read of it.

wall = make_wall((3, 1, 4), (0.25, 0.12, 0.06))
floor = Block("floor", make_box("floor", (-1, -1, -0.1), (2, 1, 0)), driven=True)
assembly = Assembly([floor, *wall], BlockMaterial(1e9, 0.2, 2000.0), Interface(1e10, 1e10, friction=0.6))
assembly.relax()
assembly.step(1000, 1e-5)
assembly.stress("block_0_0_0")
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.checks import STEPS_MAX, require_count, require_quaternion, require_range, require_vector
from grouser.physics.base.errors import DivergenceError, ParameterError, StateError
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import matrix
from grouser.physics.blocks.building import (
    NO_FIELD,
    Block,
    FieldBelow,
    make_loads,
    make_state,
    make_system,
    make_workspace,
)
from grouser.physics.blocks.energy import Energy, read_energy
from grouser.physics.blocks.faces import gauss_points
from grouser.physics.blocks.interface import make_laws
from grouser.physics.blocks.modes import elasticity, make_modes, mode_shapes, strain_operator
from grouser.physics.blocks.motion import advance
from grouser.physics.blocks.relaxation import relax
from grouser.physics.blocks.stiffness import critical_step, scaled_masses
from grouser.physics.blocks.system import State
from grouser.physics.description.data.blocks import BlockMaterial, Interface

# Beyond the masses with which steps are just stable: `local` makes forces against the motion 1.8 times as large.
_MASS_FACTORS = {"viscous": 1.1, "local": 2.0}
RELAXATIONS = tuple(_MASS_FACTORS)
# Share of the critical step that a step takes where none is asked for.
_SAFE = 0.9


class Relaxed(NamedTuple):
    """How a relaxation ended: steps made, and the largest unbalanced force as a share of a contact's mean force."""

    steps: int
    unbalanced: float


class Assembly:
    """Blocks of one material, bonded where their faces touch when they are made.

    Attributes:
        names: of the blocks, by number.
        state: all that a restart needs; see `snapshot`.
        critical_step: longest stable step [s].
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        material: BlockMaterial,
        interface: Interface,
        *,
        order: int = 1,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        collide: bool = True,
        field: FieldBelow = NO_FIELD,
    ):
        """Makes an assembly at rest.

        Args:
            blocks: at least one.
            material: of all that are not driven.
            interface: of all faces.
            order: of the modes: 1 for uniform strains, 2 for linear ones.
            gravity: [m/s2].
            mass_damping, stiffness_damping: a [1/s] and b [s] of a M + b K.
            collide: whether blocks that are not bonded to each other touch.
            field: below the blocks.

        Raises:
            ParameterError: a value out of its range, or a name that is given twice.
        """
        self.names = tuple(block.name for block in blocks)
        for number, name in enumerate(self.names):
            if name in self.names[:number]:
                raise ParameterError("block", name, "names of which each is given once")
        if not self.names:
            raise ParameterError("blocks", [], "at least one block")
        laws = make_laws(interface, gravity, mass_damping, stiffness_damping, collide)
        self._blocks, self._material = tuple(blocks), material
        modes = [make_modes(block.shape, material, order) for block in blocks]
        self._system = make_system(blocks, modes, order, laws, field)
        self.state = make_state(self._system)
        self._start = self._system.bodies.start
        self._workspace = make_workspace(self._system, self.state)
        self.critical_step = critical_step(self._system, self.state)
        self._forces: list[tuple[int, np.ndarray, np.ndarray]] = []
        self._factor = np.ones(1)
        self._pack()

    # loads

    def push(self, block: str, point: Sequence[float], force: Sequence[float]) -> None:
        """Adds a force that keeps its direction.

        Args:
            block: its name.
            point: in the world, where the block starts [m].
            force: in the world [N].
        """
        number = self._number(block)
        place = np.array(require_vector("point", point, 3, "m")) - self._start[number]
        self._forces.append((number, place, np.array(require_vector("force", force, 3, "N"))))
        self._pack()

    def press(self, block: str, direction: Sequence[float], traction: Sequence[float]) -> None:
        """Adds a uniform traction on a face.

        Args:
            block: its name.
            direction: the face whose normal is nearest to it.
            traction: in the world [Pa].
        """
        number = self._number(block)
        shape = self._blocks[number].shape
        towards = np.array(require_vector("direction", direction, 3))
        stress = np.array(require_vector("traction", traction, 3, "Pa"))
        points, areas = gauss_points(shape.outline(int(np.argmax(shape.normals @ towards))), 2)
        self._forces += [
            (number, point - self._start[number], area * stress) for point, area in zip(points, areas, strict=True)
        ]
        self._pack()

    def clear_loads(self) -> None:
        """Removes all forces and tractions."""
        self._forces = []
        self._pack()

    @property
    def load_factor(self) -> float:
        """Factor of all forces and tractions [-], for loads that change in time."""
        return float(self._factor[0])

    @load_factor.setter
    def load_factor(self, factor: float) -> None:
        self._factor[0] = require_range("load_factor", factor, -1e9, 1e9)

    @property
    def gravity(self) -> tuple[float, ...]:
        """[m/s2]; energies are those of the present gravity."""
        return tuple(self._system.laws.gravity.tolist())

    @gravity.setter
    def gravity(self, gravity: Sequence[float]) -> None:
        self._system.laws.gravity[:] = require_vector("gravity", gravity, 3, "m/s2")

    # driven blocks

    def drive(
        self,
        block: str,
        velocity: Sequence[float],
        angular_velocity: Sequence[float] = (0.0, 0.0, 0.0),
        position: Sequence[float] | None = None,
        quaternion: Sequence[float] | None = None,
    ) -> None:
        """Tells a driven block how it moves in the steps that follow.

        Args:
            block: its name.
            velocity: of its centre [m/s].
            angular_velocity: in the world [rad/s].
            position: of its centre [m]; None: where it is.
            quaternion: of its axes, (x, y, z, w), against those of the start; None: as it is.

        Raises:
            StateError: it moves by itself.
        """
        number = self._driven(block)
        self.state.velocity[number] = require_vector("velocity", velocity, 3, "m/s")
        self.state.angular_velocity[number] = require_vector("angular_velocity", angular_velocity, 3, "rad/s")
        if position is not None:
            self.state.displacement[number] = require_vector("position", position, 3, "m") - self._start[number]
        if quaternion is not None:
            self.state.quaternion[number] = require_quaternion("quaternion", quaternion)

    def take_impulse(self, block: str) -> np.ndarray:
        """What the others did to a driven block since last taken: impulse and its moment about its centre now, (6,).

        Units are N s and N m s.
        """
        number = self._driven(block)
        impulse = self.state.impulse[number].copy()
        impulse[3:] -= np.cross(self.state.displacement[number], impulse[:3])
        self.state.impulse[number] = 0.0
        return impulse

    # motion

    def set_velocity(
        self, block: str, velocity: Sequence[float], angular_velocity: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Gives a block that moves by itself a velocity of its centre [m/s] and an angular velocity [rad/s]."""
        number = self._number(block)
        if self._system.bodies.driven[number]:
            raise StateError(f"block '{block}' moves as it is told: use drive")
        self.state.velocity[number] = require_vector("velocity", velocity, 3, "m/s")
        turning = np.array(require_vector("angular_velocity", angular_velocity, 3, "rad/s"))
        rotation = matrix(self.state.quaternion[number])
        self.state.angular_velocity[number] = turning
        self.state.angular_momentum[number] = rotation @ self._system.bodies.inertia[number] @ rotation.T @ turning

    def step(self, steps: int, step: float | None = None) -> None:
        """Makes steps in time.

        Args:
            steps: how many.
            step: length [s]; None: nine tenths of the critical one.

        Raises:
            ParameterError: a step longer than the critical one.
            DivergenceError: a state that is not finite.
        """
        steps = require_count("steps", steps, 0, STEPS_MAX)
        step = self.checked_step(step)
        advance(self._system_packed, self._state_packed, self._workspace_packed, step, steps)
        self._check()

    def checked_step(self, step: float | None = None) -> float:
        """The length of a step [s], nine tenths of the critical one where none is given.

        Raises:
            ParameterError: longer than the critical one.
        """
        if step is None:
            return _SAFE * self.critical_step
        if not 0.0 < step <= self.critical_step:
            raise ParameterError(
                "step",
                step,
                f"above 0 and at most {self.critical_step:.4g} s, the stable step of these blocks and springs; "
                f"{_SAFE * self.critical_step:.3g} s would do",
            )
        return float(step)

    def relax(self, relaxation: str = "viscous", tolerance: float = 1e-6, most_steps: int = 2_000_000) -> Relaxed:
        """Finds the equilibrium of weights and loads; the blocks are then at rest.

        Args:
            relaxation: `viscous` or `local`.
            tolerance: of unbalanced forces, as a share of the mean force of a contact.
            most_steps: at most so many.

        Raises:
            ParameterError: a word or value that is not valid.
            StateError: no equilibrium in so many steps.
        """
        if relaxation not in RELAXATIONS:
            raise ParameterError("relaxation", relaxation, " or ".join(RELAXATIONS))
        tolerance = require_range("tolerance", tolerance, 1e-14, 1.0)
        most_steps = require_count("most_steps", most_steps, 1, STEPS_MAX)
        self._rest()
        lost = self.state.lost.copy()
        masses = _MASS_FACTORS[relaxation] * scaled_masses(self._system, self.state)
        undamped = self._loaded()._replace(laws=self._system.laws._replace(stiffness_damping=0.0, mass_damping=0.0))
        steps, unbalanced = relax(
            Packed(undamped), self._state_packed, self._workspace_packed, masses,
            np.zeros((3, *masses.shape)), relaxation == "local", tolerance, most_steps,
        )  # fmt: skip
        self._rest()
        self.state.lost[:] = lost
        self._check()
        if unbalanced > tolerance:
            raise StateError(
                f"no equilibrium in {steps} steps: {unbalanced:.3g} of the mean force of a contact is unbalanced, "
                f"{tolerance:g} is asked for; support all blocks, or allow more steps"
            )
        return Relaxed(steps, unbalanced)

    def snapshot(self) -> State:
        """A copy of the state."""
        return State(*(part.copy() for part in self.state))

    def restore(self, state: State) -> None:
        """Goes on from a snapshot of this assembly, to the last bit.

        Raises:
            ParameterError: a state of another assembly.
        """
        for name, own, given in zip(State._fields, self.state, state, strict=True):
            if own.shape != given.shape:
                raise ParameterError(f"state.{name}", given.shape, f"an array of the shape {own.shape}")
        for own, given in zip(self.state, state, strict=True):
            own[...] = given

    # readings

    def place(self, block: str, point: Sequence[float]) -> np.ndarray:
        """Where a material point is now [m], (3,).

        Args:
            block: its name.
            point: in the world, where the block starts [m].
        """
        number = self._number(block)
        material = np.asarray(point, dtype=float) - self._start[number]
        phi = mode_shapes(self._system.bodies.coefficients[number], material[np.newaxis])[0]
        turned = matrix(self.state.quaternion[number]) @ (material + phi @ self.state.q[number])
        return self._start[number] + self.state.displacement[number] + turned

    def displacement(self, block: str, point: Sequence[float]) -> np.ndarray:
        """How far a material point has moved since the start [m], (3,); arguments as of `place`."""
        return self.place(block, point) - np.asarray(point, dtype=float)

    def velocity(self, block: str) -> np.ndarray:
        """Velocity of the centre [m/s] and angular velocity [rad/s], (6,)."""
        number = self._number(block)
        return np.concatenate([self.state.velocity[number], self.state.angular_velocity[number]])

    def stress(self, block: str, point: Sequence[float] | None = None) -> np.ndarray:
        """Stress in the block's axes, xx yy zz yz xz xy [Pa], (6,).

        Args:
            block: its name.
            point: in the world, where the block starts [m]; None: the mean of the block, that of its centre.
        """
        number = self._number(block)
        material = np.zeros(3) if point is None else np.asarray(point, dtype=float) - self._start[number]
        strain = strain_operator(self._system.bodies.coefficients[number], material[np.newaxis])[0]
        return elasticity(self._material) @ (strain @ self.state.q[number])

    def broken(self) -> float:
        """Share of the bonded area that is broken."""
        area = self._system.joints.area
        return float(area[~self.state.bonded].sum() / area.sum()) if len(area) else 0.0

    def momentum(self) -> np.ndarray:
        """Momentum [kg m/s] and angular momentum about the world's origin [kg m2/s], (6,)."""
        momenta = self._system.bodies.mass[:, np.newaxis] * self.state.velocity
        moments = np.cross(self._start + self.state.displacement, momenta) + self.state.angular_momentum
        return np.concatenate([momenta.sum(axis=0), moments.sum(axis=0)])

    def energy(self, step: float | None = None) -> Energy:
        """Energies at the present positions, of steps of a length [s]; None: of nine tenths of the critical one."""
        before = self.snapshot()
        advance(self._system_packed, self._state_packed, self._workspace_packed, self.checked_step(step), 1)
        after, springs = self.snapshot(), float(self._workspace.spring_energy[0])
        self.restore(before)
        work = sum(float(force @ (self._at(number, point) - point)) for number, point, force in self._forces)
        return read_energy(self._system, before, after, springs, self.load_factor * work)

    def _at(self, number: int, material: np.ndarray) -> np.ndarray:
        return self.place(self.names[number], material + self._start[number]) - self._start[number]

    def _number(self, block: str) -> int:
        if block not in self.names:
            raise ParameterError("block", block, "one of " + ", ".join(self.names[:20]))
        return self.names.index(block)

    def _driven(self, block: str) -> int:
        number = self._number(block)
        if not self._system.bodies.driven[number]:
            raise StateError(f"block '{block}' moves by itself: make it with driven=True to tell it how to move")
        return number

    def _loaded(self):
        blocks, points, forces = zip(*self._forces, strict=True) if self._forces else ([], [], [])
        return self._system._replace(loads=make_loads(self._system.bodies, blocks, points, forces, self._factor))

    def _pack(self) -> None:
        self._system_packed = Packed(self._loaded())
        self._state_packed = Packed(self.state)
        self._workspace_packed = Packed(self._workspace)

    def _rest(self) -> None:
        for speeds in (self.state.velocity, self.state.angular_velocity, self.state.angular_momentum, self.state.rate):
            speeds[~self._system.bodies.driven] = 0.0

    def _check(self) -> None:
        for part in (self.state.displacement, self.state.velocity, self.state.q):
            bad = ~np.isfinite(part)
            if bad.any():
                number = int(np.argmax(bad.any(axis=1)))
                name, value = self.names[number], float(part[number][bad[number]][0])
                raise DivergenceError(float(self.state.time[0]), f"block '{name}'", value)
        if self.state.contact_count[0] == len(self.state.contact_pair):
            raise StateError(f"more contacts than the {len(self.state.contact_pair)} that there is room for")
