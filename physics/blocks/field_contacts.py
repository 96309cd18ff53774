"""Contacts of a block with a height field: the part of its face over each triangle, in the manner of two solids.

The face that looks most against a triangle is cut by the vertical planes through the triangle's sides. The corners of
what is left are points, each with its share of the area: the parts over neighbours join without seams, and a vertex of
the field below a face is such a corner.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.blocks.contact_point import touch
from grouser.physics.blocks.separation import clip_side, facing, share_area, take_face
from grouser.physics.contact.terrain import cell_range, crest_of, height_at


@kernel
def touch_field(system, state, work, block, last, end, found, step: float):
    """Adds the forces of the field on a block.

    Args:
        system, state, work: of the assembly.
        block: that may touch the field.
        last, end: contacts of both in the last step.
        found: number of all contacts found.
        step: over which they slide [s].

    Returns:
        Number of all contacts found.
    """
    low_i, high_i, low_j, high_j = _cells_below(system.field, work, block)
    for i in range(low_i, high_i + 1):
        for j in range(low_j, high_j + 1):
            for half in range(2):
                count, nx, ny, nz = _cut(system, work, block, i, j, half)
                if count == 0:
                    continue
                share_area(work.clipped[0], count, (nx, ny, nz), work.tributary)
                for k in range(count):
                    depth = _depth(system.field, work.clipped[0, k], i, j, half, nz)
                    if depth <= 0.0 or work.tributary[k] <= 0.0 or found == work.found_pair.shape[0]:
                        continue
                    place, corner = work.found_point[found], work.clipped[0, k]
                    place[0] = corner[0] + 0.5 * depth * nx
                    place[1] = corner[1] + 0.5 * depth * ny
                    place[2] = corner[2] + 0.5 * depth * nz
                    touch(
                        system, state, work, block, system.field_block, -nx, -ny, -nz, depth, work.tributary[k], last,
                        end, found, step,
                    )  # fmt: skip
                    found += 1
    return found


@kernel
def depth_in_field(system, work, block):
    """How deep a block is in the field [m]; 0 above it."""
    deepest = 0.0
    low_i, high_i, low_j, high_j = _cells_below(system.field, work, block)
    for i in range(low_i, high_i + 1):
        for j in range(low_j, high_j + 1):
            for half in range(2):
                count, _, _, nz = _cut(system, work, block, i, j, half)
                for k in range(count):
                    deepest = max(deepest, _depth(system.field, work.clipped[0, k], i, j, half, nz))
    return deepest


@kernel
def _cells_below(field, work, block):
    """First and last cell along both axes that the bounds of a block are over; none where the field is lower."""
    box, cell = work.box[block], field.cell[0]
    low_i, high_i = cell_range(box[0], box[3], field.origin[0], cell)
    low_j, high_j = cell_range(box[1], box[4], field.origin[1], cell)
    if box[2] > crest_of(field.crest, low_i, high_i, low_j, high_j):
        return 0, -1, 0, -1
    return low_i, high_i, low_j, high_j


@kernel
def _cut(system, work, block, i, j, half):
    """Cuts the face of a block that looks at a triangle of a cell to what is over it, the first clipped polygon.

    Args:
        system, work: of the assembly.
        block: that may touch the field.
        i, j: cell.
        half: 0 for the triangle at (i + 1, j), 1 for that at (i, j + 1).

    Returns:
        Number of corners, none where the triangle is below the block, and the triangle's unit normal.
    """
    field = system.field
    cell = field.cell[0]
    rise_x, rise_y = _rises(field, i, j, half)
    highest = max(height_at(field.heights, i, j), height_at(field.heights, i + 1, j + 1))
    highest = max(highest, height_at(field.heights, i + 1 - half, j + half))
    scale = 1.0 / math.sqrt(cell * cell + rise_x * rise_x + rise_y * rise_y)
    nx, ny, nz = -scale * rise_x, -scale * rise_y, scale * cell
    if work.box[block, 2] > highest:
        return 0, nx, ny, nz
    count = take_face(system.shapes, work, facing(system.shapes, work, block, nx, ny, nz))
    x, y = field.origin[0] + i * cell, field.origin[1] + j * cell
    sign = 1.0 - 2.0 * half
    count = clip_side(work, count, (x, y, 0.0), (-sign, sign, 0.0))
    if half == 0:
        count = clip_side(work, count, (x, y, 0.0), (0.0, -1.0, 0.0))
        count = clip_side(work, count, (x + cell, y, 0.0), (1.0, 0.0, 0.0))
    else:
        count = clip_side(work, count, (x, y, 0.0), (-1.0, 0.0, 0.0))
        count = clip_side(work, count, (x, y + cell, 0.0), (0.0, 1.0, 0.0))
    return count, nx, ny, nz


@kernel
def _rises(field, i, j, half):
    """Rise of a triangle over one cell along x and y [m]."""
    near, far = height_at(field.heights, i, j), height_at(field.heights, i + 1, j + 1)
    side = height_at(field.heights, i + 1 - half, j + half)
    return (side - near, far - side) if half == 0 else (far - side, side - near)


@kernel
def _depth(field, point, i, j, half, nz):
    """Distance of a point below the plane of a triangle [m]."""
    cell = field.cell[0]
    rise_x, rise_y = _rises(field, i, j, half)
    u, v = (point[0] - field.origin[0]) / cell - i, (point[1] - field.origin[1]) / cell - j
    return nz * (height_at(field.heights, i, j) + u * rise_x + v * rise_y - point[2])
