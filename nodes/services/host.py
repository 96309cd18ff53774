"""What the services need of whoever simulates: plain data, no messages."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from typing import Protocol

from grouser.nodes.services.motion import EntityMotion, Velocity
from grouser.physics.description.machine import Geometry, Machine, Pose, World


class RunState(IntEnum):
    """What a simulation is doing, as SimulationState.msg counts it."""

    STOPPED = 0
    PLAYING = 1
    PAUSED = 2
    QUITTING = 3
    NO_WORLD = 4
    LOADING_WORLD = 5


class Scope(IntFlag):
    """What a reset takes back, as ResetSimulation.srv counts it."""

    TIME = 1
    STATE = 2
    SPAWNED = 4


class Category(IntEnum):
    """Kinds of entities, as EntityCategory.msg counts them."""

    OBJECT = 0
    ROBOT = 1
    HUMAN = 2
    DYNAMIC_OBJECT = 4
    STATIC_OBJECT = 5


class Capability(Enum):
    """What not every host can do; only what it can is offered."""

    RESET_TIME = "time can be set back alone"
    RESET_STATE = "the state can be set back"
    RESET_SPAWNED = "what was spawned can be taken away"
    SPAWN = "machines can be put in"
    DELETE = "entities can be taken out"
    SET_STATE = "entities can be put elsewhere"
    LOAD_WORLD = "another world can be loaded"
    UNLOAD_WORLD = "the world can be taken away"


@dataclass(frozen=True, eq=False)
class Shape:
    """Something that touches: its geometry, and its pose in the world."""

    geometry: Geometry
    pose: Pose


@dataclass(frozen=True)
class Traits:
    """What is said of an entity.

    Attributes:
        category: its kind.
        description: in words.
        tags: by which it can be chosen.
    """

    category: Category
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Entity:
    """A robot or an object at one instant.

    Attributes:
        traits: what is said of it.
        motion: of its canonical link in the world.
        shapes: all of its collision shapes.
    """

    traits: Traits
    motion: EntityMotion
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class EntitySnapshot:
    """Everything at one instant.

    Attributes:
        nanoseconds: simulation time.
        frame: name of the world's frame.
        entities: by their names.
    """

    nanoseconds: int
    frame: str
    entities: Mapping[str, Entity]


@dataclass(frozen=True, eq=False)
class WorldEntry:
    """A world and where it comes from: a URI or, without one, a text."""

    world: World
    uri: str = ""
    text: str = ""


@dataclass(frozen=True, eq=False)
class SpawnOrder:
    """A machine that is to be put in.

    Attributes:
        name: valid, and not taken by another entity.
        machine: what it is.
        uri: where it comes from; empty: from a text.
        namespace: of its topics, valid; empty: none of its own.
        pose: of its canonical link in the world.
    """

    name: str
    machine: Machine
    uri: str
    namespace: str
    pose: Pose


class Host(Protocol):
    """Whoever simulates. Any method may raise a RequestError, or a GrouserError if a description is wrong."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do beyond what every host can; always the same."""

    def state(self) -> RunState:
        """What it is doing."""

    def set_state(self, target: RunState) -> None:
        """Plays, pauses, or stops: pauses and goes back to the start. The transition is a possible one."""

    def quit(self) -> None:
        """Ends the program, in its own time."""

    def reset(self, scope: Scope) -> None:
        """Takes back what `scope` says, all of it within its capabilities; goes on playing if it was."""

    def step(self, count: int, after_step: Callable[[int], bool] | None = None) -> Future[None]:
        """Begins to make steps of a paused simulation.

        Args:
            count: of steps.
            after_step: called after each with their number, by whichever thread steps; returns whether to go on.

        Returns:
            Done when they are made, or none is made any more; a `RequestError` if not all of them were made.
        """

    def scene(self) -> EntitySnapshot:
        """Everything as it now is."""

    def world(self) -> WorldEntry:
        """The world that is loaded; refused with NO_WORLD_LOADED where there is none."""

    def spawn(self, order: SpawnOrder) -> None:
        """Puts a machine in."""

    def delete(self, name: str) -> None:
        """Takes an entity of the scene out."""

    def set_entity_state(self, name: str, pose: Pose | None, velocity: Velocity | None) -> None:
        """Puts an entity of the scene elsewhere, or has it move otherwise, at once.

        Args:
            name: of the entity.
            pose: of its canonical link in the world; None: it stays where it is.
            velocity: of its canonical link, along the world's axes; None: it keeps the one that it has.
        """

    def load_world(self, entry: WorldEntry) -> None:
        """Removes every entity and the world, loads another, and stops."""

    def unload_world(self) -> None:
        """Removes every entity and the world."""
