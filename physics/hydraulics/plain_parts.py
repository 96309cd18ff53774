"""Plain parts in lockstep: each is one cylinder and the edges of one valve between lines of constant pressure.

The scheme is that of `implicit` and `substep`, with a part's system solved by hand. With y = c' - c of each line,
r = dp/dc and G the sum of its edges' slopes,

    y = f -+ s v',  f = h Q / (V + C r + h G r),  s = h S / (V + C r + h G r),
    v' (1 + A (m + h (k + K))) = v + h b + A (m v + h (S_A (p_a + r_a f_a) - S_B (p_b + r_b f_b) + R)),
    K = S_A r_a s_a + S_B r_b s_b.

They lie side by side in `NetworkWorkspace.lanes` and are integrated without branches, so that one vector instruction
advances several of them. This scheme covers a step in which the cylinder slides or sticks throughout, stays away from
the ends of its stroke, and the error of the whole step is within the tolerance. Any other part is left to
`implicit.advance_part`, from the start of the step.
"""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import embedded, kernel
from grouser.physics.hydraulics.actuator_geometry import ActuatorGeometry
from grouser.physics.hydraulics.flows import SECANT
from grouser.physics.hydraulics.network import LANES, NO_FLOW_ELEMENT, PLAIN_EDGES, PLAIN_NUMBERS, HydraulicNetwork
from grouser.physics.hydraulics.oil import Oil, aerated, pressure_of, pressure_rise
from grouser.physics.hydraulics.prediction import (
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_SPOOL,
    TRACE_TIME,
    TRACE_VELOCITY,
    Prediction,
)
from grouser.physics.hydraulics.spools import SPOOL_REST, spool_response, spool_target
from grouser.physics.hydraulics.substep import SHARING
from grouser.physics.hydraulics.trials import (
    PRESSURE_ERROR,
    SLIDING,
    SPEED_ERROR,
    STUCK,
    NetworkWorkspace,
    extrapolated,
    share_of_error,
)

# Start of the lanes of each number in a block: constants, state and loads, results.
# fmt: off
(
    _VOLUME_A, _VOLUME_B, _COMPLIANCE_A, _COMPLIANCE_B, _AREA_A, _AREA_B, _STROKE, _WALL, _MASS, _VISCOUS, _BUFFER,
    _GAIN, _WIDTH, _LINEAR, _OPENING_0, _OPENING_1, _OPENING_2, _OPENING_3, _SLOPE_0, _SLOPE_1, _SLOPE_2, _SLOPE_3,
    _REST, _RATE, _WHOLE_0, _WHOLE_1, _WHOLE_2, _WHOLE_3, _HALF_0, _HALF_1, _HALF_2, _HALF_3,
    _PRESSURE_A, _PRESSURE_B, _CONTENT_A, _CONTENT_B, _POSITION, _VELOCITY, _DIRECTION, _SPOOL, _SPOOL_SPEED, _HELD,
    _TARGET, _SLIDES, _BRAKED, _FRICTION, _MOBILITY, _ACCELERATION, _OUTER_0, _OUTER_1, _OUTER_2, _OUTER_3,
    _PASSED_0, _PASSED_1, _PASSED_2, _PASSED_3, _LOST_0, _LOST_1, _LOST_2, _LOST_3,
    _PUSH, _GRIP, _WORK, _OIL_WORK, _VISCOUS_LOSS, _FRICTION_LOSS, _FITS,
) = range(0, PLAIN_NUMBERS * LANES, LANES)
# fmt: on


class _Part(NamedTuple):
    """Constants of a step as in `HydraulicNetwork` and `Loads`; edges 0 and 1 are on line a, 2 and 3 on line b."""

    volume_a: float
    volume_b: float
    compliance_a: float
    compliance_b: float
    area_a: float
    area_b: float
    stroke: float
    wall: float
    mass: float
    viscous: float
    friction: float
    mobility: float
    acceleration: float
    slides: bool
    gain: float
    width: float
    linear: bool
    opening_0: float
    opening_1: float
    opening_2: float
    opening_3: float
    slope_0: float
    slope_1: float
    slope_2: float
    slope_3: float
    outer_0: float
    outer_1: float
    outer_2: float
    outer_3: float


class _State(NamedTuple):
    content_a: float
    content_b: float
    pressure_a: float
    pressure_b: float
    position: float
    velocity: float
    direction: float


class _Accounts(NamedTuple):
    """As in `trials.Accounts`, volumes into the lines; whether the regime holds."""

    passed_0: float
    passed_1: float
    passed_2: float
    passed_3: float
    lost_0: float
    lost_1: float
    lost_2: float
    lost_3: float
    push: float
    grip: float
    work: float
    oil_work: float
    viscous_loss: float
    friction_loss: float
    holds: bool


@kernel
def advance_plain_parts(
    network: HydraulicNetwork,
    geometry: ActuatorGeometry,
    command,
    step: float,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Advances the plain parts that the lockstep scheme covers in this step; the others keep 0 `substeps`.

    Args:
        network, geometry: the hydraulics.
        command: of each valve [-].
        step: [s].
        workspace: of the network, with `loads`, and the state at the start in `now`; changed.
        prediction: its trace, changed.
    """
    if workspace.faults.leaking[0]:
        return
    lanes = workspace.lanes
    if workspace.lanes_step[0] != step:
        for p in range(network.plain_part.shape[0]):
            _load_constants(network, geometry, p, step, lanes[p // LANES, p % LANES :])
        workspace.lanes_step[0] = step
    for p in range(network.plain_part.shape[0]):
        _load_state(network, geometry, p, command, workspace, lanes[p // LANES, p % LANES :])
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    for block in range(lanes.shape[0]):
        _advance_block(oil, step, lanes[block])
    for p in range(network.plain_part.shape[0]):
        if lanes[p // LANES, _FITS + p % LANES] > 0.0:
            _store_state(network, geometry, p, step, workspace, prediction, lanes[p // LANES, p % LANES :])


@kernel
def _load_constants(network: HydraulicNetwork, geometry: ActuatorGeometry, p, step: float, lane):
    """Writes the constants of plain part p for steps of this length; `lane` is its block from its lane on."""
    part = network.plain_part[p]
    a = network.part_actuator[network.part_actuator_start[part]]
    valve = network.part_valve[network.part_valve_start[part]]
    line_a, line_b = network.line_a[a], network.line_b[a]
    lane[_VOLUME_A], lane[_VOLUME_B] = network.volume[line_a], network.volume[line_b]
    lane[_COMPLIANCE_A], lane[_COMPLIANCE_B] = network.compliance[line_a], network.compliance[line_b]
    lane[_AREA_A], lane[_AREA_B] = network.area_a[a], network.area_b[a]
    lane[_STROKE], lane[_WALL] = network.stroke[a], network.wall[a]
    lane[_MASS], lane[_VISCOUS], lane[_BUFFER] = network.mass[a], network.viscous[a], network.buffer[a]
    for n in range(PLAIN_EDGES):
        e = network.plain_edge[p, n]
        lane[_OPENING_0 + n * LANES] = lane[_SLOPE_0 + n * LANES] = 0.0
        if e != NO_FLOW_ELEMENT:
            lane[_OPENING_0 + n * LANES] = network.opening[e]
            lane[_SLOPE_0 + n * LANES] = network.slope[e]
            lane[_GAIN], lane[_WIDTH] = network.gain[e], network.transition[e]
            lane[_LINEAR] = 1.0 if network.linear[e] else 0.0
    frequency, damping = geometry.spool_frequency[valve], geometry.spool_damping[valve]
    lane[_REST], lane[_RATE] = SPOOL_REST * frequency, geometry.spool_rate[valve]
    for first, time in ((_WHOLE_0, step), (_HALF_0, 0.5 * step)):
        response = spool_response(frequency, damping, time)
        for n in range(4):
            lane[first + n * LANES] = response[n]


@kernel
def _load_state(network: HydraulicNetwork, geometry: ActuatorGeometry, p, command, workspace: NetworkWorkspace, lane):
    """Writes state and loads of plain part p to its lane."""
    part, now, loads, faults = network.plain_part[p], workspace.now, workspace.loads, workspace.faults
    a = network.part_actuator[network.part_actuator_start[part]]
    valve = network.part_valve[network.part_valve_start[part]]
    line_a, line_b = network.line_a[a], network.line_b[a]
    lane[_PRESSURE_A], lane[_PRESSURE_B] = now.pressure[line_a], now.pressure[line_b]
    lane[_CONTENT_A], lane[_CONTENT_B] = now.content[line_a], now.content[line_b]
    lane[_POSITION], lane[_VELOCITY] = now.position[a], now.velocity[a]
    lane[_DIRECTION] = now.direction[a]
    slides = now.regime[a] == SLIDING
    lane[_SLIDES] = 1.0 if slides else 0.0
    lane[_BRAKED] = 1.0 if not slides and loads.brake[a] > 0.0 else 0.0
    lane[_FRICTION] = network.dry[a] + loads.brake[a]
    lane[_MOBILITY], lane[_ACCELERATION] = loads.mobility[a, a], loads.acceleration[a]
    for n in range(PLAIN_EDGES):
        e = network.plain_edge[p, n]
        if e != NO_FLOW_ELEMENT:
            inner = line_a if n < PLAIN_EDGES // 2 else line_b
            outer = network.end[e] if network.origin[e] == inner else network.origin[e]
            lane[_OUTER_0 + n * LANES] = now.pressure[outer]
    lane[_HELD], lane[_TARGET] = spool_target(geometry, valve, command[valve], now.spool[valve, 2])
    lane[_SPOOL], lane[_SPOOL_SPEED] = now.spool[valve, 0], now.spool[valve, 1]
    free = not faults.stuck_spool[valve] and faults.slow_spool[valve] == 0.0
    lane[_FITS] = 1.0 if free and (slides or now.regime[a] == STUCK) else 0.0


@kernel
def _store_state(
    network: HydraulicNetwork,
    geometry: ActuatorGeometry,
    p,
    step: float,
    workspace: NetworkWorkspace,
    prediction: Prediction,
    lane,
):
    """Reads state and accounts of plain part p after the step from its lane."""
    part, now, accounts = network.plain_part[p], workspace.now, workspace.step_accounts
    a = network.part_actuator[network.part_actuator_start[part]]
    valve = network.part_valve[network.part_valve_start[part]]
    line_a, line_b = network.line_a[a], network.line_b[a]
    now.pressure[line_a], now.pressure[line_b] = lane[_PRESSURE_A], lane[_PRESSURE_B]
    now.content[line_a], now.content[line_b] = lane[_CONTENT_A], lane[_CONTENT_B]
    now.position[a], now.velocity[a] = lane[_POSITION], lane[_VELOCITY]
    now.direction[a] = lane[_DIRECTION]
    now.spool[valve, 0], now.spool[valve, 1] = lane[_SPOOL], lane[_SPOOL_SPEED]
    now.spool[valve, 2] = lane[_HELD]
    for n in range(PLAIN_EDGES):
        e = network.plain_edge[p, n]
        if e != NO_FLOW_ELEMENT:
            inward = network.end[e] == (line_a if n < PLAIN_EDGES // 2 else line_b)
            passed = lane[_PASSED_0 + n * LANES]
            accounts.passed[e], accounts.lost[e] = passed if inward else -passed, lane[_LOST_0 + n * LANES]
    accounts.push[a], accounts.grip[a], accounts.stop[a] = lane[_PUSH], lane[_GRIP], 0.0
    accounts.work[a], accounts.oil_work[a] = lane[_WORK], lane[_OIL_WORK]
    accounts.viscous_loss[a], accounts.friction_loss[a] = lane[_VISCOUS_LOSS], lane[_FRICTION_LOSS]
    accounts.stop_loss[a] = 0.0
    trace = prediction.trace[a, 0]
    trace[TRACE_TIME], trace[TRACE_POSITION], trace[TRACE_VELOCITY] = step, now.position[a], now.velocity[a]
    trace[TRACE_PISTON_PRESSURE], trace[TRACE_ROD_PRESSURE] = now.pressure[line_a], now.pressure[line_b]
    trace[TRACE_SPOOL] = now.spool[valve, 0]
    prediction.trace_length[a] = workspace.substeps[part] = 1


@kernel
def _advance_block(oil: Oil, step: float, block):
    """Advances the parts in a block: a whole step and two half steps, extrapolated where the error is small enough."""
    for k in range(LANES):
        part = _Part(
            *(block[_VOLUME_A + k], block[_VOLUME_B + k], block[_COMPLIANCE_A + k], block[_COMPLIANCE_B + k]),
            *(block[_AREA_A + k], block[_AREA_B + k], block[_STROKE + k], block[_WALL + k]),
            *(block[_MASS + k], block[_VISCOUS + k], block[_FRICTION + k]),
            *(block[_MOBILITY + k], block[_ACCELERATION + k], block[_SLIDES + k] > 0.0),
            *(block[_GAIN + k], block[_WIDTH + k], block[_LINEAR + k] > 0.0),
            *(block[_OPENING_0 + k], block[_OPENING_1 + k], block[_OPENING_2 + k], block[_OPENING_3 + k]),
            *(block[_SLOPE_0 + k], block[_SLOPE_1 + k], block[_SLOPE_2 + k], block[_SLOPE_3 + k]),
            *(block[_OUTER_0 + k], block[_OUTER_1 + k], block[_OUTER_2 + k], block[_OUTER_3 + k]),
        )
        start = _State(
            *(block[_CONTENT_A + k], block[_CONTENT_B + k], block[_PRESSURE_A + k], block[_PRESSURE_B + k]),
            *(block[_POSITION + k], block[_VELOCITY + k], block[_DIRECTION + k]),
        )
        spool, speed, target, rest = block[_SPOOL + k], block[_SPOOL_SPEED + k], block[_TARGET + k], block[_REST + k]
        farthest = step * block[_RATE + k]
        response = block[_WHOLE_0 + k], block[_WHOLE_1 + k], block[_WHOLE_2 + k], block[_WHOLE_3 + k]
        moved, _ = _follow(spool, speed, target, rest, response, farthest, step)
        whole, once = _substep(oil, part, step, start, 0.5 * (spool + moved))
        response = block[_HALF_0 + k], block[_HALF_1 + k], block[_HALF_2 + k], block[_HALF_3 + k]
        middle, speed = _follow(spool, speed, target, rest, response, 0.5 * farthest, 0.5 * step)
        half, first = _substep(oil, part, 0.5 * step, start, 0.5 * (spool + middle))
        place, speed = _follow(middle, speed, target, rest, response, 0.5 * farthest, 0.5 * step)
        end, second = _substep(oil, part, 0.5 * step, half, 0.5 * (middle + place))
        block[_SPOOL + k], block[_SPOOL_SPEED + k] = place, speed

        # a part that is almost at rest behind brakes needs no half steps
        relaxed = (block[_BRAKED + k] > 0.0) & (moved == spool) & once.holds & (_difference(start, whole) <= 1.0)
        halves_do = first.holds & second.holds & once.holds & (_difference(whole, end) <= 1.0)
        beyond = -1.0 if relaxed else 1.0
        position = extrapolated(beyond, whole.position, end.position)
        lowest = min(min(start.position, whole.position), min(half.position, min(end.position, position)))
        highest = max(max(start.position, whole.position), max(half.position, max(end.position, position)))
        inside = min(lowest, part.stroke - highest) > block[_BUFFER + k]
        block[_FITS + k] = block[_FITS + k] if inside & (relaxed | halves_do) else 0.0

        content_a = extrapolated(beyond, whole.content_a, end.content_a)
        content_b = extrapolated(beyond, whole.content_b, end.content_b)
        block[_CONTENT_A + k], block[_CONTENT_B + k] = content_a, content_b
        block[_PRESSURE_A + k], block[_PRESSURE_B + k] = pressure_of(oil, content_a), pressure_of(oil, content_b)
        block[_POSITION + k], block[_DIRECTION + k] = position, end.direction
        block[_VELOCITY + k] = extrapolated(beyond, whole.velocity, end.velocity)
        block[_PASSED_0 + k] = extrapolated(beyond, once.passed_0, first.passed_0 + second.passed_0)
        block[_PASSED_1 + k] = extrapolated(beyond, once.passed_1, first.passed_1 + second.passed_1)
        block[_PASSED_2 + k] = extrapolated(beyond, once.passed_2, first.passed_2 + second.passed_2)
        block[_PASSED_3 + k] = extrapolated(beyond, once.passed_3, first.passed_3 + second.passed_3)
        block[_LOST_0 + k] = extrapolated(beyond, once.lost_0, first.lost_0 + second.lost_0)
        block[_LOST_1 + k] = extrapolated(beyond, once.lost_1, first.lost_1 + second.lost_1)
        block[_LOST_2 + k] = extrapolated(beyond, once.lost_2, first.lost_2 + second.lost_2)
        block[_LOST_3 + k] = extrapolated(beyond, once.lost_3, first.lost_3 + second.lost_3)
        block[_PUSH + k] = extrapolated(beyond, once.push, first.push + second.push)
        block[_GRIP + k] = extrapolated(beyond, once.grip, first.grip + second.grip)
        block[_WORK + k] = extrapolated(beyond, once.work, first.work + second.work)
        block[_OIL_WORK + k] = extrapolated(beyond, once.oil_work, first.oil_work + second.oil_work)
        block[_VISCOUS_LOSS + k] = extrapolated(beyond, once.viscous_loss, first.viscous_loss + second.viscous_loss)
        block[_FRICTION_LOSS + k] = extrapolated(beyond, once.friction_loss, first.friction_loss + second.friction_loss)


@embedded
def _difference(whole, halves):
    """Greatest difference of two results, as a multiple of the tolerance."""
    return max(
        share_of_error(halves.velocity - whole.velocity, halves.velocity, SPEED_ERROR),
        max(
            share_of_error(halves.pressure_a - whole.pressure_a, halves.pressure_a, PRESSURE_ERROR),
            share_of_error(halves.pressure_b - whole.pressure_b, halves.pressure_b, PRESSURE_ERROR),
        ),
    )


@embedded
def _follow(place, speed, target, rest, response, farthest, time):
    """Position of a spool after a time, and its speed."""
    away = place - target
    rests = (abs(away) < SPOOL_REST) & (abs(speed) < rest)
    later = target + (0.0 if rests else response[0] * away + response[1] * speed)
    speed = 0.0 if rests else response[2] * away + response[3] * speed
    way = min(max(later - place, -farthest), farthest)
    limited = abs(later - place) > farthest
    later, speed = place + way if limited else later, way / time if limited else speed
    return min(max(later, -1.0), 1.0), 0.0 if abs(later) > 1.0 else speed


@embedded
def _edge(part, share, drop):
    """Flow of an edge at a pressure drop, and its slope."""
    square, size = drop * drop, abs(drop)
    wide = max(size, part.width) if part.linear else math.sqrt(square + part.width * part.width)
    root = max(share, 0.0) * part.gain / math.sqrt(wide)
    curved = 0.5 if size >= part.width else 0.0
    return root * drop, root * (1.0 - (curved if part.linear else 0.5 * square / (square + SECANT * SECANT)))


@embedded
def _substep(oil: Oil, part, step: float, state, spool):
    """One linearly implicit Euler step with a mean spool."""
    drop_0, drop_1 = part.outer_0 - state.pressure_a, part.outer_1 - state.pressure_a
    drop_2, drop_3 = part.outer_2 - state.pressure_b, part.outer_3 - state.pressure_b
    flow_0, slope_0 = _edge(part, part.opening_0 + part.slope_0 * spool, drop_0)
    flow_1, slope_1 = _edge(part, part.opening_1 + part.slope_1 * spool, drop_1)
    flow_2, slope_2 = _edge(part, part.opening_2 + part.slope_2 * spool, drop_2)
    flow_3, slope_3 = _edge(part, part.opening_3 + part.slope_3 * spool, drop_3)

    stiff_a, stiff_b = pressure_rise(oil, state.pressure_a), pressure_rise(oil, state.pressure_b)
    filled_a, filled_b = part.area_a * state.position, part.area_b * (part.stroke - state.position)
    room_a = part.volume_a + part.compliance_a * stiff_a + filled_a * (1.0 + part.wall * stiff_a)
    room_b = part.volume_b + part.compliance_b * stiff_b + filled_b * (1.0 + part.wall * stiff_b)
    take_a = step / (room_a + step * (slope_0 + slope_1) * stiff_a)
    take_b = step / (room_b + step * (slope_2 + slope_3) * stiff_b)
    fill_a, fill_b = take_a * (flow_0 + flow_1), take_b * (flow_2 + flow_3)
    sweep_a, sweep_b = take_a * part.area_a, take_b * part.area_b

    # the piston's speed, or the impulse that holds it
    push_before = part.area_a * state.pressure_a - part.area_b * state.pressure_b
    push = push_before + part.area_a * stiff_a * fill_a - part.area_b * stiff_b * fill_b
    spring = part.area_a * stiff_a * sweep_a + part.area_b * stiff_b * sweep_b
    friction = -part.friction * state.direction if part.slides else 0.0
    free = state.velocity + step * part.acceleration
    free += part.mobility * (part.mass * state.velocity + step * (push + friction))
    sliding = free / (1.0 + part.mobility * (part.mass + step * (part.viscous + spring)))
    hold = -free / ((1.0 + SHARING) * part.mobility)
    speed = sliding if part.slides else 0.0
    grip = step * friction if part.slides else hold
    against = (sliding * state.direction < 0.0) & (part.friction > 0.0)
    holds = not against if part.slides else abs(hold) <= step * part.friction

    change_a, change_b = fill_a - sweep_a * speed, fill_b + sweep_b * speed
    rise_a, rise_b = stiff_a * change_a, stiff_b * change_b
    push = push_before + part.area_a * rise_a - part.area_b * rise_b
    resistance, mean = part.viscous * speed, 0.5 * (state.velocity + speed)
    passed_0, passed_1 = step * (flow_0 - slope_0 * rise_a), step * (flow_1 - slope_1 * rise_a)
    passed_2, passed_3 = step * (flow_2 - slope_2 * rise_b), step * (flow_3 - slope_3 * rise_b)
    accounts = _Accounts(
        *(passed_0, passed_1, passed_2, passed_3),
        *(passed_0 * (drop_0 - 0.5 * rise_a), passed_1 * (drop_1 - 0.5 * rise_a)),
        *(passed_2 * (drop_2 - 0.5 * rise_b), passed_3 * (drop_3 - 0.5 * rise_b)),
        *(step * (push - resistance), grip, step * push * mean, 0.5 * step * (push_before + push) * speed),
        *(step * resistance * mean, -grip * mean, holds),
    )
    content_a, content_b = state.content_a + change_a, state.content_b + change_b
    direction = -1.0 if speed < 0.0 else state.direction
    direction = 1.0 if speed > 0.0 else direction
    later = _State(
        *(content_a, content_b, pressure_of(oil, content_a), pressure_of(oil, content_b)),
        *(state.position + step * speed, speed, direction),
    )
    return later, accounts
