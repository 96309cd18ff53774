"""Worlds: ground, obstacles and named poses. SI units; arrays are read-only."""

from dataclasses import dataclass, field

import numpy as np

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Geometry
from grouser.physics.description.data.soil import SoilGround


@dataclass(frozen=True, eq=False)
class Heightfield:
    """Ground as heights over a grid; beyond the grid the border's height continues.

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
    """The ground: a plane, or a height field in its place.

    Attributes:
        point: of the plane [m].
        normal: unit normal of the plane, world frame.
        friction, restitution: of its surface [-].
        material: name for `MaterialPair`.
        heightfield: None for a plane.
        edge: of the height field or the map of soils: "flat", the border's height and soil continue beyond it; "wall",
            it is enclosed by walls.
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
    """A static obstacle.

    Attributes:
        name: unique in its world.
        geometry: anything but a point set.
        pose: of the shape in the world frame.
        friction, restitution: of its surface [-].
        material: name for `MaterialPair`.
    """

    name: str
    geometry: Geometry
    pose: Pose = Pose()
    friction: float = 0.8
    restitution: float = 0.0
    material: str = "obstacle"


@dataclass(frozen=True)
class NamedPose:
    """A named pose in a world: a goal, a parking place, a place to spawn a machine.

    Attributes:
        name: unique in its world.
        pose: in the world frame.
        description: as a text.
        tags: words that classify it.
    """

    name: str
    pose: Pose
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class World:
    """A world: gravity, ground and obstacles.

    Attributes:
        description: as a text.
        tags: words that classify it.
        gravity: acceleration in the world frame [m/s2].
        ground: None in free space.
        obstacles: static shapes.
        spawn: initial pose of a floating base's link frame, in the world frame.
        poses: other named poses.
        files: meshes and maps that the world file refers to.
        file, source: path of the world file, and its text.
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
        """Soft ground; None for rigid ground or none."""
        return self.ground.soil if self.ground else None


NOWHERE = World(name="", ground=None)  # without a loaded world
