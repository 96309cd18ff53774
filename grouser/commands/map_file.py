"""`grouser map`: the occupancy map of a world as files for map servers, YAML and image."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from grouser.arguments import Parser, require_new_file
from grouser.catalogue import world_file
from grouser.json_output import SCREEN, add_json, write_json
from grouser.occupancy import OccupancyMap, Passable, occupancy_map
from grouser.physics.description import load_world

# Grey values: black is occupied, white is free, between them is unknown.
_OCCUPIED, _FREE = 0, 254


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser map`.

    Args:
        arguments: what follows the word `map`.

    Returns:
        The exit status.

    Raises:
        MachineError: the world cannot be loaded.
        ParameterError: a number is not valid.
    """
    passable = Passable()
    parser = Parser(prog="grouser map", description="Writes a world's map for Nav2's map_server.")
    parser.add_argument("world", help="world file, or the name of a world that comes with grouser")
    parser.add_argument("--output", type=Path, help="file to write, .yaml; default: the world's name")
    parser.add_argument("--resolution", type=float, default=0.05, help="side of a cell [m], default %(default)s")
    parser.add_argument("--margin", type=float, default=5.0, help="around what it shows [m], default %(default)s")
    parser.add_argument(
        "--lowest", type=float, default=passable.lowest, help="height that is driven over [m], default %(default)s"
    )
    parser.add_argument(
        "--highest", type=float, default=passable.highest, help="height that is driven under [m], default %(default)s"
    )
    parser.add_argument(
        "--steepest", type=float, default=20.0, help="slope that is driven on [degrees], default %(default)s"
    )
    parser.add_argument("--overwrite", action="store_true", help="write over files that exist")
    add_json(parser)
    options = parser.parse_args(arguments)
    file = world_file(options.world)
    output = options.output or Path(f"{file.stem}.yaml")
    if output.suffix not in (".yaml", ".yml"):
        parser.error("--output ends with .yaml")
    for written in (output, output.with_suffix(".pgm")):
        require_new_file(written, "--output", options.overwrite)
    grid = occupancy_map(
        load_world(file),
        Passable(options.lowest, options.highest, math.radians(options.steepest)),
        options.resolution,
        options.margin,
    )
    image = write_map(grid, output)
    rows, columns = grid.occupied.shape
    if options.json is not None:
        facts = {"file": str(output), "image": str(image), "columns": columns, "rows": rows}
        facts |= {"resolution": grid.resolution, "origin": list(grid.origin), "occupied": float(grid.occupied.mean())}
        write_json(options.json, facts)
    if options.json == SCREEN:
        return 0
    cells = f"{columns} x {rows} cells of {grid.resolution:g} m, {grid.occupied.mean():.1%} occupied"
    print(f"map written to {output} and {image}: {cells}")
    return 0


def write_map(grid: OccupancyMap, file: Path) -> Path:
    """Writes a map as a YAML file and, beside it, an image.

    Args:
        grid: the map.
        file: the YAML file.

    Returns:
        The image's file: the same name, with .pgm.
    """
    rows, columns = grid.occupied.shape
    # An image begins with the row of greatest y.
    pixels = np.where(grid.occupied[::-1], _OCCUPIED, _FREE).astype(np.uint8)
    image = file.with_suffix(".pgm")
    image.write_bytes(f"P5\n{columns} {rows}\n255\n".encode() + pixels.tobytes())
    about = {
        "image": image.name,
        "mode": "trinary",
        "resolution": grid.resolution,
        "origin": [*grid.origin, 0.0],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.25,
    }
    file.write_text(yaml.safe_dump(about, sort_keys=False), encoding="utf-8")
    return image
