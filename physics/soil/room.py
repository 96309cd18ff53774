"""Phases of soft ground and the wheels on it."""

from typing import Any

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, WHEEL, WHOLE
from grouser.physics.base.phases import MORE_TILES, NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.soil.contact import RIM_STEPS
from grouser.physics.soil.coupling import apply_wheel_forces, commit_wheels, needs_more_tiles
from grouser.physics.soil.tiles import SoilState, first_capacity, make_tiles
from grouser.physics.soil.wheels import Wheels

LABELS: Any = SoilState(
    tile_count=WHOLE,
    tile_place=WHOLE,
    tile_table=WHOLE,
    tile_restless=WHOLE,
    soil_cell=WHOLE,
    wheel_motion=WHEEL,
    rim_shear=WHEEL,
    wheel_sinkage=WHEEL,
    wheel_elastic=WHEEL,
    soil_work=ANEW,
    moved_soil=WHEEL,
)


def make_state(wheels: Wheels) -> SoilState:
    """Natural ground, and wheels that have not moved."""
    count = len(wheels.body)
    return SoilState(
        **make_tiles(first_capacity(int(wheels.tiles[0]))),
        wheel_motion=np.zeros((count, 4)),
        rim_shear=np.zeros((count, RIM_STEPS, 2)),
        wheel_sinkage=np.zeros(count),
        wheel_elastic=np.zeros((count, 3)),
        soil_work=np.zeros(count),
        moved_soil=np.zeros(count),
    )


def acts(wheels: Wheels) -> bool:
    """Whether there are wheels on soft ground, or tracks and shovels that open its tiles."""
    return wheels.tiles[0] > 0


def refused(wheels: Wheels) -> Refused:
    """Refused by smooth integrators: yielding and separation of soil are not smooth."""
    return present({"wheels on soil": len(wheels.body) > 0}, SMOOTH)


@kernel
def request(context: Context):
    """Requests larger arrays when a step might open more tiles than they can hold."""
    return MORE_TILES if needs_more_tiles(context.system.soil, context.state.soil) else NOTHING


@kernel
def apply_forces(context: Context):
    """Adds the soil's forces on every wheel at the predicted motion."""
    system, motion = context.system, context.workspace.multibody
    apply_wheel_forces(
        *(system.soil, system.multibody, system.contact.terrain, motion.kinematics, context.state.v),
        *(context.state.soil, system.settings.step, context.workspace.soil, motion.mass, motion.force),
    )


@kernel
def commit(context: Context):
    """Advances the soil by the motion of the step."""
    system, motion = context.system, context.workspace.multibody
    commit_wheels(
        *(system.soil, system.multibody, system.contact.terrain, motion.kinematics, motion.velocity),
        *(system.settings.step, context.state.soil, context.workspace.soil),
    )
    for w in range(system.soil.body.shape[0]):
        if context.workspace.soil.touched[w] > 0:
            motion.touched[system.soil.body[w]] = True


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.soil.soil_work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in the soil under each wheel."""
    for name, work in zip(ledger.owners.wheel, view.state.soil.soil_work, strict=False):
        ledger.add_loss(f"soil under {name}", -work)
