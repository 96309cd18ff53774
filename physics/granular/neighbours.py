"""Lists of the pairs of grains, and of grains and boundaries, that may touch before the lists are built again.

Each size class (`size_classes`) has a grid of cells as wide as its largest grain and the skin, and grains are sorted by
classes, from the smallest, and by cells. A grain meets those of its own class in the cells around it, and those of each
larger class in the cells of that grid that it may reach: what is looked at does not grow with the range of the radii. A
pair is listed once, with the row of the second grain above that of the first. Lists are built again once a grain or
boundary has moved by half the skin. The order of rows and pairs, and so every bit of a run, follows from the state.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, System, Workspace, cells_of
from grouser.physics.granular.clump_lists import are_apart, drop_clumps, remove_whole_clumps
from grouser.physics.granular.pairs import SHEAR
from grouser.physics.granular.shapes import shape_gap, to_body

# Gap of a body without grains [m].
_FAR = 1e9
# Columns of `Workspace.grid` after the cells along the axes.
_CELL, _GRAINS = 3, 4
# Growth of the cells where the grains span more of them than there is memory for.
_WIDER = 1.26


@kernel
def rebuild(system: System, state: State, work: Workspace):
    """Sorts the grains, removes those whose `ident` is -1, and lists what is near; touching contacts keep their memory.

    Args:
        system, state, work: of the grains.

    Returns:
        Whether the lists had room. If not, `work.needed` says how much they need, and the state is as it was.
    """
    if state.clumps[0] > 0:
        remove_whole_clumps(state, work)
    _sort(system, state, work)
    after = work.next
    pairs = _list_pairs(system, work)
    contacts = _list_boundaries(system, state, work)
    if pairs > _room(state.pair_other, after.pair_other) or contacts > _room(
        state.boundary_shape, after.boundary_shape
    ):
        work.needed[0], work.needed[1] = pairs, contacts
        return False
    after.listed[0], after.listed[1] = pairs, contacts
    _carry_pairs(state, work)
    _carry_boundaries(state, work)
    _take_over(state, work)
    if state.clumps[0] > 0:
        drop_clumps(state, work)
    work.unquiet[0] = True
    _measure_reach(system, state, work)
    return True


@inlined
def _room(one, other):
    """Number of rows that both arrays have: a state may have more than the buffers."""
    return min(one.shape[0], other.shape[0])


@inlined
def _sort(system: System, state: State, work: Workspace):
    """Sorts the grains by classes and cells into `work.next`."""
    n, grid = state.number[0], work.grid
    used = _lay_grids(system, state, work)
    for c in range(used + 1):
        work.cell_start[c] = 0
    for i in range(n):
        if state.ident[i] < 0:
            continue
        a = _class_of(system, state.position[i, 3])
        x, y, z = (
            state.position[i, 0] - work.grid_low[0],
            state.position[i, 1] - work.grid_low[1],
            state.position[i, 2] - work.grid_low[2],
        )
        side = work.grid_side[a]
        c = grid[a, _CELL] + (int(z / side) * grid[a, 1] + int(y / side)) * grid[a, 0] + int(x / side)
        work.cell[i] = c
        work.cell_start[c + 1] += 1
    for c in range(used):
        work.cell_start[c + 1] += work.cell_start[c]
        work.cell_fill[c] = work.cell_start[c]
    for i in range(n):
        work.renamed[i] = -1
        if state.ident[i] >= 0:
            place = work.cell_fill[work.cell[i]]
            work.cell_fill[work.cell[i]] += 1
            work.order[place] = i
            work.renamed[i] = place
    after = work.next
    after.number[0] = work.cell_start[used]
    for i in range(after.number[0]):
        old = work.order[i]
        for c in range(4):
            after.position[i, c] = state.position[old, c]
            after.velocity[i, c] = state.velocity[old, c]
            after.spin[i, c] = state.spin[old, c]
        after.material[i], after.ident[i] = state.material[old], state.ident[old]
        after.still[i], after.asleep[i] = state.still[old], state.asleep[old]
        after.clump[i] = state.clump[old]
        for c in range(3):
            after.rest[i, c], after.offset[i, c] = state.rest[old, c], state.offset[old, c]


@inlined
def _class_of(system: System, radius):
    """Size class of a grain: the smallest with a grain as large."""
    a = 0
    while radius > system.class_radius[a]:
        a += 1
    return a


@inlined
def _lay_grids(system: System, state: State, work: Workspace):
    """Chooses the cells of the classes, whose share of all cells is that of the grains; returns the number in use."""
    # by the number of grains: the room for more may be another one after a restart
    grid, cells, present, used = work.grid, cells_of(state.number[0]), 0, 0
    low0, low1, low2, high0, high1, high2 = _extent(state.number[0], state)
    work.grid_low[0], work.grid_low[1], work.grid_low[2] = low0, low1, low2
    for a in range(grid.shape[0]):
        grid[a, _GRAINS] = 0
    for i in range(state.number[0]):
        if state.ident[i] >= 0:
            grid[_class_of(system, state.position[i, 3]), _GRAINS] += 1
            present += 1
    for a in range(grid.shape[0]):
        grid[a, _CELL] = used
        if grid[a, _GRAINS] == 0:
            continue
        share, side = cells * grid[a, _GRAINS] // present, 2.0 * system.class_radius[a] + system.skin
        while True:
            d0, d1, d2 = int((high0 - low0) / side) + 1, int((high1 - low1) / side) + 1, int((high2 - low2) / side) + 1
            if float(d0) * float(d1) * float(d2) <= share:
                break
            side *= _WIDER
        grid[a, 0], grid[a, 1], grid[a, 2], work.grid_side[a] = d0, d1, d2, side
        used += d0 * d1 * d2
    return used


@inlined
def _extent(n, state: State):
    """Lowest and highest coordinates of the grains [m]."""
    big = 1e300
    low0 = low1 = low2 = big
    high0 = high1 = high2 = -big
    for i in range(n):
        if state.ident[i] >= 0:
            x, y, z = state.position[i, 0], state.position[i, 1], state.position[i, 2]
            low0, low1, low2 = min(low0, x), min(low1, y), min(low2, z)
            high0, high1, high2 = max(high0, x), max(high1, y), max(high2, z)
    if low0 > high0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return low0, low1, low2, high0, high1, high2


@inlined
def _list_pairs(system: System, work: Workspace):
    """Lists the near pairs of `work.next`; returns their number, which may be above what there is room for."""
    after, grid, start, k, i = work.next, work.grid, work.cell_start, 0, 0
    work.compared[0] = 0
    for a in range(grid.shape[0]):
        d0, d1, d2, first = grid[a, 0], grid[a, 1], grid[a, 2], grid[a, _CELL]
        for _ in range(grid[a, _GRAINS]):
            after.pair_start[i] = k
            at = work.cell[work.order[i]]
            c0, c1, c2 = (at - first) % d0, (at - first) // d0 % d1, (at - first) // (d0 * d1)
            # half of the cells around: this one, the next in x, the row ahead in y, the layer ahead in z
            for b2 in range(c2, min(c2 + 2, d2)):
                for b1 in range(c1 if b2 == c2 else max(c1 - 1, 0), min(c1 + 2, d1)):
                    for b0 in range(c0 if b2 == c2 and b1 == c1 else max(c0 - 1, 0), min(c0 + 2, d0)):
                        b = first + (b2 * d1 + b1) * d0 + b0
                        k = _list_rows(system, work, i, i + 1 if b == at else start[b], start[b + 1], k)
            for other in range(a + 1, grid.shape[0]):
                k = _list_larger(system, work, i, other, k)
            i += 1
    after.pair_start[i] = k
    return k


@inlined
def _list_larger(system: System, work: Workspace, i, a, k):
    """Lists the pairs of a grain with those of a larger class; returns the number of pairs so far."""
    grid, low, position, found = work.grid, work.grid_low, work.next.position, k
    if grid[a, _GRAINS] > 0:
        d0, d1, d2, side = grid[a, 0], grid[a, 1], grid[a, 2], work.grid_side[a]
        x, y, z = position[i, 0] - low[0], position[i, 1] - low[1], position[i, 2] - low[2]
        reach = position[i, 3] + system.skin + system.class_radius[a]
        for b2 in range(max(int((z - reach) / side), 0), min(int((z + reach) / side) + 1, d2)):
            for b1 in range(max(int((y - reach) / side), 0), min(int((y + reach) / side) + 1, d1)):
                # cells of a row are in succession
                b = grid[a, _CELL] + (b2 * d1 + b1) * d0
                b0, end = max(int((x - reach) / side), 0), min(int((x + reach) / side) + 1, d0)
                found = _list_rows(system, work, i, work.cell_start[b + b0], work.cell_start[b + end], found)
    return found


@inlined
def _list_rows(system: System, work: Workspace, i, first, end, k):
    """Lists the pairs of a grain with those of some rows; returns the number of pairs so far."""
    after, found = work.next, k
    x, y, z = after.position[i, 0], after.position[i, 1], after.position[i, 2]
    reach = after.position[i, 3] + system.skin
    for j in range(first, end):
        e0, e1, e2 = x - after.position[j, 0], y - after.position[j, 1], z - after.position[j, 2]
        near = reach + after.position[j, 3]
        if e0 * e0 + e1 * e1 + e2 * e2 < near * near and are_apart(after, i, j):
            if found < after.pair_other.shape[0]:
                after.pair_other[found] = j
            found += 1
    work.compared[0] += end - first
    return found


@inlined
def _list_boundaries(system: System, state: State, work: Workspace):
    """Lists the shapes near each grain of `work.next`; returns the number of contacts, as `_list_pairs`."""
    after, boundaries = work.next, system.boundaries
    room, k = after.boundary_shape.shape[0], 0
    for b in range(after.gap.shape[0]):
        after.gap[b] = _FAR
    for i in range(after.number[0]):
        after.boundary_start[i] = k
        reach = after.position[i, 3] + system.skin
        for s in range(boundaries.kind.shape[0]):
            y = to_body(state, boundaries.body[s], after.position[i, 0], after.position[i, 1], after.position[i, 2])
            gap = shape_gap(boundaries, s, y) - reach
            after.gap[boundaries.body[s]] = min(after.gap[boundaries.body[s]], max(gap, 0.0))
            if gap < 0.0:
                for _ in range(boundaries.slots[s]):
                    if k < room:
                        after.boundary_shape[k] = s
                    k += 1
    after.boundary_start[after.number[0]] = k
    return k


@inlined
def _carry_pairs(state: State, work: Workspace):
    """Copies the memory of touching pairs to their new places.

    Forces on the first grain change their sign where the grains change sides; displacements of rolling and twisting
    are the same seen from either.
    """
    after, width = work.next, state.pair_history.shape[1]
    for k in range(after.listed[0]):
        for c in range(width):
            after.pair_history[k, c] = 0.0
    for i in range(state.number[0]):
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            first, second = work.renamed[i], work.renamed[state.pair_other[k]]
            if state.pair_history[k, 3] == 0.0 or first < 0 or second < 0:
                continue
            sign = 1.0
            if second < first:
                first, second, sign = second, first, -1.0
            for m in range(after.pair_start[first], after.pair_start[first + 1]):
                if after.pair_other[m] == second:
                    for c in range(width):
                        turns = c < 3 or c >= SHEAR
                        after.pair_history[m, c] = state.pair_history[k, c] * (sign if turns else 1.0)


@inlined
def _carry_boundaries(state: State, work: Workspace):
    """Copies the memory of contacts with boundaries to their new places."""
    after, width = work.next, state.boundary_history.shape[1]
    for k in range(after.listed[1]):
        for c in range(width):
            after.boundary_history[k, c] = 0.0
    for i in range(state.number[0]):
        first = work.renamed[i]
        if first < 0:
            continue
        m, end = after.boundary_start[first], after.boundary_start[first + 1]
        for k in range(state.boundary_start[i], state.boundary_start[i + 1]):
            # both lists are in the order of the shapes, with the same number of contacts for each
            while m < end and after.boundary_shape[m] < state.boundary_shape[k]:
                m += 1
            if m < end and after.boundary_shape[m] == state.boundary_shape[k]:
                for c in range(width):
                    after.boundary_history[m, c] = state.boundary_history[k, c]
                for c in range(4):
                    after.boundary_contact[m, c] = state.boundary_contact[k, c]
                m += 1


@inlined
def _take_over(state: State, work: Workspace):
    """Replaces the state's grains and lists by those of `work.next`."""
    after, width = work.next, state.pair_history.shape[1]
    n = after.number[0]
    state.number[0], state.listed[0], state.listed[1] = n, after.listed[0], after.listed[1]
    for i in range(n):
        for c in range(4):
            state.position[i, c] = after.position[i, c]
            state.velocity[i, c] = after.velocity[i, c]
            state.spin[i, c] = after.spin[i, c]
        for c in range(3):
            state.built[i, c], state.rest[i, c] = after.position[i, c], after.rest[i, c]
            state.offset[i, c] = after.offset[i, c]
        state.material[i], state.ident[i] = after.material[i], after.ident[i]
        state.still[i], state.asleep[i], state.clump[i] = after.still[i], after.asleep[i], after.clump[i]
    for i in range(n + 1):
        state.pair_start[i], state.boundary_start[i] = after.pair_start[i], after.boundary_start[i]
    for k in range(after.listed[0]):
        state.pair_other[k] = after.pair_other[k]
        for c in range(width):
            state.pair_history[k, c] = after.pair_history[k, c]
    for k in range(after.listed[1]):
        state.boundary_shape[k] = after.boundary_shape[k]
        for c in range(width):
            state.boundary_history[k, c] = after.boundary_history[k, c]
        for c in range(4):
            state.boundary_contact[k, c] = after.boundary_contact[k, c]
    state.stale[0] = 0


@inlined
def _measure_reach(system: System, state: State, work: Workspace):
    """Starts to measure the travel of the bodies' points near grains; a turn moves the farthest most."""
    for b in range(state.travel.shape[0]):
        farthest = 0.0
        for i in range(state.number[0]):
            square = 0.0
            for c in range(3):
                square += (state.position[i, c] - state.body_position[b, c]) ** 2
            farthest = max(farthest, math.sqrt(square) + state.position[i, 3] + system.skin)
        state.gap[b] = work.next.gap[b]
        state.travel[b], state.reach[b] = 0.0, min(farthest, system.boundaries.extent[b])
