"""Grains that come to rest between ground and obstacles; beds are settled once and kept."""

import functools
import hashlib
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import grouser.physics.granular
from grouser.physics.base.import_closure import write_whole
from grouser.physics.base.kernel_cache import cache_home, can_keep
from grouser.physics.base.trees import leaves
from grouser.physics.granular.arrays import State
from grouser.physics.granular.bed import Grains, GranularBed
from grouser.physics.granular.bodies import Boundary
from grouser.physics.granular.pairs import PairSurfaces

# Grains are at rest below this share of the speed of a fall by the least radius [-]; sought after so much time [s].
_REST, _LOOK = 0.01, 0.05
# Skin of the lists by the largest radius [-]: machines and what falls move fast.
_SKIN = 0.4
# Beds that are kept on disk.
_KEPT = 32


def settled(
    grains: Grains,
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
        grains, list(table.materials), table.surfaces, world, gravity, step, default_surface=table.default, skin=_SKIN
    )
    if longest == 0.0:
        return bed
    key = _key(bed, longest)
    kept = _recall(key)
    if kept is None:
        _settle(bed, longest)
        _keep(key, bed.state)
    else:
        bed.restore(kept)
    return bed


def _settle(bed: GranularBed, longest: float) -> None:
    slow = _REST * float(np.sqrt(np.linalg.norm(bed.system.gravity) * bed.radius.min()))
    while bed.time < longest:
        bed.step(max(1, round(_LOOK / bed.step_size)))
        if np.abs(bed.velocity).max() < slow:
            break


def _key(bed: GranularBed, longest: float) -> str:
    """Digest of all that a settled bed depends on, the code included."""
    digest = hashlib.sha256(_code())
    for leaf in (*leaves(bed.system), *leaves(bed.state)):
        digest.update(np.asarray(leaf).tobytes())
    digest.update(np.array([bed.step_size, longest]).tobytes())
    return digest.hexdigest()[:32]


@functools.cache
def _code() -> bytes:
    """Digest of the files of this folder."""
    digest = hashlib.sha256()
    for file in sorted(Path(grouser.physics.granular.__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def _recall(key: str) -> State | None:
    """A bed that is kept; None without one that can be read."""
    try:
        content = np.load(_file(key), allow_pickle=False)
        return State(*(content[name] for name in State._fields))
    except (OSError, ValueError, KeyError, EOFError):
        return None


def _keep(key: str, state: State) -> None:
    """Keeps a bed if the cache can be written to; the oldest ones make room."""
    if not can_keep():
        return
    content = io.BytesIO()
    np.savez_compressed(content, **state._asdict())
    file = _file(key)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content.getvalue())
    others = sorted(file.parent.glob("*.npz"), key=os.path.getmtime)
    for old in others[:-_KEPT]:
        old.unlink(missing_ok=True)


def _file(key: str) -> Path:
    return cache_home() / "beds" / f"{key}.npz"
