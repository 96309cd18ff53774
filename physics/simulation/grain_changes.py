"""Grains that come into a simulation and go, from Python."""

from collections.abc import Sequence

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.granular import GranularMedia
from grouser.physics.description.data.world import RESOLVED
from grouser.physics.granular.free_places import is_free
from grouser.physics.granular.grain_rows import (
    Grains,
    grain_rows,
    least_share,
    mark_removed,
    require_no_larger,
    with_more_grains,
)
from grouser.physics.granular.medium import require_short_step
from grouser.physics.granular.room import mass_of_lumps
from grouser.physics.granular.sources import wake_beside_gone
from grouser.physics.integrators.context import State
from grouser.physics.multibody.kinematics import update_kinematics
from grouser.physics.simulation.engine import Engine


def add_grains(engine: Engine, grains: Grains | Sequence[Grains]) -> np.ndarray:
    """Adds grains where they touch nothing; returns their numbers.

    Raises:
        ParameterError: names the grain, and what is valid; the simulation is as it was.
    """
    media, room = _media(engine), engine.setup.system.granular
    rows = grain_rows(grains, media.materials)
    radius, before = rows["position"][:, 3], engine.state
    require_no_larger(radius, float(room.grains.class_radius[-1]))
    if radius.min() < 2.0 * room.grains.soil_cell:
        raise ParameterError("radius", radius.min(), RESOLVED)
    require_short_step(room, media, radius, rows["material"], least_share(grains), engine.step_size)
    state, numbers = with_more_grains(before.granular.grains, rows)
    engine.use_state(before._replace(granular=before.granular._replace(grains=state)))
    place_bodies(engine, engine.state)
    first = int(state.number[0]) - len(numbers)
    taken = next((i for i in range(first, first + len(numbers)) if not _is_free(engine, i)), None)
    if taken is not None:
        engine.use_state(before)
        place = tuple(rows["position"][taken - first, :3].tolist())
        valid = "a place where it touches neither grains, nor ground, obstacles or links"
        raise ParameterError(f"position of grain {taken - first} [m]", place, valid)
    return numbers


def remove_grains(engine: Engine, numbers: np.ndarray | Sequence[int]) -> float:
    """Removes grains, and clumps of which a sphere is removed, and wakes those beside; returns their mass [kg].

    Raises:
        ParameterError: there is no such grain.
    """
    _media(engine)
    system, state = engine.setup.system.granular, engine.state
    lumps = mass_of_lumps(system, state.granular)
    mass = mark_removed(state.granular.grains, numbers)
    state.digging.departed[0] += lumps - mass_of_lumps(system, state.granular)
    wake_beside_gone(Packed(state.granular.grains))
    return mass


def place_bodies(engine: Engine, state: State) -> None:
    """Moves the boundaries of the grains of a state to the links."""
    update_kinematics(engine.packed.multibody, state.q, state.v, engine.kinematics)
    kinematics, grains = engine.kinematics, state.granular.grains
    for b, body in enumerate(engine.setup.system.granular.body.tolist()):
        if body >= 0:
            grains.body_position[b] = kinematics.origin + kinematics.position[body]
            grains.body_rotation[b] = kinematics.rotation[body]


def _is_free(engine: Engine, i: int) -> bool:
    """Whether a row touches nothing; for the spheres of a clump only rows before the clump count."""
    clump = engine.state.granular.grains.clump
    others = i if clump[i] < 0 else int(np.flatnonzero(clump == clump[i])[0])
    return bool(is_free(engine.context, i, others))


def _media(engine: Engine) -> GranularMedia:
    media = engine.setup.world.grains
    if media is None:
        raise ParameterError("grains", None, "in a world with the key `granular`, which has their materials")
    return media
