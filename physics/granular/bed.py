"""A bed of grains between boundaries, from Python."""

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.checks import (
    STEPS_MAX,
    require_count,
    require_items,
    require_range,
    require_vector,
)
from grouser.physics.base.errors import DivergenceError, ParameterError
from grouser.physics.base.memory import require_memory
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.accounts import ELASTIC, KINETIC, POTENTIAL, read_energy
from grouser.physics.granular.advance import DIVERGED, NEEDS_ROOM, clear_reactions, run_steps
from grouser.physics.granular.arrays import (
    BOUNDARY_WORK,
    FRICTION_LOSS,
    NORMAL_LOSS,
    ROLLING_LOSS,
    Granular,
    State,
    System,
    make_state,
    make_workspace,
    memory_of,
    with_capacity,
)
from grouser.physics.granular.bodies import Boundary
from grouser.physics.granular.boundaries import make_boundaries
from grouser.physics.granular.clumps import Clumps, clumps_of, momentum_of
from grouser.physics.granular.grain_rows import (
    Grains,
    grain_rows,
    least_share,
    mark_removed,
    require_no_larger,
    with_more_grains,
)
from grouser.physics.granular.loads import find_loads
from grouser.physics.granular.neighbours import rebuild
from grouser.physics.granular.pairs import PairSurfaces, make_pairs
from grouser.physics.granular.relaxing import MOST_OVERLAP, TOUCHING, push_apart
from grouser.physics.granular.size_classes import size_classes
from grouser.physics.granular.soft_ground import no_soft_ground
from grouser.physics.granular.thin_boundaries import crossings
from grouser.physics.granular.threads import ThreadedSteps
from grouser.physics.granular.time_step import check_step, default_step, shortest_times

_GRAVITY = (0.0, 0.0, -9.81)
_MOST_THREADS = 256
# Room that lists get beyond what they need [-].
_MORE = 1.25
# Sweeps over all contacts after which the overlaps of a start must have fallen to this share of what they were [-].
_SWEEPS, _SLOWEST = 100, 0.99


class Contacts(NamedTuple):
    """Contacts of the last step, in the order of the state.

    Attributes:
        first: number of the grain that `force` acts on, (contacts,).
        second: number of the other grain, or of the boundary, (contacts,).
        boundary: whether `second` is a boundary, (contacts,).
        normal_force: [N], below zero where adhesion pulls, (contacts,).
        tangential_force: world axes [N], (contacts, 3).
    """

    first: np.ndarray
    second: np.ndarray
    boundary: np.ndarray
    normal_force: np.ndarray
    tangential_force: np.ndarray


class GranularBed:
    """Grains, boundaries and their motion.

    Arrays of grains are in the order of `ident`, the numbers that the grains got at the start. Spheres of clumps are
    grains of their own; `clump` says whose they are. Grains that overlap each other or boundaries by more than a tenth
    of the smaller radius are pushed apart, with a `RuntimeWarning`.

    Args:
        grains: spheres or clumps, or several of either in succession.
        materials: of grains and boundaries.
        surfaces: by the names of two materials.
        boundaries: bodies.
        gravity: [m/s2].
        step: h [s]; None: a 20th of the shortest contact at `speed`, at most 0.3 of the Rayleigh time.
        speed: fastest impact that is expected [m/s].
        default_surface: of pairs that `surfaces` does not name; None: all must be named.
        skin: by the largest radius of the smallest size class [-], see `arrays.System`.
        accounted: whether the accounts of energy are kept and the forces of contacts are stored; steps take a third
            longer.
        threads: that share the forces between grains; all bits are those of one.

    Raises:
        ParameterError: names the value, and what is valid.
    """

    def __init__(
        self,
        grains: Grains | Sequence[Grains],
        materials: Sequence[GrainMaterial],
        surfaces: Mapping[tuple[str, str], Surface] | None = None,
        boundaries: Sequence[Boundary] = (),
        gravity: Sequence[float] = _GRAVITY,
        step: float | None = None,
        speed: float = 1.0,
        default_surface: Surface | None = None,
        skin: float = 0.15,
        accounted: bool = False,
        threads: int = 1,
    ):
        materials = require_items("materials", materials, GrainMaterial, "a GrainMaterial")
        self._materials, self._names = materials, [one.name for one in boundaries]
        self.accounted = accounted
        self._threads = require_count("threads", threads, 1, _MOST_THREADS)
        self._run = run_steps if threads == 1 else ThreadedSteps(threads).run
        rows = grain_rows(grains, materials)
        table = PairSurfaces(materials, surfaces or {}, default_surface)
        radius = rows["position"][:, 3]
        classes = size_classes(radius, radius)
        pairs = make_pairs(table)
        self.system = System(
            pairs,
            make_boundaries(boundaries, [one.name for one in materials], float(classes[-1])),
            np.array(require_vector("gravity", gravity, 3, "m/s2")),
            require_range("skin", skin, 1e-3, 10.0) * float(classes[0]),
            classes,
        )
        walls = np.unique(self.system.boundaries.material)
        self._times = partial(shortest_times, table=table, walls=walls, speed=speed)
        contact, rayleigh = self._times(radius, rows["material"], least_share=least_share(grains))
        self.step_size = default_step(contact, rayleigh) if step is None else check_step(step, contact, rayleigh)
        for warning in crossings(rows, boundaries, table, speed):
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        self._require_memory(len(rows["position"]), len(rows["clump_position"]))
        state = make_state(self.system, len(rows["position"]), clumps=len(rows["clump_position"]))
        state.number[0] = state.born[0] = len(rows["position"])
        state.clumps[0] = len(rows["clump_position"])
        for name, values in rows.items():
            getattr(state, name)[:] = values
        for b, boundary in enumerate(boundaries):
            if boundary.vibration is not None:
                continue
            state.body_velocity[b, :3] = require_vector(f"velocity of {boundary.name}", boundary.velocity, 3, "m/s")
            state.body_velocity[b, 3:] = require_vector("angular_velocity", boundary.angular_velocity, 3, "rad/s")
        self._hold(state)
        self._steps = 0
        self._prepare()
        self._relax()
        self._start = self._energies()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.time[0])

    @property
    def count(self) -> int:
        """Number of grains."""
        return int(self.state.number[0])

    @property
    def ident(self) -> np.ndarray:
        """Numbers of the grains, ascending, (count,)."""
        return np.sort(self.state.ident[: self.count])

    @property
    def position(self) -> np.ndarray:
        """Positions of the centres [m], (count, 3)."""
        return self._by_ident(self.state.position)[:, :3]

    @property
    def radius(self) -> np.ndarray:
        """Radii [m], (count,)."""
        return self._by_ident(self.state.position)[:, 3]

    @property
    def clump(self) -> np.ndarray:
        """Row in `clumps` of the clump that each grain is a sphere of, -1 for others, (count,)."""
        return self._by_ident(self.state.clump)

    @property
    def clumps(self) -> Clumps:
        """The clumps now."""
        return clumps_of(self.state)

    @property
    def mass(self) -> np.ndarray:
        """Masses [kg], (count,); spheres of a clump share its mass by their volumes."""
        return 1.0 / self._by_ident(self.state.velocity)[:, 3]

    @property
    def velocity(self) -> np.ndarray:
        """Velocities, half a step before the positions [m/s], (count, 3)."""
        return self._by_ident(self.state.velocity)[:, :3]

    @property
    def spin(self) -> np.ndarray:
        """Angular velocities, half a step before the positions [rad/s], (count, 3)."""
        return self._by_ident(self.state.spin)[:, :3]

    @property
    def load(self) -> np.ndarray:
        """Sum of the elastic normal forces on each grain [N], (count,)."""
        load = np.zeros(len(self.state.position))
        find_loads(self._packed.system, self._packed.state, load)
        return self._by_ident(load)

    def step(self, count: int = 1) -> None:
        """Makes steps.

        Raises:
            DivergenceError: a position is not finite any more.
        """
        left = require_count("count", count, 1, STEPS_MAX, " of steps")
        self._steps = count
        clear_reactions(self._packed.state, self._packed.work)
        while left:
            made, ended = self._run(*self._arrays, *no_soft_ground(), self.step_size, left, self.accounted)
            left -= made
            if ended == DIVERGED:
                row = int(np.flatnonzero(~np.isfinite(self.state.position[: self.count]).all(axis=1))[0])
                raise DivergenceError(self.time, f"grain {self.state.ident[row]}", self.state.position[row, :3])
            if ended == NEEDS_ROOM:
                self._grow()

    def reaction(self, boundary: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean force of the grains on a boundary during the last call of `step`, and the moment about its origin.

        The origin is where it was at the start of the call.

        Args:
            boundary: its name.

        Returns:
            Force [N], and moment [N m].
        """
        mean = self.granular.work.impulse[self._number(boundary)] / (max(self._steps, 1) * self.step_size)
        return mean[:3].copy(), mean[3:].copy()

    def contact_stiffness(self, boundary: str) -> float:
        """Sum of the stiffnesses of the contacts with a boundary, mean of the last call of `step` [N/m]."""
        lasted = max(self._steps, 1) * self.step_size
        return float(self.granular.work.stiffening[self._number(boundary)] / lasted)

    def body_position(self, boundary: str) -> np.ndarray:
        """Position of a boundary's origin [m]."""
        return self.state.body_position[self._number(boundary)].copy()

    def set_velocity(self, boundary: str, velocity: Sequence[float], angular_velocity: Sequence[float] = (0, 0, 0)):
        """Sets the constant velocity of a boundary that does not vibrate [m/s, rad/s]."""
        moving = self.state.body_velocity[self._number(boundary)]
        moving[:3] = require_vector("velocity", velocity, 3, "m/s")
        moving[3:] = require_vector("angular_velocity", angular_velocity, 3, "rad/s")

    def contacts(self) -> Contacts:
        """The contacts of the last step.

        Raises:
            ParameterError: the bed is not `accounted`.
        """
        self._require_accounts()
        state, work = self.state, self.granular.work
        pairs, edges = int(state.listed[0]), int(state.listed[1])
        ident, n = state.ident, self.count
        first = np.repeat(np.arange(n), np.diff(state.pair_start[: n + 1]))
        on = state.pair_history[:pairs, 3] > 0.0
        beside = np.repeat(np.arange(n), np.diff(state.boundary_start[: n + 1]))
        touches = state.boundary_history[:edges, 3] > 0.0
        force = np.concatenate([work.pair_force[:pairs][on], work.boundary_force[:edges][touches]])
        shape = state.boundary_shape[:edges][touches]
        return Contacts(
            np.concatenate([ident[first[on]], ident[beside[touches]]]),
            np.concatenate([ident[state.pair_other[:pairs][on]], self.system.boundaries.body[shape]]),
            np.arange(len(force)) >= on.sum(),
            force[:, 0],
            force[:, 2:5],
        )

    def energy(self) -> dict[str, float]:
        """Energies now, half a step before the positions, and accounts since the start [J].

        Raises:
            ParameterError: the bed is not `accounted`.
        """
        self._require_accounts()
        kinetic, potential, elastic = self._energies()
        account = self.state.account
        return {
            "kinetic": kinetic,
            "potential": potential,
            "elastic": elastic,
            "normal_loss": float(account[NORMAL_LOSS]),
            "friction_loss": float(account[FRICTION_LOSS]),
            "rolling_loss": float(account[ROLLING_LOSS]),
            "boundary_work": float(account[BOUNDARY_WORK]),
        }

    def energy_error(self) -> float:
        """What the accounts leave open [J]: the energies and losses less the work of the boundaries and the start's."""
        energy = self.energy()
        return sum(energy.values()) - 2.0 * energy["boundary_work"] - sum(self._start)

    def momentum(self) -> np.ndarray:
        """Linear momentum, and angular momentum about the world's origin [N s, N m s], (6,)."""
        return momentum_of(self.state, self.step_size)

    def snapshot(self) -> State:
        """A copy of the state."""
        return State(*(array.copy() for array in self.state))

    def restore(self, state: State) -> None:
        """Goes on from a snapshot of a bed of the same grains and boundaries, to the last bit."""
        self._hold(State(*(array.copy() for array in state)))

    def add(self, grains: Grains | Sequence[Grains]) -> np.ndarray:
        """Adds grains; the others keep their contacts. Overlaps are relaxed as at the start of the bed.

        Args:
            grains: of the bed's materials, at most as large as its largest grain.

        Returns:
            Their numbers, above all that there have been.

        Raises:
            ParameterError: as of the bed, a grain that is larger than those at its start, or one so small that the
                bed's step is too long for its contacts; the bed is as it was.
        """
        rows, before = grain_rows(grains, self._materials), self.snapshot()
        radius, most = rows["position"][:, 3], self.system.class_radius[-1]
        require_no_larger(radius, most)
        check_step(self.step_size, *self._times(radius, rows["material"], least_share=least_share(grains)))
        state, numbers = with_more_grains(self.state, rows)
        self._require_memory(len(state.position), len(state.clump_position))
        self._hold(state)
        self._prepare()
        try:
            self._relax()
        except ParameterError:
            self.restore(before)
            raise
        return numbers

    def remove(self, numbers: np.ndarray | Sequence[int]) -> float:
        """Removes grains, and clumps of which a sphere is removed; the others keep their contacts.

        Args:
            numbers: of the grains, of `ident`.

        Returns:
            Mass of what is removed [kg].

        Raises:
            ParameterError: there is no such grain; the bed is as it was.
        """
        mass = mark_removed(self.state, numbers)
        self._prepare()
        return mass

    def _relax(self) -> None:
        """Pushes grains apart that start inside each other or in boundaries, and warns of it.

        Raises:
            ParameterError: there is no room for them.
        """
        pairs, edges, total, largest, *deepest = push_apart(*self._arrays, False)
        if largest <= MOST_OVERLAP:
            return
        told, start, sweeps, left = _overlap(largest, *deepest), self.position, 0, largest
        while left > TOUCHING:
            before = total
            for _ in range(_SWEEPS):
                _, _, total, left, *deepest = push_apart(*self._arrays, True)
                self._prepare()
            sweeps += _SWEEPS
            if total > _SLOWEST * before:
                break
        if left > MOST_OVERLAP:
            valid = f"more room: {_overlap(left, *deepest)} is left after {sweeps} times of pushing them apart"
            raise ParameterError("positions of grains", told, valid)
        self.state.stale[0] = 1
        self._prepare()
        way = np.linalg.norm(self.position - start, axis=1).max()
        warnings.warn(
            f"grains start inside each other, {pairs} pairs, or in boundaries, {edges} grains; {told}: they are "
            f"pushed apart, by up to {way:.3g} m",
            RuntimeWarning,
            stacklevel=3,
        )

    def _prepare(self) -> None:
        """Builds the lists if they are stale."""
        while self.state.stale[0]:
            if not rebuild(self._packed.system, self._packed.state, self._packed.work):
                self._grow()

    def _require_memory(self, grains: int, clumps: int, pairs: int | None = None, contacts: int | None = None) -> None:
        """Refuses grains, with listed pairs and boundary contacts, that memory has no room for."""
        needed = memory_of(self.system, grains, pairs, contacts, clumps, threaded=self._threads > 1)
        require_memory("number of grains", grains, needed / grains, "each, with its contacts,")

    def _hold(self, state: State) -> None:
        self.state = state
        self.granular = Granular(self.system, state, make_workspace(self.system, state, self._threads > 1))
        self._packed: Any = Packed(self.granular)
        self._arrays = self._packed.system, self._packed.state, self._packed.work

    def _grow(self) -> None:
        """Makes room for what the lists need."""
        pairs, contacts = (math.ceil(_MORE * needed) + 16 for needed in self.granular.work.needed[:2])
        old, before = self.state, self.granular.work
        pairs, contacts = max(pairs, len(old.pair_other)), max(contacts, len(old.boundary_shape))
        self._require_memory(len(old.position), len(old.clump_position), pairs, contacts)
        self._hold(with_capacity(old, len(old.position), pairs, contacts, len(old.clump_position)))
        for name in ("impulse", "reference", "stiffening"):
            getattr(self.granular.work, name)[:] = getattr(before, name)

    def _energies(self) -> tuple[float, float, float]:
        energy = np.zeros(3)
        read_energy(self._packed.system, self._packed.state, self.step_size, energy)
        return float(energy[KINETIC]), float(energy[POTENTIAL]), float(energy[ELASTIC])

    def _by_ident(self, rows: np.ndarray) -> np.ndarray:
        return rows[np.argsort(self.state.ident[: self.count], kind="stable")]

    def _number(self, boundary: str) -> int:
        if boundary not in self._names:
            raise ParameterError("boundary", boundary, "one of " + ", ".join(self._names))
        return self._names.index(boundary)

    def _require_accounts(self) -> None:
        if not self.accounted:
            raise ParameterError("accounted", False, "true, for accounts of energy and forces of contacts")


def _overlap(largest: float, first: int, second: int) -> str:
    other = f"and {second}" if second >= 0 else "and a boundary"
    return f"grain {first} {other} by {largest:.2f} of a radius"
