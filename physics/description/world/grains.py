"""Granular media of a world file."""

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import yaml

from grouser.physics.description.data.closed_mesh import ClosedMesh
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.description.data.granular import (
    MOST_GRAINS,
    GrainEmitter,
    GrainFill,
    GrainMaterial,
    GrainPair,
    GrainSink,
    GranularMedia,
    ObstacleVibration,
    Surface,
)
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.shapes import Box, Cylinder, Sphere
from grouser.physics.description.text.yaml_reader import Reader
from grouser.physics.description.urdf.meshes import MeshError, triangles
from grouser.physics.description.world.quantities import read_quantities

KEYS = (
    *("materials", "fills", "pairs", "surface", "boundary", "settle", "impact_speed", "contact_step", "sleeping"),
    *("emitters", "sinks", "vibrations", "clumps"),
)
_MATERIAL_KEYS = ("youngs_modulus", "poisson_ratio", "density")
_SURFACE_KEYS = tuple(one.name for one in fields(Surface))
_TEXTS = ("normal", "tangential", "rolling", "damping_end")
_SHAPES = ("box", "cylinder", "sphere", "mesh")
_EMITTER_KEYS = ("material", "box", "xyz", "rpy_deg", "rate", "radius", "velocity", "begin", "end", "seed", "clump")
FILL_KEYS = ("material", *_SHAPES, "xyz", "rpy_deg", "radius", "count", "mass", "seed", "clump")
SPHERE_KEYS = ("xyz", "radius")
CLUMP_KEYS = ("spheres", "relative_mass", "centre_of_mass", "inertia")


def read_grains(reader: Reader, node: yaml.Node) -> GranularMedia:
    """Returns the grains of a world file.

    Raises:
        MachineError: a key is missing or wrong, or a value is out of its range.
    """
    name = "granular"
    nodes = reader.mapping(node, name, KEYS)
    given: dict[str, Any] = {
        "materials": tuple(
            _read_material(reader, value, key)
            for key, value in reader.entries(reader.required(nodes, "materials", node, name), f"{name} materials")
        ),
    }
    if "pairs" in nodes:
        items = reader.items(nodes["pairs"], f"{name} pairs")
        given["pairs"] = tuple(_read_pair(reader, item, f"{name} pairs") for item in items)
    if "surface" in nodes:
        given["surface"] = _read_surface(reader, nodes["surface"], f"{name} surface", ())
    if "boundary" in nodes:
        given["boundary"] = _read_material(reader, nodes["boundary"], GranularMedia.boundary.name)
    for key in ("settle", "impact_speed", "contact_step"):
        if key in nodes:
            given[key] = reader.number(nodes[key], f"{name} {key}")
    if "fills" not in nodes and "emitters" not in nodes:
        raise reader.error(node, name, "it has no grains", "add fills: ... or emitters: ...")
    readers = {
        "fills": _read_fill,
        "emitters": _read_emitter,
        "sinks": _read_sink,
        "vibrations": _read_vibration,
        "clumps": _read_clump,
    }
    for key, read in readers.items():
        if key in nodes:
            given[key] = tuple(read(reader, value, one) for one, value in reader.entries(nodes[key], f"{name} {key}"))
    if "sleeping" in nodes:
        given["sleeping"] = reader.boolean(nodes["sleeping"], f"{name} sleeping")
    return reader.made(node, name, GranularMedia, given)


def _read_material(reader: Reader, node: yaml.Node, name: str) -> GrainMaterial:
    shown = f"granular material {name[:60]}"
    nodes = reader.mapping(node, shown, _MATERIAL_KEYS)
    reader.required(nodes, "youngs_modulus", node, shown)
    return reader.made(node, shown, GrainMaterial, {"name": name, **read_quantities(reader, nodes, shown)})


def _read_pair(reader: Reader, node: yaml.Node, name: str) -> GrainPair:
    nodes = reader.mapping(node, name, ("between", *_SURFACE_KEYS))
    between = reader.required(nodes, "between", node, name)
    names = [reader.text(item, f"{name} between") for item in reader.items(between, f"{name} between")]
    if len(names) != 2:
        raise reader.error(between, f"{name} between", f"{len(names)} materials", "write [first, second]")
    return GrainPair(names[0], names[1], _read_surface(reader, node, name, ("between",)))


def _read_surface(reader: Reader, node: yaml.Node, name: str, besides: tuple[str, ...]) -> Surface:
    nodes = reader.mapping(node, name, (*besides, *_SURFACE_KEYS))
    given: dict[str, Any] = {}
    for key, value in nodes.items():
        if key in _TEXTS:
            given[key] = reader.text(value, f"{name} {key}")
        elif key == "springs":
            given[key] = reader.whole(value, f"{name} {key}", 1000)
        elif key not in besides:
            given[key] = reader.number(value, f"{name} {key}")
    return reader.made(node, name, Surface, given)


def _read_fill(reader: Reader, node: yaml.Node, name: str) -> GrainFill:
    shown = f"granular fill {name[:60]}"
    nodes = reader.mapping(node, shown, FILL_KEYS)
    shapes = [key for key in _SHAPES if key in nodes]
    if len(shapes) != 1:
        raise reader.error(node, shown, f"it has {len(shapes)} volumes", f"give one of {', '.join(_SHAPES)}")
    given: dict[str, Any] = {
        "name": name,
        "material": reader.text(reader.required(nodes, "material", node, shown), f"{shown} material"),
        "geometry": _read_volume(reader, nodes[shapes[0]], shapes[0], f"{shown} {shapes[0]}"),
        "pose": reader.pose(nodes, shown),
        "radius": _read_radius(reader, reader.required(nodes, "radius", node, shown), f"{shown} radius"),
    }
    if "count" in nodes:
        given["count"] = reader.whole(nodes["count"], f"{shown} count", MOST_GRAINS)
    if "seed" in nodes:
        given["seed"] = reader.whole(nodes["seed"], f"{shown} seed", 2**53)
    if "clump" in nodes:
        given["clump"] = reader.text(nodes["clump"], f"{shown} clump")
    if "mass" in nodes:
        given["mass"] = reader.number(nodes["mass"], f"{shown} mass")
    return reader.made(node, shown, GrainFill, given)


def _read_emitter(reader: Reader, node: yaml.Node, name: str) -> GrainEmitter:
    shown = f"granular emitter {name[:60]}"
    nodes = reader.mapping(node, shown, _EMITTER_KEYS)
    given: dict[str, Any] = {
        "name": name,
        "material": reader.text(reader.required(nodes, "material", node, shown), f"{shown} material"),
        "box": Box(reader.sizes(reader.required(nodes, "box", node, shown), f"{shown} box")),
        "rate": reader.number(reader.required(nodes, "rate", node, shown), f"{shown} rate"),
        "pose": reader.pose(nodes, shown),
        "radius": _read_radius(reader, reader.required(nodes, "radius", node, shown), f"{shown} radius"),
    }
    if "velocity" in nodes:
        given["velocity"] = reader.vector(nodes["velocity"], f"{shown} velocity")
    if "clump" in nodes:
        given["clump"] = reader.text(nodes["clump"], f"{shown} clump")
    for key in ("begin", "end"):
        if key in nodes:
            given[key] = reader.number(nodes[key], f"{shown} {key}")
    if "seed" in nodes:
        given["seed"] = reader.whole(nodes["seed"], f"{shown} seed", 2**53)
    return reader.made(node, shown, GrainEmitter, given)


def _read_clump(reader: Reader, node: yaml.Node, name: str) -> ClumpShape:
    """A list of spheres, or a mapping that has them and mass properties."""
    shown = f"granular clump {name[:60]}"
    if isinstance(node, yaml.SequenceNode):
        return reader.made(node, shown, ClumpShape, {"name": name, "spheres": _read_spheres(reader, node, shown)})
    nodes = reader.mapping(node, shown, CLUMP_KEYS)
    spheres = _read_spheres(reader, reader.required(nodes, "spheres", node, shown), shown)
    readers: dict[str, Callable[[yaml.Node, str], Any]] = {
        "relative_mass": reader.number,
        "centre_of_mass": reader.vector,
        "inertia": reader.inertia,
    }
    given = {key: readers[key](value, f"{shown} {key}") for key, value in nodes.items() if key in readers}
    return reader.made(node, shown, ClumpShape, {"name": name, "spheres": spheres, **given})


def _read_spheres(reader: Reader, node: yaml.Node, shown: str) -> tuple[tuple[Vector3, float], ...]:
    spheres = []
    for item in reader.items(node, shown):
        nodes = reader.mapping(item, f"{shown} sphere", SPHERE_KEYS)
        xyz, radius = (reader.required(nodes, key, item, f"{shown} sphere") for key in SPHERE_KEYS)
        spheres.append((reader.vector(xyz, f"{shown} xyz"), reader.size(radius, f"{shown} radius")))
    return tuple(spheres)


def _read_sink(reader: Reader, node: yaml.Node, name: str) -> GrainSink:
    shown = f"granular sink {name[:60]}"
    nodes = reader.mapping(node, shown, ("box", "xyz", "rpy_deg"))
    box = Box(reader.sizes(reader.required(nodes, "box", node, shown), f"{shown} box"))
    return reader.made(node, shown, GrainSink, {"name": name, "box": box, "pose": reader.pose(nodes, shown)})


def _read_vibration(reader: Reader, node: yaml.Node, name: str) -> ObstacleVibration:
    shown = f"granular vibration {name[:60]}"
    nodes = reader.mapping(node, shown, ("amplitude", "frequency", "phase_deg"))
    given: dict[str, Any] = {
        "obstacle": name,
        "amplitude": reader.vector(reader.required(nodes, "amplitude", node, shown), f"{shown} amplitude"),
        "frequency": reader.number(reader.required(nodes, "frequency", node, shown), f"{shown} frequency"),
    }
    if "phase_deg" in nodes:
        given["phase"] = math.radians(reader.number(nodes["phase_deg"], f"{shown} phase_deg"))
    return reader.made(node, shown, ObstacleVibration, given)


def _read_volume(reader: Reader, node: yaml.Node, shape: str, name: str) -> Box | Cylinder | Sphere | ClosedMesh:
    if shape == "box":
        return Box(reader.sizes(node, name))
    if shape == "sphere":
        return Sphere(reader.size(node, name))
    if shape == "mesh":
        return _read_mesh(reader, node, name)
    nodes = reader.mapping(node, name, ("radius", "length"))
    radius, length = (
        reader.size(reader.required(nodes, key, node, name), f"{name} {key}") for key in ("radius", "length")
    )
    return Cylinder(radius, length)


def _read_mesh(reader: Reader, node: yaml.Node, name: str) -> ClosedMesh:
    nodes = reader.mapping(node, name, ("file", "scale"))
    file = reader.required(nodes, "file", node, name)
    scale = reader.size(nodes["scale"], f"{name} scale") if "scale" in nodes else 1.0
    try:
        vertices, faces = triangles(reader.path(file, f"{name} file"), (scale, scale, scale))
    except MeshError as problem:
        raise reader.error(file, f"{name} file", str(problem)) from None
    return reader.made(file, name, ClosedMesh, {"vertices": vertices, "faces": faces})


def _read_radius(reader: Reader, node: yaml.Node, name: str) -> tuple[float, float]:
    if isinstance(node, yaml.SequenceNode):
        return reader.pair(node, name)
    radius = reader.size(node, name)
    return radius, radius
