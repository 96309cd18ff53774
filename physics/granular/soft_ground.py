"""Grains on soft ground: each presses the cells below it as a small wheel does.

A cell is a column that gives way by Bekker's law (1969), to the depth of the grain's lower side at its centre. Its
force on the grain is p A times the gradient of this depth by the grain's place: the work is that on the column, and
no energy appears. Beyond 60 degrees from the lowest point the lower side goes on as the cone that touches the sphere
there, so that depths begin at zero. What has yielded keeps its sinkage, as under wheels; what does not yield is
damped as the surface of the materials says. The width of Bekker's law is the radius of the cap below the level of the
ground. The sum of the columns acts through the centre; friction, up to the strength of the soil under the cap, acts
at the surface.
"""

import functools
import math

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.packed import Packed
from grouser.physics.granular.arrays import State, System, Workspace
from grouser.physics.granular.clump_motion import clump_mobility
from grouser.physics.granular.contact_law import friction_forces
from grouser.physics.granular.grain_force import add_grain_force
from grouser.physics.granular.pairs import DAMPING, FRICTION, NORMAL_LAW, VISCOELASTIC
from grouser.physics.soil.bekker_cell import bekker_pressure
from grouser.physics.soil.laws import Soils, make_soils, pressure_stiffness, shear_strength
from grouser.physics.soil.strata import press_surface, soil_of
from grouser.physics.soil.tiles import (
    LEVEL,
    PRESSURE,
    SINKAGE,
    SURFACE,
    TYPE,
    SoilState,
    cell_of,
    make_tiles,
    unloaded_sinkage,
)

# Distance from the centre up to which cells are pressed, by the radius: the cone is a sixth of it above the centre [-].
REACH = 1.25
# Square of the sine of the angle at which the cone begins, its slope, and its depth at the axis by the radius [-].
_BEGINS, _SLOPE, _TIP = 0.75, math.sqrt(3.0), 2.0


@functools.cache
def no_soft_ground() -> tuple[Packed, Packed]:
    """Soils and cells where there are none, packed."""
    wheels = {"wheel_motion": (0, 4), "rim_shear": (0, 1, 2), "wheel_sinkage": (0,), "wheel_elastic": (0, 3)}
    arrays = {name: np.zeros(shape) for name, shape in wheels.items()}
    cells = SoilState(**make_tiles(1), **arrays, soil_work=np.zeros(0), moved_soil=np.zeros(0))
    return Packed(make_soils(())), Packed(cells)


@kernel
def add_soil_force(
    system: System, s, state: State, i, k, soils: Soils, cells: SoilState, work: Workspace, step: float
):  # fmt: skip
    """Force of the cells below a grain on it; they yield.

    Args:
        system, s: the boundary, of the kind SOIL.
        state, i: the grain.
        k: its contact with the ground.
        soils: of the ground.
        cells: changed.
        work: force, torque and impulses are added.
        step: h [s].
    """
    spin, velocity, radius, history = state.spin, state.velocity, state.position[i, 3], state.boundary_history
    deepest = _deepest(system.soil_cell, state, i, cells)
    f0 = f1 = f2 = slope = strength = 0.0
    pair = state.material[i] * system.pairs.materials + system.boundaries.material[s]
    friction = system.pairs.constant[pair, FRICTION]
    mass, lag, before = (
        1.0 / clump_mobility(state, i, 0.0, 0.0, 1.0),
        system.pairs.constant[pair, DAMPING],
        history[k, 3],
    )
    if system.pairs.law[pair, NORMAL_LAW] != VISCOELASTIC:
        # by the slope of the last step
        lag *= math.sqrt(mass / before) if before > 0.0 else 0.0
    if deepest > 0.0:
        f0, f1, f2, slope, strength = _press(system.soil_cell, state, i, deepest, lag, friction, soils, cells, step)
    push = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    if push == 0.0:
        for c in range(history.shape[1]):
            history[k, c] = 0.0
        return
    n0, n1, n2 = f0 / push, f1 / push, f2 / push
    separation = velocity[i, 0] * n0 + velocity[i, 1] * n1 + velocity[i, 2] * n2
    slip = (
        velocity[i, 0] - separation * n0 - radius * (spin[i, 1] * n2 - spin[i, 2] * n1),
        velocity[i, 1] - separation * n1 - radius * (spin[i, 2] * n0 - spin[i, 0] * n2),
        velocity[i, 2] - separation * n2 - radius * (spin[i, 0] * n1 - spin[i, 1] * n0),
    )
    held = min(strength / friction, push) if friction > 0.0 else 0.0
    g0, g1, g2, m0, m1, m2 = friction_forces(
        system.pairs, pair, radius, mass, deepest, -separation, push, held, slope, lag * slope, (n0, n1, n2), slip,
        (spin[i, 0], spin[i, 1], spin[i, 2]), step, history, k,
    )  # fmt: skip
    contact = state.boundary_contact
    contact[k, 0], contact[k, 1], contact[k, 2] = f0, f1, f2
    f0, f1, f2 = push * n0 + g0, push * n1 + g1, push * n2 + g2
    add_grain_force(work, i, radius, (n0, n1, n2), (f0, f1, f2), (g0, g1, g2), (m0, m1, m2))
    b = system.boundaries.body[s]
    work.impulse[b, 0] -= step * f0
    work.impulse[b, 1] -= step * f1
    work.impulse[b, 2] -= step * f2


@inlined
def lower_side(square, radius):
    """Height of a grain's lower side over its centre at a distance from its axis.

    Args:
        square: of the distance [m2].
        radius: [m].

    Returns:
        Height [m], and its derivative by the distance over the distance [1/m].
    """
    if square <= _BEGINS * radius * radius:
        height = math.sqrt(radius * radius - square)
        return -height, 1.0 / height
    distance = math.sqrt(square)
    return _SLOPE * distance - _TIP * radius, _SLOPE / distance


@inlined
def window(spacing, x, y, reach):
    """First and last cells along x and y whose centres are within reach of a place."""
    return (
        int(math.ceil((x - reach) / spacing)),
        int(math.floor((x + reach) / spacing)),
        int(math.ceil((y - reach) / spacing)),
        int(math.floor((y + reach) / spacing)),
    )


@kernel
def _deepest(spacing, state: State, i, cells: SoilState):
    """Depth of a grain below the level of the cells that it touches [m]; 0 where it touches none."""
    x, y, z, radius = state.position[i, 0], state.position[i, 1], state.position[i, 2], state.position[i, 3]
    reach, cell, found = REACH * radius, cells.soil_cell, 0.0
    i_first, i_last, j_first, j_last = window(spacing, x, y, reach)
    for p in range(i_first, i_last + 1):
        for q in range(j_first, j_last + 1):
            square = (p * spacing - x) ** 2 + (q * spacing - y) ** 2
            at = cell_of(cells, p, q)
            if at >= 0 and square < reach * reach:
                height, _ = lower_side(square, radius)
                if z + height < cell[at + SURFACE]:
                    found = max(found, cell[at + LEVEL] - z - height)
    return found


@kernel
def _press(spacing, state: State, i, deepest, lag, friction, soils: Soils, cells: SoilState, step: float):
    """Presses the cells below a grain.

    Args:
        spacing: of the cells [m].
        state, i: the grain.
        deepest: its depth below their level [m].
        lag: damping of what does not yield, by its stiffness [s].
        friction: coefficient between grain and soil [-].
        soils, cells: of the ground.
        step: h [s].

    Returns:
        Force (3) [N], its elastic slope [N/m], and the greatest shear force [N].
    """
    x, y, z, radius = state.position[i, 0], state.position[i, 1], state.position[i, 2], state.position[i, 3]
    reach, cell, area = REACH * radius, cells.soil_cell, spacing * spacing
    sunk = min(deepest, radius)
    width = math.sqrt(sunk * (2.0 * radius - sunk))
    f0 = f1 = f2 = slope = strength = stiffness = 0.0
    known = -1
    i_first, i_last, j_first, j_last = window(spacing, x, y, reach)
    for p in range(i_first, i_last + 1):
        for q in range(j_first, j_last + 1):
            dx, dy = p * spacing - x, q * spacing - y
            square = dx * dx + dy * dy
            at = cell_of(cells, p, q)
            if at < 0 or square >= reach * reach:
                continue
            height, rise = lower_side(square, radius)
            if z + height >= cell[at + SURFACE]:
                continue
            soil = soil_of(cell, at)
            if soil != known:
                known, stiffness = soil, pressure_stiffness(soils, soil, width, soils.exponent[soil])
            unloading, growth, before = soils.unloading_stiffness[soil], soils.unloading_slope[soil], cell[at + SINKAGE]
            # beside soil, rigid ground is soil that does not yield
            yields = stiffness if cell[at + TYPE] >= 0.0 else math.inf
            depth = cell[at + LEVEL] - z - height
            pressure, _, sinkage, load = bekker_pressure(
                yields, soils.exponent[soil], unloading, growth, before, cell[at + PRESSURE], depth, step
            )
            if sinkage != before:
                press_surface(cell, at, sinkage, load, unloaded_sinkage(unloading, growth, sinkage, load))
            else:
                rate = rise * (dx * state.velocity[i, 0] + dy * state.velocity[i, 1]) - state.velocity[i, 2]
                damped = pressure + lag * (unloading + growth * sinkage) * rate if pressure > 0.0 else 0.0
                pressure = min(max(damped, 0.0), yields * depth ** soils.exponent[soil] if depth > 0.0 else 0.0)
            if pressure > 0.0:
                f0 -= area * pressure * rise * dx
                f1 -= area * pressure * rise * dy
                f2 += area * pressure
                slope += area * (unloading + growth * sinkage)
                strength += area * shear_strength(soils, soil, pressure, friction)
    return f0, f1, f2, slope, strength
