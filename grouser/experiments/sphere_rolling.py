"""A sphere slides on a plane until it rolls, and rolls on against rolling resistance, or down a slope."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, GRAVITY, SPHERE, Clock, sphere_material, weight
from grouser.physics.description.data.granular import ROLLING_LAWS, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plane
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus

DESCRIPTION = "a sphere slides, rolls and comes to rest"

PARAMETERS = {
    "speed": Parameter(1.0, "m/s", "at the start, down the slope, without spin", minimum=0.0),
    "friction": Parameter(0.5, "-", "Coulomb's mu", minimum=0.0),
    "rolling_friction": Parameter(0.0, "-", "mu_r", minimum=0.0),
    "rolling": Parameter("spring", "-", "law of rolling resistance", choices=ROLLING_LAWS),
    "slope_deg": Parameter(0.0, "deg", "of the plane", minimum=0.0, maximum=80.0),
    **SPHERE,
    "youngs_modulus": positive(1e9, "Pa", "of sphere and plane; the closed forms are those of rigid ones"),
    "duration": positive(1.0, "s", "time simulated"),
}
REFERENCE: dict[str, str] = {}
_UNITS = {
    "rolling_from": "s", "distance_to_rolling": "m", "rolling_speed": "m/s", "stop_distance": "m",
    "acceleration": "m/s2", "time": "s", "position": "m", "velocity": "m/s", "rim_speed": "m/s", **BALANCE_UNITS,
}  # fmt: skip
_SAMPLES = 2000
# Sliding ends at this slip by the largest speed [-]; rest is below this speed [m/s].
_ROLLS, _RESTS = 2e-3, 2e-4
# Samples of sliding and of rolling, at least.
_LEAST_SLIDING = 4


def run(**parameters: Any) -> Result:
    """Lets the sphere slide and roll.

    Returns:
        `rolling_from` and `distance_to_rolling`: time and way until the rim is as fast as the centre; `rolling_speed`
        then; `stop_distance`: way from there to rest; each absent where it does not happen. `acceleration`: mean down
        the slope while it rolls, or while it slides if it never rolls. Curves over `time`. The error of energy is by
        the kinetic energy at the start, or the work of the weight where that is more.
    """
    clock, slope = Clock(), math.radians(parameters["slope_deg"])
    bed = _make_bed(parameters, slope)
    each = max(round(parameters["duration"] / _SAMPLES / bed.step_size), 1)
    samples = [_sample(bed)]
    while bed.time < parameters["duration"]:
        bed.step(each)
        samples.append(_sample(bed))
    time, position, velocity, rim = np.array(samples).T
    rolls, begun = _rolling(time, velocity, rim)
    rest = np.flatnonzero((np.abs(velocity) < _RESTS) & (time > (begun or 0.0)))
    stops = bool(len(rest)) and bool(abs(velocity[-1]) < _RESTS)
    moving = slice(rolls, rest[0] if stops and rest[0] > rolls + 2 else len(time))
    acceleration, speed = _line(time[moving] - (begun or 0.0), velocity[moving])
    way = None if begun is None else _way(time, position, speed, rolls, begun)
    energy = (
        weight(parameters) / GRAVITY * max(0.5 * parameters["speed"] ** 2, GRAVITY * math.sin(slope) * position[-1])
    )
    return Result(
        {
            "rolling_from": begun,
            "distance_to_rolling": way,
            "rolling_speed": None if begun is None else speed,
            "stop_distance": float(position[-1] - way) if stops and way is not None else None,
            "acceleration": acceleration,
            "time": time,
            "position": position,
            "velocity": velocity,
            "rim_speed": rim,
            **clock.results(bed, energy if energy > 0.0 else None),
        },
        _UNITS,
    )


def _sample(bed: GranularBed) -> tuple[float, float, float, float]:
    return bed.time, float(bed.position[0, 0]), float(bed.velocity[0, 0]), float(bed.spin[0, 1] * bed.radius[0])


def _rolling(time, velocity, rim) -> tuple[int, float | None]:
    """First sample that rolls, and the time when sliding ends, by the line through the slip before it.

    The sample is the first of all, and there is no time, where the sphere does not slide at first or does not stop it.
    """
    slip = velocity - rim
    sliding = np.abs(slip) > _ROLLS * np.abs(velocity).max()
    first = int(np.flatnonzero(sliding)[-1]) + 1 if sliding.any() else 0
    if first < _LEAST_SLIDING or first > len(time) - _LEAST_SLIDING:
        return 0, None
    # the slip falls at a constant rate
    rate = (slip[first - 1] - slip[0]) / (time[first - 1] - time[0])
    return first, float(time[first - 1] - slip[first - 1] / rate)


def _way(time, position, speed: float, rolls: int, begun: float) -> float:
    """Way until sliding ends [m]."""
    return float(position[rolls] - speed * (time[rolls] - begun))


def _line(time: np.ndarray, velocity: np.ndarray) -> tuple[float, float]:
    """Slope and start of the line through a curve."""
    slope, start = np.polyfit(time, velocity, 1)
    return float(slope), float(start)


def _make_bed(parameters: Mapping[str, Any], slope: float) -> GranularBed:
    """The sphere at its overlap of rest; x is down the slope."""
    material, radius = sphere_material(parameters), parameters["radius"]
    force = weight(parameters) * math.cos(slope)
    overlap = (3.0 * force / (4.0 * reduced_modulus(material, material) * math.sqrt(radius))) ** (2.0 / 3.0)
    surface = Surface(
        friction=parameters["friction"], rolling_friction=parameters["rolling_friction"], rolling=parameters["rolling"]
    )
    return GranularBed(
        Grains(np.array([[0.0, 0.0, radius - overlap]]), radius, "sphere", np.array([[parameters["speed"], 0.0, 0.0]])),
        [material],
        boundaries=[Boundary("plane", [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "sphere")])],
        gravity=(GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope)),
        default_surface=surface,
        accounted=True,
    )


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the speeds of the centre and of the rim over time.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: none is drawn.
    """
    panel = figure.subplots()
    panel.plot(result["time"], result["velocity"], label="centre")
    panel.plot(result["time"], result["rim_speed"], "--", label="rim about the centre")
    if result["rolling_from"] is not None:
        panel.axvline(result["rolling_from"], color="grey", linestyle=":", label="rolls from here on")
    panel.set_xlabel("time [s]")
    panel.set_ylabel("speed [m/s]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle(
        f"sphere on a plane at {parameters['slope_deg']:g} deg: friction {parameters['friction']:g}, "
        f"rolling friction {parameters['rolling_friction']:g}"
    )
