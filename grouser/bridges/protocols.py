"""The kinds of bridges: the only list of protocols. A kind's modules are imported when it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import yaml

from grouser.bridges.mapping.data import BridgeMapping, Direction, Field
from grouser.bridges.transport import Transport
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.yaml_reader import Reader


class Schema(Protocol):
    """What a protocol reads from a mapping file: the module of a kind has such functions.

    Each reads a node by the methods of `Reader` and refuses by `raise reader.error(node, name, problem, remedy)`.
    """

    def read_interface(self, reader: Reader, node: yaml.Node) -> Any:
        """Reads `interface`: an empty mapping node where the file has none."""

    def read_address(self, reader: Reader, node: yaml.Node, direction: Direction, interface: Any) -> Any:
        """Reads `source` or `target` of a message: an empty mapping node where the file has none."""

    def read_field(self, reader: Reader, node: yaml.Node, direction: Direction, address: Any, interface: Any) -> Field:
        """Reads `source` or `target` of a signal."""

    def check(self, mapping: BridgeMapping) -> None:
        """Refuses what only the whole shows: overlapping registers, writes outside `writable`.

        Raises:
            MachineError: with `mapping.file` and the `line` of a message or signal.
        """


@dataclass(frozen=True)
class Kind:
    """A kind of bridge.

    Attributes:
        schema: module with the functions of `Schema`.
        transport: module with ``make_transport(mapping: BridgeMapping) -> Transport``.
        extra: of `pip install "grouser[extra]"`, that brings what these modules import.
        program: of the node: ``can_bridge``.
    """

    schema: str
    transport: str
    extra: str
    program: str


KINDS: dict[str, Kind] = {
    "joystick": Kind(
        "grouser.bridges.joystick.schema", "grouser.bridges.joystick.transport", "joystick", "joystick_bridge"
    ),
    "can": Kind("grouser.bridges.can.schema", "grouser.bridges.can.transport", "can", "can_bridge"),
    "serial": Kind("grouser.bridges.serial.schema", "grouser.bridges.serial.transport", "serial", "serial_bridge"),
    "udp": Kind("grouser.bridges.serial.schema", "grouser.bridges.serial.transport", "serial", "serial_bridge"),
    "modbus": Kind("grouser.bridges.plc.modbus_schema", "grouser.bridges.plc.modbus_transport", "plc", "plc_bridge"),
    "opcua": Kind("grouser.bridges.plc.opcua_schema", "grouser.bridges.plc.opcua_transport", "plc", "plc_bridge"),
    "fmu": Kind("grouser.bridges.fmu.schema", "grouser.bridges.fmu.transport", "fmi", "fmu_bridge"),
}


def programs() -> list[str]:
    """Returns the names of the nodes' programs."""
    return sorted({kind.program for kind in KINDS.values()})


def schema_of(bridge: str) -> Schema:
    """Returns the schema of a kind.

    Raises:
        ParameterError: a package is not installed; names it and the remedy.
    """
    module: Any = _imported(bridge, KINDS[bridge].schema)
    return module


def transport_of(mapping: BridgeMapping) -> Transport:
    """Makes the transport of a mapping; it is not open.

    Raises:
        ParameterError: a package is not installed; names it and the remedy.
    """
    make: Callable[[BridgeMapping], Transport] = _imported(
        mapping.bridge, KINDS[mapping.bridge].transport
    ).make_transport
    return make(mapping)


def _imported(bridge: str, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "grouser":
            raise
        raise ParameterError(
            f"bridge {bridge}",
            f"without the Python package {package}",
            f'after pip install "grouser[{KINDS[bridge].extra}]"',
        ) from None
