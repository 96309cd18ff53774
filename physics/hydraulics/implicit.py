"""A circuit over one mechanical step: implicit, extrapolated, in sub-steps that the error chooses.

A step of H by `substep` and two of H/2 give by extrapolation a result of second order that damps what is stiff, and
their difference its error. Flows go by the mean positions of the spools.

The change of a step of H and that by the rates of its start differ by twice its error. Where that is well below what
passes, a part that a controlled pump feeds, stiff and dear to solve, does without halves.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.cylinder import (
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_SPOOL,
    TRACE_TIME,
    TRACE_VELOCITY,
)
from grouser.physics.hydraulics.network import FIXED
from grouser.physics.hydraulics.oil import aerated, pressure_of
from grouser.physics.hydraulics.spools import advance_spools
from grouser.physics.hydraulics.substep import advance_once
from grouser.physics.hydraulics.trials import (
    PRESSURE_ERROR,
    SLIDING,
    SPEED_ERROR,
    add_books,
    clear_books,
    copy_part,
    extrapolated,
    share_of_error,
)

# Change of a spool that passes, and how much of all that passes a sub-step may bend without halves [-].
_SPOOL_ERROR, _STRAIGHT = 0.02, 0.2
# A multiple of the error that passes, from which on halves and whole say nothing of each other.
_ASTRAY = 10.0
# Shortest sub-step as a share of the step, and how a rejected one shrinks at most.
_SHORTEST, _SHRINK, _GROW, _SAFETY = 1.0 / 256.0, 0.2, 3.0, 0.9


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
    clear_books(network, part, faults, workspace.step_books)
    controlled = _is_controlled(network, part)
    done, length, count = 0.0, step, 0
    while done < step * (1.0 - 1e-12):
        length = min(length, step - done)
        count += 1
        copy_part(network, part, now, whole)
        still = _is_still(network, part, now, workspace.loads)
        moved = advance_spools(network, circuit, part, command, length, whole, faults, workspace.mean_spool)
        clear_books(network, part, faults, workspace.whole_books)
        may_be_straight = moved <= _SPOOL_ERROR and controlled
        bend = advance_once(network, part, length, may_be_straight, whole, workspace, workspace.whole_books)
        still = still and moved == 0.0 and _is_still(network, part, whole, workspace.loads)
        # what has almost levelled out behind brakes, an implicit step does well enough
        levelled = still and _difference(network, part, now, whole) <= 1.0
        if levelled or (may_be_straight and bend <= _STRAIGHT):
            copy_part(network, part, whole, now)
            add_books(network, part, faults, 0.0, workspace.whole_books, workspace.whole_books, workspace.step_books)
            done += length
            _trace(network, circuit, part, done, now, prediction)
            length *= _GROW
            continue
        copy_part(network, part, now, halves)
        clear_books(network, part, faults, workspace.halves_books)
        for _ in range(2):
            advance_spools(network, circuit, part, command, 0.5 * length, halves, faults, workspace.mean_spool)
            advance_once(network, part, 0.5 * length, False, halves, workspace, workspace.halves_books)
        error = _difference(network, part, whole, halves)
        if error > 1.0 and length > _SHORTEST * step:
            length = max(length * max(_SHRINK, _SAFETY / math.sqrt(error)), _SHORTEST * step)
            continue
        # what goes astray even so is not made worse
        beyond = 1.0 if error <= _ASTRAY and _alike(network, part, whole, halves) else 0.0
        _extrapolate(network, oil, part, beyond, whole, halves, now)
        add_books(network, part, faults, beyond, workspace.whole_books, workspace.halves_books, workspace.step_books)
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
def _difference(network, part, whole, halves):
    """Largest difference of the two results, as a multiple of what passes."""
    largest = 0.0
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        pressure = halves.pressure[line]
        largest = max(largest, share_of_error(pressure - whole.pressure[line], pressure, PRESSURE_ERROR))
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        speed = halves.velocity[a]
        largest = max(largest, share_of_error(speed - whole.velocity[a], speed, SPEED_ERROR))
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
    copy_part(network, part, halves, result)
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        result.velocity[a] = extrapolated(beyond, whole.velocity[a], halves.velocity[a])
        result.position[a] = extrapolated(beyond, whole.position[a], halves.position[a])
        if network.stroke[a] < math.inf:
            result.position[a] = min(max(result.position[a], 0.0), network.stroke[a])
    for k in range(network.part_line_start[part], network.part_line_start[part + 1]):
        line = network.part_line[k]
        result.content[line] = extrapolated(beyond, whole.content[line], halves.content[line])
        result.pressure[line] = pressure_of(oil, result.content[line])
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        result.swash[p] = min(max(extrapolated(beyond, whole.swash[p], halves.swash[p]), 0.0), 1.0)


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
