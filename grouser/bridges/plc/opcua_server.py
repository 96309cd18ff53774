"""The machine as an OPC UA server: Objects, the machine, `commands` and `measurements`, a message, its variables.

A controller writes all variables of a message by one request, or none: a part of a message, another type and NaN are
refused with all that the request has. A bad status is the error code of a variable.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from asyncua import ua
from asyncua.common.callback import CallbackType, ServerItemCallback
from asyncua.common.utils import ServiceError

from grouser.bridges.mapping.data import BridgeMapping, MessageMapping, SignalMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.plc.credentials import read_users, require_plain_key
from grouser.bridges.plc.event_loop import EventLoopThread
from grouser.bridges.plc.heartbeat import Heartbeats
from grouser.bridges.plc.node_types import NodeField
from grouser.bridges.plc.opcua_access import TrustedCertificates, Users
from grouser.bridges.plc.opcua_listener import GuardedServer, require_free
from grouser.bridges.plc.opcua_message import fault_of, received_of
from grouser.bridges.plc.opcua_schema import OpcuaInterface, Security
from grouser.bridges.plc.variants import data_value, time_of_now, uri_of
from grouser.bridges.transport import TransportError
from grouser.physics.base.errors import MachineError

NAMESPACE = "urn:grouser:machine"
HEARTBEAT_MODULUS = 32768
_START_LIMIT = 30.0  # [s]: the standard address space takes a second or two
_SECURE = ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt


class OpcuaServer:
    """Transport of a server.

    Args:
        mapping: of an OPC UA bridge with the role `server`.
    """

    def __init__(self, mapping: BridgeMapping):
        self._mapping = mapping
        self._interface: OpcuaInterface = mapping.interface
        self._commands: dict[ua.NodeId, tuple[MessageMapping, NodeField]] = {}
        self._measurements: dict[str, dict[str, tuple[ua.NodeId, NodeField]]] = {}
        self._sent: dict[str, int] = {}
        self._heartbeats = Heartbeats()
        self._sink: Sink | None = None
        self._loop: EventLoopThread | None = None
        self._server: GuardedServer | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`."""
        self._sink, self._heartbeats = sink, Heartbeats()
        self._loop = EventLoopThread("opcua_server")
        try:
            self._server = self._loop.run(self._serve(), _START_LIMIT)
        except (OSError, ua.UaError, ValueError, MachineError) as error:
            self.close()
            raise TransportError(f"an OPC UA server cannot be opened at {self._interface.url}: {error}") from None

    def close(self) -> None:
        """See `Transport`."""
        if self._loop is None:
            return
        if self._server is not None:
            self._loop.run(self._server.stop())
        self._loop.close()
        self._loop = self._server = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: writes the variables that clients read or subscribe to; NaN becomes a bad status."""
        if self._server is None or self._loop is None:
            raise TransportError("the OPC UA server is closed")
        self._sent[message] = sent = (self._sent.get(message, 0) + 1) % HEARTBEAT_MODULUS
        nodes = self._measurements[message]
        now = time_of_now()
        written = [
            (identifier, data_value(place, sent if name is _HEARTBEAT else values[name], now))
            for name, (identifier, place) in nodes.items()
        ]
        self._loop.start(self._show(self._server, written))
        return True

    async def _show(self, server: GuardedServer, written: list[tuple[ua.NodeId, ua.DataValue]]) -> None:
        space = server.iserver.aspace
        for identifier, value in written:
            attribute = space[identifier].attributes[ua.AttributeIds.Value]
            if attribute.datachange_callbacks:  # somebody subscribes to it
                await server.write_attribute_value(identifier, value)
            else:
                attribute.value = value

    async def _serve(self) -> GuardedServer:
        security = self._interface.security
        await require_free(self._interface.line.host, self._interface.line.port)
        users = read_users(security.users) if security and security.users else None
        trusted = TrustedCertificates(security.trusted) if security and security.trusted else None
        server = GuardedServer(Users(users, trusted))
        await server.init()
        server.set_endpoint(self._interface.url)
        server.set_server_name("grouser")
        if security is None:
            server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
            server.set_identity_tokens([ua.AnonymousIdentityToken])
        else:
            await self._secure(server, security, trusted)
        await self._fill(server)
        server.subscribe_server_callback(CallbackType.PreWrite, self._check)
        server.subscribe_server_callback(CallbackType.PostWrite, self._take)
        await server.start()
        return server

    async def _secure(self, server: GuardedServer, security: Security, trusted: TrustedCertificates | None) -> None:
        require_plain_key(security.private_key)
        await server.set_application_uri(uri_of(security.certificate.read_bytes()))
        server.set_security_policy([_SECURE])
        server.set_identity_tokens([ua.UserNameIdentityToken])
        await server.load_certificate(security.certificate)
        await server.load_private_key(security.private_key)
        if trusted is not None:
            server.set_certificate_validator(trusted)

    async def _fill(self, server: GuardedServer) -> None:
        index = await server.register_namespace(NAMESPACE)
        machine = await server.nodes.objects.add_object(
            ua.NodeId("machine", index), ua.QualifiedName(Path(self._mapping.machine).name.partition(".")[0], index)
        )
        folders = {
            "in": await machine.add_folder(ua.NodeId("commands", index), ua.QualifiedName("commands", index)),
            "out": await machine.add_folder(ua.NodeId("measurements", index), ua.QualifiedName("measurements", index)),
        }
        self._commands.clear()
        self._measurements.clear()
        for message in self._mapping.messages:
            name = ua.QualifiedName(message.name, index)
            folder = await folders[message.direction].add_object(ua.NodeId(message.name, index), name)
            await self._add_variables(folder, message, index)

    async def _add_variables(self, folder, message: MessageMapping, index: int) -> None:
        places = message.places
        if message.address.heartbeat is not None:
            places[_HEARTBEAT] = message.address.heartbeat
        signals = {signal.field: signal for signal in message.signals}
        for name, place in places.items():
            identifier = ua.NodeId(f"{message.name}.{place.node}", index)
            first = data_value(place, 0.0, time_of_now())
            variable = await folder.add_variable(identifier, ua.QualifiedName(place.node, index), first.Value)
            if name in signals:
                text = ua.LocalizedText(_description(signals[name]))
                await variable.write_attribute(ua.AttributeIds.Description, ua.DataValue(ua.Variant(text)))
            if message.direction == "in":
                await variable.set_writable()
                self._commands[identifier] = (message, place)
            else:
                await variable.write_value(data_value(place, float("nan"), time_of_now()))
                self._measurements.setdefault(message.name, {})[name] = (identifier, place)

    def _writes(self, event: ServerItemCallback) -> dict[str, dict[str, ua.DataValue]]:
        """Values of a request by message and variable, of what may be written."""
        found: dict[str, dict[str, ua.DataValue]] = {}
        for item in event.request_params.NodesToWrite:
            if item.NodeId in self._commands and item.AttributeId == ua.AttributeIds.Value:
                message, place = self._commands[item.NodeId]
                found.setdefault(message.name, {})[place.node] = item.Value
        return found

    def _check(self, event: ServerItemCallback, _service) -> None:
        """Refuses a request before any of its values is stored."""
        if not event.is_external:
            return
        for message in self._mapping.incoming:
            values = self._writes(event).get(message.name)
            if values is None:
                continue
            refusal, code = fault_of(message, values)
            if refusal:
                self._receive(Received(message.name, time.monotonic(), refusal=refusal))
                raise ServiceError(code)

    def _take(self, event: ServerItemCallback, _service) -> None:
        """Hands on the messages of a request."""
        if not event.is_external:
            return
        now = time.monotonic()
        if not all(status.is_good() for status in event.response_params):
            self._receive(Received("", now, refusal="not writable"))
            return
        written = self._writes(event)
        for message in self._mapping.incoming:
            if message.name in written:
                self._receive(received_of(message, written[message.name], self._heartbeats, now))

    def _receive(self, received: Received) -> None:
        assert self._sink is not None  # set before the server begins
        self._sink.receive(received)


_HEARTBEAT = " heartbeat"  # a key that no field can have


def _description(signal: SignalMapping) -> str:
    scaling = "" if (signal.scale, signal.offset) == (1.0, 0.0) else f"; x {signal.scale:g} + {signal.offset:g}"
    return f"{signal.signal}: {signal.low:g} to {signal.high:g} {signal.unit}{scaling}"
