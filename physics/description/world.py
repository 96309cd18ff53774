"""World files: YAML to a `World`. Angles are in degrees here, and say so in their names."""

import math
from dataclasses import replace
from pathlib import Path

import yaml

from grouser.physics.description.ground_edge import EDGES, edge_walls, has_edge
from grouser.physics.description.heightfield import read_heightfield
from grouser.physics.description.machine import Ground, Pose, Vector3, World
from grouser.physics.description.obstacles import read_obstacles
from grouser.physics.description.soil import SoilGround
from grouser.physics.description.soil_reader import read_soil
from grouser.physics.description.yaml_reader import Reader, compose

_PLANE = ("height", "point", "normal")
_KEYS = (*_PLANE, "heightfield", "friction", "restitution", "material", "edge", "soil")
_SMALLEST_RISE = 1e-3  # least |z| of the unit normal: the ground needs a height below every point
_SOIL_SLOPE_MAX = 45.0  # degrees
_EDGE_REMEDY = "give a heightfield or a soil map, or remove the edge"


def load_world(path: str | Path | None = None) -> World:
    """Loads a world file.

    Args:
        path: a YAML file with the keys name, gravity, ground, obstacles, spawn, all optional; None gives the flat
            default world.

    Returns:
        The world, checked.

    Raises:
        MachineError: the file cannot be read, or says something that is not valid.
    """
    if path is None:
        return World()
    path = Path(path)
    root = compose(path)
    if root is None:
        return World(name=path.stem)
    return _read_world(Reader(str(path)), root, path.stem)


def _read_world(reader: Reader, root: yaml.Node, stem: str) -> World:
    nodes = reader.mapping(root, "world", ("name", "gravity", "ground", "obstacles", "spawn"))
    default = World()
    world = World(
        name=reader.text(nodes["name"], "name") if "name" in nodes else stem,
        gravity=_read_gravity(reader, nodes["gravity"]) if "gravity" in nodes else default.gravity,
        ground=_read_ground(reader, nodes["ground"]) if "ground" in nodes else default.ground,
        obstacles=read_obstacles(reader, nodes["obstacles"]) if "obstacles" in nodes else default.obstacles,
        spawn=_read_spawn(reader, nodes["spawn"]) if "spawn" in nodes else default.spawn,
    )
    return _with_walls(reader, world, nodes)


def _with_walls(reader: Reader, world: World, nodes: dict[str, yaml.Node]) -> World:
    if world.ground is None or world.ground.edge != "wall":
        return world
    walls = edge_walls(world.ground)
    taken = {obstacle.name for obstacle in world.obstacles} & {wall.name for wall in walls}
    if taken:
        raise reader.error(
            nodes["obstacles"], min(taken), "the wall around the ground has this name", "rename the obstacle"
        )
    return replace(world, obstacles=(*world.obstacles, *walls))


def _read_gravity(reader: Reader, node: yaml.Node) -> Vector3:
    if isinstance(node, yaml.SequenceNode):
        return reader.vector(node, "gravity")
    down = reader.number(node, "gravity", low=0.0)
    return (0.0, 0.0, -down if down else 0.0)


def _read_ground(reader: Reader, node: yaml.Node) -> Ground | None:
    if reader.is_null(node):
        return None
    nodes = reader.mapping(node, "ground", _KEYS)
    default = Ground()
    if "heightfield" in nodes:
        for key in _PLANE:
            if key in nodes:
                raise reader.error(
                    nodes[key],
                    "ground",
                    f"{key} and heightfield both shape the ground",
                    "keep one of them; a height field has its own height",
                )
    ground = Ground(
        _read_point(reader, nodes),
        _read_normal(reader, nodes["normal"]) if "normal" in nodes else default.normal,
        reader.friction(nodes["friction"], "ground friction") if "friction" in nodes else default.friction,
        reader.restitution(nodes["restitution"], "ground restitution")
        if "restitution" in nodes
        else default.restitution,
        reader.text(nodes["material"], "ground material") if "material" in nodes else default.material,
        read_heightfield(reader, nodes["heightfield"]) if "heightfield" in nodes else None,
        reader.choice(nodes["edge"], "ground edge", EDGES) if "edge" in nodes else default.edge,
        _read_soil(reader, nodes) if "soil" in nodes else None,
    )
    if ground.edge == "wall" and not has_edge(ground):
        raise reader.error(nodes["edge"], "ground edge", "a plane without a map has no edge", _EDGE_REMEDY)
    if ground.soil is not None:
        _check_slope(reader, nodes.get("normal", nodes["soil"]), ground.normal)
    return ground


def _read_soil(reader: Reader, nodes: dict[str, yaml.Node]) -> SoilGround | None:
    return None if reader.is_null(nodes["soil"]) else read_soil(reader, nodes["soil"])


def _check_slope(reader: Reader, node: yaml.Node, normal: Vector3) -> None:
    """Soil is pressed from above, and runs down where it is steep."""
    slope = math.degrees(math.acos(min(max(normal[2], -1.0), 1.0)))
    if slope > _SOIL_SLOPE_MAX + 1e-9:
        raise reader.error(
            node, "ground normal", f"it makes a slope of {slope:.4g} degrees; with soil at most {_SOIL_SLOPE_MAX:g}"
        )


def _read_point(reader: Reader, nodes: dict[str, yaml.Node]) -> Vector3:
    if "height" in nodes and "point" in nodes:
        raise reader.error(nodes["point"], "ground", "height and point both place the ground", "keep one of them")
    if "height" in nodes:
        return (0.0, 0.0, reader.number(nodes["height"], "ground height"))
    return reader.vector(nodes["point"], "ground point") if "point" in nodes else (0.0, 0.0, 0.0)


def _read_normal(reader: Reader, node: yaml.Node) -> Vector3:
    x, y, z = reader.vector(node, "ground normal")
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise reader.error(node, "ground normal", "it has no direction", "give a vector of length one")
    normal = (x / length, y / length, z / length)
    if abs(normal[2]) < _SMALLEST_RISE:
        raise reader.error(
            node,
            "ground normal",
            f"[{x:g}, {y:g}, {z:g}] makes the ground a vertical wall",
            "give a normal that points up, such as [0, 0, 1]",
        )
    return normal


def _read_spawn(reader: Reader, node: yaml.Node) -> Pose:
    return reader.pose(reader.mapping(node, "spawn", ("xyz", "rpy_deg")), "spawn")
