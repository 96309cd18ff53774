"""What grains bear: the normal forces of their contacts."""

from grouser.physics.base.kernel import kernel
from grouser.physics.granular.arrays import State, System
from grouser.physics.granular.pairs import HOOKE, NORMAL_LAW, PairTable
from grouser.physics.granular.shapes import SOIL

# Elastic force of Hertz's law by its slope and the overlap.
_HERTZ = 2.0 / 3.0


@kernel
def find_loads(system: System, state: State, load):
    """Fills the sum of the elastic normal forces on each grain; those of soft ground are whole.

    Args:
        system, state: of the grains.
        load: of each row [N], (rows,).
    """
    boundaries, pairs, position = system.boundaries, system.pairs, state.position
    load[:] = 0.0
    for i in range(state.number[0]):
        row = state.material[i] * pairs.materials
        for k in range(state.pair_start[i], state.pair_start[i + 1]):
            if state.pair_history[k, 3] > 0.0:
                j = state.pair_other[k]
                square = 0.0
                for c in range(3):
                    square += (position[i, c] - position[j, c]) ** 2
                overlap = position[i, 3] + position[j, 3] - square**0.5
                force = _elastic(pairs, row + state.material[j], state.pair_history[k, 3], overlap)
                load[i] += force
                load[j] += force
        for k in range(state.boundary_start[i], state.boundary_start[i + 1]):
            if state.boundary_history[k, 3] > 0.0:
                s, contact = state.boundary_shape[k], state.boundary_contact
                if boundaries.kind[s] == SOIL:
                    load[i] += (contact[k, 0] ** 2 + contact[k, 1] ** 2 + contact[k, 2] ** 2) ** 0.5
                else:
                    pair = row + boundaries.material[s]
                    load[i] += _elastic(pairs, pair, state.boundary_history[k, 3], contact[k, 3])


@kernel
def _elastic(pairs: PairTable, p, slope, overlap):
    """Elastic force of a contact by its slope [N]."""
    return slope * max(overlap, 0.0) * (1.0 if pairs.law[p, NORMAL_LAW] == HOOKE else _HERTZ)
