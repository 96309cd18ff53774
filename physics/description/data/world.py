"""Worlds: the ground, the obstacles and the named places of one. SI units; arrays are read-only."""

from dataclasses import dataclass, field

import numpy as np

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Geometry
from grouser.physics.description.data.soil import SoilGround


@dataclass(frozen=True, eq=False)
class Heightfield:
    """Ground given by its height over a grid; flat at the border's height outside of it.

    Attributes:
        heights: [m], shape (n_x, n_y), at least 2 x 2: heights[i, j] is at origin + cell * (i, j).
        cell: spacing of the grid [m].
        origin: x, y of heights[0, 0] in the world [m].
    """

    heights: np.ndarray
    cell: float
    origin: tuple[float, float]


@dataclass(frozen=True)
class Ground:
    """What to stand on: a plane, or a height field that replaces it.

    Attributes:
        point: of the plane [m].
        normal: unit normal of the plane, world frame.
        friction, restitution: of its surface [-].
        material: name that `MaterialPair` knows it by.
        heightfield: None for a plane.
        edge: what is beyond the height field or the map of soils: "flat", the border's height and soil go on; "wall",
            nothing gets across.
        soil: None for rigid ground.
    """

    point: Vector3 = (0.0, 0.0, 0.0)
    normal: Vector3 = (0.0, 0.0, 1.0)
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "ground"
    heightfield: Heightfield | None = None
    edge: str = "flat"
    soil: SoilGround | None = None


@dataclass(frozen=True)
class Obstacle:
    """A shape that stands still in the world.

    Attributes:
        name: unique in its world.
        geometry: anything but a point set.
        pose: of the shape in the world frame.
        friction, restitution: of its surface [-].
        material: name that `MaterialPair` knows it by.
    """

    name: str
    geometry: Geometry
    pose: Pose = Pose()
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "obstacle"


@dataclass(frozen=True)
class NamedPose:
    """A place in a world that is of use to whoever works there: to park at, to go to, to put a machine.

    Attributes:
        name: unique in its world.
        pose: in the world frame.
        description: in words.
        tags: what it is for.
    """

    name: str
    pose: Pose
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class World:
    """What a machine stands in.

    Attributes:
        description: in words.
        tags: what kind of world it is.
        gravity: acceleration in the world frame [m/s2].
        ground: None in free space.
        obstacles: shapes that stand still.
        spawn: pose of a floating base's link frame at the start, in the world frame.
        poses: other places by name.
        files: meshes and maps that the world file refers to.
        file, source: the world file, and the text in it.
    """

    name: str = "flat"
    gravity: Vector3 = (0.0, 0.0, -9.81)
    ground: Ground | None = Ground()
    obstacles: tuple[Obstacle, ...] = ()
    spawn: Pose = Pose()
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    description: str = field(default="", compare=False)
    tags: tuple[str, ...] = field(default=(), compare=False)
    poses: tuple[NamedPose, ...] = ()
    file: str = field(default="", compare=False)
    source: str = field(default="", compare=False, repr=False)

    @property
    def soil(self) -> SoilGround | None:
        """Soft ground; None where there is none."""
        return self.ground.soil if self.ground else None


NOWHERE = World(name="", ground=None)  # where no world is loaded
