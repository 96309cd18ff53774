"""Turning resistance of a vehicle with two tracks on rigid ground, quasi-static and with uniform pressure.

After Wong and Chiang, "A general theory for skid steering of tracked vehicles on firm ground" (2001).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.physics.base.errors import ParameterError
from grouser.studies.tracks.shear import DIRECTIONS
from grouser.studies.tracks.skid_steer import INNER, OUTER, TrackedVehicle, Turn, locked_turn, shear_field, steady_turns

DESCRIPTION = "a vehicle turns by its two tracks on rigid ground (Wong and Chiang, 2001)"

_WIDEST = 1e9
# Arrows along and across a contact.
_ARROWS = 15, 4


def _read_radii(value: list) -> list[float]:
    if not value or not all(type(item) in (int, float) and 0.0 <= item <= _WIDEST for item in value):
        raise ValueError(f"radii from 0, the pivot turn, to {_WIDEST:g} [m]")
    return [float(item) for item in value]


PARAMETERS = {
    "weight": positive(20e3, "N", "of the vehicle, on both tracks"),
    "contact_length": positive(1.5, "m", "of each track on the ground"),
    "width": positive(0.25, "m", "of each track"),
    "tread": positive(1.4, "m", "between the middles of both tracks"),
    "friction": positive(0.7, "-", "mu of the tracks on the ground"),
    "shear_displacement_modulus": positive(0.05, "m", "K, with law = exponential"),
    "law": Parameter("exponential", "-", "of the shear where a belt has landed", choices=("coulomb", "exponential")),
    "direction": Parameter("velocity", "-", "of the shear and its memory, with law = exponential", choices=DIRECTIONS),
    "mode": Parameter(
        "radius", "-", "belts locked, turned in place, or driven at the radii", choices=("locked", "pivot", "radius")
    ),
    "radius": Parameter([3.0, 10.0, 30.0], "m", "of the hull's middle, with mode = radius", convert=_read_radii),
}

_UNITS = {
    "radius": "m",
    "lateral_moment": "N m",
    "belt_force_inner": "N",
    "belt_force_outer": "N",
    "belt_speed_inner": "m/rad",
    "belt_speed_outer": "m/rad",
    "speed_ratio": "-",
    "centre_shift": "m",
}
REFERENCE = {
    "radius_m": "radius",
    "lateral_moment_Nm": "lateral_moment",
    "belt_force_N": "belt_force_outer",
    "centre_shift_m": "centre_shift",
}


def run(**parameters: Any) -> Result:
    """Finds the steady turns.

    Returns:
        One value a radius, 0 in the pivot turn and with locked belts.
        `lateral_moment` is the moment of the lateral forces that resists the turn; that of all friction with locked
        belts, which do not drive and slide everywhere.
        `belt_force_inner`, `belt_force_outer` are magnitudes; the outer belt drives forward, the inner one brakes.
        `belt_speed_inner`, `belt_speed_outer`, forward positive, are by the yaw rate, and `speed_ratio` is outer by
        inner speed; absent with locked belts.
        `centre_shift` is how far behind the hull's centre the point lies that moves straight ahead.

    Raises:
        ParameterError: tracks wider than their distance, or a radius at which forces and moments do not balance.
    """
    if parameters["width"] > parameters["tread"]:
        valid = f"at most the tread, {parameters['tread']:g} m: the tracks would overlap"
        raise ParameterError("width", parameters["width"], valid)
    turns, locked = _turns(parameters), parameters["mode"] == "locked"
    results: dict[str, list | None] = {
        "radius": [turn.radius for turn in turns],
        "lateral_moment": [abs(turn.moment if locked else turn.lateral_moment) for turn in turns],
        "belt_force_inner": [abs(turn.inner.forward) for turn in turns],
        "belt_force_outer": [abs(turn.outer.forward) for turn in turns],
        "belt_speed_inner": [turn.inner_speed for turn in turns],
        "belt_speed_outer": [turn.outer_speed for turn in turns],
        "speed_ratio": None if locked else [turn.outer_speed / turn.inner_speed for turn in turns],
        "centre_shift": [turn.shift for turn in turns],
    }
    return Result(results, _UNITS)


def _vehicle(parameters: Mapping[str, Any]) -> TrackedVehicle:
    builds_up = parameters["law"] == "exponential" and parameters["mode"] != "locked"
    return TrackedVehicle(
        weight=parameters["weight"],
        contact_length=parameters["contact_length"],
        width=parameters["width"],
        tread=parameters["tread"],
        friction=parameters["friction"],
        modulus=parameters["shear_displacement_modulus"] if builds_up else 0.0,
        direction=parameters["direction"],
    )


def _turns(parameters: Mapping[str, Any]) -> list[Turn]:
    vehicle = _vehicle(parameters)
    if parameters["mode"] == "locked":
        return [locked_turn(vehicle)]
    return list(steady_turns(vehicle, [0.0] if parameters["mode"] == "pivot" else parameters["radius"]))


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws lateral moment, belt forces, belt speeds and shift over the radius, beside Coulomb friction.

    A single turn is drawn in plan view, with the shear under the tracks.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns radius_m, lateral_moment_Nm, belt_force_N, centre_shift_m of a reference curve, if present.
    """
    ground = f"μ = {parameters['friction']:g}"
    if parameters["law"] == "exponential" and parameters["mode"] != "locked":
        ground += f", K = {parameters['shear_displacement_modulus']:g} m, {parameters['direction']}"
    if len(result["radius"]) == 1:
        _draw_plan(parameters, figure.subplots())
        turn = f"radius {result['radius'][0]:g} m, lateral moment {result['lateral_moment'][0]:.4g} N m"
    else:
        _draw_curves(parameters, result, figure, reference)
        turn = "steady turns"
    figure.suptitle(f"two tracks on rigid ground: {turn}\n{parameters['mode']}, {parameters['weight']:g} N, {ground}")


def _draw_plan(parameters: Mapping[str, Any], panel: Any) -> None:
    vehicle, (turn,) = _vehicle(parameters), _turns(parameters)
    end, half = 0.5 * vehicle.contact_length, 0.5 * vehicle.width
    for side, name, speed in ((OUTER, "outer", turn.outer_speed), (INNER, "inner", turn.inner_speed)):
        shear = shear_field(vehicle, turn, side, *_ARROWS)
        behind, left = ((np.arange(count) + 0.5) / count - 0.5 for count in _ARROWS)
        forward = -np.copysign(vehicle.contact_length, speed) * behind
        right = -0.5 * side * vehicle.tread - vehicle.width * left
        grid = np.meshgrid(right, forward)
        panel.quiver(*grid, -shear.imag, shear.real, angles="xy", scale=15.0, width=0.003, pivot="middle")
        near, far = -0.5 * side * vehicle.tread - half, -0.5 * side * vehicle.tread + half
        panel.plot([near, far, far, near, near], [-end, -end, end, end, -end], label=name)
    panel.plot([0.0], [-turn.shift], "k+", markersize=12, label="moves straight ahead")
    panel.set_aspect("equal")
    panel.set_xlabel("to the right [m]")
    panel.set_ylabel("forward [m]; arrows: force on the belt, turn to the left")
    panel.legend(fontsize="small", loc="center")


def _draw_curves(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    radius = np.asarray(result["radius"])
    coulomb = run(**{**parameters, "law": "coulomb"})
    bound = 0.25 * parameters["friction"] * parameters["weight"] * parameters["contact_length"]
    moment, force, speed, shift = figure.subplots(2, 2, sharex=True).flat
    label = parameters["direction"] if parameters["law"] == "exponential" else "Coulomb"
    moment.plot(radius, result["lateral_moment"], "o-", label=label)
    beside = parameters["law"] != "coulomb"
    if beside:
        moment.plot(radius, coulomb["lateral_moment"], ":", marker=".", label="Coulomb")
        force.plot(radius, coulomb["belt_force_outer"], ":", marker=".", label="Coulomb")
    moment.axhline(bound, color="grey", linestyle="-.", label="μ W L/4")
    force.plot(radius, result["belt_force_outer"], "o-", label=f"{label}, outer")
    force.plot(radius, result["belt_force_inner"], "x", label=f"{label}, inner")
    for side, sign in (("outer", 1.0), ("inner", -1.0)):
        track = radius + sign * 0.5 * parameters["tread"]
        speed.plot(radius, np.asarray(result[f"belt_speed_{side}"]) - track, "o-", label=f"{label}, {side}")
        if beside:
            less = np.asarray(coulomb[f"belt_speed_{side}"]) - track
            speed.plot(radius, less, ":", marker=".", label=f"Coulomb, {side}")
    shift.plot(radius, result["centre_shift"], "o-", label=label)
    for panel, theirs in ((moment, "lateral_moment_Nm"), (force, "belt_force_N"), (shift, "centre_shift_m")):
        draw_reference(panel, reference, "radius_m", theirs)
    for panel, title in (
        (moment, "lateral moment [N m]"),
        (force, "belt force [N]"),
        (speed, "belt speed less that of the hull there,\nby yaw rate [m/rad]"),
        (shift, "shift s₀ [m]"),
    ):
        if radius.min() > 0.0 and radius.max() > 5.0 * radius.min():
            panel.set_xscale("log")
            panel.set_xticks(radius, [f"{value:g}" for value in radius])
            panel.minorticks_off()
        panel.set_ylabel(title)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    for panel in (speed, shift):
        panel.set_xlabel("radius [m]")
