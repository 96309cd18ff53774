"""Deformable blocks of a world file."""

from dataclasses import fields
from typing import Any

import yaml

from grouser.physics.description.data.blocks import (
    MOST_BLOCKS,
    BlockMaterial,
    Blocks,
    BlockWall,
    ConvexSolid,
    Interface,
    LooseBlock,
)
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.text.yaml_reader import Reader
from grouser.physics.description.world.quantities import read_quantities

KEYS = tuple(one.name for one in fields(Blocks))
MATERIAL_KEYS = tuple(one.name for one in fields(BlockMaterial))
INTERFACE_KEYS = tuple(one.name for one in fields(Interface))
WALL_KEYS = ("size", "counts", "xyz", "rpy_deg", "staggered")
LOOSE_KEYS = ("box", "vertices", "faces", "xyz", "rpy_deg")


def read_blocks(reader: Reader, node: yaml.Node) -> Blocks:
    """Returns the blocks of a world file.

    Raises:
        MachineError: a key is missing or wrong, or a value is out of its range.
    """
    name = "blocks"
    nodes = reader.mapping(node, name, KEYS)
    given: dict[str, Any] = {}
    for key, kind, keys in (("material", BlockMaterial, MATERIAL_KEYS), ("interface", Interface, INTERFACE_KEYS)):
        given[key] = _read_numbers(reader, reader.required(nodes, key, node, name), f"{name} {key}", kind, keys)
    for key, read in (("walls", _read_wall), ("loose", _read_loose)):
        if key in nodes:
            given[key] = tuple(read(reader, value, one) for one, value in reader.entries(nodes[key], f"{name} {key}"))
    if "order" in nodes:
        given["order"] = reader.whole(nodes["order"], f"{name} order", 2)
    for key in ("rubble", "surface_material"):
        if key in nodes:
            given[key] = reader.text(nodes[key], f"{name} {key}")
    for key in ("mass_damping", "stiffness_damping"):
        if key in nodes:
            given[key] = reader.number(nodes[key], f"{name} {key}")
    for key in ("relax", "sleeping"):
        if key in nodes:
            given[key] = reader.boolean(nodes[key], f"{name} {key}")
    return reader.made(node, name, Blocks, given)


def _read_numbers(reader: Reader, node: yaml.Node, name: str, kind: type, keys: tuple[str, ...]) -> Any:
    nodes = reader.mapping(node, name, keys)
    for one in fields(kind):
        if one.default is one.default_factory:
            reader.required(nodes, one.name, node, name)
    return reader.made(node, name, kind, read_quantities(reader, nodes, name))


def _read_wall(reader: Reader, node: yaml.Node, name: str) -> BlockWall:
    shown = f"wall {name[:60]}"
    nodes = reader.mapping(node, shown, WALL_KEYS)
    counts = [
        reader.whole(item, f"{shown} counts", MOST_BLOCKS)
        for item in reader.items(reader.required(nodes, "counts", node, shown), f"{shown} counts")
    ]
    given: dict[str, Any] = {
        "name": name,
        "size": reader.sizes(reader.required(nodes, "size", node, shown), f"{shown} size"),
        "counts": tuple(counts),
        "pose": reader.pose(nodes, shown),
    }
    if "staggered" in nodes:
        given["staggered"] = reader.boolean(nodes["staggered"], f"{shown} staggered")
    return reader.made(node, shown, BlockWall, given)


def _read_loose(reader: Reader, node: yaml.Node, name: str) -> LooseBlock:
    shown = f"block {name[:60]}"
    nodes = reader.mapping(node, shown, LOOSE_KEYS)
    given: dict[str, Any] = {"name": name, "pose": reader.pose(nodes, shown)}
    if ("box" in nodes) == ("vertices" in nodes):
        raise reader.error(node, shown, "it has no shape, or two", "give one of box, vertices")
    if "box" in nodes:
        given["geometry"] = Box(reader.sizes(nodes["box"], f"{shown} box"))
    else:
        corners = reader.items(nodes["vertices"], f"{shown} vertices")
        if len(corners) < 4:
            problem = f"{len(corners)} corners bound no volume"
            raise reader.error(nodes["vertices"], f"{shown} vertices", problem, "give 4 or more")
        faces = reader.items(nodes["faces"], f"{shown} faces") if "faces" in nodes else []
        given["geometry"] = ConvexSolid(
            tuple(reader.vector(corner, f"{shown} vertices") for corner in corners),
            tuple(
                tuple(
                    reader.whole(item, f"{shown} faces", len(corners)) for item in reader.items(face, f"{shown} faces")
                )
                for face in faces
            ),
        )
    return reader.made(node, shown, LooseBlock, given)
