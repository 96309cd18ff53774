"""The circuit of a machine over one mechanical step: what it begins with, what is foreseen of it, and its accounts."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.circuit import (
    COMPRESSED,
    FRICTION_LOSS,
    OIL_WORK,
    PISTON_WORK,
    RETURNED,
    STOP_LOSS,
    SUPPLIED,
    THROTTLED,
    VISCOUS_LOSS,
)
from grouser.physics.hydraulics.cylinder import STILL
from grouser.physics.hydraulics.oil import aerated, compression_energy, gas_energy
from grouser.physics.hydraulics.plain_parts import advance_parts
from grouser.physics.hydraulics.substep import measure_lines
from grouser.physics.hydraulics.trials import (
    AT_END,
    AT_START,
    SLIDING,
    STUCK,
    actuator_volumes,
    last_passage,
    set_contents,
)

# A piston that is nearer to an end of its stroke rests on it [m].
_AT_ITS_END = 1e-9


@kernel
def advance_network(circuit, network, state, command, step, workspace, prediction):
    """Moves the circuit of a machine through a step.

    Args:
        circuit, network: the hydraulics.
        state: pressures, spools, swash plates and accounts are moved on; pistons settle with the mechanism.
        command: of each valve [-].
        step: [s].
        workspace: of the network, with `loads`, and the velocities of the start in `now`.
        prediction: result.
    """
    _take_up(circuit, network, state, workspace)
    advance_parts(network, circuit, command, step, workspace, prediction)
    for part in range(network.part_line_start.shape[0] - 1):
        measure_lines(network, part, workspace.now, workspace)
    _foresee(network, state, workspace, prediction)
    _account_passages(network, state, step, workspace, prediction)
    _account_lines(network, state, workspace)
    _put_back(circuit, network, state, workspace)


@kernel
def _take_up(circuit, network, state, workspace):
    """The circuit's state where a step begins."""
    now = workspace.now
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    _hold_supplies(network, state, workspace)
    for line in range(network.volume.shape[0]):
        now.pressure[line] = state.pressure[line]
    set_contents(oil, now)
    for valve in range(circuit.flow_gain.shape[0]):
        for k in range(3):
            now.spool[valve, k] = state.spool[valve, k]
    for p in range(network.outlet.shape[0]):
        now.swash[p] = state.swash[p]
    for a in range(network.line_a.shape[0]):
        x, v = state.piston[a], now.velocity[a]
        now.position[a], now.direction[a] = x, (1.0 if v >= 0.0 else -1.0)
        workspace.start_velocity[a] = v
        now.regime[a] = SLIDING
        if abs(v) < STILL and workspace.loads.brake[a] > 0.0:
            now.regime[a] = STUCK
        elif x <= _AT_ITS_END and v < STILL and network.stroke[a] < math.inf:
            now.regime[a] = AT_START
        elif x >= network.stroke[a] - _AT_ITS_END and v > -STILL:
            now.regime[a] = AT_END
        elif abs(v) < STILL and network.dry[a] > 0.0:
            now.regime[a] = STUCK


@kernel
def _hold_supplies(network, state, workspace):
    """The supplies of constant pressure, at that of their tank when they stop."""
    for k in range(network.supply.shape[0]):
        line = network.supply[k]
        stopped = workspace.faults.stopped_pump[network.outlet.shape[0] + k]
        state.pressure[line] = network.pressure[network.supply_tank[k] if stopped else line]
        workspace.whole.pressure[line] = workspace.halves.pressure[line] = state.pressure[line]


@kernel
def _put_back(circuit, network, state, workspace):
    """The circuit's state where the step ends."""
    now = workspace.now
    for line in range(network.volume.shape[0]):
        state.pressure[line] = now.pressure[line]
    for valve in range(circuit.flow_gain.shape[0]):
        for k in range(3):
            state.spool[valve, k] = now.spool[valve, k]
    for p in range(network.outlet.shape[0]):
        state.swash[p] = now.swash[p]


@kernel
def _foresee(network, state, workspace, prediction):
    """What the actuators do in the step, and their accounts."""
    now, books = workspace.now, workspace.step_books
    for a in range(network.line_a.shape[0]):
        account = state.account[a]
        account[PISTON_WORK] += books.work[a]
        account[OIL_WORK] += books.oil_work[a]
        account[VISCOUS_LOSS] += books.viscous_loss[a]
        account[FRICTION_LOSS] += books.friction_loss[a]
        account[STOP_LOSS] += books.stop_loss[a]
        prediction.velocity[a], prediction.position[a] = now.velocity[a], now.position[a]
        stuck, ended = now.regime[a] == STUCK, now.regime[a] == AT_START or now.regime[a] == AT_END
        impulse = books.push[a] + (0.0 if stuck else books.grip[a]) + (0.0 if ended else books.stop[a])
        prediction.impulse[a] = impulse - network.mass[a] * (now.velocity[a] - workspace.start_velocity[a])
        prediction.stuck[a] = stuck
        prediction.hold[a] = max(network.static[a], network.dry[a]) + workspace.loads.brake[a]


@kernel
def _account_passages(network, state, step, workspace, prediction):
    """What passages and pumps throttled, took from constant lines and gave to them."""
    books = workspace.step_books
    for a in range(network.line_a.shape[0]):
        prediction.supply_power[a] = prediction.flow[a, 0] = prediction.flow[a, 1] = 0.0
    for part in range(network.part_line_start.shape[0] - 1):
        for k in range(network.part_passage_start[part], last_passage(network, part, workspace.faults)):
            e = network.part_passage[k]
            a, origin, end, volume = network.owner[e], network.origin[e], network.end[e], books.passed[e]
            from_origin = state.pressure[origin] * volume if network.constant[origin] else 0.0
            to_end = state.pressure[end] * volume if network.constant[end] else 0.0
            state.passage_loss[e] += books.lost[e]
            state.line_supply[origin] += from_origin
            state.line_supply[end] -= to_end
            if a < 0:
                continue
            account = state.account[a]
            account[THROTTLED] += books.lost[e]
            account[SUPPLIED] += from_origin
            account[RETURNED] += to_end
            prediction.supply_power[a] += from_origin / step
            for side, line in ((0, network.line_a[a]), (1, network.line_b[a])):
                prediction.flow[a, side] += (volume if end == line else (-volume if origin == line else 0.0)) / step
    for p in range(network.outlet.shape[0]):
        state.pump_work[p] += books.pump_work[p]
        for line, volume in ((network.inlet[p], books.delivered[p]), (network.outlet[p], -books.delivered[p])):
            if network.constant[line]:
                state.line_supply[line] += state.pressure[line] * volume


@kernel
def _account_lines(network, state, workspace):
    """What the oil, its walls and gas have taken up in the step, and what actuators took from constant lines."""
    now, room, walls = workspace.now, workspace.room, workspace.walls
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    for line in range(network.volume.shape[0]):
        room[line], walls[line] = network.volume[line], network.compliance[line]
    for a in range(network.line_a.shape[0]):
        filled_a, filled_b = actuator_volumes(network, a, 0.5 * (state.piston[a] + now.position[a]))
        moved = now.position[a] - state.piston[a]
        for line, filled, swept in (
            (network.line_a[a], filled_a, network.area_a[a] * moved),
            (network.line_b[a], filled_b, -network.area_b[a] * moved),
        ):
            room[line] += filled
            walls[line] += network.wall[a] * filled
            if network.constant[line]:
                state.line_supply[line] += state.pressure[line] * swept
    for line in range(network.volume.shape[0]):
        if network.constant[line]:
            continue
        before, after = state.pressure[line], now.pressure[line]
        gain = room[line] * (compression_energy(oil, after) - compression_energy(oil, before))
        gain += 0.5 * walls[line] * (after * after - before * before)
        if network.gas_volume[line] > 0.0:
            gain += gas_energy(network, line, after) - gas_energy(network, line, before)
        state.line_gain[line] += gain
        owner = network.line_owner[line]
        if owner >= 0:
            state.account[owner, COMPRESSED] += gain
