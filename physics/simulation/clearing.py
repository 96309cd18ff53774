"""Grains inside of machines that start among them."""

from grouser.physics.base.packed import Packed
from grouser.physics.granular.clearing import remove_inside
from grouser.physics.integrators.context import State
from grouser.physics.multibody.kinematics import update_kinematics
from grouser.physics.simulation.engine import Engine


def clear_grains(engine: Engine, state: State) -> tuple[str, ...]:
    """Takes the grains away that are inside of machines; returns a warning if there are any.

    Args:
        engine: of the simulation.
        state: of it, with as many grains as the engine has room for; changed.
    """
    system = engine.setup.system.granular
    if not len(state.granular.grains.position):
        return ()
    update_kinematics(engine.packed.multibody, state.q, state.v, engine.kinematics)
    kinematics, grains = engine.kinematics, state.granular.grains
    for b, body in enumerate(system.body.tolist()):
        if body >= 0:
            grains.body_position[b] = kinematics.origin + kinematics.position[body]
            grains.body_rotation[b] = kinematics.rotation[body]
    work = engine.context.workspace.granular.grains
    removed = remove_inside(engine.packed.granular.grains, Packed(grains), work, system.first_link)
    if not removed:
        return ()
    return (f"{removed} of {len(grains.position)} grains are taken away: machines start where they are",)
