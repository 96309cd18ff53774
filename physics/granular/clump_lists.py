"""Rows of clumps: which spheres belong together, and clumps that go."""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import State, Workspace


@inlined
def are_apart(state: State, i, j):
    """Whether two grains are not spheres of one clump."""
    return state.clump[i] < 0 or state.clump[i] != state.clump[j]


@kernel
def remove_whole_clumps(state: State, work: Workspace):
    """Marks all spheres of a clump of which one is to be removed: their `ident` is -1."""
    gone = work.clump_mark
    for c in range(state.clumps[0]):
        gone[c] = 0
    for i in range(state.number[0]):
        if state.clump[i] >= 0 and state.ident[i] < 0:
            gone[state.clump[i]] = 1
    for i in range(state.number[0]):
        if state.clump[i] >= 0 and gone[state.clump[i]]:
            state.ident[i] = -1


@kernel
def drop_clumps(state: State, work: Workspace):
    """Removes the clumps without spheres; the others keep their order."""
    number = work.clump_mark
    for c in range(state.clumps[0]):
        number[c] = -1
    for i in range(state.number[0]):
        if state.clump[i] >= 0:
            number[state.clump[i]] = 0
    left = 0
    for c in range(state.clumps[0]):
        if number[c] == 0:
            _copy(state, c, left)
            number[c] = left
            left += 1
    if left < state.clumps[0]:
        for i in range(state.number[0]):
            if state.clump[i] >= 0:
                state.clump[i] = number[state.clump[i]]
        state.clumps[0] = left


@inlined
def _copy(state: State, c, to):
    for k in range(3):
        state.clump_position[to, k] = state.clump_position[c, k]
        state.clump_momentum[to, k] = state.clump_momentum[c, k]
        state.clump_inertia[to, k] = state.clump_inertia[c, k]
    for k in range(4):
        state.clump_turn[to, k] = state.clump_turn[c, k]
        state.clump_velocity[to, k] = state.clump_velocity[c, k]
