"""Grains and blocks inside of machines at the start."""

from grouser.physics.base.packed import Packed
from grouser.physics.blocks.masonry import block_names, least_extents, require_clear
from grouser.physics.blocks.near import deepest_overlap
from grouser.physics.blocks.room import place_links
from grouser.physics.granular.clearing import remove_inside
from grouser.physics.granular.room import mass_of_lumps
from grouser.physics.integrators.context import State
from grouser.physics.multibody.kinematics import update_kinematics
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.grain_changes import place_bodies


def clear_grains(engine: Engine, state: State) -> tuple[str, ...]:
    """Takes the grains away that are inside of machines; returns a warning if there are any.

    Args:
        engine: of the simulation.
        state: of it, with as many grains as the engine has room for; changed.
    """
    system = engine.setup.system.granular
    if not len(state.granular.grains.position):
        return ()
    place_bodies(engine, state)
    grains = state.granular.grains
    work = engine.context.workspace.granular.grains
    lumps = mass_of_lumps(system, state.granular)
    removed = remove_inside(engine.packed.granular.grains, Packed(grains), work, system.first_link)
    if not removed:
        return ()
    state.digging.departed[0] += lumps - mass_of_lumps(system, state.granular)
    return (f"{removed} of {len(grains.position)} grains are taken away: machines start where they are",)


def refuse_blocks_inside(engine: Engine, state: State) -> None:
    """Refuses machines that start inside of blocks.

    Args:
        engine: of the simulation.
        state: of it; the places of the links among the blocks are changed.

    Raises:
        ParameterError: it names the link and the block.
    """
    system, names = engine.setup.system.blocks, engine.setup.names
    if not system.free:
        return
    update_kinematics(engine.packed.multibody, state.q, state.v, engine.kinematics)
    packed, blocks = engine.packed.blocks, Packed(state.blocks.blocks)
    place_links(packed, blocks, engine.kinematics)
    overlap = deepest_overlap(packed.blocks, blocks, engine.context.workspace.blocks.blocks)
    links = [names.links[names.link_body.tolist().index(system.body[row])] for row in system.row]
    still = ["ground and obstacles"] * (system.first_link - system.free)
    owners = [*block_names(engine.setup.world.blocks), *still, *(f"the body of link '{link}'" for link in links)]
    require_clear(owners, least_extents(system.blocks), overlap)
