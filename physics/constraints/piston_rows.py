"""Hydraulic cylinders as rows: the piston (6) to (9), its holding brake, dry friction and stroke ends.

The cylinders' rows are the first of all, in order. While a brake holds, a lock in the mass matrix takes its row's
place.

The row's Jacobian is the rate of the distance between the attachments. Its spring is the piston: a mass that moves at
the predicted speed, stiffened by the oil. With a mass alone (conductance m, target the piston's own speed) the row's
impulse is equation (9) of Strashnov and Mironenko (2023).
"""

import math

from grouser.physics.constraints.impulses import dot
from grouser.physics.constraints.rows import open_row
from grouser.physics.hydraulics.cylinder import SPLIT, STILL, advance_cylinder, chamber_volumes, oil_stiffness
from grouser.physics.kernel import inlined, kernel
from grouser.physics.multibody.jacobian import wrench_row
from grouser.physics.spatial import cross

# A locked cylinder's damper, as a multiple of what it holds, and the least lever arm that it works on [m/rad or -].
_LOCK = 1e7
_LEAST_LEVER = 1e-6


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
    """Opens a row for each cylinder, before all others and in order, with its Jacobian only.

    Args:
        model, circuit: the machine.
        kinematics: filled for the current state.
        first_slot: slot of the first cylinder's row.
        remembered: impulses of the last step by slot [N s].
        direction: workspace, (3,).
        rows: result.
        length: distance between the attachments of each cylinder [m], result.
    """
    for c in range(circuit.valve.shape[0]):
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


@kernel
def lock_pistons(circuit, state, brake, step, rows, mass, force, lock):
    """Takes the cylinders whose brake holds out of the rows: dampers in the mass matrix lock them.

    Braked legs under a heavy machine are what Gauss-Seidel is slowest at; the factorisation solves them exactly. A
    damper gives way by less than 1e-7 of what the free joint would. It stands in only while the brake held in the last
    step with less than its force, and only for a cylinder whose coordinate moves nothing but its joint; the others
    keep their rows. Cylinders that lock one joint share its load.

    Args:
        circuit: hydraulics.
        state: at the start of the step.
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
            push = circuit.piston_area[c] * state.pressure[c, 0] - circuit.rod_area[c] * state.pressure[c, 1]
            # what the brake carried: all that acted along the cylinder, less what the oil did
            carried = abs(rows.impulse[c] - step * push)
            holds = rows.impulse[c] != 0.0 and carried < step * circuit.holding_force[c]
            if holds and abs(lever) > _LEAST_LEVER and abs(lever * state.v[rate]) < STILL:
                lock[c] = _LOCK * mass[rate, rate] / (lever * lever)
    for c in range(circuit.valve.shape[0]):
        if lock[c] > 0.0:
            rate = circuit.lone_rate[c]
            lever = rows.jacobian[c, rate]
            mass[rate, rate] += lock[c] * lever * lever
            force[rate] -= lock[c] * lever * lever * state.v[rate] / step
            rows.impulse[c] = 0.0


@kernel
def predict_pistons(circuit, state, scheme, command, brake, lock, u_start, u, step, rows, prediction):
    """Integrates each circuit over the step and gives its row the law that follows.

    The load's mass and acceleration come from the row: 1 / (J M^-1 J^T), and the change of J v from the start of the
    step to the velocity that everything but this cylinder gives.

    Args:
        circuit, state: hydraulics.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of each valve [-].
        brake: of each cylinder, whether the holding brake is engaged.
        lock: from `lock_pistons`; nothing else acts along the row of a locked cylinder.
        u_start: half-solved velocity at the start of the step.
        u: half-solved velocity with forces and warm-start impulses.
        step: [s].
        rows: opened by `open_piston_rows` and half-solved.
        prediction: result.
    """
    for c in range(circuit.valve.shape[0]):
        inverse_mass = max(rows.inverse_mass[c], 1e-12)
        velocity = 0.0 if lock[c] > 0.0 else dot(rows.half[c], u_start)
        free = dot(rows.half[c], u) - rows.inverse_mass[c] * rows.impulse[c]
        advance_cylinder(
            circuit,
            state,
            c,
            scheme,
            command[circuit.valve[c]],
            brake[c],
            velocity,
            1.0 / inverse_mass,
            (free - velocity) / step,
            step,
            prediction,
        )
        if lock[c] > 0.0:
            continue
        foreseen = prediction.velocity[c]
        conductance = circuit.piston_mass[c]
        if scheme == SPLIT:
            rows.target[c] = foreseen
            rows.hold_bound[c] = step * prediction.hold[c]
        else:
            conductance += step * (
                circuit.viscous_friction[c] + step * oil_stiffness(circuit, c, prediction.position[c])
            )
            rows.target[c] = foreseen + prediction.impulse[c] / conductance
            rows.hold_bound[c] = step * prediction.hold[c] if prediction.stuck[c] else 0.0
        rows.conductance[c] = conductance
        _stroke_ends(circuit, state, prediction, c, step, rows)


@inlined
def _stroke_ends(circuit, state, prediction, c, step, rows):
    """Stops of row c: no further than the stroke, and at rest where the piston is foreseen at its end."""
    position = state.piston[c]
    rows.slowest[c] = 0.0 if prediction.position[c] <= 0.0 else -position / step
    rows.fastest[c] = 0.0 if prediction.position[c] >= circuit.stroke[c] else (circuit.stroke[c] - position) / step


@kernel
def settle_pistons(circuit, state, scheme, lock, u, step, length, rows, prediction):
    """Takes the velocities found back into the hydraulics, and asks the position pass to follow the pistons.

    Where other rows kept the piston from the speed foreseen, it has moved the less, and its oil is squeezed by as much.
    A locked one stays where it is, and its row gets the impulse that the lock has given.
    """
    for c in range(circuit.valve.shape[0]):
        velocity = dot(rows.half[c], u)
        if lock[c] > 0.0:
            rows.impulse[c] = -lock[c] * velocity
        elif scheme == SPLIT:
            state.piston[c] = min(max(state.piston[c] + step * velocity, 0.0), circuit.stroke[c])
        else:
            _squeeze(circuit, state, c, step * (velocity - prediction.velocity[c]), prediction.position[c])
        rows.shift[c] = (circuit.retracted_length[c] + state.piston[c] - length[c]) / step
        rows.shift_lower[c] = -math.inf
        rows.shift_upper[c] = math.inf


@kernel
def _squeeze(circuit, state, c, surplus, foreseen):
    """Piston c has moved further than foreseen by `surplus` [m]: its position and its chambers' pressures."""
    position = min(max(foreseen + surplus, 0.0), circuit.stroke[c])
    volume_a, volume_b = chamber_volumes(circuit, c, position)
    stretch = circuit.bulk_modulus[0] * (position - foreseen)
    state.pressure[c, 0] = max(state.pressure[c, 0] - circuit.piston_area[c] / volume_a * stretch, 0.0)
    state.pressure[c, 1] = max(state.pressure[c, 1] + circuit.rod_area[c] / volume_b * stretch, 0.0)
    state.piston[c] = position
