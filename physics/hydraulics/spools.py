"""Motion of directional valves' spools over a sub-step, by their exact response."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.actuator_geometry import ActuatorGeometry
from grouser.physics.hydraulics.faults import Faults, spool_speed
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.trials import Trial

# A spool closer to its target than this share of its travel rests there [-].
SPOOL_REST = 1e-9


@kernel
def advance_spools(
    network: HydraulicNetwork, geometry: ActuatorGeometry, part, command, time, trial: Trial, faults: Faults, mean
):
    """Advances the spools of a part: the exact response (5) of a damped oscillator or a lag, limited to full travel.

    Args:
        mean: result, mean position of each spool over the sub-step, which determines the flows [-].

    Returns:
        Greatest distance that a spool of the part moves [-].
    """
    moved = 0.0
    for k in range(network.part_valve_start[part], network.part_valve_start[part + 1]):
        valve = network.part_valve[k]
        share = spool_speed(faults, valve)
        if share == 0.0:
            trial.spool[valve, 1] = 0.0
            mean[valve] = trial.spool[valve, 0]
            continue
        frequency, damping = share * geometry.spool_frequency[valve], geometry.spool_damping[valve]
        trial.spool[valve, 2], target = spool_target(geometry, valve, command[valve], trial.spool[valve, 2])
        before, speed = trial.spool[valve, 0], trial.spool[valve, 1]
        away = before - target
        if abs(away) < SPOOL_REST and abs(speed) < SPOOL_REST * frequency:
            away = speed = 0.0
        else:
            away_by_away, away_by_speed, speed_by_away, speed_by_speed = spool_response(frequency, damping, time)
            away, speed = away_by_away * away + away_by_speed * speed, speed_by_away * away + speed_by_speed * speed
        place, farthest = target + away, share * geometry.spool_rate[valve] * time
        if abs(place - before) > farthest:
            way = farthest if place > before else -farthest
            place, speed = before + way, way / time
        if abs(place) > 1.0:
            place, speed = (1.0 if place > 0.0 else -1.0), 0.0
        trial.spool[valve, 0], trial.spool[valve, 1] = place, speed
        mean[valve] = 0.5 * (before + place)
        moved = max(moved, abs(place - before))
    return moved


@kernel
def spool_response(frequency, damping, time):
    """Exact state transition of (5): distance from the target and speed after a time, by both at its start."""
    if damping == math.inf:
        return math.exp(-frequency * time), 0.0, 0.0, 0.0
    decay = math.exp(-damping * frequency * time)
    below = 1.0 - damping * damping
    own = frequency * math.sqrt(abs(below))
    if own * time < 1e-6:
        cosine, sine = 1.0, time
    elif below > 0.0:
        cosine, sine = math.cos(own * time), math.sin(own * time) / own
    else:
        cosine, sine = math.cosh(own * time), math.sinh(own * time) / own
    turned = damping * frequency * sine
    return decay * (cosine + turned), decay * sine, -decay * frequency * frequency * sine, decay * (cosine - turned)


@kernel
def spool_target(geometry: ActuatorGeometry, valve, command, held):
    """Command behind its hysteresis (play), and the spool's target: 0 within the dead band, full travel at 1."""
    half, band = 0.5 * geometry.hysteresis[valve], geometry.dead_band[valve]
    held = min(max(held, command - half), command + half)
    size = geometry.spool_gain[valve] * max(abs(held) - band, 0.0) / (1.0 - band)
    return held, size if held > 0.0 else -size
