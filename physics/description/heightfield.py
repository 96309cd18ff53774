"""Height fields: a table, an array or an image of heights to a `Heightfield`."""

import numpy as np
import yaml

from grouser.physics.description.data.world import Heightfield
from grouser.physics.description.text.grid_file import GridError, read_grid
from grouser.physics.description.text.yaml_reader import VALUE_MAX, Reader

KEYS = ("file", "cell", "origin", "height_scale", "height")


def read_heightfield(reader: Reader, node: yaml.Node) -> Heightfield:
    """Returns the height field that a world file gives.

    Raises:
        MachineError: a key is missing or wrong, or the file of heights cannot be used.
    """
    name = "ground heightfield"
    nodes = reader.mapping(node, name, KEYS)
    file = reader.required(nodes, "file", node, name)
    cell = reader.size(reader.required(nodes, "cell", node, name), f"{name} cell")
    scale = reader.number(nodes["height_scale"], f"{name} height_scale") if "height_scale" in nodes else 1.0
    offset = reader.number(nodes["height"], f"{name} height") if "height" in nodes else 0.0
    try:
        numbers, white = read_grid(reader.path(file, f"{name} file"), side_min=2)
        heights = _scaled(numbers if white is None else numbers / white, scale, offset)
    except GridError as problem:
        raise reader.error(file, f"{name} file", str(problem)) from None
    if "origin" in nodes:
        origin = reader.pair(nodes["origin"], f"{name} origin")
    else:
        origin = (-0.5 * cell * (heights.shape[0] - 1), -0.5 * cell * (heights.shape[1] - 1))
    return Heightfield(heights, cell, origin)


def _scaled(heights: np.ndarray, scale: float, offset: float) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ascontiguousarray(heights * scale + offset)
    wrong = ~(np.abs(scaled) <= VALUE_MAX)
    if wrong.any():
        i, j = (int(index[0]) for index in np.nonzero(wrong))
        raise GridError(f"height [{i}, {j}] is {scaled[i, j]:g} m; valid: at most {VALUE_MAX:g} m up or down")
    scaled.flags.writeable = False
    return scaled
