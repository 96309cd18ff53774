"""Forces of soil on shovels, and the balance of its mass."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from grouser.physics.base.spatial import cross_product
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.digging.bulk import LOADED
from grouser.physics.digging.cutting import ADVANCE, DEPTH_IN_ROCK
from grouser.physics.digging.flight import HALF_X, HALF_Y, LOT, Y, Z
from grouser.physics.digging.flight import MASS as LOT_MASS
from grouser.physics.digging.flight import X as LOT_X
from grouser.physics.digging.plate import X
from grouser.physics.digging.resistance import BEAR, CUT, PENETRATE
from grouser.physics.digging.room import mass_by_shovel
from grouser.physics.granular.room import mass_of_lumps
from grouser.physics.integrators.context import State, System, Workspace
from grouser.physics.readings.measurements import DiggingForce, SoilBalance
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.strata import field_mass, heaped_mass

# Displaced mass below which residuals are compared with this one: rounding of ground that nothing has touched [kg].
_LEAST = 1e-3


def digging_force(system: System, state: State, workspace: Workspace, tool: int) -> DiggingForce:
    """Force of soil on a shovel in the last step.

    Args:
        system, state, workspace: after the last step, in a world with soil.
        tool: number of the shovel.
    """
    work, origin = workspace.digging, workspace.multibody.kinematics.origin
    wrench = work.force[tool] @ work.resistance.wrench[tool]
    edge = work.pose[tool, X : X + 3] - origin
    separation, penetration, side = work.force[tool, :BEAR].tolist()
    bank = float(state.digging.taken[tool, LOADED] / system.soil.soils.density[0])
    spent = -float(state.digging.work[tool, [CUT, PENETRATE]].sum())
    inertia = float(work.inertia[tool])
    return DiggingForce(
        separation=separation - inertia,
        penetration=penetration,
        bearing=float(work.force[tool, BEAR:].sum()),
        side=side,
        inertia=inertia,
        force_world=wrench[:3],
        moment_world=wrench[3:] - cross_product(edge, wrench[:3]),
        depth=float(work.resistance.depth[tool]),
        specific_energy=spent / bank if bank > 0.0 else math.nan,
    )


def beyond_digging(
    shovels: Sequence[Shovel], work: Workspace, cell: float, step: float, warned: set[str]
) -> Iterator[str]:
    """Warnings of shovels whose motion was beyond the model, each once.

    Args:
        shovels: of the machine.
        work: of the steps.
        cell: spacing of the cells [m].
        step: [s].
        warned: messages that have been given, changed.
    """
    for shovel, found in zip(shovels, work.digging.furthest, strict=False):
        messages = []
        if found[ADVANCE] > 1.0:
            messages.append(f"is faster than a cell a step, {cell / step:.3g} m/s: slides lag behind it")
        if found[DEPTH_IN_ROCK] > 0.0:
            messages.append(
                "went through rigid ground, of which nothing is cut: its link has no collision shapes there"
            )
        for message in messages:
            told = f'shovel "{shovel.name}" {message}'
            if told not in warned:
                warned.add(told)
                yield told


def no_digging_force() -> DiggingForce:
    """Of a shovel on rigid ground."""
    return DiggingForce(0.0, 0.0, 0.0, 0.0, 0.0, np.zeros(3), np.zeros(3), 0.0, math.nan)


def falling_soil(state: State, tools: np.ndarray) -> np.ndarray:
    """Lots of soil in the air that left some shovels, as of `MachineView.falling_soil`, (lots, 6)."""
    digging = state.digging
    lots = [digging.air[t, : digging.air_count[t]] for t in tools.tolist() if t < len(digging.air)]
    return np.concatenate([np.zeros((0, LOT)), *lots])[:, [LOT_X, Y, Z, HALF_X, HALF_Y, LOT_MASS]]


def soft_ground(system: System) -> SoftGround:
    """The ground of a world with soil."""
    gravity = -float(system.multibody.gravity[2])
    return SoftGround(system.soil.soils, system.contact.terrain, float(system.soil.cell[0]), gravity)


def soil_balance(system: System, state: State, initial: State) -> SoilBalance:
    """Balance of the solid mass of soil, in a world with soil.

    Args:
        system: the arrays.
        state: now.
        initial: at the start, with the heaps of the world.
    """
    ground = soft_ground(system)
    digging = state.digging
    field, departed = float(field_mass(ground, state.soil)), float(digging.departed[0])
    carried, falling = (float(masses.sum()) for masses in mass_by_shovel(digging))
    lumps = mass_of_lumps(system.granular, state.granular)
    taken, heaps = carried + falling + lumps + departed, float(field_mass(ground, initial.soil))
    displaced, residual = float(heaped_mass(ground, state.soil)) + taken, field + taken - heaps
    relative = residual / max(displaced, _LEAST)
    return SoilBalance(field, carried, falling, lumps, departed, displaced, heaps, residual, relative)
