"""Sliding of soil down slopes steeper than its angle of repose, over a window of cells.

Between two cells with a common side the gradient g has two parts: the difference d of their heights, and the mean
difference across, of both cells. Soil flows along g where abs(g) exceeds the limit t: d (1 - t / abs(g)) is the excess
of the height difference. A heap is therefore round; limits on the differences with eight neighbours would make it an
octagon whose slopes differ by 8 %.
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
        across_row = 0.25 * ((above[at] - below[at]) + (above_right[at] - below_right[at]))
        across_column = 0.25 * ((right[at] - left[at]) + (above_right[at] - above_left[at]))
        along_row[at] = excess_height(right[at] - here[at], across_row, max(limit[at], limit_right[at]))
        along_column[at] = excess_height(above[at] - here[at], across_column, max(limit[at], limit_above[at]))


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
