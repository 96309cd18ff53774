"""The excavator digs and dumps the same soil twice: as a height field, and as lumps where it is cut."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.excavator_rig import DIG, ExcavatorRig
from grouser.experiments.protocol import Parameter, Result
from grouser.experiments.soil_bins import RUN_UNITS, run_figures
from grouser.physics.readings.measurements import SoilBalance

DESCRIPTION = "the excavator digs and dumps soil that becomes lumps where it is cut, beside soil that does not"
PARAMETERS = {
    "passes": Parameter(1, "-", "number of buckets", minimum=1, maximum=20),
    "wait": Parameter(5.0, "s", "after the last one", minimum=0.0, maximum=100.0),
    **DIG,
}
REFERENCE = {"lumps": "with_lumps", "mean_force_N": "mean_force"}
_UNITS = {
    "with_lumps": "-", "time": "s", "force": "N", "mass_field": "kg", "mass_lumps": "kg", "mean_force": "N",
    "peak_force": "N", "mean_force_ratio": "-", "peak_force_ratio": "-", "spheres": "-", "settled_share": "-",
    "field_compute_time": "s", **RUN_UNITS,
}  # fmt: skip


class _Dig(NamedTuple):
    """A dig: the rig after it, what it recorded, mean and greatest force [N]."""

    rig: ExcavatorRig
    course: dict[str, np.ndarray]
    mean: float
    peak: float


def run(**parameters: Any) -> Result:
    """Digs twice.

    Returns:
        For the field and for lumps: whether it is lumps; over the time of the dig, an array each: time, force of the
        soil on the bucket by its field, solid mass of the field above level ground, and mass of the lumps; mean and
        greatest force while it digs. The ratios of these forces, with lumps over without; number of lumps at the end of
        the dig; share of their mass that is soil again after the wait; processor time of the steps without lumps, and
        with them (compute_time); the greater residual of the balance of mass over what was moved.

    Raises:
        ParameterError: a soil that is out of range, cells whose lumps are too small or too large for the shovels, or a
            cycle of the program that is no whole number of steps.
    """
    digs = [_dig({**parameters, "lumps": lumps}) for lumps in (False, True)]
    field, lumps = digs
    simulation = lumps.rig.simulation
    before = float(lumps.course["lumps"].max())
    balances = [_wait(one.rig, parameters["wait"]) for one in digs]
    settled = 1.0 - balances[1].lumps / before if before > 0.0 else 0.0
    return Result(
        {
            "with_lumps": [0.0, 1.0], "time": [one.course["time"] for one in digs],
            "force": [one.course["force"] for one in digs], "mass_field": [one.course["field"] for one in digs],
            "mass_lumps": [one.course["lumps"] for one in digs],
            "mean_force": [one.mean for one in digs], "peak_force": [one.peak for one in digs],
            "mean_force_ratio": lumps.mean / field.mean, "peak_force_ratio": lumps.peak / field.peak,
            "spheres": round(before / simulation.arrays.system.granular.lumps.mass), "settled_share": settled,
            "field_compute_time": field.rig.seconds,
            "mass_error": max(abs(balance.relative_residual) for balance in balances),
            **run_figures(lumps.rig.seconds, simulation.step_count, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def _dig(parameters: Mapping[str, Any]) -> _Dig:
    """Digs the passes."""
    rig = ExcavatorRig(parameters)
    course = rig.dig(parameters["passes"])
    forces = course["force"][course["force"] > 0.0]
    return _Dig(rig, course, float(forces.mean()), float(forces.max()))


def _wait(rig: ExcavatorRig, duration: float) -> SoilBalance:
    """The balance of mass after the machine has stood for a time [s]."""
    rig.wait(duration)
    balance = rig.simulation.soil_balance()
    assert balance is not None
    return balance


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws the force over the time, and where the soil is.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns lumps and mean_force_N, where present.
    """
    upper, middle, lower = figure.subplots(3, 1)
    for time, force, label in zip(result["time"], result["force"], ("field", "lumps"), strict=True):
        upper.plot(time, force, label=label)
    upper.set_xlabel("time [s]")
    upper.set_ylabel("force of the field [N]")
    middle.plot(result["time"][1], result["mass_field"][1], label="field, above level ground")
    middle.plot(result["time"][1], result["mass_lumps"][1], label="lumps")
    middle.set_xlabel("time [s]")
    middle.set_ylabel("solid mass [kg]")
    lower.plot(result["with_lumps"], result["mean_force"], "o", label="mean while it digs")
    lower.plot(result["with_lumps"], result["peak_force"], "s", label="greatest")
    draw_reference(lower, reference, "lumps", "mean_force_N")
    lower.set_xticks([0.0, 1.0], ["field", "lumps"])
    lower.set_xlabel("soil")
    lower.set_ylabel("force of the field [N]")
    for panel in (upper, middle, lower):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(f"excavator, cells of {1e3 * parameters['cell_size']:g} mm")
