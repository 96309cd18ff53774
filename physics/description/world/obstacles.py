"""Obstacles of a world file."""

import yaml

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from grouser.physics.description.data.world import Obstacle
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.yaml_reader import SIZE_MAX, Reader
from grouser.physics.description.urdf import meshes

_SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
KEYS = ("name", *_SHAPES, "xyz", "rpy_deg", "friction", "restitution", "material")


def read_obstacles(reader: Reader, node: yaml.Node) -> tuple[Obstacle, ...]:
    """Returns the obstacles of a world file; the default name is the place in the list.

    Raises:
        MachineError: a key is missing or wrong, or a name is repeated.
    """
    obstacles: dict[str, Obstacle] = {}
    for number, item in enumerate(reader.items(node, "obstacles"), start=1):
        obstacle = _read_obstacle(reader, item, f"obstacle_{number}")
        if obstacle.name in obstacles:
            raise reader.error(item, obstacle.name[:80], "there is already an obstacle of this name", "rename one")
        obstacles[obstacle.name] = obstacle
    return tuple(obstacles.values())


def _read_obstacle(reader: Reader, node: yaml.Node, default_name: str) -> Obstacle:
    nodes = reader.mapping(node, default_name, KEYS)
    name = reader.text(nodes["name"], default_name) if "name" in nodes else default_name
    shown = name[:80]
    shapes = [key for key in _SHAPES if key in nodes]
    if len(shapes) != 1:
        problem = f"it has {len(shapes)} shapes ({', '.join(shapes)})" if shapes else "it has no shape"
        raise reader.error(node, shown, f"{problem}; one is needed", f"give one of {', '.join(_SHAPES)}")
    geometry = _read_geometry(reader, nodes[shapes[0]], shapes[0], f"{shown} {shapes[0]}")
    surface = {}
    if "friction" in nodes:
        surface["friction"] = reader.friction(nodes["friction"], f"{shown} friction")
    if "restitution" in nodes:
        surface["restitution"] = reader.restitution(nodes["restitution"], f"{shown} restitution")
    material = reader.text(nodes["material"], f"{shown} material") if "material" in nodes else Obstacle.material
    return Obstacle(name, geometry, reader.pose(nodes, shown), material=material, **surface)


def _read_geometry(reader: Reader, node: yaml.Node, shape: str, name: str) -> Geometry:
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
    return Cylinder(radius, length) if shape == "cylinder" else Capsule(radius, length)


def _read_mesh(reader: Reader, node: yaml.Node, name: str) -> Mesh:
    nodes = reader.mapping(node, name, ("file", "scale"))
    file = reader.required(nodes, "file", node, name)
    scale = _read_scale(reader, nodes["scale"], f"{name} scale") if "scale" in nodes else (1.0, 1.0, 1.0)
    path = reader.path(file, f"{name} file")
    uri = reader.text(file, name)
    try:
        return Mesh(uri, str(path), scale, *meshes.convex_hull(path, scale))
    except meshes.MeshError as problem:
        raise reader.error(file, f"{name} file", f"{shortened(uri)}: {problem}", "check the file name") from None


def _read_scale(reader: Reader, node: yaml.Node, name: str) -> Vector3:
    if isinstance(node, yaml.ScalarNode):
        factor = reader.number(node, name)
        scale = (factor, factor, factor)
    else:
        scale = reader.vector(node, name)
    if any(not 0.0 < abs(factor) <= SIZE_MAX for factor in scale):
        raise reader.error(node, name, "it holds a factor that is zero or too large", "give factors other than zero")
    return scale
