"""Values from YAML nodes, with line numbers for messages."""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from grouser.physics.base.checks import SIZE_MAX, VALUE_MAX
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.data.world import FRICTION_MAX
from grouser.physics.description.text import numbers
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.packages import Packages

BYTES_MAX = 1_000_000
_NULLS = ("", "~", "null", "Null", "NULL")


def compose(path: Path, what: str = "world") -> yaml.Node | None:
    """Returns the root node of a YAML file, None for an empty one.

    Args:
        path: the file.
        what: kind of file, for messages.

    Raises:
        MachineError: the file cannot be read, or is not YAML.
    """
    return compose_text(read_text(path, BYTES_MAX, what), str(path), what)


def compose_text(text: str, file: str, what: str = "world") -> yaml.Node | None:
    """Returns the root node of the text of a YAML file; see `compose`."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise MachineError(f"not valid YAML: {error.problem or error.context}", file=file, line=line) from None
    except yaml.YAMLError as error:
        raise MachineError(f"not valid YAML: {str(error).splitlines()[0]}", file=file) from None
    except RecursionError:
        raise MachineError("its YAML is nested too deeply", file=file, remedy=f"is it a {what} file?") from None


class PlainLoader(yaml.SafeLoader):
    """YAML in which 1e-3 is a number; YAML 1.1 reads it as a string, because its mantissa has no point."""


PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[+-]?(?:[0-9]+\.?|\.[0-9]+)[eE][+-]?[0-9]+$"), list("+-.0123456789")
)


class Reader:
    """Reads values from the nodes of one file; `name` is the name of a node in messages."""

    def __init__(self, file: str):
        self.file = file
        self.files: list[str] = []  # files that this one refers to

    def error(self, node: yaml.Node, name: str, problem: str, remedy: str | None = None) -> MachineError:
        """Returns a `MachineError` with the file and the line of a node."""
        return MachineError(problem, file=self.file, line=node.start_mark.line + 1, element=name, remedy=remedy)

    def is_null(self, node: yaml.Node) -> bool:
        """Returns whether a node is null."""
        return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in _NULLS

    def mapping(self, node: yaml.Node, name: str, valid: tuple[str, ...]) -> dict[str, yaml.Node]:
        """Returns the values of a mapping by key; all keys must be in `valid`."""
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

    def entries(self, node: yaml.Node, name: str) -> list[tuple[str, yaml.Node]]:
        """Returns the keys and values of a mapping with free keys and at least one entry."""
        if not isinstance(node, yaml.MappingNode) or not node.value:
            raise self.error(node, name, "a mapping is needed", "give name: value")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            text = self.text(key, name)
            if text in found:
                raise self.error(key, name, f"key {shortened(text)} is given twice", "keep one of them")
            found[text] = value
        return list(found.items())

    def items(self, node: yaml.Node, name: str) -> list[yaml.Node]:
        """Returns the nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, name, "a list is needed", "begin each entry with '- '")
        return list(node.value)

    def required(self, nodes: dict[str, yaml.Node], key: str, node: yaml.Node, name: str) -> yaml.Node:
        """Returns the value of a required key of the mapping `node`."""
        if key not in nodes:
            raise self.error(node, name, f"key '{key}' is missing", f"add {key}: ...")
        return nodes[key]

    def plain(self, node: yaml.Node, name: str) -> Any:
        """Returns any value in plain types: numbers, texts, truth values, lists and mappings of them."""
        try:
            value = yaml.load(yaml.serialize(node), PlainLoader)
        except (yaml.YAMLError, ValueError, RecursionError) as problem:
            raise self.error(node, name, f"cannot be read: {str(problem).splitlines()[0]}") from None
        return value

    def text(self, node: yaml.Node, name: str) -> str:
        """Returns a non-empty text."""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self.error(node, name, "a name is needed")
        return node.value

    def choice(self, node: yaml.Node, name: str, valid: tuple[str, ...]) -> str:
        """Returns one of the words in `valid`."""
        text = self.text(node, name)
        if text not in valid:
            raise self.error(node, name, f"{shortened(text)} is not valid", closest(text, valid))
        return text

    def boolean(self, node: yaml.Node, name: str) -> bool:
        """Returns a boolean."""
        try:
            return numbers.boolean(self.text(node, name))
        except ValueError as problem:
            raise self.error(node, name, f"{shortened(self.text(node, name))} is {problem}") from None

    def path(self, node: yaml.Node, name: str) -> Path:
        """Returns the path of a file name; relative ones start at the directory of the YAML file."""
        text = self.text(node, name)
        try:
            path = Packages(self.file).resolve(text)
        except LookupError as problem:
            raise self.error(node, name, f"{shortened(text)}: {problem.args[0]}", "check the file name") from None
        self.files.append(str(path))
        return path

    def number(self, node: yaml.Node, name: str, low: float = -VALUE_MAX, high: float = VALUE_MAX) -> float:
        """Returns a number from `low` to `high`."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, name, "a number is needed")
        try:
            value = numbers.number(node.value)
        except ValueError as problem:
            raise self.error(node, name, f"{shortened(node.value)} is {problem}") from None
        if not low <= value <= high:
            raise self.error(node, name, f"{value:g} is out of range; valid: {low:g} to {high:g}")
        return value

    def friction(self, node: yaml.Node, name: str) -> float:
        """Returns a friction coefficient [-]."""
        return self.number(node, name, low=0.0, high=FRICTION_MAX)

    def restitution(self, node: yaml.Node, name: str) -> float:
        """Returns a coefficient of restitution [-]."""
        return self.number(node, name, low=0.0, high=1.0)

    def pose(self, nodes: dict[str, yaml.Node], name: str) -> Pose:
        """Returns the pose that the keys xyz [m] and rpy_deg give; the identity without them."""
        position = self.vector(nodes["xyz"], f"{name} xyz") if "xyz" in nodes else (0.0, 0.0, 0.0)
        if "rpy_deg" not in nodes:
            return Pose(position)
        roll, pitch, yaw = (math.radians(angle) for angle in self.vector(nodes["rpy_deg"], f"{name} rpy_deg"))
        return Pose(position, quaternion_from_rpy(roll, pitch, yaw))

    def size(self, node: yaml.Node, name: str) -> float:
        """Returns a length above zero [m]."""
        value = self.number(node, name)
        if not 0.0 < value <= SIZE_MAX:
            raise self.error(node, name, f"{value:g} is out of range; valid: above 0, at most {SIZE_MAX:g} m")
        return value

    def whole(self, node: yaml.Node, name: str, most: int) -> int:
        """Returns a whole number from 0 to the most."""
        value = self.number(node, name, 0.0, float(most))
        if value != int(value):
            raise self.error(node, name, f"{value:g} is not a whole number")
        return int(value)

    def made(self, node: yaml.Node, name: str, kind: type, given: dict[str, Any]) -> Any:
        """Returns a value of a type, made of keyword arguments; its own complaint becomes one with file and line."""
        try:
            return kind(**given)
        except ParameterError as problem:
            raise self.error(node, name, f"{problem.name} is {problem.value}; valid: {problem.valid}") from None

    def vector(self, node: yaml.Node, name: str) -> Vector3:
        """Returns three numbers."""
        x, y, z = (self.number(item, name) for item in self._numbers(node, name, 3, "[x, y, z]"))
        return (x, y, z)

    def sizes(self, node: yaml.Node, name: str) -> Vector3:
        """Returns three lengths above zero [m]."""
        x, y, z = (self.size(item, name) for item in self._numbers(node, name, 3, "[x, y, z]"))
        return (x, y, z)

    def pair(self, node: yaml.Node, name: str) -> tuple[float, float]:
        """Returns two numbers."""
        x, y = (self.number(item, name) for item in self._numbers(node, name, 2, "[x, y]"))
        return (x, y)

    def inertia(self, node: yaml.Node, name: str) -> tuple[float, ...]:
        """Returns the six numbers of a symmetric tensor."""
        written = "[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]"
        return tuple(self.number(item, name) for item in self._numbers(node, name, 6, written))

    def _numbers(self, node: yaml.Node, name: str, count: int, written: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode) or len(node.value) != count:
            word = {2: "two", 3: "three", 6: "six"}[count]
            raise self.error(node, name, f"a list of {word} numbers is needed", f"write {written}")
        return list(node.value)
