"""A tracked vehicle drives steady turns on rigid ground, beside their balance in `skid_steer_moment`.

The bare vehicle of urdf/tracked_vehicle.urdf.xacro gets the belt speeds of the balance and turns as its tracks let it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser import experiments
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.tracked_vehicle import STEP, VEHICLE, drive, make_tracked_vehicle
from grouser.physics.description.data.world import Ground, World

DESCRIPTION = "a tracked vehicle drives steady turns on rigid ground, beside their balance"

_LEAST = 0.1
_SHARED = ("weight", "contact_length", "width", "tread")


def _read_radii(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and _LEAST <= item <= 1e3 for item in value):
        raise ValueError(f"radii from {_LEAST:g} to 1000 [m]")
    return [float(item) for item in value]


PARAMETERS = {
    "radius": Parameter([3.0, 5.0, 10.0, 30.0], "m", "of the hull's middle, by the balance", convert=_read_radii),
    **{name: VEHICLE[name] for name in (*_SHARED, "shoes")},
    "wheel_radius": VEHICLE["radius"],
    "centre_height": positive(1e-3, "m", "of the centre of mass; the balance is that of a flat vehicle"),
    "friction": positive(0.7, "-", "mu of the tracks on the ground"),
    "shear_displacement_modulus": positive(0.05, "m", "K"),
    "speed": positive(0.3, "m/s", "of the hull's middle; the balance is that of slow turns"),
    "step": STEP,
}

_COLUMNS = ("radius", "belt_force_inner", "belt_force_outer", "speed_ratio", "centre_shift")
_UNITS = {"radius": "m", "belt_force_inner": "N", "belt_force_outer": "N", "speed_ratio": "-", "centre_shift": "m"}
_UNITS |= {f"balance_{name}": _UNITS[name] for name in _COLUMNS}
# Stiffness of the shoes [N/m3].
_STIFFNESS = 1e9
# Lengths of the contact that the vehicle drives until its turn is steady, and while it is measured; readings of that.
_SETTLING, _MEASURING, _READINGS = 3.0, 1.5, 400
# The vehicle stands for so long [s].
_STANDING = 0.3
REFERENCE = {"radius_m": "balance_radius", "belt_force_N": "belt_force_outer", "centre_shift_m": "centre_shift"}


def run(**parameters: Any) -> Result:
    """Drives the turns.

    Returns:
        One value a radius, as of `skid_steer_moment`: `radius` is that which the vehicle drives, `speed_ratio` that of
        its belts; `balance_…` are those of the balance, direction = state.

    Raises:
        ParameterError: tracks wider than their distance.
    """
    expected = _balance(parameters)
    driven = [
        _turn(parameters, radius, inner, outer)
        for radius, inner, outer in zip(
            parameters["radius"], expected["belt_speed_inner"], expected["belt_speed_outer"], strict=True
        )
    ]
    found = {name: [turn[name] for turn in driven] for name in _COLUMNS}
    return Result({**found, **{f"balance_{name}": expected[name] for name in _COLUMNS}}, _UNITS)


def _balance(parameters: Mapping[str, Any]) -> Result:
    given = {name: parameters[name] for name in (*_SHARED, "friction", "shear_displacement_modulus", "radius")}
    return experiments.run("skid_steer_moment", **given, direction="state")


def _turn(parameters: Mapping[str, Any], radius: float, inner: float, outer: float) -> dict[str, float]:
    """Means over a steady turn to the left.

    Args:
        parameters: of the experiment.
        radius: of the hull's middle, by the balance [m].
        inner, outer: belt speeds by the yaw rate [m/rad].
    """
    vehicle = {**{name: parameters[name] for name in (*_SHARED, "shoes", "centre_height", "step")}, "centre_ahead": 0.0}
    simulation = make_tracked_vehicle(
        {**vehicle, "radius": parameters["wheel_radius"]},
        World(ground=Ground(friction=parameters["friction"])),
        friction=parameters["friction"],
        shear=parameters["shear_displacement_modulus"],
        stiffness=_STIFFNESS,
    )
    yaw, length = parameters["speed"] / radius, parameters["contact_length"] / parameters["speed"]
    simulation.step(round(_STANDING / simulation.step_size))
    drive(simulation, yaw * inner, yaw * outer, length)
    simulation.step(round(_SETTLING * length / simulation.step_size))
    every = max(round(_MEASURING * length / simulation.step_size / _READINGS), 1)
    seen = []
    for _ in range(_READINGS):
        simulation.step(every)
        left, right = simulation.track["left"], simulation.track["right"]
        speeds = (left.yaw_rate, 0.5 * (left.speed + right.speed), 0.5 * (left.side_speed + right.side_speed))
        seen.append((*speeds, left.drawbar_pull, right.drawbar_pull, left.belt_speed, right.belt_speed))
    rate, ahead, aside, pull_left, pull_right, belt_left, belt_right = np.mean(seen, axis=0).tolist()
    return {
        "radius": ahead / rate,
        "belt_force_inner": abs(pull_left),
        "belt_force_outer": abs(pull_right),
        "speed_ratio": belt_right / belt_left,
        "centre_shift": aside / rate,
    }


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws belt forces, the shift, and the driven radius over the radius of the balance, with the balance as curves.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns radius_m, belt_force_N, centre_shift_m of a reference curve, where present.
    """
    asked = np.array(parameters["radius"])
    radii = np.geomspace(asked.min(), max(asked.max(), 1.1 * asked.min()), 9).tolist()
    curve = _balance({**parameters, "radius": radii})
    force, shift, radius = figure.subplots(1, 3)
    force.plot(radii, curve["belt_force_outer"], "-", color="grey", label="balance")
    for side, marker in (("outer", "o"), ("inner", "x")):
        force.plot(asked, result[f"belt_force_{side}"], marker, label=f"vehicle, {side}")
    shift.plot(radii, curve["centre_shift"], "-", color="grey", label="balance")
    shift.plot(asked, result["centre_shift"], "o", label="vehicle")
    radius.plot(asked, 100.0 * (np.array(result["radius"]) / asked - 1.0), "o", label="vehicle")
    for panel, theirs in ((force, "belt_force_N"), (shift, "centre_shift_m")):
        draw_reference(panel, reference, "radius_m", theirs)
    titles = ("belt force [N]", "shift s₀ [m]", "driven radius beyond that of the balance [%]")
    for panel, title in zip((force, shift, radius), titles, strict=True):
        panel.set_xscale("log")
        panel.set_xticks(asked, [f"{value:g}" for value in asked])
        panel.minorticks_off()
        panel.set_xlabel("radius [m]")
        panel.set_ylabel(title)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"steady turns of a vehicle on {parameters['shoes']} shoes a track, and their balance")
