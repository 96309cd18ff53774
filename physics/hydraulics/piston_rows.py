"""Hydraulic cylinders and motors as rows: the piston (6) to (9), its holding brake, dry friction and stroke ends.

The actuators' rows are the first of all, cylinders before motors, in order. While a brake holds, a lock in the mass
matrix takes its row's place.

The row's Jacobian is the rate of the distance between the attachments, or that of the motor's joint. Its spring is the
piston: a mass that moves at the predicted speed, stiffened by the oil. With a mass alone (conductance m, target the
piston's own speed) the row's impulse is equation (9) of Strashnov and Mironenko (2023).
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross
from grouser.physics.constraints.rows import dot, open_row
from grouser.physics.hydraulics.circuit import OIL_WORK
from grouser.physics.hydraulics.cylinder import (
    IMPLICIT,
    SPLIT,
    STILL,
    advance_cylinder,
    chamber_compliances,
    end_buffer,
)
from grouser.physics.hydraulics.faults import spool_speed
from grouser.physics.hydraulics.oil import aerated, content, pressure_of, pressure_rise
from grouser.physics.hydraulics.trials import push_of
from grouser.physics.multibody.jacobian import wrench_row
from grouser.physics.multibody.kinematics import body_acceleration, body_twist

# A locked cylinder's damper, as a multiple of what it holds, and the least lever arm that it works on [m/rad or -].
_LOCK = 1e7
_LEAST_LEVER = 1e-6
# Of an actuator between bodies that nothing moves [1/kg or 1/(kg m2)].
_LEAST_MOBILITY = 1e-12


@kernel
def attachment_point(kinematics, body, point, k):
    """Component k of a point given in a body's frame (the world's for -1), from the kinematics' origin."""
    if body < 0:
        return point[k] - kinematics.origin[k]
    return kinematics.position[body, k] + dot(kinematics.rotation[body, k], point)


@inlined
def cylinder_length(circuit, kinematics, c, direction):
    """Distance between the attachments of cylinder c [m]; `direction` gets the unit vector from barrel to rod."""
    square = 0.0
    for k in range(3):
        direction[k] = attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], k) - attachment_point(
            kinematics, circuit.barrel_body[c], circuit.barrel_point[c], k
        )
        square += direction[k] * direction[k]
    length = math.sqrt(square)
    for k in range(3):
        direction[k] /= length
    return length


@kernel
def open_piston_rows(model, circuit, kinematics, first_slot, remembered, direction, rows, length):
    """Opens a row for each cylinder and motor, before all others and in order, with its Jacobian only.

    Args:
        model, circuit: the machine.
        kinematics: filled for the current state.
        first_slot: slot of the first cylinder's row.
        remembered: impulses of the last step by slot [N s].
        direction: workspace, (3,).
        rows: result.
        length: distance between the attachments of each cylinder [m], result.
    """
    cylinders = circuit.barrel_body.shape[0]
    for motor in range(circuit.motor_rate.shape[0]):
        length[cylinders + motor] = 0.0
    for c in range(cylinders):
        open_row(rows, first_slot + c, remembered[first_slot + c])
        length[c] = cylinder_length(circuit, kinematics, c, direction)
        x = attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 0)
        y = attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 1)
        z = attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 2)
        mx, my, mz = cross(x, y, z, direction[0], direction[1], direction[2])
        wrench_row(
            *(model.body_parent, model.column_start, model.column_rate, kinematics.column),
            *(circuit.rod_body[c], circuit.barrel_body[c]),
            *(direction[0], direction[1], direction[2], mx, my, mz, rows.jacobian, c),
        )
    for motor in range(circuit.motor_rate.shape[0]):
        a = cylinders + motor
        open_row(rows, first_slot + a, remembered[first_slot + a])
        rows.jacobian[a, circuit.motor_rate[motor]] = 1.0


@kernel
def turn_pistons(model, circuit, kinematics, motion, direction, turning):
    """dJ/dt v of each cylinder's row: rate of its speed while no coordinate accelerates; that of a motor stays 0.

    Args:
        model, circuit: the machine.
        kinematics: filled for the current state.
        motion: spatial accelerations of the bodies while no coordinate accelerates, less that of gravity, (bodies, 6).
        direction: workspace, (3,).
        turning: result, (actuators,) [m/s2].
    """
    for c in range(circuit.barrel_body.shape[0]):
        length = cylinder_length(circuit, kinematics, c, direction)
        rv0, rv1, rv2, ra0, ra1, ra2 = _point_motion(
            model, kinematics, motion, circuit.rod_body[c], circuit.rod_point[c]
        )
        bv0, bv1, bv2, ba0, ba1, ba2 = _point_motion(
            model, kinematics, motion, circuit.barrel_body[c], circuit.barrel_point[c]
        )
        v0, v1, v2 = rv0 - bv0, rv1 - bv1, rv2 - bv2
        along = direction[0] * v0 + direction[1] * v1 + direction[2] * v2
        turning[c] = direction[0] * (ra0 - ba0) + direction[1] * (ra1 - ba1) + direction[2] * (ra2 - ba2)
        turning[c] += (v0 * v0 + v1 * v1 + v2 * v2 - along * along) / length


@kernel
def _point_motion(model, kinematics, motion, body, point):
    """Velocity, and acceleration less that of gravity, of a point given in a body's frame."""
    x = attachment_point(kinematics, body, point, 0)
    y = attachment_point(kinematics, body, point, 1)
    z = attachment_point(kinematics, body, point, 2)
    v0, v1, v2, w0, w1, w2 = body_twist(kinematics.twist, body)
    a0, a1, a2, b0, b1, b2 = body_acceleration(motion, body, model.gravity)
    t0, t1, t2 = cross(w0, w1, w2, x, y, z)
    v0, v1, v2 = v0 + t0, v1 + t1, v2 + t2
    t0, t1, t2 = cross(b0, b1, b2, x, y, z)
    s0, s1, s2 = cross(w0, w1, w2, v0, v1, v2)
    return v0, v1, v2, a0 + t0 + s0, a1 + t1 + s1, a2 + t2 + s2


@kernel
def lock_pistons(circuit, network, state, v, brake, step, rows, mass, force, lock):
    """Takes the cylinders whose brake holds out of the rows: dampers in the mass matrix lock them.

    Braked legs under a heavy machine are what Gauss-Seidel is slowest at; the factorisation solves them exactly. A
    damper gives way by less than 1e-7 of what the free joint would. It stands in only while the brake held in the last
    step with less than its force, and only for a cylinder whose coordinate moves nothing but its joint; the others
    keep their rows. Cylinders that lock one joint share its load.

    Args:
        circuit, network: hydraulics.
        state: of the hydraulics at the start of the step.
        v: coordinate rates.
        brake: of each cylinder, whether its brake is engaged.
        step: [s].
        rows: opened by `open_piston_rows`, with the last impulses.
        mass, force: of the equations of motion, before the factorisation; changed in place.
        lock: impulse per speed of each locked cylinder [kg], 0 for the others; result.
    """
    for c in range(circuit.valve.shape[0]):
        lock[c] = 0.0
        rate = circuit.lone_rate[c]
        if brake[c] and rate >= 0:
            lever = rows.jacobian[c, rate]
            # what the brake carried: all that acted along the cylinder, less what the oil did
            carried = abs(rows.impulse[c] - step * push_of(network, c, state.pressure))
            holds = rows.impulse[c] != 0.0 and carried < step * circuit.holding_force[c]
            if holds and abs(lever) > _LEAST_LEVER and abs(lever * v[rate]) < STILL:
                lock[c] = _LOCK * mass[rate, rate] / (lever * lever)
    for c in range(circuit.valve.shape[0]):
        if lock[c] > 0.0:
            rate = circuit.lone_rate[c]
            lever = rows.jacobian[c, rate]
            mass[rate, rate] += lock[c] * lever * lever
            force[rate] -= lock[c] * lever * lever * v[rate] / step
            rows.impulse[c] = 0.0


@kernel
def measure_loads(circuit, network, brake, lock, u_start, u, step, rows, workspace):
    """What each actuator moves: its speed at the start of the step, the mechanism's acceleration, its brake.

    A load's acceleration comes from its row: the change of J v from the start of the step to the velocity that
    everything but the actuators gives. The step begins with J v along the cylinder as it stands now.

    Args:
        circuit, network: hydraulics.
        brake: of each actuator, whether the holding brake is engaged.
        lock: from `lock_pistons`; nothing else acts along the row of a locked actuator.
        u_start: half-solved velocity at the start of the step.
        u: half-solved velocity with forces and warm-start impulses.
        step: [s].
        rows: opened by `open_piston_rows` and half-solved.
        workspace: of the network; its loads, and the velocities of `now`, are the result.
    """
    loads, now = workspace.loads, workspace.now
    for a in range(network.line_a.shape[0]):
        now.velocity[a] = 0.0 if lock[a] > 0.0 else dot(rows.whitened_jacobian[a], u_start)
        loads.acceleration[a] = (dot(rows.whitened_jacobian[a], u) - now.velocity[a]) / step
        loads.brake[a] = circuit.holding_force[a] if brake[a] else 0.0


@kernel
def advance_cylinders(circuit, network, state, scheme, command, brake, turning, step, rows, workspace, prediction):
    """Moves cylinders on valves between constant pressures through a step by a published scheme (`cylinder`).

    Args:
        circuit, network, state: hydraulics.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of each valve [-].
        brake: of each actuator, whether the holding brake is engaged.
        turning: from `turn_pistons`.
        step: [s].
        rows: as for `measure_loads`.
        workspace: of the network, with the loads.
        prediction: result.
    """
    for c in range(circuit.barrel_body.shape[0]):
        valve = circuit.valve[c]
        spool = spool_speed(workspace.faults, valve)
        free = workspace.loads.acceleration[c]
        free -= rows.inverse_mass[c] * (rows.impulse[c] / step + network.mass[c] * turning[c])
        advance_cylinder(
            *(circuit, network, state, c, scheme, command[valve], spool, brake[c], workspace.now.velocity[c]),
            *(1.0 / max(rows.inverse_mass[c], _LEAST_MOBILITY), free, step, prediction),
        )


@kernel
def give_rows_their_law(network, state, scheme, lock, turning, step, rows, workspace, prediction):
    """Gives the actuators' rows the law that follows from what is foreseen of them.

    A piston's own speed was less by step dJ/dt v, as the cylinder was turned before: what its mass takes up of that
    acts on the mechanism as well.

    Args:
        network, state: hydraulics.
        scheme: of the integration.
        lock: from `lock_pistons`.
        turning: from `turn_pistons`.
        step: [s].
        rows: of the actuators, changed.
        workspace: of the network.
        prediction: of the actuators at the end of the step.
    """
    for a in range(network.line_a.shape[0]):
        if lock[a] > 0.0:
            continue
        foreseen = prediction.velocity[a]
        conductance = network.mass[a]
        if scheme == SPLIT:
            rows.target[a] = foreseen - step * turning[a]
            rows.hold_bound[a] = step * prediction.hold[a]
        else:
            _, spring, damping = end_buffer(network, a, prediction.position[a])
            stiffness = spring + _oil_stiffness(network, state, scheme, a, prediction.position[a], workspace)
            conductance += step * (network.viscous[a] + damping + step * stiffness)
            rows.target[a] = foreseen + (prediction.impulse[a] - step * network.mass[a] * turning[a]) / conductance
            rows.hold_bound[a] = step * prediction.hold[a] if prediction.stuck[a] else 0.0
        rows.conductance[a] = conductance
        _stroke_ends(network, state, prediction, a, step, rows)


@kernel
def measure_mobilities(network, turning, step, rows, loads):
    """How the actuators of a part move each other, and the mechanism's acceleration without their last impulses.

    But with what turned pistons take up.
    """
    for part in range(network.part_line_start.shape[0] - 1):
        first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
        for i in range(first, last):
            a = network.part_actuator[i]
            for k in range(first, i):
                b = network.part_actuator[k]
                loads.mobility[a, b] = loads.mobility[b, a] = dot(rows.whitened_jacobian[a], rows.whitened_jacobian[b])
            loads.mobility[a, a] = max(rows.inverse_mass[a], _LEAST_MOBILITY)
        for i in range(first, last):
            a = network.part_actuator[i]
            for k in range(first, last):
                b = network.part_actuator[k]
                taken = rows.impulse[b] / step + network.mass[b] * turning[b]
                loads.acceleration[a] -= loads.mobility[a, b] * taken


@kernel
def _oil_stiffness(network, state, scheme, a, position, workspace):
    """Stiffness of the closed lines along an actuator, beta (S_A^2 / V_A + S_B^2 / V_B) [N/m or N m/rad]."""
    area_a, area_b, stiffness = network.area_a[a], network.area_b[a], 0.0
    line_a, line_b = network.line_a[a], network.line_b[a]
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    volume_a, volume_b = _capacities(network, scheme, a, position, workspace)
    if not network.constant[line_a]:
        stiffness += pressure_rise(oil, state.pressure[line_a]) * area_a * area_a / volume_a
    if not network.constant[line_b]:
        stiffness += pressure_rise(oil, state.pressure[line_b]) * area_b * area_b / volume_b
    return stiffness


@kernel
def _capacities(network, scheme, a, position, workspace):
    """What both lines of actuator a take in for a change of their contents [m3]."""
    if scheme == IMPLICIT:
        return workspace.capacity[network.line_a[a]], workspace.capacity[network.line_b[a]]
    compliance_a, compliance_b = chamber_compliances(network, a, position)
    return network.oil.bulk_modulus * compliance_a, network.oil.bulk_modulus * compliance_b


@kernel
def _stroke_ends(network, state, prediction, a, step, rows):
    """Stops of row a: no further than the stroke, and at rest where the piston is foreseen at its end."""
    stroke, position = network.stroke[a], state.piston[a]
    if stroke < math.inf:
        rows.slowest[a] = 0.0 if prediction.position[a] <= 0.0 else -position / step
        rows.fastest[a] = 0.0 if prediction.position[a] >= stroke else (stroke - position) / step


@kernel
def commit_pistons(network, state, scheme, lock, u, step, length, retracted, rows, workspace, prediction):
    """Takes the velocities found back into the hydraulics, and asks the position pass to follow the pistons.

    Where other rows kept the piston from the speed foreseen, it has moved the less, and its oil is squeezed by as much.
    A locked one stays where it is, and its row gets the impulse that the lock has given.
    """
    for a in range(network.line_a.shape[0]):
        velocity = dot(rows.whitened_jacobian[a], u)
        if lock[a] > 0.0:
            rows.impulse[a] = -lock[a] * velocity
        elif scheme == SPLIT:
            state.piston[a] = min(max(state.piston[a] + step * velocity, 0.0), network.stroke[a])
        elif network.stroke[a] < math.inf:
            surplus = step * (velocity - prediction.velocity[a])
            _squeeze(network, state, scheme, a, surplus, prediction.position[a], workspace)
        else:
            # nothing else keeps the angle of a motor to its oil
            surplus = step * velocity - prediction.position[a]
            _squeeze(network, state, scheme, a, surplus, prediction.position[a], workspace)
        if network.stroke[a] < math.inf:
            rows.shift[a] = (retracted[a] + state.piston[a] - length[a]) / step
            rows.shift_lower[a] = -math.inf
            rows.shift_upper[a] = math.inf


@kernel
def _squeeze(network, state, scheme, a, surplus, foreseen, workspace):
    """Actuator a has moved further than foreseen by `surplus` [m or rad]: its position and its lines' pressures."""
    position = foreseen + surplus
    if network.stroke[a] < math.inf:
        position = min(max(position, 0.0), network.stroke[a])
    moved = position - foreseen
    oil = aerated(network.oil, workspace.faults.entrained_air[0])
    capacity_a, capacity_b = _capacities(network, scheme, a, position, workspace)
    for line, swept, capacity in (
        (network.line_a[a], network.area_a[a] * moved, capacity_a),
        (network.line_b[a], -network.area_b[a] * moved, capacity_b),
    ):
        pressure = state.pressure[line]
        work = pressure * swept
        if network.constant[line]:
            state.line_supply[line] += work
        else:
            after = pressure_of(oil, content(oil, pressure) - swept / capacity)
            state.pressure[line] = after
            work = 0.5 * (pressure + after) * swept
            state.line_gain[line] -= work
        state.account[a, OIL_WORK] += work
    state.piston[a] = position if network.stroke[a] < math.inf else 0.0
