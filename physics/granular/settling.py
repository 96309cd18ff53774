"""Grains that come to rest between ground and obstacles; beds are settled once and kept."""

from collections.abc import Sequence

import numpy as np

import grouser.physics.granular
from grouser.physics.base.kept_states import keep, key_of, recall
from grouser.physics.granular.arrays import State
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.pairs import PairSurfaces

# Grains are at rest below this share of the speed of a fall by the least radius [-]; sought after so much time [s].
_REST, _LOOK = 0.01, 0.05
# Skin of the lists by the largest radius [-]: machines and what falls move fast.
SKIN = 0.4
# Kind of state that is kept.
_BEDS = "beds"


def settled(
    grains: Sequence[Grains],
    table: PairSurfaces,
    world: Sequence[Boundary],
    gravity: Sequence[float],
    step: float,
    longest: float,
) -> GranularBed:
    """A bed after its grains have come to rest, or after the longest time.

    Args:
        grains: at their start.
        table: of their materials.
        world: ground and obstacles, all at rest.
        gravity: [m/s2].
        step: of the contacts [s].
        longest: time [s]; 0: the start.
    """
    bed = GranularBed(
        grains, list(table.materials), table.surfaces, world, gravity, step, default_surface=table.default, skin=SKIN
    )
    if longest == 0.0:
        return bed
    key = key_of(grouser.physics.granular, (bed.system, bed.state, bed.step_size, longest))
    kept = recall(_BEDS, key, State)
    if kept is None:
        _settle(bed, longest)
        keep(_BEDS, key, bed.state)
    else:
        bed.restore(kept)
    return bed


def _settle(bed: GranularBed, longest: float) -> None:
    slow = _REST * float(np.sqrt(np.linalg.norm(bed.system.gravity) * bed.radius.min()))
    while bed.time < longest:
        bed.step(max(1, round(_LOOK / bed.step_size)))
        if np.abs(bed.velocity).max() < slow:
            break
