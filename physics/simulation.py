"""The façade: a machine in a world, commanded and read by name."""

import copy
import hashlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import astuple
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.errors import DivergenceError, MachineError, ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.base.phases import CONVEX_PAIRS, NOTHING
from grouser.physics.compliance.assembly import assemble
from grouser.physics.compliance.loops import make_pair_motion, make_pairs, place_pairs
from grouser.physics.compliance.rigid_elements import split_flexible_links
from grouser.physics.compliance.springs import axial_energy, make_axial_laws
from grouser.physics.compliance.vibration import Mode, implicit_damping_ratio, vibration_modes
from grouser.physics.contact.bounds import bounds_of
from grouser.physics.contact.collide import (
    find_overlaps,
    forget,
    make_collision,
    shape_name,
    slot_count,
    slot_shapes,
)
from grouser.physics.contact.convex import ConvexNarrowPhase
from grouser.physics.contact.terrain import ground_surface
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import Lidar, Sensor
from grouser.physics.description.data.world import Ground, World
from grouser.physics.description.elements.hydraulics.cylinders import STROKE_TOLERANCE
from grouser.physics.drives.electric import KEPT
from grouser.physics.drives.servo import make_drives
from grouser.physics.drives.springs import BUILT_IN
from grouser.physics.friction.joints import bristle_energy
from grouser.physics.hydraulics.circuit import ENERGY_ACCOUNTS, make_circuit
from grouser.physics.hydraulics.cylinder import SCHEMES
from grouser.physics.hydraulics.elements import beyond_plain, make_network
from grouser.physics.hydraulics.faults import leaks, machine_faults
from grouser.physics.hydraulics.network import NO_PASSAGE
from grouser.physics.hydraulics.piston_rows import cylinder_length
from grouser.physics.hydraulics.valve import CAVITY
from grouser.physics.integrators.context import (
    INTEGRATORS,
    Machinery,
    Settings,
    State,
    System,
    Workspace,
    copy_into,
    make_state,
    make_workspace,
)
from grouser.physics.integrators.midpoint import run_midpoint_steps
from grouser.physics.integrators.smooth import check_smooth
from grouser.physics.integrators.step import run_steps
from grouser.physics.integrators.variational import run_variational_steps
from grouser.physics.joints.laws import make_joint_laws
from grouser.physics.model.command import Command, make_command
from grouser.physics.model.multibody import FREE, POSITIONS, Model, Names, build_model, with_initial_positions
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.energy import elastic_energy, kinetic_energy, potential_energy, rotor_energy
from grouser.physics.multibody.factorisation import factorise
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics
from grouser.physics.readings.energy_balance import balance_energy, open_accounts
from grouser.physics.readings.flexible_links import flexible_link_state, make_beam
from grouser.physics.readings.hydraulic_balance import balance_hydraulics
from grouser.physics.readings.measurements import (
    Contact,
    CylinderEnergy,
    CylinderPressure,
    CylinderState,
    Energy,
    EnergyBalance,
    FlexibleLinkState,
    HydraulicBalance,
    HydraulicMotorState,
    NumericalDamping,
    PumpState,
    SolverDiagnostics,
    SphericalJointState,
    TerrainPatch,
    WheelState,
)
from grouser.physics.readings.reactions import pair_reactions, transmitted_wrenches
from grouser.physics.readings.soil_measurements import beyond_soils, check_soils, terrain_patch, with_soil
from grouser.physics.readings.wheel_contact import rigid_wheel_states
from grouser.physics.sensors.imu import ImuReading, read_imu
from grouser.physics.sensors.lidar import LidarReader, LidarScan
from grouser.physics.simulation.batch import Batch
from grouser.physics.simulation.commands import CommandMap
from grouser.physics.simulation.faults import FaultMap
from grouser.physics.simulation.named_view import NamedView, unknown_name
from grouser.physics.simulation.view import Part
from grouser.physics.soil.tiles import first_capacity, make_tiles, with_capacity
from grouser.physics.soil.wheels import make_wheels

# A vibration that the step damps by more than this share of the critical damping is worth a word [-].
_NOTABLE_DAMPING = 0.01
# What the length of a quaternion may differ from one by, for rounding [-].
_UNIT = 1e-6
# What may not settle in a step.
_ITERATIONS = {
    "semi_implicit": "dry friction",
    "implicit_midpoint": "the midpoint rule",
    "variational": "the variational integrator",
}


class Snapshot(NamedTuple):
    """A saved state, opaque; restore it into the same machine, world, step and scheme."""

    state: State
    command: Command
    system: str


class Simulation:
    """A machine in a world, or several that touch each other.

    Args:
        machine: from `grouser.load_machine`, or of several from `grouser.combine`.
        world: from `grouser.load_world`; flat ground by default.
        step: length of a step [s].
        scheme: of the hydraulics: "implicit"; for cylinders on valves between constant pressures also "semi_implicit"
            (explicit sub-steps), or "split" (the published scheme, to show its error).
        tolerance: of the impulses: the solver stops when no row changes its own speed by more [m/s or rad/s].
        most_sweeps: limit of the solver's sweeps.
        integrator: of the motion: "semi_implicit", of first order, for everything; "implicit_midpoint", of second
            order, for smooth mechanisms; "variational", of second order, keeps momenta and the structure of the motion,
            for smooth trees; None: the machine's.

    Attributes:
        machine, world, scheme: as given.
        integrator: that is used.
        warnings: what the machine's description and the step bring with them that may not be meant, in words.
        system: all that a step reads and does not change.
        model, names: the arrays of the multibody system and the names that belong to them.
        command: commands by name, held until changed.
        faults: of hydraulic components, by the component's and the fault's name, held until changed or cleared.
        joint_position, joint_velocity: of every joint with one coordinate [rad or m, per second].
        joint_effort: force that drives, dry friction, limits and cylinders exerted on its coordinate in the last step
            [N m or N].
        spherical_joint: of every spherical joint; its commands are `command["joint/x"]` and so on.
        pressure, cylinder, cylinder_energy: of every cylinder; pressures are as its sensors show them.
        line_pressure: of every hydraulic line [Pa, absolute].
        hydraulic_motor: of every hydraulic motor.
        pump: of every displacement pump.
        joint_reaction: of every loop joint and compliant joint: force [N] and moment [N m] that the child link got
            through it in the last step, about the joint's origin in the joint's frame, which is fixed to the parent
            link, (6,); none where an over-constrained loop joint does not take part (`warnings`).
        joint_deflection: of every loop joint: translations [m] and rotations [rad] of the child's frame in the joint's,
            (6,).
        flexible_link: of every flexible link: how it is bent.
        wheel: of every wheel, by its link: what soil and whatever is rigid do to it.
        imu: of every inertial measurement unit.
        lidar: a sweep of every lidar, where the machine is now.
        contact_wrench: force [N] and moment [N m] of all contacts of a link in the last step, at its origin in its
            frame.

    Raises:
        ParameterError: a step, scheme or limit out of range.
        MachineError: the machine cannot move as it is described.
    """

    def __init__(
        self,
        machine: Machine,
        world: World = World(),
        step: float = 0.001,
        scheme: str = "implicit",
        tolerance: float = 1e-6,
        most_sweeps: int = 100,
        integrator: str | None = None,
    ):
        if not isinstance(scheme, str) or scheme not in SCHEMES:
            raise unknown_name("scheme", scheme, SCHEMES)
        _require_range("step", step, 1e-7, 0.1)
        _require_range("tolerance", tolerance, 1e-15, 1.0)
        _require_range("most_sweeps", most_sweeps, 1, 1_000_000)
        if most_sweeps != int(most_sweeps):
            raise ParameterError("most_sweeps", most_sweeps, "a whole number")
        self.integrator: str = machine.integrator.method if integrator is None else integrator
        if self.integrator not in INTEGRATORS:
            raise unknown_name("integrator", integrator, INTEGRATORS)
        self.machine = machine
        self._parts = machine = split_flexible_links(machine)
        self.world = world
        self.scheme = scheme
        model, names = build_model(machine, world.spawn, world.gravity)
        start, pairs, misfits = assemble(machine, model, names, make_pairs(machine, names, model))
        model = with_initial_positions(model, start)
        self.model: Model = model
        self.names: Names = names
        self._beams = [make_beam(flexible, machine, names) for flexible in self.machine.flexible_links]
        unsure = check_soils(machine, world)
        collision, excluded = make_collision(machine, names, model, world)
        network, lines, self._passage_elements = make_network(machine)
        if scheme != "implicit" and (part := beyond_plain(machine)):
            raise ParameterError("scheme", scheme, f"implicit: '{part}' is beyond the plain schemes")
        for cylinder in machine.cylinders:
            if scheme == "split" and cylinder.piston_mass == 0.0:
                raise ParameterError("scheme", scheme, f"another: '{cylinder.name}' has no piston_mass")
        self.lines: tuple[str, ...] = lines
        self.system = System(
            model,
            collision,
            make_joint_laws(machine, names),
            make_drives(machine, float(step)),
            make_axial_laws(machine, names),
            pairs,
            make_circuit(machine, names, model),
            network,
            make_wheels(machine, names, world),
            Settings(float(step), SCHEMES[scheme], float(tolerance), int(most_sweeps), INTEGRATORS[self.integrator]),
        )
        if self.integrator != "semi_implicit":
            check_smooth(self.system, self.integrator, machine.file)
            measures = {sensor.type for sensor in machine.sensors}
            if self.integrator == "implicit_midpoint" and "imu" in measures:
                raise ParameterError("integrator", self.integrator, "semi_implicit, for a machine with an imu")
        self._narrow_phase = (
            ConvexNarrowPhase(collision.shapes, collision.pairs) if len(collision.pairs.convex_pair) else None
        )
        self._fingerprint = _fingerprint(self.system)
        self._warned: set[str] = set()
        self._workspace = make_workspace(self.system)
        if self._narrow_phase is not None:
            self._narrow_phase.prepare(self._workspace.detection)
        self._packed = Packed(self.system)
        self._seen = Packed(make_kinematics(model))
        self._initial = self._make_initial_state()
        self.state: State = State(*[np.array(array) for array in self._initial])
        self._command = make_command(
            valves=len(machine.valves),
            drives=len(machine.drives),
            machines=max(len(machine.members), 1),
            pumps=len(machine.pumps),
            reliefs=len(machine.relief_valves) + len(machine.counterbalance_valves),
            leaks=len(leaks(machine)),
            cylinders=len(machine.cylinders),
        )
        self.command = CommandMap(machine, self._command)
        self.faults = FaultMap(machine_faults(machine), self._command, scheme)
        self.machinery = Packed(Machinery(self.system, self.state, self._command, self._workspace))
        self._make_views()
        self.warnings = (*excluded, *misfits, *unsure, *self._damping_warnings())
        self.reset()

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def step_size(self) -> float:
        """Length of a step [s]."""
        return self.system.settings.step

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return int(self.state.step_count[0])

    @property
    def time(self) -> float:
        """step_count * step_size [s]."""
        return self.step_count * self.step_size

    def step(self, count: int = 1) -> None:
        """Makes `count` steps with the commands held.

        Other Python threads run meanwhile; they must leave this simulation alone.

        Raises:
            ParameterError: a negative count.
            DivergenceError: the state is no longer finite after the step that `step_count` counts last; restore a
                snapshot or reset.
        """
        if not isinstance(count, Integral) or count < 0:
            raise ParameterError("count", count, "a whole number of steps, at least 0")
        count = int(count)  # compiled code would be made anew for numpy's other integers
        self.begin_steps()
        if self.integrator == "implicit_midpoint":
            count -= run_midpoint_steps(count, self.machinery)
        elif self.integrator == "variational":
            count -= run_variational_steps(count, self.machinery)
        else:
            asks = NOTHING
            while count > 0:
                done, asks = run_steps(count, asks == CONVEX_PAIRS, self.machinery)
                count -= done
                if asks == NOTHING:
                    break
                self.answer(asks)
        self.finish_steps(count)

    def batch(self, count: int) -> Batch["Simulation"]:
        """Copies of this simulation, as it stands, that step together over the cores.

        Raises:
            ParameterError: a count below one.
        """
        return Batch(self, count)

    def reset(self) -> None:
        """Back to the start: initial state, neutral commands, emergency stop released; `faults` stay."""
        self._take_state(self._initial)
        self._command.valve[:] = 0.0
        self._command.emergency_stop[:] = False
        for drive, start in enumerate(self._drive_start()):
            self._command.drive[drive] = start
        self._forget_outputs()

    def snapshot(self) -> Snapshot:
        """Everything that a bit-exact restart needs."""
        return Snapshot(State(*map(np.array, self.state)), Command(*map(np.array, self._command)), self._fingerprint)

    def restore(self, saved: Snapshot) -> None:
        """Continues from a snapshot, its emergency stop and faults included; measurements of the last step are empty
        until the next.

        Raises:
            ParameterError: the snapshot is of another machine, world, step or scheme.
        """
        if saved.system != self._fingerprint:
            valid = f"one of the same machine, world and settings, {self._fingerprint}"
            raise ParameterError("snapshot", saved.system, valid)
        self._take_state(saved.state)
        copy_into(saved.command, self._command)
        self._forget_outputs()

    def resume(self, state: State) -> None:
        """Goes on from a state that was put together by hand; the accounts of work are opened anew."""
        self._take_state(state)
        self._open_accounts()
        self._forget_outputs()

    @property
    def emergency_stop(self) -> bool:
        """Valves in neutral, holding brakes engaged, drives braked; latched until `reset` or `restore`.

        Of several machines it stops all, and says whether all are stopped. The integrators for smooth machines have no
        brakes: under them the drives only give no effort any more.
        """
        return bool(self._command.emergency_stop.all())

    @emergency_stop.setter
    def emergency_stop(self, stop: bool) -> None:
        self._command.emergency_stop[:] |= bool(stop)

    # --- members ----------------------------------------------------------------------------------------------------

    def part(self, name: str) -> "Simulation | Part":
        """One of several machines, by the member's name; of a machine by itself, "", it is the simulation.

        Raises:
            ParameterError: there is no such member.
        """
        members = [member.name for member in self.machine.members] or [""]
        if name not in members:
            raise unknown_name("member", name, members)
        if not self.machine.members:
            return self
        if name not in self._members:
            self._members[name] = Part(self, members.index(name))
        return self._members[name]

    def place(
        self,
        position: Vector3,
        quaternion: tuple[float, float, float, float],
        linear: Vector3 = (0.0, 0.0, 0.0),
        angular: Vector3 = (0.0, 0.0, 0.0),
    ) -> None:
        """Puts a machine with a free base somewhere else, its joints as they are.

        It forgets what it touched, and its wheels what they rolled on. In the balance of energy it is no work.

        Args:
            position, quaternion: of the root link in the world [m], x y z w.
            linear, angular: velocity of the root link's origin, and its angular velocity, in the world's axes [m/s,
                rad/s].

        Raises:
            ParameterError: the base is fixed, a value is not finite, or the quaternion has not length one.
        """
        self.place_member(0 if not self.machine.members else -1, position, quaternion, linear, angular)

    def overlaps(self) -> list[tuple[str, str, float]]:
        """What is in each other and may touch: a link, the link or obstacle that it is in, and how deep [m]."""
        found = find_overlaps(self.system.collision, self.model, self.state.q)
        return [(self.shape_names[one], self.shape_names[other], depth) for one, other, depth in found]

    # --- measurements -----------------------------------------------------------------------------------------------

    def link_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Position [m] and quaternion (x, y, z, w) of a link frame in the world."""
        if name not in self.names.links:
            raise unknown_name("link", name, self.names.links)
        pose = self.link_poses()[self.names.link_index(name)]
        return pose[:3], pose[3:]

    def link_poses(self) -> np.ndarray:
        """Position [m] and quaternion (x, y, z, w) of every link in the world, in the order of the file, (links, 7)."""
        return self.poses_of(slice(None))

    def base_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Pose of the root link in the world."""
        return self.link_pose(self.machine.root)

    def base_twist(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear [m/s] and angular [rad/s] velocity of the root link, in its own frame; zero for a fixed base."""
        return self.base_twist_of(0)

    def contacts(self) -> list[Contact]:
        """Contacts of the last step, where the machine was when it began."""
        return self.contacts_of(np.full(len(self.shape_names), True), self.shape_names)

    def bounds(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Least and greatest coordinates of the collision shapes in the world [m], (3,) each; None without any."""
        return self.bounds_of(np.flatnonzero(self.system.collision.shapes.link >= 0))

    def cylinder_trace(self, name: str) -> np.ndarray:
        """Sub-steps of a cylinder in the last step, (sub-steps, 6): see `hydraulics.cylinder.Prediction.trace`."""
        cylinder = self._cylinder_index(name)
        prediction = self._workspace.prediction
        return np.array(prediction.trace[cylinder, : prediction.trace_length[cylinder]])

    def energy(self) -> Energy:
        """Kinetic, potential and elastic energy of all bodies now."""
        self._look()
        return Energy(
            kinetic_energy(self._packed.model, self._seen) + rotor_energy(self._packed.model, self.state.v),
            potential_energy(self._packed.model, self._seen),
            elastic_energy(self._packed.model, self.state.q)
            + axial_energy(self._packed.axial, self.state.q)
            + float(self._pair_energies().sum() + self.state.contact_energy.sum())
            + float(bristle_energy(self.system.laws.bristle_stiffness, self.state.bristle).sum()),
        )

    def energy_balance(self) -> EnergyBalance:
        """Work, dissipation and changes of energy since the first step after the start or `reset`.

        Changing `state` by hand after that step leaves the change in the residual.
        """
        return balance_energy(self._parts, self.system, self.names, self.state, self.energy(), self._pair_energies())

    def hydraulic_balance(self) -> HydraulicBalance:
        """Where the energy of the oil has come from and gone since the start or `reset`."""
        elements, scheme = self._passage_elements, self.system.settings.scheme
        return balance_hydraulics(self.machine, self.system.network, self.lines, elements, scheme, self.state)

    def terrain_patch(self, reach: float = math.inf) -> TerrainPatch | None:
        """The soft ground around where wheels have been; None on rigid ground.

        Args:
            reach: only what is about as near as this to one of the wheels, along x and y [m].
        """
        bodies = np.array([self.machine.member_of(joint) for joint in self.names.body_joint], dtype=np.int64)
        wheels = np.array([self.machine.member_of(wheel.link) for wheel in self.machine.wheels], dtype=np.int64)
        members = range(max(len(self.machine.members), 1))
        return self.terrain_of(reach, [(np.flatnonzero(bodies == m), np.flatnonzero(wheels == m)) for m in members])

    def vibration_modes(self) -> tuple[Mode, ...]:
        """Undamped small vibrations about the present positions at rest, by ascending frequency.

        Elastic joints, flexible links and loop joints make them; gravity, contacts, drives and hydraulics do not count,
        and motions without a spring are left out.
        """
        system, names = self.system, [joint.name for joint in self._parts.loop_joints]
        return vibration_modes(self.model, system.pairs, system.axial, self.state.q, names, self.names.rate_joint)

    def natural_frequencies(self) -> np.ndarray:
        """Frequencies of `vibration_modes` [Hz]."""
        return np.array([mode.frequency for mode in self.vibration_modes()])

    def numerical_damping(self) -> tuple[NumericalDamping, ...]:
        """What damping the step adds to the slowest vibration of each elastic part; only `semi_implicit` adds any."""
        machine = self.machine
        known = {*(joint.name for joint in machine.joints), *(loop.name for loop in machine.loop_joints)}
        slowest: dict[str, NumericalDamping] = {}
        for mode in self.vibration_modes():
            energy: dict[str, float] = {}
            for joint, share in mode.energy.items():
                # inside a flexible link the joints are `<link>.k.x` and so on
                part = joint if joint in known else joint.rsplit(".", 2)[0]
                energy[part] = energy.get(part, 0.0) + share
            part = max(energy, key=energy.__getitem__)
            implicit = self.integrator == "semi_implicit"
            ratio = implicit_damping_ratio(mode.frequency, self.step_size) if implicit else 0.0
            slowest.setdefault(part, NumericalDamping(part, mode.frequency, ratio))
        return tuple(slowest.values())

    @property
    def diagnostics(self) -> SolverDiagnostics:
        """How the impulses converged."""
        work = self._workspace
        return SolverDiagnostics(
            iterations=int(work.sweeps[0]),
            iterations_max=int(work.sweeps[1]),
            residual=float(work.residual[0]),
            residual_max=float(work.residual[1]),
            unsettled_steps=int(work.unsettled[2]),
            contact_count=int(work.contacts.count[0]),
            row_count=int(work.rows.count[0] + 3 * work.contact_rows.count[0]),
        )

    def clear_diagnostics(self) -> None:
        """Forgets the largest iterations and residual so far."""
        self._workspace.sweeps[:] = 0
        self._workspace.residual[:] = 0.0
        self._workspace.unsettled[:] = 0

    # --- for members ------------------------------------------------------------------------------------------------

    def poses_of(self, links: np.ndarray | slice) -> np.ndarray:
        """`link_poses` of some links."""
        rotation, position = self._link_frames(links)
        poses = np.empty((len(position), 7))
        poses[:, :3] = position
        spatial.quaternions_from_matrices(rotation, poses[:, 3:])
        return poses

    def base_twist_of(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """`base_twist` of a member."""
        first = self._base_places(member)[1]
        if first < 0:
            return np.zeros(3), np.zeros(3)
        return np.array(self.state.v[first : first + 3]), np.array(self.state.v[first + 3 : first + 6])

    def contacts_of(self, own: np.ndarray, names: list[str]) -> list[Contact]:
        """`contacts` of some shapes, seen from these.

        Args:
            own: whether each shape is one of them, the ground last, (shapes + 1,).
            names: of all shapes, the ground last.
        """
        found, count = self._workspace.contacts, self._workspace.contacts.count[0]
        shape, other = found.shape[:count], found.other_shape[:count]
        rows = np.flatnonzero(own[shape] | own[other])
        swapped = ~own[shape[rows]]
        side = np.where(swapped, -1.0, 1.0)[:, np.newaxis]
        columns = (
            [names[s] for s in np.where(swapped, other[rows], shape[rows])],
            [names[s] for s in np.where(swapped, shape[rows], other[rows])],
            self._workspace.kinematics.origin + found.point[rows],
            side * found.normal[rows],
            side * found.impulse[rows] / self.step_size,
            (-found.gap[rows]).tolist(),
        )
        return [Contact(*row) for row in zip(*columns, strict=True)]

    def wheels_of(self, numbers: Sequence[int]) -> list[WheelState]:
        """States of some wheels."""
        frames, wheels = self._link_frames(), [self.machine.wheels[w] for w in numbers]
        links = [link.name for link in self._parts.links]
        wrenches = dict(zip(links, self._contact_wrenches(), strict=True))
        states = rigid_wheel_states(wheels, self.names, self._seen, frames, wrenches, self.world.ground)
        figures = self._workspace.wheels.figure
        if not len(figures):
            return states
        return [with_soil(*pair) for pair in zip(states, figures[list(numbers)], strict=True)]

    def bounds_of(self, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """`bounds` of some shapes."""
        self._look()
        return bounds_of(self.system.collision.shapes, shapes, *self._body_frames())

    def terrain_of(self, reach: float, machines: list[tuple[np.ndarray, np.ndarray]]) -> TerrainPatch | None:
        """`terrain_patch` of machines, each given by the numbers of its bodies and of its wheels."""
        numbers = np.concatenate([wheels for _, wheels in machines])
        if not len(self.system.wheels.body) or not len(numbers):
            return None
        links = [self.names.link_index(self.machine.wheels[w].link) for w in numbers]
        return terrain_patch(self.system, self.state, self._link_frames()[1][links, :2], reach, machines)

    def place_member(self, member: int, position, quaternion, linear, angular) -> None:
        """`place` for a member."""
        q, v = self._base_places(member)
        if q < 0:
            raise ParameterError("place", list(position), "for a machine whose base is free; this one's is fixed")
        at, turned = _finite("position", position, 3), _finite("quaternion", quaternion, 4)
        linear, angular = _finite("linear", linear, 3), _finite("angular", angular, 3)
        length = float(np.linalg.norm(turned))
        if not abs(length - 1.0) <= _UNIT:
            raise ParameterError("quaternion", list(quaternion), f"of length 1; its length is {length:g}")
        before = self.energy()
        state, turn = self.state, spatial.matrix(tuple(turned / length))
        state.q[q : q + 3], state.q[q + 3 : q + 7] = at, turned / length
        state.v[v : v + 3], state.v[v + 3 : v + 6] = linear @ turn, angular @ turn
        links = np.array([self.machine.member_of(name) == member for name in self.names.links])
        shapes = np.append(links[self.system.collision.shapes.link] & (self.system.collision.shapes.link >= 0), False)
        touched = shapes[slot_shapes(self.system.collision)].any(axis=1)
        for array in (state.contact_impulse, state.contact_moment, state.contact_anchor):
            array[touched] = 0.0
        wheels = [self.machine.member_of(wheel.link) == member for wheel in self.machine.wheels]
        for array in (state.wheel_motion, state.rim_shear, state.wheel_sinkage):
            array[np.array(wheels[: len(array)], dtype=bool)] = 0.0
        after = self.energy()
        state.energy_start[:] += np.array(astuple(after)) - astuple(before)
        self._forget_outputs()

    # --- for batches ------------------------------------------------------------------------------------------------

    def buffers(self) -> tuple[State, Command, Workspace]:
        """All that does."""
        return self.state, self._command, self._workspace

    def on_buffers(self, *buffers: Any) -> "Simulation":
        """The same machine in the same world on other buffers, in the order of `buffers`."""
        twin = copy.copy(self)
        twin.state, twin._command, twin._workspace = buffers
        twin.machinery = Packed(Machinery(self.system, *buffers))
        twin.command = CommandMap(self.machine, twin._command)
        twin.faults = FaultMap(self.faults.catalogue, twin._command, self.scheme)
        twin._seen = Packed(make_kinematics(self.model))
        twin._make_views()
        return twin

    def answer(self, asked: int) -> None:
        """Gives the next step what it has asked for (`step.run_steps`)."""
        if asked == CONVEX_PAIRS:
            assert self._narrow_phase is not None, "only such pairs make a step ask"
            self._narrow_phase.answer(self._workspace.detection)
        else:
            self._make_room(2 * len(self.state.tile_place))

    def begin_steps(self) -> None:
        """Opens the accounts of work before the first step."""
        if self.step_count == 0:
            self._open_accounts()

    def finish_steps(self, left: int) -> None:
        """Takes note of steps made, of which some number could not be.

        Raises:
            DivergenceError: there are such.
        """
        if left > 0:
            self._report_divergence()
        for warning in beyond_soils(self.world, self._workspace.wheels, self._warned):
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        unsettled, rate, _ = self._workspace.unsettled
        if unsettled > 0:
            self._workspace.unsettled[0] = -1  # once
            warnings.warn(
                f"{_ITERATIONS[self.integrator]} did not settle in the step to t = {unsettled * self.step_size:.6f} s: "
                f"{self.names.rate_joint[rate]} still changed; diagnostics.unsettled_steps counts such steps; "
                "try a smaller one",
                RuntimeWarning,
                stacklevel=3,
            )

    # --- inside -----------------------------------------------------------------------------------------------------

    def _open_accounts(self):
        open_accounts(self.system, self.state, self.energy(), self._pair_energies())

    def _make_views(self):
        self._members: dict[str, Part] = {}
        shapes = self.system.collision.shapes
        self.shape_names = [shape_name(self._parts, self.world, shapes, s) for s in (*range(len(shapes.kind)), -1)]
        coordinates = list(self.names.joints.values())
        joints = tuple(self.names.joints)
        self._q_index = np.array([c.q for c in coordinates], dtype=np.int64)
        self._v_index = np.array([c.v for c in coordinates], dtype=np.int64)
        self._multiplier = np.array([c.multiplier for c in coordinates])
        self._offset = np.array([c.offset for c in coordinates])
        self.joint_position = _numbers("joint", joints, self._joint_positions)
        self.joint_velocity = _numbers("joint", joints, lambda: self._multiplier * self.state.v[self._v_index])
        self.joint_effort = _numbers("joint", joints, self._joint_efforts)
        axes = list(self.names.axes.values())[::3]
        balls = [self.names.body_joint[first.body] for first in axes]
        self.spherical_joint = NamedView("spherical joint", balls, lambda j: self._spherical_state(axes[j]))
        cylinders = [cylinder.name for cylinder in self.machine.cylinders]
        self.pressure = NamedView("cylinder", cylinders, lambda c: CylinderPressure(*self._cylinder_pressures(c)))
        self.cylinder = NamedView("cylinder", cylinders, self._cylinder_state)
        motors = [motor.name for motor in self.machine.hydraulic_motors]
        self.hydraulic_motor = NamedView("hydraulic motor", motors, self._motor_state)
        self.line_pressure = NamedView("line", self.lines, lambda n: float(self.state.pressure[n]))
        wheels = [wheel.link for wheel in self.machine.wheels]
        self.wheel = NamedView(
            "wheel", wheels, lambda w: self.wheels_of([w])[0], lambda: self.wheels_of(range(len(wheels)))
        )
        imus = [sensor for sensor in self.machine.sensors if sensor.type == "imu"]
        self.imu = NamedView("imu", [imu.name for imu in imus], lambda i: self._imu_reading(imus[i]))
        lidars = [sensor for sensor in self.machine.sensors if isinstance(sensor, Lidar)]
        on_ground = self.world.ground is not None
        readers = [LidarReader(lidar, self.names, len(shapes.kind), on_ground) for lidar in lidars]
        self.lidar = NamedView("lidar", [lidar.name for lidar in lidars], lambda i: self._lidar_scan(readers[i]))
        pumps = [pump.name for pump in self.machine.pumps if pump.displacement is not None]
        self.pump = NamedView("pump", pumps, self._pump_state)
        self.cylinder_energy = NamedView(
            "cylinder", cylinders, lambda c: CylinderEnergy(*self.state.account[c].tolist())
        )
        self._seen_pairs = Packed(make_pair_motion(self.system.pairs, len(self.model.rate_damping)))
        loops = [joint.name for joint in self._parts.loop_joints]
        self.joint_deflection = NamedView(
            "loop joint", loops, lambda p: np.array(self._pair_deflections()[p]), self._pair_deflections
        )
        compliant = [joint.joint for joint in self.machine.compliant_joints]
        self._compliant = [self.names.frames[name] for name in compliant]
        self.joint_reaction = NamedView(
            "loop or compliant joint",
            [*loops, *compliant],
            lambda j: self._joint_reactions()[j],
            self._joint_reactions,
        )
        flexible = [link.link for link in self.machine.flexible_links]
        self.flexible_link = NamedView("flexible link", flexible, self._flexible_state)
        links = self._parts.links
        self._touching = np.array([index for index, link in enumerate(links) if link.collisions], dtype=np.int64)
        self.contact_wrench = NamedView(
            "link",
            [links[index].name for index in self._touching],
            lambda i: self._wrenches()[i],
            self._wrenches,
        )

    def _take_state(self, source: State) -> None:
        """Copies a state, whatever room for tiles it has."""
        room = max(len(source.tile_place), len(self.state.tile_place))
        if len(self.state.tile_place) < room:
            self._make_room(room)
        copy_into(source if len(source.tile_place) == room else with_capacity(source, room), self.state)

    def _make_room(self, tiles: int) -> None:
        """Room for so many tiles of soft ground."""
        self.use_state(with_capacity(self.state, tiles))

    def use_state(self, state: State) -> None:
        """Goes on with the arrays of another state of the same system."""
        self.state = state
        self.machinery = Packed(Machinery(self.system, self.state, self._command, self._workspace))

    def _make_initial_state(self) -> State:
        """The state at the start; refuses machines that cannot be stepped."""
        system = self.system
        state = make_state(
            system.model,
            laws=len(system.laws.rate_index),
            slots=slot_count(system.collision),
            shapes=len(system.collision.shapes.kind),
            axial_laws=len(system.axial.rate_index),
            drives=len(system.drives.mode),
            drive_memory=KEPT,
            pairs=len(system.pairs.axis),
            actuators=len(system.circuit.valve),
            lines=len(system.network.volume),
            valves=len(system.circuit.flow_gain),
            pumps=len(system.network.outlet),
            passages=len(system.network.origin),
            accounts=ENERGY_ACCOUNTS,
            wheels=len(system.wheels.body),
            tiles=make_tiles(first_capacity(int(system.wheels.tiles[0]))),
        )
        update_kinematics(self._packed.model, state.q, state.v, self._seen)
        factor = self._workspace.factor
        mass_matrix(self._packed.model, self._seen, self._workspace.composite, factor)
        stuck = factorise(system.model.pattern_start, system.model.pattern, factor)
        if stuck >= 0:
            raise MachineError(
                "moves a part without inertia about it",
                file=self.machine.file,
                element=f'<joint name="{self.names.rate_joint[stuck]}">',
                remedy="give the links beyond it mass and inertia",
            )
        state.pressure[:] = system.network.pressure
        state.swash[:] = 1.0
        for c, cylinder in enumerate(self.machine.cylinders):
            length = cylinder_length(self._packed.circuit, self._seen, c, self._workspace.direction)
            position = length - cylinder.retracted_length
            if not -STROKE_TOLERANCE <= position <= cylinder.stroke + STROKE_TOLERANCE:
                raise MachineError(
                    f"starts at a length of {length:.4f} m, outside its range of {cylinder.retracted_length:.4f} to "
                    f"{cylinder.retracted_length + cylinder.stroke:.4f} m",
                    file=self.machine.file,
                    element=f'<cylinder name="{cylinder.name}">',
                    remedy="change retracted_length, stroke, the attachments or the initial positions",
                )
            state.piston[c] = min(max(position, 0.0), cylinder.stroke)
        return state

    def _drive_start(self):
        """First command of each drive: where its joint starts, or standstill."""
        for drive in self.machine.drives:
            yield self._initial.q[self.names.joints[drive.joint].q] if drive.mode == "position" else 0.0

    def _forget_outputs(self):
        """Empties what only the last step knew."""
        work = self._workspace
        work.contacts.count[0] = work.rows.count[0] = work.contact_rows.count[0] = 0
        work.prediction.flow[:] = 0.0
        work.prediction.supply_power[:] = 0.0
        work.prediction.trace_length[:] = 0
        work.network.step_books.delivered[:] = 0.0
        work.network.step_books.pump_work[:] = 0.0
        work.wheels.figure[:] = 0.0
        work.wheels.wrench[:] = 0.0
        work.effort[:] = 0.0
        work.drive_spring[:] = 0.0
        work.frictions.impulse[:] = 0.0
        work.brake[:] = False
        work.pair_rows.impulse[:] = 0.0
        work.velocity[:] = work.velocity_start[:] = self.state.v
        forget(work.detection)
        self._look()
        copy_into(tuple(getattr(self._seen, field) for field in Kinematics._fields), work.kinematics)
        self.clear_diagnostics()

    def _look(self):
        """Brings the kinematics that measurements read up to the present state, which may be written to by hand."""
        update_kinematics(self._packed.model, self.state.q, self.state.v, self._seen)

    def _body_frames(self):
        """Rotations (bodies + 1, 3, 3) and positions (bodies + 1, 3) in the world; that of body -1 is the world's."""
        seen = self._seen
        turn = np.concatenate([seen.rotation, np.eye(3)[np.newaxis]])
        return turn, np.concatenate([seen.origin + seen.position, np.zeros((1, 3))])

    def _link_frames(self, links=slice(None)):
        """Rotations (links, 3, 3) and positions (links, 3) of some or all link frames in the world."""
        self._look()
        names = self.names
        turn, place = (frames[names.link_body[links]] for frames in self._body_frames())
        rotation, position = names.link_rotation[links], names.link_position[links]
        return turn @ rotation, place + np.einsum("lij,lj->li", turn, position)

    def _base_places(self, member):
        """First index of a member's free base in q and in v; -1 for a fixed one."""
        model, members = self.model, self.machine.members
        if members:
            joint = members[member].joint if member >= 0 else ""
            body = self.names.body_joint.index(joint) if joint in self.names.body_joint else -1
        else:
            body = 0 if self.machine.floating_base else -1
        if body < 0 or model.body_kind[body] != FREE:
            return -1, -1
        return int(model.body_q[body]), int(model.column_rate[model.column_start[body]])

    def _joint_positions(self):
        return self._multiplier * self.state.q[self._q_index] + self._offset

    def _spherical_state(self, first) -> SphericalJointState:
        """Of the spherical joint whose first axis has this place."""
        own = slice(first.v, first.v + 3)
        orientation = np.array(self.state.q[first.q : first.q + 4])
        return SphericalJointState(orientation, np.array(self.state.v[own]), np.array(self._workspace.effort[own]))

    def _flexible_state(self, f) -> FlexibleLinkState:
        beam = self._beams[f]
        rotation, position = self._link_frames(beam.ends)
        return flexible_link_state(beam, rotation, position, self.state.q)

    def _joint_efforts(self):
        work = self._workspace
        count = work.rows.count[0]
        impulse = work.rows.impulse[:count] @ work.rows.jacobian[:count]
        rate = self.system.laws.rate_index
        conductance, target, _ = work.drive_spring.T
        # the rows have those of the drives at their limit
        impulse[rate] += np.where(work.drive_place == BUILT_IN, conductance * (target - work.velocity[rate]), 0.0)
        impulse[rate] += work.frictions.impulse
        return (work.effort + impulse / self.step_size)[self._v_index]

    def _pair_energies(self):
        """Energy in the springs of each loop joint [J]."""
        pairs = self.system.pairs
        energies = np.zeros(len(pairs.axis))
        deflection = self._pair_deflections()[pairs.row_pair, pairs.row_direction]
        np.add.at(energies, pairs.row_pair, 0.5 * pairs.row_stiffness * deflection**2)
        return energies

    def _pair_deflections(self):
        """Translations and rotations of all loop joints now, (pairs, 6)."""
        if len(self.system.pairs.axis):
            place_pairs(self._packed.model, self._packed.pairs, self.state.q, self._seen, self._seen_pairs)
        return self._seen_pairs.deflection

    def _joint_reactions(self):
        """Mean force and moment on the children of loop and compliant joints in the last step, (joints, 6)."""
        reactions = list(pair_reactions(self.system, self._workspace))
        if self._compliant:
            wrenches, kinematics = transmitted_wrenches(self.system, self._workspace), self._workspace.kinematics
            for body, parent, rotation, position in self._compliant:
                if parent >= 0:
                    position = kinematics.position[parent] + kinematics.rotation[parent] @ position
                    rotation = kinematics.rotation[parent] @ rotation
                else:
                    position = position - kinematics.origin
                force, moment = np.split(wrenches[body], 2)
                reactions.append(np.concatenate([force @ rotation, (moment - np.cross(position, force)) @ rotation]))
        return np.array(reactions).reshape(-1, 6)

    def _damping_warnings(self):
        """Says in a line what the implicit step costs the elastic parts."""
        damped = [part for part in self.numerical_damping() if part.damping_ratio > _NOTABLE_DAMPING]
        if not damped:
            return []
        worst = max(damped, key=lambda part: part.damping_ratio)
        others = f", and of {len(damped) - 1} more less (numerical_damping() lists them)" if len(damped) > 1 else ""
        return [
            f'"{worst.part}": a step of {1e3 * self.step_size:g} ms damps its vibration at '
            f"{worst.frequency:.3g} Hz by {worst.damping_ratio:.2g} of the critical damping{others}"
        ]

    def _cylinder_index(self, name):
        if name not in self.cylinder:
            raise unknown_name("cylinder", name, self.cylinder.names)
        return self.cylinder.names.index(name)

    def _motor_state(self, m) -> HydraulicMotorState:
        work, joint = self._workspace, self.machine.hydraulic_motors[m].joint
        a = len(self.machine.cylinders) + m
        ran = work.rows.count[0] > 0
        pressures, valve = self._actuator_pressures(a), self.system.circuit.valve[a]
        velocity = float(work.rows.half[a] @ work.u) if ran else 0.0
        torque = float(work.rows.impulse[a]) / self.step_size if ran else 0.0
        return HydraulicMotorState(
            position=self.joint_position[joint],
            velocity=velocity,
            pressure_a=float(pressures[0]),
            pressure_b=float(pressures[1]),
            flow_a=float(work.prediction.flow[a, 0]),
            flow_b=float(work.prediction.flow[a, 1]),
            spool_position=float(self.state.spool[valve, 0]) if valve >= 0 else 0.0,
            torque=torque,
            power=torque * velocity,
            brake_engaged=bool(work.brake[a]),
        )

    def _cylinder_state(self, c) -> CylinderState:
        work, state = self._workspace, self.state
        # the cylinders' rows come first, in order
        ran = work.rows.count[0] > 0
        pressures, valve = self._cylinder_pressures(c), self.system.circuit.valve[c]
        return CylinderState(
            position=float(state.piston[c]),
            velocity=float(work.rows.half[c] @ work.u) if ran else 0.0,
            pressure_piston_side=pressures[0],
            pressure_rod_side=pressures[1],
            flow_piston_side=float(work.prediction.flow[c, 0]),
            flow_rod_side=float(work.prediction.flow[c, 1]),
            spool_position=float(state.spool[valve, 0]) if valve >= 0 else 0.0,
            force=float(work.rows.impulse[c]) / self.step_size if ran else 0.0,
            power=float(work.prediction.supply_power[c]),
            brake_engaged=bool(work.brake[c]),
        )

    def _pump_state(self, p) -> PumpState:
        network, books = self.system.network, self._workspace.network.step_books
        leaked = books.passed[network.leak[p]] if network.leak[p] != NO_PASSAGE else 0.0
        lost = 0.0 if self._command.stopped_pump[p] else network.torque_loss[p] * network.speed[p]
        return PumpState(
            swash=float(self.state.swash[p]),
            flow=float(books.delivered[p] - leaked) / self.step_size,
            pressure=float(self.state.pressure[network.outlet[p]]),
            shaft_power=float(books.pump_work[p] / self.step_size + lost),
        )

    def set_line_pressure(self, line: str, pressure: float) -> None:
        """Sets the pressure of a hydraulic line [Pa, absolute]; those of tanks and supplies stay as they are.

        Raises:
            ParameterError: no such line, or a pressure that oil cannot have.
        """
        if line not in self.lines:
            raise unknown_name("line", line, self.lines)
        _require_range("pressure", pressure, self.system.network.oil.vapour + CAVITY, 1e9)
        number = self.lines.index(line)
        if not self.system.network.constant[number]:
            self.state.pressure[number] = pressure

    def _cylinder_pressures(self, c):
        """Of the piston side and of the rod side, as the sensors show them [Pa]."""
        return tuple((self._actuator_pressures(c) + self._command.sensor_offset[c]).tolist())

    def _actuator_pressures(self, a):
        """Of the piston side and of the rod side of a cylinder, or of both sides of a motor [Pa]."""
        network = self.system.network
        return self.state.pressure[[network.line_a[a], network.line_b[a]]]

    def _wrenches(self):
        """What contacts and soil do to every link with collision shapes, (such links, 6)."""
        wrench = self._contact_wrenches()
        if self.world.soil:
            wrench += self._soil_wrenches()
        return wrench[self._touching]

    def _contact_wrenches(self):
        """Force and moment of contacts on every link, at its origin in its frame, (links, 6)."""
        found = self._workspace.contacts
        count = found.count[0]
        rows, shapes = self._workspace.contact_rows, self.system.collision.shapes
        rotation, position = self._link_frames()
        force = found.impulse[:count] / self.step_size
        resists = (rows.spinning[:count] > 0.0) | (rows.rolling[:count] > 0.0)
        turning = np.einsum("ck,ckm->cm", rows.moment[:count], rows.frame[:count]) * resists[:, None] / self.step_size
        wrench = np.zeros((len(position), 2, 3))
        for shape, sign in ((found.shape[:count], 1.0), (found.other_shape[:count], -1.0)):
            link = np.where(shape >= 0, shapes.link[shape], -1)
            on = np.flatnonzero(link >= 0)
            place = self._workspace.kinematics.origin + found.point[on] - position[link[on]]
            moment = np.cross(place, force[on]) + turning[on]
            np.add.at(wrench, link[on], sign * np.stack([force[on], moment], axis=1))
        # row vectors: times the matrix is times its transpose from the left
        return (wrench @ rotation).reshape(-1, 6)

    def _soil_wrenches(self):
        """The same of the soil under the wheels."""
        work, (rotation, position) = self._workspace.wheels, self._link_frames()
        wrench = np.zeros((len(position), 2, 3))
        for wheel, pushed, centre in zip(self.machine.wheels, work.wrench, work.centre, strict=True):
            link = self.names.link_index(wheel.link)
            force, moment = np.split(pushed, 2)
            place = self._workspace.kinematics.origin + centre - position[link]
            wrench[link] += force, moment + np.cross(place, force)
        return (wrench @ rotation).reshape(-1, 6)

    def _imu_reading(self, imu: Sensor) -> ImuReading:
        self._look()
        before, after = self._workspace.kinematics, self._seen
        return read_imu(imu, self.names, self.world.gravity, before, after, self.step_size)

    def _lidar_scan(self, reader: LidarReader) -> LidarScan:
        self._look()
        return reader.read(self.machinery, self._seen, self.step_count)

    def _report_divergence(self):
        """Names the first quantity that is not finite."""
        state = self.state
        for rate, value in enumerate(state.v):
            if not math.isfinite(value):
                raise DivergenceError(self.time, self.names.rate_joint[rate], float(value))
        for c, cylinder in enumerate(self.machine.cylinders):
            if not math.isfinite(state.piston[c]):
                raise DivergenceError(self.time, cylinder.name, float(state.piston[c]))
        for line, pressure in zip(self.lines, state.pressure, strict=True):
            if not math.isfinite(pressure):
                raise DivergenceError(self.time, f"line {line}", float(pressure))
        for joint, value in zip(self._position_joints(), state.q, strict=True):
            if not math.isfinite(value):
                raise DivergenceError(self.time, joint, float(value))
        raise DivergenceError(self.time, "the sum of the pressures of a cylinder", math.inf)

    def _position_joints(self):
        """Joint of each position in q."""
        joints = [""] * len(self.state.q)
        for body, name in enumerate(self.names.body_joint):
            if not self.model.body_mimics[body]:
                first = self.model.body_q[body]
                count = POSITIONS[self.model.body_kind[body]]
                joints[first : first + count] = [name] * count
        return joints


def integrator_names() -> tuple[str, ...]:
    """Names of the integrators that `Simulation` takes."""
    return tuple(sorted(INTEGRATORS))


def scheme_names() -> tuple[str, ...]:
    """Names of the hydraulic schemes that `Simulation` takes."""
    return tuple(sorted(SCHEMES))


def divided_machine(machine: Machine) -> Machine:
    """The machine as it is simulated, with flexible links divided into rigid elements; its links as in `link_poses`.

    Raises:
        MachineError: a flexible link cannot be divided.
    """
    return split_flexible_links(machine)


def ground_height(ground: Ground | None, x: float, y: float) -> float:
    """Height of the natural ground at a place [m]; 0 without ground."""
    return ground_surface(ground, x, y)[0]


def _fingerprint(system: System) -> str:
    """Digest of everything that a step reads besides state and command."""
    digest = hashlib.sha256(repr(system.settings).encode())
    for array in _arrays(system[:-1]):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _arrays(part):
    """All arrays in nested tuples, numbers as arrays."""
    if not isinstance(part, tuple):
        yield np.asarray(part)
    else:
        for inner in part:
            yield from _arrays(inner)


def _numbers(kind: str, names, read_all) -> NamedView[float]:
    """A view of numbers that are read together."""
    return NamedView(kind, names, lambda index: float(read_all()[index]), read_all)


def _finite(name: str, values: Any, count: int) -> np.ndarray:
    """Numbers as an array, if they are finite and so many."""
    if len(values) != count or not all(isinstance(value, Real) and math.isfinite(value) for value in values):
        raise ParameterError(name, values, f"{count} finite numbers")
    return np.array(values, dtype=float)


def _require_range(name: str, value: float, lowest: float, highest: float) -> None:
    """Refuses a number outside its range, NaN included."""
    if not (isinstance(value, Real) and lowest <= value <= highest):
        raise ParameterError(name, value, f"a number from {lowest:g} to {highest:g}")
