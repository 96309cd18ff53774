"""Sliding of soil down slopes steeper than its angle of repose, over a window of cells.

Between two cells with a common side the gradient g has two parts: the difference d of their heights, and the mean
difference across, of both cells. Soil flows along g where abs(g) exceeds the limit t: d (1 - t / abs(g)) is the excess
of the height difference. A heap is therefore round; limits on the differences with eight neighbours would make it an
octagon whose slopes differ by 8 %. What is more than 4 t higher or lower is a wall, along which soil lies as it does
elsewhere: differences across count less beyond 2 t, and none from 4 t on.
"""

import math

from grouser.physics.base.kernel import inlined, kernel

# Share of the excess height between two neighbours that slides in a sweep: four neighbours take less than all of it.
SLIDING = 0.2


@kernel
def find_flows(surface, steepest, columns, flows):
    """Excess height of the next cell in the row, and in the column, over each cell [m].

    Args:
        surface: heights of a window, row by row [m].
        steepest: greatest difference of height over a cell [m], above zero; infinite where nothing slides, as in all
            cells of the border.
        columns: cells of a row.
        flows: results, (2, cells); not filled in the first and last row.
    """
    # The cells around as separate arrays: without negative indices the loop is vectorised. Cells of the border have no
    # flow, so the step from the last cell of a row to the first of the next has no effect.
    end = surface.shape[0] - columns - 1
    here, limit = surface[columns:end], steepest[columns:end]
    left, right = surface[columns - 1 :], surface[columns + 1 :]
    below, below_right = surface, surface[1:]
    above_left, above, above_right = surface[2 * columns - 1 :], surface[2 * columns :], surface[2 * columns + 1 :]
    limit_right, limit_above = steepest[columns + 1 :], steepest[2 * columns :]
    along_row, along_column = flows[0, columns:], flows[1, columns:]
    for at in range(here.shape[0]):
        own, east, north, corner = here[at], right[at], above[at], above_right[at]
        limit_row, limit_column = max(limit[at], limit_right[at]), max(limit[at], limit_above[at])
        across_row = 0.25 * (
            (slope_part(north - own, limit_row) + slope_part(own - below[at], limit_row))
            + (slope_part(corner - east, limit_row) + slope_part(east - below_right[at], limit_row))
        )
        across_column = 0.25 * (
            (slope_part(east - own, limit_column) + slope_part(own - left[at], limit_column))
            + (slope_part(corner - north, limit_column) + slope_part(north - above_left[at], limit_column))
        )
        along_row[at] = excess_height(east - own, across_row, limit_row)
        along_column[at] = excess_height(north - own, across_column, limit_column)


@inlined
def slope_part(difference, limit):
    """Part of a height difference that belongs to a slope and not to a wall [m].

    Args:
        difference: of two neighbours [m].
        limit: greatest stable difference [m], above zero.
    """
    return math.copysign(max(min(abs(difference), 4.0 * limit - abs(difference)), 0.0), difference)


@inlined
def excess_height(difference, across, limit):
    """Part of a height difference that exceeds a gradient: d (1 - t / abs(g)), zero for gradients below t [m].

    Args:
        difference: d, of two neighbours [m].
        across: difference across, over the same distance [m].
        limit: t, greatest difference over that distance [m], above zero.
    """
    return difference * max(1.0 - limit / math.sqrt(difference * difference + across * across), 0.0)


@kernel
def add_flows(flows, columns, change):
    """Rise of each cell in a sweep, without those of the border [m].

    Args:
        flows: as `find_flows` fills them.
        columns: cells of a row.
        change: result, of all cells of the window.
    """
    along_row, along_column = flows[0, columns + 1 :], flows[1, columns + 1 :]
    from_left, from_below = flows[0, columns:], flows[1, 1:]
    inner = change[columns + 1 :]
    for at in range(change.shape[0] - 2 * columns - 2):
        inner[at] = SLIDING * ((along_row[at] - from_left[at]) + (along_column[at] - from_below[at]))
