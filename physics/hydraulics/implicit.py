"""Implicit integration of a part of a circuit over one mechanical step, in sub-steps of adaptive length.

Step doubling with Richardson extrapolation: a step of H by `substep` and two of H/2 give a result of second order that
damps stiff modes, and their difference estimates the error. Flows follow from the mean positions of the spools.

The change over a step of H and an explicit one by the rates at its start differ by twice the local error. Where that is
well within the tolerance, a part with a controlled pump, which is stiff and costly to solve, needs no half steps.
"""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.actuator_geometry import ActuatorGeometry
from grouser.physics.hydraulics.network import FIXED, HydraulicNetwork
from grouser.physics.hydraulics.oil import Oil, aerated, pressure_of
from grouser.physics.hydraulics.prediction import (
    TRACE_PISTON_PRESSURE,
    TRACE_POSITION,
    TRACE_ROD_PRESSURE,
    TRACE_SPOOL,
    TRACE_TIME,
    TRACE_VELOCITY,
    Prediction,
)
from grouser.physics.hydraulics.spools import advance_spools
from grouser.physics.hydraulics.substep import advance_once
from grouser.physics.hydraulics.trials import (
    PRESSURE_ERROR,
    SLIDING,
    SPEED_ERROR,
    Loads,
    NetworkWorkspace,
    Trial,
    add_accounts,
    clear_accounts,
    copy_part,
    extrapolated,
    share_of_error,
)

# Spool travel and local error, as a share of the tolerance, up to which a sub-step needs no half steps [-].
_SPOOL_ERROR, _SINGLE_STEP_ERROR = 0.02, 0.2
# Difference of whole and half steps, as a multiple of the tolerance, beyond which extrapolation is not valid [-].
_ASTRAY = 10.0
# Shortest sub-step as a share of the step; least and greatest change of its length, and the safety factor.
_SHORTEST, _SHRINK, _GROW, _SAFETY = 1.0 / 256.0, 0.2, 3.0, 0.9


@kernel
def advance_part(
    network: HydraulicNetwork,
    geometry: ActuatorGeometry,
    part,
    command,
    step: float,
    workspace: NetworkWorkspace,
    prediction: Prediction,
):
    """Advances a part of the circuit by a step; `workspace.now` is its state, before and after.

    Args:
        network, geometry: the hydraulics.
        part: number of the part.
        command: of each valve [-].
        step: [s].
        workspace: with `loads`, `faults` and `now`; `step_accounts` and the number of `substeps` are results.
        prediction: its trace gets the end of each sub-step.
    """
    now, whole, halves, faults = workspace.now, workspace.whole, workspace.halves, workspace.faults
    oil = aerated(network.oil, faults.entrained_air[0])
    clear_accounts(network, part, faults, workspace.step_accounts)
    controlled = _is_controlled(network, part)
    done, count = 0.0, 0
    allowed = step * _first_share(network, part, workspace)
    while done < step * (1.0 - 1e-12):
        length = min(allowed, step - done)
        count += 1
        copy_part(network, part, now, whole)
        held = _is_held(network, part, now, workspace.loads)
        moved = advance_spools(network, geometry, part, command, length, whole, faults, workspace.mean_spool)
        clear_accounts(network, part, faults, workspace.whole_accounts)
        may_skip_halves = moved <= _SPOOL_ERROR and controlled
        local_error = advance_once(
            network, part, length, may_skip_halves, False, whole, workspace, workspace.whole_accounts
        )
        held = held and moved == 0.0 and _is_held(network, part, whole, workspace.loads)
        # a part that is almost at rest behind brakes needs no half steps
        relaxed = held and _difference(network, part, now, whole) <= 1.0
        if relaxed or (may_skip_halves and local_error <= _SINGLE_STEP_ERROR):
            copy_part(network, part, whole, now)
            add_accounts(
                network, part, faults, 0.0, workspace.whole_accounts, workspace.whole_accounts, workspace.step_accounts
            )
            done += length
            _trace(network, geometry, part, done, now, prediction)
            allowed = max(length * _GROW, allowed)
            continue
        copy_part(network, part, now, halves)
        clear_accounts(network, part, faults, workspace.halves_accounts)
        for half in range(2):
            moved = max(
                moved,
                advance_spools(network, geometry, part, command, 0.5 * length, halves, faults, workspace.mean_spool),
            )
            # the first half starts as the whole sub-step did
            same_start = half == 0 and moved == 0.0
            advance_once(network, part, 0.5 * length, False, same_start, halves, workspace, workspace.halves_accounts)
        error = _difference(network, part, whole, halves)
        if error > 1.0 and length > _SHORTEST * step:
            allowed = max(length * max(_SHRINK, _SAFETY / math.sqrt(error)), _SHORTEST * step)
            continue
        # no extrapolation where whole and half steps diverge
        beyond = 1.0 if error <= _ASTRAY and _regimes_agree(network, part, whole, halves) else 0.0
        _extrapolate(network, oil, part, beyond, whole, halves, now)
        add_accounts(
            network, part, faults, beyond, workspace.whole_accounts, workspace.halves_accounts, workspace.step_accounts
        )
        done += length
        _trace(network, geometry, part, done, now, prediction)
        grown = length * min(_GROW, _SAFETY / math.sqrt(max(error, 1e-4)))
        # what is left of the step may be shorter than what the error allows
        allowed = max(grown, allowed) if length < allowed else grown
    workspace.substeps[part] = count
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        workspace.first_share[network.part_pump[k]] = min(allowed / step, 1.0)


@kernel
def _is_held(network: HydraulicNetwork, part, trial: Trial, loads: Loads):
    """Whether brakes hold all actuators of a part, of which there is at least one, and no pump feeds it."""
    if network.part_pump_start[part + 1] > network.part_pump_start[part]:
        return False
    first, last = network.part_actuator_start[part], network.part_actuator_start[part + 1]
    for k in range(first, last):
        a = network.part_actuator[k]
        if trial.regime[a] == SLIDING or loads.brake[a] == 0.0:
            return False
    return first < last


@kernel
def _is_controlled(network: HydraulicNetwork, part):
    """Whether the part has a pump with a pressure or load-sensing control."""
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        if network.control[network.part_pump[k]] != FIXED:
            return True
    return False


@kernel
def _first_share(network: HydraulicNetwork, part, workspace: NetworkWorkspace):
    """Length of the first sub-step as a share of the step: as the last ones where a controlled pump feeds the part.

    The error of such a part changes little from step to step; others mostly take one sub-step.
    """
    shortest = 1.0
    for k in range(network.part_pump_start[part], network.part_pump_start[part + 1]):
        p = network.part_pump[k]
        if network.control[p] != FIXED:
            shortest = min(shortest, workspace.first_share[p])
    return shortest


@kernel
def _difference(network: HydraulicNetwork, part, whole: Trial, halves: Trial):
    """Greatest difference of the two results, as a multiple of the tolerance."""
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
def _regimes_agree(network: HydraulicNetwork, part, whole: Trial, halves: Trial):
    """Whether each actuator ends in the same regime in both, so that their difference estimates the error."""
    alike = True
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        slides = halves.regime[a] == SLIDING
        alike = alike and whole.regime[a] == halves.regime[a] and (slides or whole.velocity[a] == halves.velocity[a])
    return alike


@kernel
def _extrapolate(network: HydraulicNetwork, oil: Oil, part, beyond, whole: Trial, halves: Trial, result: Trial):
    """Extrapolates all variables with the same weight, so that fluid mass and volume remain consistent.

    The result is that of the half steps plus `beyond` times its difference from that of the whole step.
    """
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
def _trace(network: HydraulicNetwork, geometry: ActuatorGeometry, part, time, trial: Trial, prediction: Prediction):
    """Records the end of a sub-step for each actuator of a part."""
    for k in range(network.part_actuator_start[part], network.part_actuator_start[part + 1]):
        a = network.part_actuator[k]
        row = prediction.trace_length[a]
        if row < prediction.trace.shape[1]:
            trace = prediction.trace[a, row]
            trace[TRACE_TIME], trace[TRACE_POSITION], trace[TRACE_VELOCITY] = time, trial.position[a], trial.velocity[a]
            trace[TRACE_PISTON_PRESSURE] = trial.pressure[network.line_a[a]]
            trace[TRACE_ROD_PRESSURE] = trial.pressure[network.line_b[a]]
            valve = geometry.valve[a]
            trace[TRACE_SPOOL] = trial.spool[valve, 0] if valve >= 0 else 0.0
            prediction.trace_length[a] = row + 1
