"""What an OPC UA bridge reads from a mapping file."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from grouser.bridges.mapping.data import BridgeMapping, Direction, MessageMapping
from grouser.bridges.plc.network import ENDPOINT_KEYS, Endpoint, Role, read_endpoint
from grouser.bridges.plc.node_types import HEARTBEAT_TYPES, TYPES, NodeField
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.yaml_reader import Reader

PORT = 4840
_OWN = ("certificate", "private_key")
_SECURITY: dict[Role, tuple[str, ...]] = {
    "server": (*_OWN, "users", "trusted"),
    "client": (*_OWN, "server_certificate", "user", "password_file"),
}


@dataclass(frozen=True)
class Security:
    """Files of a secure connection: messages are signed and encrypted by Basic256Sha256.

    Attributes:
        certificate, private_key: of this side.
        users: of a server: names and hashed passwords (credentials.py).
        trusted: of a server: directory of the certificates of its clients; None: any client with a user.
        server_certificate: of a client: the only server that it talks to.
        user: of a client: its name on the server.
        password_file: of a client: a file with the password.
    """

    certificate: Path
    private_key: Path
    users: Path | None = None
    trusted: Path | None = None
    server_certificate: Path | None = None
    user: str = ""
    password_file: Path | None = None


@dataclass(frozen=True)
class OpcuaInterface:
    """What `interface` says.

    Attributes:
        line: where the server is.
        path: of its address, behind host and port.
        security: None: without, which is for this computer only.
    """

    line: Endpoint
    path: str
    security: Security | None

    @property
    def url(self) -> str:
        """Address of the server."""
        host = f"[{self.line.host}]" if ":" in self.line.host else self.line.host
        return f"opc.tcp://{host}:{self.line.port}/{self.path}"


@dataclass(frozen=True)
class NodeAddress:
    """What `source` or `target` of a message says.

    Attributes:
        heartbeat: an integer variable that changes from message to message; None: without.
    """

    heartbeat: NodeField | None = None


def read_interface(reader: Reader, node: yaml.Node) -> OpcuaInterface:
    """Reads `interface`."""
    nodes = reader.mapping(node, "interface", (*ENDPOINT_KEYS, "path", "security"))
    line = read_endpoint(reader, nodes, node, PORT)
    path = reader.text(nodes["path"], "path").strip("/") if "path" in nodes else "grouser"
    security = _read_security(reader, nodes["security"], line.role) if "security" in nodes else None
    if security is None and not line.is_local:
        problem = f"without security only this computer may be the host, not {line.host!r}"
        raise reader.error(node, "interface", problem, "add security, or make the host 127.0.0.1")
    return OpcuaInterface(line, path, security)


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: OpcuaInterface) -> NodeAddress:
    """Reads `source` or `target` of a message."""
    nodes = reader.mapping(node, "message", ("heartbeat",))
    if "heartbeat" not in nodes:
        if interface.line.role == "client" and direction == "in":
            problem = "a client cannot tell a stopped controller from one whose values stand still"
            raise reader.error(node, "source", problem, "add heartbeat: a variable that its program counts up")
        return NodeAddress()
    return NodeAddress(_read_node(reader, nodes["heartbeat"], "heartbeat", HEARTBEAT_TYPES, "uint32"))


def read_field(
    reader: Reader, node: yaml.Node, direction: Direction, address: NodeAddress, interface: OpcuaInterface
) -> NodeField:
    """Reads `source` or `target` of a signal: the name of a variable, or a mapping with node and type."""
    return _read_node(reader, node, "field", TYPES, "double")


def check(mapping: BridgeMapping) -> None:
    """Refuses variables that are used twice, and messages without a user who may write them.

    Raises:
        MachineError: names the message and the variable.
    """
    for message in mapping.messages:
        if mapping.interface.line.role == "server":
            _check_names(mapping, message)
    if mapping.interface.line.role == "client":
        taken: dict[str, str] = {}
        for message in mapping.messages:
            for field in node_fields(message):
                other = taken.setdefault(field.node, message.name)
                if other != message.name:
                    raise _refusal(mapping, message, f"node {field.node} is used by message '{other}' too")


def node_fields(message: MessageMapping) -> list[NodeField]:
    """Returns all variables of a message, the heartbeat last."""
    fields = list(message.places.values())
    return fields if message.address.heartbeat is None else [*fields, message.address.heartbeat]


def _check_names(mapping: BridgeMapping, message: MessageMapping) -> None:
    names = [field.node for field in node_fields(message)]
    for name in names:
        if names.count(name) > 1:
            raise _refusal(mapping, message, f"variable '{name}' is there twice")


def _refusal(mapping: BridgeMapping, message: MessageMapping, problem: str) -> MachineError:
    element = f"message '{message.name}'"
    return MachineError(problem, file=mapping.file, line=message.line, element=element, remedy="give each its own")


def _read_node(reader: Reader, node: yaml.Node, name: str, types: tuple[str, ...], default: str) -> NodeField:
    if isinstance(node, yaml.ScalarNode):
        return NodeField(reader.text(node, name), default)
    nodes = reader.mapping(node, name, ("node", "type"))
    kind = reader.choice(nodes["type"], "type", types) if "type" in nodes else default
    return NodeField(reader.text(reader.required(nodes, "node", node, name), "node"), kind)


def _read_security(reader: Reader, node: yaml.Node, role: Role) -> Security:
    nodes = reader.mapping(node, "security", _SECURITY[role])
    needed = (*_OWN, "users") if role == "server" else (*_OWN, "user", "password_file")
    for key in needed:
        reader.required(nodes, key, node, "security")
    paths = {key: _path(reader, value, key) for key, value in nodes.items() if key != "user"}
    return Security(**paths, user=reader.text(nodes["user"], "user") if "user" in nodes else "")


def _path(reader: Reader, node: yaml.Node, key: str) -> Path:
    path = reader.path(node, key)
    if not path.exists():
        remedy = "make certificates and users by python -m grouser.bridges.plc.credentials"
        raise reader.error(node, f"security {key}", f"there is no {path}", remedy)
    return path
