"""A double-acting cylinder with its valve over one mechanical step, in explicit sub-steps: equations (1) to (5).

Two plain schemes, for cylinders on valves between constant pressures; `implicit` is the one for all circuits. `SPLIT`
is the published one, literally: the piston runs alone through the step, without load, dry friction or stops; one
impulse couples it with the mechanism afterwards. It is accurate only while the step is much shorter than the period of
the piston on its oil, sqrt(m V / (beta S^2)). `SEMI_IMPLICIT` carries the load's effective mass and its acceleration
along the cylinder inside the sub-steps, as the piston's row gives them, with dry friction and stops.
"""

import math
from typing import NamedTuple

import numpy as np

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
    Circuit,
)
from grouser.physics.hydraulics.valve import advance_spool, edge_openings, fill_chamber

SPLIT, SEMI_IMPLICIT, IMPLICIT = range(3)
SCHEMES = {"split": SPLIT, "semi_implicit": SEMI_IMPLICIT, "implicit": IMPLICIT}
# Longest sub-step [s], and its longest share of the period of the load on its oil divided by 2 pi.
SUBSTEP = 1e-4
_PHASE = 0.5
_MOST_SUBSTEPS = 1000
# A spool closer to its target than this share of its travel rests there [-]; a slower piston stands still [m/s].
SPOOL_REST = 1e-9
STILL = 1e-6
# Columns of the trace.
TRACE_TIME, TRACE_POSITION, TRACE_VELOCITY, TRACE_PISTON_PRESSURE, TRACE_ROD_PRESSURE, TRACE_SPOOL = range(6)


class Prediction(NamedTuple):
    """What the sub-steps foresee for each cylinder, shape (cylinders,) unless said otherwise.

    Attributes:
        velocity: of the piston at the end of the step [m/s].
        position: at the end of the step [m].
        impulse: of the pressures and of friction on the mechanism over the step, without holds and stops [N s].
        stuck: whether dry friction or the brake holds it at the end.
        hold: largest force of dry friction and brake [N].
        flow: into the piston side and into the rod side, mean over the step [m3/s], (cylinders, 2).
        supply_power: mean over the step [W].
        trace: end of each sub-step: time since the start of the step [s], position [m], velocity [m/s], pressures on
            the piston and rod side [Pa], spool [-]; (cylinders, sub-steps, 6).
        trace_length: number of sub-steps taken.
    """

    velocity: np.ndarray
    position: np.ndarray
    impulse: np.ndarray
    stuck: np.ndarray
    hold: np.ndarray
    flow: np.ndarray
    supply_power: np.ndarray
    trace: np.ndarray
    trace_length: np.ndarray


def make_prediction(circuit: Circuit, step: float) -> Prediction:
    """Room for the predictions of a step of this length [s]."""
    cylinders = len(circuit.valve)
    most = min(max(10 * math.ceil(step / SUBSTEP), 10), _MOST_SUBSTEPS)
    return Prediction(
        np.zeros(cylinders),
        np.zeros(cylinders),
        np.zeros(cylinders),
        np.zeros(cylinders, dtype=np.bool_),
        np.zeros(cylinders),
        np.zeros((cylinders, 2)),
        np.zeros(cylinders),
        np.zeros((cylinders, most, 6)),
        np.zeros(cylinders, dtype=np.int64),
    )


@kernel
def chamber_compliances(network, a, position):
    """Oil that either line of actuator a takes in for a rise of its pressure, V / beta and its walls [m3/Pa]."""
    line_a, line_b, area_a, area_b = network.line_a[a], network.line_b[a], network.area_a[a], network.area_b[a]
    softness = 1.0 / network.oil.bulk_modulus
    compliance_a = softness * network.volume[line_a] + network.compliance[line_a]
    compliance_b = softness * network.volume[line_b] + network.compliance[line_b]
    if network.stroke[a] < math.inf:
        softness += network.wall[a]
        compliance_a += softness * area_a * position
        compliance_b += softness * area_b * (network.stroke[a] - position)
    return compliance_a, compliance_b


@kernel
def oil_stiffness(network, a, position):
    """Stiffness of the closed lines along actuator a, beta (S_A^2 / V_A + S_B^2 / V_B) with stiff walls [N/m]."""
    compliance_a, compliance_b = chamber_compliances(network, a, position)
    area_a, area_b = network.area_a[a], network.area_b[a]
    return area_a * area_a / compliance_a + area_b * area_b / compliance_b


@kernel
def end_buffer(network, a, position):
    """What the spring and damper at an end of the stroke do at a position: force [N], stiffness, damping; 0 between."""
    length, stiffness, damping = network.buffer[a], network.buffer_stiffness[a], network.buffer_damping[a]
    if position < length:
        return stiffness * (length - position), stiffness, damping
    if length > 0.0 and position > network.stroke[a] - length:
        return stiffness * (network.stroke[a] - length - position), stiffness, damping
    return 0.0, 0.0, 0.0


@kernel
def substep_count(network, c, scheme, position, mass, still, step, most):
    """Sub-steps of a step: none longer than SUBSTEP, and short against the load's period on its oil; one when still."""
    if still:
        return 1
    longest = SUBSTEP
    if scheme != SPLIT:
        longest = min(longest, _PHASE * math.sqrt(mass / oil_stiffness(network, c, position)))
    return min(max(int(math.ceil(step / longest - 1e-9)), 1), most)


@kernel
def advance_cylinder(
    circuit, network, state, c, scheme, command, speed, brake, velocity, load_mass, load_acceleration, step, prediction
):
    """Runs cylinder c and its valve through one step and predicts its motion.

    The position is only predicted.

    Args:
        circuit, network: the arrays.
        state: State; its pressures, spools and energy accounts are moved on.
        c: number of the cylinder.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of its valve [-].
        speed: share of its speed that the spool has, 0 when it is stuck [-].
        brake: whether the holding brake is engaged.
        velocity: of the piston at the start of the step [m/s].
        load_mass: effective mass along the row, 1 / (J M^-1 J^T) [kg].
        load_acceleration: along the row, without this cylinder [m/s2].
        step: [s].
        prediction: result, entry c.
    """
    valve = circuit.valve[c]
    area_a, area_b = network.area_a[c], network.area_b[c]
    supply, tank = circuit.supply_pressure[0], circuit.tank_pressure[0]
    transition, linear = circuit.transition[valve], circuit.linear[valve]
    gain, overlap, underlap = circuit.flow_gain[valve], circuit.supply_overlap[valve], circuit.tank_underlap[valve]
    spool, spool_velocity = state.spool[valve, 0], state.spool[valve, 1]
    pressure_a, pressure_b = state.pressure[network.line_a[c]], state.pressure[network.line_b[c]]
    account, trace = state.account[c], prediction.trace[c]
    stroke, viscous = network.stroke[c], network.viscous[c]
    coupled = scheme != SPLIT
    mass = network.mass[c] + (load_mass if coupled else 0.0)
    load = load_mass * load_acceleration if coupled else 0.0
    hold = network.dry[c] + (circuit.holding_force[c] if brake else 0.0)
    x, v = state.piston[c], velocity
    frequency = speed * circuit.spool_frequency[valve]
    target = circuit.spool_gain[valve] * command if speed > 0.0 else spool
    if speed == 0.0:
        spool_velocity = 0.0
    resting = abs(spool - target) < SPOOL_REST and abs(spool_velocity) <= SPOOL_REST * frequency
    if resting:
        spool, spool_velocity = target, 0.0
    # a locked piston under a resting spool leaves only the slow flows, which are taken implicitly
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
            circuit.spool_gain[valve],
            frequency,
            circuit.spool_damping[valve],
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
        # the mean speed of a sub-step turns its impulses into exactly the kinetic energy that they give
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
    # what friction and stops have done is part of the impulse, unless they still act: then the row's own do it
    impulse += (0.0 if stuck else friction_impulse) + (0.0 if ended else stop_impulse)
    prediction.impulse[c] = impulse - network.mass[c] * (v - velocity)
    prediction.stuck[c] = stuck
    prediction.hold[c] = hold
    prediction.flow[c, 0], prediction.flow[c, 1] = flow_in_a / step, flow_in_b / step
    prediction.supply_power[c] = supplied / step
    prediction.trace_length[c] = count
