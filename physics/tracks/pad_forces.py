"""Forces of the ground on the pads of a track, and what they leave behind."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain
from grouser.physics.soil.footprint import STEEPEST
from grouser.physics.soil.laws import Soils, limited_strength
from grouser.physics.soil.memory import shear_lead
from grouser.physics.soil.resistance import add_at
from grouser.physics.soil.shear import advance_shear, ground_tangents
from grouser.physics.soil.strata import press_surface
from grouser.physics.soil.tiles import (
    PRESSURE,
    SINKAGE,
    TYPE,
    SoilState,
    open_cell,
    unloaded_sinkage,
)
from grouser.physics.tracks.belts import (
    ALONG,
    BELT_SPEED,
    BELT_X,
    BELT_Y,
    BELT_Z,
    DEPTH,
    GIVE,
    GROUND_SPEED,
    LENGTH,
    NORMAL,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    PEAK_PRESSURE,
    PLACE,
    PRESSED,
    RESISTANCE,
    RESISTED,
    SIDE,
    SIDE_SPEED,
    SINKAGE_OF_TRACK,
    SLACK,
    THRUST,
    TIGHT,
    TOUCHING,
    YAW_RATE,
    Tracks,
    TrackWorkspace,
    X,
    Y,
    Z,
)
from grouser.physics.tracks.pad_laws import passive_pressure, rigid_pressure, soil_pressure
from grouser.physics.tracks.pads import place_of, share_of, side_of
from grouser.physics.tracks.shoes import shoe_length
from grouser.physics.tracks.suspension import bear_force, borne_speed, is_sprung


@inlined
def _velocity(work: TrackWorkspace, t, n, motion, sprung):
    """Velocity of a pad: along its normal, tangential (three), and size of the tangential one [m/s]."""
    touch = work.touch[t]
    x, y, z, belt = touch[X, n], touch[Y, n], touch[Z, n], motion[6]
    nx, ny, nz = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n]
    ux = motion[0] + motion[4] * z - motion[5] * y + belt * touch[BELT_X, n]
    uy = motion[1] + motion[5] * x - motion[3] * z + belt * touch[BELT_Y, n]
    uz = motion[2] + motion[3] * y - motion[4] * x + belt * touch[BELT_Z, n]
    if sprung:
        bx, by, bz = borne_speed(work, t, n, motion)
        ux, uy, uz = ux + bx, uy + by, uz + bz
    along = ux * nx + uy * ny + uz * nz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    return along, ux, uy, uz, math.sqrt(ux * ux + uy * uy + uz * uz)


@inlined
def _speeds(motion, frame):
    """Speeds of the belt, and of the body's origin ahead and to the left [m/s]."""
    ahead = motion[0] * frame[0, 0] + motion[1] * frame[0, 1] + motion[2] * frame[0, 2]
    aside = motion[0] * frame[1, 0] + motion[1] * frame[1, 1] + motion[2] * frame[1, 2]
    return motion[6], ahead, aside


@inlined
def _press(tracks: Tracks, t, soils: Soils, n, motion, sprung, step: float, layers, work: TrackWorkspace):
    """Ground and a pad at a motion.

    Returns:
        Speed along the normal [m/s], and how much of its upward component counts in the depth; tangential velocity
        (three) and its size [m/s]; pressure [Pa], its derivative by the depth's rate [Pa s/m], and the cell's new
        sinkage [m] and yield pressure [Pa].
    """
    touch, k = work.touch[t], work.soil[t, n]
    along, ux, uy, uz, speed = _velocity(work, t, n, motion, sprung)
    steep = 1.0 if k < 0 else max(touch[NORMAL_Z, n], STEEPEST)
    rate = -along / steep
    if k < 0:
        pressure, growth = rigid_pressure(
            tracks.stiffness[t], tracks.damping[t], touch[DEPTH, n], rate, touch[GIVE, n], step
        )
        return along, steep, ux, uy, uz, speed, pressure, growth, 0.0, 0.0
    at = work.cell[t, n]
    pressure, growth, sinkage, load = soil_pressure(
        *(tracks.soil_stiffness[t, k], soils.exponent[k], soils.unloading_stiffness[k], soils.unloading_slope[k]),
        *(layers[at + SINKAGE], layers[at + PRESSURE], touch[DEPTH, n] + step * rate, touch[GIVE, n], step),
    )
    return along, steep, ux, uy, uz, speed, pressure, growth, sinkage, load


@inlined
def _strength(tracks: Tracks, t, soils: Soils, k, pressure):
    """Greatest shear stress below a pad [Pa], and K of the shear displacement [m]."""
    if k < 0:
        return tracks.friction[t] * pressure, tracks.shear_modulus[t]
    cohesion = tracks.cohesion_gain[t] * soils.cohesion[k]
    friction = tracks.friction_gain[t] * pressure * soils.friction[k]
    return limited_strength(cohesion, friction, soils.sliding_friction[k] * pressure), soils.shear_modulus[k]


@inlined
def _react(
    tracks: Tracks, t, soils: Soils, n, gravity, pressure, lead, stored, ux, uy, uz, speed, work: TrackWorkspace
):
    """Force of the ground on a pad that slides at a velocity, once it has gone on for a time.

    Args:
        tracks, t, soils, n: the pad.
        gravity: [m/s2].
        pressure: [Pa].
        lead: the time [s].
        stored: shear state of the pad, (3,).
        ux, uy, uz, speed: velocity and its size [m/s].
        work: with the pad.

    Returns:
        Area [m2]; greatest shear force [N] and K [m]; velocity along both tangents [m/s]; shear state along them; the
        force that resists a unit of its part to the left [N]; the force (three) [N].
    """
    touch, k, pad = work.touch[t], work.soil[t, n], work.pad[t, n]
    area = tracks.width[t] * touch[LENGTH, n] * share_of(pad)
    strength, modulus = _strength(tracks, t, soils, k, pressure)
    strength *= area
    nx, ny, nz = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n]
    lx, ly, lz = work.frame[t, 1, 0], work.frame[t, 1, 1], work.frame[t, 1, 2]
    ax, ay, az, bx, by, bz = ground_tangents(nx, ny, nz)
    va, vb = ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz
    s, c = advance_shear(stored[0], stored[1], lead / modulus, va, vb, speed)
    sx, sy, sz = s * ax + c * bx, s * ay + c * by, s * az + c * bz
    aside = sx * lx + sy * ly + sz * lz
    pushed = _side_resistance(tracks, t, soils, n, k, gravity, aside, work)
    fx = area * pressure * nx - strength * sx - pushed * aside * lx
    fy = area * pressure * ny - strength * sy - pushed * aside * ly
    fz = area * pressure * nz - strength * sz - pushed * aside * lz
    return area, strength, modulus, va, vb, s, c, pushed, fx, fy, fz


@inlined
def _side_resistance(tracks: Tracks, t, soils: Soils, n, k, gravity, aside, work: TrackWorkspace):
    """Force that a pad on the outer side pushes against as it shears the soil sideways by the state `aside` [N]."""
    if k < 0 or aside * side_of(work.pad[t, n]) <= 0.0 or work.touch[t, DEPTH, n] <= 0.0:
        return 0.0
    return work.touch[t, LENGTH, n] * passive_pressure(
        soils.density[k], gravity, soils.cohesion[k], soils.friction[k], work.touch[t, DEPTH, n]
    )


@inlined
def _add_force(touch, n, fx, fy, fz, wrench):
    """Adds a force on a pad to the wrench of its track."""
    x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
    wrench[0] += fx
    wrench[1] += fy
    wrench[2] += fz
    wrench[3] += y * fz - z * fy
    wrench[4] += z * fx - x * fz
    wrench[5] += x * fy - y * fx
    wrench[6] += touch[BELT_X, n] * fx + touch[BELT_Y, n] * fy + touch[BELT_Z, n] * fz


@inlined
def _add_slope(touch, n, xx, yx, yy, zx, zy, zz, slope):
    """Adds the resistance of a pad to its velocity, a symmetric matrix, to that of its track."""
    x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
    add_at(slope, x, y, z, xx, yx, yy, zx, zy, zz)
    bx, by, bz = touch[BELT_X, n], touch[BELT_Y, n], touch[BELT_Z, n]
    wx, wy, wz = xx * bx + yx * by + zx * bz, yx * bx + yy * by + zy * bz, zx * bx + zy * by + zz * bz
    slope[6, 0] += wx
    slope[6, 1] += wy
    slope[6, 2] += wz
    slope[6, 3] += y * wz - z * wy
    slope[6, 4] += z * wx - x * wz
    slope[6, 5] += x * wy - y * wx
    slope[6, 6] += bx * wx + by * wy + bz * wz


@kernel
def measure_pad_forces(
    tracks: Tracks, t, soils: Soils, gravity: float, step: float, shear, soil: SoilState, work: TrackWorkspace
):
    """Force and slope of the ground under a track at the motion at the start of the step.

    Args:
        tracks, t: the track.
        soils: of the ground.
        gravity: [m/s2].
        step: h [s].
        shear: state of the pads of all tracks, (pads, 3).
        soil: with the cells.
        work: with the listed pads, ALONG to RESISTED of which are filled, as are `wrench` and `slope`.
    """
    touch, motion, wrench, slope = work.touch[t], work.motion[t], work.wrench[t], work.slope[t]
    for k in range(tracks.wheels.rows[t]):
        wrench[k] = 0.0
        for m in range(k + 1):
            slope[k, m] = 0.0
    frame, sprung = work.frame[t], is_sprung(tracks, t)
    belt, ahead, aside = _speeds(motion, frame)
    lead = step + shear_lead(belt, ahead, aside)
    for n in range(work.listed[t]):
        along, steep, ux, uy, uz, speed, pressure, growth, _, _ = _press(
            tracks, t, soils, n, motion, sprung, step, soil.soil_cell, work
        )
        touch[ALONG, n], touch[PRESSED, n], touch[RESISTED, n] = along, 0.0, 0.0
        if pressure <= 0.0:
            continue
        stored = shear[tracks.pad_start[t] + work.pad[t, n]]
        area, strength, modulus, _, _, s, c, pushed, fx, fy, fz = _react(
            tracks, t, soils, n, gravity, pressure, lead, stored, ux, uy, uz, speed, work
        )
        _add_force(touch, n, fx, fy, fz, wrench)
        path = lead / modulus
        nx, ny, nz = touch[NORMAL_X, n], touch[NORMAL_Y, n], touch[NORMAL_Z, n]
        lx, ly, lz = frame[1, 0], frame[1, 1], frame[1, 2]
        # resistance across the shear direction is full; along it, it falls with the shear state
        fading = path / (1.0 + path * speed)
        across = strength * fading
        less = across * math.sqrt(s * s + c * c)
        if speed > 0.0:
            ux, uy, uz = ux / speed, uy / speed, uz / speed
        resisted = area * growth / steep
        touch[PRESSED, n], touch[RESISTED, n] = area * pressure, resisted
        more, side = resisted - across, pushed * fading
        xx = across + more * nx * nx - less * ux * ux + side * lx * lx
        yx = more * ny * nx - less * uy * ux + side * ly * lx
        yy = across + more * ny * ny - less * uy * uy + side * ly * ly
        zx = more * nz * nx - less * uz * ux + side * lz * lx
        zy = more * nz * ny - less * uz * uy + side * lz * ly
        zz = across + more * nz * nz - less * uz * uz + side * lz * lz
        _add_slope(touch, n, xx, yx, yy, zx, zy, zz, slope)
        if sprung:
            bear_force(work, t, n, fx, fy, fz, xx, yx, yy, zx, zy, zz)


@kernel
def commit_pads(
    tracks: Tracks,
    t,
    soils: Soils,
    terrain: Terrain,
    spacing: float,
    origin,
    gravity: float,
    step: float,
    shear,
    soil: SoilState,
    work: TrackWorkspace,
):
    """Advances the pads and the soil below them by the solved motion, and measures.

    Args:
        tracks, t: the track.
        soils: of the ground.
        terrain: natural ground.
        spacing: of the soil's cells [m].
        origin: of the kinematics [m].
        gravity: [m/s2].
        step: h [s].
        shear: state of the pads of all tracks, changed, (pads, 3).
        soil: with the cells, changed.
        work: with the listed pads and `end_motion`, and in `wrench` the force that acted in the step, which stays;
            `figure` is filled.

    Returns:
        Mean power in the step of rigid ground and of soil on the pads along their normals, by the force that acted [W].
    """
    touch, motion, wrench, figure = work.touch[t], work.end_motion, work.wrench[t], work.figure[t]
    frame = work.frame[t]
    figure[:] = 0.0
    belt, ahead, aside = _speeds(motion, frame)
    lead = step + shear_lead(belt, ahead, aside)
    first, pads = tracks.pad_start[t], tracks.pad_start[t + 1] - tracks.pad_start[t]
    segments = tracks.segment_start[t + 1] - 1
    total, sprung = work.path.start[segments] + work.path.length[segments], is_sprung(tracks, t)
    kept = tracks.tensioner[t] - tracks.sprocket[t]
    kept -= tracks.wheels.nominal[t] * math.floor(kept / tracks.wheels.nominal[t])
    fresh, taken, touching, rigid, soft = work.shear, 0.0, 0.0, 0.0, 0.0
    fresh[:pads] = 0.0
    for n in range(work.listed[t]):
        along, steep, ux, uy, uz, speed, pressure, _, sinkage, load = _press(
            tracks, t, soils, n, motion, sprung, step, soil.soil_cell, work
        )
        pad, before = work.pad[t, n], touch[ALONG, n]
        power = 0.5 * (touch[PRESSED, n] - touch[RESISTED, n] * (along - before)) * (before + along)
        if work.soil[t, n] < 0:
            rigid += power
        else:
            soft += power
        if pressure <= 0.0:
            continue
        if work.soil[t, n] >= 0:
            at = work.cell[t, n]
            if sinkage > soil.soil_cell[at + SINKAGE] or load > soil.soil_cell[at + PRESSURE]:
                _press_cells(tracks, t, soils, n, terrain, spacing, origin, sinkage, load, soil, work)
            figure[SINKAGE_OF_TRACK] = max(figure[SINKAGE_OF_TRACK], touch[DEPTH, n] - step * along / steep)
        stored = shear[first + pad]
        area, _, modulus, va, vb, _, _, _, fx, fy, fz = _react(
            tracks, t, soils, n, gravity, pressure, lead, stored, ux, uy, uz, speed, work
        )
        s, c = advance_shear(stored[0], stored[1], step / modulus, va, vb, speed)
        # parts of a shoe slide differently: it has their mean
        fresh[pad, 0] += touch[LENGTH, n] * s
        fresh[pad, 1] += touch[LENGTH, n] * c
        fresh[pad, 2] += touch[LENGTH, n]
        touching += area
        pulled = touch[BELT_X, n] * fx + touch[BELT_Y, n] * fy + touch[BELT_Z, n] * fz
        beyond = touch[PLACE, n] - tracks.sprocket[t]
        beyond -= total * math.floor(beyond / total)
        # the tension leaving the sprocket is above that at rest by the pulls up to the tensioner; without one by their
        # mean over the belt
        if math.isnan(kept):
            taken += pulled * (1.0 - beyond / total)
        elif beyond < kept:
            taken += pulled
        forward = touch[NORMAL_X, n] * frame[0, 0] + touch[NORMAL_Y, n] * frame[0, 1] + touch[NORMAL_Z, n] * frame[0, 2]
        figure[RESISTANCE] -= area * pressure * forward
        figure[PEAK_PRESSURE] = max(figure[PEAK_PRESSURE], pressure)
    # pads that do not touch have no shear; ground that comes under the rest of a shoe has none: the pad has the mean
    for pad in range(pads):
        before, length = shear[first + pad, 2], fresh[pad, 2]
        if before == 0.0 and length == 0.0:
            continue
        new, mean = 1.0 - before / length if length > before else 0.0, 1.0 / length if length > 0.0 else 0.0
        shear[first + pad, 0] = mean * fresh[pad, 0] - new * shear[first + pad, 0]
        shear[first + pad, 1] = mean * fresh[pad, 1] - new * shear[first + pad, 1]
        shear[first + pad, 2] = length
    figure[TOUCHING] = touching / (shoe_length(tracks, work.path, t) * tracks.width[t])
    # sums of the force that acted; the pads share it as the law says at the end of the step
    figure[NORMAL] = abs(wrench[0] * frame[2, 0] + wrench[1] * frame[2, 1] + wrench[2] * frame[2, 2])
    figure[THRUST] = wrench[0] * frame[0, 0] + wrench[1] * frame[0, 1] + wrench[2] * frame[0, 2] + figure[RESISTANCE]
    figure[SIDE] = wrench[0] * frame[1, 0] + wrench[1] * frame[1, 1] + wrench[2] * frame[1, 2]
    middle, plane = tracks.middle[t], work.plane[t]
    x = plane[0] + middle[0] * frame[0, 0] + middle[1] * frame[2, 0]
    y = plane[1] + middle[0] * frame[0, 1] + middle[1] * frame[2, 1]
    z = plane[2] + middle[0] * frame[0, 2] + middle[1] * frame[2, 2]
    vx = motion[0] + motion[4] * z - motion[5] * y
    vy = motion[1] + motion[5] * x - motion[3] * z
    vz = motion[2] + motion[3] * y - motion[4] * x
    figure[BELT_SPEED] = belt
    figure[GROUND_SPEED] = vx * frame[0, 0] + vy * frame[0, 1] + vz * frame[0, 2]
    figure[SIDE_SPEED] = vx * frame[1, 0] + vy * frame[1, 1] + vz * frame[1, 2]
    figure[YAW_RATE] = motion[3] * frame[2, 0] + motion[4] * frame[2, 1] + motion[5] * frame[2, 2]
    # the pull of the ground along the belt is the difference of the tensions at the sprocket
    leaving = (work.wheels.tension[t] if sprung else tracks.pretension[t]) + taken
    arriving = leaving - wrench[6]
    figure[TIGHT], figure[SLACK] = max(leaving, arriving), min(leaving, arriving)
    return rigid, soft


@inlined
def _press_cells(
    tracks: Tracks, t, soils: Soils, n, terrain: Terrain, spacing, origin, sinkage, load, soil: SoilState, work
):
    """Presses the cells under a pad's strip down to its sinkage, the one at the pad in any case."""
    touch, frame, cells = work.touch[t], work.frame[t], soil.soil_cell
    k, half, pad = work.soil[t, n], 0.5 * touch[LENGTH, n], work.pad[t, n]
    strip = 0.5 * share_of(pad) * tracks.width[t]
    beside = (side_of(pad) * (0.5 - 0.5 * share_of(pad)) - place_of(pad)) * tracks.width[t]
    _press_cell(soils, k, cells, work.cell[t, n], sinkage, load)
    # of the shoe and of the track's left, along the ground
    bx, by = touch[BELT_X, n], touch[BELT_Y, n]
    size = math.sqrt(bx * bx + by * by)
    if size == 0.0:
        return
    bx, by = bx / size, by / size
    half *= min(size, 1.0)
    lx, ly = frame[1, 0], frame[1, 1]
    x = origin[0] + work.centre[t, 0] + touch[X, n] + beside * lx
    y = origin[1] + work.centre[t, 1] + touch[Y, n] + beside * ly
    reach_x, reach_y = half * abs(bx) + strip * abs(lx), half * abs(by) + strip * abs(ly)
    for i in range(int(math.ceil((x - reach_x) / spacing)), int(math.floor((x + reach_x) / spacing)) + 1):
        for j in range(int(math.ceil((y - reach_y) / spacing)), int(math.floor((y + reach_y) / spacing)) + 1):
            dx, dy = i * spacing - x, j * spacing - y
            if abs(dx * bx + dy * by) <= half and abs(dx * lx + dy * ly) <= strip:
                at = open_cell(terrain, spacing, soil, i * spacing, j * spacing)
                if int(cells[at + TYPE]) == k and sinkage > cells[at + SINKAGE]:
                    _press_cell(soils, k, cells, at, sinkage, load)


@inlined
def _press_cell(soils: Soils, k, cells, at, sinkage, load):
    """A cell that has yielded at a sinkage and a pressure."""
    stays = unloaded_sinkage(soils.unloading_stiffness[k], soils.unloading_slope[k], sinkage, load)
    press_surface(cells, at, sinkage, load, stays)
