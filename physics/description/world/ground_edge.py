"""Walls around a height field or a map of soils."""

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle

_THICKNESS = 1.0
# Walls reach from below the lowest point of the border to above the highest point of the ground [m].
_BELOW, _ABOVE = 1.0, 2.0


def edge_walls(ground: Ground) -> tuple[Obstacle, ...]:
    """Returns four boxes around a height field or, without one, around a map of soils.

    They adjoin the grid, and have the surface properties of the ground.

    Args:
        ground: with a height field or a map of soils.
    """
    (west, south), (east, north) = _corners(ground)
    lowest, highest = _heights(ground, (west, east), (south, north))
    bottom, top = lowest - _BELOW, highest + _ABOVE
    middle_x, middle_y, middle_z = 0.5 * (west + east), 0.5 * (south + north), 0.5 * (bottom + top)
    along_x = (east - west, _THICKNESS, top - bottom)
    along_y = (_THICKNESS, north - south + 2.0 * _THICKNESS, top - bottom)  # these close the corners
    half = 0.5 * _THICKNESS
    walls = {
        "edge_north": (along_x, (middle_x, north + half, middle_z)),
        "edge_south": (along_x, (middle_x, south - half, middle_z)),
        "edge_east": (along_y, (east + half, middle_y, middle_z)),
        "edge_west": (along_y, (west - half, middle_y, middle_z)),
    }
    return tuple(
        Obstacle(name, Box(size), Pose(place), ground.friction, ground.restitution, ground.material)
        for name, (size, place) in walls.items()
    )


def has_edge(ground: Ground) -> bool:
    """Returns whether the ground has a height field or a map of soils."""
    return ground.heightfield is not None or (ground.soil is not None and ground.soil.types is not None)


def _corners(ground: Ground) -> tuple[tuple[float, float], tuple[float, float]]:
    """South-west and north-east corners of the grid [m]; y is north."""
    field, soil = ground.heightfield, ground.soil
    if field is not None:
        origin, shape, cell, rim = field.origin, field.heights.shape, field.cell, 0.0
    elif soil is not None and soil.types is not None:
        # a number covers the cell centred on its place
        origin, shape, cell, rim = soil.types_origin, soil.types.shape, soil.types_cell, 0.5
    else:
        raise ValueError("ground without a grid has no edge")
    low = (origin[0] - rim * cell, origin[1] - rim * cell)
    return low, (origin[0] + (shape[0] - 1 + rim) * cell, origin[1] + (shape[1] - 1 + rim) * cell)


def _heights(ground: Ground, x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    """Lowest height of the border, and highest of the ground within it [m]."""
    if ground.heightfield is not None:
        heights = ground.heightfield.heights
        border = (heights[0], heights[-1], heights[:, 0], heights[:, -1])
        return min(float(side.min()) for side in border), float(heights.max())
    (px, py, pz), (nx, ny, nz) = ground.point, ground.normal
    corners = [pz - (nx * (cx - px) + ny * (cy - py)) / nz for cx in x for cy in y]
    return min(corners), max(corners)
