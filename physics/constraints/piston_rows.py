"""Hydraulic cylinders as rows: the piston (6) to (9), its holding brake, dry friction and stroke ends.

The row's Jacobian is the rate of the distance between the attachments. Its spring is the piston: a mass that moves at
the predicted speed, stiffened by the oil. With a mass alone (conductance m, target the piston's own speed) the row's
impulse is equation (9) of Strashnov and Mironenko (2023).
"""

import math

from grouser.physics.constraints.impulses import dot
from grouser.physics.constraints.rows import close_row, open_row
from grouser.physics.hydraulics.cylinder import SPLIT, advance_cylinder, oil_stiffness
from grouser.physics.kernel import inlined, kernel
from grouser.physics.multibody.jacobian import distance_row


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


@inlined
def open_piston_rows(model, circuit, kinematics, factor, first_slot, remembered, direction, rows, length):
    """Opens a row for each cylinder, in order, with its Jacobian only.

    Args:
        model, circuit: the machine.
        kinematics: filled for the current state.
        factor: of the mass matrix.
        first_slot: slot of the first cylinder's row.
        remembered: impulses of the last step by slot [N s].
        direction: workspace, (3,).
        rows: result.
        length: distance between the attachments of each cylinder [m], result.
    """
    for c in range(circuit.valve.shape[0]):
        r = open_row(rows, first_slot + c, remembered[first_slot + c])
        length[c] = cylinder_length(circuit, kinematics, c, direction)
        distance_row(
            model.body_parent,
            model.column_start,
            model.column_rate,
            kinematics.column,
            circuit.rod_body[c],
            circuit.barrel_body[c],
            attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 0),
            attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 1),
            attachment_point(kinematics, circuit.rod_body[c], circuit.rod_point[c], 2),
            direction[0],
            direction[1],
            direction[2],
            rows.jacobian,
            r,
        )
        close_row(rows, r, model.pattern_start, model.pattern, factor)


@inlined
def predict_pistons(circuit, state, scheme, command, brake, u_start, u, step, first_row, rows, prediction):
    """Integrates each circuit over the step and gives its row the law that follows.

    The load's mass and acceleration come from the row: 1 / (J M^-1 J^T), and the change of J v from the start of the
    step to the velocity that everything but this cylinder gives.

    Args:
        circuit, state: hydraulics.
        scheme: SPLIT or SEMI_IMPLICIT.
        command: of each valve [-].
        brake: of each cylinder, whether the holding brake is engaged.
        u_start: half-solved velocity at the start of the step.
        u: half-solved velocity with forces and warm-start impulses.
        step: [s].
        first_row: row of the first cylinder.
        rows: opened by `open_piston_rows`.
        prediction: result.
    """
    for c in range(circuit.valve.shape[0]):
        r = first_row + c
        inverse_mass = max(rows.inverse_mass[r], 1e-12)
        velocity = dot(rows.half[r], u_start)
        free = dot(rows.half[r], u) - rows.inverse_mass[r] * rows.impulse[r]
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
        foreseen = prediction.velocity[c]
        conductance = circuit.piston_mass[c]
        if scheme == SPLIT:
            rows.target[r] = foreseen
            rows.hold_bound[r] = step * prediction.hold[c]
        else:
            conductance += step * (
                circuit.viscous_friction[c] + step * oil_stiffness(circuit, c, prediction.position[c])
            )
            rows.target[r] = foreseen + prediction.impulse[c] / conductance
            rows.hold_bound[r] = step * prediction.hold[c] if prediction.stuck[c] else 0.0
        rows.conductance[r] = conductance
        _stroke_ends(circuit, state, prediction, c, step, r, rows)


@inlined
def _stroke_ends(circuit, state, prediction, c, step, r, rows):
    """Stops of row r: no further than the stroke, and at rest where the piston is foreseen at its end."""
    position = state.piston[c]
    rows.slowest[r] = 0.0 if prediction.position[c] <= 0.0 else -position / step
    rows.fastest[r] = 0.0 if prediction.position[c] >= circuit.stroke[c] else (circuit.stroke[c] - position) / step


@inlined
def settle_pistons(circuit, state, scheme, u, step, first_row, length, rows, prediction):
    """Takes the velocities found back into the hydraulics, and asks the position pass to follow the pistons.

    Where other rows kept the piston from the speed foreseen, it has moved the less, and its oil is squeezed by as much.
    """
    beta = circuit.bulk_modulus[0]
    for c in range(circuit.valve.shape[0]):
        r = first_row + c
        velocity = dot(rows.half[r], u)
        if scheme == SPLIT:
            position = state.piston[c] + step * velocity
        else:
            position = prediction.position[c] + step * (velocity - prediction.velocity[c])
        position = min(max(position, 0.0), circuit.stroke[c])
        if scheme != SPLIT:
            surplus = position - prediction.position[c]
            volume_a = circuit.piston_dead_volume[c] + circuit.piston_area[c] * position
            volume_b = circuit.rod_dead_volume[c] + circuit.rod_area[c] * (circuit.stroke[c] - position)
            state.pressure[c, 0] = max(state.pressure[c, 0] - beta * circuit.piston_area[c] / volume_a * surplus, 0.0)
            state.pressure[c, 1] = max(state.pressure[c, 1] + beta * circuit.rod_area[c] / volume_b * surplus, 0.0)
        state.piston[c] = position
        rows.shift[r] = (circuit.retracted_length[c] + position - length[c]) / step
        rows.shift_lower[r] = -math.inf
        rows.shift_upper[r] = math.inf
