"""Declarations of parameters: type, range, description, read-only flag."""

import math
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser.physics.base.errors import GrouserError


@dataclass(frozen=True)
class Declaration:
    """One ROS parameter.

    Attributes:
        default: its value when it is not set; also defines the type.
        description: what it means, with the unit.
        read_only: fixed while the node runs.
        lowest, highest: the valid range of a number.
        choices: the valid values of a text; empty: any.
    """

    default: Any
    description: str
    read_only: bool = True
    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()

    def descriptor(self) -> ParameterDescriptor:
        """The descriptor for ROS."""
        descriptor = ParameterDescriptor(description=self.description, read_only=self.read_only)
        if self.choices:
            descriptor.additional_constraints = f"one of {', '.join(choice or repr('') for choice in self.choices)}"
        if isinstance(self.default, bool):
            descriptor.type = ParameterType.PARAMETER_BOOL
        elif isinstance(self.default, int):
            descriptor.type = ParameterType.PARAMETER_INTEGER
            descriptor.integer_range = [IntegerRange(from_value=int(self.lowest), to_value=int(self.highest), step=0)]
        elif isinstance(self.default, float):
            descriptor.type = ParameterType.PARAMETER_DOUBLE
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=self.lowest, to_value=self.highest, step=0.0)
            ]
        elif isinstance(self.default, str):
            descriptor.type = ParameterType.PARAMETER_STRING
        elif isinstance(self.default[0], float):
            descriptor.type = ParameterType.PARAMETER_DOUBLE_ARRAY
        else:
            descriptor.type = ParameterType.PARAMETER_STRING_ARRAY
        return descriptor


def stamped_by_default() -> bool:
    """Whether the sourced ROS distribution is Kilted or later; distributions are in alphabetical order."""
    return os.environ.get("ROS_DISTRO", "") >= "kilted"


def declare(node: Node, declarations: Mapping[str, Declaration]) -> dict[str, Any]:
    """Declares parameters on any node and returns their values by name.

    Raises:
        GrouserError: a parameter was set to a value of the wrong type, or out of its range.
    """
    if any(
        declaration.choices for declaration in declarations.values()
    ):  # parameters of robots, which can be removed, have none
        node.add_on_set_parameters_callback(partial(_refuse_bad_choices, declarations))
    values = {}
    for name, declaration in declarations.items():
        default = list(declaration.default) if isinstance(declaration.default, tuple) else declaration.default
        try:
            values[name] = plain_value(node.declare_parameter(name, default, declaration.descriptor()).value)
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise GrouserError(f"parameter {name}: {error}; valid is {_valid(declaration)}") from error
    return values


def plain_value(value: Any) -> Any:
    """A parameter's value, lists as tuples without empty texts."""
    if value is None:  # an empty list in a file
        return ()
    return tuple(entry for entry in value if entry != "") if isinstance(value, list | array) else value


def _valid(declaration: Declaration) -> str:
    if isinstance(declaration.default, bool):
        return "true or false"
    if isinstance(declaration.default, int | float):
        kind = "an integer" if isinstance(declaration.default, int) else "a number with a decimal point"
        return f"{kind} from {declaration.lowest:g} to {declaration.highest:g}"
    if declaration.choices:
        return " or ".join(choice or "''" for choice in declaration.choices)
    if isinstance(declaration.default, str):
        return "a text"
    return "a list of numbers with a decimal point" if isinstance(declaration.default[0], float) else "a list of texts"


def _refuse_bad_choices(declarations: Mapping[str, Declaration], parameters: list[Parameter]) -> SetParametersResult:
    """Refuses texts that are not among the choices."""
    for parameter in parameters:
        declaration = declarations.get(parameter.name)
        if declaration is not None and declaration.choices and parameter.value not in declaration.choices:
            return SetParametersResult(successful=False, reason=f"{parameter.name} must be {_valid(declaration)}")
    return SetParametersResult(successful=True)
