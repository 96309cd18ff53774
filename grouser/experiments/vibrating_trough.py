"""A body on a trough that vibrates at an angle: it slips, hops and is transported."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, GRAVITY, Clock, number_list
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plate, Vibration
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.granular.time_step import contact_time

DESCRIPTION = "a trough that vibrates at an angle transports a block or a sphere"

PARAMETERS = {
    "gamma": Parameter([1.0], "-", "largest accelerations, by g", convert=number_list(1e-3, 100.0)),
    "angle_deg": Parameter(30.0, "deg", "of the vibration above the level", minimum=0.0, maximum=89.0),
    "friction": positive(0.3, "-", "Coulomb's mu"),
    "frequency": positive(25.0, "Hz", "of the trough"),
    "body": Parameter("block", "-", "block: a sphere that cannot turn", choices=("block", "sphere")),
    "periods": Parameter(40, "-", "periods simulated, of which the second half is measured", minimum=4, maximum=10_000),
}
REFERENCE = {"gamma": "gamma", "transport_speed": "transport_speed"}
_UNITS = {
    "transport_speed": "-", "flight_share": "-", "slip_share": "-", "time": "s", "velocity": "m/s", **BALANCE_UNITS
}  # fmt: skip
# A hard body that lands without bouncing: E [Pa], radius [m], density [kg/m3], restitution.
_MODULUS, _RADIUS, _DENSITY, _RESTITUTION = 1e10, 0.005, 2500.0, 0.01
# Steps in an elastic contact: its damping is five times the critical one.
_STEPS = 100
# Samples in a period. Slip begins at this speed by the trough's largest [-].
_SAMPLES, _SLIPS = 400, 2e-3
# Phase at the start: the trough turns back there [rad].
_START = -0.5 * math.pi
# Radius of the plates, and the distance of each above the last [m].
_WIDTH, _LEVELS = 1e3, 1.0


def run(**parameters: Any) -> Result:
    """Puts a body on a trough for each acceleration.

    Returns:
        For each acceleration, over the second half of the time: `transport_speed`, mean along the trough by its largest
        speed a omega; `flight_share` and `slip_share` of the time. Curve of the first: velocity along the trough over
        `time`. The error of energy is by the work of the troughs.
    """
    clock, omega = Clock(), 2.0 * math.pi * parameters["frequency"]
    gamma, angle = np.array(parameters["gamma"]), math.radians(parameters["angle_deg"])
    amplitude = gamma * GRAVITY / omega**2
    bed = _make_bed(parameters, amplitude, angle, omega)
    each = max(round(1.0 / parameters["frequency"] / _SAMPLES / bed.step_size), 1)
    count = math.ceil(parameters["periods"] / parameters["frequency"] / (each * bed.step_size))
    time, turning = np.zeros(count), np.zeros((count, len(gamma)))
    place, motion = np.zeros((count, len(gamma), 3)), np.zeros((count, len(gamma), 3))
    for k in range(count):
        bed.step(each)
        time[k], place[k], motion[k], turning[k] = bed.time, bed.position, bed.velocity, bed.spin[:, 1]
    # whole periods
    measured = time >= time[-1] - round(0.5 * parameters["periods"]) / parameters["frequency"]
    phase = omega * (time[measured, None] - 0.5 * bed.step_size) + _START
    floor = np.arange(len(gamma)) * _LEVELS + amplitude * math.sin(angle) * np.sin(
        omega * time[measured, None] + _START
    )
    gap = place[measured, :, 2] - _RADIUS - floor
    slip = motion[measured, :, 0] - amplitude * omega * math.cos(angle) * np.cos(phase)
    slip -= _RADIUS * turning[measured]
    flying = gap > 0.0
    way = place[measured][-1, :, 0] - place[measured][0, :, 0]
    lasted = time[measured][-1] - time[measured][0]
    return Result(
        {
            "transport_speed": (way / lasted / (amplitude * omega)).tolist(),
            "flight_share": flying.mean(axis=0).tolist(),
            "slip_share": (~flying & (np.abs(slip) > _SLIPS * amplitude * omega)).mean(axis=0).tolist(),
            "time": time,
            "velocity": motion[:, 0, 0],
            **clock.results(bed, bed.energy()["boundary_work"]),
        },
        _UNITS,
    )


def _make_bed(parameters: Mapping[str, Any], amplitude: np.ndarray, angle: float, omega: float) -> GranularBed:
    """A body at rest on each trough."""
    material = GrainMaterial("body", _MODULUS, 0.25, _DENSITY)
    mass = 4.0 / 3.0 * math.pi * _RADIUS**3 * _DENSITY
    speed = float(amplitude.max()) * omega + GRAVITY / parameters["frequency"]
    contact = contact_time(reduced_modulus(material, material), _RADIUS, mass, speed)
    # troughs of the same kind one above the other, out of reach
    levels = np.arange(len(amplitude)) * _LEVELS
    direction = np.array([math.cos(angle), 0.0, math.sin(angle)])
    troughs = [
        Boundary(
            f"trough {k}", [Plate((0, 0, 0), (0, 0, 1), "body", outer_radius=_WIDTH)], (0.0, 0.0, levels[k]),
            vibration=Vibration(amplitude[k] * direction, omega, _START),
        )
        for k in range(len(amplitude))
    ]  # fmt: skip
    lowest = levels - amplitude * math.sin(angle)
    place = np.stack([np.zeros_like(levels), np.zeros_like(levels), lowest + _RADIUS], axis=1)
    # the memory of the other laws is that of the damper as well, and so large a one would lag by milliseconds
    surface = Surface(_RESTITUTION, parameters["friction"], tangential="partial_slip", springs=2)
    return GranularBed(
        Grains(place, _RADIUS, "body", turns=parameters["body"] == "sphere"), [material], boundaries=troughs,
        step=contact / _STEPS, speed=speed, default_surface=surface, skin=2.0, accounted=True,
    )  # fmt: skip


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the velocity over the last periods, and the transport speed over the acceleration.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns gamma, transport_speed of a reference curve, where present.
    """
    motion, speeds = figure.subplots(2, 1)
    shown = result["time"] >= result["time"][-1] - 4.0 / parameters["frequency"]
    omega, gamma = 2.0 * math.pi * parameters["frequency"], parameters["gamma"][0]
    time = np.asarray(result["time"])[shown]
    trough = gamma * GRAVITY / omega * math.cos(math.radians(parameters["angle_deg"])) * np.cos(omega * time + _START)
    motion.plot(1e3 * time, np.asarray(result["velocity"])[shown], label=parameters["body"])
    motion.plot(1e3 * time, trough, ":", color="grey", label="trough")
    motion.set_xlabel("time [ms]")
    motion.set_ylabel("velocity along the trough [m/s]")
    motion.set_title(f"largest acceleration {gamma:g} g", fontsize="small")
    speeds.plot(parameters["gamma"], result["transport_speed"], "o", label=parameters["body"])
    draw_reference(speeds, reference, "gamma", "transport_speed")
    speeds.set_xlabel("largest acceleration / g [-]")
    speeds.set_ylabel("transport speed / (a ω) [-]")
    for panel in (motion, speeds):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(
        f"trough at {parameters['frequency']:g} Hz and {parameters['angle_deg']:g} deg, "
        f"friction {parameters['friction']:g}"
    )
