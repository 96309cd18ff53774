"""Hydraulic cylinders and motors as rows: the piston (6) to (9), its holding brake, dry friction and stroke ends.

The actuators' rows come first of all rows, cylinders before motors, in order. While a brake holds, a lock in the mass
matrix replaces the row.

The row's Jacobian is the rate of the distance between the attachments, or that of the motor's joint. Its spring
represents the piston: a mass that moves at the predicted speed, with the stiffness of the oil. With a mass alone
(conductance m, target the piston's own speed) the row's impulse is equation (9) of Strashnov and Mironenko (2023).
"""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross
from grouser.physics.constraints.rows import Rows, dot, open_row, speed_along
from grouser.physics.hydraulics.actuator_geometry import OIL_WORK, ActuatorGeometry
from grouser.physics.hydraulics.chambers import chamber_compliances, end_buffer
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.oil import aerated, content, pressure_of, pressure_rise
from grouser.physics.hydraulics.prediction import IMPLICIT, SPLIT, STILL, Prediction
from grouser.physics.hydraulics.state import State
from grouser.physics.hydraulics.trials import Loads, NetworkWorkspace, push_of
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.jacobian import block_of, wrench_row
from grouser.physics.multibody.kinematics import Kinematics, body_acceleration, body_twist
from grouser.physics.multibody.mass import add_inertia

# A locked cylinder's damper, as a multiple of what it holds, and the least lever arm that it works on [m/rad or -].
_LOCK = 1e7
_LEAST_LEVER = 1e-6
# Mobility of an actuator between immovable bodies [1/kg or 1/(kg m2)].
LEAST_MOBILITY = 1e-12


@kernel
def attachment_point(kinematics: Kinematics, body, point, k):
    """Component k of a point given in a body's frame (the world's for -1), from the kinematics' origin."""
    if body < 0:
        return point[k] - kinematics.origin[k]
    return kinematics.position[body, k] + dot(kinematics.rotation[body, k], point)


@inlined
def cylinder_length(geometry: ActuatorGeometry, kinematics: Kinematics, c, direction):
    """Distance between the attachments of cylinder c [m]; `direction` gets the unit vector from barrel to rod."""
    square = 0.0
    for k in range(3):
        direction[k] = attachment_point(kinematics, geometry.rod_body[c], geometry.rod_point[c], k) - attachment_point(
            kinematics, geometry.barrel_body[c], geometry.barrel_point[c], k
        )
        square += direction[k] * direction[k]
    length = math.sqrt(square)
    for k in range(3):
        direction[k] /= length
    return length


@kernel
def open_piston_rows(
    model: MultibodyModel,
    geometry: ActuatorGeometry,
    kinematics: Kinematics,
    first_slot,
    remembered,
    direction,
    rows: Rows,
    length,
):
    """Opens a row for each cylinder and motor, before all others and in order, with its Jacobian only.

    Args:
        model, geometry: the machine.
        kinematics: filled for the current state.
        first_slot: slot of the first cylinder's row.
        remembered: impulses of the last step by slot [N s].
        direction: unit vector of each cylinder from barrel to rod, (actuators, 3), result.
        rows: result.
        length: distance between the attachments of each cylinder [m], result.
    """
    cylinders = geometry.barrel_body.shape[0]
    for motor in range(geometry.motor_rate.shape[0]):
        length[cylinders + motor] = 0.0
    for c in range(cylinders):
        first, last = _range_of(model, geometry.rod_body[c], geometry.barrel_body[c])
        open_row(rows, first_slot + c, remembered[first_slot + c], first, last)
        along = direction[c]
        length[c] = cylinder_length(geometry, kinematics, c, along)
        x = attachment_point(kinematics, geometry.rod_body[c], geometry.rod_point[c], 0)
        y = attachment_point(kinematics, geometry.rod_body[c], geometry.rod_point[c], 1)
        z = attachment_point(kinematics, geometry.rod_body[c], geometry.rod_point[c], 2)
        mx, my, mz = cross(x, y, z, along[0], along[1], along[2])
        wrench_row(
            *(model.body_parent, model.column_start, model.column_rate, kinematics.column),
            *(geometry.rod_body[c], geometry.barrel_body[c]),
            *(along[0], along[1], along[2], mx, my, mz, rows.jacobian, c),
        )
    for motor in range(geometry.motor_rate.shape[0]):
        a = cylinders + motor
        d = geometry.motor_rate[motor]
        open_row(rows, first_slot + a, remembered[first_slot + a], model.rate_first[d], model.rate_last[d])
        rows.jacobian[a, d] = 1.0


@inlined
def _range_of(model: MultibodyModel, one, other):
    """First and last (exclusive) coordinate of the blocks of the mass matrix that move two bodies, -1 for the world."""
    first, last = block_of(model, one)
    begin, end = block_of(model, other)
    if end == 0:
        return first, last
    if last == 0:
        return begin, end
    return min(first, begin), max(last, end)


@kernel
def measure_jacobian_rates(
    model: MultibodyModel,
    geometry: ActuatorGeometry,
    kinematics: Kinematics,
    motion,
    direction,
    length,
    jacobian_rate,
):
    """dJ/dt v of each cylinder's row: rate of its speed while no coordinate accelerates; for a motor it stays 0.

    Args:
        model, geometry: the machine.
        kinematics: filled for the current state.
        motion: spatial accelerations of the bodies while no coordinate accelerates, less that of gravity, (bodies, 6).
        direction, length: of each cylinder, from `open_piston_rows`.
        jacobian_rate: result, (actuators,) [m/s2].
    """
    for c in range(geometry.barrel_body.shape[0]):
        x, y, z = direction[c, 0], direction[c, 1], direction[c, 2]
        rv0, rv1, rv2, ra0, ra1, ra2 = _point_motion(
            model, kinematics, motion, geometry.rod_body[c], geometry.rod_point[c]
        )
        bv0, bv1, bv2, ba0, ba1, ba2 = _point_motion(
            model, kinematics, motion, geometry.barrel_body[c], geometry.barrel_point[c]
        )
        v0, v1, v2 = rv0 - bv0, rv1 - bv1, rv2 - bv2
        along = x * v0 + y * v1 + z * v2
        jacobian_rate[c] = x * (ra0 - ba0) + y * (ra1 - ba1) + z * (ra2 - ba2)
        jacobian_rate[c] += (v0 * v0 + v1 * v1 + v2 * v2 - along * along) / length[c]


@kernel
def _point_motion(model: MultibodyModel, kinematics: Kinematics, motion, body, point):
    """Velocity, and acceleration less that of gravity, of a point given in a body's frame."""
    if body < 0:
        return 0.0, 0.0, 0.0, -model.gravity[0], -model.gravity[1], -model.gravity[2]
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
def lock_pistons(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    state: State,
    v,
    brake,
    step: float,
    rows: Rows,
    mass,
    force,
    lock,
):
    """Replaces the rows of cylinders whose brake holds by dampers in the mass matrix.

    Gauss-Seidel converges slowest for braked legs under a heavy machine; the factorisation solves them exactly. A
    damper moves by less than 1e-7 of the motion of the free joint. It replaces the row only if the brake held in the
    last step with less than its force, and if the cylinder's coordinate moves nothing but its joint; the others keep
    their rows. Cylinders that lock one joint share its load.

    Args:
        geometry, network: hydraulics.
        state: of the hydraulics at the start of the step.
        v: coordinate rates.
        brake: whether the brake of each cylinder is engaged.
        step: [s].
        rows: opened by `open_piston_rows`, with the last impulses.
        mass, force: of the equations of motion, before the factorisation; changed in place.
        lock: impulse per speed of each locked cylinder [kg], 0 for the others; result.
    """
    for c in range(geometry.valve.shape[0]):
        lock[c] = 0.0
        rate = geometry.lone_rate[c]
        if brake[c] and rate >= 0:
            lever = rows.jacobian[c, rate]
            # load of the brake: all impulse along the cylinder, less that of the oil
            carried = abs(rows.impulse[c] - step * push_of(network, c, state.pressure))
            holds = rows.impulse[c] != 0.0 and carried < step * geometry.holding_force[c]
            if holds and abs(lever) > _LEAST_LEVER and abs(lever * v[rate]) < STILL:
                lock[c] = _LOCK * mass.diagonal[rate] / (lever * lever)
    for c in range(geometry.valve.shape[0]):
        if lock[c] > 0.0:
            rate = geometry.lone_rate[c]
            lever = rows.jacobian[c, rate]
            add_inertia(mass, rate, lock[c] * lever * lever)
            force[rate] -= lock[c] * lever * lever * v[rate] / step
            rows.impulse[c] = 0.0


@kernel
def measure_loads(
    geometry: ActuatorGeometry,
    network: HydraulicNetwork,
    brake,
    lock,
    u_start,
    u,
    step: float,
    rows: Rows,
    workspace: NetworkWorkspace,
):
    """Measures the load of each actuator: its speed at the start of the step, the mechanism's acceleration, its brake.

    The acceleration is that of the row: the change of J v from the start of the step to the velocity due to everything
    but the actuators. J is that of the cylinder's present direction.

    Args:
        geometry, network: hydraulics.
        brake: whether the holding brake of each actuator is engaged.
        lock: from `lock_pistons`; the row of a locked actuator is idle.
        u_start: half-solved velocity at the start of the step.
        u: half-solved velocity with forces and warm-start impulses.
        step: [s].
        rows: opened by `open_piston_rows` and half-solved.
        workspace: of the network; its loads, and the velocities of `now`, are the result.
    """
    loads, now = workspace.loads, workspace.now
    for a in range(network.line_a.shape[0]):
        now.velocity[a] = 0.0 if lock[a] > 0.0 else speed_along(rows, a, u_start)
        loads.acceleration[a] = (speed_along(rows, a, u) - now.velocity[a]) / step
        loads.brake[a] = geometry.holding_force[a] if brake[a] else 0.0


@kernel
def set_piston_row_laws(
    network: HydraulicNetwork,
    state: State,
    scheme,
    lock,
    jacobian_rate,
    step: float,
    rows: Rows,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Sets spring, hold and stops of the actuators' rows from the prediction.

    Step dJ/dt v is the change of a piston's speed by the rotation of its cylinder: the inertia force of the piston's
    mass for it acts on the mechanism as well.

    Args:
        network, state: hydraulics.
        scheme: of the integration.
        lock: from `lock_pistons`.
        jacobian_rate: from `measure_jacobian_rates`.
        step: [s].
        rows: of the actuators, changed.
        workspace: of the network.
        prediction: of the actuators at the end of the step.
    """
    for a in range(network.line_a.shape[0]):
        if lock[a] > 0.0:
            continue
        predicted = prediction.velocity[a]
        conductance = network.mass[a]
        if scheme == SPLIT:
            rows.target[a] = predicted - step * jacobian_rate[a]
            rows.hold_bound[a] = step * prediction.hold[a]
        else:
            _, spring, damping = end_buffer(network, a, prediction.position[a])
            stiffness = spring + _oil_stiffness(network, state, scheme, a, prediction.position[a], workspace)
            conductance += step * (network.viscous[a] + damping + step * stiffness)
            rows.target[a] = (
                predicted + (prediction.impulse[a] - step * network.mass[a] * jacobian_rate[a]) / conductance
            )
            rows.hold_bound[a] = step * prediction.hold[a] if prediction.stuck[a] else 0.0
        rows.conductance[a] = conductance
        _stroke_ends(network, state, prediction, a, step, rows)


@kernel
def measure_mobilities(network: HydraulicNetwork, jacobian_rate, step: float, rows: Rows, loads: Loads):
    """Mobilities between the actuators of each part, and the mechanism's acceleration without their last impulses.

    The acceleration includes the inertia force of pistons by the rotation of their cylinders.
    """
    for part in range(network.part_line_start.shape[0] - 1):
        first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
        for i in range(first, last):
            a = network.part_actuator[i]
            for k in range(first, i):
                b = network.part_actuator[k]
                loads.mobility[a, b] = loads.mobility[b, a] = dot(rows.whitened_jacobian[a], rows.whitened_jacobian[b])
            loads.mobility[a, a] = max(rows.inverse_mass[a], LEAST_MOBILITY)
        for i in range(first, last):
            a = network.part_actuator[i]
            for k in range(first, last):
                b = network.part_actuator[k]
                taken = rows.impulse[b] / step + network.mass[b] * jacobian_rate[b]
                loads.acceleration[a] -= loads.mobility[a, b] * taken


@kernel
def _oil_stiffness(network: HydraulicNetwork, state: State, scheme, a, position, workspace: NetworkWorkspace):
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
def _capacities(network: HydraulicNetwork, scheme, a, position, workspace: NetworkWorkspace):
    """Capacities of both lines of actuator a: volume of oil per change of the normalised fluid mass [m3]."""
    if scheme == IMPLICIT:
        return workspace.capacity[network.line_a[a]], workspace.capacity[network.line_b[a]]
    compliance_a, compliance_b = chamber_compliances(network, a, position)
    return network.oil.bulk_modulus * compliance_a, network.oil.bulk_modulus * compliance_b


@kernel
def _stroke_ends(network: HydraulicNetwork, state: State, prediction: Prediction, a, step: float, rows: Rows):
    """Stops of row a: within the stroke, and zero speed where the prediction is at its end."""
    stroke, position = network.stroke[a], state.piston[a]
    if stroke < math.inf:
        rows.slowest[a] = 0.0 if prediction.position[a] <= 0.0 else -position / step
        rows.fastest[a] = 0.0 if prediction.position[a] >= stroke else (stroke - position) / step


@kernel
def commit_pistons(
    network: HydraulicNetwork,
    state: State,
    scheme,
    lock,
    u,
    jacobian_rate,
    step: float,
    length,
    retracted,
    rows: Rows,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Commits the solved velocities to the hydraulics, and sets the shifts of the position pass.

    A piston moves by h J v + h^2/2 dJ/dt v: near a dead point, J = 0, the second term is all of its motion. Where other
    rows change the predicted speed, the difference of position compresses or expands the oil. A locked piston keeps its
    position, and its row gets the impulse of the lock.
    """
    for a in range(network.line_a.shape[0]):
        velocity = speed_along(rows, a, u)
        turning = 0.5 * step * jacobian_rate[a]
        if lock[a] > 0.0:
            rows.impulse[a] = -lock[a] * velocity
            turning = 0.0
        elif scheme == SPLIT:
            state.piston[a] = min(max(state.piston[a] + step * (velocity + turning), 0.0), network.stroke[a])
        elif network.stroke[a] < math.inf:
            surplus = step * (velocity + turning - prediction.velocity[a])
            _squeeze(network, state, scheme, a, surplus, prediction.position[a], workspace)
        else:
            # the position pass does not correct motors
            surplus = step * velocity - prediction.position[a]
            _squeeze(network, state, scheme, a, surplus, prediction.position[a], workspace)
        if network.stroke[a] < math.inf:
            rows.shift[a] = (retracted[a] + state.piston[a] - length[a]) / step - turning
            rows.shift_lower[a] = -math.inf
            rows.shift_upper[a] = math.inf


@kernel
def _squeeze(network: HydraulicNetwork, state: State, scheme, a, surplus, predicted, workspace: NetworkWorkspace):
    """Corrects position and line pressures of actuator a for `surplus`, its motion beyond the prediction [m or rad]."""
    position = predicted + surplus
    if network.stroke[a] < math.inf:
        position = min(max(position, 0.0), network.stroke[a])
    moved = position - predicted
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
