"""A machine in a world as arrays: read-only arrays, and the buffers that steps change."""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from grouser.physics.base.exclusive import Exclusive
from grouser.physics.base.packed import Packed
from grouser.physics.base.phases import MORE_GRAIN_CONTACTS, MORE_TILES, NOTHING
from grouser.physics.base.trees import copied, copy_into
from grouser.physics.blocks import room as blocks
from grouser.physics.blocks.masonry import block_names
from grouser.physics.compliance.loops import make_loop_motion, place_loops
from grouser.physics.contact.collide import Capacity, clear_convex_distances, needed_capacity
from grouser.physics.contact.waking import begin_sleeping, wake_island
from grouser.physics.granular import room as granular
from grouser.physics.integrators.context import (
    State,
    StepContext,
    Workspace,
    fill_schedule,
    make_schedule,
    make_workspace,
)
from grouser.physics.integrators.midpoint import run_midpoint_steps
from grouser.physics.integrators.step import run_steps
from grouser.physics.integrators.variational import run_variational_steps
from grouser.physics.model.command import Command
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics
from grouser.physics.multibody.spans import span_all
from grouser.physics.readings.digging import beyond_digging
from grouser.physics.readings.energy_balance import open_accounts
from grouser.physics.readings.flexible_links import bent_too_far
from grouser.physics.readings.measurements import Energy
from grouser.physics.readings.mechanical_energy import mechanical_energy, pair_energies
from grouser.physics.readings.soil_measurements import beyond_soils
from grouser.physics.readings.track_states import lying_on_soil
from grouser.physics.simulation.building import Setup, make_initial_state, make_neutral_command
from grouser.physics.simulation.capacity import (
    StateCapacity,
    capacity_of,
    common_capacity,
    grown,
    with_capacity,
    with_contact_room,
)
from grouser.physics.simulation.divergence import divergence

# Iteration that may not converge in a step, by integrator.
_ITERATIONS = {
    "semi_implicit": "dry friction or fast rotation",
    "implicit_midpoint": "the midpoint rule",
    "variational": "the variational integrator",
}
# A body that turns by more in a step is reported: its direction between steps is not known [rad].
LARGEST_TURN = 1.0


def parts_to_samples(engines: Sequence["Engine"], count: int) -> Iterator[int]:
    """Yields numbers of steps that together are `count`, of which each ends at most at the next sample of an engine."""
    while True:
        part = min([count, *(sampler.steps_to_sample() for engine in engines for sampler in engine.samplers)])
        yield part
        count -= part
        if not count:
            return


class Buffers(NamedTuple):
    """All mutable arrays of an engine that steps read or change."""

    state: State
    command: Command
    workspace: Workspace


class Sampler(Protocol):
    """What takes samples while an engine steps."""

    def steps_to_sample(self) -> int:
        """Steps to the next sample, at least one."""

    def sample(self) -> None:
        """Takes a sample if the present step is one of its steps."""

    def rewind(self) -> None:
        """Drops the samples of times after the present."""


class Engine:
    """Arrays and buffers of a machine in a world, with the functions that step them.

    Args:
        setup: everything that steps do not change.

    Attributes:
        setup: as given.
        initial: state at the start; not changed.
        state, command, workspace: the buffers.
        context: these and the system, packed, the argument of a step.
        exclusive: held while steps are made or the state is replaced; a second thread is refused.
        packed: the system, packed.
        samplers: are asked for samples after steps.
        kinematics: of `update_kinematics`, packed; the workspace has that of the start of the last step.

    Raises:
        MachineError: the machine cannot be stepped from its initial positions.
    """

    def __init__(self, setup: Setup):
        system = setup.system
        self.setup = setup
        self.workspace: Workspace = make_workspace(system)
        self._warned_soils: set[str] = set()
        self._warned_tracks: set[str] = set()
        self._warned_shovels: set[str] = set()
        self._warned_links: set[str] = set()
        self._warned_of_turning = False
        self._warned_of_stiff: set[str] = set()
        self._schedule = make_schedule(system)
        self._compiled = False
        self.exclusive = Exclusive()
        self.samplers: list[Sampler] = []
        self.packed = Packed(system)
        self._make_present()
        self.initial: State = make_initial_state(setup, self.packed, self.kinematics, self.workspace)
        self.state: State = copied(self.initial)
        self.command: Command = make_neutral_command(setup.machine, len(setup.names.links))
        self._pack()

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def step_size(self) -> float:
        """Length of a step [s]."""
        return self.setup.system.settings.step

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return int(self.state.step_count[0])

    @property
    def time(self) -> float:
        """step_count * step_size [s]."""
        return self.step_count * self.step_size

    def begin_steps(self) -> None:
        """Compiles the step, and opens the accounts of work, before the first step."""
        if not self._compiled and self.setup.integrator == "semi_implicit":
            fill_schedule(self.setup.system, self.context)
            self._compiled = True
        if self.step_count == 0:
            self.open_accounts()
        if len(self.state.sleeping.still):
            begin_sleeping(self.context)

    def run(self, count: int) -> int:
        """Makes `count` steps with constant commands; returns the number of steps that were not made."""
        if self.setup.integrator == "implicit_midpoint":
            return count - run_midpoint_steps(count, self.context)
        if self.setup.integrator == "variational":
            return count - run_variational_steps(count, self.context)
        while count > 0:
            done, asked = run_steps(count, self.context)
            count -= done
            if asked == NOTHING:
                break
            self.answer(asked)
        return count

    def answer(self, asked: int) -> None:
        """Fulfils the request of the next step for memory (`step.run_steps`)."""
        self.use_state(with_capacity(self.state, self.make_room(asked)))

    def make_room(self, asked: int) -> StateCapacity:
        """Enlarges the workspace as the next step requests; returns the capacity that the state must get."""
        room = capacity_of(self.state)
        if asked == MORE_TILES:
            return room._replace(tiles=2 * room.tiles)
        if asked == MORE_GRAIN_CONTACTS:
            grains = granular.needed_capacity(self.state.granular, self.workspace.granular)
            return room._replace(**dict(zip(room._fields[2:], grains, strict=True)))
        system, work = self.setup.system, self.workspace.contact
        needed = needed_capacity(system.contact, work.detection)
        needed = needed._replace(contacts=needed.contacts + int(self.state.sleeping.contacts.memory.count[0]))
        pairs, contacts = len(work.detection.broad.pair), len(work.contacts.slot)
        capacity = Capacity(grown(pairs, needed.pairs), grown(contacts, needed.contacts))
        self.workspace = with_contact_room(self.workspace, system, capacity)
        return room._replace(contacts=grown(room.contacts, needed.contacts))

    def sample(self) -> None:
        """Takes the samples of the present step."""
        for sampler in self.samplers:
            sampler.sample()

    def finish_steps(self, left: int) -> None:
        """Checks for divergence and emits warnings after stepping, for the caller of its caller.

        Args:
            left: number of steps that were not made.

        Raises:
            DivergenceError: there are such.
        """
        if left > 0:
            raise divergence(self.setup, self.state, self.time, int(self.workspace.constraints.unsettled[1]))
        work = self.workspace
        soils = beyond_soils(self.setup.world, work.soil, work.tracks, self._warned_soils)
        lying = lying_on_soil(self.setup.machine.tracks, work.tracks, self._warned_tracks)
        cell = float(self.setup.system.soil.cell[0])
        dug = beyond_digging(self.setup.machine.shovels, work, cell, self.step_size, self._warned_shovels)
        for warning in (*soils, *lying, *dug):
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        for warning in bent_too_far(self.setup.machine, self.setup.beams, self.state.q, self._warned_links):
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        self._warn_of_turning()
        self._warn_of_stiff("grains", self.workspace.granular.stiffest, self._name_beside_grains)
        self._warn_of_stiff("blocks", self.workspace.blocks.stiffest, self._name_beside_blocks)
        unsettled, rate, _ = self.workspace.constraints.unsettled
        if unsettled > 0:
            self.workspace.constraints.unsettled[0] = -1  # A marker that the warning has been given.
            warnings.warn(
                f"{_ITERATIONS[self.setup.integrator]} did not settle in the step to "
                f"t = {unsettled * self.step_size:.6f} s: "
                f"{self.setup.machine.joint_title(self.setup.names.rate_joint[rate])} still changed; "
                "diagnostics.unsettled_steps counts such steps; try a smaller one",
                RuntimeWarning,
                stacklevel=3,
            )

    def _warn_of_turning(self):
        """Warns once of a body that turns too fast for the step, for the caller of the caller of its caller."""
        motion = self.workspace.multibody
        turn = self.step_size * float(motion.turn[0]) ** 0.5
        if turn > LARGEST_TURN and not self._warned_of_turning:
            self._warned_of_turning = True
            link = self._link_of(motion.turning_body[0])
            warnings.warn(
                f'"{link}" turns by {turn:.1f} rad in a step: forces that turn with it are not resolved; '
                f"take a step of at most {self.step_size * LARGEST_TURN / turn:.2g} s",
                RuntimeWarning,
                stacklevel=4,
            )

    def _name_beside_grains(self, row: int) -> str:
        """Name of the block, or of a link of the body, that a row of the exchange with grains is."""
        own = self.setup.system.granular
        if own.first_block <= row < own.first_link:
            return block_names(self.setup.world.blocks)[row - own.first_block]
        return self._link_of(own.body[row])

    def _name_beside_blocks(self, row: int) -> str:
        return self._link_of(self.setup.system.blocks.body[row])

    def _link_of(self, body: int) -> str:
        """Name of the first link of a body."""
        names = self.setup.names
        return names.links[int(np.flatnonzero(names.link_body == body)[0])]

    def _warn_of_stiff(self, what: str, stiffest: np.ndarray, name_of: Callable[[int], str]):
        """Warns once of things whose contacts with a body are too stiff for the step, as `_warn_of_turning`.

        Args:
            what: the things.
            stiffest: of their exchange of impulses (`multibody.impulse_exchange`).
            name_of: name of what a row of it is.
        """
        stiffness, row = stiffest.tolist()
        if stiffness > 1.0 and what not in self._warned_of_stiff:
            self._warned_of_stiff.add(what)
            touched = name_of(int(row))
            warnings.warn(
                f'the contacts of {what} with "{touched}" are {stiffness:.1f} times as stiff as its mass and the step '
                f"resolve: take a step of at most {self.step_size / stiffness**0.5:.2g} s, or softer {what}",
                RuntimeWarning,
                stacklevel=4,
            )

    # --- buffers ----------------------------------------------------------------------------------------------------

    @property
    def buffers(self) -> Buffers:
        """All mutable buffers of a step."""
        return Buffers(self.state, self.command, self.workspace)

    def on_buffers(self, buffers: Buffers) -> "Engine":
        """The same machine in the same world on other buffers."""
        twin = copy.copy(self)
        twin.exclusive = Exclusive()
        twin.samplers = []
        twin.state, twin.command, twin.workspace = buffers
        twin._make_present()
        twin._pack()
        return twin

    def use_state(self, state: State) -> None:
        """Goes on with the arrays of another state of the same system."""
        self.state = state
        if not granular.has_room(state.granular, self.workspace.granular):
            roomy = granular.with_room(self.setup.system.granular, state.granular, self.workspace.granular)
            self.workspace = self.workspace._replace(granular=roomy)
        self._pack()

    def take_state(self, source: State) -> None:
        """Copies a state, whatever its capacity."""
        capacity = common_capacity(source, self.state)
        if capacity != capacity_of(self.state):
            self.use_state(with_capacity(self.state, capacity))
        copy_into(with_capacity(source, capacity), self.state)

    def wake(self, bodies: np.ndarray | None = None) -> None:
        """Wakes the islands of bodies that sleep, of all by default."""
        asleep_with = self.state.sleeping.asleep_with
        if len(asleep_with):
            chosen = asleep_with if bodies is None else asleep_with[bodies]
            for leader in sorted({*chosen.tolist()} - {-1}):
                wake_island(self.context, leader)

    def clear_outputs(self) -> None:
        """Clears the outputs of the last step."""
        work = self.workspace
        work.contact.contacts.count[0] = work.constraints.rows.count[0] = work.contact.rows.count[0] = 0
        work.constraints.rows.joint_end[0] = 0
        work.hydraulics.prediction.flow[:] = 0.0
        work.hydraulics.prediction.supply_power[:] = 0.0
        work.hydraulics.prediction.trace_length[:] = 0
        work.hydraulics.network.step_accounts.passed[:] = 0.0
        work.hydraulics.network.step_accounts.delivered[:] = 0.0
        work.hydraulics.network.step_accounts.pump_work[:] = 0.0
        work.soil.figure[:] = 0.0
        work.soil.wrench[:] = 0.0
        work.tracks.figure[:] = 0.0
        work.tracks.wrench[:] = 0.0
        work.digging.force[:] = 0.0
        work.digging.given[:] = 0.0
        work.pushing.wrench[:] = 0.0
        work.digging.resistance.depth[:] = 0.0
        work.joints.effort[:] = 0.0
        work.joints.drive_spring[:] = 0.0
        work.joints.frictions.impulse[:] = 0.0
        work.hydraulics.brake[:] = False
        work.loops.rows.impulse[:] = 0.0
        granular.clear_outputs(work.granular)
        blocks.clear_outputs(work.blocks)
        if len(work.sleeping.q):
            work.sleeping.q[:] = self.state.q
            span_all(self.packed.multibody, self.context.workspace.multibody.awake)
        work.multibody.velocity[:] = work.multibody.velocity_start[:] = self.state.v
        clear_convex_distances(work.contact.detection)
        self.update_kinematics()
        copy_into(self._present, work.multibody.kinematics)
        self.clear_diagnostics()
        for sampler in self.samplers:
            sampler.rewind()

    def clear_diagnostics(self) -> None:
        """Clears the largest iterations and residual so far."""
        self.workspace.constraints.sweeps[:] = 0
        self.workspace.constraints.residual[:] = 0.0
        self.workspace.constraints.unsettled[:] = 0
        self.workspace.multibody.turn[:] = 0.0

    # --- derived quantities -----------------------------------------------------------------------------------------

    def update_kinematics(self) -> Packed:
        """Updates the kinematics to the present state."""
        update_kinematics(self.packed.multibody, self.state.q, self.state.v, self.kinematics)
        return self.kinematics

    def pair_deflections(self) -> np.ndarray:
        """Translations [m] and rotations [rad] of all loop joints now, (pairs, 6)."""
        if len(self.setup.system.loops.axis):
            place_loops(self.packed.multibody, self.packed.loops, self.state.q, self.kinematics, self._pair_motion)
        return self._pair_motion.deflection

    def pair_energies(self) -> np.ndarray:
        """Energy in the springs of each loop joint now [J], (pairs,)."""
        return pair_energies(self.setup.system.loops, self.pair_deflections())

    def energy(self) -> Energy:
        """Kinetic, potential and elastic energy of all bodies now."""
        return mechanical_energy(self.packed, self.state, self.update_kinematics(), self.pair_energies())

    def open_accounts(self) -> None:
        """Opens the accounts of work anew."""
        open_accounts(self.setup.system, self.state, self.energy(), self.pair_energies())

    # --- inside -----------------------------------------------------------------------------------------------------

    def _make_present(self):
        """Buffers for quantities derived from the present state."""
        system = self.setup.system
        self._present: Kinematics = make_kinematics(system.multibody)
        self.kinematics = Packed(self._present)
        self._pair_motion = Packed(make_loop_motion(system.loops, len(system.multibody.rate_damping)))

    def _pack(self):
        """Packs the buffers again after some were replaced."""
        self.context = Packed(StepContext(self.setup.system, *self.buffers, self._schedule))
