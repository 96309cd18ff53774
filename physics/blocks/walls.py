"""Walls and columns of blocks in a grid."""

from collections.abc import Sequence

from grouser.physics.base.checks import require_count, require_size, require_vector
from grouser.physics.blocks.building import Block
from grouser.physics.blocks.polyhedron import make_box


def make_wall(
    counts: Sequence[int],
    size: Sequence[float],
    corner: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    staggered: bool = False,
    name: str = "block",
) -> list[Block]:
    """Blocks in a grid, named `<name>_<x>_<y>_<z>` by their places in it.

    Args:
        counts: of blocks along x, y and z.
        size: of a block [m].
        corner: lowest corner of the wall [m].
        staggered: whether each second layer begins with half a block, as masonry does.
        name: of the blocks.
    """
    counts = [require_count(f"counts[{axis}]", count, 1, 1000) for axis, count in enumerate(counts)]
    size = [require_size(f"size[{axis}]", length) for axis, length in enumerate(size)]
    corner = require_vector("corner", corner, 3, "m")
    blocks = []
    for z in range(counts[2]):
        shifted = 0.5 if staggered and z % 2 else 0.0
        ends = [0.0, *(place - shifted for place in range(1, counts[0] + (2 if shifted else 1)))]
        ends[-1] = float(counts[0])
        for x in range(len(ends) - 1):
            for y in range(counts[1]):
                label = f"{name}_{x}_{y}_{z}"
                lower = (ends[x], float(y), float(z))
                upper = (ends[x + 1], y + 1.0, z + 1.0)
                places = [
                    [origin + length * at for origin, length, at in zip(corner, size, end, strict=True)]
                    for end in (lower, upper)
                ]
                blocks.append(Block(label, make_box(label, *places)))
    return blocks
