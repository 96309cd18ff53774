"""Reads diagrams from YAML files; docs/function_blocks.md describes them."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from grouser.function_blocks.block import BlockError
from grouser.function_blocks.diagram import Diagram, Input, Wire, as_wire, place, read_unit
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text import numbers
from grouser.physics.description.text.files import read_text
from grouser.physics.description.text.yaml_reader import BYTES_MAX, Reader, compose_text
from grouser.program import CommandProgram, parse_program

_TOP_KEYS = ("cycle", "inputs", "blocks", "commands")
_INPUT_KEYS = ("default", "unit")
_PYTHON = ".py:"
_WHAT = "function block diagram"
_DEPTH_MAX, _PARTS_MAX = 20, 100_000


def load_diagram(path: str | Path) -> Diagram:
    """Reads a diagram.

    Args:
        path: of the YAML file.

    Raises:
        MachineError: the file cannot be read or is no diagram; with file, line, block and what is valid. Whether it
            suits a machine is seen when it is run.
    """
    text = read_text(Path(path), BYTES_MAX, _WHAT)
    return _diagram(compose_text(text, str(path), _WHAT), text, str(path))


def load_control_program(path: str | Path) -> CommandProgram | Diagram:
    """Reads a control program: a diagram, or timed commands; exceptions as of `load_diagram`."""
    return parse_control_program(read_text(Path(path), BYTES_MAX, "control program"), str(path))


def parse_control_program(text: str, file: str) -> CommandProgram | Diagram:
    """Reads what a file of a control program holds; `file` is for messages, and functions are beside it."""
    root = compose_text(text, file, "control program")
    keys = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    return _diagram(root, text, file) if keys & {"blocks", "cycle"} else parse_program(text, file)


def _diagram(root: yaml.Node | None, text: str, file: str) -> Diagram:
    if root is None:
        raise MachineError("the file is empty", file=file, remedy="give the path of a function block diagram")
    diagram = _DiagramReader(file).diagram(root)
    diagram.source = text
    return diagram


class _DiagramReader(Reader):
    def diagram(self, root: yaml.Node) -> Diagram:
        name = "function block diagram"
        nodes = self.mapping(root, name, _TOP_KEYS)
        cycle = self.required(nodes, "cycle", root, name)
        try:
            diagram = Diagram(self.number(cycle, "cycle"), file=self.file)
        except ParameterError as error:
            raise self.error(cycle, "cycle", str(error)) from None
        for one, node in self.entries(nodes["inputs"], "inputs") if "inputs" in nodes else []:
            diagram.inputs[one] = self._input(one, node)
        for one, node in self.entries(self.required(nodes, "blocks", root, name), "blocks"):
            self._add(diagram, one, node)
        for one, node in self.entries(self.required(nodes, "commands", root, name), "commands"):
            diagram.commands[one] = self._wire(one, node)
            diagram.lines[one] = node.start_mark.line + 1
        return diagram

    def _input(self, name: str, node: yaml.Node) -> Input:
        parts = self.mapping(node, f"input {name}", _INPUT_KEYS)
        default = self._plain(self.required(parts, "default", node, f"input {name}"))
        if not isinstance(default, bool | float):
            raise self.error(node, f"input {name}", f"default is {default!r}; valid is a number, or true or false")
        unit = self.text(parts["unit"], f"input {name}") if "unit" in parts else "-"
        try:
            read_unit(unit)
        except BlockError as error:
            raise self.error(parts["unit"], f"input {name}", str(error)) from None
        return Input(default, unit)

    def _add(self, diagram: Diagram, name: str, node: yaml.Node) -> None:
        element = f"block {name}"
        content = self._plain(node)
        if not isinstance(content, dict):
            raise self.error(node, element, "a mapping is needed", f"write {name}: {{type: TON, IN: ..., PT: 2.0}}")
        kind, wires = content.pop("type", None), content.pop("in", {})
        if kind is None:
            raise self.error(node, element, "key 'type' is missing", "add type: ...")
        if not isinstance(wires, dict):
            raise self.error(node, element, "in is no mapping", "write in: {start: input.start}")
        if isinstance(function := content.get("function"), str) and _PYTHON in function:
            content["function"] = str(Path(self.file).parent / function)
            diagram.functions.append(content["function"].rpartition(":")[0])
        try:
            diagram.place(name, place(str(kind), wires, content))
        except BlockError as error:
            raise self.error(node, element, str(error), error.remedy) from error
        except ParameterError as error:
            raise self.error(node, element, str(error)) from None
        diagram.lines[name] = node.start_mark.line + 1

    def _wire(self, name: str, node: yaml.Node) -> Wire:
        try:
            return as_wire(self._plain(node))
        except BlockError as error:
            raise self.error(node, f"command {name}", str(error), error.remedy) from None

    def _plain(self, node: yaml.Node) -> Any:
        """What a node holds. Keys are texts, and only true and false are truths: a state may be called off."""
        return self._part(node, itertools.count())

    def _part(self, node: yaml.Node, parts: Iterator[int], depth: int = 0) -> Any:
        """What a part of a node holds. Anchors can make more of a node than the file has, and nodes without an end."""
        if depth > _DEPTH_MAX or next(parts) > _PARTS_MAX:
            valid = f"at most {_DEPTH_MAX} mappings and lists within another, and {_PARTS_MAX} parts"
            raise self.error(node, "value", f"it is too large; valid: {valid}", "write it without anchors")
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, value in node.value:
                text = self.text(key, "key")
                if text in found:
                    raise self.error(key, "key", f"{text!r} is given twice", "keep one of them")
                found[text] = self._part(value, parts, depth + 1)
            return found
        if isinstance(node, yaml.SequenceNode):
            return [self._part(one, parts, depth + 1) for one in node.value]
        assert isinstance(node, yaml.ScalarNode)
        text = str(node.value)
        if node.style is not None:
            return text
        if text in ("true", "false"):
            return text == "true"
        try:
            return numbers.number(text)
        except ValueError:
            return text
