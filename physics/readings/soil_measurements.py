"""Records of soft ground and of the wheels on it, and warnings about soils."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.soil import Wheel, beyond_validity
from grouser.physics.description.data.track import Track
from grouser.physics.description.data.world import World
from grouser.physics.description.soils.checks import check_level
from grouser.physics.integrators.context import State, System
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import TerrainPatch, WheelState
from grouser.physics.soil.equilibrium import sinkage_under_load, steady_motion
from grouser.physics.soil.stress import GROUSER_SHARE
from grouser.physics.soil.tiles import LEVEL, LOOSE, PRESSURE, SIDE, SURFACE, TILE, TYPE, fill_natural_levels
from grouser.physics.soil.wheels import FIGURES, WheelWorkspace, grousers_merge
from grouser.physics.tracks.belts import PEAK_PRESSURE, TrackWorkspace

# Sinkage at which soil has no bearing margin left, as a share of the wheel's radius [-].
_STUCK = 0.5
# Sizes of cells that a level is meant for [m].
_CELLS = {"cells": (0.001, 0.01), "deformable": (0.005, 0.1)}
# Longest cells by the length of a shoe: of shoes that share one, some do not bear [-].
_CELL_OF_SHOE = 0.75
# Quantities to which soil and rigid ground both contribute.
_FORCES = ("normal_force", "thrust", "resistance", "drawbar_pull", "torque", "side_force")


class RunningGear(NamedTuple):
    """Numbers of the bodies of one machine, and of the wheels and tracks that carry it."""

    bodies: np.ndarray
    wheels: np.ndarray
    tracks: np.ndarray


def check_soils(machine: Machine, world: World) -> tuple[str, ...]:
    """Checks that every soil has the numbers for every wheel's level; warns where these or the level are not valid.

    Tracks are plates as wide as their shoes, and know no level; their cells are shorter than a shoe.

    Raises:
        ParameterError: a soil has no numbers for a wheel's level.
    """
    ground = world.soil
    if ground is None:
        return ()
    warnings = []
    for soil in ground.soils:
        for wheel in machine.wheels:
            check_level(soil, wheel.level or ground.level)
        found = [beyond_validity(soil, width=w.width, diameter=2.0 * w.radius) for w in machine.wheels]
        found += [beyond_validity(soil, width=track.width) for track in machine.tracks]
        warnings += [beyond for beyond in found if beyond][:1]
    for level in sorted({wheel.level or ground.level for wheel in machine.wheels} & _CELLS.keys()):
        wheels = [wheel for wheel in machine.wheels if (wheel.level or ground.level) == level]
        warnings.extend(_beyond_cells(level, wheels, ground.cell))
    short = [track for track in machine.tracks if ground.cell > _CELL_OF_SHOE * track.pitch]
    if short:
        others = f" (and {len(short) - 1} more)" if len(short) > 1 else ""
        warnings.append(
            f"cells of {1e3 * ground.cell:.3g} mm are long for shoes of {1e3 * short[0].pitch:.3g} mm on track "
            f'"{short[0].name}"{others}: of shoes on one cell some do not bear, so that resistance and thrust are too '
            f"small; {1e3 * _CELL_OF_SHOE * short[0].pitch:.3g} mm will do"
        )
    return tuple(warnings)


def _beyond_cells(level: str, wheels: list[Wheel], cell: float) -> Iterator[str]:
    """Warnings of cells that are too fine or too coarse for a level, or for the wheels on it."""
    least, greatest = _CELLS[level]
    if not least <= cell <= greatest:
        yield f"level {level} holds for cells of {1e3 * least:g} to {1e3 * greatest:g} mm, not {1e3 * cell:g} mm"
    merged = [wheel.link for wheel in wheels if grousers_merge(wheel, cell)]
    if merged:
        others = f" (and {len(merged) - 1} more)" if len(merged) > 1 else ""
        yield (
            f"cells of {1e3 * cell:g} mm do not tell the grousers of {merged[0]}{others} apart: "
            "on soil it is as large as their tips"
        )


def beyond_soils(world: World, work: WheelWorkspace, tracks: TrackWorkspace, warned: set[str]) -> Iterator[str]:
    """Warnings of soils loaded beyond the pressure or sinkage for which their parameters are valid, each once.

    Args:
        world: with the soils.
        work: of the wheels.
        tracks: of the tracks; their pressure is that of the last step.
        warned: names of the soils that have been warned of, changed.
    """
    if world.soil is None:
        return
    pressures = work.greatest_pressure.copy()
    for listed, soils, figure in zip(tracks.listed, tracks.soil, tracks.figure, strict=True):
        under = soils[:listed]
        # the peak of a track that also stands on rigid ground may be there
        if listed and under.min() >= 0:
            pressures[under] = np.maximum(pressures[under], figure[PEAK_PRESSURE])
    reached = zip(pressures.tolist(), work.greatest_sinkage.tolist(), strict=True)
    for soil, (pressure, sinkage) in zip(world.soil.soils, reached, strict=True):
        beyond = None if soil.name in warned else beyond_validity(soil, pressure=pressure, sinkage=sinkage)
        if beyond is not None:
            warned.add(soil.name)
            yield beyond


def with_soil(rigid: WheelState | None, figure: np.ndarray) -> WheelState:
    """State of a wheel that touches soil, rigid shapes, or both.

    Args:
        rigid: by its contacts alone; None without any.
        figure: of the soil, a row of `WheelWorkspace.figure`.
    """
    soil = dict(zip(FIGURES, figure.tolist(), strict=True))
    soil["drawbar_pull"] = soil["thrust"] - soil["resistance"]
    if rigid is None:
        return WheelState(**soil)
    return WheelState(**(soil | {name: soil[name] + getattr(rigid, name) for name in _FORCES}))


def terrain_patch(
    machine: Machine, system: System, state: State, places: np.ndarray, reach: float, gears: list[RunningGear]
) -> TerrainPatch:
    """The soft ground that has been opened around wheels, tracks and shovels since the start.

    Args:
        machine, system, state: of the simulation.
        places: x and y of the wheels, of the ends of the tracks and of the shovels' links [m], (places, 2).
        reach: of a tile's middle from one of these places along x and y, beside half a tile, at most [m].
        gears: of the machines whose bearing margin counts.
    """
    wheels, count = system.soil, int(state.soil.tile_count[0])
    side = SIDE * wheels.cell[0]
    middle = (state.soil.tile_place[:count] + 0.5) * side
    near = (np.abs(middle[:, np.newaxis] - places).max(2) <= reach + 0.5 * side).any(1)
    layers = state.soil.soil_cell[: count * TILE].reshape(count, TILE // SIDE**2, SIDE, SIDE)[near]
    wanted = (LEVEL, SURFACE, PRESSURE, LOOSE, TYPE)
    level, surface, pressure, loose, kind = (layers[:, layer // SIDE**2].ravel() for layer in wanted)
    in_tile = np.moveaxis(np.mgrid[:SIDE, :SIDE], 0, -1)
    cells = (state.soil.tile_place[:count][near, np.newaxis, np.newaxis, :] * SIDE + in_tile).reshape(-1, 2)
    soft = kind >= 0.0
    level, surface, pressure, loose, cells = (values[soft] for values in (level, surface, pressure, loose, cells))
    number = kind[soft].astype(np.int64)
    x, y = (cells * wheels.cell[0]).T
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    natural = np.empty(len(x))
    fill_natural_levels(Packed(system.contact.terrain), x, y, natural)
    return TerrainPatch(
        cell=float(wheels.cell[0]),
        x=x,
        y=y,
        z=surface,
        sinkage=level - surface,
        rut=natural - surface,
        pressure=pressure,
        loose=loose,
        bearing_margin=bearing_margins(machine, system, gears)[number],
    )


def bearing_margins(machine: Machine, system: System, gears: list[RunningGear]) -> np.ndarray:
    """Bearing margin of each soil under the machines, 1: no sinkage, 0: sinkage of half a radius, (soils,).

    A machine's weight is shared by its wheels and tracks alike. Wheels roll without slip; a track is a plate as wide as
    its shoes and as long as its longest straight run, and its radius is half its height.

    Args:
        machine, system: of the simulation.
        gears: of the machines.
    """
    model: MultibodyModel = system.multibody
    margins = np.ones(len(system.soil.soils.exponent))
    for bodies, wheels, tracks in gears:
        weight = float(model.body_mass[bodies].sum() * np.linalg.norm(model.gravity))
        load = weight / max(len(wheels) + len(tracks), 1)
        for k in range(len(margins)):
            found = [_bearing_margin(system, k, w, load) for w in wheels.tolist()]
            found += [_bearing_margin_of_track(machine.tracks[t], system, k, t, load) for t in tracks.tolist()]
            margins[k] = min([margins[k], *found])
    return margins


def track_ends(machine: Machine, names: Names, frames: tuple[np.ndarray, np.ndarray], tracks: np.ndarray) -> np.ndarray:
    """Both ends of tracks, in the middle of their shoes, x and y in the world [m], (2 tracks, 2).

    Args:
        machine, names: of the simulation.
        frames: of all links.
        tracks: their numbers.
    """
    rotation, position = frames
    carriers, ends = {joint.name: joint.parent for joint in machine.joints}, []
    for track in (machine.tracks[t] for t in tracks.tolist()):
        link, corners = names.link_index(carriers[track.sprocket]), track.path.outline
        for ahead in (corners[:, 0].min(), corners[:, 0].max()):
            place = np.array(track.origin) + ahead * np.array(track.ahead)
            ends.append((position[link] + rotation[link] @ place)[:2])
    return np.array(ends).reshape(-1, 2)


def _bearing_margin(system: System, k: int, w: int, load: float) -> float:
    """Bearing margin of soil k under wheel w, with a load [N] on it."""
    wheels, radius = system.soil, float(system.soil.radius[w])
    sinkage = sinkage_under_load(
        wheels.soils,
        k,
        radius,
        2.0 * float(wheels.half_width[w]),
        radius + GROUSER_SHARE * float(wheels.grouser_height[w]),
        load,
        0.0,
        steady_motion(0.0),
        float(np.linalg.norm(system.multibody.gravity)),
        float(wheels.friction[w]),
    )
    return 0.0 if math.isnan(sinkage) else max(1.0 - sinkage / (_STUCK * radius), 0.0)


def _bearing_margin_of_track(track: Track, system: System, k: int, t: int, load: float) -> float:
    """Bearing margin of soil k under track t, with a load [N] on it."""
    pressure = load / (track.width * track.path.longest_run)
    sinkage = (pressure / system.tracks.soil_stiffness[t, k]) ** (1.0 / system.soil.soils.exponent[k])
    radius = 0.5 * float(np.ptp(track.path.outline[:, 1]))
    return max(1.0 - float(sinkage) / (_STUCK * radius), 0.0)
