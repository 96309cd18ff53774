"""Soft ground of a world file: its soils and their map."""

from dataclasses import replace
from typing import Any

import numpy as np
import yaml

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import LEVELS, Heap, Soil, SoilGround
from grouser.physics.description.soils.checks import check_level
from grouser.physics.description.soils.schema import ALL_KEYS, FLAG_KEYS, TEXT_KEYS, VALIDITY_KEYS
from grouser.physics.description.soils.values import load_soil
from grouser.physics.description.text.grid_file import GridError, read_grid
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.yaml_reader import Reader

KEYS = ("level", "cell", "bulldozing", "type", "types", "map", "heaps")
HEAP_KEYS = ("xy", "height", "volume")
MAP_KEYS = ("file", "cell", "origin", "types")
RIGID = "rigid"
HEAPS = "ground soil heaps"
_NO_SOIL = -1
_CELL_RANGE = (0.001, 0.1)
_CELL_OF_LEVEL = {"cells": 0.005}
_MAP_TYPES_MAX = 100


def read_soil(reader: Reader, node: yaml.Node) -> SoilGround:
    """Returns the soft ground of a world file.

    Raises:
        MachineError: a key is missing or wrong, the parameters of a soil are invalid, or the map cannot be used.
    """
    name = "ground soil"
    nodes = reader.mapping(node, name, KEYS)
    level = reader.choice(nodes["level"], f"{name} level", LEVELS) if "level" in nodes else SoilGround.level
    cell = _CELL_OF_LEVEL.get(level, SoilGround.cell)
    if "cell" in nodes:
        cell = reader.number(nodes["cell"], f"{name} cell", *_CELL_RANGE)
    bulldozing = (
        reader.boolean(nodes["bulldozing"], f"{name} bulldozing") if "bulldozing" in nodes else SoilGround.bulldozing
    )
    soils = _read_types(reader, node, nodes)
    for key, soil in soils.items():
        try:
            check_level(soil, level)
        except ParameterError as problem:
            blame = nodes.get("level", node)
            remedy = "give the soil these numbers, take another level, or soil zuo_cells"
            raise reader.error(blame, f"{name} level", f"level {level} with '{key}': {problem.valid}", remedy) from None
    heaps = tuple(_read_heap(reader, item) for item in reader.items(nodes["heaps"], HEAPS)) if "heaps" in nodes else ()
    given = {"soils": tuple(soils.values()), "level": level, "cell": cell, "bulldozing": bulldozing, "heaps": heaps}
    ground: SoilGround = reader.made(nodes.get("heaps", node), name, SoilGround, given)
    if "map" not in nodes:
        return ground
    types, types_cell, types_origin = _read_map(reader, nodes["map"], list(soils))
    return replace(ground, types=types, types_cell=types_cell, types_origin=types_origin)


def _read_heap(reader: Reader, node: yaml.Node) -> Heap:
    nodes = reader.mapping(node, HEAPS, HEAP_KEYS)
    given: dict[str, Any] = {"place": reader.pair(reader.required(nodes, "xy", node, HEAPS), f"{HEAPS} xy")}
    for key in ("height", "volume"):
        if key in nodes:
            given[key] = reader.number(nodes[key], f"{HEAPS} {key}")
    return reader.made(node, HEAPS, Heap, given)


def _read_types(reader: Reader, node: yaml.Node, nodes: dict[str, yaml.Node]) -> dict[str, Soil]:
    name = "ground soil"
    if "types" not in nodes:
        if "map" in nodes:
            raise reader.error(nodes["map"], f"{name} map", "a map needs types", "give types: {name: soil, ...}")
        type_ = reader.required(nodes, "type", node, name)
        soil = _read_one(reader, type_, f"{name} type", None)
        return {soil.name: soil}
    if "type" in nodes:
        raise reader.error(nodes["type"], name, "type and types are both given", "keep one of them")
    found: dict[str, Soil] = {}
    for key, value in reader.entries(nodes["types"], f"{name} types"):
        if key == RIGID:
            raise reader.error(value, f"{name} types", f"'{RIGID}' is ground without soil", "take another name")
        found[key] = _read_one(reader, value, f"{name} types {key[:60]}", key)
    if len(found) > 1 and "map" not in nodes:
        raise reader.error(
            nodes["types"], f"{name} types", f"{len(found)} soils and no map", "add map: ..., or keep one soil"
        )
    return found


def _read_one(reader: Reader, node: yaml.Node, name: str, key: str | None) -> Soil:
    """A soil from the name of a preset or from parameters; its default name is `key`, if not None."""
    nodes: dict[str, yaml.Node] = {}
    description: str | dict[str, Any]
    if isinstance(node, yaml.MappingNode):
        nodes = reader.mapping(node, name, ALL_KEYS)
        description = {part: _read_value(reader, value, f"{name} {part}", part) for part, value in nodes.items()}
    else:
        description = reader.text(node, name)
    try:
        return load_soil(description, key)
    except ParameterError as problem:
        if problem.value is None:
            raise reader.error(node, name, f"key '{problem.name}' is missing", problem.valid) from None
        shown = f"{problem.value:g}" if isinstance(problem.value, float) else shortened(str(problem.value))
        blame = nodes.get(problem.name, node)
        where = name if isinstance(description, str) else f"{name} {problem.name}"
        raise reader.error(blame, where, f"{shown} is not valid: {problem.valid}") from None


def _read_value(reader: Reader, node: yaml.Node, name: str, key: str) -> Any:
    if key in TEXT_KEYS:
        return reader.text(node, name)
    if key in FLAG_KEYS:
        return reader.boolean(node, name)
    return reader.pair(node, name) if key == VALIDITY_KEYS[0] else reader.number(node, name, high=1e15)


def _read_map(reader: Reader, node: yaml.Node, soils: list[str]) -> tuple[np.ndarray, float, tuple[float, float]]:
    """Returns types, spacing and origin of a map of soils."""
    name = "ground soil map"
    nodes = reader.mapping(node, name, MAP_KEYS)
    file = reader.required(nodes, "file", node, name)
    cell = reader.size(reader.required(nodes, "cell", node, name), f"{name} cell")
    meaning = _read_meaning(reader, reader.required(nodes, "types", node, name), soils)
    try:
        numbers, _ = read_grid(reader.path(file, f"{name} file"), side_min=1)
        wrong = ~((numbers >= 0.0) & (numbers < len(meaning)) & (np.floor(numbers) == numbers))
        if wrong.any():
            i, j = (int(index[0]) for index in np.nonzero(wrong))
            valid = f"whole numbers from 0 to {len(meaning) - 1}, the places in types"
            raise GridError(f"number [{i}, {j}] is {numbers[i, j]:g}; valid: {valid}")
    except GridError as problem:
        raise reader.error(file, f"{name} file", str(problem)) from None
    types = np.ascontiguousarray(np.array(meaning, dtype=np.int8)[numbers.astype(np.intp)])
    types.flags.writeable = False
    if "origin" in nodes:
        origin = reader.pair(nodes["origin"], f"{name} origin")
    else:
        origin = (-0.5 * cell * (types.shape[0] - 1), -0.5 * cell * (types.shape[1] - 1))
    return types, cell, origin


def _read_meaning(reader: Reader, node: yaml.Node, soils: list[str]) -> list[int]:
    """Meaning of each number of a map: index of a soil, or -1 for rigid ground."""
    name = "ground soil map types"
    items = reader.items(node, name)
    if not 0 < len(items) <= _MAP_TYPES_MAX:
        raise reader.error(node, name, f"it has {len(items)} entries; valid: 1 to {_MAP_TYPES_MAX}")
    places = {RIGID: _NO_SOIL} | {key: index for index, key in enumerate(soils)}
    meaning = []
    for item in items:
        text = reader.text(item, name)
        if text not in places:
            raise reader.error(item, name, f"there is no soil {shortened(text)}", closest(text, places))
        meaning.append(places[text])
    return meaning
