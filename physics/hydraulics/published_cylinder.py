"""The published schemes of a double-acting cylinder with its valve, in explicit sub-steps: equations (1) to (5).

After Strashnov and Mironenko (2023), for cylinders on valves between constant pressures; `implicit` integrates every
circuit. `SPLIT` is the published scheme as printed: the piston moves alone through the step, without load, dry friction
or stops; one impulse couples it with the mechanism afterwards. It is accurate only while the step is much shorter than
the period of the piston on its oil, sqrt(m V / (beta S^2)). `SEMI_IMPLICIT` includes the load's effective mass and its
acceleration along the cylinder in the sub-steps, as the piston's row gives them, with dry friction and stops.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.constraints.rows import Rows
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
from grouser.physics.hydraulics.chambers import chamber_compliances, end_buffer, oil_stiffness
from grouser.physics.hydraulics.faults import spool_speed
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.piston_rows import LEAST_MOBILITY
from grouser.physics.hydraulics.prediction import (
    SPLIT,
    STILL,
    SUBSTEP,
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_SPOOL,
    TRACE_TIME,
    TRACE_VELOCITY,
    Prediction,
)
from grouser.physics.hydraulics.published_valve import advance_spool, edge_openings, fill_chamber
from grouser.physics.hydraulics.spools import SPOOL_REST
from grouser.physics.hydraulics.state import State
from grouser.physics.hydraulics.trials import NetworkWorkspace

# Longest sub-step, as a share of the period of the load on its oil divided by 2 pi [-].
_PHASE = 0.5


@kernel
def advance_cylinders(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    state: State,
    scheme,
    command,
    brake,
    jacobian_rate,
    step: float,
    rows: Rows,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Advances cylinders on valves between constant pressures by one step of a published scheme.

    Args:
        geometry, network, state: hydraulics.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of each valve [-].
        brake: of each actuator, whether the holding brake is engaged.
        jacobian_rate: from `measure_jacobian_rates`.
        step: [s].
        rows: as for `measure_loads`.
        workspace: of the network, with the loads.
        prediction: result.
    """
    for c in range(geometry.barrel_body.shape[0]):
        valve = geometry.valve[c]
        spool = spool_speed(workspace.faults, valve)
        free = workspace.loads.acceleration[c]
        free -= rows.inverse_mass[c] * (rows.impulse[c] / step + network.mass[c] * jacobian_rate[c])
        advance_cylinder(
            *(geometry, network, state, c, scheme, command[valve], spool, brake[c], workspace.now.velocity[c]),
            *(1.0 / max(rows.inverse_mass[c], LEAST_MOBILITY), free, step, prediction),
        )


@kernel
def substep_count(network: HydraulicNetwork, c, scheme, position, mass, still, step: float, most):
    """Number of sub-steps, of at most SUBSTEP and short against the load's period on its oil; 1 when `still`."""
    if still:
        return 1
    longest = SUBSTEP
    if scheme != SPLIT:
        longest = min(longest, _PHASE * math.sqrt(mass / oil_stiffness(network, c, position)))
    return min(max(int(math.ceil(step / longest - 1e-9)), 1), most)


@kernel
def advance_cylinder(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    state: State,
    c,
    scheme,
    command,
    speed,
    brake,
    velocity,
    load_mass,
    load_acceleration,
    step: float,
    prediction: Prediction,
):
    """Advances cylinder c and its valve by one step, and predicts its motion.

    Pressures, spool and accounts are committed; the position is only predicted.

    Args:
        geometry, network: the arrays.
        state: pressures, spools and energy accounts are advanced.
        c: number of the cylinder.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of its valve [-].
        speed: of the spool, as a share of that of a healthy one; 0 when it is stuck [-].
        brake: whether the holding brake is engaged.
        velocity: of the piston at the start of the step [m/s].
        load_mass: effective mass along the row, 1 / (J M^-1 J^T) [kg].
        load_acceleration: along the row, without this cylinder [m/s2].
        step: [s].
        prediction: result, entry c.
    """
    valve = geometry.valve[c]
    area_a, area_b = network.area_a[c], network.area_b[c]
    supply, tank = geometry.supply_pressure[0], geometry.tank_pressure[0]
    transition, linear = geometry.transition[valve], geometry.linear[valve]
    gain, overlap, underlap = geometry.flow_gain[valve], geometry.supply_overlap[valve], geometry.tank_underlap[valve]
    spool, spool_velocity = state.spool[valve, 0], state.spool[valve, 1]
    pressure_a, pressure_b = state.pressure[network.line_a[c]], state.pressure[network.line_b[c]]
    account, trace = state.account[c], prediction.trace[c]
    stroke, viscous = network.stroke[c], network.viscous[c]
    coupled = scheme != SPLIT
    mass = network.mass[c] + (load_mass if coupled else 0.0)
    load = load_mass * load_acceleration if coupled else 0.0
    hold = network.dry[c] + (geometry.holding_force[c] if brake else 0.0)
    x, v = state.piston[c], velocity
    frequency = speed * geometry.spool_frequency[valve]
    target = geometry.spool_gain[valve] * command if speed > 0.0 else spool
    if speed == 0.0:
        spool_velocity = 0.0
    resting = abs(spool - target) < SPOOL_REST and abs(spool_velocity) <= SPOOL_REST * frequency
    if resting:
        spool, spool_velocity = target, 0.0
    # with a locked piston and a spool at rest only slow flows remain, which are implicit
    still = coupled and brake and resting and abs(v) < STILL
    count = substep_count(network, c, scheme, x, mass, still, step, trace.shape[0])
    h = step / count
    stuck = ended = False
    impulse = friction_impulse = stop_impulse = flow_in_a = flow_in_b = supplied = 0.0
    for s in range(count):
        spool, spool_velocity = advance_spool(
            spool,
            spool_velocity,
            command,
            geometry.spool_gain[valve],
            frequency,
            geometry.spool_damping[valve],
            h,
        )
        supply_a, tank_a, supply_b, tank_b = edge_openings(spool, overlap, underlap)
        compliance_a, compliance_b = chamber_compliances(network, c, x)
        next_a, flow_a, from_supply_a = fill_chamber(
            *(pressure_a, supply, tank, gain * supply_a, gain * tank_a, area_a * v, h / compliance_a),
            *(transition, linear, coupled),
        )
        next_b, flow_b, from_supply_b = fill_chamber(
            *(pressure_b, supply, tank, gain * supply_b, gain * tank_b, -area_b * v, h / compliance_b),
            *(transition, linear, coupled),
        )
        from_supply = from_supply_a + from_supply_b
        mean_a, mean_b = 0.5 * (pressure_a + next_a), 0.5 * (pressure_b + next_b)
        to_tank = from_supply - flow_a - flow_b
        account[SUPPLIED] += h * supply * from_supply
        account[RETURNED] += h * tank * to_tank
        account[THROTTLED] += h * (supply * from_supply - tank * to_tank - mean_a * flow_a - mean_b * flow_b)
        account[COMPRESSED] += mean_a * compliance_a * (next_a - pressure_a)
        account[COMPRESSED] += mean_b * compliance_b * (next_b - pressure_b)
        flow_in_a += h * flow_a
        flow_in_b += h * flow_b
        supplied += h * supply * from_supply
        pressure_a, pressure_b = next_a, next_b
        push = area_a * pressure_a - area_b * pressure_b
        spring, _, damping = end_buffer(network, c, x)
        before = v
        if coupled:
            free = v + h * (push + spring + load) / mass
            stuck = abs(free) * mass <= h * hold
            grip = -mass * free if stuck else (-h * hold if free > 0.0 else h * hold)
            v = 0.0 if stuck else (free + grip / mass) / (1.0 + h * (viscous + damping) / mass)
            resistance, cushion = viscous * v, spring - damping * v
        else:
            grip = 0.0
            resistance, cushion = viscous * v, spring - damping * v
            v += h * (push - resistance + cushion) / mass
        stop = 0.0
        if coupled:
            x += h * v
            ended = (x <= 0.0 and v <= 0.0) or (x >= stroke and v >= 0.0)
            if ended:
                x = min(max(x, 0.0), stroke)
                stop = -mass * v
                v = 0.0
        impulse += h * (push - resistance + cushion)
        friction_impulse += grip
        stop_impulse += stop
        # impulse times mean speed of a sub-step is exactly the change of kinetic energy
        mean = 0.5 * (before + v)
        account[PISTON_WORK] += h * push * mean
        account[OIL_WORK] += h * (area_a * mean_a - area_b * mean_b) * before
        account[VISCOUS_LOSS] += h * resistance * mean
        account[FRICTION_LOSS] -= grip * mean
        account[STOP_LOSS] -= (stop + h * cushion) * mean
        trace[s, TRACE_TIME], trace[s, TRACE_POSITION], trace[s, TRACE_VELOCITY] = (s + 1) * h, x, v
        trace[s, TRACE_PISTON_PRESSURE], trace[s, TRACE_ROD_PRESSURE] = pressure_a, pressure_b
        trace[s, TRACE_SPOOL] = spool
    state.spool[valve, 0], state.spool[valve, 1] = spool, spool_velocity
    state.pressure[network.line_a[c]], state.pressure[network.line_b[c]] = pressure_a, pressure_b
    prediction.velocity[c] = v
    prediction.position[c] = x
    # impulses of friction and stops count here, unless they still act at the end: then the row applies them
    impulse += (0.0 if stuck else friction_impulse) + (0.0 if ended else stop_impulse)
    prediction.impulse[c] = impulse - network.mass[c] * (v - velocity)
    prediction.stuck[c] = stuck
    prediction.hold[c] = hold
    prediction.flow[c, 0], prediction.flow[c, 1] = flow_in_a / step, flow_in_b / step
    prediction.supply_power[c] = supplied / step
    prediction.trace_length[c] = count
