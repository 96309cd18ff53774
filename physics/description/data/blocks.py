"""Deformable blocks of a world: their material, their joints, walls and single blocks. SI units."""

import math
from dataclasses import dataclass

from grouser.physics.base.checks import (
    require_count,
    require_items,
    require_range,
    require_size,
    require_type,
    require_unique,
    require_vector,
)
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Box

RUBBLE = ("deformable", "rigid")
# Number of blocks, at most: each is compared with each other one.
MOST_BLOCKS = 1000


@dataclass(frozen=True)
class BlockMaterial:
    """A linear elastic material.

    Attributes:
        youngs_modulus: E [Pa].
        poisson_ratio: nu [-], 0 to 0.49.
        density: [kg/m3].
    """

    youngs_modulus: float
    poisson_ratio: float
    density: float

    def __post_init__(self):
        for name in ("youngs_modulus", "density"):
            value = require_type(name, getattr(self, name), (int, float), "a number")
            if not 0.0 < value < math.inf:
                raise ParameterError(name, value, "a number above 0")
        require_range("poisson_ratio", self.poisson_ratio, 0.0, 0.49)


@dataclass(frozen=True)
class Interface:
    """Joints and contacts of blocks; with neither cohesion nor tensile strength nothing is bonded.

    Attributes:
        normal_stiffness, shear_stiffness: k_n, k_s [Pa/m].
        friction: of broken and free faces, and of bonded ones under pressure [-].
        cohesion: shear stress that bonded faces bear without pressure [Pa].
        tensile_strength: stress that they bear [Pa].
    """

    normal_stiffness: float
    shear_stiffness: float
    friction: float = 0.0
    cohesion: float = math.inf
    tensile_strength: float = math.inf

    def __post_init__(self):
        for name in ("normal_stiffness", "shear_stiffness"):
            require_range(name, getattr(self, name), 0.0, 1e18, "Pa/m")
        require_range("friction", self.friction, 0.0, 100.0)
        for name in ("cohesion", "tensile_strength"):
            require_range(name, getattr(self, name), 0.0, math.inf, "Pa")


@dataclass(frozen=True)
class BlockWall:
    """Blocks in a grid, `<name>_<x>_<y>_<z>` by their places in it, bonded where they touch.

    Attributes:
        name: unique in its world.
        size: of a block [m].
        counts: of blocks along x, y and z.
        pose: of the middle of its foot in the world.
        staggered: whether each second layer begins with half a block, as masonry does.
    """

    name: str
    size: Vector3
    counts: tuple[int, int, int]
    pose: Pose = Pose()
    staggered: bool = False

    def __post_init__(self):
        require_type("name of a wall", self.name, str, "a text")
        name = f"wall '{self.name}'"
        for length in require_vector(f"size of {name}", self.size, 3, "m"):
            require_size(f"size of {name}", length)
        counts = require_items(f"counts of {name}", self.counts, int, "a whole number")
        if len(counts) != 3:
            raise ParameterError(f"counts of {name}", self.counts, "three whole numbers: along x, y and z")
        for count in counts:
            require_count(f"counts of {name}", count, 1, MOST_BLOCKS)
        require_type(f"pose of {name}", self.pose, Pose, "a Pose")
        require_type(f"staggered of {name}", self.staggered, bool, "true or false")


@dataclass(frozen=True)
class ConvexSolid:
    """A convex solid by its corners.

    Attributes:
        vertices: [m].
        faces: numbers of the vertices of each, counter-clockwise seen from outside; none: the convex hull.
    """

    vertices: tuple[Vector3, ...]
    faces: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class LooseBlock:
    """A block that is bonded to nothing, at rest at the start.

    Attributes:
        name: unique in its world.
        geometry: its shape in its own axes.
        pose: of these axes in the world.
    """

    name: str
    geometry: Box | ConvexSolid
    pose: Pose = Pose()

    def __post_init__(self):
        require_type("name of a block", self.name, str, "a text")
        require_type(f"shape of block '{self.name}'", self.geometry, (Box, ConvexSolid), "a Box or a ConvexSolid")
        require_type(f"pose of block '{self.name}'", self.pose, Pose, "a Pose")


@dataclass(frozen=True)
class Blocks:
    """The deformable blocks of a world.

    Attributes:
        material: of all blocks.
        interface: of all faces, and of their contacts with ground, obstacles and links.
        walls: blocks that are bonded to each other, and to ground and obstacles that they touch.
        loose: single blocks.
        order: of the modes: 1 for uniform strains, 2 for linear ones.
        rubble: what blocks without a bond are: `deformable`, or `rigid`: without modes.
        mass_damping, stiffness_damping: a [1/s] and b [s] of a M + b K.
        relax: whether walls begin in equilibrium with their weight.
        sleeping: whether blocks at rest sleep until something that moves comes near.
        surface_material: of their surfaces, a material of the world's grains; any other is the material of boundaries.
    """

    material: BlockMaterial
    interface: Interface
    walls: tuple[BlockWall, ...] = ()
    loose: tuple[LooseBlock, ...] = ()
    order: int = 1
    rubble: str = "deformable"
    mass_damping: float = 0.0
    stiffness_damping: float = 1e-4
    relax: bool = True
    sleeping: bool = True
    surface_material: str = ""

    def __post_init__(self):
        require_type("material of blocks", self.material, BlockMaterial, "a BlockMaterial")
        require_type("interface of blocks", self.interface, Interface, "an Interface")
        for name in ("normal_stiffness", "shear_stiffness"):
            require_range(f"{name} of blocks", getattr(self.interface, name), 1.0, 1e18, "Pa/m")
        object.__setattr__(self, "walls", require_items("walls of blocks", self.walls, BlockWall, "a BlockWall"))
        object.__setattr__(self, "loose", require_items("loose blocks", self.loose, LooseBlock, "a LooseBlock"))
        require_unique("walls and loose blocks", [*(one.name for one in self.walls), *(one.name for one in self.loose)])
        count = len(self.loose) + sum(math.prod(wall.counts) for wall in self.walls)
        require_count("number of blocks", count, 1, MOST_BLOCKS)
        require_count("order of blocks", self.order, 1, 2)
        if self.rubble not in RUBBLE:
            raise ParameterError("rubble of blocks", self.rubble, "one of " + ", ".join(RUBBLE))
        require_range("mass_damping of blocks", self.mass_damping, 0.0, 1e9, "1/s")
        require_range("stiffness_damping of blocks", self.stiffness_damping, 0.0, 1e9, "s")
        for name in ("relax", "sleeping"):
            require_type(f"{name} of blocks", getattr(self, name), bool, "true or false")
        require_type("surface_material of blocks", self.surface_material, str, "a name")
