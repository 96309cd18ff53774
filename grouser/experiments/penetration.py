"""A plate is pushed into soil on its edge, by bearing capacity and friction on its faces."""

from collections.abc import Mapping
from typing import Any

from grouser.experiments.digging_parameters import SOIL, cut_soil_of, numbers, rows_of, varied
from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, Result
from grouser.physics.digging.penetration import edge_penetration, teeth_penetration

DESCRIPTION = "an edge is pushed into soil, as a strip footing with friction on its faces (Vesic, 1973)"

_NUMBERS = {
    "depth": numbers(0.1, "m", "of the edge", 0.0, 10.0),
    "thickness": numbers(0.02, "m", "of the edge, or the side of a tooth", 1e-4, 1.0),
    "width": numbers(0.6, "m", "of the plate", 1e-3, 100.0),
    **SOIL,
}
PARAMETERS = {
    **_NUMBERS,
    "depth": Parameter([0.05, 0.1, 0.2], "m", _NUMBERS["depth"].description, convert=_NUMBERS["depth"].convert),
    "teeth": Parameter(0, "-", "square teeth in place of the edge; 0: none", minimum=0, maximum=1000),
}
_UNITS = {**{name: parameter.unit for name, parameter in _NUMBERS.items()}, "edge_force": "N", "skin_force": "N"}
REFERENCE = {"depth_m": "depth", "edge_N": "edge_force", "skin_N": "skin_force"}


def run(**parameters: Any) -> Result:
    """Pushes the plate down.

    Returns:
        For each item of the lists: the numbers themselves, and the forces on the edge or teeth and on the faces.

    Raises:
        ParameterError: lists of several lengths.
    """
    rows = [row | _push(row, parameters["teeth"]) for row in rows_of(parameters, list(_NUMBERS))]
    return Result({name: [row[name] for row in rows] for name in _UNITS}, _UNITS)


def _push(row: Mapping[str, float], teeth: int) -> dict[str, float]:
    soil = cut_soil_of(row)
    plate = row["thickness"], row["width"], row["depth"], row["gravity"]
    forces = teeth_penetration(soil, teeth, *plate) if teeth else edge_penetration(soil, *plate)
    return {"edge_force": forces.edge, "skin_force": forces.skin}


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws both forces over the parameter that varies.

    Args:
        parameters: what `run` got.
        result: what it gave.
        figure: matplotlib figure.
        reference: columns depth_m, edge_N and skin_N, where present.
    """
    across = varied(parameters, list(_NUMBERS))
    column = next((name for name, address in REFERENCE.items() if address == across), across)
    panel = figure.subplots()
    for name, theirs in (("edge_force", "edge_N"), ("skin_force", "skin_N")):
        panel.plot(result[across], result[name], "o-", label=name.replace("_", " "))
        draw_reference(panel, reference, column, theirs)
    panel.set_xlabel(f"{across} [{_UNITS[across]}]")
    panel.set_ylabel("force [N]")
    panel.grid(alpha=0.3)
    panel.legend(fontsize="small")
    figure.suptitle("edge pushed into soil")
