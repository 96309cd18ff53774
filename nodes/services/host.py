"""What the services need of a simulation: plain data, no messages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from typing import Protocol

from grouser.nodes.services.motion import EntityMotion, Velocity
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Geometry
from grouser.physics.description.data.world import World


class RunState(IntEnum):
    """States of a simulation, with the numbers of SimulationState.msg."""

    STOPPED = 0
    PLAYING = 1
    PAUSED = 2
    QUITTING = 3
    NO_WORLD = 4
    LOADING_WORLD = 5


class Scope(IntFlag):
    """Scopes of a reset, with the numbers of ResetSimulation.srv."""

    TIME = 1
    STATE = 2
    SPAWNED = 4


class Category(IntEnum):
    """Categories of entities, with the numbers of EntityCategory.msg."""

    OBJECT = 0
    ROBOT = 1
    HUMAN = 2
    DYNAMIC_OBJECT = 4
    STATIC_OBJECT = 5


class Capability(Enum):
    """Optional abilities of a host; only these are offered."""

    RESET_TIME = "reset of time alone"
    RESET_STATE = "reset of the state"
    RESET_SPAWNED = "deletion of spawned entities"
    SPAWN = "spawning of machines"
    DELETE = "deletion of entities"
    SET_STATE = "setting pose and velocity of entities"
    LOAD_WORLD = "loading another world"
    UNLOAD_WORLD = "unloading the world"


@dataclass(frozen=True, eq=False)
class Shape:
    """A collision shape: geometry, and pose in the world."""

    geometry: Geometry
    pose: Pose


@dataclass(frozen=True)
class Traits:
    """Description of an entity.

    Attributes:
        category: its kind.
        description: a text.
        tags: for filters.
    """

    category: Category
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Entity:
    """A robot or an object at one instant.

    Attributes:
        traits: its description.
        motion: of its canonical link in the world.
        shapes: all of its collision shapes.
    """

    traits: Traits
    motion: EntityMotion
    shapes: tuple[Shape, ...] = ()


class Entities(Mapping[str, Entity]):
    """Entities by name, each made when it is first read: of many, most requests need one.

    Args:
        makers: by name.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Entity]]) -> None:
        self._makers = makers
        self._made: dict[str, Entity] = {}

    def __getitem__(self, name: str) -> Entity:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False)
class EntitySnapshot:
    """All entities at one instant.

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
    """A world and its source: a URI or, without one, a text."""

    world: World
    uri: str = ""
    text: str = ""


@dataclass(frozen=True, eq=False)
class SpawnOrder:
    """A machine to spawn.

    Attributes:
        name: valid, and different from those of other entities.
        machine: its description.
        uri: its source; empty: a text.
        namespace: of its topics, valid; empty: not given. Plain objects have none.
        pose: of its canonical link in the world.
    """

    name: str
    machine: Machine
    uri: str
    namespace: str
    pose: Pose


class Host(Protocol):
    """A simulation. Any method may raise a RequestError, or a GrouserError for an invalid description."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Its optional abilities; constant."""

    @property
    def packages(self) -> Mapping[str, str]:
        """Folders of ROS packages by name, for the files of machines to spawn, as of `load_machine`."""

    def state(self) -> RunState:
        """Its present state."""

    def stepping(self) -> bool:
        """Whether requested steps are being made; a pause ends them."""

    def set_state(self, target: RunState) -> None:
        """Starts, pauses, or stops (pauses and resets). The transition has been checked."""

    def quit(self) -> None:
        """Ends the program, after this call."""

    def reset(self, scope: Scope) -> None:
        """Resets what `scope` names, which is within its capabilities; keeps playing if it was."""

    def step(self, count: int, after_step: Callable[[int], bool] | None = None) -> Future[None]:
        """Starts steps of a paused simulation.

        Args:
            count: of steps.
            after_step: called after each step, in the stepping thread, with the number made; returns whether to go on.

        Returns:
            Done after the last step; has a `RequestError` if not all steps were made.
        """

    def scene(self) -> EntitySnapshot:
        """All entities now."""

    def world(self) -> WorldEntry:
        """The loaded world; raises NO_WORLD_LOADED if there is none."""

    def spawn(self, orders: Sequence[SpawnOrder]) -> None:
        """Spawns one or more machines at once: all of them, or none if one is refused."""

    def delete(self, name: str) -> None:
        """Deletes an entity."""

    def set_entity_state(self, name: str, pose: Pose | None, velocity: Velocity | None) -> None:
        """Sets pose and velocity of an entity.

        Args:
            name: of the entity.
            pose: of its canonical link in the world; None: unchanged.
            velocity: of its canonical link, in the world's axes; None: unchanged.
        """

    def load_world(self, entry: WorldEntry) -> None:
        """Removes every entity and the world, loads another, and stops."""

    def unload_world(self) -> None:
        """Removes every entity and the world."""
