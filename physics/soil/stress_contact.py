"""Contact of a wheel by the stress integrals in a step: memory of its patch of soil, force and slope.

The integrals hold for steady rolling. From standstill to steady rolling the patch has memory: the speeds of rim and
wheel over the fastest of them, a, b, c, follow the wheel over a length l as

    a' = (r w - V a) / l,  b' = (v - V b) / l,  c' = (v_y - V c) / l,  V = max(|r w|, |v|, |v_y|, |w_z| b / 2),

with w_z the turning about the ground's normal. It converges to the steady values at any speed, and acts as a spring
under a wheel at rest. The deepest sinkage decays likewise as the wheel rolls on; above it the soil unloads. The wheel
climbs no steeper than resistance over load: its work against the resistance lifts it.

Memory alone would do work: stresses that were built up in one direction would push the wheel back in the other, and a
wheel would rise where the law of the pressure becomes stiffer under it. The soil can only give what it has stored. Two
stores follow from the stresses: that of the pressure, the sum of p^2 / (2 k) over the contact with k the unloading
modulus, and that of the shear, l / 2 times its force in the direction of a, b, c. Together they grow by no more than
the work that the wheel does:

    E(t + h) = min(E(stresses), E(t) - h P),  P the power of the soil on the wheel.

Where the stresses would hold more, they are reduced: the shear by reducing a, b, c, the pressure by a deeper origin of
its unloading lines. So the work of the soil on the wheel never exceeds what is stored at the start, along any path.
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain, type_at
from grouser.physics.soil.laws import pressure_stiffness, sinkage_exponent, sinkage_growth
from grouser.physics.soil.memory import (
    MEMORY,
    STANDING,
    shear_lead,
    slip_of,
    speeds,
    turning_speed,
    updated_memory,
    updated_roll,
)
from grouser.physics.soil.resistance import add_at
from grouser.physics.soil.strata import press_surface
from grouser.physics.soil.stress import GROUSER_SHARE, Motion, wheel_stress
from grouser.physics.soil.tiles import SINKAGE, SoilState, open_cell, unloaded_sinkage
from grouser.physics.soil.wheels import (
    ENTRY,
    EXIT,
    NORMAL,
    OF_PRESSURE,
    OF_SHEAR,
    PEAK_PRESSURE,
    PEAK_SHEAR,
    REBOUND,
    RESISTANCE,
    SIDE,
    SINKAGE_OF_WHEEL,
    THRUST,
    TORQUE,
    Wheels,
    WheelWorkspace,
)

# Finite-difference steps: of the sinkage as a share of the radius, and of the speed ratios [-].
_DEEPER, _FASTER = 1e-6, 1e-4
# A rise below this share of the radius is a rounding error of the sinkage [-].
_ROUNDING = 1e-12
# Vertical speed below which a wheel moves slowly [m/s].
_SLOW = 1e-2
# Number of points across a wheel at which the rut depth is read.
_ACROSS = 5


@kernel
def _response(wheels: Wheels, w, k, sinkage, deepest, rut, rolling, forward, sideways, rolled, gravity):
    """Forces of the soil with memory, and -1 for a wheel that rolls backward: it is mirrored; else 1."""
    radius = wheels.radius[w]
    shear_radius = radius + GROUSER_SHARE * wheels.grouser_height[w]
    back = -1.0 if rolled < 0.0 else 1.0
    motion = Motion(slip_of(rolling, forward), back * rolling, back * forward, sideways, abs(rolled))
    found = wheel_stress(
        wheels.soils,
        k,
        radius,
        2.0 * wheels.half_width[w],
        shear_radius,
        max(sinkage, deepest),
        rut,
        max(deepest - sinkage, 0.0),
        motion,
        gravity,
        wheels.friction[w],
    )
    return found, back


@kernel
def measure_stress_forces(
    wheels: Wheels, w, terrain: Terrain, origin, gravity, step: float, state: SoilState, work: WheelWorkspace
):
    """Force, moment and slope of the soil under a wheel at the velocity at the start of the step.

    Args:
        wheels, w: the wheel.
        terrain: natural ground.
        origin: of the kinematics [m].
        gravity: normal to the ground [m/s2].
        step: h [s].
        state: of the soil, with ruts and memory.
        work: placed; `wrench`, `slope`, `touched`, `soil` and `touch[w, :3, 0]` (sinkage, rut) are filled.
    """
    frame, centre, wrench, slope = work.frame[w], work.centre[w], work.wrench[w], work.slope[w]
    wrench[:] = 0.0
    slope[:] = 0.0
    radius, memory = wheels.radius[w], state.wheel_motion[w]
    x, y, z = origin[0] + centre[0], origin[1] + centre[1], origin[2] + centre[2]
    k = type_at(terrain, x, y)
    work.touched[w], work.touch[w, 0, 0] = 0, 0.0
    if k < 0:
        return
    # a wheel that lies down rests on its side
    lean = work.axis[w, 0] * frame[2, 0] + work.axis[w, 1] * frame[2, 1] + work.axis[w, 2] * frame[2, 2]
    height = (z - work.level[w]) * frame[2, 2]
    sinkage = radius * math.sqrt(max(1.0 - lean * lean, 0.0)) + wheels.half_width[w] * lean * lean - height
    work.touch[w, 0, 0] = sinkage
    rise = work.twist[w, 0] * frame[2, 0] + work.twist[w, 1] * frame[2, 1] + work.twist[w, 2] * frame[2, 2]
    predicted = sinkage - step * rise
    if predicted <= 0.0:
        return
    rim, ahead, aside = speeds(wheels, w, work.axis[w], frame, work.twist[w])
    horizon = step + shear_lead(rim, ahead, aside)
    turning = turning_speed(wheels, w, frame, work.twist[w])
    a, b, c = updated_memory(memory, rim, ahead, aside, turning, radius, horizon)
    rebound = state.wheel_elastic[w, REBOUND]
    q = updated_roll(memory[3], rim, ahead, rebound, radius, step)
    deepest = state.wheel_sinkage[w]
    rut = _rut_ahead(wheels, w, terrain, state, x, y, frame, sinkage, q)
    now, back = _response(wheels, w, k, predicted, deepest, rut, a, b, c, q, gravity)
    if now.normal_force <= 0.0:
        return
    work.touched[w], work.soil[w, 0], work.touch[w, 1, 0] = 1, k, rut
    _add_forces(now, back, work.axis[w], frame, wrench)
    # at low speed the step may end on either side of the deepest sinkage: the unloading stiffness applies
    slow = abs(rise) < _SLOW
    top = max(predicted, deepest) if slow else deepest
    deeper = -_DEEPER * radius if slow else _DEEPER * radius
    other, _ = _response(wheels, w, k, predicted + deeper, top, rut, a, b, c, q, gravity)
    stiffness = max((other.normal_force - now.normal_force) / deeper, 0.0)
    path = horizon / (MEMORY * radius)
    follow = path / (1.0 + path * max(max(abs(rim), abs(ahead)), abs(aside))) / _FASTER
    faster, _ = _response(wheels, w, k, predicted, deepest, rut, a, b + back * _FASTER, c, q, gravity)
    turned, _ = _response(wheels, w, k, predicted, deepest, rut, a + back * _FASTER, b, c, q, gravity)
    moved, _ = _response(wheels, w, k, predicted, deepest, rut, a, b, c + _FASTER, q, gravity)
    along = max(now.drawbar_pull - faster.drawbar_pull, (turned.torque - now.torque) / radius)
    side = follow * max(now.side_force - moved.side_force, 0.0)
    _add_resistance(slope, frame, radius, follow * max(along, 0.0), side, step * stiffness)
    if q * ahead < 0.0 < rebound:
        # the pressure in front of a wheel that comes back
        _add_resistance(slope, frame, 0.0, step * max(now.resistance, 0.0) / (abs(q) * rebound), 0.0, 0.0)


@inlined
def _rut_ahead(wheels: Wheels, w, terrain: Terrain, state: SoilState, x, y, frame, sinkage, way):
    """Depth of the rut where the wheel enters the soil, mean across the wheel [m]."""
    radius = wheels.radius[w]
    entry = math.sqrt(max(sinkage * (2.0 * radius - sinkage), 0.0)) + wheels.cell[0]
    if way < 0.0:
        entry = -entry
    total = 0.0
    for place in range(_ACROSS):
        aside = wheels.half_width[w] * (2.0 * (place + 0.5) / _ACROSS - 1.0)
        u, v = x + entry * frame[0, 0] + aside * frame[1, 0], y + entry * frame[0, 1] + aside * frame[1, 1]
        total += state.soil_cell[open_cell(terrain, wheels.cell[0], state, u, v) + SINKAGE]
    return total / _ACROSS


@inlined
def _add_forces(found, back, axis, frame, wrench):
    """Force and moment about the wheel's centre, world axes."""
    pull, torque = back * found.drawbar_pull, -back * found.torque
    tilting, aligning = found.tilting_moment, back * found.aligning_moment
    for m in range(3):
        wrench[m] = pull * frame[0, m] + found.side_force * frame[1, m] + found.normal_force * frame[2, m]
        wrench[3 + m] = torque * axis[m] + tilting * frame[0, m] + aligning * frame[2, m]


@inlined
def _add_resistance(slope, frame, radius, ahead, aside, up):
    """Adds the resistance to motion of the wheel's lowest point ahead, to the left and up from the ground."""
    a, b, c = frame[0], frame[1], frame[2]
    add_at(
        slope,
        -radius * c[0],
        -radius * c[1],
        -radius * c[2],
        ahead * a[0] * a[0] + aside * b[0] * b[0] + up * c[0] * c[0],
        ahead * a[1] * a[0] + aside * b[1] * b[0] + up * c[1] * c[0],
        ahead * a[1] * a[1] + aside * b[1] * b[1] + up * c[1] * c[1],
        ahead * a[2] * a[0] + aside * b[2] * b[0] + up * c[2] * c[0],
        ahead * a[2] * a[1] + aside * b[2] * b[1] + up * c[2] * c[1],
        ahead * a[2] * a[2] + aside * b[2] * b[2] + up * c[2] * c[2],
    )


@kernel
def commit_stress(
    wheels: Wheels, w, twist, terrain: Terrain, origin, gravity, step: float, state: SoilState, work: WheelWorkspace
):
    """Advances the soil's memory by the solved velocity, deepens the rut, and measures.

    Args:
        wheels, w: the wheel.
        twist: of the wheel at the end of the step, (6,).
        terrain: natural ground.
        origin: of the kinematics [m].
        gravity: normal to the ground [m/s2].
        step: h [s].
        state: of the soil, changed; its `wheel_motion` is already that at the end of the step.
        work: as filled by `measure_stress_forces`; `wrench` and `figure` are filled.
    """
    frame, figure, motion, k = work.frame[w], work.figure[w], state.wheel_motion[w], work.soil[w, 0]
    radius = wheels.radius[w]
    rise = twist[0] * frame[2, 0] + twist[1] * frame[2, 1] + twist[2] * frame[2, 2]
    sinkage, rut = work.touch[w, 0, 0] - step * rise, work.touch[w, 1, 0]
    rim, ahead, aside = speeds(wheels, w, work.axis[w], frame, twist)
    turning, lead = turning_speed(wheels, w, frame, twist), shear_lead(rim, ahead, aside)
    a, b, c = updated_memory(motion, rim, ahead, aside, turning, radius, lead)
    q = motion[3]
    now, back = _response(wheels, w, k, sinkage, state.wheel_sinkage[w], rut, a, b, c, q, gravity)
    _add_forces(now, back, work.axis[w], frame, work.wrench[w])
    rolled = step * max(max(abs(rim), abs(ahead), abs(aside)) - STANDING, 0.0) / (MEMORY * radius)
    deepest, resisted = state.wheel_sinkage[w], step * back * now.resistance * ahead
    if deepest <= sinkage + _ROUNDING * radius:
        deepest = sinkage
    elif resisted > 0.0 < now.normal_force:
        # towards the sinkage at which fresh soil carries the present load, lifted by the work against the resistance
        step_down = _DEEPER * radius
        full, _ = _response(wheels, w, k, deepest, deepest, rut, a, b, c, q, gravity)
        less, _ = _response(wheels, w, k, deepest - step_down, deepest - step_down, rut, a, b, c, q, gravity)
        softness = step_down / max(full.normal_force - less.normal_force, 1e-9)
        excess = max(full.normal_force - now.normal_force, 0.0) * softness
        deepest -= min(excess * rolled / (1.0 + rolled), resisted / now.normal_force)
        deepest = max(deepest, sinkage)
    by_pressure, by_all = resisted - step * now.normal_force * rise, 0.0
    for m in range(6):
        by_all -= step * work.wrench[w, m] * twist[m]
    by_shear = by_all - by_pressure
    # the force acts at the centre also where the wheel leans: what it sinks by leaning counts as work
    by_pressure += step * now.normal_force * _sinking_by_lean(radius, wheels.half_width[w], work.axis[w], frame, twist)
    along, against = back * now.thrust, -back * now.torque / radius
    ready = along * b + against * a + now.side_force * c
    kept = along * motion[1] + against * motion[0] + now.side_force * motion[2]
    # of the memory without its lead; exact where both have one direction
    stored = -0.5 * MEMORY * radius * kept * min(kept / ready, 2.0) if ready < 0.0 and kept < 0.0 else 0.0
    share, sprung = _take_elastic(now, stored, by_pressure, by_shear, radius, state.wheel_elastic[w])
    for m in range(3):
        motion[m] *= share
    state.wheel_sinkage[w] = deepest + sprung
    work.greatest_pressure[k] = max(work.greatest_pressure[k], now.peak_pressure)
    figure[SINKAGE_OF_WHEEL], figure[ENTRY], figure[EXIT] = max(sinkage, 0.0), now.entry_angle, now.exit_angle
    figure[NORMAL], figure[THRUST], figure[RESISTANCE] = now.normal_force, back * now.thrust, back * now.resistance
    figure[SIDE], figure[TORQUE] = now.side_force, back * now.torque
    figure[PEAK_PRESSURE], figure[PEAK_SHEAR] = now.peak_pressure, now.peak_shear
    if sinkage > 0.0:
        _leave_rut(wheels, w, k, terrain, origin, slip_of(motion[0], motion[1]), sinkage, state, work)


@inlined
def _sinking_by_lean(radius, half_width, axis, frame, twist):
    """Rate at which a leaning wheel sinks as it falls over, without motion of its centre [m/s]."""
    lean = axis[0] * frame[2, 0] + axis[1] * frame[2, 1] + axis[2] * frame[2, 2]
    if lean == 0.0:
        return 0.0
    growth = lean * (2.0 * half_width - radius / math.sqrt(max(1.0 - lean * lean, 1e-12)))
    nx, ny, nz = frame[2, 0], frame[2, 1], frame[2, 2]
    falling = twist[3] * (axis[1] * nz - axis[2] * ny)
    falling += twist[4] * (axis[2] * nx - axis[0] * nz) + twist[5] * (axis[0] * ny - axis[1] * nx)
    return growth * falling


@inlined
def _take_elastic(now, sheared, by_pressure, by_shear, radius, elastic):
    """Updates the elastic energy, bounded by the work done.

    Args:
        now: forces of the soil.
        sheared: elastic energy that the shear would hold [J].
        by_pressure, by_shear: work of the wheel against pressure and shear in the step [J].
        radius: of the wheel [m].
        elastic: row of `SoilState.wheel_elastic`, changed.

    Returns:
        Share of the shear memory that remains, and by how much deeper the unloading lines start [m].
    """
    pressed, share, sprung = max(now.rebound_energy, 0.0), 1.0, 0.0
    of_shear = sheared - elastic[OF_SHEAR] - by_shear
    lacking = of_shear + pressed - elastic[OF_PRESSURE] - by_pressure
    elastic[OF_PRESSURE], elastic[OF_SHEAR] = pressed, sheared
    rebound = 2.0 * pressed / now.normal_force if now.normal_force > 0.0 else 0.0
    if lacking > 0.0:
        # what one lacks, work done against the other may supply
        of_shear = min(max(of_shear, 0.0), lacking)
        elastic[OF_SHEAR] -= of_shear
        elastic[OF_PRESSURE] -= lacking - of_shear
        # forces grow with the root of the energy; a debt remains until the wheel has done work
        if of_shear > 0.0:
            share = math.sqrt(elastic[OF_SHEAR] / sheared) if elastic[OF_SHEAR] > 0.0 else 0.0
        if lacking > of_shear:
            left = math.sqrt(elastic[OF_PRESSURE] / pressed) if elastic[OF_PRESSURE] > 0.0 else 0.0
            sprung = (1.0 - left) * rebound
    # as steep as the rim is where it meets the soil
    elastic[REBOUND] = min(rebound / max(now.entry_angle, 1e-9), MEMORY * radius)
    return share, sprung


@kernel
def _fresh_pressure(wheels: Wheels, w, k, slip, sinkage):
    """Pressure of fresh soil at the wheel's lowest line [Pa]."""
    soils = wheels.soils
    exponent = sinkage_exponent(soils, k, slip)
    stiffness = pressure_stiffness(soils, k, 2.0 * wheels.half_width[w], exponent)
    return stiffness / sinkage_growth(soils, k, slip) ** (exponent + 0.5) * sinkage**exponent


@inlined
def _leave_rut(wheels: Wheels, w, k, terrain: Terrain, origin, slip, sinkage, state: SoilState, work: WheelWorkspace):
    """Presses the cells under the lowest line of the wheel down to its sinkage."""
    frame, centre, soils, cell = work.frame[w], work.centre[w], wheels.soils, state.soil_cell
    pressure = math.nan
    number = max(int(2.0 * wheels.half_width[w] / wheels.cell[0] + 0.5), 1)
    for place in range(number):
        aside = wheels.half_width[w] * (2.0 * (place + 0.5) / number - 1.0)
        x = origin[0] + centre[0] + aside * frame[1, 0]
        y = origin[1] + centre[1] + aside * frame[1, 1]
        at = open_cell(terrain, wheels.cell[0], state, x, y)
        if sinkage > cell[at + SINKAGE]:
            if math.isnan(pressure):
                pressure = _fresh_pressure(wheels, w, k, slip, sinkage)
            stays = unloaded_sinkage(soils.unloading_stiffness[k], soils.unloading_slope[k], sinkage, pressure)
            press_surface(cell, at, sinkage, pressure, stays)
