"""A sphere hits a half-space of its own material at an angle: speeds and spin after it.

After Maw, Barber and Fawcett (1976); the contact of Cattaneo and Mindlin by the method of dimensionality reduction of
Popov and Hess is the law `partial_slip`.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.spheres import BALANCE_UNITS, Clock, number_list, restitution
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Boundary, Plane
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.materials import reduced_modulus
from grouser.physics.granular.time_step import contact_time

DESCRIPTION = "a sphere hits a half-space at an angle (Maw, Barber and Fawcett, 1976)"

# The laws do not depend on these [m, Pa, kg/m3]; the overlap is 4e-4 of the radius at 0.1 m/s.
_RADIUS, _MODULUS, _DENSITY = 0.005, 7e10, 2500.0
# Time after which the flattest impacts are over, by that of a head-on one [-].
_DURATION = 3.0
# Angles between which sliding throughout begins: how many at a time, and how often.
_TRIED, _ROUNDS = 32, 3
# Share of the friction impulse that may be missing where a contact slides throughout: that of its first steps.
_MISSING = 1e-4

PARAMETERS = {
    "angles_deg": Parameter(
        [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0], "deg", "from the normal",
        convert=number_list(0.0, 89.0),
    ),
    "friction": positive(0.3, "-", "Coulomb's mu"),
    "poisson_ratio": Parameter(0.25, "-", "of both bodies", minimum=0.0, maximum=0.5),
    "restitution": restitution(1.0),
    "spin": Parameter(0.0, "-", "spin times radius before it, by the speed", minimum=-10.0, maximum=10.0),
    "speed": positive(0.1, "m/s", "before it"),
    "tangential": Parameter("no_slip", "-", "law", choices=("no_slip", "displacement", "partial_slip")),
    "springs": Parameter(8, "-", "of partial_slip, in half a contact", minimum=1, maximum=1000),
    "steps_per_contact": Parameter(2000, "-", "steps in the time of a head-on contact", minimum=20, maximum=100_000),
}  # fmt: skip
REFERENCE = {"angle_deg": "angles_deg", "tangential_speed": "tangential_speed", "spin": "spin"}
_UNITS = {"tangential_speed": "-", "normal_speed": "-", "spin": "-", "sliding_from_deg": "deg", **BALANCE_UNITS}


def run(**parameters: Any) -> Result:
    """Makes the impacts, all in one bed.

    Returns:
        `tangential_speed`, `normal_speed` and `spin` (times the radius) after each impact, by the speed before;
        `sliding_from_deg`, the angle from which the contact slides throughout, absent where none below 89 degrees
        does. The error of energy is by that before.
    """
    clock = Clock()
    bed, energy = _impact(parameters, parameters["angles_deg"])
    speed, radius = parameters["speed"], _RADIUS
    return Result(
        {
            "tangential_speed": (bed.velocity[:, 0] / speed).tolist(),
            "normal_speed": (bed.velocity[:, 2] / speed).tolist(),
            # a contact that pushes back along x turns the sphere about y
            "spin": (-bed.spin[:, 1] * radius / speed).tolist(),
            "sliding_from_deg": _sliding_from(parameters),
            **clock.results(bed, energy),
        },
        _UNITS,
    )


def _impact(parameters: Mapping[str, Any], angles_deg) -> tuple[GranularBed, float]:
    """Beside each other, spheres that hit the plane z = 0 at these angles; returns the bed after it, and its energy."""
    angles, speed = np.radians(angles_deg), parameters["speed"]
    count = len(angles)
    material = GrainMaterial("body", _MODULUS, parameters["poisson_ratio"], _DENSITY)
    surface = Surface(
        parameters["restitution"], parameters["friction"], tangential=parameters["tangential"],
        springs=parameters["springs"],
    )  # fmt: skip
    mass = 4.0 / 3.0 * math.pi * _RADIUS**3 * _DENSITY
    head_on = contact_time(reduced_modulus(material, material), _RADIUS, mass, speed)
    step = head_on / parameters["steps_per_contact"]
    still = np.zeros(count)
    motion = np.stack([np.sin(angles), still, -np.cos(angles)], axis=1) * speed
    place = np.stack([still, 4.0 * _RADIUS * np.arange(count), _RADIUS - 0.5 * step * motion[:, 2]], axis=1)
    turning = np.zeros((count, 3))
    turning[:, 1] = -parameters["spin"] * speed / _RADIUS
    bed = GranularBed(
        Grains(place, _RADIUS, "body", motion, turning), [material],
        boundaries=[Boundary("half-space", [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), "body")])],
        gravity=(0.0, 0.0, 0.0), step=step, speed=speed, default_surface=surface, accounted=True,
    )  # fmt: skip
    energy = bed.energy()["kinetic"]
    bed.step(math.ceil(_DURATION * parameters["steps_per_contact"]))
    return bed, energy


def _sliding_from(parameters: Mapping[str, Any]) -> float | None:
    """Least angle at which friction is at its limit throughout [deg]."""
    low, high = 0.0, 89.0
    for _ in range(_ROUNDS):
        tried = np.linspace(low, high, _TRIED)
        bed, _ = _impact(parameters, tried)
        before, speed = np.radians(tried), parameters["speed"]
        most = parameters["friction"] * (bed.velocity[:, 2] + speed * np.cos(before))
        slides = np.sin(before) * speed - bed.velocity[:, 0] >= (1.0 - _MISSING) * most
        if not slides[-1]:
            return None
        first = int(np.flatnonzero(~slides)[-1]) + 1 if not slides.all() else 0
        low, high = float(tried[max(first - 1, 0)]), float(tried[first])
    return high


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws tangential speed and spin after the impact over the angle, beside the rigid body's.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns angle_deg, tangential_speed, spin of a reference curve, where present.
    """
    moving, turning = figure.subplots(2, 1, sharex=True)
    angles = np.radians(np.linspace(0.0, 89.0, 200))
    impulse = np.minimum(parameters["friction"] * (1.0 + parameters["restitution"]) * np.cos(angles),
                         2.0 / 7.0 * (np.sin(angles) + parameters["spin"]))  # fmt: skip
    rigid = np.sin(angles) - impulse, parameters["spin"] - 2.5 * impulse
    names = ("tangential_speed", "spin")
    for panel, curve, name in zip((moving, turning), rigid, names, strict=True):
        panel.plot(np.degrees(angles), curve, ":", color="grey", label="rigid bodies")
        panel.plot(parameters["angles_deg"], result[name], "o", label=f"impact, {parameters['tangential']}")
        draw_reference(panel, reference, "angles_deg", name)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    moving.set_ylabel("tangential speed [-]")
    turning.set_ylabel("spin x radius [-]")
    turning.set_xlabel("angle from the normal [deg]")
    figure.suptitle(
        f"after an oblique impact, by the speed before: friction {parameters['friction']:g}, "
        f"restitution {parameters['restitution']:g}"
    )
