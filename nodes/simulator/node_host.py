"""The simulator node as the host of the standard services."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grouser.nodes.services.host import (
    Capability,
    Category,
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
from grouser.physics.base.errors import OverlapError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.data.world import NOWHERE, World
from grouser.physics.simulation.building import divided_machine
from grouser.physics.simulation.view import MachineView
from grouser.runtime.mailbox import NoAnswerError, answer_of
from grouser.runtime.physics_loop import Outcome, PhysicsLoop
from grouser.runtime.sampling import nanoseconds_at
from grouser.runtime.streams import topic_token


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

    def set_state(self, target: RunState) -> None:
        """Starts, pauses or stops the simulation."""
        outcome = self._request(lambda loop: loop.set_paused(target is not RunState.PLAYING))
        if not outcome.success:
            raise RequestError(Reason.STATE_TRANSITION_ERROR, outcome.message)
        self._stopped_at = -1
        if target is RunState.STOPPED:
            self.reset(Scope.TIME | Scope.STATE | Scope.SPAWNED)
            self._stopped_at = self._request(lambda loop: loop.step)

    def quit(self) -> None:
        """Ends the program, as a signal would."""
        self._quitting = True
        self._end()

    def reset(self, scope: Scope) -> None:
        """Deletes spawned machines and resets time, state, or both."""
        if Scope.SPAWNED in scope:
            session = self._session
            for name in [name for name in session.members if name]:
                session.delete(name)
        if Scope.STATE in scope:
            outcome = self._request(lambda loop: loop.reset(Scope.TIME in scope))
        elif Scope.TIME in scope:
            outcome = self._request(PhysicsLoop.rewind)
        else:
            return
        if not outcome.success:
            raise RequestError(Reason.INCORRECT_STATE, outcome.message)

    def step(self, count: int, after_step: Callable[[int], bool] | None = None) -> Future[None]:
        """Requests steps from the physics thread."""
        session = self._built()
        made: Future[None] = Future()

        def finish(call: Future) -> None:
            try:
                outcome = answer_of(call)
            except NoAnswerError as error:
                outcome = Outcome(False, str(error))
            if outcome.success:
                made.set_result(None)
            else:
                made.set_exception(RequestError(Reason.OPERATION_FAILED, outcome.message))

        session.call(lambda loop: loop.step_paused(count, after_step)).add_done_callback(finish)
        return made

    def scene(self) -> EntitySnapshot:
        """The machines and the obstacles."""
        world = self._built().world
        present: _Robots = self._request(_read_robots)
        obstacles = _obstacles(world)
        others = {**obstacles, **dict.fromkeys(present.robots.keys() - {""})}
        robots = {name or self._name_of_first(others): _robot(*robot) for name, robot in present.robots.items()}
        return EntitySnapshot(present.nanoseconds, self._frame(), {**robots, **obstacles})

    def world(self) -> WorldEntry:
        """The loaded world."""
        world = self._session.world
        if world is NOWHERE:
            raise RequestError(Reason.NO_WORLD_LOADED, "no world is loaded")
        path = Path(world.file)
        return (
            WorldEntry(world, uri_of(path, "config/worlds")) if path.is_file() else WorldEntry(world, text=world.source)
        )

    def spawn(self, order: SpawnOrder) -> None:
        """Spawns a machine; without a namespace, its name becomes the namespace of its topics."""
        session = self._built()
        self.world()  # raises an error if none is loaded
        namespace = order.namespace or topic_token(order.name)
        if namespace in session.namespaces:
            raise RequestError(Reason.NAMESPACE_INVALID, f"the namespace {namespace!r} is another entity's")
        try:
            session.spawn(order.name, order.machine, namespace, order.pose)
        except OverlapError as error:
            raise RequestError(Reason.INVALID_POSE, str(error)) from None

    def delete(self, name: str) -> None:
        """Deletes a machine."""
        self._session.delete(self._member(name))

    def set_entity_state(self, name: str, pose: Pose | None, velocity: Velocity | None) -> None:
        """Sets pose and velocity of a machine."""
        member = self._member(name)

        def place(loop: PhysicsLoop) -> Outcome:
            motion = _motion(loop.robots[member])
            wanted = velocity or motion.velocity
            return loop.place(member, pose or motion.pose, wanted.linear, wanted.angular)

        outcome = self._request(place)
        if not outcome.success:
            raise RequestError(Reason.OPERATION_FAILED, outcome.message)

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


class _Robots(NamedTuple):
    """The robots at one step: machine, motion of the root link, pose of each link."""

    nanoseconds: int
    robots: dict[str, tuple[Machine, EntityMotion, np.ndarray]]


def _read_robots(loop: PhysicsLoop) -> _Robots:
    robots = {name: (robot.machine, _motion(robot), robot.link_poses()) for name, robot in loop.robots.items()}
    return _Robots(nanoseconds_at(loop.step, loop.step_size), robots)


def _robot(machine: Machine, motion: EntityMotion, poses: np.ndarray) -> Entity:
    # elements of flexible links have shapes of their own
    links = divided_machine(machine).links
    shapes = [
        Shape(collision.geometry, compose(_pose(row), collision.pose))
        for link, row in zip(links, poses, strict=True)
        for collision in link.collisions
    ]
    traits = Traits(Category.ROBOT, f"machine {machine.name} of {machine.file}", ("machine",))
    return Entity(traits, motion, tuple(shapes))


def _motion(robot: MachineView) -> EntityMotion:
    """Motion of the root link."""
    position, quaternion = (tuple(part.tolist()) for part in robot.base_pose())
    linear, angular = (rotate(quaternion, tuple(part.tolist())) for part in robot.base_twist())
    return EntityMotion(Pose(position, quaternion), Velocity(linear, angular))


def _obstacles(world: World) -> dict[str, Entity]:
    return {
        obstacle.name: Entity(
            Traits(
                Category.STATIC_OBJECT,
                f"{type(obstacle.geometry).__name__.lower()} of {obstacle.material}",
                ("obstacle", obstacle.material),
            ),
            EntityMotion(obstacle.pose),
            (Shape(obstacle.geometry, obstacle.pose),),
        )
        for obstacle in world.obstacles
    }


def _pose(row: np.ndarray) -> Pose:
    x, y, z, *quaternion = row.tolist()
    return Pose((x, y, z), tuple(quaternion))
