"""Reading and commanding by name: all machines of a simulation, or one member of a fleet."""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from grouser.physics.base.checks import require_range
from grouser.physics.base.errors import ParameterError
from grouser.physics.contact.bounds import bounds_of
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.text.names import closest
from grouser.physics.hydraulics.faults import OIL
from grouser.physics.readings.bucket_load import EMPTY, Content, bucket_load, grains_in_bucket, soil_in_bucket
from grouser.physics.readings.contact_forces import (
    any_contact,
    contact_records,
    contact_wrenches,
    soil_wrenches,
    touches_any,
)
from grouser.physics.readings.digging import digging_force, falling_soil, no_digging_force
from grouser.physics.readings.flexible_links import flexible_link_state
from grouser.physics.readings.frames import body_frames, link_frames, link_poses
from grouser.physics.readings.hydraulic_states import (
    cylinder_pressure,
    cylinder_state,
)
from grouser.physics.readings.joint_states import (
    joint_efforts,
    joint_positions,
    joint_velocities,
    make_joint_coordinates,
    spherical_joint_state,
)
from grouser.physics.readings.measurements import (
    BucketLoad,
    Contact,
    CylinderState,
    DiggingForce,
    FlexibleLinkState,
    TerrainPatch,
    TrackState,
    WheelState,
)
from grouser.physics.readings.reactions import joint_reactions
from grouser.physics.readings.soil_measurements import (
    RunningGear,
    bearing_margins,
    terrain_patch,
    track_ends,
    with_soil,
)
from grouser.physics.readings.strain import curvature_map
from grouser.physics.readings.track_states import track_state, track_wrenches
from grouser.physics.readings.wheel_contact import rigid_wheel_states
from grouser.physics.simulation.blocks_view import BlocksView
from grouser.physics.simulation.circuit_view import CircuitView
from grouser.physics.simulation.commands import CommandMap
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.faults import FaultMap
from grouser.physics.simulation.grains_view import GrainsView
from grouser.physics.simulation.membership import Selection
from grouser.physics.simulation.named_view import NamedView, elements_view, numbers_view, require_name, rows_view
from grouser.physics.simulation.placing import base_coordinates, place_base
from grouser.physics.simulation.pushes import PushMap
from grouser.physics.simulation.sensor_views import SensorViews, make_sensor_views
from grouser.physics.simulation.signals import Signals


class MachineView:
    """A machine read and commanded by its own names: a machine by itself, one member of a fleet, or all of a fleet.

    Links of other members that a member touches have their full names. The fault of the oil, entrained air, is shared
    by all members.

    Args:
        engine: of the simulation.
        selection: the elements that the view shows.

    Attributes:
        name: of the member; "" for all machines.
        machine: its description.
        world: its world.
        scheme: of the hydraulics.
        integrator: of the motion.
        command: commands by name, held until changed.
        faults: of hydraulic components, by the component's and the fault's name, held until changed or cleared.
        pushes: on links, by name, held until changed or ended.
        joint_position, joint_velocity: of every joint with one coordinate [rad or m, per second].
        joint_effort: force that drives, dry friction, limits and cylinders exerted on its coordinate in the last step
            [N m or N].
        spherical_joint: of every spherical joint; its commands are `command["joint/x"]` and so on.
        pressure, cylinder: of every cylinder; pressures are as its sensors show them.
        circuit: lines, valves, pumps and motors.
        joint_reaction: of every loop joint and compliant joint: force [N] and moment [N m] that the child link got
            through it in the last step, about the joint's origin in the joint's frame, which is fixed to the parent
            link, (6,); none where an over-constrained loop joint does not take part (`warnings`).
        joint_deflection: of every loop joint: translations [m] and rotations [rad] of the child's frame in the joint's,
            (6,).
        flexible_link: of every flexible link: its deflection.
        wheel: of every wheel, by its link: its slip, sinkage and forces.
        track: of every track: its slip, sinkage, forces and tensions.
        contact_wrench: force [N] and moment [N m] of all contacts of a link in the last step, at its origin in its
            frame.
        obstacle_wrench: the part of it that obstacles and other machines exert, without ground, soil and own links.
        sensors: readings of sensors by their types: `sensors.imu["name"]`.
        grains: of the world.
        blocks: of the world.
    """

    def __init__(self, engine: Engine, selection: Selection):
        setup, own = engine.setup, selection.own
        self._engine, self._setup, self._own, self._names = engine, setup, own, selection.names
        self.name = selection.name
        self.machine = selection.machine
        self.world = setup.world
        self.scheme = setup.scheme
        self.integrator = setup.integrator
        self.command = CommandMap(self.machine, engine.command, own.valve, own.drive)
        self.faults = FaultMap(self._own_faults(), engine.command, setup.scheme)
        self.pushes = PushMap(engine, selection.names.link, own.link, setup.integrator)
        self._emergency_stop = engine.command.emergency_stop[selection.members[0] : selection.members[-1] + 1]
        self._base = base_coordinates(setup.system.multibody, selection.base)
        whose = (setup.membership.body, setup.membership.wheel, setup.membership.track)
        self._gears = [RunningGear(*(np.flatnonzero(part == m) for part in whose)) for m in selection.members]
        self._touching = np.isin(np.arange(len(setup.shape_names)), own.shape)
        self._obstacles = np.append(~self._touching[:-1] | (setup.system.contact.shapes.link < 0), False)
        self._own_links = np.isin(np.arange(len(setup.elements.link)), own.link)
        self._shape_names = [
            name.removeprefix(selection.prefix) if mine else name
            for name, mine in zip(setup.shape_names, self._touching, strict=True)
        ]
        self._prefix = selection.prefix
        self._make_joint_views()
        self.circuit = CircuitView(engine, selection)
        self._make_hydraulic_views()
        self._make_force_views()
        self.sensors: SensorViews = make_sensor_views(engine, selection)
        self.grains = GrainsView(engine)
        self.blocks = BlocksView(engine)

    def _close(self) -> None:
        """Ends the making of the view: from now on only the emergency stop is set by assignment."""
        self._closed = True

    def __setattr__(self, name: str, value: object) -> None:
        """Refuses an assignment that nothing would read: to a mapping, to a reading, or to a misspelt name."""
        if vars(self).get("_closed") and not name.startswith("_") and name != "emergency_stop":
            if name in ("command", "faults", "pushes"):
                raise ParameterError(name, value, f"changed by name: `.{name}[...] = ...`")
            if hasattr(type(self), name) or name in vars(self):
                raise ParameterError(name, value, "an attribute that is only read")
            known = [one for one in (*dir(type(self)), *vars(self)) if not one.startswith("_")]
            raise ParameterError("attribute", name, closest(name, known))
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<MachineView of '{self.name or self.machine.name}' at t = {self.time:.9g} s>"

    def __reduce_ex__(self, protocol):
        """Refuses `copy` and `pickle`: their copies would share arrays with the original, or need its addresses."""
        raise TypeError(
            "a simulation cannot be copied or pickled; `Simulation.batch` copies it, `Simulation.snapshot` saves it"
        )

    def _make_joint_views(self):
        names, own, setup = self._names, self._own, self._setup
        joints = make_joint_coordinates(setup.names, own.joint)
        self.joint_position = numbers_view("joint", names.joint, lambda: joint_positions(joints, self._engine.state))
        self.joint_velocity = numbers_view("joint", names.joint, lambda: joint_velocities(joints, self._engine.state))
        self.joint_effort = numbers_view(
            "joint", names.joint, lambda: joint_efforts(joints, setup.system, self._engine.workspace)
        )
        axes = list(setup.names.axes.values())[::3]
        self.spherical_joint = elements_view(
            "spherical joint",
            *(names.spherical_joint, own.spherical_joint),
            lambda j: spherical_joint_state(axes[j], self._engine.state, self._engine.workspace),
        )
        self.flexible_link = elements_view(
            "flexible link", names.flexible_link, own.flexible_link, self._flexible_state
        )

    def _make_hydraulic_views(self):
        names, own, system, engine = self._names, self._own, self._setup.system, self._engine
        self.pressure = elements_view(
            "cylinder",
            *(names.cylinder, own.cylinder),
            lambda c: cylinder_pressure(system, engine.state, engine.command, c),
        )
        cylinders = range(len(names.cylinder))
        self.cylinder = NamedView(
            "cylinder",
            names.cylinder,
            lambda c: self._cylinder_states([c])[0],
            lambda: self._cylinder_states(cylinders),
        )

    def _cylinder_states(self, cylinders: Iterable[int]) -> list[CylinderState]:
        """States of some cylinders, by their numbers in the view."""
        engine, own, flows = self._engine, self._own.cylinder, self.circuit.actuator_flows()
        return [
            cylinder_state(self._setup.system, engine.state, engine.command, engine.workspace, int(own[c]), flows[c])
            for c in cylinders
        ]

    def _make_force_views(self):
        names, own, setup = self._names, self._own, self._setup
        self.joint_deflection = rows_view(
            "loop joint", names.loop_joint, lambda: self._engine.pair_deflections()[own.loop_joint]
        )
        compliant = [setup.names.frames[joint] for joint in setup.elements.compliant_joint]
        reacting = np.concatenate([own.loop_joint, len(setup.elements.loop_joint) + own.compliant_joint])
        self.joint_reaction = rows_view(
            "loop or compliant joint",
            (*names.loop_joint, *names.compliant_joint),
            lambda: joint_reactions(setup.system, self._engine.workspace, compliant)[reacting],
        )
        shaped = np.array([bool(link.collisions) for link in setup.divided.links], dtype=bool)[own.link]
        touched = [name for name, touches in zip(names.link, shaped, strict=True) if touches]
        self.contact_wrench = rows_view("link", touched, lambda: self._wrenches()[own.link[shaped]])
        self.obstacle_wrench = rows_view("link", touched, lambda: self._obstacle_wrenches()[own.link[shaped]])
        wheels = own.wheel.tolist()
        self.wheel = NamedView(
            "wheel", names.wheel, lambda w: self._wheel_states([wheels[w]])[0], lambda: self._wheel_states(wheels)
        )
        self.track = NamedView("track", names.track, lambda t: self._track_state(own.track[t]))

    # --- time and commands ------------------------------------------------------------------------------------------

    @property
    def step_size(self) -> float:
        """Length of a step [s]."""
        return self._engine.step_size

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return self._engine.step_count

    @property
    def time(self) -> float:
        """step_count * step_size [s]."""
        return self._engine.time

    @property
    def emergency_stop(self) -> bool:
        """Valves in neutral, holding brakes engaged, drives braked; latched until it is released (see
        `release_emergency_stop`), or the simulation is reset or restored.

        For several machines it stops all, and is true if all are stopped. The integrators for smooth machines have no
        brakes: under them the drives only lose their effort.
        """
        return bool(self._emergency_stop.all())

    @emergency_stop.setter
    def emergency_stop(self, stop: bool) -> None:
        if not isinstance(stop, bool | np.bool_):
            raise ParameterError("emergency_stop", stop, "True, or False, which changes nothing")
        self._emergency_stop[:] |= bool(stop)

    def release_emergency_stop(self) -> None:
        """Releases the emergency stop. Drives in position mode get the present positions of their joints as commands.

        Raises:
            ParameterError: a command would move its actuator: of a valve, or a velocity or effort that is not 0.
        """
        for name in self.command.not_neutral():
            raise ParameterError(name, self.command[name], "neutral (0) when the emergency stop is released")
        held = [joint for joint, mode in self.command.drives.items() if mode == "position"]
        self.command.update({joint: self.joint_position[joint] for joint in held})
        self._emergency_stop[:] = False

    def place(
        self,
        position: Vector3,
        quaternion: tuple[float, float, float, float],
        linear: Vector3 = (0.0, 0.0, 0.0),
        angular: Vector3 = (0.0, 0.0, 0.0),
    ) -> None:
        """Moves a machine with a free base to another pose; joint positions stay.

        The memory of its contacts and wheels is cleared. The balance of energy counts no work for it.

        Args:
            position, quaternion: of the root link in the world [m], x y z w.
            linear, angular: velocity of the root link's origin, and its angular velocity, in the world's axes [m/s,
                rad/s].

        Raises:
            ParameterError: the base is fixed, a value is no number or beyond 1e9, or the quaternion has not length
                one.
            BusyError: another thread steps the simulation.
        """
        own = (self._base, self._touching, self._own.wheel, self._own.track)
        with self._engine.exclusive:
            place_base(self._engine, *own, position, quaternion, linear, angular)

    # --- measurements -----------------------------------------------------------------------------------------------

    @cached_property
    def signals(self) -> Signals:
        """Every number that can be read, by one name: the names for `Simulation.record` (docs/python.md)."""
        return Signals(self)

    def link_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Position [m] and quaternion (x, y, z, w) of a link frame in the world."""
        index = self._names.link.index(require_name("link", name, self._names.link))
        pose = self._link_poses(self._own.link[index : index + 1])[0]
        return pose[:3], pose[3:]

    def link_poses(self) -> np.ndarray:
        """Position [m] and quaternion (x, y, z, w) of every link in the world, in the order of the file, (links, 7)."""
        return self._link_poses(self._own.link)

    def base_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Pose of the root link in the world."""
        return self.link_pose(self.machine.root)

    def base_twist(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear [m/s] and angular [rad/s] velocity of the root link, in its own frame; zero for a fixed base."""
        first, state = self._base.v, self._engine.state
        if first < 0:
            return np.zeros(3), np.zeros(3)
        return np.array(state.v[first : first + 3]), np.array(state.v[first + 3 : first + 6])

    def contacts(self) -> list[Contact]:
        """Contacts of the last step, in the pose at its start, and those of sleeping bodies."""
        engine, own = self._engine, (self._touching, self._shape_names)
        return contact_records(engine.state, engine.workspace, self._setup.system, *own)

    def bucket_load(self, shovel: str) -> BucketLoad:
        """What lies in a bucket now: soil, the grains inside its profile, and those heaped on its opening at 1:1.

        Raises:
            ParameterError: the machine has no such shovel with a profile.
        """
        buckets = {one.name: one for one in self.machine.shovels if one.profile}
        one = buckets[require_name("shovel", shovel, buckets)]
        pose, grains = np.concatenate(self.link_pose(one.link)), self.grains
        held = grains_in_bucket(one, pose, grains.position, grains.radius, grains.mass) if len(grains) else EMPTY
        return bucket_load(one, self._soil_in(one), held)

    def _soil_in(self, bucket: Shovel) -> Content:
        """The soil in a bucket; none on rigid ground."""
        state, names = self._engine.state.digging, self._setup.names
        if not len(state.bulk):
            return EMPTY
        tool = self._own.shovel[self._names.shovel.index(bucket.name)]
        link = self._own.link[self._names.link.index(bucket.link)]
        return soil_in_bucket(
            state.bulk[tool], state.carried[tool], names.link_position[link], names.link_rotation[link]
        )

    def digging_force(self, shovel: str) -> DiggingForce:
        """Force of soil on a shovel in the last step; zero on rigid ground.

        Raises:
            ParameterError: the machine has no such shovel.
        """
        tool = self._own.shovel[self._names.shovel.index(require_name("shovel", shovel, self._names.shovel))]
        engine = self._engine
        if not len(engine.state.digging.bulk):
            return no_digging_force()
        return digging_force(self._setup.system, engine.state, engine.workspace, int(tool))

    def falling_soil(self) -> np.ndarray:
        """Soil in the air that left the shovels, in lots, world frame, (lots, 6).

        Columns: middle of the lot, x y z [m]; from there to its left end, x y [m]; solid mass [kg].
        """
        return falling_soil(self._engine.state, self._own.shovel)

    def bounds(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Least and greatest coordinates of the collision shapes in the world [m], (3,) each; None without any."""
        shapes = self._setup.system.contact.shapes
        chosen = self._own.shape[shapes.link[self._own.shape] >= 0]
        return bounds_of(shapes, chosen, *body_frames(self._engine.update_kinematics()))

    def terrain_patch(self, reach: float = math.inf) -> TerrainPatch | None:
        """Soft ground around the paths of wheels, tracks and shovels; None on rigid ground, or for a machine without.

        Args:
            reach: largest distance from a wheel, the end of a track or a shovel's link, along x and along y, to the
                size of a tile [m].
        """
        require_range("reach", reach, 0.0, math.inf, "m")
        setup, own = self._setup, self._own
        if setup.world.soil is None or not len(own.wheel) + len(own.track) + len(own.shovel):
            return None
        frames = self._link_frames()
        carriers = [*(setup.elements.wheel[w] for w in own.wheel), *(setup.machine.shovels[s].link for s in own.shovel)]
        links = [setup.names.link_index(link) for link in carriers]
        ends = track_ends(setup.machine, setup.names, frames, own.track)
        places = np.concatenate([frames[1][np.array(links, dtype=np.int64), :2], ends])
        return terrain_patch(setup.machine, setup.system, self._engine.state, places, reach, self._gears)

    def bearing_margins(self) -> np.ndarray:
        """Bearing margin [-] of each soil under the machine, as of `TerrainPatch`, (soils,); (0,) on rigid ground."""
        return bearing_margins(self._setup.machine, self._setup.system, self._gears)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _own_faults(self):
        """The faults that the view's components can have, by their own names."""
        catalogue = [self._setup.faults[index] for index in self._own.fault.tolist()]
        return tuple(
            fault if fault.component == OIL else fault.renamed(name)
            for fault, name in zip(catalogue, self._names.fault, strict=True)
        )

    def _link_frames(self, links=slice(None)):
        """Rotations and positions of all links of the simulation, or of some, in the world now."""
        return link_frames(self._setup.names, self._engine.update_kinematics(), links)

    def _link_poses(self, links):
        """Poses of some links of the simulation in the world now."""
        return link_poses(self._setup.names, self._engine.update_kinematics(), links)

    def _flexible_state(self, f: int) -> FlexibleLinkState:
        """State of a flexible link, by its number in the simulation."""
        beam, state = self._setup.beams[f], self._engine.state
        rotation, position = self._link_frames(beam.ends)
        return flexible_link_state(beam, rotation, position, state.q)

    def curvature(self, link: str, places: Sequence[float]) -> np.ndarray:
        """Curvature of a flexible link with modes along its elastic axis.

        Args:
            link: its name.
            places: along the axis [m].

        Returns:
            Curvatures about y and z of the elastic frame [1/m], (places, 2).

        Raises:
            ParameterError: the link has no modes, or a place is not on its axis.
        """
        setup, name = self._setup, f"{self._prefix}{link}"
        flexible = {one.link: one for one in setup.machine.flexible_links if one.discretisation != "rigid_elements"}
        if name not in flexible:
            own = [one.removeprefix(self._prefix) for one in flexible]
            raise ParameterError("link", link, f"a flexible link with modes: {', '.join(own) or 'there is none'}")
        at = np.array(places, dtype=float)
        if not ((at >= 0.0) & (at <= flexible[name].length)).all():
            raise ParameterError("places", places, f"places from 0 to {flexible[name].length:g} m")
        return curvature_map(setup.machine, setup.beams, name, at).values(self._engine.state.q).reshape(-1, 2)

    def _wrenches(self) -> np.ndarray:
        """Forces and moments of contacts and soil on the view's links, zeros for others, (links, 6)."""
        setup, workspace, frames = self._setup, self._engine.workspace, self._link_frames()
        wrench = contact_wrenches(setup.system, self._engine.state, workspace, frames, self._own_links)
        if setup.world.soil:
            wrench += soil_wrenches(setup.machine.wheels, setup.names, workspace, frames)
        if setup.machine.tracks:
            wrench += track_wrenches(setup.machine, setup.names, setup.system.tracks, workspace, frames)
        return wrench

    def _obstacle_wrenches(self) -> np.ndarray:
        """The part of `_wrenches` by shapes that are not the view's own, without the ground, (links, 6)."""
        engine, links, others = self._engine, self._own_links, self._obstacles
        if not touches_any(engine.state, engine.workspace, others):
            return np.zeros((len(links), 6))
        return contact_wrenches(self._setup.system, engine.state, engine.workspace, self._link_frames(), links, others)

    def _track_state(self, t: int) -> TrackState:
        """State of a track, by its number in the simulation; at rest in a world without ground."""
        figures, state = self._engine.workspace.tracks.figure, self._engine.state.tracks
        if not len(figures):
            return track_state(None)
        return track_state(figures[t], float(state.jumped[t]), math.isinf(state.loose[t]))

    def _wheel_states(self, numbers: Sequence[int]) -> list[WheelState]:
        """States of wheels, by their numbers in the simulation."""
        setup, state, workspace = self._setup, self._engine.state, self._engine.workspace
        figures = workspace.soil.figure
        if len(figures) and not any_contact(state, workspace):
            return [with_soil(None, figure) for figure in figures[list(numbers)]]
        frames = self._link_frames()
        wheels = [setup.machine.wheels[w] for w in numbers]
        wrenches = contact_wrenches(setup.system, state, workspace, frames, self._own_links)
        kinematics, ground = self._engine.kinematics, setup.world.ground
        states = rigid_wheel_states(wheels, setup.names, kinematics, frames, wrenches, ground)
        if not len(figures):
            return states
        return [with_soil(*pair) for pair in zip(states, figures[list(numbers)], strict=True)]
