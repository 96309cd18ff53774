"""A bucket is led through level soil on an arc, or along lines, and lifted level: what it takes and what it keeps."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.digging_parameters import numbers_within
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result, positive
from grouser.experiments.soil_bins import MOTION, RUN_UNITS, SOIL, Dig, lead_along, run_figures
from grouser.physics.base.errors import ParameterError
from grouser.physics.digging.capacity import HOE_HEAP, heap_volume
from grouser.physics.digging.dug_ground import DiggingTool
from grouser.physics.digging.holding import Holding, make_holding

DESCRIPTION = "a bucket fills on an arc through level soil"


def _read_path(value: list) -> list[list[float]]:
    right = all(
        isinstance(row, (list, tuple))
        and len(row) == 3
        and all(type(item) in (int, float) and abs(item) <= 360.0 for item in row)
        for row in value
    )
    if not right or len(value) == 1:
        raise ValueError("no rows for the arc, or at least two of x [m], z [m] and pitch [deg], each within 360")
    return [[float(item) for item in row] for row in value]


PARAMETERS = {
    "tip_radius": positive(1.2, "m", "of the arc of the cutting edge"),
    "depth": Parameter([0.05, 0.1, 0.15, 0.2], "m", "of the arc's lowest point", convert=numbers_within(0.005, 5.0)),
    "rake_deg": Parameter(45.0, "deg", "of the plate from the motion, on the arc", minimum=1.0, maximum=120.0),
    "path": Parameter([], "m, m, deg", "rows of x, z and pitch of the plate, instead of the arc", convert=_read_path),
    "bucket_width": positive(0.45, "m", "length of the cutting edge"),
    "opening": positive(0.4, "m", "from the cutting edge to the top edge"),
    "profile_area": positive(0.11, "m2", "of the bucket's section below the plate, half an ellipse"),
    **SOIL,
    **MOTION,
}
REFERENCE = {"depth_m": "depth", "bank_m3": "bank_volume", "fill": "fill_factor"}
_UNITS = {
    "depth": "m", "bank_volume": "m3", "loose_volume": "m3", "fill_factor": "-", "spilled_volume": "m3",
    "struck_volume": "m3", "heaped_volume": "m3", **RUN_UNITS,
}  # fmt: skip
# Points of the profile. The arc goes on above the ground by this share of its angle. Then the bucket is lifted by this
# height and held [m, s].
_PROFILE, _BEYOND, _LIFT, _WAIT = 41, 1.05, 0.5, 1.5


def run(**parameters: Any) -> Result:
    """Digs at each depth, in fresh soil.

    Returns:
        For each depth, or for the path: volume of undisturbed soil that is gone, loose volume in the bucket at the end,
        the same over the heaped volume of the bucket, and loose volume that lies beside the cut. Struck and heaped
        volume of the bucket.

    Raises:
        ParameterError: an arc deeper than its radius.
    """
    width, opening = parameters["bucket_width"], parameters["opening"]
    tool = DiggingTool(width, opening, _holding(parameters))
    struck = parameters["profile_area"] * width
    heaped = struck + heap_volume(opening, width, HOE_HEAP)
    paths = [_line(parameters)] if parameters["path"] else [_arc(parameters, depth) for depth in parameters["depth"]]
    rows: dict[str, list[float]] = {
        name: [] for name in ("bank_volume", "loose_volume", "fill_factor", "spilled_volume")
    }
    digs = []
    for path in paths:
        dig = Dig(parameters, tool)
        dig.follow(path)
        dig.hold(path[-1], _WAIT)
        bank, loose = _bank_volume(dig, path, width), dig.ground.carried_volume
        values = bank, loose, loose / heaped, parameters["swell"] * bank - loose
        for row, value in zip(rows.values(), values, strict=True):
            row.append(value)
        digs.append(dig)
    seconds, steps = sum(dig.seconds for dig in digs), sum(dig.steps for dig in digs)
    depth = [-float(path[:, 2].min()) for path in paths] if parameters["path"] else parameters["depth"]
    return Result(
        {
            "depth": depth, **rows, "struck_volume": struck, "heaped_volume": heaped,
            "mass_error": max(dig.mass_error() for dig in digs), **run_figures(seconds, steps, parameters["step"]),
        },
        _UNITS,
    )  # fmt: skip


def _holding(parameters: Mapping[str, Any]) -> Holding:
    """What the bucket holds: its section is half an ellipse."""
    half, angle = 0.5 * parameters["opening"], np.linspace(0.0, math.pi, _PROFILE)
    profile = np.column_stack([half * (1.0 - np.cos(angle)), np.sin(angle)])
    profile[-1] = 2.0 * half, 0.0
    # the polygon has the area asked for
    s, t = profile.T
    profile[:, 1] *= parameters["profile_area"] / np.trapezoid(t, s)
    return make_holding(profile, parameters["bucket_width"], math.radians(parameters["repose_angle_deg"]))


def _arc(parameters: Mapping[str, Any], depth: float) -> np.ndarray:
    """The edge on an arc through level ground, then lifted while the plate turns level."""
    radius, rake = parameters["tip_radius"], math.radians(parameters["rake_deg"])
    if depth >= radius:
        raise ParameterError("depth", depth, f"below tip_radius, {radius:g} m")
    half = min(_BEYOND * math.acos(1.0 - depth / radius), 0.5 * math.pi)
    count = max(math.ceil(2.0 * half * radius / (parameters["speed"] * parameters["step"])), 2)
    corners = [
        (radius * math.sin(a), radius - depth - radius * math.cos(a), rake - a) for a in np.linspace(-half, half, count)
    ]
    corners.append((corners[-1][0], corners[-1][1] + _LIFT, 0.0))
    return lead_along(corners, parameters["speed"], parameters["step"])


def _line(parameters: Mapping[str, Any]) -> np.ndarray:
    corners = [(x, z, math.radians(pitch)) for x, z, pitch in parameters["path"]]
    return lead_along(corners, parameters["speed"], parameters["step"])


def _bank_volume(dig: Dig, path: np.ndarray, width: float) -> float:
    """Volume of undisturbed soil that is gone from level ground [m3]."""
    bed, margin = dig.ground.bed, width + 1.0
    x, y = (float(path[:, 0].min()) - margin, float(path[:, 0].max()) + margin), (-margin, margin)
    return float(bed.spacing**2 * (bed.loose(x, y) - bed.heights(x, y)).sum())


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws volume cut and fill factor over the depth.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns depth_m, bank_m3 and fill, where present.
    """
    for panel, name, column, label in zip(
        figure.subplots(2, 1, sharex=True),
        ("bank_volume", "fill_factor"),
        ("bank_m3", "fill"),
        ("undisturbed soil cut [m³]", "fill factor [-]"),
        strict=True,
    ):
        panel.plot(result["depth"], result[name], "o-", label=f"cells of {1e3 * parameters['cell_size']:g} mm")
        draw_reference(panel, reference, "depth_m", column)
        panel.set_xlabel("greatest depth of the edge [m]")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.suptitle(
        f"bucket of {result['heaped_volume'] * 1e3:.3g} l heaped, tip radius {parameters['tip_radius']:g} m"
    )
