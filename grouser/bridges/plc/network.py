"""Hosts, ports and roles in mapping files."""

from dataclasses import dataclass
from typing import Literal

import yaml

from grouser.bridges.mapping.checks import is_local, require_local
from grouser.physics.description.text.yaml_reader import Reader

Role = Literal["server", "client"]
ENDPOINT_KEYS = ("role", "host", "port", "open")
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, or where the server of a client is.

    Attributes:
        role: of this side.
        host: name or address, of IPv6 without brackets.
        port: of TCP.
    """

    role: Role
    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this computer can reach it."""
        return is_local(self.host)


def read_endpoint(reader: Reader, nodes: dict[str, yaml.Node], node: yaml.Node, port: int) -> Endpoint:
    """Reads `role`, `host`, `port` and `open` of an interface.

    Args:
        reader: of the file.
        nodes: values of the interface by key.
        node: the interface.
        port: default.

    Raises:
        MachineError: a host that is not loopback without `open: true`.
    """
    role = read_role(reader, nodes, node)
    host = reader.text(nodes["host"], "host").strip("[]") if "host" in nodes else LOOPBACK
    opened = "open" in nodes and reader.boolean(nodes["open"], "open")
    require_local(reader, nodes.get("host", node), host, opened)
    return Endpoint(role, host, whole_number(reader, nodes["port"], "port", 1, 65535) if "port" in nodes else port)


def read_role(reader: Reader, nodes: dict[str, yaml.Node], node: yaml.Node) -> Role:
    """Reads `role`."""
    role = reader.choice(reader.required(nodes, "role", node, "interface"), "role", ("server", "client"))
    return "server" if role == "server" else "client"


def whole_number(reader: Reader, node: yaml.Node, name: str, low: int, high: int) -> int:
    """Reads a whole number from `low` to `high`."""
    value = reader.number(node, name, low, high)
    if value != int(value):
        raise reader.error(node, name, f"{value:g} is not a whole number", f"valid: {low} to {high}")
    return int(value)
