"""The public `Simulation`: a machine in a world, stepped, saved, restored, commanded and read by name."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from grouser.physics.base.checks import STEPS_MAX, require_count, require_range, require_type
from grouser.physics.base.errors import GrouserError, ParameterError
from grouser.physics.base.trees import copied, copy_into, leaves
from grouser.physics.contact.collide import find_overlaps
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.integrators.context import State
from grouser.physics.model.command import Command
from grouser.physics.readings.digging import soil_balance
from grouser.physics.readings.energy_balance import balance_energy
from grouser.physics.readings.hydraulic_balance import balance_hydraulics
from grouser.physics.readings.measurements import (
    Energy,
    EnergyBalance,
    HydraulicBalance,
    SoilBalance,
    SolverDiagnostics,
)
from grouser.physics.simulation.arrays import Arrays
from grouser.physics.simulation.batch import Batch
from grouser.physics.simulation.building import set_up
from grouser.physics.simulation.capacity import common_capacity, with_capacity
from grouser.physics.simulation.clearing import clear_grains, refuse_blocks_inside
from grouser.physics.simulation.engine import Engine, parts_to_samples
from grouser.physics.simulation.lifting import LIFTED, SPAWNS, lift_out
from grouser.physics.simulation.membership import select_all, select_member
from grouser.physics.simulation.named_view import require_name
from grouser.physics.simulation.roots import Roots
from grouser.physics.simulation.signal_record import SignalRecord
from grouser.physics.simulation.starting import start_from
from grouser.physics.simulation.vibration_view import VibrationView
from grouser.physics.simulation.view import MachineView


class Snapshot(NamedTuple):
    """A saved state, opaque; restore it into the same machine, world, step and scheme."""

    state: State
    command: Command
    system: str

    def __repr__(self) -> str:
        return f"<Snapshot after {int(self.state.step_count[0])} steps>"


class Simulation(MachineView):
    """A machine in a world, or several that touch each other.

    It is the view of all machines; `MachineView` lists the commands and readings by name.

    Args:
        machine: from `grouser.load_machine`, or of several from `grouser.combine`.
        world: from `grouser.load_world`; flat ground by default.
        step: length of a step [s].
        scheme: of the hydraulics: "implicit"; for cylinders on valves between constant pressures also "semi_implicit"
            (explicit sub-steps), or "split" (the published scheme, to show its error).
        tolerance: of the impulses: the solver stops when no row changes its own speed by more [m/s or rad/s].
        most_sweeps: limit of the solver's sweeps and Newton iterations; most steps take one to five.
        integrator: of the motion: "semi_implicit", of first order, for everything; "implicit_midpoint", of second
            order, for smooth mechanisms; "variational", of second order, keeps momenta and the structure of the motion,
            for smooth trees; None: the machine's.
        spawn: "lifted": a machine that starts inside the ground or an obstacle is lifted until it stands; "as_given":
            it stays there and is pushed out; `warnings` reports it.
        sleeping: whether free bodies that stand still by themselves or on each other sleep: they cost nothing until
            something touches them (`contact.sleeping_room`). Machines do not sleep.

    Attributes:
        warnings: possible mistakes in the machine's description, and effects of the step.
        vibration: small vibrations about the present positions.
        arrays: what is behind it, for compiled functions.
        roots: motion of the root links of all members.
        spawn, sleeping: as given.

    Raises:
        ParameterError: a step, scheme or limit out of range.
        MachineError: the machine cannot be simulated as described.
    """

    def __init__(
        self,
        machine: Machine,
        world: World = World(),
        step: float = 0.001,
        scheme: str = "implicit",
        tolerance: float = 1e-6,
        most_sweeps: int = 200,
        integrator: str | None = None,
        spawn: str = LIFTED,
        sleeping: bool = False,
    ):
        require_name("spawn", spawn, SPAWNS)
        setup = set_up(machine, world, step, scheme, tolerance, most_sweeps, integrator, sleeping)
        self.spawn = spawn
        self.sleeping = sleeping
        engine = Engine(setup)
        inside = (*lift_out(engine, spawn), *clear_grains(engine, engine.initial))
        refuse_blocks_inside(engine, engine.initial)
        self._stand_on(engine)
        self.warnings: tuple[str, ...] = (*setup.warnings, *inside, *self.vibration.warnings())
        self.reset()
        self._close()

    def _stand_on(self, engine: Engine) -> None:
        """Makes the views of an engine."""
        super().__init__(engine, select_all(engine.setup.machine, engine.setup.elements))
        self.roots = Roots(engine)
        self.vibration = VibrationView(engine)
        self.arrays = Arrays(engine)
        self._members: dict[str, MachineView] = {}
        self._numbers = {member.name: number for number, member in enumerate(self.machine.members)} or {"": 0}

    def __repr__(self) -> str:
        where = f"'{self.machine.name}' in '{self.world.name}'"
        return f"<Simulation of {where} at t = {self.time:.9g} s, steps of {self.step_size:g} s>"

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Everything that a step changes; its arrays may be written to."""
        return self._engine.state

    def step(self, count: int = 1) -> None:
        """Makes `count` steps with the commands held.

        Other Python threads run meanwhile; they must leave this simulation alone.

        Raises:
            ParameterError: a count that is negative or not whole.
            BusyError: another thread steps this simulation, or replaces its state.
            DivergenceError: the state is no longer finite after the step that `step_count` counts last; restore a
                snapshot or reset.
        """
        steps = require_count("count", count, 0, STEPS_MAX, " of steps")
        engine = self._engine
        with engine.exclusive:
            for part in parts_to_samples([engine], steps):
                engine.begin_steps()
                engine.finish_steps(engine.run(part))
                engine.sample()

    def record(self, signals: str | Iterable[str], every: float | None = None) -> SignalRecord:
        """Records signals from now on, while the simulation steps.

        Args:
            signals: names, as in `signals`; that of a joint alone is its position, a * any part of a name.
            every: interval of the samples, a multiple of the step [s]; None: every step.

        Returns:
            The record, which grows; `SignalRecord.stop` ends it.

        Raises:
            ParameterError: an unknown signal, with the closest name, or an interval that is no multiple of the step.
        """
        interval = 1
        if every is not None:
            every = require_range("every", every, self.step_size, STEPS_MAX * self.step_size, "s")
            interval = round(every / self.step_size)
            if abs(interval * self.step_size - every) > 1e-6 * self.step_size:
                raise ParameterError("every", every, f"a multiple of the step, as {interval * self.step_size:g} s")
        samplers = self._engine.samplers
        record = SignalRecord(self._engine, self.signals.chosen(signals), interval, samplers.remove)
        samplers.append(record)
        return record

    def batch(self, count: int) -> Batch["Simulation"]:
        """Copies of this simulation in its present state that step together on all cores.

        Raises:
            ParameterError: a count below one, or more copies than the memory holds.
        """
        with self._engine.exclusive:
            return Batch(self._engine, count, self._twin_on)

    def _twin_on(self, engine: Engine) -> "Simulation":
        """The same simulation on a copy of its engine."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _closed=False)
        vars(twin).pop("signals", None)
        twin._stand_on(engine)
        twin._close()
        return twin

    def reset(self, joint_position: Mapping[str, float] | None = None) -> None:
        """Resets to the start: initial state, neutral commands, no pushes, emergency stop released; `faults`
        stay.

        Args:
            joint_position: of joints that start elsewhere than the machine's file says, by name [rad or m]; closed
                loops and cylinders follow, at the pressures of the start, and the base stays where it is.

        Raises:
            ParameterError: an unknown joint, a position beyond its limits, or one at which a loop does not close.
            MachineError: a cylinder would be outside its stroke.
        """
        engine, command = self._engine, self._engine.command
        with engine.exclusive:
            engine.take_state(engine.initial)
            if joint_position is not None:
                try:
                    start_from(engine, joint_position)
                except GrouserError:
                    engine.take_state(engine.initial)
                    raise
            command.valve[:] = 0.0
            command.emergency_stop[:] = False
            command.pushed[:], command.push[:] = False, 0.0
            for number, drive in enumerate(self.machine.drives):
                # The joint's position at the start, or zero speed.
                start = engine.state.q[self.arrays.names.joints[drive.joint].q] if drive.mode == "position" else 0.0
                command.drive[number] = start
            engine.clear_outputs()

    def snapshot(self) -> Snapshot:
        """Saves everything that a bit-exact restart needs."""
        engine = self._engine
        with engine.exclusive:
            return Snapshot(copied(engine.state), copied(engine.command), engine.setup.fingerprint)

    def restore(self, saved: Snapshot) -> None:
        """Continues from a snapshot, its emergency stop, pushes and faults included; measurements of the last step are
        empty until the next.

        Raises:
            ParameterError: the snapshot is of another machine, world, step or scheme.
        """
        require_type("snapshot", saved, Snapshot, "what `Simulation.snapshot` returned")
        fingerprint = self._engine.setup.fingerprint
        if saved.system != fingerprint:
            valid = f"one of the same machine, world and settings, {fingerprint}"
            raise ParameterError("snapshot", saved.system, valid)
        with self._engine.exclusive:
            self._engine.take_state(saved.state)
            copy_into(saved.command, self._engine.command)
            self._engine.clear_outputs()

    def resume(self, state: State) -> None:
        """Continues from a state assembled by the caller; all bodies wake, and accounts of work are opened again."""
        self._require_state(state)
        with self._engine.exclusive:
            self._engine.take_state(state)
            self._engine.wake()
            self._engine.open_accounts()
            self._engine.clear_outputs()

    def use_state(self, state: State) -> None:
        """Continues with the arrays of another state of this simulation, which may have more tiles of soft ground."""
        self._require_state(state)
        with self._engine.exclusive:
            self._engine.use_state(state)

    def _require_state(self, state: State) -> None:
        """Refuses what is no state of this simulation, apart from its capacity."""
        require_type("state", state, State, "the `state` of a simulation of the same machine, world and step")
        capacity = common_capacity(self.state, state)
        trees = [with_capacity(one, capacity) for one in (self.state, state)]
        for own, other in zip(*map(leaves, trees), strict=True):
            if own.shape != other.shape or own.dtype != other.dtype:
                valid = f"that of a simulation of the same machine and world, whose array is {own.shape}"
                raise ParameterError("state", f"an array of {other.shape}", valid)

    @property
    def asleep(self) -> tuple[str, ...]:
        """Links of the bodies that sleep."""
        asleep_with = self.state.sleeping.asleep_with
        if not len(asleep_with):
            return ()
        asleep = [body >= 0 and asleep_with[body] >= 0 for body in self.arrays.names.link_body.tolist()]
        return tuple(name for name, sleeps in zip(self.arrays.names.links, asleep, strict=True) if sleeps)

    def wake(self) -> None:
        """Wakes all bodies that sleep. Those that are placed, or whose state is changed, wake by themselves."""
        self._engine.wake()

    # --- members ----------------------------------------------------------------------------------------------------

    def part(self, name: str) -> MachineView:
        """One of several machines, by the member's name; of a machine by itself, "", it is the simulation.

        Raises:
            ParameterError: there is no such member.
        """
        require_name("member", name, self._numbers)
        if not self.machine.members:
            return self
        if name not in self._members:
            elements = self._engine.setup.elements
            chosen = select_member(self.machine, elements, self.arrays.membership, self._numbers[name])
            self._members[name] = MachineView(self._engine, chosen)
            self._members[name]._close()
        return self._members[name]

    def discard(self) -> None:
        """Frees the memory of a simulation that is no longer used: its views are of no use then."""
        for view in (*self._members.values(), self):
            vars(view).clear()

    def overlaps(self) -> list[tuple[str, str, float]]:
        """Overlapping shapes that may touch: a link, the link or obstacle that it overlaps, and the depth [m]."""
        found = find_overlaps(self.arrays.system.contact, self.arrays.model, self.state.q)
        return [(self.arrays.shape_names[one], self.arrays.shape_names[other], depth) for one, other, depth in found]

    # --- energy -----------------------------------------------------------------------------------------------------

    def energy(self) -> Energy:
        """Kinetic, potential and elastic energy of all bodies now."""
        return self._engine.energy()

    def energy_balance(self) -> EnergyBalance:
        """Work, dissipation and changes of energy since the first step after the start or `reset`.

        Changing `state` by hand after that step leaves the change in the residual.
        """
        engine, system = self._engine, self.arrays.system
        now, pairs = engine.energy(), engine.pair_energies()
        return balance_energy(engine.setup.divided, system, self.arrays.names, self.state, now, pairs)

    def hydraulic_balance(self) -> HydraulicBalance:
        """Balance of the oil's energy since the start or `reset`."""
        elements, system = [name for _, name in self._engine.setup.flow_element_owners], self.arrays.system
        return balance_hydraulics(
            self.machine, system.hydraulics.network, self.arrays.lines, elements, system.settings.scheme, self.state
        )

    def soil_balance(self) -> SoilBalance | None:
        """Balance of the solid mass of soil now; None on rigid ground."""
        return None if self.world.soil is None else soil_balance(self.arrays.system, self.state, self._engine.initial)

    # --- solver -----------------------------------------------------------------------------------------------------

    @property
    def diagnostics(self) -> SolverDiagnostics:
        """Convergence of the impulses."""
        work = self._engine.workspace
        return SolverDiagnostics(
            iterations=int(work.constraints.sweeps[0]),
            iterations_max=int(work.constraints.sweeps[1]),
            residual=float(work.constraints.residual[0]),
            residual_max=float(work.constraints.residual[1]),
            unsettled_steps=int(work.constraints.unsettled[2]),
            contact_count=int(work.contact.contacts.count[0]),
            row_count=int(work.constraints.rows.count[0] + 3 * work.contact.rows.count[0]),
        )

    def clear_diagnostics(self) -> None:
        """Clears the largest iterations and residual."""
        self._engine.clear_diagnostics()
