"""A circuit over one mechanical step: linearly implicit, extrapolated, in sub-steps that the error chooses.

In a sub-step h every line takes in what its passages, pumps and actuators bring at the end of it, linearised where it
begins. With y = c' - c, the change of content, and p' = p + (dp/dc) y,

    (V + C dp/dc) y_i = h (Q_i + sum_j dQ_i/dp_j dp_j/dc_j y_j -+ S v'),
    J_b = h (S_A p_A' - S_B p_B' - k v'_b + R_b) - m (v'_b - v_b) + friction,
    v'_a = v_a + h b_a + sum_b A_ab J_b,

where J is an actuator's impulse on the mechanism, b what that does by itself, A its mobility along the actuators, and R
what friction and buffers do. They are one linear system for each part of the circuit (linearly implicit Euler; Hairer
and Wanner, Solving Ordinary Differential Equations II, 1996, section IV.9); of an actuator that sticks or stops, whose
speed is known, the impulse of what holds it is found instead. A step of H and two of H/2 give by extrapolation a result
of second order that damps what is stiff, and their difference its error.

The change of a step of H and that by the rates of its start differ by twice its error. Where that is well below what
passes, a part that a controlled pump feeds, stiff and dear to solve, does without halves. Flows go by the mean
positions of the spools.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.hydraulics.cylinder import (
    SPOOL_REST,
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_SPOOL,
    TRACE_TIME,
    TRACE_VELOCITY,
    end_buffer,
)
from grouser.physics.hydraulics.faults import Faults, make_faults, spool_speed
from grouser.physics.hydraulics.flows import flow_per_opening, opening, wanted_swash
from grouser.physics.hydraulics.network import FIXED, LANES, NO_LINE, PILOTS, PLAIN_NUMBERS, Network
from grouser.physics.hydraulics.oil import aerated, content, pressure_of, pressure_rise
from grouser.physics.kernel import kernel
from grouser.physics.multibody.elimination import eliminate, eliminate_in_order

# What an actuator does at the end of a sub-step.
SLIDING, STUCK, AT_START, AT_END = range(4)
# Errors of a sub-step that pass: of pressures [Pa] and speeds [m/s or rad/s], and as a share of them [-].
PRESSURE_ERROR, SPEED_ERROR, RELATIVE_ERROR = 1e4, 1e-4, 2e-3
# Changes of swash plates and of spools that pass [-], and how much of all this a sub-step may bend without halves.
_SWASH_ERROR, _SPOOL_ERROR, _STRAIGHT = 1e-2, 0.02, 0.2
# A multiple of the error that passes, from which on halves and whole say nothing of each other.
_ASTRAY = 10.0
# Shortest sub-step as a share of the step, and how a rejected one shrinks at most.
_SHORTEST, _SHRINK, _GROW, _SAFETY = 1.0 / 256.0, 0.2, 3.0, 0.9
# By how much stops and brakes give, as a share of what the mechanism would by itself.
SHARING = 1e-4
# Rounds in which actuators find out whether they slide, stick or stop.
_MOST_ROUNDS = 8


class Loads(NamedTuple):
    """What acts on each actuator from outside, constant over the step, (actuators,) unless said otherwise.

    Attributes:
        mobility: speed of each actuator by an impulse of another on its part of the circuit, (actuators, actuators)
            [1/kg or 1/(kg m2)].
        acceleration: of the mechanism along it without the part's actuators [m/s2 or rad/s2].
        brake: largest force of its holding brake, 0 when released [N or N m].
    """

    mobility: np.ndarray
    acceleration: np.ndarray
    brake: np.ndarray


class Trial(NamedTuple):
    """A state of the circuit.

    Attributes:
        content, pressure: of the lines, (lines,) [-, Pa].
        position, velocity: of the actuators.
        regime, direction: SLIDING, STUCK, AT_START or AT_END; where it slides to, -1 or 1.
        spool: positions, speeds and commands behind the hysteresis [-, 1/s, -], (valves, 3).
        swash: of the pumps [-].
    """

    content: np.ndarray
    pressure: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    regime: np.ndarray
    direction: np.ndarray
    spool: np.ndarray
    swash: np.ndarray


class Books(NamedTuple):
    """What has passed since the start of the step.

    Attributes:
        passed, lost: volume [m3] and throttled energy [J] of each passage.
        delivered, pump_work: volume [m3] and work on the oil [J] of each pump.
        push: impulse of the pressures less viscous friction on each actuator [N s or N m s].
        grip, stop: impulses of dry friction with brake, and of the stroke's ends.
        work, oil_work: of the pressures on each actuator, by its mean speed and over the volume that it displaces [J].
        viscous_loss, friction_loss, stop_loss: of each actuator [J].
    """

    passed: np.ndarray
    lost: np.ndarray
    delivered: np.ndarray
    pump_work: np.ndarray
    push: np.ndarray
    grip: np.ndarray
    stop: np.ndarray
    work: np.ndarray
    oil_work: np.ndarray
    viscous_loss: np.ndarray
    friction_loss: np.ndarray
    stop_loss: np.ndarray


class NetworkWorkspace(NamedTuple):
    """Buffers: states before a sub-step, after a whole one and after two halves, books of these and of the step.

    Attributes:
        flow, slope, pilot_slope: of each passage, with its change with the drop and with its pilots.
        rise: dp/dc of each line [Pa].
        capacity: oil that it takes in for a change of its content, V + C dp/dc [m3].
        matrix, right: linear system of a part: its lines, its actuators' impulses, their outcomes.
        straight: changes of a part's contents by the rates of its start [-].
        relaxation: sub-step by the time constant of each of a part's lines [-].
        impulse: of each actuator on the mechanism by the forces of the start.
        outcome: of the sub-step: speed of an actuator that slides, impulse of what holds another.
        room, walls: oil in each line [m3], and the compliance of what holds it [m3/Pa].
        mean_spool: position of each spool, mean over the sub-step [-].
        lanes: plain parts side by side, LANES of them a block and a number of each after another,
            (blocks, PLAIN_NUMBERS * LANES).
        lanes_step: length of the steps for which the lanes are described [s], (1,); a memory of what follows from the
            circuit alone.
        substeps: of each part in the step.
        start_velocity: of each actuator at the start of the step.
    """

    loads: Loads
    faults: Faults
    now: Trial
    whole: Trial
    halves: Trial
    whole_books: Books
    halves_books: Books
    step_books: Books
    flow: np.ndarray
    slope: np.ndarray
    pilot_slope: np.ndarray
    rise: np.ndarray
    capacity: np.ndarray
    matrix: np.ndarray
    right: np.ndarray
    straight: np.ndarray
    relaxation: np.ndarray
    impulse: np.ndarray
    outcome: np.ndarray
    mean_spool: np.ndarray
    room: np.ndarray
    walls: np.ndarray
    lanes: np.ndarray
    lanes_step: np.ndarray
    substeps: np.ndarray
    start_velocity: np.ndarray


def make_network_workspace(network: Network, valves: int) -> NetworkWorkspace:
    """Buffers of the right sizes."""
    lines, actuators, pumps = len(network.volume), len(network.line_a), len(network.outlet)
    passages = len(network.origin)
    largest = int(np.diff(network.part_unknown_start).max(initial=0))

    def trial():
        return Trial(
            content=np.zeros(lines),
            pressure=np.array(network.pressure),
            position=np.zeros(actuators),
            velocity=np.zeros(actuators),
            regime=np.zeros(actuators, dtype=np.int64),
            direction=np.zeros(actuators),
            spool=np.zeros((valves, 3)),
            swash=np.zeros(pumps),
        )

    def books():
        sizes = (passages, passages, pumps, pumps, *[actuators] * 8)
        return Books(*[np.zeros(size) for size in sizes])

    return NetworkWorkspace(
        loads=Loads(np.zeros((actuators, actuators)), np.zeros(actuators), np.zeros(actuators)),
        faults=make_faults(network, valves),
        now=trial(),
        whole=trial(),
        halves=trial(),
        whole_books=books(),
        halves_books=books(),
        step_books=books(),
        flow=np.zeros(passages),
        slope=np.zeros(passages),
        pilot_slope=np.zeros(passages),
        rise=np.zeros(lines),
        capacity=np.zeros(lines),
        matrix=np.zeros((largest, largest)),
        right=np.zeros(largest),
        straight=np.zeros(largest),
        relaxation=np.zeros(largest),
        impulse=np.zeros(actuators),
        outcome=np.zeros(actuators),
        mean_spool=np.zeros(valves),
        lanes=np.zeros((-(-len(network.plain_part) // LANES), PLAIN_NUMBERS * LANES)),
        lanes_step=np.full(1, math.nan),
        room=np.zeros(lines),
        walls=np.zeros(lines),
        substeps=np.zeros(max(len(network.part_line_start) - 1, 1), dtype=np.int64),
        start_velocity=np.zeros(actuators),
    )


@kernel
def advance_part(network, circuit, part, command, step, workspace, prediction):
    """Moves a part of the circuit through a step; `workspace.now` is its state, before and after.

    Args:
        network, circuit: the hydraulics.
        part: number of the part.
        command: of each valve [-].
        step: [s].
        workspace: with `loads`, `faults` and `now`; `step_books` gets what has passed, `substeps` their number.
        prediction: its trace gets the end of each sub-step.
    """
    now, whole, halves, faults = workspace.now, workspace.whole, workspace.halves, workspace.faults
    oil = aerated(network.oil, faults.entrained_air[0])
    _clear(network, part, faults, workspace.step_books)
    done, length, count = 0.0, step, 0
    while done < step * (1.0 - 1e-12):
        length = min(length, step - done)
        count += 1
        _copy(network, part, now, whole)
        still = _is_still(network, part, now, workspace.loads)
        moved = _advance_spools(network, circuit, part, command, length, whole, faults, workspace.mean_spool)
        _clear(network, part, faults, workspace.whole_books)
        bend = _substep(network, part, length, whole, workspace, workspace.whole_books)
        still = still and moved == 0.0 and _is_still(network, part, whole, workspace.loads)
        if still and _difference(network, part, now, whole) <= 1.0:
            # what has almost levelled out behind brakes, an implicit step does well enough
            bend = 0.0
        elif moved > _SPOOL_ERROR or not _is_controlled(network, part):
            bend = 1.0
        if bend <= _STRAIGHT:
            _copy(network, part, whole, now)
            _add_books(network, part, faults, 0.0, workspace.whole_books, workspace.whole_books, workspace.step_books)
            done += length
            _trace(network, circuit, part, done, now, prediction)
            length *= _GROW
            continue
        _copy(network, part, now, halves)
        _clear(network, part, faults, workspace.halves_books)
        for _ in range(2):
            _advance_spools(network, circuit, part, command, 0.5 * length, halves, faults, workspace.mean_spool)
            _substep(network, part, 0.5 * length, halves, workspace, workspace.halves_books)
        error = _difference(network, part, whole, halves)
        if error > 1.0 and length > _SHORTEST * step:
            length = max(length * max(_SHRINK, _SAFETY / math.sqrt(error)), _SHORTEST * step)
            continue
        # what goes astray even so is not made worse
        beyond = 1.0 if error <= _ASTRAY and _alike(network, part, whole, halves) else 0.0
        _extrapolate(network, oil, part, beyond, whole, halves, now)
        _add_books(network, part, faults, beyond, workspace.whole_books, workspace.halves_books, workspace.step_books)
        done += length
        _trace(network, circuit, part, done, now, prediction)
        length *= min(_GROW, _SAFETY / math.sqrt(max(error, 1e-4)))
    workspace.substeps[part] = count


@kernel
def _is_still(network, part, trial, loads):
    """Whether brakes hold all actuators of a part, which has some, and no pump feeds it."""
    if network.part_pump_start[part + 1] > network.part_pump_start[part]:
        return False
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    for k in range(first, last):
        a = network.part_actuator[k]
        if trial.regime[a] == SLIDING or loads.brake[a] == 0.0:
            return False
    return first < last


@kernel
def _is_controlled(network, part):
    """Whether a pump feeds a part that follows its pressures."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        if network.control[network.part_pump[k]] != FIXED:
            return True
    return False


@kernel
def _advance_spools(network, circuit, part, command, time, trial, faults, mean):
    """Spools follow their commands: the exact response (5) of a damped oscillator or a lag, stopped at full travel.

    Args:
        mean: gets their mean positions meanwhile, which the flows go by [-].

    Returns:
        How far one of them moves at the most [-].
    """
    moved = 0.0
    for k in range(network.part_valve_start[part], network.part_valve_start[part + 1]):
        valve = network.part_valve[k]
        share = spool_speed(faults, valve)
        if share == 0.0:
            trial.spool[valve, 1] = 0.0
            mean[valve] = trial.spool[valve, 0]
            continue
        frequency, damping = share * circuit.spool_frequency[valve], circuit.spool_damping[valve]
        trial.spool[valve, 2], target = spool_target(circuit, valve, command[valve], trial.spool[valve, 2])
        before, speed = trial.spool[valve, 0], trial.spool[valve, 1]
        away = before - target
        if abs(away) < SPOOL_REST and abs(speed) < SPOOL_REST * frequency:
            away = speed = 0.0
        else:
            away_by_away, away_by_speed, speed_by_away, speed_by_speed = spool_response(frequency, damping, time)
            away, speed = away_by_away * away + away_by_speed * speed, speed_by_away * away + speed_by_speed * speed
        place, farthest = target + away, share * circuit.spool_rate[valve] * time
        if abs(place - before) > farthest:
            way = farthest if place > before else -farthest
            place, speed = before + way, way / time
        if abs(place) > 1.0:
            place, speed = (1.0 if place > 0.0 else -1.0), 0.0
        trial.spool[valve, 0], trial.spool[valve, 1] = place, speed
        mean[valve] = 0.5 * (before + place)
        moved = max(moved, abs(place - before))
    return moved


@kernel
def spool_response(frequency, damping, time):
    """How far a spool is from its target and how fast after a time, by how far and fast it was: exact, of (5)."""
    if damping == math.inf:
        return math.exp(-frequency * time), 0.0, 0.0, 0.0
    decay = math.exp(-damping * frequency * time)
    below = 1.0 - damping * damping
    own = frequency * math.sqrt(abs(below))
    if own * time < 1e-6:
        cosine, sine = 1.0, time
    elif below > 0.0:
        cosine, sine = math.cos(own * time), math.sin(own * time) / own
    else:
        cosine, sine = math.cosh(own * time), math.sinh(own * time) / own
    turned = damping * frequency * sine
    return decay * (cosine + turned), decay * sine, -decay * frequency * frequency * sine, decay * (cosine - turned)


@kernel
def spool_target(circuit, valve, command, held):
    """A command behind its hysteresis, play of a width, and where it sends the spool: beyond its dead band in full."""
    half, band = 0.5 * circuit.hysteresis[valve], circuit.dead_band[valve]
    held = min(max(held, command - half), command + half)
    size = circuit.spool_gain[valve] * max(abs(held) - band, 0.0) / (1.0 - band)
    return held, size if held > 0.0 else -size


@kernel
def _substep(network, part, step, trial, workspace, books):
    """One linearly implicit Euler step of a part.

    Returns:
        By how much it bends: half of the difference between the changes that it finds and those that the rates of its
        start would give, as a multiple of what passes.
    """
    first, last = network.part_line_start[part], network.part_line_start[part + 1]
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    unknown = network.part_unknown_start[part]
    size = network.part_unknown_start[part + 1] - unknown
    measure_lines(network, part, trial, workspace)
    for _ in range(_MOST_ROUNDS):
        _assemble(network, part, step, trial, workspace)
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
    bend = _bend(network, part, step, trial, workspace)
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
def _bend(network, part, step, trial, workspace):
    """What `_substep` returns, from its solution."""
    right, straight, mobility = workspace.right, workspace.straight, workspace.loads.mobility
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    lines = network.part_line_start[part + 1] - network.part_line_start[part]
    largest = 0.0
    for k in range(first, last):
        # errors of the room that actuators make end with their motion
        a = network.part_actuator[k]
        moved = step * (_later_speed(network, a, step, trial, workspace) - trial.velocity[a])
        line_a, line_b = network.line_a[a], network.line_b[a]
        if network.local[line_a] >= 0:
            straight[network.local[line_a]] -= network.area_a[a] * moved / workspace.capacity[line_a]
        if network.local[line_b] >= 0:
            straight[network.local[line_b]] += network.area_b[a] * moved / workspace.capacity[line_b]
    for i in range(lines):
        line = network.part_line[network.part_line_start[part] + i]
        passes = PRESSURE_ERROR + RELATIVE_ERROR * abs(trial.pressure[line])
        late = workspace.rise[line] * abs(right[i] - straight[i])
        if late > 0.0:
            # errors of flows add up for as long as the line takes to forget them
            largest = max(largest, late / (passes * min(workspace.relaxation[i], 1.0)))
        if network.gas_volume[line] > 0.0:
            # gas yields less and less
            largest = max(largest, workspace.rise[line] * abs(right[i]) / passes)
    for k in range(first, last):
        a = network.part_actuator[k]
        change = _later_speed(network, a, step, trial, workspace) - trial.velocity[a]
        if trial.regime[a] == SLIDING:
            straight = step * workspace.loads.acceleration[a]
            for i in range(first, last):
                b = network.part_actuator[i]
                slides = trial.regime[b] == SLIDING
                straight += mobility[a, b] * (workspace.impulse[b] if slides else right[lines + i - first])
            change -= straight
        largest = max(largest, abs(change) / (SPEED_ERROR + RELATIVE_ERROR * abs(trial.velocity[a])))
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        wanted, _, _ = wanted_swash(network, p, trial.pressure)
        straight = min(step / network.response[p], 1.0) if network.response[p] > 0.0 else 1.0
        share = straight * step / (network.response[p] + step)
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
        if network.stroke[a] < math.inf:
            line_a, line_b, wall = network.line_a[a], network.line_b[a], network.wall[a]
            filled_a = network.area_a[a] * trial.position[a]
            filled_b = network.area_b[a] * (network.stroke[a] - trial.position[a])
            capacity[line_a] += filled_a * (1.0 + wall * rise[line_a])
            capacity[line_b] += filled_b * (1.0 + wall * rise[line_b])


@kernel
def _assemble(network, part, step, trial, workspace):
    """The linear system of a sub-step."""
    _begin(network, part, workspace)
    _add_passages(network, part, step, trial, workspace)
    _add_pumps(network, part, step, trial, workspace)
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
    _assemble(network, part, step, trial, workspace)
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
def last_passage(network, part, faults):
    """Where the passages of a part end that are not closed for good: leaks count when there is one."""
    return network.part_passage_start[part + 1] if faults.leaking[0] else network.part_leak_start[part]


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
                if line != NO_LINE:
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
    _go_straight(network, part, workspace)
    for k in range(first, last):
        a = network.part_actuator[k]
        by, outcome = lines + k - first, lines + last - first + k - first
        line_a, line_b, area_a, area_b = network.line_a[a], network.line_b[a], network.area_a[a], network.area_b[a]
        row_a, row_b = network.local[line_a], network.local[line_b]
        impulse, resistance = _impulse_at_start(network, a, step, trial, workspace)
        workspace.impulse[a] = impulse - resistance * trial.velocity[a]
        speed = trial.velocity[a]
        if row_a >= 0:
            matrix[by, row_a] -= step * area_a * workspace.rise[line_a]
            workspace.straight[row_a] -= step * area_a * speed / workspace.capacity[line_a]
        if row_b >= 0:
            matrix[by, row_b] += step * area_b * workspace.rise[line_b]
            workspace.straight[row_b] += step * area_b * speed / workspace.capacity[line_b]
        matrix[by, by] = 1.0
        right[by] = impulse
        right[outcome] = speed + step * workspace.loads.acceleration[a]
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
    """What contents would change by with the flows of the start, and how fast they forget."""
    first = network.part_line_start[part]
    for i in range(network.part_line_start[part + 1] - first):
        capacity = workspace.capacity[network.part_line[first + i]]
        workspace.straight[i] = workspace.right[i] / capacity
        workspace.relaxation[i] = workspace.matrix[i, i] / capacity - 1.0


@kernel
def _impulse_at_start(network, a, step, trial, workspace):
    """Impulse of actuator a on the mechanism under the pressures of the start, at no speed, and its fall with speed."""
    spring, stiffness, damping = end_buffer(network, a, trial.position[a])
    force = (
        network.area_a[a] * trial.pressure[network.line_a[a]] - network.area_b[a] * trial.pressure[network.line_b[a]]
    )
    force += spring
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
def _later_pressure(network, line, trial, workspace):
    """Linearised pressure at the end of the sub-step [Pa]."""
    return trial.pressure[line] + _rise(network, line, workspace)


@kernel
def _push(network, a, trial, workspace):
    """Force of the pressures at the end of the sub-step [N or N m]."""
    return network.area_a[a] * _later_pressure(network, network.line_a[a], trial, workspace) - network.area_b[
        a
    ] * _later_pressure(network, network.line_b[a], trial, workspace)


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
        push, mean = _push(network, a, trial, workspace), 0.5 * (before + speed)
        push_before = network.area_a[a] * trial.pressure[network.line_a[a]]
        push_before -= network.area_b[a] * trial.pressure[network.line_b[a]]
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
        wanted += over_outlet * (_later_pressure(network, outlet, trial, workspace) - trial.pressure[outlet])
        if sense != NO_LINE:
            wanted += over_sense * (_later_pressure(network, sense, trial, workspace) - trial.pressure[sense])
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
                if line != NO_LINE:
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
        rise = _later_pressure(network, outlet, trial, workspace) - trial.pressure[outlet]
        flow += over_outlet * rise
        if sense != NO_LINE:
            flow += over_sense * (_later_pressure(network, sense, trial, workspace) - trial.pressure[sense])
        books.delivered[p] += step * flow
        books.pump_work[p] += step * flow * (trial.pressure[outlet] + 0.5 * rise - trial.pressure[inlet])


@kernel
def _copy(network, part, source, target):
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        target.content[line], target.pressure[line] = source.content[line], source.pressure[line]
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        target.position[a], target.velocity[a] = source.position[a], source.velocity[a]
        target.regime[a], target.direction[a] = source.regime[a], source.direction[a]
    for k in range(network.part_valve_start[part], network.part_valve_start[part + 1]):
        valve = network.part_valve[k]
        for k_spool in range(3):
            target.spool[valve, k_spool] = source.spool[valve, k_spool]
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        target.swash[p] = source.swash[p]


@kernel
def _difference(network, part, whole, halves):
    """Largest difference of the two results, as a multiple of what passes."""
    largest = 0.0
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        passes = PRESSURE_ERROR + RELATIVE_ERROR * abs(halves.pressure[line])
        largest = max(largest, abs(halves.pressure[line] - whole.pressure[line]) / passes)
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        passes = SPEED_ERROR + RELATIVE_ERROR * abs(halves.velocity[a])
        largest = max(largest, abs(halves.velocity[a] - whole.velocity[a]) / passes)
    return largest


@kernel
def _alike(network, part, whole, halves):
    """Whether each actuator ended the same way in both, so that their difference says something of the error."""
    alike = True
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        slides = halves.regime[a] == SLIDING
        alike = alike and whole.regime[a] == halves.regime[a] and (slides or whole.velocity[a] == halves.velocity[a])
    return alike


@kernel
def _extrapolate(network, oil, part, beyond, whole, halves, result):
    """The halves and `beyond` times their difference from the whole, in everything: oil and room fit each other."""
    _copy(network, part, halves, result)
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        result.velocity[a] += beyond * (halves.velocity[a] - whole.velocity[a])
        result.position[a] += beyond * (halves.position[a] - whole.position[a])
        if network.stroke[a] < math.inf:
            result.position[a] = min(max(result.position[a], 0.0), network.stroke[a])
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        result.content[line] += beyond * (halves.content[line] - whole.content[line])
        result.pressure[line] = pressure_of(oil, result.content[line])
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        result.swash[p] = min(max(halves.swash[p] + beyond * (halves.swash[p] - whole.swash[p]), 0.0), 1.0)


@kernel
def _clear(network, part, faults, books):
    for k in range(network.part_passage_start[part], last_passage(network, part, faults)):
        e = network.part_passage[k]
        books.passed[e] = books.lost[e] = 0.0
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        books.delivered[p] = books.pump_work[p] = 0.0
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        books.push[a] = books.grip[a] = books.stop[a] = 0.0
        books.work[a] = books.oil_work[a] = books.viscous_loss[a] = books.friction_loss[a] = books.stop_loss[a] = 0.0


@kernel
def _add_books(network, part, faults, beyond, whole, halves, total):
    """Books of the extrapolated result."""
    for k in range(network.part_passage_start[part], last_passage(network, part, faults)):
        e = network.part_passage[k]
        total.passed[e] += halves.passed[e] + beyond * (halves.passed[e] - whole.passed[e])
        total.lost[e] += halves.lost[e] + beyond * (halves.lost[e] - whole.lost[e])
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        total.delivered[p] += halves.delivered[p] + beyond * (halves.delivered[p] - whole.delivered[p])
        total.pump_work[p] += halves.pump_work[p] + beyond * (halves.pump_work[p] - whole.pump_work[p])
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        total.push[a] += halves.push[a] + beyond * (halves.push[a] - whole.push[a])
        total.grip[a] += halves.grip[a] + beyond * (halves.grip[a] - whole.grip[a])
        total.stop[a] += halves.stop[a] + beyond * (halves.stop[a] - whole.stop[a])
        total.work[a] += halves.work[a] + beyond * (halves.work[a] - whole.work[a])
        total.oil_work[a] += halves.oil_work[a] + beyond * (halves.oil_work[a] - whole.oil_work[a])
        total.viscous_loss[a] += halves.viscous_loss[a] + beyond * (halves.viscous_loss[a] - whole.viscous_loss[a])
        total.friction_loss[a] += halves.friction_loss[a] + beyond * (halves.friction_loss[a] - whole.friction_loss[a])
        total.stop_loss[a] += halves.stop_loss[a] + beyond * (halves.stop_loss[a] - whole.stop_loss[a])


@kernel
def _trace(network, circuit, part, time, trial, prediction):
    """Notes the end of a sub-step for each actuator of a part."""
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        row = prediction.trace_length[a]
        if row < prediction.trace.shape[1]:
            trace = prediction.trace[a, row]
            trace[TRACE_TIME], trace[TRACE_POSITION], trace[TRACE_VELOCITY] = time, trial.position[a], trial.velocity[a]
            trace[TRACE_PISTON_PRESSURE] = trial.pressure[network.line_a[a]]
            trace[TRACE_ROD_PRESSURE] = trial.pressure[network.line_b[a]]
            valve = circuit.valve[a]
            trace[TRACE_SPOOL] = trial.spool[valve, 0] if valve >= 0 else 0.0
            prediction.trace_length[a] = row + 1


@kernel
def actuator_volumes(network, a, position):
    """Oil that actuator a itself holds on either side, without dead volumes; a motor none [m3]."""
    if network.stroke[a] == math.inf:
        return 0.0, 0.0
    return network.area_a[a] * position, network.area_b[a] * (network.stroke[a] - position)


@kernel
def set_contents(oil, trial):
    """Contents of all lines from their pressures."""
    for line in range(trial.content.shape[0]):
        trial.content[line] = content(oil, trial.pressure[line])
