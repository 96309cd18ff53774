"""Repeated passes of a track through the same rut, ahead and back: repetitive loading of soil, on the test rig.

The machine is urdf/tracked_testbed.urdf.xacro with a belt that presses evenly.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.catalogue import machine_file
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_parameters import TRACK_SOIL, read_track_soil
from grouser.experiments.tracked_vehicle import EVEN, GRAVITY, STEP, THICKNESS, VEHICLE
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, World
from grouser.physics.readings.measurements import TerrainPatch
from grouser.physics.simulation.simulation import Simulation
from grouser.studies.tracks.shoe_row import Pull, ShoeRow, closed_form

DESCRIPTION = "a track goes through the same rut several times, ahead and back"

PARAMETERS = {
    "passes": Parameter(3, "-", "how often the track goes through", minimum=1, maximum=100),
    "weight": positive(10e3, "N", "on the track, its own with it"),
    "slip": Parameter(0.1, "-", "of the track", minimum=0.01, maximum=0.95),
    **{name: VEHICLE[name] for name in ("contact_length", "width", "radius", "shoes")},
    **TRACK_SOIL,
    "speed": positive(0.1, "m/s", "of the belt"),
    "cell_size": Parameter(0.02, "m", "spacing of the soil's cells", minimum=0.001, maximum=0.1),
    "step": STEP,
}

_FORCES = ("resistance", "thrust", "drawbar_pull")
_UNITS = {"pass": "-", "sinkage": "m", "rut_depth": "m", **dict.fromkeys(_FORCES, "N")}
# Ways of a pass, as shares of the contact's length: until the track is steady, and while it is measured.
_APPROACH, _MEASURED = 1.2, 0.4
# Ground that the whole track passes in each pass, from the middle of the track at the start, as shares of the length.
_RUT = (0.7, 1.1)
# The winch sets the track down within so many seconds, in so many commands.
_SETTING_DOWN, _COMMANDS = 2.0, 200
_READINGS = 200
# A track that sinks by more than this share of its radius is not carried.
_SUNK = 0.95


def run(**parameters: Any) -> Result:
    """Drives through the rut.

    Returns:
        One value a pass, means over the last share of its way: `sinkage` of the track; `resistance`, `thrust` and
        `drawbar_pull` in the direction of the pass; `rut_depth` is that of the middle half of the rut after it.

    Raises:
        ParameterError: soil that does not carry the track.
        MachineError: parameters that make no belt.
    """
    simulation = _rig(parameters)
    results: dict[str, list[float]] = {name: [] for name in _UNITS}
    for number in range(parameters["passes"]):
        found = _drive_through(simulation, parameters, 1.0 if number % 2 == 0 else -1.0)
        for name, values in results.items():
            values.append(number + 1 if name == "pass" else found[name])
    return Result(results, _UNITS)


def _rig(parameters: Mapping[str, Any]) -> Simulation:
    """The rig, its track set down gently on natural ground."""
    load = parameters["weight"]
    given = {
        "load": load,
        "gravity": GRAVITY,
        "length": parameters["contact_length"],
        "radius": parameters["radius"] - THICKNESS,
        "width": parameters["width"],
        "shoes": parameters["shoes"],
        "thickness": THICKNESS,
        "pretension": EVEN,
        "rail_length": 4.0 * parameters["contact_length"],
    }
    machine = load_machine(machine_file("tracked_testbed"), {name: repr(value) for name, value in given.items()})
    bed = SoilGround((read_track_soil(parameters),), cell=parameters["cell_size"])
    simulation = Simulation(machine, World(ground=Ground(soil=bed)), step=parameters["step"])
    steps = max(round(_SETTING_DOWN / _COMMANDS / simulation.step_size), 1)
    for held in np.linspace(1.0, 0.0, _COMMANDS):
        simulation.command["slide"] = load * held
        simulation.step(steps)
    return simulation


def _drive_through(simulation: Simulation, parameters: Mapping[str, Any], direction: float) -> dict[str, float]:
    """Means of a pass; `direction` is 1 ahead and -1 back."""
    speed, length = parameters["speed"], parameters["contact_length"]
    forward = speed * (1.0 - parameters["slip"])
    simulation.command["drive"] = direction * speed / simulation.machine.tracks[0].radius
    simulation.command["rail"] = direction * forward
    simulation.step(round(_APPROACH * length / forward / simulation.step_size))
    every = max(round(_MEASURED * length / forward / simulation.step_size / _READINGS), 1)
    seen = []
    for _ in range(_READINGS):
        simulation.step(every)
        state = simulation.track["track"]
        seen.append((state.sinkage, *(direction * getattr(state, name) for name in _FORCES)))
    sinkage, *forces = np.mean(seen, axis=0).tolist()
    if not sinkage < _SUNK * parameters["radius"]:
        valid = f"a weight that the soil carries: the track sinks by {sinkage:.3g} m, to its axles"
        raise ParameterError("weight", parameters["weight"], valid)
    rut_depth = _rut_depth(simulation.terrain_patch(), parameters)
    return {"sinkage": sinkage, "rut_depth": rut_depth, **dict(zip(_FORCES, forces, strict=True))}


def _rut_depth(patch: TerrainPatch | None, parameters: Mapping[str, Any]) -> float:
    """Mean depth of the middle half of the rut that the whole track has passed [m]."""
    assert patch is not None
    begin, end = (share * parameters["contact_length"] for share in _RUT)
    inside = (patch.x > begin) & (patch.x < end)
    inside &= np.abs(patch.y) < max(0.25 * parameters["width"], 0.51 * patch.cell)
    return float(patch.rut[inside].mean())


def _closed_form(parameters: Mapping[str, Any]) -> Pull:
    """The first pass under uniform pressure; later ones find the ground compacted and have no resistance."""
    row = ShoeRow(
        weight=parameters["weight"],
        length=parameters["contact_length"],
        width=parameters["width"],
        shoes=parameters["shoes"],
        road_wheels=0,
        amplitude=0.0,
    )
    return closed_form(row, read_track_soil(parameters), parameters["slip"])


def plot(
    parameters: Mapping[str, Any], result: Result, figure: Any, reference: Mapping[str, np.ndarray] | None
) -> None:
    """Draws sinkage, resistance and thrust over the passes, beside the closed forms.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns pass, sinkage_m, R_N, thrust_N of a reference curve, where present.
    """
    number = np.array(result["pass"])
    closed = _closed_form(parameters)
    curves = (
        ("sinkage", "sinkage_m", "sinkage [m]", np.full(len(number), closed.sinkage)),
        ("resistance", "R_N", "compaction resistance [N]", np.where(number == 1, closed.resistance, 0.0)),
        ("thrust", "thrust_N", "thrust [N]", np.full(len(number), closed.thrust)),
    )
    for panel, (name, theirs, label, expected) in zip(figure.subplots(3, 1, sharex=True), curves, strict=True):
        panel.plot(number, expected, ":", color="grey", marker="+", label="closed form, uniform pressure")
        panel.plot(number, result[name], "o-", label="track")
        if reference is not None and theirs in reference and "pass" in reference:
            panel.plot(reference["pass"], reference[theirs], "--", label="reference")
        low, high = panel.get_ylim()
        panel.set_ylim(min(low, 0.0), 1.1 * max(high, 0.0))
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    panel.set_xlabel("pass [-]")
    panel.locator_params(axis="x", integer=True)
    figure.suptitle(f"repeated passes of a track: {parameters['weight']:g} N at slip {parameters['slip']:g}")
