"""One linearly implicit Euler step of a part of a circuit.

In a sub-step h every line receives the flows of its flow elements, pumps and actuators at the end of the sub-step,
linearised at its start. With y = c' - c, the change of normalised fluid mass, and p' = p + (dp/dc) y,

    (V + C dp/dc) y_i = h (Q_i + sum_j dQ_i/dp_j dp_j/dc_j y_j -+ S v'),
    J_b = h (S_A p_A' - S_B p_B' - k v'_b + R_b) - m (v'_b - v_b) + friction,
    v'_a = v_a + h b_a + sum_b A_ab J_b,

where J is an actuator's impulse on the mechanism, b the mechanism's acceleration without actuators, A its mobility
along the actuators, and R the force of friction and buffers. These equations form one linear system for each part
(linearly implicit Euler; Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.9). The lines
are eliminated first (`elimination`). For an actuator that sticks or stops the speed is known, and the unknown is the
holding impulse: the search for these regimes solves only the equations of the actuators again.
"""

import math

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.chambers import end_buffer
from grouser.physics.hydraulics.elimination import eliminate_lines, substitute_lines
from grouser.physics.hydraulics.flows import swash_setpoint
from grouser.physics.hydraulics.network import NO_LINE, PILOTS, HydraulicNetwork
from grouser.physics.hydraulics.oil import aerated, pressure_of, pressure_rise
from grouser.physics.hydraulics.open_elements import measure_open_elements
from grouser.physics.hydraulics.trials import (
    AT_END,
    AT_START,
    PRESSURE_ERROR,
    SLIDING,
    SPEED_ERROR,
    STUCK,
    Accounts,
    NetworkWorkspace,
    Trial,
    actuator_volumes,
    flow_elements_end,
    push_of,
    share_of_error,
)
from grouser.physics.multibody.elimination import eliminate

# Tolerance of a swash plate [-].
_SWASH_ERROR = 1e-2
# Sub-step over the time constant of a line below which it exchanges no oil [-]: its local error is round-off, which
# must not be divided by zero.
_LEAST_RELAXATION = 1e-9
# Compliance of stops and brakes, as a share of the mechanism's mobility.
SHARING = 1e-4
# Most rounds of the search for regimes: sliding, stuck or at a stop.
_MOST_ROUNDS = 8
_ONE = np.uintp(1)


@kernel
def advance_once(
    network: HydraulicNetwork,
    part,
    step: float,
    estimate_error,
    same_start,
    trial: Trial,
    workspace: NetworkWorkspace,
    accounts: Accounts,
):
    """One linearly implicit Euler step of a part.

    Args:
        estimate_error: whether to estimate the local error.
        same_start: whether the last call was for the same part with the same state and openings at its start.

    Returns:
        Local error: half of the difference between the implicit changes and those by the rates at the start, as a
        multiple of the tolerance; 0 without `estimate_error`.
    """
    first, last = network.part_line_start[part], network.part_line_start[part + 1]
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    if not same_start:
        measure_lines(network, part, trial, workspace)
        measure_open_elements(
            *(network, network.part_flow_element_start[part], flow_elements_end(network, part, workspace.faults)),
            *(trial.pressure, trial.position, workspace.mean_spool, workspace.faults, workspace.open),
        )
    _assemble(network, part, step, estimate_error, trial, workspace)
    solved = eliminate_lines(network, part, workspace.entry, workspace.right)
    for _ in range(_MOST_ROUNDS):
        solved = solved and _solve_actuators(network, part, step, trial, workspace)
        if not solved or _regimes_hold(network, part, step, trial, workspace):
            break
    _finish_solution(network, part, solved, workspace)
    local_error = _local_error(network, part, step, trial, workspace) if estimate_error else 0.0
    _account_flow_elements(network, step, trial, workspace, accounts)
    _account_pumps(network, part, step, trial, workspace, accounts)
    _advance_swash(network, part, step, trial, workspace)
    _move_actuators(network, part, step, trial, workspace, accounts)
    for k in range(first, last):
        line = network.part_line[k]
        trial.content[line] += workspace.right[k - first]
        trial.pressure[line] = pressure_of(oil, trial.content[line])
    return local_error


@kernel
def _local_error(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Local error of the solution; see `advance_once`."""
    right, explicit_change, mobility = workspace.right, workspace.explicit_change, workspace.loads.mobility
    impulse = workspace.solution
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    for k in range(first, last):
        # the volume swept by actuators does not count: its error ends with their motion
        a = network.part_actuator[k]
        moved = step * _later_speed(network, a, step, trial, workspace)
        line_a, line_b = network.line_a[a], network.line_b[a]
        explicit_change[network.local[line_a]] -= network.area_a[a] * moved / workspace.capacity[line_a]
        explicit_change[network.local[line_b]] += network.area_b[a] * moved / workspace.capacity[line_b]
    largest = 0.0
    for i in range(lines):
        line = network.part_line[network.part_line_start[part] + i]
        pressure, rise = trial.pressure[line], workspace.rise[line]
        late = share_of_error(rise * (right[i] - explicit_change[i]), pressure, PRESSURE_ERROR)
        if late > 0.0:
            # errors of flows accumulate over the time constant of the line
            largest = max(largest, late / min(max(workspace.relaxation[i], _LEAST_RELAXATION), 1.0))
        if network.gas_volume[line] > 0.0:
            # the compliance of gas falls with pressure
            largest = max(largest, share_of_error(rise * right[i], pressure, PRESSURE_ERROR))
    for k in range(first, last):
        a = network.part_actuator[k]
        impulse[k - first] = workspace.impulse[a] + workspace.grip[a]
        if trial.regime[a] != SLIDING:
            impulse[k - first] = workspace.free_impulse[k - first] + workspace.outcome[a]
            row = network.coupling[part] + np.uintp((k - first) * (last - first))
            for i in range(first, last):
                b = network.part_actuator[i]
                if trial.regime[b] == SLIDING:
                    impulse[k - first] -= workspace.entry[row + np.uintp(i - first)] * workspace.speed[b]
    for k in range(first, last):
        a = network.part_actuator[k]
        change = _later_speed(network, a, step, trial, workspace) - trial.velocity[a]
        if trial.regime[a] == SLIDING:
            change -= step * workspace.loads.acceleration[a]
            for i in range(first, last):
                change -= mobility[a, network.part_actuator[i]] * impulse[i - first]
        largest = max(largest, share_of_error(change, trial.velocity[a], SPEED_ERROR))
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        wanted, _, _ = swash_setpoint(network, p, trial.pressure)
        by_rate = min(step / network.response[p], 1.0) if network.response[p] > 0.0 else 1.0
        share = by_rate * step / (network.response[p] + step)
        largest = max(largest, share * abs(min(max(wanted, 0.0), 1.0) - trial.swash[p]) / _SWASH_ERROR)
    return 0.5 * largest


@kernel
def measure_lines(network: HydraulicNetwork, part, trial: Trial, workspace: NetworkWorkspace):
    """Sets dp/dc and capacity of each line of a part."""
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
def _assemble(network: HydraulicNetwork, part, step: float, estimate_error, trial: Trial, workspace: NetworkWorkspace):
    """Assembles the linear system of a sub-step and, if wanted, the inputs of `_local_error`."""
    _set_diagonal(network, part, workspace)
    _add_flow_elements(network, step, workspace)
    _add_pumps(network, part, step, trial, workspace)
    if estimate_error:
        _store_explicit_changes(network, part, workspace)
    _add_actuators(network, part, step, trial, workspace)


@kernel
def _set_diagonal(network: HydraulicNetwork, part, workspace: NetworkWorkspace):
    """Clears the system, and puts the lines' capacities on its diagonal."""
    first, last = network.part_line_start[part], network.part_line_start[part + 1]
    actuators = network.part_actuator_start[part + 1] - network.part_actuator_start[part]
    entry, right = workspace.entry, workspace.right
    for i in range(network.coupling[part] + np.uintp(actuators * actuators)):
        entry[i] = 0.0
    for i in range(np.uintp(last - first + actuators)):
        right[i] = 0.0
    right[right.shape[0] - 1] = 0.0  # of the constant lines
    for k in range(first, last):
        entry[network.pivot[k]] = workspace.capacity[network.part_line[k]]


@kernel
def _gas_compliance(network: HydraulicNetwork, line, pressure):
    """dV/dp of an accumulator's gas above its precharge, V0 (p0/p)^(1/n) / (n p) [m3/Pa]."""
    if network.gas_volume[line] == 0.0 or pressure <= network.gas_pressure[line]:
        return 0.0
    index = network.gas_index[line]
    return network.gas_volume[line] * (network.gas_pressure[line] / pressure) ** (1.0 / index) / (index * pressure)


@kernel
def _pilot_weight(network: HydraulicNetwork, e, pilot, pilot_slope):
    """Change of the opening of element e by a pilot pressure, as far as a sub-step counts on it [1/Pa].

    0 where the pilot is a line of the element and the opening would drive its pressure away: in the flow back through a
    pressure compensator, a linearly implicit step takes the unstable state for an equilibrium that it reaches.
    """
    weight, line = network.weight[e, pilot], network.pilot[e, pilot]
    driven = pilot_slope * weight
    if (line == network.end[e] and driven > 0.0) or (line == network.origin[e] and driven < 0.0):
        return 0.0
    return weight


@kernel
def _add_flow_elements(network: HydraulicNetwork, step: float, workspace: NetworkWorkspace):
    """Adds the open flow elements, positive from origin to end."""
    entry, right, rise, found = workspace.entry, workspace.right, workspace.rise, workspace.open
    for k in range(found.number[0]):
        e, pilot_slope = found.element[k], found.pilot_slope[k]
        origin, end = np.uintp(network.origin[e]), np.uintp(network.end[e])
        volume, slope = step * found.flow[k], step * found.slope[k]
        right[network.local[origin]] -= volume
        right[network.local[end]] += volume
        place = network.flow_element_entry[e]
        by_origin, by_end = slope * rise[origin], slope * rise[end]
        entry[place[0, 0]] += by_origin
        entry[place[0, 1]] -= by_end
        entry[place[1, 0]] -= by_origin
        entry[place[1, 1]] += by_end
        if pilot_slope != 0.0:
            for pilot in range(PILOTS):
                line = network.pilot[e, pilot]
                if line == NO_LINE:
                    break
                by_pilot = step * pilot_slope * _pilot_weight(network, e, pilot, pilot_slope) * rise[np.uintp(line)]
                entry[place[0, 2 + pilot]] += by_pilot
                entry[place[1, 2 + pilot]] -= by_pilot


@kernel
def _pump(network: HydraulicNetwork, p, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Flow of pump p by the start's pressures and the end's swash [m3/s], and its slopes [m3/(s Pa)]."""
    wanted, over_outlet, over_sense = swash_setpoint(network, p, trial.pressure)
    share = step / (network.response[p] + step)
    swash = trial.swash[p] + share * (wanted - trial.swash[p])
    full = 0.0 if workspace.faults.stopped_pump[p] else network.displacement[p] * network.speed[p]
    return full * swash, full * share * over_outlet, full * share * over_sense


@kernel
def _add_pumps(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Adds the pumps, positive from inlet to outlet."""
    entry, right, rise = workspace.entry, workspace.right, workspace.rise
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        outlet, sense = network.outlet[p], network.sense[p]
        flow, over_outlet, over_sense = _pump(network, p, step, trial, workspace)
        right[network.local[outlet]] += step * flow
        right[network.local[network.inlet[p]]] -= step * flow
        place = network.pump_entry[p]
        by_outlet = step * over_outlet * rise[outlet]
        entry[place[0, 0]] -= by_outlet
        entry[place[1, 0]] += by_outlet
        if sense != NO_LINE:
            by_sense = step * over_sense * rise[sense]
            entry[place[0, 1]] -= by_sense
            entry[place[1, 1]] += by_sense


@kernel
def _friction(network: HydraulicNetwork, a, trial: Trial, workspace: NetworkWorkspace):
    """Dry friction of a sliding actuator by Stribeck's law, brake included [N or N m]."""
    level = network.dry[a]
    if network.static[a] > level:
        ratio = trial.velocity[a] / network.stribeck[a]
        level += (network.static[a] - level) * math.exp(-ratio * ratio)
    return level + workspace.loads.brake[a]


@kernel
def _set_speed(network: HydraulicNetwork, a, step: float, trial: Trial):
    """Speed of an actuator that sticks or stops."""
    if trial.regime[a] == AT_START:
        return -trial.position[a] / step
    if trial.regime[a] == AT_END:
        return (network.stroke[a] - trial.position[a]) / step
    return 0.0


@kernel
def _add_actuators(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Adds the swept volumes of the actuators, and their impulses on the mechanism without dry friction."""
    entry, right, rise = workspace.entry, workspace.right, workspace.rise
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    for k in range(first, last):
        a = network.part_actuator[k]
        line_a, line_b, area_a, area_b = network.line_a[a], network.line_b[a], network.area_a[a], network.area_b[a]
        spring, stiffness, damping = end_buffer(network, a, trial.position[a])
        resistance = network.mass[a] + step * (network.viscous[a] + damping + step * stiffness)
        impulse = network.mass[a] * trial.velocity[a] + step * (push_of(network, a, trial.pressure) + spring)
        workspace.impulse[a] = impulse - resistance * trial.velocity[a]
        right[lines + k - first] = impulse
        place = network.actuator_entry[a]
        entry[place[0, 0]] += step * area_a
        entry[place[1, 0]] -= step * area_b
        entry[place[0, 1]] -= step * area_a * rise[line_a]
        entry[place[1, 1]] += step * area_b * rise[line_b]
        entry[network.coupling[part] + np.uintp((k - first) * (last - first + 1))] = resistance


@kernel
def _solve_actuators(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Solves the equations that remain of the actuators in their regimes: `outcome` and `speed`.

    The unknowns are the speeds of those that slide, then the holding impulses of the others.

    Returns:
        Whether there is a solution.
    """
    matrix, order, free, solution = workspace.matrix, workspace.order, workspace.free_impulse, workspace.solution
    mobility, resistance = workspace.loads.mobility, workspace.resistance
    first = np.uintp(network.part_actuator_start[part])
    count = np.uintp(network.part_actuator_start[part + 1]) - first
    lines = np.uintp(network.part_line_start[part + 1] - network.part_line_start[part])
    sliding, held = np.uintp(0), count
    for i in range(count):
        a = np.uintp(network.part_actuator[first + i])
        free[i] = workspace.right[lines + i]
        if trial.regime[a] == SLIDING:
            order[sliding] = i
            sliding += _ONE
            workspace.grip[a] = -step * trial.direction[a] * _friction(network, a, trial, workspace)
            free[i] += workspace.grip[a]
        else:
            held -= _ONE
            order[held] = i
            workspace.speed[a] = _set_speed(network, a, step, trial)
    for i in range(count):
        row = network.coupling[part] + i * count
        for k in range(sliding):
            resistance[i, k] = workspace.entry[row + order[k]]
        for k in range(sliding, count):
            speed = workspace.speed[np.uintp(network.part_actuator[first + order[k]])]
            if speed != 0.0:
                free[i] -= workspace.entry[row + order[k]] * speed
    for i in range(count):
        a = np.uintp(network.part_actuator[first + i])
        for k in range(sliding):
            matrix[i, k] = 0.0
        total = trial.velocity[a] + step * workspace.loads.acceleration[a]
        for j in range(count):
            response = mobility[a, np.uintp(network.part_actuator[first + j])]
            total += response * free[j]
            for k in range(sliding):
                matrix[i, k] += response * resistance[j, k]
        for k in range(sliding, count):
            matrix[i, k] = -mobility[a, np.uintp(network.part_actuator[first + order[k]])]
        solution[i] = total
    for k in range(count):
        i = order[k]
        if k < sliding:
            matrix[i, k] += 1.0
        else:
            # stops and brakes yield a little, so that actuators that hold the same body share its load
            matrix[i, k] *= 1.0 + SHARING
            solution[i] -= workspace.speed[np.uintp(network.part_actuator[first + i])]
    solved = eliminate(matrix, solution, np.intp(count), 0.0)
    for k in range(count):
        a = np.uintp(network.part_actuator[first + order[k]])
        workspace.outcome[a] = solution[k]
        if k < sliding:
            workspace.speed[a] = solution[k]
    return solved


@kernel
def _finish_solution(network: HydraulicNetwork, part, solved, workspace: NetworkWorkspace):
    """Finds the changes of the lines by the speeds of the actuators."""
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    for k in range(first, last):
        a = network.part_actuator[k]
        if not solved:
            workspace.speed[a] = workspace.outcome[a] = math.nan  # the finite check reports it
        workspace.right[lines + k - first] = workspace.speed[a]
    if not solved:
        workspace.right[:] = math.nan
    substitute_lines(network, part, workspace.entry, workspace.right)


@kernel
def _store_explicit_changes(network: HydraulicNetwork, part, workspace: NetworkWorkspace):
    """Stores the changes of fluid mass by the flows at the start, and sub-step over time constant of each line."""
    first = network.part_line_start[part]
    for i in range(network.part_line_start[part + 1] - first):
        capacity = workspace.capacity[network.part_line[first + i]]
        workspace.explicit_change[i] = workspace.right[i] / capacity
        workspace.relaxation[i] = workspace.entry[network.pivot[first + i]] / capacity - 1.0


@kernel
def _rise(network: HydraulicNetwork, line, workspace: NetworkWorkspace):
    """Linearised pressure rise over the sub-step [Pa]; `rise` of a constant line is 0."""
    line = np.uintp(line)
    return workspace.rise[line] * workspace.right[network.local[line]]


@kernel
def _push(network: HydraulicNetwork, a, trial: Trial, workspace: NetworkWorkspace):
    """Linearised force of the pressures at the end of the sub-step [N or N m]."""
    rise_a, rise_b = _rise(network, network.line_a[a], workspace), _rise(network, network.line_b[a], workspace)
    return push_of(network, a, trial.pressure) + network.area_a[a] * rise_a - network.area_b[a] * rise_b


@kernel
def _later_speed(network: HydraulicNetwork, a, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Speed at the end of the sub-step."""
    return workspace.outcome[a] if trial.regime[a] == SLIDING else _set_speed(network, a, step, trial)


@kernel
def _regimes_hold(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Whether all actuators are in the regimes assumed; sets new regimes otherwise."""
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
def _move_actuators(
    network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace, accounts: Accounts
):
    """Sets new speeds and positions, and adds impulses and work to the accounts."""
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        before, speed = trial.velocity[a], _later_speed(network, a, step, trial, workspace)
        push_before, push = push_of(network, a, trial.pressure), _push(network, a, trial, workspace)
        mean = 0.5 * (before + speed)
        spring, stiffness, damping = end_buffer(network, a, trial.position[a])
        spring -= (damping + step * stiffness) * speed
        resistance, grip, stop = network.viscous[a] * speed, 0.0, 0.0
        if trial.regime[a] == SLIDING:
            grip = workspace.grip[a]
        elif trial.regime[a] == STUCK:
            grip = workspace.outcome[a]
        else:
            stop = workspace.outcome[a]
        accounts.push[a] += step * (push - resistance + spring)
        accounts.grip[a] += grip
        accounts.stop[a] += stop
        accounts.work[a] += step * push * mean
        accounts.oil_work[a] += 0.5 * step * (push_before + push) * speed
        accounts.viscous_loss[a] += step * resistance * mean
        accounts.friction_loss[a] -= grip * mean
        accounts.stop_loss[a] -= (stop + step * spring) * mean
        trial.position[a] += step * speed
        if network.stroke[a] < math.inf:
            trial.position[a] = min(max(trial.position[a], 0.0), network.stroke[a])
        trial.velocity[a] = speed
        if trial.regime[a] == SLIDING and speed != 0.0:
            trial.direction[a] = 1.0 if speed > 0.0 else -1.0


@kernel
def _advance_swash(network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace):
    """Sets new swash angles by the linearised pressures at the end."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        wanted, over_outlet, over_sense = swash_setpoint(network, p, trial.pressure)
        outlet, sense = network.outlet[p], network.sense[p]
        wanted += over_outlet * _rise(network, outlet, workspace)
        if sense != NO_LINE:
            wanted += over_sense * _rise(network, sense, workspace)
        share = step / (network.response[p] + step)
        trial.swash[p] = min(max(trial.swash[p] + share * (wanted - trial.swash[p]), 0.0), 1.0)


@kernel
def _account_flow_elements(
    network: HydraulicNetwork, step: float, trial: Trial, workspace: NetworkWorkspace, accounts: Accounts
):
    """Adds volumes through the flow elements, and throttled energy, of the sub-step."""
    found = workspace.open
    for k in range(found.number[0]):
        e, flow, pilot_slope = found.element[k], found.flow[k], found.pilot_slope[k]
        origin, end = np.uintp(network.origin[e]), np.uintp(network.end[e])
        rise = _rise(network, origin, workspace) - _rise(network, end, workspace)
        flow += found.slope[k] * rise
        if pilot_slope != 0.0:
            for pilot in range(PILOTS):
                line = network.pilot[e, pilot]
                if line == NO_LINE:
                    break
                weight = _pilot_weight(network, e, pilot, pilot_slope)
                flow += pilot_slope * weight * _rise(network, line, workspace)
        accounts.passed[e] += step * flow
        accounts.lost[e] += step * flow * (trial.pressure[origin] - trial.pressure[end] + 0.5 * rise)


@kernel
def _account_pumps(
    network: HydraulicNetwork, part, step: float, trial: Trial, workspace: NetworkWorkspace, accounts: Accounts
):
    """Adds delivered volumes and work of the pumps in the sub-step."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        outlet, inlet, sense = network.outlet[p], network.inlet[p], network.sense[p]
        flow, over_outlet, over_sense = _pump(network, p, step, trial, workspace)
        rise = _rise(network, outlet, workspace)
        flow += over_outlet * rise
        if sense != NO_LINE:
            flow += over_sense * _rise(network, sense, workspace)
        accounts.delivered[p] += step * flow
        accounts.pump_work[p] += step * flow * (trial.pressure[outlet] + 0.5 * rise - trial.pressure[inlet])
