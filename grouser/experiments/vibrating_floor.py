"""A sphere bounces on a floor that vibrates: periodic bounces, their phase, and where their period doubles."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, GRAVITY, SPHERE, Clock, number_list, restitution, sphere_material
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plate, Vibration
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.granular.time_step import contact_time

DESCRIPTION = "a sphere bounces on a vibrating floor, and its period doubles"

PARAMETERS = {
    "frequency": positive(25.0, "Hz", "of the floor"),
    "gamma": Parameter([1.3], "-", "largest accelerations of the floor, by g", convert=number_list(1e-3, 100.0)),
    **SPHERE,
    "youngs_modulus": positive(1e8, "Pa", "of the sphere; the floor is rigid"),
    "restitution": restitution(0.5),
    "start": Parameter("orbit", "-", "on the rigid orbit of one period, or at rest", choices=("orbit", "rest")),
    "periods": Parameter(60, "-", "periods simulated", minimum=20, maximum=10_000),
    "steps_per_contact": Parameter(300, "-", "steps in the time of an elastic contact", minimum=20, maximum=2000),
}
REFERENCE = {"gamma": "gamma", "phase": "phase"}
_UNITS = {
    "flight_periods": "-", "phase": "rad", "impact_speed": "m/s", "doubling_threshold": "-", "rigid_threshold": "-",
    "time": "s", "height": "m", "floor": "m", **BALANCE_UNITS,
}  # fmt: skip
_RIGID = GrainMaterial("floor", 1e15)
# Bounces that results are means of. Samples in a contact.
_LAST, _SAMPLES = 8, 5
# Accelerations by the rigid threshold at which the multiplier of the orbit is measured, first bounce that is used for
# it (the other multiplier is e^2 and less), and number of periods.
_AROUND, _FIRST, _MEASURED = np.linspace(0.97, 1.0, 7), 6, 45


class _Bounces(NamedTuple):
    """First touches of a sphere: time [s], phase of the floor [rad], and speed relative to it [m/s]."""

    time: np.ndarray
    phase: np.ndarray
    speed: np.ndarray


def run(**parameters: Any) -> Result:
    """Lets a sphere bounce for each acceleration, side by side.

    Returns:
        For each acceleration, means of the last 8 bounces: `flight_periods`, time between first touches by the period;
        `phase` of the floor and `impact_speed`, relative to it, at first touch. `doubling_threshold`: acceleration at
        which the orbit of one period doubles, where its multiplier goes through -1; `rigid_threshold`: that of a rigid
        contact, in closed form. Curves of the first acceleration over `time`: height of the sphere's lowest point, and
        of the floor. The error of energy is by the work of the floor.
    """
    clock = Clock()
    bed, bounces, curves = _bounce(parameters, parameters["gamma"])
    last = [_Bounces(*(values[-_LAST - 1 :] for values in one)) for one in bounces]
    period = 1.0 / parameters["frequency"]
    return Result(
        {
            "flight_periods": [float(np.diff(one.time).mean() / period) for one in last],
            "phase": [float(one.phase[1:].mean()) for one in last],
            "impact_speed": [float(one.speed[1:].mean()) for one in last],
            "doubling_threshold": _doubling(parameters),
            "rigid_threshold": rigid_threshold(parameters["restitution"]),
            **curves,
            **clock.results(bed, bed.energy()["boundary_work"]),
        },
        _UNITS,
    )


def rigid_threshold(restitution: float, periods: int = 1) -> float:
    """Acceleration by g at which the bounce of n periods of a rigid contact doubles its period [-].

    Gamma^2 = (n pi (1 - e)/(1 + e))^2 + (2 (1 + e^2)/(1 + e)^2)^2.
    """
    exists = periods * math.pi * (1.0 - restitution) / (1.0 + restitution)
    return math.hypot(exists, 2.0 * (1.0 + restitution**2) / (1.0 + restitution) ** 2)


def _doubling(parameters: Mapping[str, Any]) -> float | None:
    """Where the multiplier of the orbit is -1: the factor from each change of the phase to the next."""
    tried = rigid_threshold(parameters["restitution"]) * _AROUND
    _, bounces, _ = _bounce({**parameters, "start": "orbit", "periods": _MEASURED}, tried.tolist())
    multipliers = []
    for one in bounces:
        change = np.diff(one.phase[_FIRST:])
        multipliers.append(float(change[1:] @ change[:-1] / (change[:-1] @ change[:-1])))
    if not multipliers[0] > -1.0 > multipliers[-1]:
        return None
    return float(np.interp(1.0, -np.array(multipliers), tried))


def _bounce(parameters: Mapping[str, Any], gammas: Sequence[float]) -> tuple[GranularBed, list[_Bounces], dict]:
    """A sphere on a plate of its own for each acceleration."""
    omega, radius = 2.0 * math.pi * parameters["frequency"], parameters["radius"]
    gamma = np.asarray(gammas, dtype=float)
    amplitude = gamma * GRAVITY / omega**2
    e = parameters["restitution"]
    # of the rigid orbit: phase at touch, and speed after it
    cosine = math.pi * (1.0 - e) / ((1.0 + e) * gamma)
    on_orbit = (parameters["start"] == "orbit") & (cosine <= 1.0)
    phase = np.where(on_orbit, np.arccos(np.minimum(cosine, 1.0)), 0.0)
    leaving = np.where(on_orbit, math.pi * GRAVITY / omega, 0.0)
    material = sphere_material(parameters)
    mass = 4.0 / 3.0 * math.pi * radius**3 * material.density
    fastest = 2.0 * math.pi * GRAVITY / omega / (1.0 + e)
    contact = contact_time(reduced_modulus(material, _RIGID), radius, mass, fastest)
    step = contact / parameters["steps_per_contact"]
    lanes = np.arange(len(gamma)) * 6.0 * radius
    floor = amplitude * np.sin(phase)
    place = np.stack([lanes, np.zeros_like(lanes), floor + radius], axis=1)
    motion = np.stack([np.zeros_like(lanes), np.zeros_like(lanes), leaving], axis=1)
    plates = [
        Boundary(
            f"floor {k}", [Plate((0, 0, 0), (0, 0, 1), "floor", outer_radius=2.0 * radius)], (lanes[k], 0.0, 0.0),
            vibration=Vibration((0.0, 0.0, amplitude[k]), omega, float(phase[k])),
        )
        for k in range(len(gamma))
    ]  # fmt: skip
    bed = GranularBed(
        Grains(place, radius, "sphere", motion), [material, _RIGID], boundaries=plates, step=step, speed=fastest,
        default_surface=Surface(e), skin=0.5, accounted=True,
    )  # fmt: skip
    each = max(parameters["steps_per_contact"] // _SAMPLES, 1)
    samples = math.ceil(parameters["periods"] / parameters["frequency"] / (each * step))
    time, height, speed = np.zeros(samples), np.zeros((samples, len(gamma))), np.zeros((samples, len(gamma)))
    for k in range(samples):
        time[k] = bed.time
        height[k], speed[k] = bed.position[:, 2] - radius, bed.velocity[:, 2] - 0.5 * step * GRAVITY
        bed.step(each)
    bounces = [
        _touches(time, height[:, k], speed[:, k], amplitude[k], omega, float(phase[k])) for k in range(len(gamma))
    ]
    thin = slice(None, None, max(samples // 4000, 1))
    curves = {
        "time": time[thin],
        "height": height[thin, 0],
        "floor": amplitude[0] * np.sin(omega * time[thin] + phase[0]),
    }
    return bed, bounces, curves


def _touches(time, height, speed, amplitude: float, omega: float, phase: float) -> _Bounces:
    """First touches: from each last sample of a flight on, along the parabola."""
    gap = height - amplitude * np.sin(omega * time + phase)
    before = np.flatnonzero((gap[:-1] > 0.0) & (gap[1:] <= 0.0))
    t, most = np.zeros(len(before)), np.full(len(before), time[1] - time[0])
    low, high = t.copy(), most.copy()
    for _ in range(60):
        t = 0.5 * (low + high)
        apart = height[before] + speed[before] * t - 0.5 * GRAVITY * t**2
        apart = apart - amplitude * np.sin(omega * (time[before] + t) + phase)
        low, high = np.where(apart > 0.0, t, low), np.where(apart > 0.0, high, t)
    at = time[before] + t
    angle = omega * at + phase
    closing = amplitude * omega * np.cos(angle) - (speed[before] - GRAVITY * t)
    return _Bounces(at, np.mod(angle, 2.0 * math.pi), closing)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws sphere and floor over time, and the phase of the first touch over the acceleration.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns gamma, phase of a reference curve, where present.
    """
    motion, phases = figure.subplots(2, 1)
    shown = result["time"] <= 10.0 / parameters["frequency"]
    time = 1e3 * np.asarray(result["time"])[shown]
    motion.plot(time, 1e3 * np.asarray(result["height"])[shown], label="lowest point of the sphere")
    motion.plot(time, 1e3 * np.asarray(result["floor"])[shown], label="floor")
    motion.set_xlabel("time [ms]")
    motion.set_ylabel("height [mm]")
    e, gamma = parameters["restitution"], np.asarray(parameters["gamma"])
    exists = math.pi * (1.0 - e) / (1.0 + e)
    rigid = np.linspace(exists, max(rigid_threshold(e), gamma.max()), 200)
    phases.plot(rigid, np.arccos(exists / rigid), ":", color="grey", label="rigid contact, one period")
    phases.plot(gamma, result["phase"], "o", label="sphere")
    draw_reference(phases, reference, "gamma", "phase")
    if result["doubling_threshold"] is not None:
        phases.axvline(result["doubling_threshold"], linestyle="-.", label="period doubles")
    phases.set_xlabel("largest acceleration of the floor / g [-]")
    phases.set_ylabel("phase of the first touch [rad]")
    for panel in (motion, phases):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"sphere on a floor at {parameters['frequency']:g} Hz, restitution {e:g}")
