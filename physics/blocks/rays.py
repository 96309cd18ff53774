"""Rays to blocks: their surfaces, as they are deformed, in the world."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.near import lay_out
from grouser.physics.blocks.system import State, System
from grouser.physics.contact.rays import behind, entry


class Outlines(NamedTuple):
    """Free blocks as rays meet them.

    Attributes:
        position, rotation, vertex, box, normal: as of `system.Workspace`.
        radius: of a ball about each centre that holds the block [m], (free,).
        candidate: buffer for blocks that rays may meet, (free,).
    """

    position: np.ndarray
    rotation: np.ndarray
    vertex: np.ndarray
    box: np.ndarray
    normal: np.ndarray
    radius: np.ndarray
    candidate: np.ndarray


def make_outlines(system: System, free: int) -> Outlines:
    """Room for the free blocks of an assembly, which are the first."""
    return Outlines(
        position=np.zeros((free, 3)),
        rotation=np.zeros((free, 3, 3)),
        vertex=np.zeros_like(system.shapes.vertex),
        box=np.zeros((free, 6)),
        normal=np.zeros((len(system.shapes.area), 3)),
        radius=np.zeros(free),
        candidate=np.zeros(free, dtype=np.int64),
    )


@kernel
def place_outlines(system: System, state: State, outlines: Outlines):
    """Places the surfaces of the free blocks."""
    shapes = system.shapes
    for block in range(outlines.radius.shape[0]):
        lay_out(system, state, outlines, block)
        centre, square = outlines.position[block], 0.0
        for vertex in range(shapes.vertex_start[block], shapes.vertex_start[block + 1]):
            corner = outlines.vertex[vertex]
            x, y, z = corner[0] - centre[0], corner[1] - centre[1], corner[2] - centre[2]
            square = max(square, x * x + y * y + z * z)
        outlines.radius[block] = math.sqrt(square)


@kernel
def ray_to_block(system: System, outlines: Outlines, block, x, y, z, dx, dy, dz):
    """Distance at which a ray meets a block, infinite beside it, zero inside of it [m].

    Args:
        system: of the assembly.
        outlines: placed.
        block: number of a free one.
        x, y, z, dx, dy, dz: the ray in the world.
    """
    shapes = system.shapes
    near, far = -math.inf, math.inf
    for face in range(shapes.face_start[block], shapes.face_start[block + 1]):
        normal, corner = outlines.normal[face], outlines.vertex[shapes.loop[shapes.loop_start[face]]]
        space = normal[0] * (corner[0] - x) + normal[1] * (corner[1] - y) + normal[2] * (corner[2] - z)
        near, far = behind(space, normal[0] * dx + normal[1] * dy + normal[2] * dz, near, far)
    return entry(near, far)
