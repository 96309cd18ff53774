"""The simulator node as the host of the standard services."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grouser.nodes.services.host import (
    Capability,
    Category,
    Entities,
    Entity,
    EntitySnapshot,
    RunState,
    Scope,
    Shape,
    SpawnOrder,
    Traits,
    WorldEntry,
)
from grouser.nodes.services.motion import EntityMotion, Velocity
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.nodes.services.resources import uri_of
from grouser.nodes.simulator.session import Session
from grouser.physics.base.errors import GrouserError, OverlapError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.data.world import NOWHERE, Obstacle, World
from grouser.physics.description.machine_file.fleet import ROOT
from grouser.physics.simulation.building import divided_machine
from grouser.physics.simulation.view import MachineView
from grouser.runtime.mailbox import NoAnswerError, answer_of
from grouser.runtime.objects import is_plain
from grouser.runtime.outcome import Outcome
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.sampling import nanoseconds_at
from grouser.runtime.streams import topic_token

_EVERYTHING = Scope.TIME | Scope.STATE | Scope.SPAWNED


class NodeHost:
    """Machines in a world, stepped by a physics thread.

    The first machine is the entity with the machine's name.

    Args:
        session: of the node; None: not configured.
        frame: name of the world's frame.
        end: ends the program.
    """

    capabilities = frozenset(Capability)

    def __init__(
        self, session: Callable[[], Session | None], frame: Callable[[], str], end: Callable[[], None]
    ) -> None:
        self._session_now = session
        self._frame = frame
        self._end = end
        self._quitting = False
        self._stopped_at = -1  # step at which it was stopped

    @property
    def packages(self) -> Mapping[str, str]:
        """The packages that were given for the first machine."""
        return self._session.machine.packages

    def state(self) -> RunState:
        """State of the physics thread; a simulation that has failed is paused."""
        session = self._session_now()
        if self._quitting:
            return RunState.QUITTING
        if session is None or session.world is NOWHERE:
            return RunState.NO_WORLD
        loop = session.loop
        if loop is None:
            return RunState.LOADING_WORLD
        report = loop.report
        if report.active and not report.paused and not report.failure:
            return RunState.PLAYING
        return RunState.STOPPED if loop.step == self._stopped_at else RunState.PAUSED

    def stepping(self) -> bool:
        """Whether the physics thread makes requested steps."""
        loop = self._built().loop
        return loop is not None and loop.stepping

    def set_state(self, target: RunState) -> None:
        """Starts, pauses or stops the simulation."""
        self._require(lambda loop: loop.set_paused(target is not RunState.PLAYING))
        self._stopped_at = -1
        if target is RunState.STOPPED:
            self.reset(_EVERYTHING)
            self._stopped_at = self._request(lambda loop: loop.step)

    def quit(self) -> None:
        """Ends the program, as a signal would."""
        self._quitting = True
        self._end()

    def reset(self, scope: Scope) -> None:
        """Deletes spawned machines and resets time, state, or both; all together bring back a deleted first machine."""
        self._request(lambda loop: loop.end_steps("a reset"))
        if Scope.SPAWNED in scope:
            self._session.remove_spawned()
        if scope == _EVERYTHING:
            self._session.bring_back()
        if Scope.STATE in scope:
            self._require(lambda loop: loop.reset(Scope.TIME in scope))
        elif Scope.TIME in scope:
            self._require(lambda loop: loop.rewind())

    def step(self, count: int, after_step: Callable[[int], bool] | None = None) -> Future[None]:
        """Requests steps from the physics thread."""
        session = self._built()
        made: Future[None] = Future()

        def finish(call: Future) -> None:
            try:
                outcome = answer_of(call)
            except NoAnswerError as error:
                outcome = Outcome(False, str(error))
            try:
                _check(outcome)
            except (RequestError, GrouserError) as error:
                made.set_exception(error)
            else:
                made.set_result(None)

        session.call(lambda loop: loop.step_paused(count, after_step)).add_done_callback(finish)
        return made

    def scene(self) -> EntitySnapshot:
        """The machines and the obstacles."""
        session = self._built()
        present: _Present = self._request(_read_members)
        obstacles = _obstacles(session.world)
        others = {*obstacles, *present.members} - {""}
        machines = {
            name or self._name_of_first(others): partial(_machine, present, number, machine, name in session.robots)
            for number, (name, machine) in enumerate(present.members.items())
        }
        return EntitySnapshot(present.nanoseconds, self._frame(), Entities({**machines, **obstacles}))

    def world(self) -> WorldEntry:
        """The loaded world."""
        world = self._session.world
        if world is NOWHERE:
            raise RequestError(Reason.NO_WORLD_LOADED, "no world is loaded")
        path = Path(world.file)
        return (
            WorldEntry(world, uri_of(path, "config/worlds")) if path.is_file() else WorldEntry(world, text=world.source)
        )

    def spawn(self, orders: Sequence[SpawnOrder]) -> None:
        """Spawns machines; without a namespace, a robot's name becomes the namespace of its topics.

        A robot with the name of the first machine, which is no longer there, gets the names that that one had.
        """
        session = self._built()
        self.world()  # raises an error if none is loaded
        placed, namespaces = [], {one.place.namespace.strip("/") for one in session.interfaces}
        for order in orders:
            if is_plain(order.machine):
                placed.append(order)
                continue
            is_first = order.name == session.machine.name and not session.has_fleet and "" not in session.members
            if is_first and not order.namespace:
                order = replace(order, name="")
            namespace = order.namespace or topic_token(order.name)
            if namespace.strip("/") in namespaces:
                raise RequestError(Reason.NAMESPACE_INVALID, f"the namespace {namespace!r} is another entity's")
            namespaces.add(namespace.strip("/"))
            placed.append(replace(order, namespace=namespace))
        try:
            session.spawn(placed)
        except OverlapError as error:
            raise RequestError(Reason.INVALID_POSE, str(error)) from None

    def delete(self, name: str) -> None:
        """Deletes a machine."""
        self._session.delete([self._member(name)])

    def set_entity_state(self, name: str, pose: Pose | None, velocity: Velocity | None) -> None:
        """Sets pose and velocity of a machine."""
        member = self._member(name)

        def place(loop: PhysicsLoop) -> Outcome:
            motion = _motion(loop.simulation.part(member))
            wanted = velocity or motion.velocity
            return loop.place(member, pose or motion.pose, wanted.linear, wanted.angular)

        self._require(place)

    def load_world(self, entry: WorldEntry) -> None:
        """Deletes everything, loads another world and stops."""
        self._built().load_world(entry.world)
        self._stopped_at = self._request(lambda loop: loop.step)

    def unload_world(self) -> None:
        """Deletes everything."""
        self._built().load_world(NOWHERE)

    @property
    def _session(self) -> Session:
        session = self._session_now()
        if session is None:
            raise RequestError(Reason.INCORRECT_STATE, "the simulator is not configured")
        return session

    def _built(self) -> Session:
        session = self._session
        if session.loop is None:
            raise RequestError(Reason.INCORRECT_STATE, "the simulation is still being built")
        return session

    def _request(self, function: Callable[[PhysicsLoop], Any]) -> Any:
        """Runs a function in the physics thread and waits for it."""
        try:
            return answer_of(self._built().call(function))
        except NoAnswerError as error:
            raise RequestError(Reason.OPERATION_FAILED, str(error)) from None

    def _require(self, function: Callable[[PhysicsLoop], Outcome]) -> None:
        """Runs a request in the physics thread, and raises an error unless it is carried out."""
        _check(self._request(function))

    def _name_of_first(self, taken: Collection[str]) -> str:
        """Name of the first machine as an entity."""
        name = self._session.machine.name
        while name in taken:
            name = f"{name}_"
        return name

    def _member(self, entity: str) -> str:
        """Name of the machine of an entity."""
        session = self._built()
        if entity in session.members:
            return entity
        obstacles = _obstacles(session.world)
        if "" in session.members and entity == self._name_of_first({*obstacles, *session.members}):
            return ""
        raise RequestError(Reason.OPERATION_FAILED, f"{entity} is part of the world and cannot be moved or deleted")


def _check(outcome: Outcome) -> None:
    if not outcome.success:
        raise outcome.error or RequestError(Reason.OPERATION_FAILED, outcome.message)


class _Present(NamedTuple):
    """The members at one step.

    Attributes:
        nanoseconds: simulation time.
        members: their machines by name.
        roots, twists: poses and twists of their root links, as of `Roots`.
        links: pose of every link, of all members, (links, 7).
        owners: number of the member that each link belongs to.
    """

    nanoseconds: int
    members: dict[str, Machine]
    roots: np.ndarray
    twists: np.ndarray
    links: np.ndarray
    owners: np.ndarray


def _read_members(loop: PhysicsLoop) -> _Present:
    simulation, roots = loop.simulation, loop.simulation.roots
    members = {member.name: member.machine for member in simulation.machine.members}
    if simulation.machine.root != ROOT:
        members = {"": simulation.machine}
    links, owners = simulation.link_poses(), simulation.arrays.membership.link
    stamp = nanoseconds_at(loop.step, loop.step_size)
    return _Present(stamp, members, roots.poses(), roots.twists(), links, owners)


def _machine(present: _Present, number: int, machine: Machine, is_robot: bool) -> Entity:
    """The entity of a member."""
    # elements of flexible links have shapes of their own
    links, poses = divided_machine(machine).links, present.links[present.owners == number]
    shapes = [
        Shape(collision.geometry, compose(_pose(row), collision.pose))
        for link, row in zip(links, poses, strict=True)
        for collision in link.collisions
    ]
    category = Category.DYNAMIC_OBJECT if machine.floating_base else Category.STATIC_OBJECT
    words = f"{machine.name} of {machine.file}"
    traits = (
        Traits(Category.ROBOT, f"machine {words}", ("machine",))
        if is_robot
        else Traits(category, f"object {words}", ("object",))
    )
    return Entity(traits, _motion_of(present.roots[number], present.twists[number]), tuple(shapes))


def _motion(machine: MachineView) -> EntityMotion:
    """Motion of the root link."""
    return _motion_of(np.concatenate(machine.base_pose()), np.concatenate(machine.base_twist()))


def _motion_of(root: np.ndarray, twist: np.ndarray) -> EntityMotion:
    """Motion of a root link from its pose in the world and its twist in its own frame."""
    pose, (vx, vy, vz, wx, wy, wz) = _pose(root), twist.tolist()
    linear, angular = (rotate(pose.quaternion, part) for part in ((vx, vy, vz), (wx, wy, wz)))
    return EntityMotion(pose, Velocity(linear, angular))


def _obstacles(world: World) -> dict[str, Callable[[], Entity]]:
    return {obstacle.name: partial(_obstacle, obstacle) for obstacle in world.obstacles}


def _obstacle(obstacle: Obstacle) -> Entity:
    traits = Traits(
        Category.STATIC_OBJECT,
        f"{type(obstacle.geometry).__name__.lower()} of {obstacle.material}",
        ("obstacle", obstacle.material),
    )
    return Entity(traits, EntityMotion(obstacle.pose), (Shape(obstacle.geometry, obstacle.pose),))


def _pose(row: np.ndarray) -> Pose:
    x, y, z, *quaternion = row.tolist()
    return Pose((x, y, z), tuple(quaternion))
