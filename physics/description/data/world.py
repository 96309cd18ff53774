"""Worlds: ground, obstacles and named poses. SI units; arrays are read-only."""

import math
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.base.checks import (
    VALUE_MAX,
    require_items,
    require_range,
    require_size,
    require_type,
    require_unique,
    require_vector,
)
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.blocks import Blocks
from grouser.physics.description.data.granular import GranularMedia
from grouser.physics.description.data.lumps import with_lumps
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from grouser.physics.description.data.soil import SoilGround

FRICTION_MAX = 100.0  # largest coefficient of friction [-]
# Least z component of the unit normal of the ground: it needs a height below every point.
SMALLEST_RISE = 1e-3
EDGES = ("flat", "wall")
ALTITUDE_MAX = 100_000.0  # largest altitude of a world's origin, up or down [m]
_SOLIDS = (Box, Sphere, Cylinder, Capsule, Mesh)
# Radii of grains on soft ground.
RESOLVED = "at least two cells of the soft ground, in m; a smaller `cell` of its soil allows smaller grains"
_WORLD = "a World; `grouser.load_world` loads one from a file"
_POSE = "a Pose(position, quaternion)"
_HEIGHTS = f"an array of numbers from {-VALUE_MAX:g} to {VALUE_MAX:g} m, at least 2 x 2"


def require_place(name: str, value: object) -> Pose:
    """Refuses what is no pose, or one that is too far away for a place in a world."""
    pose = require_type(name, value, Pose, _POSE)
    require_vector(f"{name} position", pose.position, 3, "m")
    return pose


def _require_surface(name: str, friction: object, restitution: object, material: object) -> None:
    require_range(f"{name} friction", friction, 0.0, FRICTION_MAX)
    require_range(f"{name} restitution", restitution, 0.0, 1.0)
    require_type(f"{name} material", material, str, "a text")


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

    def __post_init__(self) -> None:
        heights = require_type("heights", self.heights, np.ndarray, _HEIGHTS)
        if heights.ndim != 2 or min(heights.shape) < 2 or heights.dtype.kind != "f":
            raise ParameterError("heights", f"an array of {heights.shape} and {heights.dtype}", _HEIGHTS)
        wrong = ~(np.abs(heights) <= VALUE_MAX)
        if wrong.any():
            i, j = (int(index[0]) for index in np.nonzero(wrong))
            raise ParameterError(f"heights[{i}, {j}]", float(heights[i, j]), _HEIGHTS)
        require_size("cell", self.cell)
        object.__setattr__(self, "origin", require_vector("origin", self.origin, 2, "m"))


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", require_vector("ground point", self.point, 3, "m"))
        object.__setattr__(self, "normal", require_vector("ground normal", self.normal, 3))
        x, y, z = self.normal
        length = math.sqrt(x * x + y * y + z * z)
        if not abs(length - 1.0) <= 1e-6 or abs(z) < SMALLEST_RISE:
            raise ParameterError("ground normal", self.normal, "a vector of length 1 that is not level, as (0, 0, 1)")
        _require_surface("ground", self.friction, self.restitution, self.material)
        if self.heightfield is not None:
            require_type("ground heightfield", self.heightfield, Heightfield, "a Heightfield, or None for a plane")
        if not isinstance(self.edge, str) or self.edge not in EDGES:
            raise ParameterError("ground edge", self.edge, " or ".join(EDGES))
        if self.soil is not None:
            require_type("ground soil", self.soil, SoilGround, "a SoilGround, or None for rigid ground")


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

    def __post_init__(self) -> None:
        require_type("obstacle name", self.name, str, "a text")
        name = f"obstacle '{self.name}'"
        require_type(f"{name} geometry", self.geometry, _SOLIDS, "a Box, Sphere, Cylinder, Capsule or Mesh")
        if isinstance(self.geometry, Box):
            for size in require_vector(f"{name} size", self.geometry.size, 3, "m"):
                require_size(f"{name} size", size)
        elif isinstance(self.geometry, Sphere | Cylinder | Capsule):
            require_size(f"{name} radius", self.geometry.radius)
            if not isinstance(self.geometry, Sphere):
                require_size(f"{name} length", self.geometry.length)
        require_place(f"{name} pose", self.pose)
        _require_surface(name, self.friction, self.restitution, self.material)


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

    def __post_init__(self) -> None:
        require_type("pose name", self.name, str, "a text")
        require_place(f"pose '{self.name}'", self.pose)


@dataclass(frozen=True)
class GeodeticOrigin:
    """Where on the earth the world's origin is. The world's z axis is the normal of the ellipsoid there.

    Attributes:
        latitude, longitude: of WGS 84 [degrees], north and east positive.
        altitude: above its ellipsoid [m].
        yaw_deg: angle from east to the world's x axis, anticlockwise seen from above [degrees].
    """

    latitude: float
    longitude: float
    altitude: float = 0.0
    yaw_deg: float = 0.0

    def __post_init__(self) -> None:
        require_range("geodetic origin latitude", self.latitude, -90.0, 90.0, "degrees")
        require_range("geodetic origin longitude", self.longitude, -180.0, 180.0, "degrees")
        require_range("geodetic origin altitude", self.altitude, -ALTITUDE_MAX, ALTITUDE_MAX, "m")
        require_range("geodetic origin yaw_deg", self.yaw_deg, -360.0, 360.0, "degrees")


@dataclass(frozen=True, repr=False)
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
        geodetic_origin: where on the earth it is; None for nowhere.
        granular: its grains; None for none.
        blocks: its deformable blocks; None for none.
        files: meshes and maps that the world file refers to.
        file, source: path of the world file, and its text.

    Raises:
        ParameterError: a value of another type, or out of its range.
    """

    name: str = "flat"
    gravity: Vector3 = (0.0, 0.0, -9.81)
    ground: Ground | None = Ground()
    obstacles: tuple[Obstacle, ...] = ()
    spawn: Pose = Pose()
    files: tuple[str, ...] = field(default=(), compare=False)
    description: str = field(default="", compare=False)
    tags: tuple[str, ...] = field(default=(), compare=False)
    poses: tuple[NamedPose, ...] = ()
    geodetic_origin: GeodeticOrigin | None = None
    granular: GranularMedia | None = None
    blocks: Blocks | None = None
    file: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("name", "description", "file", "source"):
            require_type(f"world {name}", getattr(self, name), str, "a text")
        for name in ("tags", "files"):
            object.__setattr__(self, name, require_items(f"world {name}", getattr(self, name), str, "a text"))
        gravity = require_vector("gravity", self.gravity, 3, "m/s2, as (0, 0, -9.81)")
        object.__setattr__(self, "gravity", gravity)
        if self.ground is not None:
            require_type("ground", self.ground, Ground, "a Ground, or None for free space")
        obstacles = require_items("obstacles", self.obstacles, Obstacle, "an Obstacle")
        require_unique("obstacles", [obstacle.name for obstacle in obstacles])
        object.__setattr__(self, "obstacles", obstacles)
        require_place("spawn", self.spawn)
        object.__setattr__(self, "poses", require_items("poses", self.poses, NamedPose, "a NamedPose"))
        if self.geodetic_origin is not None:
            require_type("geodetic_origin", self.geodetic_origin, GeodeticOrigin, "a GeodeticOrigin, or None")
        if self.granular is not None:
            require_type("granular", self.granular, GranularMedia, "a GranularMedia, or None")
            names = [obstacle.name for obstacle in obstacles]
            for vibration in self.granular.vibrations:
                if vibration.obstacle not in names:
                    raise ParameterError(
                        "vibrating obstacle", vibration.obstacle, f"one of {', '.join(names) or 'no obstacles'}"
                    )
            if (radius := unresolved_radius(self.ground, self.granular)) is not None:
                raise ParameterError("radius of grains", radius, RESOLVED)
        _ = self.grains  # checks that lumps and grains go together
        if self.blocks is not None:
            require_type("blocks", self.blocks, Blocks, "Blocks, or None")
            if self.soil is not None:
                raise ParameterError("blocks", "blocks with soft ground", "blocks on rigid ground")

    def __repr__(self) -> str:
        ground = "no ground" if self.ground is None else "height field" if self.ground.heightfield else "plane"
        soils = " and ".join(f"'{soil.name}'" for soil in self.soil.soils) if self.soil else ""
        count = len(self.obstacles)
        parts = [f"gravity {math.hypot(*self.gravity):.4g} m/s2", f"{ground} of {soils}" if soils else ground]
        parts += [f"{count} obstacle{'s' if count > 1 else ''}"] if count else []
        return f"<World '{self.name}': {', '.join(parts)}>"

    @property
    def soil(self) -> SoilGround | None:
        """Soft ground; None for rigid ground or none."""
        return self.ground.soil if self.ground else None

    @property
    def grains(self) -> GranularMedia | None:
        """The granular media, with the lumps that soil becomes; None where there are no grains."""
        return with_lumps(self.granular, self.soil) if self.soil and self.soil.soils[0].lumps else self.granular


def unresolved_radius(ground: Ground | None, granular: GranularMedia) -> float | None:
    """The least radius of grains, if the cells of soft ground do not resolve it [m]; else None."""
    least = granular.least_radius
    return least if ground is not None and ground.soil is not None and least < 2.0 * ground.soil.cell else None


def require_world(name: str, value: object) -> World:
    """Refuses what is no world."""
    return require_type(name, value, World, _WORLD)


NOWHERE = World(name="", ground=None)  # without a loaded world
