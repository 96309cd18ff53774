"""What soft ground and the wheels on it can be asked for: arrays -> records."""

import math
from collections.abc import Iterator

import numpy as np

from grouser.physics.description.machine import Machine, World
from grouser.physics.description.soil import beyond_validity
from grouser.physics.description.soil_checks import check_level
from grouser.physics.measurements import TerrainPatch, WheelState
from grouser.physics.model import Model
from grouser.physics.packed import Packed
from grouser.physics.soil.equilibrium import sinkage_under_load, steady_motion
from grouser.physics.soil.stress import GROUSER_SHARE
from grouser.physics.soil.tiles import LEVEL, PRESSURE, SIDE, SURFACE, TILE, TYPE, fill_natural_levels
from grouser.physics.soil.wheels import FIGURES, RESISTANCE, THRUST, WheelWorkspace
from grouser.physics.state import State
from grouser.physics.step import System

# Sinkage at which soil counts as bearing nothing any more, as a share of the wheel's radius [-].
_STUCK = 0.5


def check_soils(machine: Machine, world: World) -> tuple[str, ...]:
    """Checks that every soil has the numbers for every wheel's level; warns of wheels that these do not hold for.

    Raises:
        ParameterError: a soil has no numbers for a wheel's level.
    """
    ground = world.ground.soil if world.ground else None
    if ground is None:
        return ()
    warnings = []
    for soil in ground.soils:
        for wheel in machine.wheels:
            check_level(soil, wheel.level or ground.level)
        found = [beyond_validity(soil, width=w.width, diameter=2.0 * w.radius) for w in machine.wheels]
        warnings += [beyond for beyond in found if beyond][:1]
    return tuple(warnings)


def beyond_soils(world: World, work: WheelWorkspace) -> Iterator[tuple[str, str]]:
    """Soils that were pressed harder, or deeper, than their numbers hold for: name, and what to say of it."""
    ground = world.ground.soil if world.ground else None
    reached = zip(work.greatest_pressure.tolist(), work.greatest_sinkage.tolist(), strict=True)
    for soil, (pressure, sinkage) in zip(ground.soils if ground else (), reached, strict=True):
        beyond = beyond_validity(soil, pressure=pressure, sinkage=sinkage)
        if beyond:
            yield soil.name, beyond


def wheel_state(figure: np.ndarray) -> WheelState:
    """What a row of `WheelWorkspace.figure` says."""
    return WheelState(
        **dict(zip(FIGURES, figure.tolist(), strict=True)), drawbar_pull=float(figure[THRUST] - figure[RESISTANCE])
    )


def terrain_patch(system: System, state: State) -> TerrainPatch:
    """The soft ground that has been opened around the wheels since the start."""
    wheels, count = system.wheels, int(state.tile_count[0])
    layers = state.soil_cell[: count * TILE].reshape(count, TILE // SIDE**2, SIDE, SIDE)
    level, surface, pressure, kind = (layers[:, layer // SIDE**2].ravel() for layer in (LEVEL, SURFACE, PRESSURE, TYPE))
    in_tile = np.moveaxis(np.mgrid[:SIDE, :SIDE], 0, -1)
    cells = (state.tile_place[:count, np.newaxis, np.newaxis, :] * SIDE + in_tile).reshape(-1, 2)
    soft = kind >= 0.0
    level, surface, pressure, cells = level[soft], surface[soft], pressure[soft], cells[soft]
    number = kind[soft].astype(np.int64)
    x, y = (cells * wheels.cell[0]).T
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    natural = np.empty(len(x))
    fill_natural_levels(Packed(system.collision.terrain), x, y, natural)
    return TerrainPatch(
        cell=float(wheels.cell[0]),
        x=x,
        y=y,
        z=surface,
        sinkage=level - surface,
        rut=natural - surface,
        pressure=pressure,
        bearing_margin=bearing_margins(system)[number],
    )


def bearing_margins(system: System) -> np.ndarray:
    """How far each soil is from giving way under the machine's wheels, 1: not at all, 0: half a radius, (soils,).

    The machine's weight is shared by its wheels alike, and they roll without slip.
    """
    model: Model = system.model
    wheels = system.wheels
    weight = float(model.body_mass.sum() * np.linalg.norm(model.gravity))
    margins = np.ones(len(wheels.soils.exponent))
    for k in range(len(margins)):
        for w in range(len(wheels.body)):
            radius = float(wheels.radius[w])
            sinkage = sinkage_under_load(
                wheels.soils,
                k,
                radius,
                2.0 * float(wheels.half_width[w]),
                radius + GROUSER_SHARE * float(wheels.grouser_height[w]),
                weight / len(wheels.body),
                0.0,
                steady_motion(0.0),
                float(np.linalg.norm(model.gravity)),
                float(wheels.friction[w]),
            )
            margin = 0.0 if math.isnan(sinkage) else max(1.0 - sinkage / (_STUCK * radius), 0.0)
            margins[k] = min(margins[k], margin)
    return margins
