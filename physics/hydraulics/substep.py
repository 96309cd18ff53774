"""One linearly implicit Euler step of a part of a circuit.

In a sub-step h every line takes in what its passages, pumps and actuators bring at the end of it, linearised where it
begins. With y = c' - c, the change of content, and p' = p + (dp/dc) y,

    (V + C dp/dc) y_i = h (Q_i + sum_j dQ_i/dp_j dp_j/dc_j y_j -+ S v'),
    J_b = h (S_A p_A' - S_B p_B' - k v'_b + R_b) - m (v'_b - v_b) + friction,
    v'_a = v_a + h b_a + sum_b A_ab J_b,

where J is an actuator's impulse on the mechanism, b what that does by itself, A its mobility along the actuators, and R
what friction and buffers do. They are one linear system for each part of the circuit (linearly implicit Euler; Hairer
and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.9); of an actuator that sticks or stops, whose
speed is known, the impulse of what holds it is found instead.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.cylinder import end_buffer
from grouser.physics.hydraulics.flows import flow_per_opening, opening, wanted_swash
from grouser.physics.hydraulics.network import NO_LINE, PILOTS
from grouser.physics.hydraulics.oil import aerated, pressure_of, pressure_rise
from grouser.physics.hydraulics.trials import (
    AT_END,
    AT_START,
    PRESSURE_ERROR,
    SLIDING,
    SPEED_ERROR,
    STUCK,
    actuator_volumes,
    last_passage,
    push_of,
    share_of_error,
)
from grouser.physics.multibody.elimination import eliminate, eliminate_in_order

# Error of a swash plate that passes [-].
_SWASH_ERROR = 1e-2
# By how much stops and brakes give, as a share of what the mechanism would by itself.
SHARING = 1e-4
# Rounds in which actuators find out whether they slide, stick or stop.
_MOST_ROUNDS = 8


@kernel
def advance_once(network, part, step, asks, trial, workspace, books):
    """One linearly implicit Euler step of a part.

    Args:
        asks: whether to find out by how much it bends.

    Returns:
        By how much it bends: half of the difference between the changes that it finds and those that the rates of its
        start would give, as a multiple of what passes; 0 unless asked.
    """
    first, last = network.part_line_start[part], network.part_line_start[part + 1]
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    unknown = network.part_unknown_start[part]
    size = network.part_unknown_start[part + 1] - unknown
    measure_lines(network, part, trial, workspace)
    for _ in range(_MOST_ROUNDS):
        _assemble(network, part, step, asks, trial, workspace)
        if not eliminate_in_order(
            *(workspace.matrix, workspace.right, size, unknown),
            *(network.below_start, network.below, network.beside_start, network.beside),
        ) and not _solve_by_pivots(network, part, size, step, trial, workspace):
            workspace.right[:] = math.nan  # for the finite check to find
        for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
            speed = size - network.part_actuator_start[part + 1] + k
            workspace.outcome[network.part_actuator[k]] = workspace.right[speed]
        if _regimes_hold(network, part, step, trial, workspace):
            break
    bend = _local_error(network, part, step, trial, workspace) if asks else 0.0
    _book_passages(network, part, step, trial, workspace, books)
    _book_pumps(network, part, step, trial, workspace, books)
    _turn_swash(network, part, step, trial, workspace)
    _move_actuators(network, part, step, trial, workspace, books)
    for k in range(first, last):
        line = network.part_line[k]
        trial.content[line] += workspace.right[k - first]
        trial.pressure[line] = pressure_of(oil, trial.content[line])
    return bend


@kernel
def _local_error(network, part, step, trial, workspace):
    """What `advance_once` returns, from its solution."""
    right, straight, mobility = workspace.right, workspace.straight, workspace.loads.mobility
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    for k in range(first, last):
        # errors of the room that actuators make end with their motion: they do not count
        a = network.part_actuator[k]
        moved = step * _later_speed(network, a, step, trial, workspace)
        line_a, line_b = network.line_a[a], network.line_b[a]
        if network.local[line_a] >= 0:
            straight[network.local[line_a]] -= network.area_a[a] * moved / workspace.capacity[line_a]
        if network.local[line_b] >= 0:
            straight[network.local[line_b]] += network.area_b[a] * moved / workspace.capacity[line_b]
    largest = 0.0
    for i in range(lines):
        line = network.part_line[network.part_line_start[part] + i]
        pressure, rise = trial.pressure[line], workspace.rise[line]
        late = share_of_error(rise * (right[i] - straight[i]), pressure, PRESSURE_ERROR)
        if late > 0.0:
            # errors of flows add up for as long as the line takes to forget them
            largest = max(largest, late / min(workspace.relaxation[i], 1.0))
        if network.gas_volume[line] > 0.0:
            # gas yields less and less
            largest = max(largest, share_of_error(rise * right[i], pressure, PRESSURE_ERROR))
    for k in range(first, last):
        a = network.part_actuator[k]
        change = _later_speed(network, a, step, trial, workspace) - trial.velocity[a]
        if trial.regime[a] == SLIDING:
            change -= step * workspace.loads.acceleration[a]
            for i in range(first, last):
                b = network.part_actuator[i]
                slides = trial.regime[b] == SLIDING
                change -= mobility[a, b] * (workspace.impulse[b] if slides else right[lines + i - first])
        largest = max(largest, share_of_error(change, trial.velocity[a], SPEED_ERROR))
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        wanted, _, _ = wanted_swash(network, p, trial.pressure)
        by_rate = min(step / network.response[p], 1.0) if network.response[p] > 0.0 else 1.0
        share = by_rate * step / (network.response[p] + step)
        largest = max(largest, share * abs(min(max(wanted, 0.0), 1.0) - trial.swash[p]) / _SWASH_ERROR)
    return 0.5 * largest


@kernel
def measure_lines(network, part, trial, workspace):
    """Rise of the pressure of each line of a part with its content, and what it takes in for that."""
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    capacity, rise = workspace.capacity, workspace.rise
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        rise[line] = pressure_rise(oil, trial.pressure[line])
        give = network.compliance[line] + _gas_compliance(network, line, trial.pressure[line])
        capacity[line] = network.volume[line] + give * rise[line]
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        line_a, line_b, wall = network.line_a[a], network.line_b[a], network.wall[a]
        filled_a, filled_b = actuator_volumes(network, a, trial.position[a])
        capacity[line_a] += filled_a * (1.0 + wall * rise[line_a])
        capacity[line_b] += filled_b * (1.0 + wall * rise[line_b])


@kernel
def _assemble(network, part, step, asks, trial, workspace):
    """The linear system of a sub-step; what `_local_error` needs of it where that is asked for."""
    _begin(network, part, workspace)
    _add_passages(network, part, step, trial, workspace)
    _add_pumps(network, part, step, trial, workspace)
    if asks:
        _go_straight(network, part, workspace)
    _add_actuators(network, part, step, trial, workspace)


@kernel
def _begin(network, part, workspace):
    """The lines' capacities on the diagonal, and nothing else."""
    first, last = network.part_line_start[part], network.part_line_start[part + 1]
    unknown = network.part_unknown_start[part]
    matrix, right = workspace.matrix, workspace.right
    for i in range(network.part_unknown_start[part + 1] - unknown):
        for p in range(network.below_start[unknown + i], network.below_start[unknown + i + 1]):
            matrix[network.below[p], i] = 0.0
        for p in range(network.beside_start[unknown + i], network.beside_start[unknown + i + 1]):
            matrix[i, network.beside[p]] = 0.0
        matrix[i, i] = right[i] = 0.0
    for i in range(last - first):
        matrix[i, i] = workspace.capacity[network.part_line[first + i]]


@kernel
def _solve_by_pivots(network, part, size, step, trial, workspace):
    """Solves the system where the order of its unknowns finds no pivot; whether there is a solution."""
    workspace.matrix[:] = 0.0
    _assemble(network, part, step, False, trial, workspace)
    first = network.part_line_start[part]
    for i in range(network.part_line_start[part + 1] - first):
        # rows of lines and of actuators become of a size
        share = 1.0 / workspace.capacity[network.part_line[first + i]]
        for j in range(size):
            workspace.matrix[i, j] *= share
        workspace.right[i] *= share
    return eliminate(workspace.matrix, workspace.right, size, 0.0)


@kernel
def _gas_compliance(network, line, pressure):
    """dV/dp of an accumulator's gas, V0 (p0/p)^(1/n) / (n p), once it is pressed [m3/Pa]."""
    if network.gas_volume[line] == 0.0 or pressure <= network.gas_pressure[line]:
        return 0.0
    index = network.gas_index[line]
    return network.gas_volume[line] * (network.gas_pressure[line] / pressure) ** (1.0 / index) / (index * pressure)


@kernel
def _add_flow(network, line, amount, workspace):
    """Oil that a line takes in, with the flows of its start [m3]."""
    row = network.local[line]
    if row >= 0:
        workspace.right[row] += amount


@kernel
def _add_slope(network, line, over, slope, workspace):
    """What a line takes in for a change of another's pressure, `slope` [m3/Pa]."""
    row, column = network.local[line], network.local[over]
    if row >= 0 and column >= 0:
        workspace.matrix[row, column] -= slope * workspace.rise[over]


@kernel
def _add_passages(network, part, step, trial, workspace):
    """Flows of the passages, from origin to end."""
    for k in range(network.part_passage_start[part], last_passage(network, part, workspace.faults)):
        e = network.part_passage[k]
        origin, end = network.origin[e], network.end[e]
        drop = trial.pressure[origin] - trial.pressure[end]
        share, follows = opening(network, e, trial.pressure, workspace.mean_spool, trial.position, workspace.faults)
        flow = slope = whole = 0.0
        if share > 0.0:
            whole, slope = flow_per_opening(network, e, drop)
            whole += network.laminar[e] * drop
            flow, slope = share * whole, share * (slope + network.laminar[e])
        workspace.flow[e], workspace.slope[e] = flow, slope
        workspace.pilot_slope[e] = whole if follows else 0.0
        if slope == 0.0:
            continue
        _add_flow(network, origin, -step * flow, workspace)
        _add_flow(network, end, step * flow, workspace)
        _add_slope(network, origin, origin, -step * slope, workspace)
        _add_slope(network, origin, end, step * slope, workspace)
        _add_slope(network, end, origin, step * slope, workspace)
        _add_slope(network, end, end, -step * slope, workspace)
        if follows:
            for pilot in range(PILOTS):
                line = network.pilot[e, pilot]
                if line == NO_LINE:
                    break
                change = step * whole * network.weight[e, pilot]
                _add_slope(network, origin, line, -change, workspace)
                _add_slope(network, end, line, change, workspace)


@kernel
def _pump(network, p, step, trial, workspace):
    """Flow of pump p at the start of a sub-step with the swash of its end [m3/s], and its slopes [m3/(s Pa)]."""
    wanted, over_outlet, over_sense = wanted_swash(network, p, trial.pressure)
    share = step / (network.response[p] + step)
    swash = trial.swash[p] + share * (wanted - trial.swash[p])
    full = 0.0 if workspace.faults.stopped_pump[p] else network.displacement[p] * network.speed[p]
    return full * swash, full * share * over_outlet, full * share * over_sense


@kernel
def _add_pumps(network, part, step, trial, workspace):
    """Flows of the pumps, from inlet to outlet."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        outlet, inlet, sense = network.outlet[p], network.inlet[p], network.sense[p]
        flow, over_outlet, over_sense = _pump(network, p, step, trial, workspace)
        _add_flow(network, outlet, step * flow, workspace)
        _add_flow(network, inlet, -step * flow, workspace)
        _add_slope(network, outlet, outlet, step * over_outlet, workspace)
        _add_slope(network, inlet, outlet, -step * over_outlet, workspace)
        if sense != NO_LINE:
            _add_slope(network, outlet, sense, step * over_sense, workspace)
            _add_slope(network, inlet, sense, -step * over_sense, workspace)


@kernel
def _friction(network, a, trial, workspace):
    """Dry friction of a sliding actuator [N or N m], after Stribeck, with its brake."""
    level = network.dry[a]
    if network.static[a] > level:
        ratio = trial.velocity[a] / network.stribeck[a]
        level += (network.static[a] - level) * math.exp(-ratio * ratio)
    return level + workspace.loads.brake[a]


@kernel
def _set_speed(network, a, step, trial):
    """Speed of an actuator that sticks or stops."""
    if trial.regime[a] == AT_START:
        return -trial.position[a] / step
    if trial.regime[a] == AT_END:
        return (network.stroke[a] - trial.position[a]) / step
    return 0.0


@kernel
def _add_actuators(network, part, step, trial, workspace):
    """Room that the actuators make, their impulses on the mechanism, and how it moves by them."""
    matrix, right, mobility = workspace.matrix, workspace.right, workspace.loads.mobility
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    for k in range(first, last):
        a = network.part_actuator[k]
        by, outcome = lines + k - first, lines + last - first + k - first
        line_a, line_b, area_a, area_b = network.line_a[a], network.line_b[a], network.area_a[a], network.area_b[a]
        row_a, row_b = network.local[line_a], network.local[line_b]
        impulse, resistance = _impulse_at_start(network, a, step, trial, workspace)
        workspace.impulse[a] = impulse - resistance * trial.velocity[a]
        if row_a >= 0:
            matrix[by, row_a] -= step * area_a * workspace.rise[line_a]
        if row_b >= 0:
            matrix[by, row_b] += step * area_b * workspace.rise[line_b]
        matrix[by, by] = 1.0
        right[by] = impulse
        right[outcome] = trial.velocity[a] + step * workspace.loads.acceleration[a]
        if trial.regime[a] == SLIDING:
            if row_a >= 0:
                matrix[row_a, outcome] += step * area_a
            if row_b >= 0:
                matrix[row_b, outcome] -= step * area_b
            matrix[by, outcome] = resistance
            matrix[outcome, outcome] = 1.0
        else:
            speed = _set_speed(network, a, step, trial)
            _add_flow(network, line_a, -step * area_a * speed, workspace)
            _add_flow(network, line_b, step * area_b * speed, workspace)
            matrix[by, outcome] = -1.0
            right[by] -= resistance * speed
            # stops and brakes give a little: actuators that hold the same thing share its load
            matrix[outcome, outcome] = -SHARING * mobility[a, a]
            right[outcome] -= speed
        for i in range(first, last):
            matrix[outcome, lines + i - first] = -mobility[a, network.part_actuator[i]]


@kernel
def _go_straight(network, part, workspace):
    """What contents would change by with the flows of passages and pumps at the start, and how fast they forget."""
    first = network.part_line_start[part]
    for i in range(network.part_line_start[part + 1] - first):
        capacity = workspace.capacity[network.part_line[first + i]]
        workspace.straight[i] = workspace.right[i] / capacity
        workspace.relaxation[i] = workspace.matrix[i, i] / capacity - 1.0


@kernel
def _impulse_at_start(network, a, step, trial, workspace):
    """Impulse of actuator a on the mechanism under the pressures of the start, at no speed, and its fall with speed."""
    spring, stiffness, damping = end_buffer(network, a, trial.position[a])
    force = push_of(network, a, trial.pressure) + spring
    if trial.regime[a] == SLIDING:
        force -= trial.direction[a] * _friction(network, a, trial, workspace)
    mass = network.mass[a]
    return (
        mass * trial.velocity[a] + step * force,
        mass + step * (network.viscous[a] + damping + step * stiffness),
    )


@kernel
def _rise(network, line, workspace):
    """Linearised rise of the pressure over the sub-step [Pa]."""
    row = network.local[line]
    return workspace.rise[line] * workspace.right[row] if row >= 0 else 0.0


@kernel
def _push(network, a, trial, workspace):
    """Linearised force of the pressures at the end of the sub-step [N or N m]."""
    rise_a, rise_b = _rise(network, network.line_a[a], workspace), _rise(network, network.line_b[a], workspace)
    return push_of(network, a, trial.pressure) + network.area_a[a] * rise_a - network.area_b[a] * rise_b


@kernel
def _later_speed(network, a, step, trial, workspace):
    """Speed at the end of the sub-step."""
    return workspace.outcome[a] if trial.regime[a] == SLIDING else _set_speed(network, a, step, trial)


@kernel
def _regimes_hold(network, part, step, trial, workspace):
    """Whether all actuators slide, stick or stop as was assumed; sets what they do otherwise."""
    hold = True
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        regime, stroke = trial.regime[a], network.stroke[a]
        rest = max(network.static[a], network.dry[a]) + workspace.loads.brake[a]
        if regime == SLIDING:
            speed = _later_speed(network, a, step, trial, workspace)
            place = trial.position[a] + step * speed
            if speed * trial.direction[a] < 0.0 and rest > 0.0:
                trial.regime[a] = STUCK
            elif place < 0.0 and stroke < math.inf:
                trial.regime[a] = AT_START
            elif place > stroke:
                trial.regime[a] = AT_END
        else:
            missing = workspace.outcome[a] / step
            if regime == STUCK and abs(missing) > rest:
                trial.regime[a], trial.direction[a] = SLIDING, (1.0 if missing < 0.0 else -1.0)
            elif regime == AT_START and missing < -rest:
                trial.regime[a], trial.direction[a] = SLIDING, 1.0
            elif regime == AT_END and missing > rest:
                trial.regime[a], trial.direction[a] = SLIDING, -1.0
        hold = hold and trial.regime[a] == regime
    return hold


@kernel
def _move_actuators(network, part, step, trial, workspace, books):
    """New speeds and positions, and what it took."""
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        before, speed = trial.velocity[a], _later_speed(network, a, step, trial, workspace)
        push_before, push = push_of(network, a, trial.pressure), _push(network, a, trial, workspace)
        mean = 0.5 * (before + speed)
        spring, stiffness, damping = end_buffer(network, a, trial.position[a])
        spring -= (damping + step * stiffness) * speed
        resistance, grip, stop = network.viscous[a] * speed, 0.0, 0.0
        if trial.regime[a] == SLIDING:
            grip = -step * trial.direction[a] * _friction(network, a, trial, workspace)
        elif trial.regime[a] == STUCK:
            grip = workspace.outcome[a]
        else:
            stop = workspace.outcome[a]
        books.push[a] += step * (push - resistance + spring)
        books.grip[a] += grip
        books.stop[a] += stop
        books.work[a] += step * push * mean
        books.oil_work[a] += 0.5 * step * (push_before + push) * speed
        books.viscous_loss[a] += step * resistance * mean
        books.friction_loss[a] -= grip * mean
        books.stop_loss[a] -= (stop + step * spring) * mean
        trial.position[a] += step * speed
        if network.stroke[a] < math.inf:
            trial.position[a] = min(max(trial.position[a], 0.0), network.stroke[a])
        trial.velocity[a] = speed
        if trial.regime[a] == SLIDING and speed != 0.0:
            trial.direction[a] = 1.0 if speed > 0.0 else -1.0


@kernel
def _turn_swash(network, part, step, trial, workspace):
    """New swash angles, with the linearised pressures of the end."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        wanted, over_outlet, over_sense = wanted_swash(network, p, trial.pressure)
        outlet, sense = network.outlet[p], network.sense[p]
        wanted += over_outlet * _rise(network, outlet, workspace)
        if sense != NO_LINE:
            wanted += over_sense * _rise(network, sense, workspace)
        share = step / (network.response[p] + step)
        trial.swash[p] = min(max(trial.swash[p] + share * (wanted - trial.swash[p]), 0.0), 1.0)


@kernel
def _book_passages(network, part, step, trial, workspace, books):
    """Volumes that the passages let through in the sub-step, and what they throttled."""
    for k in range(network.part_passage_start[part], last_passage(network, part, workspace.faults)):
        e = network.part_passage[k]
        flow, slope = workspace.flow[e], workspace.slope[e]
        if slope == 0.0:
            continue
        origin, end = network.origin[e], network.end[e]
        rise = _rise(network, origin, workspace) - _rise(network, end, workspace)
        flow += slope * rise
        if workspace.pilot_slope[e] != 0.0:
            for pilot in range(PILOTS):
                line = network.pilot[e, pilot]
                if line == NO_LINE:
                    break
                flow += workspace.pilot_slope[e] * network.weight[e, pilot] * _rise(network, line, workspace)
        books.passed[e] += step * flow
        books.lost[e] += step * flow * (trial.pressure[origin] - trial.pressure[end] + 0.5 * rise)


@kernel
def _book_pumps(network, part, step, trial, workspace, books):
    """Volumes and work of the pumps in the sub-step."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        outlet, inlet, sense = network.outlet[p], network.inlet[p], network.sense[p]
        flow, over_outlet, over_sense = _pump(network, p, step, trial, workspace)
        rise = _rise(network, outlet, workspace)
        flow += over_outlet * rise
        if sense != NO_LINE:
            flow += over_sense * _rise(network, sense, workspace)
        books.delivered[p] += step * flow
        books.pump_work[p] += step * flow * (trial.pressure[outlet] + 0.5 * rise - trial.pressure[inlet])
