"""Reads diagrams from YAML files; docs/function_blocks.md describes them."""

from pathlib import Path
from typing import Any

import yaml

from grouser.function_blocks.block import BlockError
from grouser.function_blocks.diagram import Diagram, Input, Wire, as_wire, place, read_unit
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text import numbers
from grouser.physics.description.text.yaml_reader import Reader, compose
from grouser.program import CommandProgram, load_program

_TOP_KEYS = ("cycle", "inputs", "blocks", "commands")
_INPUT_KEYS = ("default", "unit")
_PYTHON = ".py:"


def load_diagram(path: str | Path) -> Diagram:
    """Reads a diagram.

    Args:
        path: of the YAML file.

    Raises:
        MachineError: the file cannot be read or is no diagram; with file, line, block and what is valid. Whether it
            suits a machine is seen when it is run.
    """
    root = compose(Path(path), "function block diagram")
    if root is None:
        raise MachineError("the file is empty", file=path, remedy="give the path of a function block diagram")
    return _DiagramReader(str(path)).diagram(root)


def load_control_program(path: str | Path) -> CommandProgram | Diagram:
    """Reads a control program: a diagram, or timed commands; exceptions as of `load_diagram`."""
    root = compose(Path(path), "control program")
    keys = {key.value for key, _ in root.value} if isinstance(root, yaml.MappingNode) else set()
    return load_diagram(path) if keys & {"blocks", "cycle"} else load_program(path)


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
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, value in node.value:
                text = self.text(key, "key")
                if text in found:
                    raise self.error(key, "key", f"{text!r} is given twice", "keep one of them")
                found[text] = self._plain(value)
            return found
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(one) for one in node.value]
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
