"""Which coordinates the mass matrix couples: its blocks, the pattern of their factor, and the trees without entries."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from grouser.physics.model.multibody import MultibodyModel


def bodies_between(parent, body: int, other: int) -> Iterator[int]:
    """The bodies with joints that move two bodies (-1: the world) relative to each other, deepest first."""
    while body != other:
        # the later body is the deeper one, or on another branch: climb from it
        climbing = int(max(body, other))
        yield climbing
        body, other = min(body, other), parent[climbing]


def moving_rates(parent, column_start, column_rate, body: int, other: int) -> list[int]:
    """Coordinate rates that move two bodies (-1: the world) relative to each other, ascending."""
    return sorted(
        {
            int(rate)
            for between in bodies_between(parent, body, other)
            for rate in column_rate[column_start[between] : column_start[between + 1]]
        }
    )


def elimination_pattern(parent, column_start, column_rate, with_entries, loops):
    """Off-diagonal pattern of L in L^T L = M, row by row, with the fill-in of the elimination.

    A coordinate is coupled with those of its own body and of every body between it and the world (Featherstone 2008,
    section 6.5); a coordinate that moves several bodies couples all of their chains, which elimination from the last
    coordinate to the first then fills in. A loop couples all coordinates between its two bodies, `loops`. Coordinates
    for which `with_entries` is false have no rows.
    """
    rows = [set() for _ in with_entries]
    rates, starts = column_rate.tolist(), column_start.tolist()
    for body in range(len(parent)):
        own = rates[starts[body] : starts[body + 1]]
        if not with_entries[own[0]]:
            continue
        chain, above = list(own), parent[body]
        while above >= 0:
            chain += rates[starts[above] : starts[above + 1]]
            above = parent[above]
        for a in own:
            rows[a].update(b for b in chain if b < a)
            for b in chain:
                if b > a:
                    rows[b].add(a)
    for between in loops:
        for k in between:
            rows[k].update(i for i in between if i < k)
    for row in reversed(rows):
        if row:
            # what couples with the last of them couples with the others as well when that is eliminated
            nearest = max(row)
            rows[nearest].update(row - {nearest})
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    return start, np.array([j for row in rows for j in sorted(row)], dtype=np.int64)


def blocks(parent, column_start, column_rate, count, loops):
    """First and last (exclusive) coordinate of the block of the mass matrix that each coordinate belongs to.

    Blocks are ranges: those of trees whose coordinates alternate are one. `loops` lists the coordinates between the
    bodies of each loop joint.
    """
    reach = np.arange(count) + 1
    coupled = [between for between in loops if between]
    for body, above in enumerate(parent):
        own = list(column_rate[column_start[body] : column_start[body + 1]])
        coupled.append(own if above < 0 else [*own, column_rate[column_start[above]]])
    for rates in coupled:
        reach[min(rates)] = max(reach[min(rates)], max(rates) + 1)
    first, last = np.zeros((2, count), dtype=np.int64)
    begin = 0
    while begin < count:
        end, d = reach[begin], begin
        while d < end:
            end = max(end, reach[d])
            d += 1
        first[begin:end], last[begin:end] = begin, end
        begin = end
    return first, last


def long_trees(parent, column_start, column_rate, rate_first, rate_last, coupled, most):
    """First and last (exclusive) body of each tree that costs more than a chain of `most` coordinates.

    Nothing but inertia couples its coordinates: its bodies share none with one another or with those of other trees,
    nor is one of them in `coupled`. The cost is that of the factor with entries, the sum of the squares of the numbers
    of coordinates from each one to the root. A walking machine of 40 coordinates costs as much as a chain of 25.
    """
    depth = _depths(parent, column_start)
    uses, roots = np.bincount(column_rate), [body for body, above in enumerate(parent) if above < 0]
    trees = []
    for first, last in pairwise([*roots, len(parent)]):
        rates = column_rate[column_start[first] : column_start[last]]
        block = rate_first[rates[0]], rate_last[rates[0]]
        own = block == (rates[0], rates[0] + len(rates)) and (uses[rates] == 1).all()
        cost = int((depth[column_start[first] : column_start[last]] ** 2).sum())
        if own and cost > most * (most + 1) * (2 * most + 1) // 6 and coupled.isdisjoint(range(first, last)):
            trees.append((first, last))
    return trees


def _depths(parent, column_start):
    """Number of the columns from each column to the root, itself included, (columns,)."""
    depth, above = np.zeros(column_start[-1], dtype=np.int64), [0] * len(parent)
    for body, one in enumerate(parent):
        below = above[one] if one >= 0 else 0
        first, last = column_start[body], column_start[body + 1]
        depth[first:last] = below + 1 + np.arange(last - first)
        above[body] = below + int(last - first)
    return depth


def runs(trees, column_start, column_rate, count):
    """Run of each coordinate, starts and trees of the runs: those of the trees, and those between them."""
    if not trees:
        return np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    start, bodies = [0], []
    for first, last in trees:
        begin = int(column_rate[column_start[first]])
        if begin > start[-1]:
            start.append(begin)
            bodies.append((0, 0))
        start.append(begin + int(column_start[last] - column_start[first]))
        bodies.append((first, last))
    if start[-1] < count:
        start.append(count)
        bodies.append((0, 0))
    return np.repeat(np.arange(len(bodies)), np.diff(start)), np.array(start), np.array(bodies)


def with_entries(model: MultibodyModel) -> MultibodyModel:
    """The same model with entries in all blocks of the mass matrix and its factor, whatever their size."""
    count = len(model.rate_first)
    known = [
        [*(model.rate_first[k] + model.pattern[model.pattern_start[k] : model.pattern_start[k + 1]]), k]
        for k in range(count)
    ]
    rate_run, run_start, run_tree = runs([], model.column_start, model.column_rate, count)
    pattern_start, pattern = elimination_pattern(
        model.body_parent, model.column_start, model.column_rate, np.ones(count, dtype=np.bool_), known
    )
    changed = {
        "rate_entries": np.arange(count) - model.rate_first,
        "rate_run": rate_run,
        "run_start": run_start,
        "run_tree": run_tree,
        "pattern_start": pattern_start,
        "pattern": pattern - np.repeat(model.rate_first, np.diff(pattern_start)),
    }
    for array in changed.values():
        array.flags.writeable = False
    return model._replace(**changed)
