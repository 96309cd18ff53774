"""World files: YAML to a `World`. Angles are in degrees, and their keys end in _deg."""

import math
from dataclasses import replace
from pathlib import Path

import yaml

from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import (
    ALTITUDE_MAX,
    EDGES,
    RESOLVED,
    SMALLEST_RISE,
    GeodeticOrigin,
    Ground,
    NamedPose,
    World,
    unresolved_radius,
)
from grouser.physics.description.soils.reader import read_soil
from grouser.physics.description.text.files import read_text, require_path
from grouser.physics.description.text.yaml_reader import BYTES_MAX, Reader, compose_text
from grouser.physics.description.world.blocks import read_blocks
from grouser.physics.description.world.grains import read_grains
from grouser.physics.description.world.ground_edge import edge_walls, has_edge
from grouser.physics.description.world.heightfield import read_heightfield
from grouser.physics.description.world.obstacles import read_obstacles

SPAWN = "spawn"  # name of the initial pose
_PLANE = ("height", "point", "normal")
_KEYS = (*_PLANE, "heightfield", "friction", "restitution", "material", "edge", "soil")
_WORLD_KEYS = (
    "name",
    "description",
    "tags",
    "gravity",
    "ground",
    "obstacles",
    SPAWN,
    "poses",
    "geodetic_origin",
    "granular",
    "blocks",
)
_GEODETIC_KEYS = {"latitude": 90.0, "longitude": 180.0, "altitude": ALTITUDE_MAX, "yaw_deg": 360.0}
_POSE_KEYS = ("xyz", "rpy_deg", "description", "tags")
_SOIL_SLOPE_MAX = 45.0  # degrees
_EDGE_REMEDY = "give a heightfield or a soil map, or remove the edge"


def load_world(path: str | Path | None = None) -> World:
    """Loads a world file.

    Args:
        path: a YAML file with the keys name, description, tags, gravity, ground, obstacles, spawn, poses,
            geodetic_origin, granular, blocks, all optional; None gives the flat default world.

    Returns:
        The world, checked.

    Raises:
        MachineError: the file cannot be read or is invalid.
    """
    if path is None:
        return World()
    path = require_path("path", path, "the path of a world file")
    return parse_world(read_text(path, BYTES_MAX, "world"), str(path))


def parse_world(text: str, file: str) -> World:
    """Reads a world from the text of its file.

    Args:
        text: YAML.
        file: path, for messages; relative file names start at its directory.

    Raises:
        MachineError: the text is invalid.
    """
    return replace(_read_world(compose_text(text, file), file), file=file, source=text)


def _read_world(root: yaml.Node | None, file: str) -> World:
    stem = Path(file).stem
    if root is None:
        return World(name=stem)
    reader = Reader(file)
    nodes = reader.mapping(root, "world", _WORLD_KEYS)
    default = World()
    ground = _read_ground(reader, nodes["ground"]) if "ground" in nodes else default.ground
    granular = read_grains(reader, nodes["granular"]) if "granular" in nodes else None
    if granular is not None and (radius := unresolved_radius(ground, granular)) is not None:
        problem = f"the radius {radius:g} m is not {RESOLVED}"
        raise reader.error(nodes["granular"], "radius of grains", problem)
    if "blocks" in nodes and ground is not None and ground.soil is not None:
        problem, remedy = "blocks do not meet soft ground", "let blocks stand on rigid ground"
        raise reader.error(nodes["blocks"], "blocks", problem, remedy)
    world = World(
        name=reader.text(nodes["name"], "name") if "name" in nodes else stem,
        gravity=_read_gravity(reader, nodes["gravity"]) if "gravity" in nodes else default.gravity,
        ground=ground,
        obstacles=read_obstacles(reader, nodes["obstacles"]) if "obstacles" in nodes else default.obstacles,
        spawn=_read_spawn(reader, nodes[SPAWN]) if SPAWN in nodes else default.spawn,
        files=tuple(reader.files),
        description=reader.text(nodes["description"], "description") if "description" in nodes else default.description,
        tags=_read_tags(reader, nodes["tags"], "tags") if "tags" in nodes else default.tags,
        poses=_read_poses(reader, nodes["poses"]) if "poses" in nodes else default.poses,
        geodetic_origin=_read_geodetic_origin(reader, nodes["geodetic_origin"]) if "geodetic_origin" in nodes else None,
        granular=granular,
        blocks=read_blocks(reader, nodes["blocks"]) if "blocks" in nodes else None,
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
    """The contact models of soil assume moderate slopes."""
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
    if abs(normal[2]) < SMALLEST_RISE:
        raise reader.error(
            node,
            "ground normal",
            f"[{x:g}, {y:g}, {z:g}] makes the ground a vertical wall",
            "give a normal that points up, such as [0, 0, 1]",
        )
    return normal


def _read_spawn(reader: Reader, node: yaml.Node) -> Pose:
    return reader.pose(reader.mapping(node, SPAWN, ("xyz", "rpy_deg")), SPAWN)


def _read_poses(reader: Reader, node: yaml.Node) -> tuple[NamedPose, ...]:
    poses = []
    for name, value in reader.entries(node, "poses"):
        if name == SPAWN:
            raise reader.error(value, name, "this name is reserved for the initial pose", "rename the pose")
        nodes = reader.mapping(value, name[:80], _POSE_KEYS)
        poses.append(
            NamedPose(
                name,
                reader.pose(nodes, name[:80]),
                reader.text(nodes["description"], f"{name[:80]} description") if "description" in nodes else "",
                _read_tags(reader, nodes["tags"], f"{name[:80]} tags") if "tags" in nodes else (),
            )
        )
    return tuple(poses)


def _read_geodetic_origin(reader: Reader, node: yaml.Node) -> GeodeticOrigin:
    name = "geodetic_origin"
    nodes = reader.mapping(node, name, tuple(_GEODETIC_KEYS))
    for key in ("latitude", "longitude"):
        reader.required(nodes, key, node, name)
    return GeodeticOrigin(
        **{
            key: reader.number(value, f"{name} {key}", -limit, limit)
            for key, limit in _GEODETIC_KEYS.items()
            if (value := nodes.get(key)) is not None
        }
    )


def _read_tags(reader: Reader, node: yaml.Node, name: str) -> tuple[str, ...]:
    return tuple(reader.text(item, name) for item in reader.items(node, name))
