"""World files: YAML to a `World`. Angles are in degrees here, and say so in their names."""

import math
from pathlib import Path

import yaml

from grouser.physics.description import numbers
from grouser.physics.description.machine import Ground, Pose, Vector3, World
from grouser.physics.description.names import closest, shortened
from grouser.physics.description.rotation import quaternion_from_rpy
from grouser.physics.description.source import read_text
from grouser.physics.errors import MachineError

_BYTES_MAX = 1_000_000
_NULLS = ("", "~", "null", "Null", "NULL")
_VALUE_MAX = 1e9
_SMALLEST_RISE = 1e-3  # least |z| of the unit normal: the ground needs a height below every point


class _Reader:
    """Reads values from YAML nodes, which know their lines."""

    def __init__(self, file: str):
        self.file = file

    def error(self, node: yaml.Node, name: str, problem: str, remedy: str | None = None) -> MachineError:
        return MachineError(problem, file=self.file, line=node.start_mark.line + 1, element=name, remedy=remedy)

    def mapping(self, node: yaml.Node, name: str, valid: tuple[str, ...]) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, name, "a mapping is needed", f"give some of {', '.join(valid)}")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value not in valid:
                written = key.value if isinstance(key, yaml.ScalarNode) else key.tag
                raise self.error(key, name, f"unknown key {shortened(written)}", closest(written, valid))
            if key.value in found:
                raise self.error(key, name, f"key '{key.value}' is given twice", "keep one of them")
            found[key.value] = value
        return found

    def number(self, node: yaml.Node, name: str, low: float = -_VALUE_MAX, high: float = _VALUE_MAX) -> float:
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, name, "a number is needed")
        try:
            value = numbers.number(node.value)
        except ValueError as problem:
            raise self.error(node, name, f"{shortened(node.value)} is {problem}") from None
        if not low <= value <= high:
            raise self.error(node, name, f"{value:g} is out of range; valid: {low:g} to {high:g}")
        return value

    def vector(self, node: yaml.Node, name: str) -> Vector3:
        if not isinstance(node, yaml.SequenceNode) or len(node.value) != 3:
            raise self.error(node, name, "a list of three numbers is needed", "write [x, y, z]")
        x, y, z = (self.number(item, name) for item in node.value)
        return (x, y, z)


def load_world(path: str | Path | None = None) -> World:
    """Loads a world file.

    Args:
        path: a YAML file with the keys name, gravity, ground, spawn, all optional; None gives the flat default world.

    Returns:
        The world, checked.

    Raises:
        MachineError: the file cannot be read, or says something that is not valid.
    """
    if path is None:
        return World()
    path = Path(path)
    text = read_text(path, _BYTES_MAX, "world")
    file = str(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise MachineError(f"not valid YAML: {error.problem or error.context}", file=file, line=line) from None
    except yaml.YAMLError as error:
        raise MachineError(f"not valid YAML: {str(error).splitlines()[0]}", file=file) from None
    except RecursionError:
        raise MachineError("its YAML is nested too deeply", file=file, remedy="is it a world file?") from None
    if root is None:
        return World(name=path.stem)
    return _read_world(_Reader(file), root, path.stem)


def _read_world(reader: _Reader, root: yaml.Node, stem: str) -> World:
    nodes = reader.mapping(root, "world", ("name", "gravity", "ground", "spawn"))
    default = World()
    name = stem
    if "name" in nodes:
        if not isinstance(nodes["name"], yaml.ScalarNode) or not nodes["name"].value.strip():
            raise reader.error(nodes["name"], "name", "a name is needed")
        name = nodes["name"].value
    return World(
        name=name,
        gravity=_read_gravity(reader, nodes["gravity"]) if "gravity" in nodes else default.gravity,
        ground=_read_ground(reader, nodes["ground"]) if "ground" in nodes else default.ground,
        spawn=_read_spawn(reader, nodes["spawn"]) if "spawn" in nodes else default.spawn,
    )


def _read_gravity(reader: _Reader, node: yaml.Node) -> Vector3:
    if isinstance(node, yaml.SequenceNode):
        return reader.vector(node, "gravity")
    down = reader.number(node, "gravity", low=0.0)
    return (0.0, 0.0, -down if down else 0.0)


def _read_ground(reader: _Reader, node: yaml.Node) -> Ground | None:
    if isinstance(node, yaml.ScalarNode) and node.style is None and node.value in _NULLS:
        return None
    nodes = reader.mapping(node, "ground", ("height", "point", "normal", "friction", "restitution"))
    default = Ground()
    point, normal = default.point, default.normal
    if "height" in nodes and "point" in nodes:
        raise reader.error(nodes["point"], "ground", "height and point both place the ground", "keep one of them")
    if "height" in nodes:
        point = (0.0, 0.0, reader.number(nodes["height"], "ground height"))
    if "point" in nodes:
        point = reader.vector(nodes["point"], "ground point")
    if "normal" in nodes:
        x, y, z = reader.vector(nodes["normal"], "ground normal")
        length = math.hypot(x, y, z)
        if length < 1e-9:
            raise reader.error(nodes["normal"], "ground normal", "it has no direction", "give a vector of length one")
        normal = (x / length, y / length, z / length)
        if abs(normal[2]) < _SMALLEST_RISE:
            raise reader.error(
                nodes["normal"],
                "ground normal",
                f"[{x:g}, {y:g}, {z:g}] makes the ground a vertical wall",
                "give a normal that points up, such as [0, 0, 1]",
            )
    friction, restitution = default.friction, default.restitution
    if "friction" in nodes:
        friction = reader.number(nodes["friction"], "ground friction", low=0.0, high=100.0)
    if "restitution" in nodes:
        restitution = reader.number(nodes["restitution"], "ground restitution", low=0.0, high=1.0)
    return Ground(point, normal, friction, restitution)


def _read_spawn(reader: _Reader, node: yaml.Node) -> Pose:
    nodes = reader.mapping(node, "spawn", ("xyz", "rpy_deg"))
    position = reader.vector(nodes["xyz"], "spawn xyz") if "xyz" in nodes else (0.0, 0.0, 0.0)
    if "rpy_deg" not in nodes:
        return Pose(position)
    roll, pitch, yaw = (math.radians(angle) for angle in reader.vector(nodes["rpy_deg"], "spawn rpy_deg"))
    return Pose(position, quaternion_from_rpy(roll, pitch, yaw))
