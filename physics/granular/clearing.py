"""Grains that a machine starts among: those inside its links are taken away."""

from grouser.physics.base.kernel import kernel
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.clump_lists import remove_whole_clumps
from grouser.physics.granular.manifold import DEPTH, find_points
from grouser.physics.granular.shapes import SOLIDS, shape_gap, to_body

# Depth in a solid from which a grain is taken away, by its radius [-].
_INSIDE = 0.1


@kernel
def remove_inside(system: System, state: State, work: Workspace, first):
    """Removes the grains inside the solids of bodies, which are where the state says, and clumps with such spheres.

    Args:
        system, state, work: of the grains; those removed get the number -1.
        first: body from which on solids count.

    Returns:
        Number of grains removed.
    """
    boundaries, removed = system.boundaries, 0
    for i in range(state.number[0]):
        radius, inside = state.position[i, 3], False
        for s in range(boundaries.kind.shape[0]):
            b = boundaries.body[s]
            if b < first or boundaries.kind[s] != SOLIDS or inside or state.ident[i] < 0:
                continue
            place = to_body(state, b, state.position[i, 0], state.position[i, 1], state.position[i, 2])
            if shape_gap(boundaries, s, place) < radius and find_points(boundaries, s, state, i, work) > 0:
                inside = work.manifold[0, DEPTH] > _INSIDE * radius
        if inside:
            state.ident[i] = -1
            state.stale[0] = 1
            removed += 1
    if removed > 0 and state.clumps[0] > 0:
        remove_whole_clumps(state, work)
        removed = 0
        for i in range(state.number[0]):
            removed += 1 if state.ident[i] < 0 else 0
    return removed
