"""Start and end of a step of the hydraulics: what the sub-steps begin with, what they predict, and the accounts."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.actuator_geometry import (
    COMPRESSED,
    FRICTION_LOSS,
    OIL_WORK,
    PISTON_WORK,
    RETURNED,
    STOP_LOSS,
    SUPPLIED,
    THROTTLED,
    VISCOUS_LOSS,
    ActuatorGeometry,
)
from grouser.physics.hydraulics.implicit import advance_part
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.oil import aerated, compression_energy, gas_energy
from grouser.physics.hydraulics.prediction import STILL, Prediction
from grouser.physics.hydraulics.state import State
from grouser.physics.hydraulics.substep import measure_lines
from grouser.physics.hydraulics.trials import (
    AT_END,
    AT_START,
    SLIDING,
    STUCK,
    NetworkWorkspace,
    actuator_volumes,
    flow_elements_end,
    set_contents,
)

# A piston closer to an end of its stroke than this rests on it [m].
_AT_ITS_END = 1e-9


@kernel
def begin_parts(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    state: State,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Loads the state at the start of a step, and sets the number of sub-steps to zero.

    Args:
        geometry, network: the hydraulics.
        state: pressures, pistons, spools and swash plates; supplies are held at their pressure.
        workspace: of the network, with `loads`, and the velocities of the start in `now`.
        prediction: its trace is emptied.
    """
    for a in range(network.line_a.shape[0]):
        prediction.trace_length[a] = 0
    for part in range(network.part_line_start.shape[0] - 1):
        workspace.substeps[part] = 0
    _load_state(geometry, network, state, workspace)


@kernel
def advance_other_parts(
    network: HydraulicNetwork,
    geometry: ActuatorGeometry,
    command,
    step: float,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Advances by `implicit.advance_part` each part that the lockstep scheme has left out (0 `substeps`)."""
    for part in range(network.part_line_start.shape[0] - 1):
        if workspace.substeps[part] == 0:
            advance_part(network, geometry, part, command, step, workspace, prediction)


@kernel
def finish_parts(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    state: State,
    step: float,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Stores the prediction of the actuators, the accounts, and the state at the end of a step.

    Args:
        geometry, network: the hydraulics.
        state: pressures, spools, swash plates and accounts are advanced; `commit_pistons` sets the pistons.
        step: [s].
        workspace: of the network, advanced.
        prediction: result.
    """
    for part in range(network.part_line_start.shape[0] - 1):
        measure_lines(network, part, workspace.now, workspace)
    _store_prediction(network, state, workspace, prediction)
    _account_flow_elements(network, state, step, workspace, prediction)
    _account_lines(network, state, workspace)
    _store_state(geometry, network, state, workspace)


@kernel
def _load_state(geometry: ActuatorGeometry, network: HydraulicNetwork, state: State, workspace: NetworkWorkspace):
    """Copies the state at the start of a step into the workspace."""
    now = workspace.now
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    _hold_supplies(network, state, workspace)
    for line in range(network.volume.shape[0]):
        now.pressure[line] = state.pressure[line]
    set_contents(oil, now)
    for valve in range(geometry.flow_gain.shape[0]):
        for k in range(3):
            now.spool[valve, k] = state.spool[valve, k]
    for p in range(network.outlet.shape[0]):
        now.swash[p], workspace.first_share[p] = state.swash[p], state.first_share[p]
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
def _hold_supplies(network: HydraulicNetwork, state: State, workspace: NetworkWorkspace):
    """Sets the lines of constant-pressure supplies; those of stopped supplies get the pressure of their tank."""
    for k in range(network.supply.shape[0]):
        line = network.supply[k]
        stopped = workspace.faults.stopped_pump[network.outlet.shape[0] + k]
        state.pressure[line] = network.pressure[network.supply_tank[k] if stopped else line]
        workspace.whole.pressure[line] = workspace.halves.pressure[line] = state.pressure[line]


@kernel
def _store_state(geometry: ActuatorGeometry, network: HydraulicNetwork, state: State, workspace: NetworkWorkspace):
    """Copies the state at the end of a step out of the workspace."""
    now = workspace.now
    for line in range(network.volume.shape[0]):
        state.pressure[line] = now.pressure[line]
    for valve in range(geometry.flow_gain.shape[0]):
        for k in range(3):
            state.spool[valve, k] = now.spool[valve, k]
    for p in range(network.outlet.shape[0]):
        state.swash[p], state.first_share[p] = now.swash[p], workspace.first_share[p]


@kernel
def _store_prediction(network: HydraulicNetwork, state: State, workspace: NetworkWorkspace, prediction: Prediction):
    """Stores motion and impulse of the actuators, and their accounts."""
    now, accounts = workspace.now, workspace.step_accounts
    for a in range(network.line_a.shape[0]):
        account = state.account[a]
        account[PISTON_WORK] += accounts.work[a]
        account[OIL_WORK] += accounts.oil_work[a]
        account[VISCOUS_LOSS] += accounts.viscous_loss[a]
        account[FRICTION_LOSS] += accounts.friction_loss[a]
        account[STOP_LOSS] += accounts.stop_loss[a]
        prediction.velocity[a], prediction.position[a] = now.velocity[a], now.position[a]
        stuck, ended = now.regime[a] == STUCK, now.regime[a] == AT_START or now.regime[a] == AT_END
        impulse = accounts.push[a] + (0.0 if stuck else accounts.grip[a]) + (0.0 if ended else accounts.stop[a])
        prediction.impulse[a] = impulse - network.mass[a] * (now.velocity[a] - workspace.start_velocity[a])
        prediction.stuck[a] = stuck
        prediction.hold[a] = max(network.static[a], network.dry[a]) + workspace.loads.brake[a]


@kernel
def _account_flow_elements(
    network: HydraulicNetwork, state: State, step: float, workspace: NetworkWorkspace, prediction: Prediction
):
    """Adds throttling losses, pump work, and the energy exchanged with lines of constant pressure."""
    accounts = workspace.step_accounts
    for a in range(network.line_a.shape[0]):
        prediction.supply_power[a] = prediction.flow[a, 0] = prediction.flow[a, 1] = 0.0
    for part in range(network.part_line_start.shape[0] - 1):
        for k in range(network.part_flow_element_start[part], flow_elements_end(network, part, workspace.faults)):
            e = network.part_flow_element[k]
            a, origin, end, volume = network.owner[e], network.origin[e], network.end[e], accounts.passed[e]
            from_origin = state.pressure[origin] * volume if network.constant[origin] else 0.0
            to_end = state.pressure[end] * volume if network.constant[end] else 0.0
            state.flow_element_loss[e] += accounts.lost[e]
            state.line_supply[origin] += from_origin
            state.line_supply[end] -= to_end
            if a < 0:
                continue
            account = state.account[a]
            account[THROTTLED] += accounts.lost[e]
            account[SUPPLIED] += from_origin
            account[RETURNED] += to_end
            prediction.supply_power[a] += from_origin / step
            for side, line in ((0, network.line_a[a]), (1, network.line_b[a])):
                prediction.flow[a, side] += (volume if end == line else (-volume if origin == line else 0.0)) / step
    for p in range(network.outlet.shape[0]):
        state.pump_work[p] += accounts.pump_work[p]
        for line, volume in ((network.inlet[p], accounts.delivered[p]), (network.outlet[p], -accounts.delivered[p])):
            if network.constant[line]:
                state.line_supply[line] += state.pressure[line] * volume


@kernel
def _account_lines(network: HydraulicNetwork, state: State, workspace: NetworkWorkspace):
    """Adds the energy stored in oil, walls and gas, and what actuators took from lines of constant pressure."""
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
