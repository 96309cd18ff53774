"""What a bridge to an FMU reads from a mapping file."""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from grouser.bridges.fmu.description import FmuDescription, FmuVariable, read_description
from grouser.bridges.mapping.data import BridgeMapping, Direction
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.yaml_reader import Reader

_CAUSALITY = {"in": "output", "out": "input"}  # what is in to the machine is an output of the FMU
_PARAMETERS = ("parameter",)
_DEADLINES = (0.001, 10.0)  # [s]
_START_DEADLINES = (0.1, 600.0)  # [s]
_ROUNDING = 1e-9
_WHOLE = ("Int32", "Int64")


@dataclass(frozen=True)
class FmuInterface:
    """What `interface` says.

    Attributes:
        fmu: its description; None: the mapping names the variables of a machine that goes out as an FMU.
        parameters: values before initialization, by name.
        deadline: longest wait for a step [s of wall time].
        start_deadline: longest wait for it to load and initialize [s of wall time].
    """

    fmu: FmuDescription | None
    parameters: Mapping[str, float]
    deadline: float
    start_deadline: float


def read_interface(reader: Reader, node: yaml.Node) -> FmuInterface:
    """Reads `interface`, and the description in the FMU that it names."""
    nodes = reader.mapping(node, "interface", ("fmu", "parameters", "deadline", "start_deadline"))
    if not nodes:
        return FmuInterface(None, {}, 0.0, 0.0)
    file = reader.required(nodes, "fmu", node, "interface")
    try:
        description = read_description(reader.path(file, "fmu"))
    except ValueError as problem:
        raise reader.error(file, "interface fmu", f"{shortened(reader.text(file, 'fmu'))}: {problem}") from None
    entries = reader.entries(nodes["parameters"], "parameters") if "parameters" in nodes else []
    parameters = {name: _read_parameter(reader, description, name, value) for name, value in entries}
    deadline = reader.number(nodes["deadline"], "deadline", *_DEADLINES) if "deadline" in nodes else 0.1
    start = (
        reader.number(nodes["start_deadline"], "start_deadline", *_START_DEADLINES)
        if "start_deadline" in nodes
        else 30.0
    )
    return FmuInterface(description, parameters, deadline, start)


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: FmuInterface) -> None:
    """Refuses what `source` or `target` of a message says: there is nothing to say."""
    reader.mapping(node, "message", ())


def read_field(
    reader: Reader, node: yaml.Node, direction: Direction, address: None, interface: FmuInterface
) -> FmuVariable:
    """Reads `source` or `target` of a signal: the name of a variable."""
    name = reader.text(node, "variable")
    if interface.fmu is None:
        return FmuVariable(name, "Float64", "input" if direction == "in" else "output", 0)
    causality = _CAUSALITY[direction]
    valid = [one.name for one in interface.fmu.variables.values() if one.causality == causality]
    if name in interface.fmu.unusable:
        raise reader.error(node, f"variable {name}", f"{interface.fmu.unusable[name]}", closest(name, valid))
    if name not in valid:
        raise reader.error(node, "variable", f"the FMU has no {causality} {shortened(name)}", closest(name, valid))
    return interface.fmu.variables[name]


def check(mapping: BridgeMapping) -> None:
    """Refuses anything but one message each way with one period, a step that the FMU can make.

    Raises:
        MachineError: names the messages and the periods.
    """
    fmu = mapping.interface.fmu
    if fmu is None:
        return
    into, out_of = mapping.incoming, mapping.outgoing
    if len(into) != 1 or len(out_of) != 1:
        raise MachineError(
            f"an FMU has one message in and one out, not {len(into)} and {len(out_of)}",
            file=mapping.file,
            line=mapping.messages[0].line,
            element="messages",
            remedy="put all signals of a direction into one message",
        )
    if into[0].period != out_of[0].period:
        problem = f"periods {out_of[0].period:g} and {into[0].period:g} s differ; both are the communication step"
        raise MachineError(problem, file=mapping.file, line=into[0].line, element=f"message {into[0].name}")
    only = fmu.fixed_step
    if only is not None and not fmu.has_variable_step:
        steps = into[0].period / only
        if abs(steps - round(steps)) > _ROUNDING * steps or steps < 1.0 - _ROUNDING:
            problem = (
                f"period {into[0].period:g} s is no multiple of the FMU's step; valid: {only:g} s and its multiples"
            )
            raise MachineError(problem, file=mapping.file, line=into[0].line, element=f"message {into[0].name}")


def _read_parameter(reader: Reader, description: FmuDescription, name: str, node: yaml.Node) -> float:
    valid = [one.name for one in description.variables.values() if one.causality in _PARAMETERS]
    if name not in valid:
        raise reader.error(node, "parameters", f"the FMU has no parameter {shortened(name)}", closest(name, valid))
    variable = description.variables[name]
    if variable.type == "Boolean" and reader.text(node, name) not in ("0", "1"):
        return float(reader.boolean(node, name))
    if variable.limits is None:
        return reader.number(node, name)
    value = reader.number(node, name, *variable.limits)
    if variable.type in _WHOLE and value != round(value):
        raise reader.error(node, name, f"{value:g} is not a whole number", f"the parameter is of type {variable.type}")
    return value
