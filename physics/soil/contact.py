"""Forces of the soil's cells on a wheel, and the deformation of the cells.

The cells' pressures are piecewise linear in the wheel's velocity, and their shear is smooth. Both enter the step as
force and slope at the velocity at its start; the solved velocity then advances the cells.
"""

import math

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.bekker_cell import bekker_pressure
from grouser.physics.soil.footprint import STEEPEST, extent
from grouser.physics.soil.laws import shear_strength, sinkage_exponent
from grouser.physics.soil.memory import shear_lead, speeds
from grouser.physics.soil.resistance import add_at
from grouser.physics.soil.shear import advance_shear, ground_tangents
from grouser.physics.soil.strata import press_surface
from grouser.physics.soil.tiles import (
    LEVEL,
    PRESSURE,
    SHEAR_X,
    SHEAR_Y,
    SINKAGE,
    TYPE,
    SoilState,
    unloaded_sinkage,
)
from grouser.physics.soil.visco_plastic import visco_plastic_pressure
from grouser.physics.soil.wheels import (
    AREA,
    CELLS,
    DEPTH,
    ENTRY,
    EXIT,
    NORMAL,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    PEAK_PRESSURE,
    PEAK_SHEAR,
    RESISTANCE,
    SIDE,
    SINKAGE_OF_WHEEL,
    STIFFNESS,
    THRUST,
    TORQUE,
    TURN,
    Wheels,
    WheelWorkspace,
    X,
    Y,
    Z,
)

# Number of angular steps at which the rim stores shear, and angles of their middles.
RIM_STEPS = 360
_TURNS = 2.0 * math.pi * (np.arange(RIM_STEPS) + 0.5) / RIM_STEPS
_COSINE, _SINE = np.cos(_TURNS), np.sin(_TURNS)


@inlined
def _motion(touch, n, twist):
    """Velocity of the wheel's surface at a touched cell: normal, tangential (three), and size of the tangential one."""
    x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
    nx, ny, nz = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n]
    ux = twist[0] + twist[4] * z - twist[5] * y
    uy = twist[1] + twist[5] * x - twist[3] * z
    uz = twist[2] + twist[3] * y - twist[4] * x
    along = ux * nx + uy * ny + uz * nz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    return along, ux, uy, uz, math.sqrt(ux * ux + uy * uy + uz * uz)


@inlined
def _press(wheels: Wheels, w, n, k, slip, rate, step: float, cell, at, work: WheelWorkspace):
    """Pressure of a touched cell, its derivative by the rate, and the cell's new sinkage and yield pressure."""
    soils, depth = wheels.soils, work.touch[w, DEPTH, n] + step * rate
    if wheels.level[w] == CELLS and work.touch[w, STIFFNESS, n] < math.inf:
        pressure, growth, sinkage = visco_plastic_pressure(
            soils.cell_stiffness[k],
            soils.cell_viscosity[k],
            soils.plastic_modulus[k],
            soils.yield_stress[k],
            cell[at + SINKAGE],
            depth,
            rate,
            step,
        )
        return pressure, growth, sinkage, 0.0
    return bekker_pressure(
        work.touch[w, STIFFNESS, n],
        sinkage_exponent(soils, k, slip),
        soils.unloading_stiffness[k],
        soils.unloading_slope[k],
        cell[at + SINKAGE],
        cell[at + PRESSURE],
        depth,
        step,
    )


@inlined
def _axes(touch, n, axis, nx, ny, nz):
    """Two tangential directions of the stored shear.

    Shear stored in a cell is along the tangents of the ground; shear stored on the rim is along the rim, forward, and
    across it.
    """
    if touch[TURN, n] >= 0.0:
        tx, ty, tz = axis[1] * nz - axis[2] * ny, axis[2] * nx - axis[0] * nz, axis[0] * ny - axis[1] * nx
        return tx, ty, tz, ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx
    return ground_tangents(nx, ny, nz)


@inlined
def _stored_shear(touch, n, cell, at, rim):
    """Shear state at a touched cell, stored in the cell or on the rim."""
    if touch[TURN, n] >= 0.0:
        place = touch[TURN, n] * RIM_STEPS - 0.5
        first = int(math.floor(place))
        share = place - first
        one, other = rim[first % RIM_STEPS], rim[(first + 1) % RIM_STEPS]
        return one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])
    return cell[at + SHEAR_X], cell[at + SHEAR_Y]


@kernel
def measure_cell_forces(wheels: Wheels, w, slip, step: float, state: SoilState, work: WheelWorkspace):
    """Force, moment and slope of the soil under a wheel at the velocity at the start of the step.

    Args:
        wheels, w: the wheel.
        slip: remembered by the soil [-].
        step: h [s].
        state: with the cells.
        work: with the touched cells; `wrench` and `slope` are filled.
    """
    twist, touch, place, spot, soil = work.twist[w], work.touch[w], work.place[w], work.spot[w], work.soil[w]
    wrench, slope, soils, cell = work.wrench[w], work.slope[w], wheels.soils, state.soil_cell
    axis, rim = work.axis[w], state.rim_shear[w]
    wrench[:] = 0.0
    slope[:] = 0.0
    rim_speed, ahead, aside = speeds(wheels, w, work.axis[w], work.frame[w], twist)
    lead = step + shear_lead(rim_speed, ahead, aside)
    for n in range(work.touched[w]):
        k, at = soil[n], place[spot[n]]
        nx, ny, nz, area = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n], touch[AREA, n]
        along, ux, uy, uz, speed = _motion(touch, n, twist)
        steep = max(nz, STEEPEST)
        pressure, growth, _, _ = _press(wheels, w, n, k, slip, -along / steep, step, cell, at, work)
        if pressure <= 0.0:
            continue
        strength = area * shear_strength(soils, k, pressure, wheels.friction[w])
        ax, ay, az, bx, by, bz = _axes(touch, n, axis, nx, ny, nz)
        path = lead / soils.shear_modulus[k]
        s, t = _stored_shear(touch, n, cell, at, rim)
        s, t = advance_shear(s, t, path, ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz, speed)
        fx = area * pressure * nx - strength * (s * ax + t * bx)
        fy = area * pressure * ny - strength * (s * ay + t * by)
        fz = area * pressure * nz - strength * (s * az + t * bz)
        x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
        wrench[0] += fx
        wrench[1] += fy
        wrench[2] += fz
        wrench[3] += y * fz - z * fy
        wrench[4] += z * fx - x * fz
        wrench[5] += x * fy - y * fx
        # resistance across the shear direction is full; along it, it falls with the shear state
        across = strength * path / (1.0 + path * speed)
        less = across * math.sqrt(s * s + t * t)
        if speed > 0.0:
            ux, uy, uz = ux / speed, uy / speed, uz / speed
        more = area * growth / steep - across
        add_at(
            slope,
            x,
            y,
            z,
            across + more * nx * nx - less * ux * ux,
            more * ny * nx - less * uy * ux,
            across + more * ny * ny - less * uy * uy,
            more * nz * nx - less * uz * ux,
            more * nz * ny - less * uz * uy,
            across + more * nz * nz - less * uz * uz,
        )


@kernel
def commit_cells(wheels: Wheels, w, slip, twist, origin, step: float, state: SoilState, work: WheelWorkspace, flow):
    """Advances the touched cells by the solved velocity, and measures their forces.

    Args:
        wheels, w: the wheel.
        slip: remembered by the soil [-].
        twist: of the wheel at the end of the step (6,), see `WheelWorkspace.twist`.
        origin: of the kinematics [m].
        step: h [s].
        state: with the cells, changed.
        work: with the touched cells; `wrench` and `figure` are filled.
        flow: result: displaced volume [m3], its mean position from the wheel's centre [m] and its mean direction, both
            along the ground, (5,).
    """
    touch, place, spot, soil = work.touch[w], work.place[w], work.spot[w], work.soil[w]
    figure, frame, wrench = work.figure[w], work.frame[w], work.wrench[w]
    soils, cell, square = wheels.soils, state.soil_cell, wheels.cell[0] * wheels.cell[0]
    axis, rim = work.axis[w], state.rim_shear[w]
    rim_speed, ahead, aside = speeds(wheels, w, work.axis[w], work.frame[w], twist)
    lead = step + shear_lead(rim_speed, ahead, aside)
    normal_x = normal_y = normal_z = shear_x = shear_y = shear_z = 0.0
    wrench[:] = 0.0
    flow[:] = 0.0
    peak, peak_shear, entry, exit_ = 0.0, 0.0, -math.inf, math.inf
    for n in range(work.touched[w]):
        k, at = soil[n], place[spot[n]]
        nx, ny, nz, area = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n], touch[AREA, n]
        along, ux, uy, uz, speed = _motion(touch, n, twist)
        rate = -along / max(nz, STEEPEST)
        pressure, _, sinkage, load = _press(wheels, w, n, k, slip, rate, step, cell, at, work)
        if pressure <= 0.0:
            continue
        unloading, unloading_slope = soils.unloading_stiffness[k], soils.unloading_slope[k]
        stays = unloaded_sinkage(unloading, unloading_slope, sinkage, load)
        gave = soils.heave[k] * square * press_surface(cell, at, sinkage, load, stays)
        strength, modulus = shear_strength(soils, k, pressure, wheels.friction[w]), soils.shear_modulus[k]
        ax, ay, az, bx, by, bz = _axes(touch, n, axis, nx, ny, nz)
        va, vb = ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz
        s, t = _stored_shear(touch, n, cell, at, rim)
        cell[at + SHEAR_X], cell[at + SHEAR_Y] = advance_shear(s, t, step / modulus, va, vb, speed)
        s, t = advance_shear(s, t, lead / modulus, va, vb, speed)
        # soil moves with the wheel's surface along the normal, and tangentially in proportion to its shear
        dragged = math.sqrt(s * s + t * t)
        pushed = math.sqrt(along * along + (dragged * speed) ** 2)
        flow[0] += gave
        flow[1] += gave * touch[X, n]
        flow[2] += gave * touch[Y, n]
        if pushed > 0.0:
            flow[3] += gave * (along * nx + dragged * ux) / pushed
            flow[4] += gave * (along * ny + dragged * uy) / pushed
        tx, ty, tz = -strength * (s * ax + t * bx), -strength * (s * ay + t * by), -strength * (s * az + t * bz)
        normal_x += area * pressure * nx
        normal_y += area * pressure * ny
        normal_z += area * pressure * nz
        shear_x += area * tx
        shear_y += area * ty
        shear_z += area * tz
        x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
        fx, fy, fz = area * (pressure * nx + tx), area * (pressure * ny + ty), area * (pressure * nz + tz)
        wrench[3] += y * fz - z * fy
        wrench[4] += z * fx - x * fz
        wrench[5] += x * fy - y * fx
        peak = max(peak, pressure)
        peak_shear = max(peak_shear, strength * dragged)
        work.greatest_pressure[k] = max(work.greatest_pressure[k], pressure)
        up = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
        ahead = x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]
        around = 1.0 / math.sqrt(up * up + ahead * ahead)
        entry, exit_ = max(entry, ahead * around), min(exit_, ahead * around)
    if wheels.level[w] == CELLS:
        _carry_shear(wheels, w, twist, exit_, origin, step, cell, work, rim)
    wrench[0], wrench[1], wrench[2] = normal_x + shear_x, normal_y + shear_y, normal_z + shear_z
    if flow[0] > 0.0:
        for k in range(1, 5):
            flow[k] /= flow[0]
    forward = twist[0] * frame[0, 0] + twist[1] * frame[0, 1] + twist[2] * frame[0, 2] >= 0.0
    lean = axis[0] * frame[2, 0] + axis[1] * frame[2, 1] + axis[2] * frame[2, 2]
    height = (origin[2] + work.centre[w, 2] - work.level[w]) * frame[2, 2]
    figure[SINKAGE_OF_WHEEL] = extent(wheels.radius[w], wheels.half_width[w], lean) - height
    if peak > 0.0:
        entry, exit_ = math.asin(min(entry, 1.0)), math.asin(max(exit_, -1.0))
        figure[ENTRY], figure[EXIT] = (entry, exit_) if forward else (-exit_, -entry)
    figure[NORMAL] = wrench[0] * frame[2, 0] + wrench[1] * frame[2, 1] + wrench[2] * frame[2, 2]
    figure[THRUST] = shear_x * frame[0, 0] + shear_y * frame[0, 1] + shear_z * frame[0, 2]
    figure[RESISTANCE] = -(normal_x * frame[0, 0] + normal_y * frame[0, 1] + normal_z * frame[0, 2])
    figure[SIDE] = wrench[0] * frame[1, 0] + wrench[1] * frame[1, 1] + wrench[2] * frame[1, 2]
    figure[TORQUE] = -(wrench[3] * work.axis[w, 0] + wrench[4] * work.axis[w, 1] + wrench[5] * work.axis[w, 2])
    figure[PEAK_PRESSURE], figure[PEAK_SHEAR] = peak, peak_shear


@inlined
def _carry_shear(wheels: Wheels, w, twist, exit_, origin, step: float, cell, work: WheelWorkspace, rim):
    """Advances the shear state at every step of the rim within the soil, and clears it elsewhere.

    A point on the rim begins to shear where it enters below the soil's level, and ends where the last cell separates:
    equation (6) of Zuo et al. (2009).
    """
    axis, mark, frame, radius, centre = work.axis[w], work.mark[w], work.frame[w], wheels.reach[w], work.centre[w]
    window, place, spacing = work.window[w], work.place[w], wheels.cell[0]
    for m in range(RIM_STEPS):
        c, s = _COSINE[m], _SINE[m]
        x = c * mark[0] + s * (axis[1] * mark[2] - axis[2] * mark[1])
        y = c * mark[1] + s * (axis[2] * mark[0] - axis[0] * mark[2])
        z = c * mark[2] + s * (axis[0] * mark[1] - axis[1] * mark[0])
        below = -(x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2])
        ahead = x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]
        inside, path = False, 0.0
        if below > 0.0 and ahead >= exit_:
            i = int(math.floor((origin[0] + centre[0] + radius * x) / spacing + 0.5)) - window[0]
            j = int(math.floor((origin[1] + centre[1] + radius * y) / spacing + 0.5)) - window[1]
            if 0 <= i < window[2] and 0 <= j < window[3]:
                at = place[i * window[3] + j]
                k = int(cell[at + TYPE])
                inside = k >= 0 and origin[2] + centre[2] + radius * z < cell[at + LEVEL]
                path = step / wheels.soils.shear_modulus[k]
        if inside:
            ux = twist[0] + radius * (twist[4] * z - twist[5] * y)
            uy = twist[1] + radius * (twist[5] * x - twist[3] * z)
            uz = twist[2] + radius * (twist[3] * y - twist[4] * x)
            # forward along the rim is axis x inward normal
            va = -(
                ux * (axis[1] * z - axis[2] * y) + uy * (axis[2] * x - axis[0] * z) + uz * (axis[0] * y - axis[1] * x)
            )
            vb = ux * axis[0] + uy * axis[1] + uz * axis[2]
            rim[m, 0], rim[m, 1] = advance_shear(rim[m, 0], rim[m, 1], path, va, vb, math.sqrt(va * va + vb * vb))
        else:
            rim[m, 0] = rim[m, 1] = 0.0
